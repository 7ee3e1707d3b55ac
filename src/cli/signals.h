// SIGTERM and SIGINT as an event on the loop: "stop, cleanly".
#pragma once

#include <csignal>
#include <thread>

#include "rt/event.h"
#include "rt/real_loop.h"

namespace baton::cli {

// Make it before any other thread, so that all of them have the signals blocked; one thread waits for them here. A
// second signal ends the process at once.
class StopSignals {
 public:
  StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  ~StopSignals();

  // From now on a signal sets `stop` on the loop. Both must outlive this object.
  void Deliver(rt::RealLoop& loop, rt::Event& stop);

 private:
  sigset_t set_;
  std::thread waiting_;
};

}  // namespace baton::cli
