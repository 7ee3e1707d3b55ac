// The general estimator.
#include "placement/estimate.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "placement/assumed.h"

namespace baton::placement {

namespace {

constexpr int64_t kMost = std::numeric_limits<int32_t>::max();

int64_t Minus(int64_t a, int64_t b) {
  int64_t result = 0;
  if (!__builtin_sub_overflow(a, b, &result)) return result;
  return b > 0 ? INT64_MIN : INT64_MAX;
}

int64_t Times(int64_t a, int64_t b) {
  int64_t result = 0;
  if (!__builtin_mul_overflow(a, b, &result)) return result;
  return (a < 0) == (b < 0) ? INT64_MAX : INT64_MIN;
}

int64_t Plus(int64_t a, int64_t b) {
  int64_t result = 0;
  if (!__builtin_add_overflow(a, b, &result)) return result;
  return b > 0 ? INT64_MAX : INT64_MIN;
}

int64_t FreePods(const Capacity& capacity, const Load* load) {
  return load == nullptr ? capacity.pods : Minus(capacity.pods, load->pods);
}

// How often `per_unit` fits into what is left of each resource, at most `bound` times.
int64_t FitsSummary(const Capacity& capacity, const Request& per_unit, const Load* load, int64_t bound) {
  for (const Amount& amount : per_unit) {
    const Amount* available = FindAmount(capacity.available, amount.name);
    if (available == nullptr) return 0;
    int64_t left = available->value;
    if (load != nullptr) {
      if (const Amount* taken = FindAmount(load->amounts, amount.name)) left = Minus(left, taken->value);
    }
    if (left <= 0) return 0;
    bound = std::min(bound, left / amount.value);
  }
  return bound;
}

int64_t FitsOneNode(const NodeGrade& grade, const Request& request) {
  int64_t fits = kMaxPodsPerNode;
  for (const Amount& amount : request) {
    const Amount* has = FindAmount(grade.minimum, amount.name);
    fits = std::min(fits, has == nullptr ? 0 : has->value / amount.value);
  }
  return std::max<int64_t>(fits, 0);
}

// How many of our replicas one assumed replica can push off its node at most. For a burst of equal workloads it is 1,
// which is exact; for others it errs towards free space.
int64_t Displaces(const Request& assumed, const Request& request) {
  int64_t displaced = 1;  // a pod for a pod
  for (const Amount& amount : request) {
    const Amount* taken = FindAmount(assumed, amount.name);
    if (taken != nullptr) displaced = std::max(displaced, (taken->value - 1) / amount.value + 1);
  }
  return displaced;
}

int64_t FitsModel(const Capacity& capacity, const Request& request, const Load* load, int64_t bound) {
  if (capacity.grades.empty()) return bound;
  int64_t fits = 0;
  for (const NodeGrade& grade : capacity.grades) fits = Plus(fits, Times(grade.count, FitsOneNode(grade, request)));
  if (load != nullptr) {
    for (const Load::Shape& shape : load->shapes) {
      fits = Minus(fits, Times(shape.replicas, Displaces(shape.request, request)));
    }
  }
  return std::min(bound, std::max<int64_t>(fits, 0));
}

int32_t Bounded(int64_t count) { return static_cast<int32_t>(std::clamp<int64_t>(count, 0, kMost)); }

}  // namespace

void Load::Add(const Request& request, int64_t replicas) {
  pods = Plus(pods, replicas);
  for (const Amount& amount : request) {
    auto at = std::ranges::lower_bound(amounts, amount.name, {}, &Amount::name);
    if (at == amounts.end() || at->name != amount.name) at = amounts.insert(at, {amount.name, 0});
    at->value = Plus(at->value, Times(amount.value, replicas));
  }
  const auto shape = std::ranges::find(shapes, request, &Shape::request);
  if (shape == shapes.end()) {
    shapes.push_back({request, replicas});
  } else {
    shape->replicas += replicas;
    if (shape->replicas == 0) shapes.erase(shape);
  }
}

int32_t EstimateReplicas(const Capacity& capacity, const Request* request, const Load* load) {
  if (!capacity.known) return 0;
  const int64_t pods = FreePods(capacity, load);
  if (pods <= 0 || request == nullptr) return Bounded(pods);
  return Bounded(FitsSummary(capacity, *request, load, FitsModel(capacity, *request, load, pods)));
}

int32_t EstimateSets(const Capacity& capacity, std::span<const Component> components, const Load* load) {
  if (!capacity.known) return 0;
  const int64_t pods = FreePods(capacity, load);
  if (pods <= 0) return 0;
  Load set;
  for (const Component& component : components) set.Add(component.request, component.replicas);
  if (set.pods <= 0) return Bounded(pods);
  std::erase_if(set.amounts, [](const Amount& amount) { return amount.value <= 0; });
  return Bounded(FitsSummary(capacity, set.amounts, load, pods / set.pods));
}

void Merge(Estimates& into, std::span<const int32_t> other) {
  for (size_t i = 0; i < std::min(into.size(), other.size()); ++i) {
    if (other[i] == kUnknownEstimate) continue;
    into[i] = into[i] == kUnknownEstimate ? other[i] : std::min(into[i], other[i]);
  }
}

bool CountsInSets(const Binding& binding, const Placement& placement) {
  return !binding.components.empty() && placement.one_cluster();
}

bool Estimator::Less(const Request& a, const Request& b) {
  return std::ranges::lexicographical_compare(
      a, b, [](const Amount& x, const Amount& y) { return std::tie(x.name, x.value) < std::tie(y.name, y.value); });
}

const Estimates& Estimator::Replicas(const Request* request) {
  Known* known = &by_pods_;
  if (request != nullptr) {
    if (by_request_.size() >= kMaxRemembered) by_request_.clear();
    known = &by_request_[*request];
  }
  Estimates& estimates = known->estimates;
  if (estimates.empty()) {
    estimates.reserve(fleet_->size());
    for (const Cluster& cluster : fleet_->clusters()) estimates.push_back(EstimateReplicas(cluster.capacity, request));
  }
  if (assumed_ == nullptr || known->version == assumed_->version()) return estimates;
  assumed_->ForEachChanged(known->version, [&](std::string_view name, const Load& load) {
    const std::optional<size_t> at = fleet_->Find(name);
    if (at.has_value()) estimates[*at] = EstimateReplicas((*fleet_)[*at].capacity, request, &load);
  });
  known->version = assumed_->version();
  return estimates;
}

const Estimates& Estimator::Sets(const Binding& binding) {
  sets_.clear();
  for (const Cluster& cluster : fleet_->clusters()) {
    const Load* load = assumed_ == nullptr ? nullptr : assumed_->Of(cluster.name);
    sets_.push_back(EstimateSets(cluster.capacity, binding.components, load));
  }
  return sets_;
}

const Estimates& Estimator::For(const Binding& binding, const Placement& placement) {
  if (binding.replicas == 0 && binding.components.empty()) return nothing_;
  if (CountsInSets(binding, placement)) return Sets(binding);
  return Replicas(binding.has_requirements ? &binding.request : nullptr);
}

}  // namespace baton::placement
