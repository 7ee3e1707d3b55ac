// Paths as text: nothing here looks at a file system.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace baton::kube {

// Without empty names, "." and, as far as there is a name before it, ".."; as Go's filepath.Clean. "" is ".".
std::string CleanPath(std::string_view path);

// `reference`, which stands in the file `path`: as it is when absolute, else from that file's directory. An error when
// there is no such file.
Result<std::string> ResolvePath(std::string_view path, std::string_view reference);

}  // namespace baton::kube
