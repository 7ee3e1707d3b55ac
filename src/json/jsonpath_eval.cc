// Kubernetes JSONPath at work: from a set of values to the next, step by step, as kubectl does it.
#include "json/jsonpath_eval.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "json/jsonpath_compare.h"
#include "json/parse.h"

namespace baton::json::jsonpath_internal {
namespace {

constexpr size_t kFailureSteps = 16;  // what making an error costs, which [?(...)] may swallow again and again

// A growing list of pointers; the first few need no heap.
class Refs {
 public:
  Refs() = default;
  Refs(const Refs&) = delete;
  Refs& operator=(const Refs&) = delete;

  void Add(const Value* value) {
    if (size_ < kInPlace) {
      in_place_[size_] = value;
    } else {
      if (size_ == kInPlace) heap_.assign(in_place_.begin(), in_place_.end());
      heap_.push_back(value);
    }
    ++size_;
  }
  void Clear() { size_ = 0; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  Span all() const { return {size_ <= kInPlace ? in_place_.data() : heap_.data(), size_}; }

 private:
  static constexpr size_t kInPlace = 8;
  std::array<const Value*, kInPlace> in_place_;
  std::vector<const Value*> heap_;  // all of them, when there are more than kInPlace
  size_t size_ = 0;
};

// The items of a string are its bytes, because they are in Go.
const Value* ByteValue(char byte) {
  static const std::array<Value, 256> kBytes = [] {
    std::array<Value, 256> bytes;
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = Value(i);
    return bytes;
  }();
  return &kBytes[static_cast<unsigned char>(byte)];
}

class Evaluator {
 public:
  Evaluator(const Template& parsed, const JsonPathOptions& options, Sink& sink)
      : parsed_(parsed), options_(options), sink_(sink) {}

  // The nodes from `first` on, to the `end` of the range we are in or to the last, with `here` as the current value.
  // kubectl finds the matching `end` by counting while it runs; so do we, because templates where they do not match
  // have results too.
  Result<void> Nodes(size_t first, const Value* here) {
    const NodeList& nodes = parsed_.nodes;
    for (size_t i = first; i < nodes.size(); ++i) {
      Refs results;
      TRY(Apply(nodes[i], Span(&here, 1), results));
      if (ends_ > 0 && ends_ <= ranges_) {
        --ends_;
        last_end_ = i;
        return {};
      }
      if (begins_ > 0) {
        --begins_;
        TRY(Range(i + 1, results.all()));
        i = std::max(i, last_end_);
      } else if (discarding_ == 0) {
        TRY(sink_.Take(results.all()));
      }
    }
    return {};
  }

 private:
  Result<void> Range(size_t body, Span results) {
    if (ranges_ == kMaxJsonPathRanges) return TooLarge(StrCat("ranges nested deeper than ", kMaxJsonPathRanges));
    ++ranges_;
    for (const Value* value : results) TRY(Nodes(body, value == nullptr || value->is_null() ? nullptr : value));
    if (results.empty()) {  // somebody has to find the end
      ++discarding_;
      TRY(Nodes(body, nullptr));
      --discarding_;
    }
    --ranges_;
    return {};
  }

  // The results of `node` for `input` are added to `out`. When it fails, failed_with_values_ tells whether kubectl's
  // functions return something beside the error: a filter on existence looks at nothing else.
  Result<void> Apply(const Node& node, Span input, Refs& out) {
    TRY(Charge(input.size() + 1));
    switch (node.kind) {
      case NodeKind::kAction:
        return List(node.lists[0], input, out);
      case NodeKind::kText:
        return Add(out, &node.literal);
      case NodeKind::kLiteral:
        for (size_t i = 0; i < input.size(); ++i) TRY(Add(out, &node.literal));
        return {};
      case NodeKind::kField:
        return Field(node, input, out);
      case NodeKind::kWildcard:
        return Wildcard(input, out);
      case NodeKind::kRecursive:
        for (const Value* value : input) {
          if (value != nullptr) TRY(Recursive(*value, out, 0));
        }
        return {};
      case NodeKind::kSlice:
        return Slice(node, input, out);
      case NodeKind::kUnion:
        for (const NodeList& list : node.lists) {
          if (Result<void> done = List(list, input, out); !done.ok()) return FailedWith(!input.empty(), done);
        }
        return {};
      case NodeKind::kFilter:
        return Filter(node, input, out);
      case NodeKind::kIdentifier:
        return Identifier(node, input, out);
    }
    return {};
  }

  Result<void> List(const NodeList& nodes, Span input, Refs& out) {
    std::array<Refs, 2> between;
    Span current = input;
    for (size_t i = 0; i + 1 < nodes.size(); ++i) {
      Refs& next = between[i % 2];
      next.Clear();
      TRY(Apply(nodes[i], current, next));
      current = next.all();
    }
    if (!nodes.empty()) return Apply(nodes.back(), current, out);
    for (const Value* value : current) TRY(Add(out, value));
    return {};
  }

  Result<void> Identifier(const Node& node, Span input, Refs& out) {
    if (node.name == "range") {
      ++begins_;
      for (const Value* value : input) TRY(Add(out, value));
      return {};
    }
    if (node.name != "end") return Fail(!input.empty(), StrCat("unrecognized identifier ", node.name));
    if (ranges_ == 0) return Fail(false, "not in range, nothing to end");
    ++ends_;
    return {};
  }

  Result<void> Field(const Node& node, Span input, Refs& out) {
    const size_t before = out.size();
    for (const Value* value : input) {
      const Value* member = value == nullptr ? nullptr : value->Find(node.name);
      if (member != nullptr) TRY(Add(out, member));
    }
    if (out.size() == before && !input.empty() && !options_.allow_missing_keys)
      return Fail(false, StrCat(node.name, " is not found"));
    return {};
  }

  Result<void> Wildcard(Span input, Refs& out) {
    for (const Value* value : input) {
      if (value == nullptr) continue;
      for (const Member& member : value->members()) TRY(Add(out, &member.value()));
      for (const Value& item : value->items()) TRY(Add(out, &item));
      for (const char byte : value->str()) TRY(Add(out, ByteValue(byte)));
    }
    return {};
  }

  // The value and all below it, except those without anything inside.
  Result<void> Recursive(const Value& value, Refs& out, size_t depth) {
    if (depth > kMaxDepth) return TooLarge(StrCat("a value is nested deeper than ", kMaxDepth, " levels"));
    if (value.empty() && value.str().empty()) return Charge(1);
    TRY(Add(out, &value));
    for (const Member& member : value.members()) TRY(Recursive(member.value(), out, depth + 1));
    for (const Value& item : value.items()) TRY(Recursive(item, out, depth + 1));
    return {};
  }

  Result<void> Slice(const Node& node, Span input, Refs& out) {
    for (const Value* value : input) {
      if (value == nullptr || value->is_null()) continue;
      if (!value->is_array()) return Fail(true, StrCat(GoTypeName(*value), " is not array or slice"));
      const auto size = static_cast<int64_t>(value->size());
      const auto& [first, last, stride] = node.slice;
      int64_t begin = first.value;
      if (begin < 0) begin += size;
      int64_t end = last.known ? last.value : size;
      if (end < 0 || (end == 0 && last.derived)) end += size;
      if (begin == end) return {};  // and the values after this one are not looked at
      if (begin >= size || begin < 0) return OutOfBounds(begin, size);
      if (end > size || end < 0) return OutOfBounds(end - 1, size);
      if (begin > end) return Fail(true, StrCat("starting index ", begin, " is greater than ending index ", end));
      if (stride.known && stride.value <= 0) return Fail(true, "step must be > 0");
      const int64_t step = stride.known ? std::min(stride.value, size) : 1;
      for (int64_t i = begin; i < end; i += step) TRY(Add(out, &value->items()[static_cast<size_t>(i)]));
    }
    return {};
  }

  Result<void> Filter(const Node& node, Span input, Refs& out) {
    const size_t before = out.size();
    for (const Value* value : input) {
      if (value == nullptr || !value->is_array()) {
        return Fail(true, StrCat(value == nullptr ? "<no value>" : GoTypeName(*value),
                                 " is not array or slice and cannot be filtered"));
      }
      for (const Value& item : value->items()) {
        TRY(Charge(1));
        if (TRY(node.name.empty() ? Exists(node, &item) : Holds(node, &item, out.size() > before)))
          TRY(Add(out, &item));
      }
    }
    return {};
  }

  Result<bool> Exists(const Node& node, const Value* item) {
    Refs found;
    const Result<void> done = List(node.lists[0], Span(&item, 1), found);
    if (done.ok()) return !found.empty();
    if (done.error().kind() == ErrorKind::kTooLarge) return done.error();
    return failed_with_values_;
  }

  Result<bool> Holds(const Node& node, const Value* item, bool some_found) {
    std::array<const Value*, 2> sides{};
    for (size_t i = 0; i < sides.size(); ++i) {
      Refs found;
      if (Result<void> done = List(node.lists[i], Span(&item, 1), found); !done.ok())
        return FailedWith(true, done).error();
      if (found.empty()) return false;
      if (found.size() > 1) return Fail(true, "can only compare one element at a time");
      sides[i] = found.all()[0];
    }
    switch (Compare(*sides[0], node.name, *sides[1])) {
      case Comparison::kTrue:
        return true;
      case Comparison::kFalse:
        return false;
      case Comparison::kBadKind:
        return Fail(some_found, "invalid type for comparison");
      case Comparison::kBadPair:
        return Fail(some_found, "incompatible types for comparison");
      case Comparison::kBadOperator:
        return Fail(some_found, StrCat("unrecognized filter operator ", node.name));
    }
    return false;
  }

  Result<void> Add(Refs& out, const Value* value) {
    TRY(Charge(1));
    if (out.size() >= options_.max_results) return TooLarge(StrCat("more than ", options_.max_results, " results"));
    out.Add(value);
    return {};
  }

  Result<void> Charge(size_t steps) {
    steps_ += steps;
    if (steps_ > options_.max_steps) [[unlikely]]
      return TooLarge(StrCat("more than ", options_.max_steps, " values looked at"));
    return {};
  }

  Error OutOfBounds(int64_t index, int64_t size) {
    return Fail(true, StrCat("array index out of bounds: index ", index, ", length ", size));
  }
  Error Fail(bool with_values, std::string_view what) {
    failed_with_values_ = with_values;
    steps_ += kFailureSteps;
    return InvalidError(About(parsed_.source, what));
  }
  Result<void> FailedWith(bool with_values, const Result<void>& failure) {
    failed_with_values_ = with_values;
    return failure.error();
  }
  Error TooLarge(std::string_view what) const { return TooLargeError(About(parsed_.source, what)); }

  const Template& parsed_;
  const JsonPathOptions& options_;
  Sink& sink_;
  size_t steps_ = 0;
  size_t begins_ = 0;      // `range` words that no range has begun for
  size_t ends_ = 0;        // `end` words that have ended nothing yet
  size_t ranges_ = 0;      // we are in
  size_t discarding_ = 0;  // of those, the ones without results
  size_t last_end_ = 0;    // the node that ended a range last
  bool failed_with_values_ = false;
};

}  // namespace

Result<void> Evaluate(const Template& parsed, const Value& root, const JsonPathOptions& options, Sink& sink) {
  return Evaluator(parsed, options, sink).Nodes(0, &root);
}

}  // namespace baton::json::jsonpath_internal
