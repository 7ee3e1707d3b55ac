// Finding the call that is meant, and what happens to it.
#include "sim/call_rules.h"

#include <algorithm>
#include <charconv>

#include "base/strings.h"
#include "scenario/runner.h"
#include "sim/world.h"

namespace baton::sim {
namespace {

using json::Value;
using kube::Fault;
using kube::FaultDecision;

constexpr kube::Verb kVerbs[] = {kube::Verb::kGet,    kube::Verb::kList,  kube::Verb::kCreate,
                                 kube::Verb::kUpdate, kube::Verb::kPatch, kube::Verb::kDelete};

bool IsForChanges(Fault fault) {
  return fault == Fault::kWatchCut || fault == Fault::kWatchDelay || fault == Fault::kWatchExpired;
}

std::string CallText(const kube::Call& call) {
  return StrCat(kube::VerbName(call.verb), " ", call.resource.plural, call.subresource.empty() ? "" : "/",
                call.subresource, " ", call.name.empty() ? kube::NameOf(call.body) : call.name);
}

Result<kube::Verb> VerbOf(std::string_view name) {
  const auto* found = std::ranges::find_if(kVerbs, [&](kube::Verb verb) { return kube::VerbName(verb) == name; });
  if (found == std::end(kVerbs))
    return InvalidError(StrCat("no verb is called ", name, ": there are get, list, create, update, patch, delete"));
  return *found;
}

}  // namespace

bool CallPick::Means(const std::string& whom, const kube::Call& call) const {
  if (!place.empty() && place != whom) return false;
  if (verb && *verb != call.verb) return false;
  if (!plural.empty() && plural != call.resource.plural) return false;
  if (!name.empty() && name != (call.name.empty() ? kube::NameOf(call.body) : call.name)) return false;
  if (!subresource.empty() && subresource != call.subresource) return false;
  const bool matters =
      call.IsWrite() && !call.dry_run && call.resource.plural != "events" && call.resource.plural != "clusters";
  if (writes && !matters) return false;
  return std::ranges::all_of(
      saying, [&](const auto& one) { return scenario::Compare(call.body, one.first, one.second, false).empty(); });
}

Result<CallPick> CallPick::Of(const scenario::Step& step) {
  const Value& words = step.whole;
  CallPick pick;
  pick.place = words["in"].str();
  pick.karmada = words["by"].str() == "karmada";
  if (words.Has("by") && !pick.karmada)
    return InvalidError("by is karmada, or is left out: then it is about our calls");
  if (words.Has("verb")) pick.verb = TRY(VerbOf(words["verb"].str()));
  pick.plural = words["resource"].str();
  if (pick.plural != ToLower(pick.plural))
    return InvalidError(StrCat("resource is the plural, as kubectl writes it (writers), and not ", pick.plural));
  pick.name = words["name"].str();
  pick.subresource = words["subresource"].str();
  for (const json::Member& field : words["saying"].members())
    pick.saying.emplace_back(std::string(field.key()), field.value());
  // "at: 7" or "at: write 7".
  if (!words.Has("at")) return pick;
  std::string_view text = words["at"].str();
  if (text.starts_with("write ")) {
    pick.writes = true;
    text.remove_prefix(6);
  }
  int64_t number = words["at"].int_or(0);
  if (words["at"].is_string()) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) number = 0;
  }
  if (number < 1) return InvalidError(StrCat("at: ", words["at"].ToString(), " is no number from 1 on"));
  pick.writes = pick.writes || (!pick.verb && pick.plural.empty());
  pick.skip = static_cast<size_t>(number) - 1;
  return pick;
}

class CallRules::Plan final : public kube::FaultPlan {
 public:
  Plan(CallRules& rules, std::string whom, int64_t leader) : rules_(rules), whom_(std::move(whom)), leader_(leader) {}
  FaultDecision ForCall(const kube::Call& call) override { return rules_.ForCall(whom_, leader_, call); }
  FaultDecision ForOpen(const kube::WatchCall& call) override { return rules_.ForWatch(whom_, leader_, call, false); }
  FaultDecision ForChanges(const kube::WatchCall& call) override { return rules_.ForWatch(whom_, leader_, call, true); }

 private:
  CallRules& rules_;
  std::string whom_;
  int64_t leader_;
};

kube::FaultPlan& CallRules::PlanFor(const std::string& whom, int64_t leader) {
  plans_.push_back(std::make_unique<Plan>(*this, whom, leader));
  return *plans_.back();
}

void CallRules::Clear(const std::string& place) {
  const auto goes = [&](const CallRule& rule) { return place.empty() || rule.pick.place == place; };
  for (const CallRule& rule : rules_) {
    if (goes(rule)) cleared_.push_back(rule);
  }
  std::erase_if(rules_, goes);
}

std::vector<std::string> CallRules::Unused() const {
  std::vector<std::string> unused;
  for (const std::vector<CallRule>* rules : {&cleared_, &rules_}) {
    for (const CallRule& rule : *rules) {
      if (rule.met == 0) unused.push_back(StrCat(rule.place, ": no call came that this is about: it never happened"));
    }
  }
  return unused;
}

Duration CallRules::HangsFor(int64_t leader) const {
  const auto at = hangs_.find(leader);
  return at == hangs_.end() || at->second <= loop_.Now() ? Duration{} : at->second - loop_.Now();
}

FaultDecision CallRules::Reached(CallRule& rule, int64_t leader, const kube::Call& call) {
  --rule.hits;
  ++rule.met;
  if (rule.action == CallRule::Action::kFault) return {.fault = rule.fault, .delay = rule.delay};
  if (on_reached) on_reached(rule, CallText(call));
  if (rule.action == CallRule::Action::kHubDies) return {};  // it is on its way to the hub's disk
  if (rule.action == CallRule::Action::kHang) {
    Hang(leader, rule.delay);
    return {.fault = Fault::kDelay, .delay = rule.delay};
  }
  Kill(leader);
  return {.fault = rule.before ? Fault::kSilence : Fault::kSilenceAfter};
}

FaultDecision CallRules::ForCall(const std::string& whom, int64_t leader, const kube::Call& call) {
  if (dead_.contains(leader)) return {.fault = Fault::kSilence};
  if (leader != World::kKarmada && call.IsWrite() && call.resource.plural != "events") {
    ++writes[whom][StrCat(kube::VerbName(call.verb), " ", call.resource.plural, call.subresource.empty() ? "" : "/",
                          call.subresource)];
  }
  if (const Duration rest = HangsFor(leader); rest > Duration{}) return {.fault = Fault::kDelay, .delay = rest};
  for (CallRule& rule : rules_) {
    const bool watches = rule.action == CallRule::Action::kFault && IsForChanges(rule.fault);
    if (rule.hits == 0 || watches || rule.pick.karmada != (leader == World::kKarmada)) continue;
    if (!rule.pick.Means(whom, call)) continue;
    if (rule.pick.skip == 0) return Reached(rule, leader, call);
    --rule.pick.skip;
  }
  return {};
}

FaultDecision CallRules::ForWatch(const std::string& whom, int64_t leader, const kube::WatchCall& call, bool changes) {
  if (dead_.contains(leader)) return {.fault = changes ? Fault::kWatchCut : Fault::kErrorBefore};
  if (const Duration rest = HangsFor(leader); rest > Duration{})
    return {.fault = changes ? Fault::kWatchDelay : Fault::kDelay, .delay = rest};
  for (CallRule& rule : rules_) {
    const CallPick& pick = rule.pick;
    const bool about_watches = rule.action == CallRule::Action::kFault && !pick.verb && !pick.writes &&
                               pick.saying.empty() && pick.name.empty() && pick.subresource.empty();
    if (rule.hits == 0 || !about_watches || IsForChanges(rule.fault) != changes) continue;
    if (pick.karmada != (leader == World::kKarmada)) continue;
    if (!pick.place.empty() && pick.place != whom) continue;
    if (!pick.plural.empty() && pick.plural != call.resource.plural) continue;
    if (rule.pick.skip > 0) {
      --rule.pick.skip;
      continue;
    }
    --rule.hits;
    ++rule.met;
    return {.fault = rule.fault, .delay = rule.delay};
  }
  return {};
}

}  // namespace baton::sim
