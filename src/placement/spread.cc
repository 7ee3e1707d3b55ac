// Selecting clusters by spread constraints.
#include "placement/spread.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "base/strings.h"
#include "placement/group_choice.h"

namespace baton::placement {

namespace {

constexpr int64_t kScoreUnit = 1000;  // replicas count before locality, which is 0 to 100
constexpr int64_t kCurrentScore = 100;

bool ByRank(const Candidate& a, const Candidate& b) { return a.rank < b.rank; }
bool ByRankReversed(const Candidate& a, const Candidate& b) { return a.rank > b.rank; }

int64_t SumAvailable(std::span<const Candidate> candidates) {
  int64_t sum = 0;
  for (const Candidate& candidate : candidates) sum += candidate.available();
  return sum;
}

int32_t Limit(const SpreadConstraint& constraint) {
  return constraint.max_groups == 0 ? std::numeric_limits<int32_t>::max() : constraint.max_groups;
}

// The best `count` of them first, in any order.
void BestFirst(std::vector<Candidate>& candidates, size_t count) {
  if (count < candidates.size())
    std::ranges::nth_element(candidates, candidates.begin() + static_cast<std::ptrdiff_t>(count), ByRank);
}

// ---- by cluster ----

// Exchanges the worst selected for the largest of the rest, from the last on, until the selection takes `needed`.
bool ExchangeForLarger(std::vector<Candidate>& candidates, size_t count, int64_t needed) {
  const std::span<Candidate> selected(candidates.data(), count);
  const std::span<Candidate> rest(candidates.data() + count, candidates.size() - count);
  int64_t sum = SumAvailable(selected);
  if (sum >= needed) return true;
  std::ranges::sort(selected, ByRank);
  for (size_t i = count; i-- > 0 && sum < needed;) {
    Candidate* largest = nullptr;
    for (Candidate& other : rest) {
      if (other.available() <= selected[i].available()) continue;
      if (largest == nullptr || other.available() > largest->available() ||
          (other.available() == largest->available() && other.rank < largest->rank)) {
        largest = &other;
      }
    }
    if (largest == nullptr) continue;
    sum += largest->available() - selected[i].available();
    std::swap(selected[i], *largest);
  }
  return sum >= needed;
}

Result<void> SelectClusters(const SpreadInput& input, const SpreadConstraint& constraint,
                            std::vector<Candidate>& candidates) {
  if (std::ssize(candidates) < constraint.min_groups) {
    return InvalidError(StrCat("the number of feasible clusters is less than spreadConstraint.MinGroups (",
                               candidates.size(), " of ", constraint.min_groups, ")"));
  }
  const size_t count = std::min(candidates.size(), static_cast<size_t>(Limit(constraint)));
  BestFirst(candidates, count);
  if (!input.ignore_capacity && !ExchangeForLarger(candidates, count, input.needed)) {
    return InvalidError(StrCat("no enough resource when selecting ", count, " clusters (", input.needed, " needed, ",
                               SumAvailable(std::span(candidates).first(count)), " available)"));
  }
  candidates.resize(count);
  return {};
}

// ---- by group ----

// The candidates sorted by group, and where each group begins; groups without candidates are empty.
struct Grouped {
  std::vector<Candidate> candidates;
  std::vector<uint32_t> begins;

  std::span<Candidate> Of(size_t group) {
    return std::span(candidates).subspan(begins[group], begins[group + 1] - begins[group]);
  }
};

Grouped GroupBy(const Fleet::Groups& groups, std::span<const Candidate> candidates) {
  Grouped grouped;
  grouped.begins.resize(groups.names.size() + 1);
  for (const Candidate& candidate : candidates) ++grouped.begins[static_cast<size_t>(groups.of[candidate.cluster]) + 1];
  std::partial_sum(grouped.begins.begin(), grouped.begins.end(), grouped.begins.begin());
  grouped.candidates.resize(candidates.size());
  std::vector<uint32_t> next = grouped.begins;
  for (const Candidate& candidate : candidates) {
    grouped.candidates[next[static_cast<size_t>(groups.of[candidate.cluster])]++] = candidate;
  }
  return grouped;
}

// The best cluster of each of these groups, then the best of their other clusters up to `limit` in all.
std::vector<Candidate> SelectFrom(Grouped& grouped, std::span<const uint32_t> chosen, int32_t limit) {
  std::vector<Candidate> selected;
  std::vector<Candidate> rest;
  for (const uint32_t name : chosen) {
    const std::span<Candidate> group = grouped.Of(name);
    std::ranges::iter_swap(group.begin(), std::ranges::min_element(group, ByRank));
    selected.push_back(group.front());
    rest.insert(rest.end(), group.begin() + 1, group.end());
  }
  const size_t more = std::min(rest.size(), static_cast<size_t>(limit) - selected.size());
  BestFirst(rest, more);
  selected.insert(selected.end(), rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(more));
  return selected;
}

// The groups where the workload runs, when they are as many and as large as the constraints want. Empty: choose anew.
std::vector<uint32_t> GroupsInUse(Grouped& grouped, std::span<const Group> groups, const SpreadConstraint& constraint,
                                  int32_t most, int32_t min_clusters) {
  std::vector<uint32_t> used;
  int64_t clusters = 0;
  for (const Group& group : groups) {
    if (std::ranges::none_of(grouped.Of(group.name), &Candidate::current)) continue;
    used.push_back(group.name);
    clusters += group.clusters;
  }
  const auto count = std::ssize(used);
  if (count < constraint.min_groups || count > most || clusters < min_clusters) used.clear();
  return used;
}

Result<void> SelectGroups(const SpreadInput& input, SpreadField field, std::vector<Candidate>& candidates) {
  const Placement& placement = input.prepared->placement();
  const SpreadConstraint& constraint = *placement.Spread(field);
  const SpreadConstraint clusters = placement.Spread(SpreadField::kCluster).value_or(SpreadConstraint{});
  Grouped grouped = GroupBy(GroupsOf(input.prepared->fleet(), field), candidates);
  std::vector<Group> groups;
  for (size_t i = 0; i + 1 < grouped.begins.size(); ++i) {
    const std::span<Candidate> group = grouped.Of(i);
    if (group.empty()) continue;
    groups.push_back({static_cast<uint32_t>(i), static_cast<int32_t>(group.size()),
                      GroupScore(input, constraint.min_groups, group)});
  }
  if (std::ssize(groups) < constraint.min_groups) {
    return InvalidError(StrCat("the number of feasible ", SpreadFieldName(field),
                               " is less than spreadConstraint.MinGroups (", groups.size(), " of ",
                               constraint.min_groups, ")"));
  }
  const int32_t most = std::min(Limit(constraint), Limit(clusters));  // one cluster of each group at least
  if (!input.fresh) {
    const std::vector<uint32_t> used = GroupsInUse(grouped, groups, constraint, most, clusters.min_groups);
    std::vector<Candidate> selected = SelectFrom(grouped, used, Limit(clusters));
    if (!used.empty() && (input.ignore_capacity || SumAvailable(selected) >= input.needed)) {
      candidates = std::move(selected);
      return {};
    }
  }
  std::vector<uint32_t> chosen;
  if (most >= constraint.min_groups) {
    chosen = ChooseGroups(groups, constraint.min_groups, most, clusters.min_groups);
  }
  if (chosen.empty()) {
    return InvalidError(StrCat("the number of clusters is less than the cluster spreadConstraint.MinGroups: no ",
                               constraint.min_groups, " to ", most, " ", SpreadFieldName(field), "s have ",
                               clusters.min_groups, " clusters together"));
  }
  candidates = SelectFrom(grouped, chosen, Limit(clusters));
  return {};
}

// A grouping field that did not choose: count what came out.
Result<void> CheckGroups(const SpreadInput& input, SpreadField field, std::span<const Candidate> candidates) {
  const SpreadConstraint& constraint = *input.prepared->placement().Spread(field);
  const Fleet::Groups& groups = GroupsOf(input.prepared->fleet(), field);
  std::vector<int32_t> used;
  for (const Candidate& candidate : candidates) used.push_back(groups.of[candidate.cluster]);
  std::ranges::sort(used);
  const auto count = static_cast<int64_t>(std::ranges::unique(used).begin() - used.begin());
  if (count >= constraint.min_groups && count <= Limit(constraint)) return {};
  return InvalidError(StrCat("the selected clusters are in ", count, " ", SpreadFieldName(field), "(s); the ",
                             SpreadFieldName(field), " spread constraint wants ", constraint.min_groups, " to ",
                             Limit(constraint)));
}

}  // namespace

int64_t GroupScore(const SpreadInput& input, int32_t min_groups, std::span<Candidate> group) {
  const Placement& placement = input.prepared->placement();
  if (!placement.divided()) {
    int64_t valid = 0;
    int64_t score = 0;
    for (const Candidate& candidate : group) {
      if (candidate.available() < input.replicas) continue;
      ++valid;
      score += candidate.current ? kCurrentScore : 0;
    }
    return valid == 0 ? 0 : valid * kScoreUnit + score / valid;
  }
  const int64_t target = (int64_t{input.replicas} + min_groups - 1) / min_groups;
  const auto& clusters = placement.Spread(SpreadField::kCluster);
  const int64_t at_least = std::max(min_groups, clusters.has_value() ? clusters->min_groups : 0);
  int64_t available = SumAvailable(group);
  const int64_t reached = std::min(available, target);
  // The best clusters that together are enough; all of them when they are not.
  int64_t score = 0;
  int64_t counted = 0;
  available = 0;
  std::ranges::make_heap(group, ByRankReversed);
  for (size_t left = group.size(); left > 0; --left) {
    std::ranges::pop_heap(group.first(left), ByRankReversed);
    const Candidate& best = group[left - 1];
    available += best.available();
    score += best.current ? kCurrentScore : 0;
    ++counted;
    if (counted >= at_least && available >= target) break;
  }
  return reached * kScoreUnit + score / counted;
}

Result<void> SelectBySpread(const SpreadInput& input, std::vector<Candidate>& candidates) {
  const Placement& placement = input.prepared->placement();
  if (!placement.has_spread() || placement.spread_ignored()) return {};
  std::optional<SpreadField> chooser;
  for (const SpreadField field : {SpreadField::kRegion, SpreadField::kProvider, SpreadField::kZone}) {
    if (!placement.Spread(field).has_value()) continue;
    if (chooser.has_value()) continue;
    chooser = field;
    TRY(SelectGroups(input, field, candidates));
  }
  if (!chooser.has_value()) {
    if (!placement.Spread(SpreadField::kCluster).has_value()) {
      return InvalidError("just support cluster and region spread constraint: spreadByLabel is not implemented");
    }
    TRY(SelectClusters(input, *placement.Spread(SpreadField::kCluster), candidates));
  }
  for (const SpreadField field : {SpreadField::kProvider, SpreadField::kZone}) {
    if (placement.Spread(field).has_value() && chooser != field) TRY(CheckGroups(input, field, candidates));
  }
  std::ranges::sort(candidates, {}, &Candidate::cluster);
  return {};
}

}  // namespace baton::placement
