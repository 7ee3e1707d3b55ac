// Writing a story down.
#include "sim/story.h"

#include <cstdio>

#include "base/strings.h"

namespace baton::sim {
namespace {

constexpr size_t kWhoWidth = 22;

std::string At(rt::VirtualLoop* loop) {
  if (loop == nullptr) return "-";
  const int64_t ms = (loop->WallNow() - rt::VirtualLoop::kStart) / milliseconds(1);
  char text[32];
  std::snprintf(text, sizeof text, "%6lld.%03lld", static_cast<long long>(ms / 1000),
                static_cast<long long>(ms % 1000));
  return text;
}

}  // namespace

void Story::End() {
  if (loop_ != nullptr) events_ += loop_->steps();
  loop_ = nullptr;
}

void Story::Line(std::string_view who, std::string_view what, kube::FaultDecision decision) {
  if (detail_ == Detail::kCounts || text_.size() > kTextMax) return;
  std::string padded(who);
  if (padded.size() < kWhoWidth) padded.resize(kWhoWidth, ' ');
  StrAppend(text_, At(loop_), " ", padded, " ", what);
  if (decision.fault != kube::Fault::kNone) {
    StrAppend(text_, " [", kube::FaultName(decision.fault));
    if (decision.delay > Duration{}) StrAppend(text_, " ", decision.delay / milliseconds(1), " ms");
    text_ += ']';
  }
  text_ += '\n';
  if (text_.size() > kTextMax) text_ += "the story is too long to be told on\n";
}

void Story::Tell(std::string_view who, std::string_view what) { Line(who, what, {}); }

void Story::Call(std::string_view who, const kube::Call& call, kube::FaultDecision decision) {
  ++calls_;
  const bool faulty = decision.fault != kube::Fault::kNone;
  if (faulty) ++faults_.at(static_cast<size_t>(decision.fault));
  if (detail_ == Detail::kCounts) return;
  if (detail_ == Detail::kWrites && !faulty && (!call.IsWrite() || call.resource.plural == "events")) return;
  const std::string name = call.name.empty() ? std::string(kube::NameOf(call.body)) : call.name;
  const std::string ns = call.ns.empty() ? std::string(kube::NamespaceOf(call.body)) : call.ns;
  Line(who,
       StrCat(kube::VerbName(call.verb), " ", call.resource.plural, call.subresource.empty() ? "" : "/",
              call.subresource, " ", ns, ns.empty() || name.empty() ? "" : "/", name, call.dry_run ? " (dry run)" : ""),
       decision);
}

void Story::Watch(std::string_view who, const kube::WatchCall& call, std::string_view what,
                  kube::FaultDecision decision) {
  const bool faulty = decision.fault != kube::Fault::kNone;
  if (faulty) ++faults_.at(static_cast<size_t>(decision.fault));
  if (detail_ == Detail::kCounts || (detail_ == Detail::kWrites && !faulty)) return;
  Line(who, StrCat(what, " ", call.resource.plural), decision);
}

kube::FaultDecision CutPlan::ForCall(const kube::Call& call) {
  const kube::FaultDecision decision = below_.ForCall(call);
  if (cut_ == Cut::kNone) return decision;
  return {.fault = cut_ == Cut::kBothWays ? kube::Fault::kSilence : kube::Fault::kSilenceAfter};
}

kube::FaultDecision CutPlan::ForOpen(const kube::WatchCall& call) {
  const kube::FaultDecision decision = below_.ForOpen(call);
  return cut_ != Cut::kNone ? kube::FaultDecision{.fault = kube::Fault::kErrorBefore} : decision;
}

kube::FaultDecision CutPlan::ForChanges(const kube::WatchCall& call) {
  const kube::FaultDecision decision = below_.ForChanges(call);
  return cut_ != Cut::kNone ? kube::FaultDecision{.fault = kube::Fault::kWatchCut} : decision;
}

kube::FaultDecision ToldPlan::ForCall(const kube::Call& call) {
  const kube::FaultDecision decision = below_.ForCall(call);
  story_.Call(who_, call, decision);
  return decision;
}

kube::FaultDecision ToldPlan::ForOpen(const kube::WatchCall& call) {
  const kube::FaultDecision decision = below_.ForOpen(call);
  story_.Watch(who_, call, "watch", decision);
  return decision;
}

kube::FaultDecision ToldPlan::ForChanges(const kube::WatchCall& call) {
  const kube::FaultDecision decision = below_.ForChanges(call);
  story_.Watch(who_, call, "changes of", decision);
  return decision;
}

}  // namespace baton::sim
