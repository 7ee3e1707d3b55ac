// The files of src/api/federation as they were when the program was built.
#pragma once

#include <span>

#include "api/type_text.h"

namespace baton::api {

std::span<const TypeText> FederationTexts();  // by name

}  // namespace baton::api
