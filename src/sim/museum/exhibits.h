// The museum's list: real bugs of systems that do a part of our job (and attacks on the first design), each with the
// guard in our code that answers it and a scene that goes wrong without that guard.
#pragma once

#include <span>
#include <string_view>

namespace baton::sim {

struct Exhibit {
  std::string_view where;  // it was seen: "flink PR#1154", "attack 3"
  std::string_view bug;    // a sentence
  std::string_view guard;  // "": none, and `note` says why
  std::string_view scene;  // that finds the loss of the guard (sim/museum/scenes.h); "": none, and `note` says why
  std::string_view note;
  // Another guard that stands behind it in that scene: the loss of either alone goes well there, the loss of both does
  // not. "": it is the only one.
  std::string_view behind = "";
};

std::span<const Exhibit> Exhibits();

}  // namespace baton::sim
