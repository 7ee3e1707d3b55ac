// ReadOnlyApi: an Api through which nothing can be changed: reads, watches and dry runs pass, every other write is
// refused here and never sent. For who must look with code that also knows how to write, and has promised not to.
#pragma once

#include <memory>
#include <utility>

#include "base/strings.h"
#include "kube/api.h"

namespace baton::kube {

class ReadOnlyApi final : public Api {
 public:
  explicit ReadOnlyApi(Api& below) : below_(below) {}  // outlives this
  explicit ReadOnlyApi(std::unique_ptr<Api> below) : owned_(std::move(below)), below_(*owned_) {}

  rt::Loop& loop() override { return below_.loop(); }
  rt::Task<Result<Answer>> Do(CallBox call, rt::Deadline deadline) override {
    if (call->IsWrite() && !call->dry_run) return Refused(std::move(*call));
    return below_.Do(std::move(call), deadline);
  }
  rt::Task<Result<std::unique_ptr<Watch>>> OpenWatch(WatchCall call, rt::Deadline deadline) override {
    return below_.OpenWatch(std::move(call), deadline);
  }
  rt::Task<Result<Discovered>> Discover(rt::Deadline deadline) override { return below_.Discover(deadline); }

 private:
  static rt::Task<Result<Answer>> Refused(Call call) {
    co_return Error(ErrorKind::kForbidden, StrCat("nothing is written here: ", VerbName(call.verb), " ",
                                                  call.resource.ToString(), " ", call.name));
  }

  std::unique_ptr<Api> owned_;
  Api& below_;
};

}  // namespace baton::kube
