// Who goes now, who waits, and why.
#include "rollout/drain_plan.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"

namespace baton::rollout {
namespace {

int LimitOf(const std::map<std::string, int>& special, const std::string& cluster, int otherwise) {
  const auto at = special.find(cluster);
  return at == special.end() ? otherwise : at->second;
}

// What is under way, and what this plan adds to it.
struct Traffic {
  std::map<std::string, int> out, in;
  void Add(const std::string& from, const std::string& to) {
    ++out[from];
    ++in[to];
  }
};

struct History {
  const DrainMove* active = nullptr;  // whoever asked for it
  const DrainMove* newest = nullptr;  // of this drain, ended
  std::set<std::string> failed;       // where moves of this drain went that did not succeed
  int tries = 0;
};

// By workload, in one pass: a drain of thousands has as many moves.
std::map<std::string_view, History> HistoriesOf(const std::vector<DrainMove>& moves) {
  std::map<std::string_view, History> histories;
  for (const DrainMove& move : moves) {
    History& history = histories[move.workload];
    if (!move.ended) history.active = &move;
    if (!move.of_this_drain) continue;
    history.tries = std::max(history.tries, move.number);
    if (!move.ended) continue;
    if (!move.succeeded) history.failed.insert(move.to);
    if (history.newest == nullptr || history.newest->number < move.number) history.newest = &move;
  }
  return histories;
}

Duration RetryAfter(int tries) { return kDrainRetryFirst * (1 << std::clamp(tries - 1, 0, 10)); }

// What holds whatever the limits say; nothing: it may begin.
std::optional<DrainItem> Settled(const DrainWorkload& workload, const History& history, WallTime now) {
  DrainItem item{.key = workload.key, .from = workload.from, .to = workload.to};
  if (history.newest != nullptr) item.move = history.newest->name;
  if (workload.from.empty()) {
    item.state = DrainState::kGone;
    item.message = "it was deleted";
    return item;
  }
  if (history.active != nullptr) {
    item.state = DrainState::kMoving;
    item.move = history.active->name;
    item.to = history.active->to;
    item.message = StrCat(history.active->phase, ": ", history.active->message);
    return item;
  }
  // Brought home, and taken elsewhere by somebody while others were still under way: it had its move.
  const bool had_its_move = !workload.to.empty() && history.newest != nullptr && history.newest->succeeded;
  if (workload.done || had_its_move) {
    item.state = DrainState::kDone;
    return item;
  }
  if (history.newest == nullptr || history.newest->succeeded) return std::nullopt;
  const std::string why = StrCat(history.newest->phase, ": ", history.newest->message);
  if (history.tries >= kDrainTries) {
    item.state = DrainState::kStuck;
    item.message = StrCat("tried ", history.tries, " times; ", why);
    return item;
  }
  if (now < history.newest->ended_at + RetryAfter(history.tries)) {
    item.state = DrainState::kFailed;
    item.message = StrCat("will be tried again; ", why);
    return item;
  }
  return std::nullopt;
}

// Where it goes now. After a move that failed rather to a cluster where none did, even if that one is full for the
// moment; if all have been tried, to another than the last; and to the last when there is no other.
Result<std::string> TargetFor(const DrainWorkload& workload, const History& history, const std::set<std::string>& full,
                              const ChooseTarget& choose) {
  if (!workload.to.empty()) return workload.to;
  if (history.failed.empty()) return choose(workload, full);
  for (const std::set<std::string>& avoided : {history.failed, std::set<std::string>{history.newest->to}}) {
    std::set<std::string> barred = full;
    barred.insert(avoided.begin(), avoided.end());
    for (const std::set<std::string>* without : {&std::as_const(barred), &avoided}) {
      if (Result<std::string> other = choose(workload, *without); other.ok()) return other;
    }
  }
  return choose(workload, full);
}

}  // namespace

int MoveLimits::Out(const std::string& cluster) const { return LimitOf(out_of, cluster, out); }
int MoveLimits::In(const std::string& cluster) const { return LimitOf(in_to, cluster, in); }

std::string_view DrainStateName(DrainState state) {
  constexpr std::string_view kNames[] = {"Waiting", "Moving", "Done", "Failed", "Stuck", "Gone"};
  return kNames[static_cast<size_t>(state)];
}

DrainPlan PlanDrain(std::vector<DrainWorkload> workloads, const std::vector<DrainMove>& moves, const MoveLimits& limits,
                    WallTime now, const ChooseTarget& choose) {
  std::ranges::sort(workloads, [](const DrainWorkload& a, const DrainWorkload& b) {
    return a.priority != b.priority ? a.priority > b.priority : a.key < b.key;
  });
  Traffic traffic;
  for (const DrainMove& move : moves) {
    if (!move.ended) traffic.Add(move.from, move.to);
  }
  const std::map<std::string_view, History> histories = HistoriesOf(moves);
  DrainPlan plan;
  bool waits_for_people_only = true;
  for (const DrainWorkload& workload : workloads) {
    const auto known = histories.find(workload.key);
    const History history = known == histories.end() ? History() : known->second;
    if (std::optional<DrainItem> settled = Settled(workload, history, now)) {
      if (settled->state == DrainState::kFailed) {
        const WallTime again = history.newest->ended_at + RetryAfter(history.tries);
        if (!plan.look_again || again < *plan.look_again) plan.look_again = again;
      }
      if (settled->state == DrainState::kMoving || settled->state == DrainState::kFailed) waits_for_people_only = false;
      plan.items.push_back(*std::move(settled));
      continue;
    }
    DrainItem item{.key = workload.key, .from = workload.from, .to = workload.to};
    if (traffic.out[workload.from] >= limits.Out(workload.from)) {
      item.message = StrCat("its turn comes: ", traffic.out[workload.from], " moves leave ", workload.from, " now");
      waits_for_people_only = false;
      plan.items.push_back(std::move(item));
      continue;
    }
    std::set<std::string> full;
    for (const auto& [cluster, count] : traffic.in) {
      if (count >= limits.In(cluster)) full.insert(cluster);
    }
    const Result<std::string> target = TargetFor(workload, history, full, choose);
    if (target.ok() && full.contains(*target)) {
      item.message = StrCat("its turn comes: ", traffic.in[*target], " moves enter ", *target, " now");
      waits_for_people_only = false;
    } else if (!target.ok()) {
      item.message = target.error().message();
      // Room may come when those that enter now have arrived.
      if (!full.empty()) waits_for_people_only = false;
    } else {
      item.to = *target;
      item.state = DrainState::kMoving;
      item.message = "begins";
      traffic.Add(workload.from, *target);
      plan.starts.push_back({.key = workload.key, .from = workload.from, .to = *target, .number = history.tries + 1});
      waits_for_people_only = false;
    }
    plan.items.push_back(std::move(item));
  }
  plan.finished = std::ranges::all_of(plan.items, [](const DrainItem& item) {
    return item.state == DrainState::kDone || item.state == DrainState::kGone;
  });
  plan.stuck = !plan.finished && waits_for_people_only;
  return plan;
}

}  // namespace baton::rollout
