// Label and field selectors, as Kubernetes reads, matches and prints them.
//
//   LabelSelector selector = TRY(LabelSelector::Parse("app=web,tier notin (dev,test),!legacy"));
//   if (selector.Matches(pod["metadata"]["labels"])) ...
//   selector.ToString();                      // "app=web,!legacy,tier notin (dev,test)": sorted by key
//   LabelSelector own = TRY(LabelSelector::FromObject(deployment["spec"]["selector"]));
//
//   FieldSelector fields = TRY(FieldSelector::Parse("metadata.name=web,status.phase!=Running"));
//   fields.Matches([&](std::string_view field) { return FieldOf(pod, field); });   // "" for what is absent
//
// A selector is an AND of requirements; without any it selects everything. `!=` and `notin` also select what does not
// have the key. A selector never changes after it was made, and matching allocates nothing.
// tests/golden/selector.json holds what the real kubectl answered.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/value.h"

namespace baton::json {

inline constexpr size_t kMaxSelectorBytes = size_t{256} << 10;  // the text of one selector
inline constexpr size_t kMaxSelectorRequirements = 4096;
inline constexpr size_t kMaxSelectorValues = 65536;  // of one requirement

enum class LabelOperator : uint8_t {
  kEquals,        // a=b
  kDoubleEquals,  // a==b, which means the same but prints as it was written
  kNotEquals,     // a!=b
  kIn,            // a in (b,c)
  kNotIn,         // a notin (b,c)
  kExists,        // a
  kDoesNotExist,  // !a
  kGreaterThan,   // a>1: the label is an integer above
  kLessThan,      // a<1
};

// One condition on one label. Only valid ones exist.
class LabelRequirement {
 public:
  // The key must be a qualified name and the values label values; In and NotIn take one value or more, Exists and
  // DoesNotExist none, the others one, which is an integer for GreaterThan and LessThan. All that is wrong is in the
  // error, in Kubernetes' words.
  static Result<LabelRequirement> Make(std::string_view key, LabelOperator op, std::vector<std::string> values);

  const std::string& key() const { return key_; }
  LabelOperator op() const { return op_; }
  const std::vector<std::string>& values() const { return values_; }  // sorted

  bool Matches(const Value& labels) const;
  std::string ToString() const;
  friend bool operator==(const LabelRequirement&, const LabelRequirement&) = default;

 private:
  LabelRequirement() = default;
  bool HasValue(std::string_view value) const;

  std::string key_;
  LabelOperator op_ = LabelOperator::kExists;
  std::vector<std::string> values_;
  int64_t bound_ = 0;  // the value of kGreaterThan and kLessThan
};

class LabelSelector {
 public:
  LabelSelector() = default;  // selects everything
  static LabelSelector Nothing();

  // The string form: "a=b,c!=d,e in (f,g),h notin (i),j,!k,l>1,m<2". The empty string selects everything. Errors are in
  // Kubernetes' words, which name the token they stumbled over.
  static Result<LabelSelector> Parse(std::string_view text);

  // A metav1.LabelSelector, {matchLabels, matchExpressions}: null selects nothing, an empty one everything. A field
  // that it does not have is an error, because a misspelt selector would select everything.
  static Result<LabelSelector> FromObject(const Value& object);

  // All of them at once. They are sorted by key; those of one key keep their order.
  static Result<LabelSelector> FromRequirements(std::vector<LabelRequirement> requirements);

  // `labels` is an object of strings; a member that is no string is not a label. Anything but an object has no labels.
  bool Matches(const Value& labels) const;

  bool selects_everything() const { return !nothing_ && requirements_.empty(); }
  bool selects_nothing() const { return nothing_; }
  std::span<const LabelRequirement> requirements() const { return requirements_; }

  // The one value that this label must have, when the first requirement on it says so.
  std::optional<std::string_view> ExactMatch(std::string_view key) const;

  // The canonical string form, which Parse reads again. "" for everything and, as in Kubernetes, also for nothing.
  std::string ToString() const;
  friend bool operator==(const LabelSelector&, const LabelSelector&) = default;

 private:
  std::vector<LabelRequirement> requirements_;
  bool nothing_ = false;
};

struct FieldRequirement {
  std::string field;
  bool equal = true;  // = or ==, else !=
  std::string value;

  friend bool operator==(const FieldRequirement&, const FieldRequirement&) = default;
};

class FieldSelector {
 public:
  FieldSelector() = default;  // selects everything

  // "metadata.name=x,status.phase!=Running". In a value a backslash stands before ',', '=' and '\'. Which fields may be
  // selected on is for the caller to check.
  static Result<FieldSelector> Parse(std::string_view text);

  // `lookup(field)` gives the value as something that converts to std::string_view; "" when there is none.
  template <class Lookup>
  bool Matches(const Lookup& lookup) const {
    return std::ranges::all_of(requirements_, [&](const FieldRequirement& requirement) {
      return (std::string_view(lookup(std::string_view(requirement.field))) == requirement.value) == requirement.equal;
    });
  }

  bool selects_everything() const { return requirements_.empty(); }
  std::span<const FieldRequirement> requirements() const { return requirements_; }

  // The one value that this field must have, when a requirement says so.
  std::optional<std::string_view> ExactMatch(std::string_view field) const;

  // What Parse reads again, in the order Kubernetes prints it: that of the terms as they were written, sorted.
  std::string ToString() const;
  friend bool operator==(const FieldSelector&, const FieldSelector&) = default;

  // A value with the backslashes that Parse takes away.
  static std::string Escape(std::string_view value);

 private:
  std::vector<FieldRequirement> requirements_;
};

}  // namespace baton::json
