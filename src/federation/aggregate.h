// aggregate: from the Works' statuses to the binding's status and from there to the template's. A binding's status is
// written when it settled: not once for each cluster, but when all have answered, or after a moment. While it is our
// own queues that keep a cluster from answering, in a burst, the moment is longer: a status in between would be one
// more write for the server that everybody waits for.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "federation/execute.h"
#include "federation/hub.h"
#include "federation/render.h"
#include "federation/schedule.h"
#include "kube/controller.h"

namespace baton::federation {

inline constexpr Duration kSettle = milliseconds(500);  // how long a status waits for clusters that have not answered
inline constexpr Duration kSettleBehind = minutes(1);   // the same while we are behind ourselves
inline constexpr Duration kLookAgain = seconds(2);      // whether we still are; an answer wakes it sooner

class AggregateController {
 public:
  AggregateController(Hub& hub, ScheduleController& schedule, RenderController& render,
                      const ExecuteController& execute);
  rt::Task<void> Run() { return controller_.Run(); }
  kube::Controller& controller() { return controller_; }

 private:
  rt::Task<kube::Outcome> Reconcile(std::string key);
  bool Behind(const std::set<std::string>& unanswered, const std::map<std::string, json::Value>& items);
  // How long a status that lacks clusters waits for them; nothing: it is written as it is.
  std::optional<Duration> WaitFor(const std::string& key, const std::set<std::string>& unanswered,
                                  const std::map<std::string, json::Value>& items);
  void FillStale(const std::map<std::string, json::Value>& items, json::Value& status) const;
  rt::Task<Result<void>> WriteTemplateStatus(const json::Value& binding, const json::Value& items);

  Hub& hub_;
  ScheduleController& schedule_;
  RenderController& render_;
  const ExecuteController& execute_;
  struct Unsettled {
    MonotonicTime since;
    MonotonicTime behind;  // when we were last seen to be behind ourselves; at first: since
  };
  std::map<std::string, Unsettled, std::less<>> unsettled_;
  std::map<std::string, json::Value, std::less<>> told_;  // the status that the template was given, by binding
  kube::Controller controller_;
};

}  // namespace baton::federation
