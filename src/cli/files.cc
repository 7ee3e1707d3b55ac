// Reading and writing small files.
#include "cli/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/strings.h"

namespace baton::cli {

Result<std::string> ReadTextFile(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "re");
  if (file == nullptr) return InvalidError(StrCat("'", path, "' cannot be read: ", std::strerror(errno)));
  std::string text;
  char buffer[4096];
  for (size_t got = 0; (got = std::fread(buffer, 1, sizeof buffer, file)) > 0;) text.append(buffer, got);
  std::fclose(file);
  return text;
}

Result<void> WriteSecretFile(const std::string& path, std::string_view text) {
  const std::string temporary = StrCat(path, ".tmp");
  const auto failed = [&] { return InvalidError(StrCat("'", path, "' cannot be written: ", std::strerror(errno))); };
  ::unlink(temporary.c_str());
  constexpr mode_t kMode = 0600;
  const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kMode);
  if (fd < 0) return failed();
  const bool written = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const bool closed = ::close(fd) == 0;
  if (!written || !closed || std::rename(temporary.c_str(), path.c_str()) != 0) return failed();
  return {};
}

Result<void> MakeDirectories(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return InvalidError(StrCat("'", path, "' cannot be made: ", error.message()));
  return {};
}

Result<std::string> MakeTemporaryDirectory(std::string_view prefix) {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  std::string path = StrCat(parent.string(), "/", prefix, "-XXXXXX");
  if (error || ::mkdtemp(path.data()) == nullptr) {
    return InvalidError(StrCat("no temporary directory can be made in '", parent.string(), "'"));
  }
  return path;
}

std::string Absolute(const std::string& path) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  return error ? path : absolute.lexically_normal().string();
}

}  // namespace baton::cli
