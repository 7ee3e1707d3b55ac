// What the tests of the work queue share.
#pragma once

#include <string>
#include <vector>

#include "kube/work_queue.h"
#include "rt/task.h"
#include "rt/virtual_loop.h"

namespace baton::kube {

using Keys = std::vector<std::string>;

// Takes what is due now, and ends the work on each at once.
inline rt::Task<Keys> TakeAll(WorkQueue& queue) {
  Keys keys;
  while (queue.waiting() > 0) keys.push_back((co_await queue.Next()).key());
  co_return keys;
}

template <class Program>
void RunOnALoop(Program program, WorkQueueOptions options = {}) {
  rt::VirtualLoop loop(1);
  const auto body = [&]() -> rt::Task<void> {
    WorkQueue queue(loop, options);
    co_await program(loop, queue);
  };
  loop.Run(body());
}

}  // namespace baton::kube
