// Wishes in a rehearsal: policies are edited again and again so that workloads are to be in other clusters, and asked
// to be placed afresh, while things go wrong (rollout/relocate.h makes moves of that); and once more when all is well.
// What must hold, seen from outside: afterwards each workload is where its policy lets it be, or the move that was to
// bring it there says that it failed; and then nothing moves any more by itself.
#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "federation/resources.h"
#include "json/rfc3339.h"
#include "rollout/ask.h"
#include "rollout/relocate.h"
#include "sim/rehearsal_stage.h"
#include "sim/workloads.h"

namespace baton::sim {

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines): awaited by the frame that they capture, or owned by
// rt::Do
namespace {

constexpr uint64_t kEditsMax = 3;              // after the first one, while things go wrong
constexpr int64_t kNextEditMs = 60'000;        // at most
constexpr uint64_t kAfreshOneIn = 4;           // such edits that ask for a fresh placement, and change no policy
constexpr uint64_t kLastOneIn = 2;             // days that end with one more, when all is well
constexpr Duration kLastWithin = minutes(15);  // that one
constexpr Duration kSettles = seconds(20);     // a wish, before it becomes a move
constexpr Duration kStays = minutes(2);        // where it is, when all is settled

kube::Name PolicyNameOf(const FleetWorkload& workload) {
  return {std::string(kube::NamespaceOf(workload.object)), std::string(kube::NameOf(workload.binding))};
}

bool Contains(const std::vector<std::string>& list, std::string_view one) {
  return std::ranges::find(list, one) != list.end();
}

}  // namespace

const std::vector<std::string>& RehearsalStage::AllowedFor(const FleetWorkload& workload) const {
  const auto edited = allowed_.find(&workload);
  return edited == allowed_.end() ? names_ : edited->second;
}

rt::Task<void> RehearsalStage::Allow(const FleetWorkload& workload, std::vector<std::string> clusters) {
  if (AllowedFor(workload) == clusters) co_return;  // what is applied again as it is is no new wish
  allowed_[&workload] = std::move(clusters);
  co_await EditPolicy(workload);
}

rt::Task<void> RehearsalStage::EditPolicy(const FleetWorkload& workload) {
  std::string list;
  for (const std::string& cluster : AllowedFor(workload)) StrAppend(list, list.empty() ? "" : ", ", cluster);
  story_.Tell("person", StrCat("wants ", workload.Name(), " in ", list));
  wished_at_[&workload] = world_.loop().WallNow();
  const Result<Value> taken =
      co_await world_.hub().Patch(federation::kPropagationPolicies, PolicyNameOf(workload), kube::PatchType::kMerge,
                                  Yaml(StrCat("{spec: {placement: {clusterAffinity: {clusterNames: [", list, "]}}}}")));
  Expect(taken.ok(), taken.ok() ? "" : StrCat("the policy was not taken: ", taken.error().message()));
}

// An edit may have been cut off when the faults stopped, by a hub that was away: its owner sees to it.
rt::Task<void> RehearsalStage::SettlePolicies() {
  for (const FleetWorkload* one : workloads_) {
    const Value policy = co_await world_.OnHub(federation::kPropagationPolicies, PolicyNameOf(*one).Key());
    Value wanted = json::Array();
    for (const std::string& cluster : AllowedFor(*one)) wanted.Push(cluster);
    const bool is_so = policy["spec"]["placement"]["clusterAffinity"]["clusterNames"] == wanted;
    if (allowed_.contains(one) && !is_so) co_await EditPolicy(*one);
  }
}

rt::Task<void> RehearsalStage::PlaceAfresh(const FleetWorkload& workload) {
  story_.Tell("person", StrCat("wants ", workload.Name(), " placed afresh"));
  wished_at_[&workload] = world_.loop().WallNow();
  const Value reference = json::Object({{"apiVersion", kube::ApiVersionOf(workload.object)},
                                        {"kind", kube::KindOf(workload.object)},
                                        {"namespace", kube::NamespaceOf(workload.object)},
                                        {"name", kube::NameOf(workload.object)}});
  const Result<Value> made = co_await world_.hub().Create(
      federation::kRebalancers, json::Object({{"apiVersion", "apps.karmada.io/v1alpha1"},
                                              {"kind", "WorkloadRebalancer"},
                                              {"metadata", json::Object({{"name", StrCat("afresh-", ++versions_)}})},
                                              {"spec", json::Object({{"workloads", json::Array({reference})}})}}));
  // A hub that died with it on its way may have it.
  const bool taken = made.ok() || made.error().kind() == ErrorKind::kAlreadyExists;
  Expect(taken, taken ? "" : StrCat("the rebalancer was not taken: ", made.error().message()));
}

// Any of the clusters, but not all, and not only where it is.
std::vector<std::string> RehearsalStage::SomeClusters(const std::string& but) {
  std::vector<std::string> some;
  while (some.empty() || some.size() == names_.size()) {
    some.clear();
    for (const std::string& name : names_) {
      if (name != but && chance_.OneIn(2)) some.push_back(name);
    }
  }
  return some;
}

rt::Task<void> RehearsalStage::Wishes() {
  const uint64_t edits = chance_.Below(kEditsMax + 1);
  for (uint64_t i = 0; i < edits; ++i) {
    co_await chance_.Moment(world_.loop(), kNextEditMs);
    const FleetWorkload& one = *workloads_[chance_.Below(workloads_.size())];
    ++result_.day.meddlings;
    if (chance_.OneIn(kAfreshOneIn)) {
      co_await PlaceAfresh(one);
    } else {
      co_await Allow(one, SomeClusters(""));
    }
  }
}

// It is where it may be, or the move that was to bring it there has failed since it was last wished for.
rt::Task<bool> RehearsalStage::IsWhereWanted(const FleetWorkload& workload, bool& wanted) {
  const std::string where = WhereItRuns(workload);
  wanted = Contains(AllowedFor(workload), where);
  bool failed = false;
  int refused = 0;
  const WallTime wished_at = wished_at_[&workload];
  for (const Value& move : co_await Moves()) {
    const Value& of = move["spec"]["workload"];
    if (of["kind"].str() != kube::KindOf(workload.object) || of["name"].str() != kube::NameOf(workload.object))
      continue;
    if (!Scene::IsOver(move)) co_return false;
    const Result<WallTime> made = json::ParseTime(move["metadata"]["creationTimestamp"].str());
    const bool of_this =
        made.ok() && *made + seconds(1) >= wished_at && move["metadata"]["annotations"].Has(rollout::kWishMark);
    const std::string_view phase = move["status"]["phase"].str();
    if (of_this && phase == "Rejected") ++refused;
    failed = failed || (of_this && phase != "Succeeded" && phase != "Rejected") || refused >= rollout::kRefusalsMax;
  }
  co_return !where.empty() && (wanted || failed);
}

rt::Task<void> RehearsalStage::WishesEnded() {
  bool held = false;
  bool all_there = false;
  std::string waits;
  const auto over = [&]() -> rt::Task<bool> {
    held = co_await Held();
    if (held) co_return true;
    all_there = true;
    waits.clear();
    for (const FleetWorkload* one : workloads_) {
      bool there = false;
      if (!co_await IsWhereWanted(*one, there)) StrAppend(waits, " ", one->Name(), " in ", WhereItRuns(*one));
      all_there = all_there && there;
    }
    co_return waits.empty();
  };
  bool ended = co_await world_.Until(over, kDrainEnds);
  // What failed may be tried in another cluster, which is another wish; there are few.
  for (size_t i = 0; ended && !held && i < names_.size(); ++i) {
    co_await world_.loop().Sleep(kSettles);
    ended = co_await world_.Until(over, kDrainEnds);
  }
  const std::string moves = co_await MovesByPhase();
  result_.day.end = StrCat(held ? "Held" : all_there ? "AsWished" : "Kept", " (", moves, ")");
  Expect(ended, StrCat("neither where it is wanted nor told as failed:", waits, " (", moves, ")"));
}

// What is settled stays: nothing begins to move by itself.
rt::Task<void> RehearsalStage::ExpectNothingMoves() {
  const size_t moves = (co_await Moves()).size();
  std::map<const FleetWorkload*, std::string> where;
  for (const FleetWorkload* one : workloads_) where[one] = WhereItRuns(*one);
  co_await world_.loop().Sleep(kStays);
  Expect((co_await Moves()).size() == moves, StrCat("a move began by itself: ", co_await MovesByPhase()));
  for (const FleetWorkload* one : workloads_)
    Expect(WhereItRuns(*one) == where[one], StrCat(one->Name(), " did not stay in ", where[one]));
}

rt::Task<void> RehearsalStage::LastWish() {
  const FleetWorkload& one = *workloads_.front();
  std::vector<std::string> wanted = SomeClusters(WhereItRuns(one));
  while (wanted == AllowedFor(one)) wanted = SomeClusters(WhereItRuns(one));
  co_await Allow(one, wanted);
  const auto arrived = [&]() -> rt::Task<bool> {
    bool there = false;
    co_return co_await IsWhereWanted(one, there) && there;
  };
  Expect(co_await world_.Until(arrived, kLastWithin), StrCat(one.Name(), ": the last wish was not carried out"));
  co_await ExpectAlone(one, "", "wished for when all was well");
  co_await ExpectJudge(one);
  co_await ExpectNothingIsLeft();
}

rt::Task<void> RehearsalStage::PlayWishes(const RehearsalOptions& options, bool gitops) {
  const FleetWorkload& first = *workloads_.front();
  if (options.faults) chance_.Begin();
  co_await Allow(first, SomeClusters(first.cluster));
  if (options.faults) co_await Disturb(gitops);
  co_await SettlePolicies();
  co_await WishesEnded();
  const bool held = result_.day.end.starts_with("Held");
  if (!held) co_await ExpectNothingMoves();
  for (const FleetWorkload* one : workloads_) {
    if (!held) co_await ExpectAlone(*one, "", result_.day.end);
    co_await ExpectJudge(*one);
  }
  if (!held) co_await ExpectNothingIsLeft();
  if (!held && chance_.OneIn(kLastOneIn)) co_await LastWish();
}

// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines)

}  // namespace baton::sim
