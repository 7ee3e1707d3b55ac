#include "kube/kubeconfig_path.h"

#include <vector>

#include "base/strings.h"
#include "kube/kubeconfig.h"

namespace baton::kube {

std::string CleanPath(std::string_view path) {
  const bool absolute = path.starts_with('/');
  std::vector<std::string> names;
  for (const std::string_view name : Split(path, '/')) {
    if (name.empty() || name == ".") continue;
    const bool up = name == "..";
    if (up && !names.empty() && names.back() != "..") {
      names.pop_back();
    } else if (!up || !absolute) {
      names.emplace_back(name);
    }
  }
  const std::string joined = Join(names, "/");
  if (absolute) return StrCat("/", joined);
  return joined.empty() ? "." : joined;
}

Result<std::string> ResolvePath(std::string_view path, std::string_view reference) {
  if (reference.starts_with('/')) return std::string(reference);
  if (path.empty()) {
    return InvalidError(StrCat("the path ", Quote(reference), " is relative, and this kubeconfig is in no directory"));
  }
  const size_t slash = path.rfind('/');
  const std::string_view directory = slash == std::string_view::npos ? "." : path.substr(0, slash + 1);
  return CleanPath(StrCat(directory, "/", reference));
}

Result<std::string> PathInFiles(std::string_view path) {
  const std::string clean = CleanPath(path);
  const std::string_view inside = clean.starts_with('/') ? std::string_view(clean).substr(1) : clean;
  if (inside.empty() || inside == "." || inside == ".." || inside.starts_with("../")) {
    return InvalidError(StrCat("the path ", Quote(path), " names no file"));
  }
  return std::string(inside);
}

}  // namespace baton::kube
