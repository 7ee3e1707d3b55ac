// What both kinds of Files share: paths, errors, and the calls that are made of others.
#include "rt/files.h"

#include <string.h>

#include <cerrno>
#include <utility>

#include "base/strings.h"
#include "rt/files_internal.h"

namespace baton::rt {

namespace files_internal {
namespace {

Error BadPath(std::string_view path, std::string_view why) {
  constexpr size_t kShownBytes = 200;
  const bool all = path.size() <= kShownBytes;
  return InvalidError(StrCat("bad path ", Quote(path.substr(0, kShownBytes)), all ? "" : "...", ": ", why));
}

ErrorKind KindOf(int code) {
  switch (code) {
    case ENOENT:
    case ENOTDIR:
      return ErrorKind::kNotFound;
    case EEXIST:
      return ErrorKind::kAlreadyExists;
    case ENOTEMPTY:
      return ErrorKind::kConflict;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:  // the process's own limit (RLIMIT_FSIZE) or the file system's
      return ErrorKind::kNoSpace;
    case EACCES:
    case EPERM:
    case EROFS:
      return ErrorKind::kForbidden;
    case EISDIR:
    case ENAMETOOLONG:
    case ELOOP:
      return ErrorKind::kInvalid;
    default:
      return ErrorKind::kUnavailable;
  }
}

}  // namespace

Result<void> CheckPath(std::string_view path) {
  if (path.empty()) return BadPath(path, "it is empty; the root is \".\"");
  if (path.size() > Files::kMaxPathBytes) return BadPath(path, StrCat("longer than ", Files::kMaxPathBytes, " bytes"));
  if (path.front() == '/') return BadPath(path, "paths are relative to the root, without a leading '/'");
  if (path.find('\0') != std::string_view::npos) return BadPath(path, "it holds a NUL byte");
  for (std::string_view rest = path; rest.data() != nullptr;) {
    const size_t slash = rest.find('/');
    const std::string_view name = rest.substr(0, slash);
    rest = slash == std::string_view::npos ? std::string_view() : rest.substr(slash + 1);
    if (name.empty()) return BadPath(path, "a name in it is empty");
    if (name == "." || name == "..") return BadPath(path, StrCat("\"", name, "\" is not allowed here"));
    if (name.size() > Files::kMaxNameBytes) {
      return BadPath(path, StrCat("a name in it is longer than ", Files::kMaxNameBytes, " bytes"));
    }
  }
  return {};
}

Result<void> CheckDirectoryPath(std::string_view path) {
  if (path == ".") return {};
  return CheckPath(path);
}

std::string_view ParentOf(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? "." : path.substr(0, slash);
}

std::string_view NameOf(std::string_view path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

Error SystemError(std::string_view what, std::string_view path, int code) {
  const char* text = strerrordesc_np(code);  // unlike strerror: constant strings, so from any thread
  const std::string reason = text != nullptr ? std::string(text) : StrCat("system error ", code);
  return {KindOf(code), StrCat("cannot ", what, " '", path, "': ", reason)};
}

Error OpenedForReading(std::string_view what, std::string_view path) {
  return InvalidError(StrCat("cannot ", what, " '", path, "': it was opened for reading"));
}

Error InsideItself(std::string_view from, std::string_view to) {
  return InvalidError(
      StrCat("cannot rename '", from, "' to '", to, "': Invalid argument (a directory cannot be inside itself)"));
}

Error CannotGrow(std::string_view path, uint64_t from, uint64_t to) {
  return InvalidError(StrCat("cannot truncate '", path, "' to ", to, " bytes: it has only ", from));
}

Error AfterFailedSync(std::string_view what, std::string_view path, const Error& sync_error) {
  return sync_error.Context(StrCat("cannot ", what, " '", path, "' after a failed sync, open it again"));
}

}  // namespace files_internal

namespace {
constexpr std::string_view kTemporaryMark = ".tmp-";
}  // namespace

// A temporary's path that no other writer of this Files uses until this is destroyed. It counts from 0, so that what a
// crash left behind is found and removed by the next writer instead of piling up.
class Files::TemporaryName {
 public:
  TemporaryName(std::shared_ptr<std::set<std::string>> in_use, std::string_view path) : in_use_(std::move(in_use)) {
    for (uint64_t number = 0; path_.empty(); ++number) {
      std::string candidate = StrCat(path, kTemporaryMark, number);
      if (in_use_->insert(candidate).second) path_ = std::move(candidate);
    }
  }
  TemporaryName(const TemporaryName&) = delete;
  TemporaryName& operator=(const TemporaryName&) = delete;
  ~TemporaryName() { in_use_->erase(path_); }

  const std::string& path() const { return path_; }

 private:
  std::shared_ptr<std::set<std::string>> in_use_;
  std::string path_;
};

bool Files::IsTemporary(std::string_view path) {
  const std::string_view name = files_internal::NameOf(path);
  const size_t mark = name.rfind(kTemporaryMark);
  if (mark == std::string_view::npos || mark == 0) return false;
  const std::string_view number = name.substr(mark + kTemporaryMark.size());
  return !number.empty() && number.find_first_not_of("0123456789") == std::string_view::npos;
}

Task<Result<std::string>> Files::ReadAll(std::string path) {
  const std::unique_ptr<File> file = CO_TRY(co_await Open(path, OpenMode::kRead));
  const Error too_large =
      TooLargeError(StrCat("cannot read '", path, "' at once: more than ", kMaxReadAllBytes, " bytes"));
  if (CO_TRY(co_await file->Size()) > kMaxReadAllBytes) co_return too_large;
  // Not just the size: the file may grow meanwhile, and some of the system's files claim to be empty.
  std::string bytes = CO_TRY(co_await file->ReadAt(0, kMaxReadAllBytes + 1));
  if (bytes.size() > kMaxReadAllBytes) co_return too_large;
  co_return bytes;
}

Task<Result<void>> Files::WriteAtomically(std::string path, std::string bytes) {
  CO_TRY(files_internal::CheckPath(path));
  const TemporaryName temporary(temporaries_, path);
  Result<void> written = co_await WriteAndRename(temporary.path(), path, std::move(bytes));
  // Only to free the space: if this fails too, the next writer removes it.
  if (!written.ok()) static_cast<void>(co_await Remove(temporary.path()));
  co_return std::move(written).Context(StrCat("writing '", path, "'"));
}

Task<Result<void>> Files::WriteAndRename(std::string temporary, std::string path, std::string bytes) {
  Result<std::unique_ptr<File>> file = co_await Open(temporary, OpenMode::kCreate);
  if (!file.ok() && file.error().kind() == ErrorKind::kAlreadyExists) {  // left by a crash
    // Removed, not cut to zero: a call that was dropped may still hold and write the old one.
    CO_TRY(co_await Remove(temporary));
    file = co_await Open(temporary, OpenMode::kCreate);
  }
  if (!file.ok()) co_return std::move(file).error();
  CO_TRY(co_await (*file)->Append(std::move(bytes)));
  CO_TRY(co_await (*file)->Sync());
  CO_TRY(co_await Rename(temporary, path));
  co_return co_await SyncDirectory(std::string(files_internal::ParentOf(path)));
}

}  // namespace baton::rt
