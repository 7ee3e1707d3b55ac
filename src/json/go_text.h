// Values as Go writes them, for output that must equal kubectl's byte for byte. Our own JSON (json/print.h) differs: it
// keeps 1.0 a double and leaves <, > and & alone.
//
//   AppendGoJson(out, value)    what json.Marshal writes:  {"cmd":"a \u003c b","load":1,"big":1e+21}
//   AppendGoPlain(out, value)   what fmt.Print writes:     a < b     1     1.5e+06
//
// Integers above int64's range are doubles here, as they are in Go's unstructured objects.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "json/value.h"

namespace baton::json {

// Compact JSON with Go's escapes and numbers. A value nested deeper than kMaxDepth (json/parse.h) is an error; `out`
// may then end in a part of it.
Result<void> AppendGoJson(std::string& out, const Value& value);

// A null, bool, number or string as fmt.Print shows it; strings are bare. Arrays and objects come as AppendGoJson has
// them (fmt's own map[...] form is never wanted).
Result<void> AppendGoPlain(std::string& out, const Value& value);

// A double as fmt.Print shows it: with an exponent below 1e-4 and from 1e+06 on.
std::string GoPlainDouble(double value);

// A double as json.Marshal shows it: with an exponent below 1e-6 and from 1e+21 on. 1.0 is 1.
std::string GoJsonDouble(double value);

}  // namespace baton::json
