// Error texts of strategic merge patches, and Go's way to print the values in them.
#include "json/strategic_errors.h"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "base/strings.h"
#include "json/parse.h"

namespace baton::json::strategic {
namespace {

std::string_view GoTypeName(GoType type) {
  constexpr std::array<std::string_view, 7> kNames = {
      "%!s(<nil>)", "bool", "int64", "float64", "string", "[]interface {}", "map[string]interface {}"};
  return kNames[static_cast<size_t>(type)];
}

std::string GoFloat(double number) {
  constexpr double kSmallest = 1e-4;  // Go's %v switches to an exponent below and from there
  constexpr double kLargest = 1e21;
  const double size = std::abs(number);
  const bool exponent = size != 0 && (size < kSmallest || size >= kLargest);
  std::array<char, 64> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number,
                                 exponent ? std::chars_format::scientific : std::chars_format::fixed);
  return {text.data(), end.ptr};
}

// Stops at kMaxPrintedBytes; what stands around it then is cut off too.
void AppendGoText(std::string& out, const Value& value, size_t depth) {
  if (out.size() > kMaxPrintedBytes || depth > kMaxDepth) return;
  switch (value.kind()) {
    case Kind::kNull:
      return StrAppend(out, "<nil>");
    case Kind::kBool:
      return StrAppend(out, value.bool_or(false));
    case Kind::kInt:
      return StrAppend(out, value.int_or(0));
    case Kind::kUint:
    case Kind::kDouble:
      return StrAppend(out, GoFloat(value.number_or(0)));
    case Kind::kString:
      return StrAppend(out, value.str());
    case Kind::kArray:
    case Kind::kObject:
      break;
  }
  out.append(value.is_array() ? "[" : "map[");
  std::string_view separator;
  for (const Value& item : value.items()) {
    if (out.size() > kMaxPrintedBytes) return;
    out.append(std::exchange(separator, " "));
    AppendGoText(out, item, depth + 1);
  }
  for (const Member& member : value.members()) {
    if (out.size() > kMaxPrintedBytes) return;
    StrAppend(out, std::exchange(separator, " "), member.key(), ":");
    AppendGoText(out, member.value(), depth + 1);
  }
  out.push_back(']');
}

// As Go's %s prints what may be no string.
std::string GoString(const Value& value) {
  if (value.is_string()) return GoText(value);
  if (value.is_null()) return "%!s(<nil>)";
  if (value.is_array() || value.is_object()) return GoText(value);
  return StrCat("%!s(", GoTypeName(GoTypeOf(value)), "=", GoText(value), ")");
}

std::string GoText(std::span<const Value> list) {
  std::string text = "[";
  for (const Value& item : list) {
    if (text.size() > kMaxPrintedBytes) break;
    if (text.size() > 1) text.push_back(' ');
    text.append(strategic::GoText(item));
  }
  return text.append("]");
}

Error WithStatus(int code, std::string_view reason, std::string message) {
  Status status;
  status.code = code;
  status.reason = reason;
  return Error::FromStatus(std::move(status), std::move(message));
}

Error BadRequest(std::string message) { return WithStatus(400, "BadRequest", std::move(message)); }

}  // namespace

GoType GoTypeOf(const Value& value) {
  switch (value.kind()) {
    case Kind::kNull:
      return GoType::kNil;
    case Kind::kBool:
      return GoType::kBool;
    case Kind::kInt:
      return GoType::kInt;
    case Kind::kUint:  // Kubernetes decodes what is too large for int64 as a float
    case Kind::kDouble:
      return GoType::kFloat;
    case Kind::kString:
      return GoType::kString;
    case Kind::kArray:
      return GoType::kList;
    case Kind::kObject:
      break;
  }
  return GoType::kMap;
}

std::string GoText(const Value& value) {
  std::string text;
  AppendGoText(text, value, 0);
  if (text.size() <= kMaxPrintedBytes) return text;
  size_t cut = kMaxPrintedBytes;
  while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0) == 0x80) --cut;  // not inside a UTF-8 sequence
  text.resize(cut);
  return text.append("...");
}

Error BadDocument(std::string_view what) { return BadRequest(StrCat("invalid JSON document: ", what)); }
Error BadPrimitiveListDirective() { return BadRequest("invalid patch format of primitive list"); }
Error BadRetainKeysDirective() { return BadRequest("invalid patch format of retainKeys"); }
Error BadElementOrderDirective() { return BadRequest("invalid patch format of setElementOrder list"); }

Error DoesNotFit(std::string message) { return WithStatus(422, "Invalid", std::move(message)); }

Error ExpectedList(const Value& actual) {
  return DoesNotFit(
      StrCat("expected a ", GoTypeName(GoType::kList), ", but received a ", GoTypeName(GoTypeOf(actual))));
}

Error ExpectedMap(const Value& actual) {
  return DoesNotFit(StrCat("expected a ", GoTypeName(GoType::kMap), ", but received a ", GoTypeName(GoTypeOf(actual))));
}

Error NoMergeKey(const Value& item, std::string_view merge_key) {
  return DoesNotFit(StrCat("map: ", GoText(item), " does not contain declared merge key: ", merge_key));
}

Error UnknownDirective(const Value& directive, const Value& patch) {
  return DoesNotFit(StrCat("unknown patch type: ", GoString(directive), " in map: ", GoText(patch)));
}

Error MixedTypes(std::span<const Value> original, std::span<const Value> patch) {
  return DoesNotFit(StrCat("list element types are not identical: [", GoText(original), " ", GoText(patch), "]"));
}

Error TooDeep() { return TooLargeError(StrCat("a strategic merge patch nested deeper than ", kMaxDepth, " levels")); }

}  // namespace baton::json::strategic
