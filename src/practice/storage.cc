// URLs to paths.
#include "practice/storage.h"

#include <memory>
#include <utility>
#include <vector>

#include "base/strings.h"

namespace baton::practice {

namespace {

struct Url {
  std::string_view scheme;  // "" for a plain path
  std::string_view rest;
};

Url SplitUrl(std::string_view url) {
  const size_t colon = url.find(':');
  if (colon == std::string_view::npos || url.substr(0, colon).find('/') != std::string_view::npos) return {"", url};
  return {url.substr(0, colon), url.substr(colon + 1)};
}

bool IsLocal(std::string_view scheme) { return scheme.empty() || scheme == "file" || scheme == "local"; }

std::string DirectoryOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

}  // namespace

bool Storage::IsShared(std::string_view url) { return !IsLocal(SplitUrl(url).scheme); }

Result<std::string> Storage::PathOf(std::string_view cluster, std::string_view url) const {
  const auto [scheme, rest] = SplitUrl(url);
  std::string path = IsLocal(scheme) ? ClusterPath(cluster, "file") : SharedPath(StrCat("objects/", scheme));
  size_t names = 0;
  for (const std::string_view name : Split(rest, '/')) {
    if (name.empty()) continue;
    if (name == "." || name == ".." || name.find('\0') != std::string_view::npos) {
      return InvalidError(StrCat("'", url, "' is no place for state: a name in it is '", name, "'"));
    }
    StrAppend(path, "/", name);
    ++names;
  }
  if (names == 0) return InvalidError(StrCat("'", url, "' is no place for state: it has no path"));
  if (path.size() > rt::Files::kMaxPathBytes / 2) return InvalidError("a place for state has too long a name");
  return path;
}

std::string Storage::SourceLog(const WorkloadName& workload) const {
  return SharedPath(StrCat("source/", workload.Key(), "/log"));
}

std::string Storage::SinkDirectory(const WorkloadName& workload) const {
  return SharedPath(StrCat("sink/", workload.Key()));
}

std::string Storage::SharedPath(std::string_view path) const { return StrCat(root_, "shared/", path); }

std::string Storage::ClusterPath(std::string_view cluster, std::string_view path) const {
  return StrCat(root_, "clusters/", cluster, "/", path);
}

rt::Task<Result<void>> Storage::MakeDirectory(std::string path) const {
  CO_TRY(co_await files_.MakeDirectory(path));
  // A directory is durable when its parent was synced; those further up were there before, once they were synced.
  std::vector<std::string> synced;
  for (std::string parent = DirectoryOf(path);; parent = DirectoryOf(parent)) {
    CO_TRY(co_await files_.SyncDirectory(parent));
    if (parent == "." || durable_->contains(parent)) break;
    synced.push_back(parent);
  }
  durable_->insert(synced.begin(), synced.end());
  co_return Result<void>();
}

rt::Task<Result<void>> Storage::Write(std::string path, std::string bytes) const {
  CO_TRY(co_await MakeDirectory(DirectoryOf(path)));
  co_return co_await files_.WriteAtomically(std::move(path), std::move(bytes));
}

rt::Task<Result<std::unique_ptr<rt::File>>> Storage::OpenLog(std::string path) const {
  const std::string directory = DirectoryOf(path);
  CO_TRY(co_await MakeDirectory(directory));
  auto file = CO_TRY(co_await files_.Open(std::move(path), rt::OpenMode::kOpenOrCreate));
  CO_TRY(co_await files_.SyncDirectory(directory));
  co_return file;
}

std::string JoinUrl(std::string_view dir, std::string_view name) {
  while (dir.ends_with('/')) dir.remove_suffix(1);
  return StrCat(dir, "/", name);
}

}  // namespace baton::practice
