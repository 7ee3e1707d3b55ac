// JSON text out. Compact, or indented as `kubectl -o json` prints it; keys come sorted because objects keep them so.
#pragma once

#include <string>
#include <string_view>

#include "json/value.h"

namespace baton::json {

std::string Print(const Value& value);
size_t Append(std::string& out, const Value& value);  // gives how many arrays and objects are nested in each other

inline constexpr int kKubectlIndent = 4;  // spaces a level
std::string PrintPretty(const Value& value, int indent = kKubectlIndent);

// The text of a number as Print() writes it: doubles in the shortest form that reads back the same and always with a
// point or an exponent, so that 1.0 stays a double.
std::string PrintDouble(double value);

// `text` as a quoted JSON string.
void AppendQuoted(std::string& out, std::string_view text);

// True when a JSON string of this text is the text itself between quotes.
bool NeedsNoEscapes(std::string_view text);

}  // namespace baton::json
