// Our override: made from what it is to say, and read back only if it says exactly that.
#include <algorithm>
#include <utility>

#include "base/hash.h"
#include "base/strings.h"
#include "json/parse.h"
#include "rollout/records.h"

namespace baton::rollout {
namespace {

using json::Value;
using Mode = SideRule::Mode;

constexpr std::string_view kModes[] = {"AsIs", "Held", "Stopping", "Running"};

Value SideJson(const SideRule& rule) {
  return json::Object({{"mode", kModes[static_cast<size_t>(rule.mode)]},
                       {"seq", rule.seq},
                       {"ref", rule.ref},
                       {"stateDir", rule.state_dir},
                       {"anyWay", rule.any_way}});
}

SideRule ReadSide(const Value& value) {
  SideRule rule;
  for (size_t i = 0; i < std::size(kModes); ++i) {
    if (value["mode"].str() == kModes[i]) rule.mode = static_cast<Mode>(i);
  }
  rule.seq = value["seq"].int_or(0);
  rule.ref = value["ref"].str();
  rule.state_dir = value["stateDir"].str();
  rule.any_way = value["anyWay"].bool_or(false);
  return rule;
}

// The workload with a pinned spec, in the form that the rule asks for.
Result<Value> Formed(const SideRule& rule, bool is_source, const Value& workload, const Value& pinned_spec,
                     const interpret::Profile& profile, const std::string& cluster, const std::string& peer) {
  Value object = json::Object({{"apiVersion", workload["apiVersion"]}, {"kind", workload["kind"]}});
  object.Edit("metadata").Set("name", workload["metadata"]["name"]);
  object.Set("spec", pinned_spec);
  interpret::Question question;
  question.seq = rule.seq;
  question.ref = rule.ref;
  question.redeploy = is_source && !rule.ref.empty();
  question.cluster = cluster;
  question.peer = peer;
  switch (rule.mode) {
    case Mode::kAsIs:
      return profile.Stamped(std::move(object), rule.seq);
    case Mode::kHeld:
      return profile.Held(std::move(object), question);
    case Mode::kStopping:
      question.state_dir = TRY(profile.StateDir(object, rule.state_dir));
      question.any_way = rule.any_way;
      return profile.Stopping(std::move(object), question);
    case Mode::kRunning:
      return profile.Running(std::move(object), question);
  }
  return object;
}

Value RuleFor(const Value& formed, std::string_view cluster, const interpret::Profile& profile) {
  Value overriders = json::Object(
      {{"plaintext",
        json::Array({json::Object({{"path", "/spec"}, {"operator", "add"}, {"value", formed["spec"]}})})}});
  constexpr std::string_view kAnnotations = "/metadata/annotations/";
  if (profile.epoch_pointer().starts_with(kAnnotations)) {
    overriders.Set("annotationsOverrider",
                   json::Array({json::Object({{"operator", "add"}, {"value", formed["metadata"]["annotations"]}})}));
  }
  Value rule = json::Object({{"overriders", overriders}});
  if (!cluster.empty()) rule.Edit("targetCluster").Set("clusterNames", json::Array({cluster}));
  return rule;
}

}  // namespace

Result<Value> MakeOverride(const OverrideState& state, const Claim& claim, const Value& workload, const Value& pinned,
                           const interpret::Profile& profile) {
  // The source's epoch and not the newest: a grant changes nothing for the source then, whose Work need not be written
  // between the grant and the start.
  const SideRule everywhere{.mode = Mode::kHeld, .seq = state.source.seq};
  const Value held = TRY(Formed(everywhere, false, workload, pinned["other"], profile, "", ""));
  const Value source =
      TRY(Formed(state.source, true, workload, pinned["source"], profile, claim.source.cluster, claim.target.cluster));
  const Value target =
      TRY(Formed(state.target, false, workload, pinned["target"], profile, claim.target.cluster, claim.source.cluster));
  Value object = json::Object({{"apiVersion", "policy.karmada.io/v1alpha1"}, {"kind", "OverridePolicy"}});
  Value& metadata = object.Edit("metadata");
  metadata.Set("name", OverrideName(claim.migration_uid));
  metadata.Set("namespace", workload["metadata"]["namespace"]);
  metadata.Set("finalizers", json::Array({kFinalizer}));
  metadata.Edit("annotations")
      .Set(kStateAnnotation, json::Object({{"fence", state.fence},
                                           {"attempt", state.attempt},
                                           {"source", SideJson(state.source)},
                                           {"target", SideJson(state.target)}})
                                 .ToString());
  Value& spec = object.Edit("spec");
  spec.Set("resourceSelectors", json::Array({json::Object({{"apiVersion", workload["apiVersion"]},
                                                           {"kind", workload["kind"]},
                                                           {"name", workload["metadata"]["name"]},
                                                           {"namespace", workload["metadata"]["namespace"]}})}));
  spec.Set("overrideRules", json::Array({RuleFor(held, "", profile), RuleFor(source, claim.source.cluster, profile),
                                         RuleFor(target, claim.target.cluster, profile)}));
  return object;
}

int64_t FenceOfOverride(const Value& object) {
  const Result<Value> said = json::Parse(object["metadata"]["annotations"][kStateAnnotation].str());
  return said.ok() ? (*said)["fence"].int_or(0) : 0;
}

std::optional<OverrideState> ReadOverride(const Value& object, const Claim& claim, const Value& workload,
                                          const Value& pinned, const interpret::Profile& profile) {
  if (object.is_null()) return std::nullopt;
  const Result<Value> said = json::Parse(object["metadata"]["annotations"][kStateAnnotation].str());
  if (!said.ok()) return std::nullopt;
  OverrideState state;
  state.fence = (*said)["fence"].int_or(0);
  state.attempt = (*said)["attempt"].int_or(0);
  state.source = ReadSide((*said)["source"]);
  state.target = ReadSide((*said)["target"]);
  const Result<Value> whole = MakeOverride(state, claim, workload, pinned, profile);
  if (!whole.ok() || (*whole)["spec"] != object["spec"]) return std::nullopt;
  // One that somebody deleted is still there, and is applied, for as long as our finalizer holds it: it is used on, and
  // goes at the end. Letting it go to make another would leave a moment without any.
  const bool guarded = std::ranges::any_of(object["metadata"]["finalizers"].items(),
                                           [](const Value& one) { return one.str() == kFinalizer; });
  if (!guarded) return std::nullopt;
  return state;
}

}  // namespace baton::rollout
