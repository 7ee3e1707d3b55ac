// `baton demo`: a whole migration on practice clusters, judged at the end.
#pragma once

#include <span>
#include <string_view>

namespace baton::cli {

int DemoCommand(std::span<const std::string_view> arguments);

}  // namespace baton::cli
