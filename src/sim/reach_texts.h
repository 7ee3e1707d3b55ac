// Story files (tests/scenarios) that are in the program, by the names of their files.
#pragma once

#include <span>

#include "base/embedded_text.h"

namespace baton::sim {

std::span<const EmbeddedText> ReachTexts();

}  // namespace baton::sim
