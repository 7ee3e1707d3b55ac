// What an empty Lua table becomes in JSON. Lua has one empty table for {} and [], and both come out as []; Karmada
// looks at the objects that went in (the references):
//  - a path that is {} in a reference becomes {};
//  - a path that is [] in a reference stays [];
//  - a path that is neither is left out.
// Array indexes do not count in a path. Without references every empty field is left out; what contains it stays.
// Getting this wrong makes member objects flap: each update would change {} to [] and back.
#pragma once

#include <span>

#include "json/value.h"

namespace baton::interpret {

// `result` as a script returned it. A result that is empty itself becomes {} when it has to be an object.
json::Value WithEmptyTables(const json::Value& result, std::span<const json::Value> references, bool object);

}  // namespace baton::interpret
