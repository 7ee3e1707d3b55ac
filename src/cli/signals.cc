// Waiting for signals in a thread of its own.
#include "cli/signals.h"

#include <cstdlib>

namespace baton::cli {

namespace {
constexpr int kEnoughSignal = SIGUSR2;  // ends the waiting thread when nothing else came
constexpr int kImpatient = 130;         // exit code after a second signal
}  // namespace

StopSignals::StopSignals() {
  sigemptyset(&set_);
  for (const int signal : {SIGTERM, SIGINT, kEnoughSignal}) sigaddset(&set_, signal);
  pthread_sigmask(SIG_BLOCK, &set_, nullptr);
}

void StopSignals::Deliver(rt::RealLoop& loop, rt::Event& stop) {
  waiting_ = std::thread([this, &loop, &stop] {
    bool told = false;
    while (true) {
      int number = 0;
      sigwait(&set_, &number);
      if (number == kEnoughSignal) return;
      if (told) std::_Exit(kImpatient);
      told = true;
      loop.Post([&stop] { stop.Set(); });
    }
  });
}

StopSignals::~StopSignals() {
  if (!waiting_.joinable()) return;
  pthread_kill(waiting_.native_handle(), kEnoughSignal);
  waiting_.join();
}

}  // namespace baton::cli
