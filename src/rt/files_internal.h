// What RealFiles and SimulatedFiles have in common: which paths are allowed, and how an errno becomes an Error. Both
// answer with the same kinds and texts, so that what was simulated is what happens.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace baton::rt::files_internal {

// kInvalid with the reason when `path` is not one that Files takes (see rt/files.h).
Result<void> CheckPath(std::string_view path);
// The same, where a directory is named: "." is the root.
Result<void> CheckDirectoryPath(std::string_view path);

// Of a checked path: "a/b" is "b" in "a", "b" is "b" in ".".
std::string_view ParentOf(std::string_view path);
std::string_view NameOf(std::string_view path);

// "cannot <what> '<path>': <the system's text>". From any thread.
Error SystemError(std::string_view what, std::string_view path, int code);

Error OpenedForReading(std::string_view what, std::string_view path);
Error InsideItself(std::string_view from, std::string_view to);
Error CannotGrow(std::string_view path, uint64_t from, uint64_t to);
Error AfterFailedSync(std::string_view what, std::string_view path, const Error& sync_error);

}  // namespace baton::rt::files_internal
