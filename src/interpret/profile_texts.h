// The files of src/interpret/profiles as they were when the program was built.
#pragma once

#include <span>

#include "base/embedded_text.h"

namespace baton::interpret {

std::span<const EmbeddedText> ProfileTexts();

}  // namespace baton::interpret
