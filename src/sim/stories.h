// Stories: single scenes in which something particular happens, each with a name. The tests run them all, and the
// museum runs those that find a mutant.
//
//   for (const NamedStory& story : Stories()) problems = Play(story.seed, story.play);
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "sim/scene.h"

namespace baton::sim {

struct NamedStory {
  std::string_view name;   // "savepoint-never-ends"
  std::string_view title;  // a sentence
  rt::Task<void> (*play)(Scene& scene);
  uint64_t seed = 1;
};

std::span<const NamedStory> Stories();
const NamedStory* FindStory(std::string_view name);

}  // namespace baton::sim
