// A migration's status: a projection of the Writer and the decision, made anew at every look.
#include <algorithm>
#include <string>
#include <utility>

#include "base/strings.h"
#include "json/go_duration.h"
#include "json/rfc3339.h"
#include "rollout/records.h"

namespace baton::rollout {
namespace {

using json::Value;

constexpr std::string_view kStandBy = "StandBy";  // a condition

struct Step {
  int number;
  int of;
};

Step StepOf(Phase phase) {
  switch (phase) {
    case Phase::kPending:
      return {1, 7};
    case Phase::kPlanned:
      return {2, 7};
    case Phase::kStaged:
      return {3, 7};
    case Phase::kQuiescing:
      return {4, 7};
    case Phase::kGranted:
      return {5, 7};
    case Phase::kVerifying:
      return {6, 7};
    case Phase::kCleaning:
    case Phase::kSucceeded:
      return {7, 7};
    case Phase::kAborting:
    case Phase::kWithdrawing:
      return {1, 2};
    case Phase::kAborted:
    case Phase::kRolledBack:
      return {2, 2};
    case Phase::kRejected:
    case Phase::kCancelled:
      return {1, 1};
  }
  return {1, 1};
}

void SetCondition(Value& status, std::string_view type, bool value, std::string_view reason, std::string_view message,
                  int64_t generation, WallTime now) {
  Value condition = json::Object({{"type", type},
                                  {"status", value ? "True" : "False"},
                                  {"reason", reason},
                                  {"message", message},
                                  {"observedGeneration", generation},
                                  {"lastTransitionTime", json::FormatTime(now)}});
  Value& conditions = status.Edit("conditions");
  for (size_t i = 0; i < conditions.size(); ++i) {
    if (conditions[i]["type"].str() != type) continue;
    if (conditions[i]["status"] == condition["status"]) {
      condition.Set("lastTransitionTime", conditions[i]["lastTransitionTime"]);
    }
    conditions.Edit(i) = std::move(condition);
    return;
  }
  conditions.Push(std::move(condition));
}

const Value& ConditionOf(const Value& status, std::string_view type) {
  static const Value kNone;
  for (const Value& one : status["conditions"].items()) {
    if (one["type"].str() == type) return one;
  }
  return kNone;
}

// All that it waits for is a person's word or a time: such a wait has no deadline.
bool StandsBy(const Decision& decision) {
  return !decision.waiting_for.empty() && !decision.deadline && !decision.blocked && !IsEnd(decision.phase);
}

std::optional<WallTime> PhaseBegan(const Value& status, std::string_view phase) {
  for (const Value& entry : status["timeline"].items()) {
    if (entry["phase"].str() != phase) continue;
    const Result<WallTime> at = json::ParseTime(entry["time"].str());
    if (at.ok()) return *at;
  }
  return std::nullopt;
}

}  // namespace

WallTime PhaseSince(const Value& object, WallTime now) {
  const auto timeline = object["status"]["timeline"].items();
  if (timeline.empty()) return now;
  const Result<WallTime> at = json::ParseTime(timeline.back()["time"].str());
  return at.ok() ? *at : now;
}

Duration TimeInPhase(const Value& object, const Migration& migration, WallTime now) {
  const WallTime since = PhaseSince(object, now);
  const Value& stood_by = ConditionOf(object["status"], kStandBy);
  // Who has yet to approve the cleanup is asked as soon as the target is not well.
  const bool asked_anyway = migration.phase == Phase::kVerifying && !migration.cleanup_approved;
  if (stood_by.is_null() || asked_anyway) return now - since;
  if (stood_by["status"].str() == "True") return {};
  const Result<WallTime> ended = json::ParseTime(stood_by["lastTransitionTime"].str());
  return now - (ended.ok() ? std::max(since, *ended) : since);
}

Value ProjectStatus(const Value& object, const Projection& projection, WallTime now) {
  const Decision& decision = projection.decision;
  Value status = object["status"];
  const std::string phase(PhaseName(decision.phase));
  if (!decision.why.empty()) status.Set("reason", decision.why);
  // A leader that died when it had turned the move back told nobody.
  const std::optional<Claim>& claim = projection.writer.claim;
  const bool untold = status["reason"].str().empty() && claim && !claim->why.empty();
  if (untold) status.Set("reason", claim->why);
  // Who is told that a move goes back asks why: when it turns, and at its end. Of one that was cancelled, on whose
  // word.
  const bool went_back =
      decision.phase == Phase::kAborted || decision.phase == Phase::kRolledBack || decision.phase == Phase::kCancelled;
  const bool turns = decision.phase == Phase::kAborting || decision.phase == Phase::kWithdrawing;
  const std::string reason(status["reason"].str());
  const std::string why = (went_back || turns) && !reason.empty() ? StrCat("; why: ", reason) : "";
  const std::string message = StrCat(decision.message, went_back ? why : "");
  if (status["phase"].str() != phase) {
    Value& timeline = status.Edit("timeline");
    timeline.Push(json::Object(
        {{"phase", phase}, {"time", json::FormatMicroTime(now)}, {"message", StrCat(decision.message, why)}}));
    while (timeline.size() > kTimelineMax) timeline.EraseAt(0);
  }
  const Step step = StepOf(decision.phase);
  status.Set("phase", phase);
  status.Set("step", StrCat(step.number, "/", step.of));
  status.Set("message", message);
  const auto put = [&](std::string_view field, const std::string& value) {
    if (value.empty()) {
      status.Erase(field);
    } else {
      status.Set(field, value);
    }
  };
  put("waitingFor", decision.waiting_for);
  put("writer", projection.writer.holder.cluster);
  put("source", projection.source);
  put("target", projection.target);
  put("guarantee", projection.guarantee);
  const int64_t generation = object["metadata"]["generation"].int_or(0);
  status.Set("observedGeneration", generation);
  if (projection.writer.claim) status.Set("attempt", projection.writer.claim->attempt);
  const bool ended = IsEnd(decision.phase);
  SetCondition(status, "Succeeded", decision.phase == Phase::kSucceeded, phase, message, generation, now);
  SetCondition(status, "Completed", ended, phase, message, generation, now);
  SetCondition(status, "Blocked", decision.blocked, decision.blocked ? "NeedsAPerson" : "NotBlocked",
               decision.blocked ? decision.message : "", generation, now);
  if (const bool stands_by = StandsBy(decision); stands_by || !ConditionOf(status, kStandBy).is_null()) {
    SetCondition(status, kStandBy, stands_by, stands_by ? "Ready" : "GoesOn", stands_by ? decision.waiting_for : "",
                 generation, now);
  }
  if (projection.target_runs && status["startedAt"].is_null()) status.Set("startedAt", json::FormatMicroTime(now));
  // From the order to stop to the first sight of the target running: the most that the silence can have been.
  const auto stopped = PhaseBegan(status, "Quiescing");
  const Result<WallTime> started = json::ParseTime(status["startedAt"].str());
  if (stopped && started.ok()) {
    const auto millis = (*started - *stopped) / milliseconds(1);
    status.Set("downtime", StrCat(millis / 1000, ".", (millis % 1000) / 100, "s"));
  }
  return status;
}

}  // namespace baton::rollout
