// Numbers against the bounds of a schema, without rounding. Internal to validation. Each function gives the predicate
// that the message ends in ("should be less than 5"), or nothing.
#pragma once

#include <compare>
#include <optional>
#include <string>

#include "api/schema.h"
#include "json/value.h"

namespace baton::api {

// An integer as JSON has it in every language: whole, and within +-(2^53 - 1).
bool IsWhole(double number);

// How a number (of any kind) compares with a double, exactly.
std::partial_ordering CompareNumbers(const json::Value& number, double bound);

std::optional<std::string> RangeError(const json::Value& number, const Schema& schema);  // of type and format
std::optional<std::string> MaximumError(const json::Value& number, const Schema& schema);
std::optional<std::string> MinimumError(const json::Value& number, const Schema& schema);
std::optional<std::string> MultipleError(const json::Value& number, const Schema& schema);

}  // namespace baton::api
