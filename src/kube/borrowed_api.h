// BorrowedApi: an Api that only passes on to another one which somebody else keeps: for who must own an Api and is
// given one that is not theirs to own.
#pragma once

#include <memory>
#include <utility>

#include "kube/api.h"

namespace baton::kube {

class BorrowedApi final : public Api {
 public:
  explicit BorrowedApi(Api& below) : below_(below) {}  // outlives this

  rt::Loop& loop() override { return below_.loop(); }
  rt::Task<Result<Answer>> Do(CallBox call, rt::Deadline deadline) override {
    return below_.Do(std::move(call), deadline);
  }
  rt::Task<Result<std::unique_ptr<Watch>>> OpenWatch(WatchCall call, rt::Deadline deadline) override {
    return below_.OpenWatch(std::move(call), deadline);
  }
  rt::Task<Result<Discovered>> Discover(rt::Deadline deadline) override { return below_.Discover(deadline); }

 private:
  Api& below_;
};

}  // namespace baton::kube
