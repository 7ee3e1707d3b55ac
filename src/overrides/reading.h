// Reading policies, which are JSON that admission may or may not have checked: what is absent or null is empty, what
// has the wrong type is an error that names the field.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/value.h"

namespace baton::overrides {

enum class Operator : uint8_t { kAdd, kRemove, kReplace };

std::string_view OperatorName(Operator op);

// The member "operator", which must be there.
Result<Operator> ReadOperator(const json::Value& item);

Result<std::string_view> ReadString(const json::Value& parent, std::string_view key);
Result<std::string_view> ReadRequiredString(const json::Value& parent, std::string_view key);  // present and not ""
Result<std::span<const json::Value>> ReadList(const json::Value& parent, std::string_view key);
Result<std::vector<std::string>> ReadStrings(const json::Value& parent, std::string_view key);

// The member as an object; the shared null when absent.
Result<const json::Value*> ReadObject(const json::Value& parent, std::string_view key);

// Compiles each item of the list at `key`; an error names the item: "imageOverrider[1]: <message>".
template <class T, class Compile>
Result<std::vector<T>> ReadEach(const json::Value& parent, std::string_view key, const Compile& compile);

// "imageOverrider[1]"
std::string IndexedName(std::string_view key, size_t index);

template <class T, class Compile>
Result<std::vector<T>> ReadEach(const json::Value& parent, std::string_view key, const Compile& compile) {
  std::vector<T> compiled;
  const std::span<const json::Value> items = TRY(ReadList(parent, key));
  compiled.reserve(items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    Result<T> one = compile(items[i]);
    if (!one.ok()) return one.error().Context(IndexedName(key, i));
    compiled.push_back(*std::move(one));
  }
  return compiled;
}

}  // namespace baton::overrides
