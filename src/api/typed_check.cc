// Whether an object fits its type, for CheckTyped(): every error with its path, as kube-apiserver words them.
#include <set>

#include "api/typed.h"
#include "base/strings.h"
#include "json/measure.h"

namespace baton::api {
namespace {

using json::Value;

class Checker {
 public:
  explicit Checker(bool allow_duplicates) : allow_duplicates_(allow_duplicates) {}

  void Check(const Value& value, const TypeRef& type) {
    if (errors_.size() >= kTypedErrorsMax) return;
    const Shape shape = ShapeFor(type, &value);
    if (shape.map != Shape::Map::kNone) {
      CheckMap(value, shape);
    } else if (shape.scalar != Shape::Scalar::kNone) {
      CheckScalar(value, shape.scalar);
    } else if (shape.list != Shape::List::kNone) {
      CheckList(value, shape);
    }
  }

  Result<void> Outcome() const {
    if (errors_.empty()) return {};
    if (errors_.size() == 1) return InvalidError(errors_[0]);
    std::string text = "errors:";
    for (const std::string& error : errors_) StrAppend(text, "\n  ", error);
    return InvalidError(std::move(text));
  }

 private:
  void Fail(std::string what) {
    errors_.push_back(path_.empty() ? std::move(what) : StrCat(PathText(path_), ": ", what));
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

  void CheckMap(const Value& value, const Shape& shape) {
    if (value.is_null()) return;
    if (!value.is_object()) return Fail(StrCat("expected map, got ", json::KindName(value.kind())));
    for (const json::Member& member : value.members()) {
      const TypeRef type = shape.Field(member.key()).first;
      path_.push_back(PathElement::Field(member.key()));
      if (type.kind == TypeRef::Kind::kNone) {
        Fail("field not declared in schema");
      } else {
        Check(member.value(), type);
      }
      path_.pop_back();
    }
  }

  void CheckList(const Value& value, const Shape& shape) {
    if (value.is_null()) return;
    if (!value.is_array()) return Fail(StrCat("expected list, got ", json::KindName(value.kind())));
    std::set<PathElement> seen;
    for (size_t i = 0; i < value.size(); ++i) {
      PathElement element = PathElement::Index(static_cast<int64_t>(i));
      if (shape.list != Shape::List::kAtomic) {
        Result<PathElement> made = ItemElement(shape, value[i]);
        if (!made.ok()) return Fail(StrCat("element ", i, ": ", made.error().message()));
        element = *std::move(made);
        if (!seen.insert(element).second && !allow_duplicates_) {
          Fail(StrCat("duplicate entries for key ", element.ToText()));
        }
      }
      path_.push_back(std::move(element));
      Check(value[i], shape.item);
      path_.pop_back();
    }
  }

  const bool allow_duplicates_;
  FieldPath path_;
  std::vector<std::string> errors_;
};

}  // namespace

Result<void> CheckTyped(const Value& object, const TypeRef& type, bool allow_duplicates) {
  const json::Extent extent = json::Measure(object, kTrackedBytesMax, kPathElementsMax);
  if (extent.depth > kPathElementsMax) return TooLargeError(StrCat("nested deeper than ", kPathElementsMax));
  if (extent.bytes > kTrackedBytesMax) return TooLargeError(StrCat("larger than ", kTrackedBytesMax, " bytes"));
  Checker checker(allow_duplicates);
  checker.Check(object, type);
  return checker.Outcome();
}

}  // namespace baton::api
