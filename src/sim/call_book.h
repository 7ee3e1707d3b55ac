// CallBook: which fault met which call of the controllers how often, and one fault at one exact call.
//
// A call site is whom it goes to, what it does, and to what: "hub update writers/status", "member get
// flinkdeployments", "hub watch works" (opening one), "hub changes works" (what comes in it). The matrix of call sites
// by fault kinds says what a run has tried; a cell of it cannot be where WhyNever() says why.
//
//   CallBook book;
//   world.SetBook(&book);                       // before its controllers start
//   book.Begin();                               // from here on it counts
//   book.Direct({.site = "hub update writers", .fault = kube::Fault::kConflict});
//   ...
//   book.matrix().at("hub update writers")[size_t(kube::Fault::kConflict)]
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "json/value.h"
#include "kube/faulty_api.h"

namespace baton::sim {

inline constexpr Duration kDirectedDelay = seconds(3);  // of directed faults that take time

enum class CallShape : uint8_t { kRead, kCachedRead, kWrite, kWatch, kChanges };

std::string SiteOf(std::string_view place, const kube::Call& call);
std::string SiteOf(std::string_view place, const kube::WatchCall& call, bool changes);
CallShape ShapeOf(std::string_view site);
// Why a fault of that kind cannot meet such a call, or is another kind by another name; "": it can.
std::string_view WhyNever(CallShape shape, kube::Fault fault);
// All reasons, for people: "conflict: reads, ...: 409 answers a write".
std::string NeverText();

using SiteCounts = std::array<uint64_t, kube::kFaults>;  // [kNone]: calls that nothing met
using CallMatrix = std::map<std::string, SiteCounts>;

void AddTo(CallMatrix& matrix, const CallMatrix& more);
json::Value MatrixJson(const CallMatrix& matrix);
CallMatrix MatrixFromJson(const json::Value& value);
std::string MatrixText(const CallMatrix& matrix);

struct DirectedFault {
  std::string site;
  kube::Fault fault = kube::Fault::kNone;

  friend auto operator<=>(const DirectedFault&, const DirectedFault&) = default;
};
// Cells that can be and are empty.
std::vector<DirectedFault> EmptyCells(const CallMatrix& matrix);

class CallBook {
 public:
  void Begin() { on_ = true; }
  bool on() const { return on_; }
  // Meets the first call of that site that nothing else meets.
  void Direct(DirectedFault fault) { directed_ = std::move(fault); }
  bool direct_pending() const { return directed_.has_value(); }
  const CallMatrix& matrix() const { return matrix_; }

  // Asked for each; `decision` is what others do to it.
  kube::FaultDecision Met(std::string site, kube::FaultDecision decision);

 private:
  bool on_ = false;
  std::optional<DirectedFault> directed_;
  CallMatrix matrix_;
};

// A plan whose decisions go through the book.
class BookedPlan final : public kube::FaultPlan {
 public:
  // Both outlive this.
  BookedPlan(kube::FaultPlan& below, CallBook& book, std::string_view whom)
      : below_(below), book_(book), place_(whom == "hub" ? "hub" : "member") {}

  kube::FaultDecision ForCall(const kube::Call& call) override;
  kube::FaultDecision ForOpen(const kube::WatchCall& call) override;
  kube::FaultDecision ForChanges(const kube::WatchCall& call) override;

 private:
  kube::FaultPlan& below_;
  CallBook& book_;
  std::string_view place_;
};

}  // namespace baton::sim
