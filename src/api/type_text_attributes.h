// Attributes of a field in type text, and what they do to its Schema. Internal to api/type_text.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "api/schema.h"
#include "api/type_text_line.h"
#include "base/result.h"

namespace baton::api {

// What the attributes of one field add up to beside what they did to its schema.
struct TypeAttributes {
  bool required = false;
  bool any = false;                    // the schema differs from what the type alone says
  std::optional<MapType> map_type;     // given, whatever it was before
  std::vector<std::string_view> seen;  // names, to tell a second one
};

// Applies "min=3", "map(name)", "nullable", ... to `schema`, whose type has been read. `named`: it stands for a named
// type, of which nothing is known yet.
Result<void> ApplyTypeAttribute(const TypeLine& line, std::string_view word, bool named, Schema& schema,
                                TypeAttributes& attributes);

}  // namespace baton::api
