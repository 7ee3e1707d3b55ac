// What a cluster's own programs write by: an API on which their writes have a field manager that is not ours, as those
// of real operators have. Baton tells by managedFields what it made itself (rollout/late_copy.h).
#pragma once

#include <memory>
#include <string_view>
#include <utility>

#include "kube/api.h"

namespace baton::practice {

inline constexpr std::string_view kOperatorsManager = "practice-operator";

class OperatorApi final : public kube::Api {
 public:
  explicit OperatorApi(kube::Api& below) : below_(below) {}  // which outlives this

  rt::Loop& loop() override { return below_.loop(); }
  rt::Task<Result<kube::Answer>> Do(kube::CallBox call, rt::Deadline deadline) override {
    if (call->field_manager == kube::kFieldManager) call->field_manager = kOperatorsManager;
    return below_.Do(std::move(call), deadline);
  }
  rt::Task<Result<std::unique_ptr<kube::Watch>>> OpenWatch(kube::WatchCall call, rt::Deadline deadline) override {
    return below_.OpenWatch(std::move(call), deadline);
  }
  rt::Task<Result<kube::Discovered>> Discover(rt::Deadline deadline) override { return below_.Discover(deadline); }

 private:
  kube::Api& below_;
};

}  // namespace baton::practice
