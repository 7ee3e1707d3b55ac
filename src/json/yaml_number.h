// Numbers of YAML scalars, as go-yaml v2 reads them and Go prints them. Private to json/yaml_*.cc.
#pragma once

#include <string>
#include <string_view>

#include "json/value.h"
#include "json/yaml_scalar.h"

namespace baton::json {

// A scalar that begins with a digit or a sign: 12, 0x1F, 0644, 0o644, 0b11, 1_000, 08 (a float: 8), 1e3. False when it
// is no number or none that fits.
bool ReadYamlNumber(std::string_view text, YamlScalar& out);

// A scalar that begins with a point. Unlike the others it takes an underscore only between two digits.
bool ReadYamlPointFloat(std::string_view text, YamlScalar& out);

// A number without a fraction as an integer, when int64 or uint64 holds it. As in Go's JSON, which kubectl uses, digits
// that do not matter for the double are zeros: 3.003010711669384192e18 is 3003010711669384000.
Value NumberToValue(double number);

// As Go's strconv.FormatFloat(number, 'g', -1, bits) writes it: "1e+06", "0.5". T is float or double, and finite.
template <class T>
std::string FormatLikeGo(T number);

}  // namespace baton::json
