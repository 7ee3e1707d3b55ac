// Choosing groups: branch and bound, with a bounded number of steps.
#include "placement/group_choice.h"

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <utility>

namespace baton::placement {

namespace {

bool BetterScore(const Group& a, const Group& b) { return std::tie(b.score, a.name) < std::tie(a.score, b.name); }

// All combinations in Karmada's order: groups with few clusters first. A combination is complete as soon as it has
// enough groups and clusters; nothing is added to a complete one.
class Search {
 public:
  Search(std::vector<Group> groups, int32_t min, int32_t max, int32_t target)
      : groups_(std::move(groups)), min_(min), max_(max), target_(target), best_after_(groups_.size() + 1) {
    std::ranges::sort(groups_, [](const Group& a, const Group& b) {
      return std::tie(a.clusters, b.score, a.name) < std::tie(b.clusters, a.score, b.name);
    });
    for (size_t i = groups_.size(); i-- > 0;) best_after_[i] = std::max(best_after_[i + 1], groups_[i].score);
  }

  // False: too many steps.
  bool Run() {
    struct Frame {
      size_t next;
    };
    std::vector<Frame> stack = {{0}};
    while (!stack.empty()) {
      if (Complete()) {
        Consider();
      } else if (Extend(stack.back().next)) {
        if (++steps_ > kMaxGroupSteps) return false;
        Push(stack.back().next++);
        stack.push_back({stack.back().next});
        continue;
      }
      stack.pop_back();
      if (!chosen_.empty() && !stack.empty()) Pop();
    }
    return true;
  }

  bool found() const { return found_; }

  // The best choice, cut down to the shortest beginning (by score) that is itself a combination Karmada would look at.
  std::vector<Group> Best() const {
    std::vector<Group> by_score;
    by_score.reserve(best_.size());
    for (const size_t i : best_) by_score.push_back(groups_[i]);
    std::ranges::sort(by_score, BetterScore);
    for (size_t length = static_cast<size_t>(min_); length < by_score.size(); ++length) {
      const std::span<const Group> head(by_score.data(), length);
      int64_t clusters = 0;
      int32_t most = 0;
      for (const Group& group : head) {
        clusters += group.clusters;
        most = std::max(most, group.clusters);
      }
      const bool needs_last = length == static_cast<size_t>(min_) || clusters - most < target_;
      if (clusters >= target_ && needs_last) {
        by_score.resize(length);
        break;
      }
    }
    return by_score;
  }

 private:
  bool Complete() const { return std::ssize(chosen_) >= min_ && clusters_ >= target_; }

  bool Extend(size_t next) const {
    const auto length = static_cast<int64_t>(chosen_.size());
    if (length >= max_ || next >= groups_.size()) return false;
    const auto left = static_cast<int64_t>(groups_.size() - next);
    if (length + left < min_) return false;
    // The largest groups stand at the end. Without enough clusters there, or without the score to win, turn back.
    const int64_t room = std::min<int64_t>(max_ - length, left);
    if (clusters_ + room * groups_.back().clusters < target_) return false;
    return !found_ || score_ + room * best_after_[next] >= best_score_;
  }

  void Push(size_t i) {
    chosen_.push_back(i);
    clusters_ += groups_[i].clusters;
    score_ += groups_[i].score;
  }

  void Pop() {
    clusters_ -= groups_[chosen_.back()].clusters;
    score_ -= groups_[chosen_.back()].score;
    chosen_.pop_back();
  }

  void Consider() {
    if (found_ && std::tie(score_, clusters_) <= std::tie(best_score_, best_clusters_)) return;
    found_ = true;
    best_ = chosen_;
    best_score_ = score_;
    best_clusters_ = clusters_;
  }

  std::vector<Group> groups_;
  int64_t min_;
  int64_t max_;
  int64_t target_;
  std::vector<int64_t> best_after_;  // the best score from here on
  std::vector<size_t> chosen_;
  int64_t clusters_ = 0;
  int64_t score_ = 0;
  bool found_ = false;
  std::vector<size_t> best_;
  int64_t best_score_ = 0;
  int64_t best_clusters_ = 0;
  int steps_ = 0;
};

// The fewest groups of the highest scores that reach the target; when even the most allowed do not, those with the most
// clusters, which reach it if anything does.
std::vector<Group> Greedy(std::vector<Group> groups, int32_t min, int32_t max, int32_t target) {
  const auto take = [&](auto better) -> std::vector<Group> {
    std::ranges::sort(groups, better);
    int64_t clusters = 0;
    for (size_t i = 0; i < groups.size() && i < static_cast<size_t>(max); ++i) {
      clusters += groups[i].clusters;
      if (static_cast<int64_t>(i) + 1 >= min && clusters >= target)
        return {groups.begin(), groups.begin() + static_cast<std::ptrdiff_t>(i) + 1};
    }
    return {};
  };
  std::vector<Group> chosen = take(BetterScore);
  if (chosen.empty()) {
    chosen = take([](const Group& a, const Group& b) {
      return std::tie(b.clusters, b.score, a.name) < std::tie(a.clusters, a.score, b.name);
    });
  }
  return chosen;
}

}  // namespace

std::vector<uint32_t> ChooseGroups(std::span<const Group> groups, int32_t min, int32_t max, int32_t target) {
  std::vector<Group> chosen;
  Search search({groups.begin(), groups.end()}, min, max, target);
  if (search.Run()) {
    if (search.found()) chosen = search.Best();
  } else {
    chosen = Greedy({groups.begin(), groups.end()}, min, max, target);
  }
  std::ranges::sort(chosen, BetterScore);
  std::vector<uint32_t> names;
  names.reserve(chosen.size());
  for (const Group& group : chosen) names.push_back(group.name);
  return names;
}

}  // namespace baton::placement
