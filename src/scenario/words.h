// The words of story files: every step and expectation, and what may stand beside and in it. Nothing that is not here
// is taken, so that a slip of the pen is told and not passed over.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace baton::scenario {

struct Verb {
  std::string_view name;
  std::vector<std::string_view> beside;  // words beside it
  std::vector<std::string_view> within;  // keys of its own argument, when that is a map; empty: any
  bool expectation = false;              // may stand under `then`
  bool practice = false;                 // only in files with `practice: true`
};

std::span<const Verb> Verbs();
const Verb* FindVerb(std::string_view name);  // null: there is none

}  // namespace baton::scenario
