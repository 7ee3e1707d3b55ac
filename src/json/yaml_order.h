// The order in which kubectl prints the keys of an object: a2 before a10, punctuation before digits before letters.
// Private to json/yaml_*.cc.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "json/value.h"

namespace baton::json {

// True when kubectl prints key `a` before key `b`. This is no order in the strict sense ("10" < "1a" < "2" < "10"), so
// it must not be given to std::sort. Letters outside ASCII count as letters, and so do all other characters there.
bool YamlKeyLess(std::string_view a, std::string_view b);

// The members as kubectl prints them. Where YamlKeyLess contradicts itself kubectl's order is random; this one is not.
std::vector<const Member*> InYamlOrder(std::span<const Member> members);

}  // namespace baton::json
