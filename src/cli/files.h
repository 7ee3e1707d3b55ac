// Small files of the command line: read whole, written whole.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace baton::cli {

Result<std::string> ReadTextFile(const std::string& path);
// Whole or not at all, and never readable by others.
Result<void> WriteSecretFile(const std::string& path, std::string_view text);
Result<void> MakeDirectories(const std::string& path);  // with its parents, 0700
// A new directory of our own where the system keeps temporary files (TMPDIR).
Result<std::string> MakeTemporaryDirectory(std::string_view prefix);
std::string Absolute(const std::string& path);

}  // namespace baton::cli
