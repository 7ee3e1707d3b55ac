// The files of src/api/builtin as they were when the program was built.
#pragma once

#include <span>

#include "api/type_text.h"

namespace baton::api {

// Sorted by name: "apps.types", ..., and "docs.txt".
std::span<const TypeText> BuiltinTexts();

}  // namespace baton::api
