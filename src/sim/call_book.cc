// The names of call sites, what can meet them, and counting.
#include "sim/call_book.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/strings.h"

namespace baton::sim {
namespace {

using json::Value;
using kube::Fault;
using kube::FaultDecision;

constexpr std::string_view kCached = " (cache)";

constexpr unsigned Bit(CallShape shape) { return 1U << static_cast<unsigned>(shape); }
constexpr unsigned kReads = Bit(CallShape::kRead) | Bit(CallShape::kCachedRead);
constexpr unsigned kWrites = Bit(CallShape::kWrite);
constexpr unsigned kOpens = Bit(CallShape::kWatch);
constexpr unsigned kInWatches = Bit(CallShape::kChanges);

struct Never {
  unsigned shapes;
  Fault fault;
  std::string_view why;
};

// The one table of what cannot be. SeededFaults draws what is not in it, and a test says that both agree.
constexpr Never kNever[] = {
    {kReads, Fault::kDuplicate, "a read changes nothing: done twice is done once"},
    {kReads, Fault::kConflict, "409 answers a write"},
    {Bit(CallShape::kRead), Fault::kStaleRead,
     "only a read with resourceVersion 0 may be stale; this asks for the newest"},
    {kWrites, Fault::kStaleRead, "it reads nothing"},
    {kReads | kWrites, Fault::kWatchCut, "it is answered once"},
    {kReads | kWrites, Fault::kWatchExpired, "it is answered once"},
    {kReads | kWrites, Fault::kWatchDelay, "it is answered once"},
    {kOpens, Fault::kAnswerLost, "opening changes nothing: the same as error-before"},
    {kOpens, Fault::kDuplicate, "opening changes nothing: done twice is done once"},
    {kOpens, Fault::kLateAnswer, "opening changes nothing: the same as delay"},
    {kOpens, Fault::kConflict, "409 answers a write"},
    {kOpens, Fault::kSilenceAfter, "opening changes nothing: the same as silence"},
    {kOpens, Fault::kStaleRead, "it begins at the version that it names"},
    {kOpens, Fault::kWatchCut, "it is not open yet: the same as error-before"},
    {kOpens, Fault::kWatchDelay, "it is not open yet: the same as delay"},
    {kInWatches, Fault::kErrorBefore, "no request is made: the same as watch-cut"},
    {kInWatches, Fault::kAnswerLost, "no request is made: the same as watch-cut"},
    {kInWatches, Fault::kDuplicate, "a server tells each change once in a watch"},
    {kInWatches, Fault::kDelay, "no request is made: the same as watch-delay"},
    {kInWatches, Fault::kLateAnswer, "no request is made: the same as watch-delay"},
    {kInWatches, Fault::kConflict, "409 answers a write"},
    {kInWatches, Fault::kThrottled, "no request is made"},
    {kInWatches, Fault::kServerError, "no request is made: the same as watch-cut"},
    {kInWatches, Fault::kSilence, "no request is made: the same as watch-delay"},
    {kInWatches, Fault::kSilenceAfter, "no request is made: the same as watch-delay"},
    {kInWatches, Fault::kStaleRead, "a watch goes forward only"},
};

bool TakesTime(Fault fault) {
  return fault == Fault::kDelay || fault == Fault::kLateAnswer || fault == Fault::kWatchDelay;
}

std::string_view ShapesName(unsigned shapes) {
  if (shapes == kReads) return "reads";
  if (shapes == Bit(CallShape::kRead)) return "reads of the newest";
  if (shapes == kWrites) return "writes";
  if (shapes == (kReads | kWrites)) return "reads, writes";
  return shapes == kOpens ? "opening a watch" : "changes in a watch";
}

}  // namespace

std::string SiteOf(std::string_view place, const kube::Call& call) {
  const bool cached = !call.IsWrite() && call.resource_version == "0";
  return StrCat(place, " ", kube::VerbName(call.verb), " ", call.resource.plural, call.subresource.empty() ? "" : "/",
                call.subresource, call.dry_run ? " (dry run)" : "", cached ? kCached : "");
}

std::string SiteOf(std::string_view place, const kube::WatchCall& call, bool changes) {
  return StrCat(place, changes ? " changes " : " watch ", call.resource.plural);
}

CallShape ShapeOf(std::string_view site) {
  const size_t space = site.find(' ');
  std::string_view verb = space == std::string_view::npos ? std::string_view() : site.substr(space + 1);
  verb = verb.substr(0, verb.find(' '));
  if (verb == "watch") return CallShape::kWatch;
  if (verb == "changes") return CallShape::kChanges;
  if (verb != "get" && verb != "list") return CallShape::kWrite;
  return site.ends_with(kCached) ? CallShape::kCachedRead : CallShape::kRead;
}

std::string_view WhyNever(CallShape shape, Fault fault) {
  for (const Never& never : kNever) {
    if ((never.shapes & Bit(shape)) != 0 && never.fault == fault) return never.why;
  }
  return {};
}

std::string NeverText() {
  std::string text;
  for (const Never& never : kNever)
    StrAppend(text, "  ", kube::FaultName(never.fault), " at ", ShapesName(never.shapes), ": ", never.why, "\n");
  return text;
}

void AddTo(CallMatrix& matrix, const CallMatrix& more) {
  for (const auto& [site, counts] : more) {
    SiteCounts& sums = matrix[site];
    for (size_t i = 0; i < counts.size(); ++i) sums.at(i) += counts.at(i);
  }
}

Value MatrixJson(const CallMatrix& matrix) {
  Value sites = json::Object({});
  for (const auto& [site, counts] : matrix) {
    Value row = json::Array();
    for (const uint64_t count : counts) row.Push(static_cast<int64_t>(count));
    sites.Set(site, std::move(row));
  }
  return sites;
}

CallMatrix MatrixFromJson(const Value& value) {
  CallMatrix matrix;
  for (const json::Member& site : value.members()) {
    SiteCounts& counts = matrix[std::string(site.key())];
    for (size_t i = 0; i < counts.size() && i < site.value().size(); ++i)
      counts.at(i) = static_cast<uint64_t>(site.value()[i].int_or(0));
  }
  return matrix;
}

std::string MatrixText(const CallMatrix& matrix) {
  size_t width = 0;
  for (const auto& [site, counts] : matrix) width = std::max(width, site.size());
  std::string text = "call sites by faults ('.': cannot be, see below; EMPTY: was not tried)\n";
  std::string head(width, ' ');
  for (size_t i = 0; i < kube::kFaults; ++i) {
    const std::string_view name = i == 0 ? "calls" : kube::FaultName(static_cast<Fault>(i));
    StrAppend(head, "  ", name);
  }
  StrAppend(text, head, "\n");
  for (const auto& [site, counts] : matrix) {
    std::string line = site;
    line.resize(width, ' ');
    for (size_t i = 0; i < counts.size(); ++i) {
      const std::string_view name = i == 0 ? "calls" : kube::FaultName(static_cast<Fault>(i));
      std::string cell = counts.at(i) > 0 || i == 0 ? StrCat(counts.at(i)) : "EMPTY";
      if (counts.at(i) == 0 && i > 0 && !WhyNever(ShapeOf(site), static_cast<Fault>(i)).empty()) cell = ".";
      StrAppend(line, "  ", std::string(name.size() - std::min(name.size(), cell.size()), ' '), cell);
    }
    StrAppend(text, line, "\n");
  }
  return StrCat(text, "cannot be:\n", NeverText());
}

std::vector<DirectedFault> EmptyCells(const CallMatrix& matrix) {
  std::vector<DirectedFault> empty;
  for (const auto& [site, counts] : matrix) {
    for (size_t i = 1; i < counts.size(); ++i) {
      const auto fault = static_cast<Fault>(i);
      if (counts.at(i) == 0 && WhyNever(ShapeOf(site), fault).empty()) empty.push_back({site, fault});
    }
  }
  return empty;
}

FaultDecision CallBook::Met(std::string site, FaultDecision decision) {
  if (directed_ && decision.fault == Fault::kNone && directed_->site == site) {
    decision.fault = directed_->fault;
    if (TakesTime(decision.fault)) decision.delay = kDirectedDelay;
    directed_.reset();
  }
  ++matrix_[std::move(site)].at(static_cast<size_t>(decision.fault));
  return decision;
}

FaultDecision BookedPlan::ForCall(const kube::Call& call) {
  const FaultDecision decision = below_.ForCall(call);
  return book_.on() ? book_.Met(SiteOf(place_, call), decision) : decision;
}

FaultDecision BookedPlan::ForOpen(const kube::WatchCall& call) {
  const FaultDecision decision = below_.ForOpen(call);
  return book_.on() ? book_.Met(SiteOf(place_, call, false), decision) : decision;
}

FaultDecision BookedPlan::ForChanges(const kube::WatchCall& call) {
  const FaultDecision decision = below_.ForChanges(call);
  return book_.on() ? book_.Met(SiteOf(place_, call, true), decision) : decision;
}

}  // namespace baton::sim
