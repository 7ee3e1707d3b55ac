// `baton crds`: the CustomResourceDefinitions that a hub needs, as YAML.
#pragma once

#include <span>
#include <string_view>

namespace baton::cli {

int CrdsCommand(std::span<const std::string_view> arguments);

}  // namespace baton::cli
