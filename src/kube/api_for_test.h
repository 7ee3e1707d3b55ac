// For tests only: an Api that answers what the test says, and counts.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "kube/api.h"
#include "rt/loop.h"

namespace baton::kube {

class ScriptedApi final : public Api {
 public:
  explicit ScriptedApi(rt::Loop& loop) : loop_(loop) {}

  std::function<rt::Task<Result<Answer>>(Call call, rt::Deadline deadline)> on_do;
  std::function<rt::Task<Result<std::unique_ptr<Watch>>>(WatchCall call, rt::Deadline deadline)> on_watch;
  std::function<rt::Task<Result<Discovered>>(rt::Deadline deadline)> on_discover;
  size_t calls = 0;

  rt::Loop& loop() override { return loop_; }
  rt::Task<Result<Answer>> Do(CallBox call, rt::Deadline deadline) override {
    ++calls;
    return on_do(std::move(*call), deadline);
  }
  rt::Task<Result<std::unique_ptr<Watch>>> OpenWatch(WatchCall call, rt::Deadline deadline) override {
    ++calls;
    return on_watch(std::move(call), deadline);
  }
  rt::Task<Result<Discovered>> Discover(rt::Deadline deadline) override {
    ++calls;
    return on_discover(deadline);
  }

 private:
  rt::Loop& loop_;
};

// Each call gets the next of `results`, the last one again and again.
inline rt::Task<Result<Answer>> NextOf(std::vector<Result<Answer>>& results) {
  Result<Answer> next = results.front();
  if (results.size() > 1) results.erase(results.begin());
  co_return next;
}

}  // namespace baton::kube
