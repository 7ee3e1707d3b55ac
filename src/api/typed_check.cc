// Whether an object fits its type, for CheckTyped(): every error with its path, as kube-apiserver words them.
#include <set>

#include "api/typed.h"
#include "base/strings.h"
#include "json/beside.h"
#include "json/measure.h"

namespace baton::api {
namespace {

using json::Value;

class Checker {
 public:
  explicit Checker(bool allow_duplicates) : allow_duplicates_(allow_duplicates) {}

  // What `checked` (null: nothing) has at the same place, and in the same storage, fits already.
  void Check(const Value& value, const TypeRef& type, const Value* checked = nullptr) {
    if (errors_.size() >= kTypedErrorsMax) return;
    if (checked != nullptr && checked->SharesStorageWith(value)) return;
    if (path_.size() > kPathElementsMax) return Fail("nested too deep");
    const Shape shape = ShapeFor(type, &value);
    if (shape.map != Shape::Map::kNone) {
      CheckMap(value, shape, checked != nullptr && checked->is_object() ? checked : nullptr);
    } else if (shape.scalar != Shape::Scalar::kNone) {
      CheckScalar(value, shape.scalar);
    } else if (shape.list != Shape::List::kNone) {
      CheckList(value, shape, checked != nullptr && checked->is_array() ? checked : nullptr);
    }
  }

  bool fits() const { return errors_.empty(); }

  Result<void> Outcome() const {
    if (errors_.empty()) return {};
    if (errors_.size() == 1) return InvalidError(errors_[0]);
    std::string text = "errors:";
    for (const std::string& error : errors_) StrAppend(text, "\n  ", error);
    return InvalidError(std::move(text));
  }

 private:
  // A step of the way to where we are: a field of a map, or an item of a list. Both outlive the step.
  struct Step {
    std::string_view field;
    const PathElement* item = nullptr;  // null: the field
  };

  void Fail(std::string what) {
    if (path_.empty()) {
      errors_.push_back(std::move(what));
      return;
    }
    FieldPath path;
    for (const Step& step : path_) path.push_back(step.item == nullptr ? PathElement::Field(step.field) : *step.item);
    errors_.push_back(StrCat(PathText(path), ": ", what));
  }

  void CheckScalar(const Value& value, Shape::Scalar scalar) {
    if (value.is_null()) return;
    const bool nested = value.is_array() || value.is_object();
    if (scalar == Shape::Scalar::kNumeric && !value.is_number()) {
      Fail(StrCat("expected numeric (int or float), got ", json::KindName(value.kind())));
    } else if (scalar == Shape::Scalar::kString && !value.is_string()) {
      Fail(StrCat("expected string, got ", json::KindName(value.kind())));
    } else if (scalar == Shape::Scalar::kBoolean && !value.is_bool()) {
      Fail(StrCat("expected boolean, got ", json::KindName(value.kind())));
    } else if (scalar == Shape::Scalar::kUntyped && nested) {
      Fail(StrCat("expected any scalar, got ", json::KindName(value.kind())));
    }
  }

  void CheckMap(const Value& value, const Shape& shape, const Value* checked) {
    if (value.is_null()) return;
    if (!value.is_object()) return Fail(StrCat("expected map, got ", json::KindName(value.kind())));
    json::Beside beside(checked);
    for (const json::Member& member : value.members()) {
      const Value* same = beside.At(member.key());
      if (same != nullptr && same->SharesStorageWith(member.value())) continue;
      const TypeRef type = shape.Field(member.key()).first;
      path_.push_back({.field = member.key()});
      if (type.kind == TypeRef::Kind::kNone) {
        Fail("field not declared in schema");
      } else {
        Check(member.value(), type, same);
      }
      path_.pop_back();
    }
  }

  void CheckList(const Value& value, const Shape& shape, const Value* checked) {
    if (value.is_null()) return;
    if (!value.is_array()) return Fail(StrCat("expected list, got ", json::KindName(value.kind())));
    std::set<PathElement> seen;
    for (size_t i = 0; i < value.size(); ++i) {
      PathElement element = PathElement::Index(static_cast<int64_t>(i));
      if (shape.list != Shape::List::kAtomic) {
        Result<PathElement> made = ItemElement(shape, value[i]);
        if (!made.ok()) return Fail(StrCat("element ", i, ": ", made.error().message()));
        element = *std::move(made);
        if (!allow_duplicates_ && !seen.insert(element).second) {
          Fail(StrCat("duplicate entries for key ", element.ToText()));
        }
      }
      path_.push_back({.field = {}, .item = &element});
      Check(value[i], shape.item, checked != nullptr && i < checked->size() ? &(*checked)[i] : nullptr);
      path_.pop_back();
    }
  }

  const bool allow_duplicates_;
  std::vector<Step> path_;
  std::vector<std::string> errors_;
};

Result<void> CheckExtent(const Value& object) {
  const json::Extent extent = json::Measure(object, kTrackedBytesMax, kPathElementsMax);
  if (extent.depth > kPathElementsMax) return TooLargeError(StrCat("nested deeper than ", kPathElementsMax));
  if (extent.bytes > kTrackedBytesMax) return TooLargeError(StrCat("larger than ", kTrackedBytesMax, " bytes"));
  return {};
}

}  // namespace

Result<void> CheckTyped(const Value& object, const TypeRef& type, bool allow_duplicates) {
  TRY(CheckExtent(object));
  Checker checker(allow_duplicates);
  checker.Check(object, type);
  return checker.Outcome();
}

// What is shared was measured with `checked`; how deep the rest is, is seen on the way.
bool CheckTypedBeside(const Value& object, const Value& checked, const TypeRef& type) {
  Checker checker(true);
  checker.Check(object, type, &checked);
  return checker.fits();
}

}  // namespace baton::api
