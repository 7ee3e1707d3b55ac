// aggregate: from the Works' statuses to the binding's status and from there to the template's. A binding's status is
// written when it settled: not once for each cluster, but when all have answered, or after a moment.
#pragma once

#include <map>
#include <string>

#include "federation/hub.h"
#include "federation/render.h"
#include "federation/schedule.h"
#include "kube/controller.h"

namespace baton::federation {

inline constexpr Duration kSettle = milliseconds(200);  // how long a status waits for clusters that have not answered

class AggregateController {
 public:
  AggregateController(Hub& hub, ScheduleController& schedule, RenderController& render);
  rt::Task<void> Run() { return controller_.Run(); }
  kube::Controller& controller() { return controller_; }

 private:
  rt::Task<kube::Outcome> Reconcile(std::string key);
  void FillStale(const std::map<std::string, json::Value>& items, json::Value& status) const;
  rt::Task<Result<void>> WriteTemplateStatus(const json::Value& binding, const json::Value& items);

  Hub& hub_;
  ScheduleController& schedule_;
  RenderController& render_;
  std::map<std::string, MonotonicTime, std::less<>> unsettled_since_;
  kube::Controller controller_;
};

}  // namespace baton::federation
