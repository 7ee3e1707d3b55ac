// The files of src/practice/kinds as they were when the program was built: what the generic operator plays.
#pragma once

#include <span>

#include "base/embedded_text.h"

namespace baton::practice {

std::span<const EmbeddedText> KindTexts();

}  // namespace baton::practice
