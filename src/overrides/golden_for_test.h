// tests/golden/overrides.json: what Karmada itself answered (tests/golden/overrides makes it).
#pragma once

#include <fstream>
#include <sstream>

#include "json/parse.h"
#include "json/value.h"

namespace baton::overrides {

inline const json::Value& Golden() {
  static const json::Value golden = [] {
    std::ifstream file(BATON_SOURCE_DIR "/tests/golden/overrides.json");
    std::stringstream text;
    text << file.rdbuf();
    return json::Parse(text.str()).value();
  }();
  return golden;
}

}  // namespace baton::overrides
