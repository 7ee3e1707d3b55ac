// What each fault does to a call or a watch.
#include "kube/faulty_api.h"

#include <utility>

#include "base/strings.h"

namespace baton::kube {
namespace {

constexpr std::array<std::string_view, kFaults> kNames = {
    "none",          "error-before", "answer-lost", "duplicate",     "delay",
    "late-answer",   "conflict",     "throttled",   "server-error",  "silence",
    "silence-after", "stale-read",   "watch-cut",   "watch-expired", "watch-delay"};
constexpr int32_t kThrottleSeconds = 1;
// Chances of a swarm: from a thousandth to a fifth, each step of the way as likely as the others. Were each chance as
// likely as the others, a third of all calls would fail on a usual day, and what needs twenty of them to go well would
// never begin: all that comes after it would be tried when the faults have stopped.
constexpr double kChanceMin = 0.001;
constexpr double kChanceStep = 1.25;
constexpr uint64_t kChanceSteps = 25;  // 0.001 * 1.25^24 = 0.21

Error Cut(std::string_view what) { return UnavailableError(StrCat("injected fault: ", what)); }

Error ServerError() {
  return Error::FromStatus({.code = 500, .reason = "InternalError"}, "injected fault: an internal error");
}
Error Throttled() {
  return Error::FromStatus({.code = 429, .reason = "TooManyRequests", .retry_after_seconds = kThrottleSeconds},
                           "injected fault: too many requests");
}

bool MayBeStale(const Call& call) { return !call.IsWrite() && call.resource_version == "0"; }

class FaultyWatch final : public Watch {
 public:
  FaultyWatch(rt::Loop& loop, FaultPlan& plan, WatchCall call, std::unique_ptr<Watch> below)
      : loop_(loop), plan_(plan), call_(std::move(call)), below_(std::move(below)) {}

  rt::Task<Result<std::vector<Change>>> Next() override {
    if (ended_) co_return Cut("the watch had ended");
    Result<std::vector<Change>> changes = co_await below_->Next();
    if (!changes.ok()) co_return changes;
    const FaultDecision decision = plan_.ForChanges(call_);
    if (decision.fault == Fault::kWatchDelay) co_await loop_.Sleep(decision.delay);
    if (decision.fault == Fault::kWatchCut) {
      ended_ = true;
      co_return Cut("the watch was cut");
    }
    if (decision.fault == Fault::kWatchExpired) {
      ended_ = true;
      co_return Error::FromStatus({.code = 410, .reason = "Expired"}, "injected fault: too old resource version");
    }
    co_return changes;
  }

 private:
  rt::Loop& loop_;
  FaultPlan& plan_;
  WatchCall call_;
  std::unique_ptr<Watch> below_;
  bool ended_ = false;
};

}  // namespace

std::string_view FaultName(Fault fault) { return kNames.at(static_cast<size_t>(fault)); }

std::optional<Fault> FaultFromName(std::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames.at(i) == name) return static_cast<Fault>(i);
  }
  return std::nullopt;
}

FaultMix FaultMix::Swarm(rt::Random& random) {
  FaultMix mix;
  for (size_t i = 1; i < kFaults; ++i) {
    if (random.Below(2) == 0) continue;
    double& chance = mix.chance.at(i) = kChanceMin;
    for (uint64_t steps = random.Below(kChanceSteps); steps > 0; --steps) chance *= kChanceStep;
  }
  return mix;
}

FaultDecision SeededFaults::Draw(const std::vector<Fault>& possible) {
  for (const Fault fault : possible) {
    const double chance = mix_[fault];
    if (chance <= 0 || static_cast<double>(random_.Below(1'000'000)) >= chance * 1'000'000) continue;
    ++counts_.at(static_cast<size_t>(fault));
    const auto most = static_cast<uint64_t>(mix_.delay_max / milliseconds(1));
    return {.fault = fault, .delay = milliseconds(static_cast<int64_t>(random_.Below(most + 1)))};
  }
  return {};
}

FaultDecision SeededFaults::ForCall(const Call& call) {
  std::vector<Fault> possible = {Fault::kErrorBefore, Fault::kAnswerLost,  Fault::kDelay,   Fault::kLateAnswer,
                                 Fault::kThrottled,   Fault::kServerError, Fault::kSilence, Fault::kSilenceAfter};
  if (call.IsWrite()) possible.insert(possible.end(), {Fault::kDuplicate, Fault::kConflict});
  if (MayBeStale(call)) possible.push_back(Fault::kStaleRead);
  return Draw(possible);
}

FaultDecision SeededFaults::ForOpen(const WatchCall& /*call*/) {
  return Draw({Fault::kErrorBefore, Fault::kDelay, Fault::kThrottled, Fault::kServerError, Fault::kWatchExpired,
               Fault::kSilence});
}

FaultDecision SeededFaults::ForChanges(const WatchCall& /*call*/) {
  return Draw({Fault::kWatchCut, Fault::kWatchExpired, Fault::kWatchDelay});
}

size_t ScriptedFaults::pending() const {
  size_t count = 0;
  for (const Rule& rule : rules_) count += rule.hits > 0 ? 1 : 0;
  return count;
}

FaultDecision ScriptedFaults::ForCall(const Call& call) {
  for (Rule& rule : rules_) {
    const bool matches = rule.hits > 0 && (!rule.verb || *rule.verb == call.verb) &&
                         (rule.plural.empty() || rule.plural == call.resource.plural) &&
                         (rule.name.empty() || rule.name == (call.name.empty() ? NameOf(call.body) : call.name)) &&
                         (rule.subresource.empty() || rule.subresource == call.subresource) &&
                         (!rule.when || rule.when(call));
    if (!matches) continue;
    if (rule.skip > 0) {
      --rule.skip;
      continue;
    }
    --rule.hits;
    return {.fault = rule.fault, .delay = rule.delay};
  }
  return {};
}

FaultDecision ScriptedFaults::ForWatch(const WatchCall& call, bool changes) {
  for (Rule& rule : rules_) {
    const bool for_changes =
        rule.fault == Fault::kWatchCut || rule.fault == Fault::kWatchDelay || rule.fault == Fault::kWatchExpired;
    if (rule.hits == 0 || rule.verb || for_changes != changes) continue;
    if (!rule.plural.empty() && rule.plural != call.resource.plural) continue;
    if (rule.skip > 0) {
      --rule.skip;
      continue;
    }
    --rule.hits;
    return {.fault = rule.fault, .delay = rule.delay};
  }
  return {};
}

FaultDecision ScriptedFaults::ForOpen(const WatchCall& call) { return ForWatch(call, false); }
FaultDecision ScriptedFaults::ForChanges(const WatchCall& call) { return ForWatch(call, true); }

rt::Task<Result<Answer>> FaultyApi::Silent(rt::Deadline deadline) {
  co_await loop().SleepUntil(deadline.never() ? loop().Now() + kCallTimeout : deadline.at());
  co_return DeadlineExceededError("injected fault: no answer");
}

rt::Task<Result<Answer>> FaultyApi::Stale(CallBox call, rt::Deadline deadline) {
  const std::string asked = StrCat(call->resource.ToString(), "/", call->ns, "/", call->name, "?", call->label_selector,
                                   "&", call->field_selector, "&", call->continue_token);
  const auto known = last_answers_.find(asked);
  if (known != last_answers_.end()) {
    Answer before = known->second;
    Answer now = CO_TRY(co_await below_.Do(std::move(call), deadline));
    last_answers_[asked] = std::move(now);
    co_return before;
  }
  Answer now = CO_TRY(co_await below_.Do(std::move(call), deadline));
  last_answers_[asked] = now;
  co_return now;
}

rt::Task<Result<Answer>> FaultyApi::Do(CallBox call, rt::Deadline deadline) {
  const FaultDecision decision = plan_.ForCall(*call);
  switch (decision.fault) {
    case Fault::kErrorBefore:
      co_return Cut("the request was lost");
    case Fault::kServerError:
      co_return ServerError();
    case Fault::kConflict:
      if (!call->IsWrite()) break;
      co_return Error::FromStatus({.code = 409, .reason = "Conflict"}, "injected fault: a conflict");
    case Fault::kThrottled:
      co_return Throttled();
    case Fault::kSilence:
      co_return co_await Silent(deadline);
    case Fault::kDelay:
      co_await loop().Sleep(decision.delay);
      break;
    case Fault::kAnswerLost:
    case Fault::kSilenceAfter:
    case Fault::kLateAnswer: {
      Result<Answer> answer = co_await below_.Do(std::move(call), deadline);
      if (decision.fault == Fault::kAnswerLost) co_return Cut("the answer was lost");
      if (decision.fault == Fault::kSilenceAfter) co_return co_await Silent(deadline);
      co_await loop().Sleep(decision.delay);
      if (deadline.Passed(loop())) co_return DeadlineExceededError("injected fault: the answer came too late");
      co_return answer;
    }
    case Fault::kDuplicate: {
      if (!call->IsWrite()) break;
      [[maybe_unused]] const Result<Answer> first = co_await below_.Do(call, deadline);
      break;
    }
    case Fault::kStaleRead:
      if (MayBeStale(*call)) co_return co_await Stale(std::move(call), deadline);
      break;
    default:
      break;
  }
  co_return co_await below_.Do(std::move(call), deadline);
}

rt::Task<Result<std::unique_ptr<Watch>>> FaultyApi::OpenWatch(WatchCall call, rt::Deadline deadline) {
  const FaultDecision decision = plan_.ForOpen(call);
  switch (decision.fault) {
    case Fault::kErrorBefore:
      co_return Cut("the request was lost");
    case Fault::kServerError:
      co_return ServerError();
    case Fault::kThrottled:
      co_return Throttled();
    case Fault::kWatchExpired:
      co_return Error::FromStatus({.code = 410, .reason = "Expired"}, "injected fault: too old resource version");
    case Fault::kSilence:
      co_return (co_await Silent(deadline)).error();
    case Fault::kDelay:
      co_await loop().Sleep(decision.delay);
      break;
    default:
      break;
  }
  std::unique_ptr<Watch> watch = CO_TRY(co_await below_.OpenWatch(call, deadline));
  co_return std::make_unique<FaultyWatch>(loop(), plan_, std::move(call), std::move(watch));
}

rt::Task<Result<Discovered>> FaultyApi::Discover(rt::Deadline deadline) {
  Call call;
  call.resource.plural = kDiscovery;
  const FaultDecision decision = plan_.ForCall(call);
  switch (decision.fault) {
    case Fault::kErrorBefore:
    case Fault::kAnswerLost:
      co_return Cut(decision.fault == Fault::kErrorBefore ? "the request was lost" : "the answer was lost");
    case Fault::kServerError:
      co_return ServerError();
    case Fault::kThrottled:
      co_return Throttled();
    case Fault::kSilence:
    case Fault::kSilenceAfter:
      co_return (co_await Silent(deadline)).error();
    case Fault::kDelay:
    case Fault::kLateAnswer:
      co_await loop().Sleep(decision.delay);
      if (deadline.Passed(loop())) co_return DeadlineExceededError("injected fault: the answer came too late");
      break;
    default:
      break;
  }
  co_return co_await below_.Discover(deadline);
}

}  // namespace baton::kube
