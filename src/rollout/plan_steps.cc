// From decisions to what is written where.
#include <utility>

#include "base/strings.h"
#include "json/diff.h"
#include "rollout/plan.h"

namespace baton::rollout {
namespace {

using json::Value;

// What a cluster has, or is to have: spec, and the annotations that a profile sets.
struct Place {
  bool there = false;
  Value object;
};

class Steps {
 public:
  explicit Steps(const StepsQuestion& question)
      : question_(question),
        ns_(kube::NamespaceOf(question.workload)),
        workload_(StrCat(question.spec.kind, " ", ns_, "/", question.spec.workload)),
        writer_(question.writer_object),
        binding_(question.binding) {}

  Result<std::vector<PlannedStep>> Take() {
    const std::string& name = question_.spec.migration.name;
    Add("hub", "create", StrCat("StatefulMigration ", ns_, "/", name), "the wish; its status tells each step");
    source_ = {.there = true, .object = json::Object({{"spec", question_.pinned["source"]}})};
    if (!writer_.is_null()) source_.object = TRY(Stamped("source", question_.ahead.steps.front().writer.seq));
    for (const ForeseenStep& step : question_.ahead.steps) {
      phase_ = step.phase;
      TRY(One(step));
    }
    if (probe_seq_ >= 0) TRY(Probe("delete", "the proof is not needed any more"));
    return std::move(steps_);
  }

 private:
  void Add(std::string where, std::string verb, std::string object, std::string why, Value changes = {}) {
    steps_.push_back({.phase = phase_,
                      .where = std::move(where),
                      .verb = std::move(verb),
                      .object = std::move(object),
                      .why = std::move(why),
                      .changes = std::move(changes)});
  }

  Result<void> One(const ForeseenStep& step) {
    if (const auto* swap = std::get_if<SwapWriter>(&step.effect)) return Swap(step, swap->writer);
    if (const auto* put = std::get_if<PutOverride>(&step.effect)) return Put(step, put->state);
    if (const auto* bind = std::get_if<PutBinding>(&step.effect)) return Bind(step, bind->state);
    if (std::holds_alternative<RemoveOverride>(step.effect)) return Remove(step);
    if (std::holds_alternative<ValidateTarget>(step.effect)) {
      Add(claim_.target.cluster, "dry run", workload_, step.message);
      return {};
    }
    const bool again = !steps_.empty() && steps_.back().verb == "wait" && steps_.back().why == step.waits_for;
    if (!again) Add("", "wait", "", step.waits_for);
    return {};
  }

  Result<void> Swap(const ForeseenStep& step, const Writer& next) {
    if (next.claim) claim_ = *next.claim;
    Value now = WriteWriter(next, writer_, question_.workload);
    const std::string name = StrCat("Writer ", ns_, "/", WriterName(question_.spec.kind, question_.spec.workload));
    Add("hub", writer_.is_null() ? "create" : "update", name, step.message,
        writer_.is_null() ? Value() : json::MakeJsonPatch(writer_["spec"], now["spec"]));
    writer_ = std::move(now);
    return {};
  }

  Result<void> Put(const ForeseenStep& step, const OverrideState& state) {
    Add("hub", override_ ? "update" : "create",
        StrCat("OverridePolicy ", ns_, "/", OverrideName(question_.spec.migration.uid)), step.message);
    override_ = state;
    return FollowHub();
  }

  Result<void> Bind(const ForeseenStep& step, const BindingState& state) {
    Value next = WriteBinding(state, binding_, claim_, question_.prior);
    Value patch = json::MakeJsonPatch(binding_["spec"], next["spec"]);
    Add("hub", "update", StrCat("ResourceBinding ", ns_, "/", kube::NameOf(question_.binding)), step.message,
        std::move(patch));
    binding_ = std::move(next);
    listed_ = state.clusters;
    return FollowHub();
  }

  Result<void> Remove(const ForeseenStep& step) {
    Add("hub", "delete", StrCat("OverridePolicy ", ns_, "/", OverrideName(question_.spec.migration.uid)), step.message);
    override_.reset();
    if (!target_.there) return {};
    Become(target_, claim_.target.cluster, TRY(Stamped("target", step.writer.seq)),
           "as the template has it: what only the move needed goes");
    return {};
  }

  // What the pipe writes to the members because of it.
  Result<void> FollowHub() {
    if (!override_) return {};
    const Value policy = TRY(MakeOverride(*override_, claim_, question_.workload, question_.pinned, question_.profile));
    const Value& rules = policy["spec"]["overrideRules"];
    TRY(FollowSide(source_, claim_.source.cluster, rules[1], override_->source));
    return FollowSide(target_, claim_.target.cluster, rules[2], override_->target);
  }

  Result<void> FollowSide(Place& place, const std::string& cluster, const Value& rule, const SideRule& side) {
    if (!listed_.empty() && !listed_.contains(cluster)) {
      if (place.there) Add(cluster, "delete", workload_, "it is not listed in the binding any more");
      place = {};
      return {};
    }
    if (!place.there && !listed_.contains(cluster)) return {};
    Value object = json::Object({{"spec", rule["overriders"]["plaintext"][0]["value"]}});
    const Value& annotations = rule["overriders"]["annotationsOverrider"][0]["value"];
    if (annotations.is_object()) object.Edit("metadata").Set("annotations", annotations);
    Become(place, cluster, std::move(object), Why(side));
    if (side.mode == SideRule::Mode::kRunning && cluster == claim_.target.cluster && probe_seq_ < 0) {
      probe_seq_ = side.seq;
      return Probe("create", "the proof of the start: made once it runs");
    }
    return {};
  }

  static std::string Why(const SideRule& side) {
    switch (side.mode) {
      case SideRule::Mode::kAsIs:
        return "it runs on, its spec pinned";
      case SideRule::Mode::kHeld:
        return "held: it must not run";
      case SideRule::Mode::kStopping:
        return "it is stopped, and captures its state";
      case SideRule::Mode::kRunning:
        return side.ref.empty() ? "it runs" : "it runs, from the state that was captured";
    }
    return {};
  }

  void Become(Place& place, const std::string& cluster, Value object, std::string why) {
    if (place.there && place.object == object) return;
    Add(cluster, place.there ? "update" : "create", workload_, std::move(why),
        place.there ? json::MakeJsonPatch(place.object, object) : Value());
    place = {.there = true, .object = std::move(object)};
  }

  Result<void> Probe(std::string verb, std::string why) {
    const Value probe = question_.profile.Probe(question_.spec.workload, ns_, probe_seq_);
    if (probe.is_null()) return {};
    Add(claim_.target.cluster, std::move(verb), StrCat(kube::KindOf(probe), " ", ns_, "/", kube::NameOf(probe)),
        std::move(why));
    return {};
  }

  // The pinned spec of a side as it is when no move is under way.
  Result<Value> Stamped(std::string_view side, int64_t seq) {
    Value object = json::Object({{"spec", question_.pinned[side]}});
    return question_.profile.Stamped(std::move(object), seq);
  }

  const StepsQuestion& question_;
  std::string ns_;
  std::string workload_;
  Phase phase_ = Phase::kPending;
  Claim claim_;
  Value writer_;
  Value binding_;
  std::set<std::string> listed_;  // in the binding; empty: not written yet
  std::optional<OverrideState> override_;
  Place source_, target_;
  int64_t probe_seq_ = -1;
  std::vector<PlannedStep> steps_;
};

}  // namespace

Result<std::vector<PlannedStep>> StepsOf(const StepsQuestion& question) {
  if (question.ahead.steps.empty()) return std::vector<PlannedStep>();
  return Steps(question).Take();
}

Value PlannedStep::Json() const {
  Value value = json::Object({{"phase", PhaseName(phase)}, {"verb", verb}, {"why", why}});
  if (!where.empty()) value.Set("where", where);
  if (!object.empty()) value.Set("object", object);
  if (!changes.is_null()) value.Set("changes", changes);
  return value;
}

}  // namespace baton::rollout
