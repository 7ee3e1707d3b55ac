// The errors of strategic merge patches, with the texts that Kubernetes gives them. For json/strategic_*.cc.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "json/value.h"

namespace baton::json::strategic {

// The dynamic types that Kubernetes' code tells apart in a decoded document.
enum class GoType { kNil, kBool, kInt, kFloat, kString, kList, kMap };

GoType GoTypeOf(const Value& value);

// As Go's fmt prints a decoded document with %v: map[a:1 b:[x y]]. Cut off after kMaxPrintedBytes.
inline constexpr size_t kMaxPrintedBytes = 1024;
std::string GoText(const Value& value);

// 400: a directive is not of its form.
Error BadDocument(std::string_view what);
Error BadPrimitiveListDirective();
Error BadRetainKeysDirective();
Error BadElementOrderDirective();

// 422: the patch does not fit the object, or asks for what strategic merge patches cannot do.
Error DoesNotFit(std::string message);
Error ExpectedList(const Value& actual);
Error ExpectedMap(const Value& actual);
Error NoMergeKey(const Value& item, std::string_view merge_key);
Error UnknownDirective(const Value& directive, const Value& patch);
Error MixedTypes(std::span<const Value> original, std::span<const Value> patch);

// 413
Error TooDeep();

}  // namespace baton::json::strategic
