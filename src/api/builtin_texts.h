// The files of src/api/builtin as they were when the program was built.
#pragma once

#include <span>

#include "api/type_text.h"

namespace baton::api {

// "apps.types" and the other types sorted by name; then "docs.txt" and "protobuf.txt".
std::span<const TypeText> BuiltinTexts();

}  // namespace baton::api
