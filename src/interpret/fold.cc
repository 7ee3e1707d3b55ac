// Folding fields.
#include "interpret/fold.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/strings.h"
#include "interpret/fields.h"
#include "json/quantity.h"

namespace baton::interpret {

namespace {

using json::Value;

struct Held {
  std::string_view cluster;
  const Value* value;
};

Error WrongField(const FieldFold& field, const Held& held, std::string_view wanted) {
  return InvalidError(StrCat("status of cluster ", Quote(held.cluster), ": ", field.name, ": expected ", wanted,
                             ", and it is ", json::KindName(held.value->kind())));
}

bool IsBlank(const Value& value) {
  return (value.is_string() && value.str().empty()) || ((value.is_array() || value.is_object()) && value.empty());
}

Result<Value> FoldNumbers(const FieldFold& field, std::span<const Held> held) {
  int64_t total = 0;
  for (const Held& one : held) {
    if (!one.value->is_int()) return WrongField(field, one, "an integer");
    const int64_t number = one.value->int_or(0);
    total = field.fold == Fold::kSum ? SaturatingAdd(total, number) : std::max(total, number);
  }
  return Value(total);
}

// Times in UTC compare as texts.
Result<Value> FoldTimes(const FieldFold& field, std::span<const Held> held) {
  Value kept;
  for (const Held& one : held) {
    if (!one.value->is_string()) return WrongField(field, one, "a time");
    if (one.value->str().empty()) continue;
    const bool better = field.fold == Fold::kLatest ? one.value->str() > kept.str() : one.value->str() < kept.str();
    if (kept.is_null() || better) kept = *one.value;
  }
  return kept;
}

Result<Value> FoldQuantities(const FieldFold& field, std::span<const Held> held) {
  json::Quantity sum;
  for (const Held& one : held) {
    if (IsBlank(*one.value)) continue;
    sum = TRY(sum.Add(TRY(json::Quantity::FromJson(*one.value)
                              .Context(StrCat("status of cluster ", Quote(one.cluster), ": ", field.name)))));
  }
  return sum.ToJson();
}

// Depth is bounded by json::kMaxDepth.
void SumInto(Value& sum, const Value& more) {
  if (more.is_int()) {
    sum = SaturatingAdd(sum.int_or(0), more.int_or(0));
  } else if (more.is_object()) {
    if (!sum.is_object()) sum = json::Object();
    for (const json::Member& member : more.members()) SumInto(sum.Edit(member.key()), member.value());
  } else if (!more.is_null()) {
    sum = more;
  }
}

Value FoldWorst(const FieldFold& field, std::span<const Held> held) {
  const Value* worst = nullptr;
  ptrdiff_t rank = -1;
  for (const Held& one : held) {
    const auto at = std::ranges::find(field.order, one.value->str());
    const ptrdiff_t own = at == field.order.end() ? 0 : at - field.order.begin() + 1;
    if (own <= rank) continue;
    rank = own;
    worst = one.value;
  }
  return worst == nullptr ? Value() : *worst;
}

Value FoldConditions(std::span<const Held> held) {
  std::vector<Value> joined;
  for (const Held& one : held) {
    for (const Value& condition : one.value->items()) {
      if (!condition.is_object()) continue;
      const std::string message = StrCat(one.cluster, "=", condition["message"].str());
      const auto same = std::ranges::find_if(joined, [&](const Value& other) {
        return other["type"] == condition["type"] && other["status"] == condition["status"] &&
               other["reason"] == condition["reason"];
      });
      if (same != joined.end()) {
        same->Set("message", StrCat((*same)["message"].str(), ", ", message));
      } else {
        joined.push_back(condition);
        joined.back().Set("message", message);
      }
    }
  }
  Value list = json::Array();
  for (Value& condition : joined) list.Push(std::move(condition));
  return list.empty() ? Value() : list;
}

// The true condition of this type that changed last, and how many members have one.
struct Latest {
  Value condition;
  std::vector<std::string> clusters;
};

Latest LatestTrue(std::span<const Held> held, std::string_view type) {
  Latest latest;
  for (const Held& one : held) {
    const Value& condition = ConditionOf(*one.value, type);
    if (condition["status"].str() != "True") continue;
    latest.clusters.emplace_back(one.cluster);
    if (latest.condition.is_null() ||
        condition["lastTransitionTime"].str() > latest.condition["lastTransitionTime"].str())
      latest.condition = condition;
  }
  return latest;
}

// In the order in which kubectl shows the last one: Created, Running, then how it ended.
Value FoldJobConditions(const FieldFold& field, std::span<const Held> held, size_t members) {
  Latest success = LatestTrue(held, field.order.front());
  Latest failed = LatestTrue(held, "Failed");
  const bool all_succeeded = members > 0 && success.clusters.size() == members;
  Value list = json::Array();
  if (Latest created = LatestTrue(held, "Created"); !created.condition.is_null()) list.Push(created.condition);
  if (Latest running = LatestTrue(held, "Running");
      !running.condition.is_null() && !all_succeeded && failed.clusters.empty())
    list.Push(running.condition);
  if (all_succeeded) list.Push(success.condition);
  if (!failed.clusters.empty()) {
    failed.condition.Set("reason", "JobFailed");
    failed.condition.Set("message", StrCat("Job failed in member clusters ", Join(failed.clusters, ",")));
    list.Push(failed.condition);
  }
  return list.empty() ? Value() : list;
}

Value FoldTrees(const FieldFold& field, std::span<const Held> held) {
  Value tree;
  for (const Held& one : held) {
    if (field.fold == Fold::kSumTree) {
      SumInto(tree, *one.value);
    } else {
      for (const json::Member& member : one.value->members()) tree.Set(member.key(), member.value());
    }
  }
  return tree;
}

}  // namespace

Result<Value> FoldField(const FieldFold& field, std::span<const MemberStatus> members) {
  std::vector<Held> held;
  for (const MemberStatus& member : members) {
    if (member.status == nullptr || (*member.status)[field.name].is_null()) continue;
    held.push_back({member.cluster, &(*member.status)[field.name]});
  }
  switch (field.fold) {
    case Fold::kSum:
    case Fold::kMax:
      return FoldNumbers(field, held);
    case Fold::kEarliest:
    case Fold::kLatest:
      return FoldTimes(field, held);
    case Fold::kQuantity:
      return FoldQuantities(field, held);
    case Fold::kMerge:
    case Fold::kSumTree:
      return FoldTrees(field, held);
    case Fold::kWorst:
      return FoldWorst(field, held);
    case Fold::kConditions:
      return FoldConditions(held);
    case Fold::kJobConditions:
      return FoldJobConditions(field, held, members.size());
    default:
      break;
  }
  Value kept;
  for (const Held& one : held) {
    if (field.fold == Fold::kAll) {
      if (!one.value->is_bool()) return WrongField(field, one, "a boolean");
      kept = kept.bool_or(true) && one.value->bool_or(false);
    } else if (field.fold == Fold::kConcat) {
      for (const Value& item : one.value->items()) kept.Push(item);
    } else if (!IsBlank(*one.value) && (field.fold == Fold::kLast || kept.is_null())) {
      kept = *one.value;
    }
  }
  return kept;
}

}  // namespace baton::interpret
