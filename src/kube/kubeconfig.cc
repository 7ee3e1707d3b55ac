#include "kube/kubeconfig.h"

#include <algorithm>
#include <set>

#include "base/strings.h"
#include "json/yaml.h"
#include "kube/kubeconfig_access.h"
#include "kube/kubeconfig_check.h"

namespace baton::kube {
namespace {

// `list` is "users", `inner` the field of an item that holds what is named, "user".
std::vector<KubeconfigEntry> Entries(const json::Value& document, std::string_view list, std::string_view inner,
                                     std::string_view path) {
  std::vector<KubeconfigEntry> entries;
  const json::Value& items = document[list];
  entries.reserve(items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    entries.push_back({.name = std::string(items[i]["name"].str()),
                       .value = items[i][inner],
                       .path = std::string(path),
                       .field = StrCat(list, "[", i, "].", inner)});
  }
  return entries;
}

void MergeEntries(std::vector<KubeconfigEntry>& into, const std::vector<KubeconfigEntry>& later) {
  std::set<std::string, std::less<>> names;
  for (const KubeconfigEntry& entry : into) names.insert(entry.name);
  for (const KubeconfigEntry& entry : later) {
    if (names.insert(entry.name).second) into.push_back(entry);
  }
}

const KubeconfigEntry* FindEntry(const std::vector<KubeconfigEntry>& all, std::string_view name) {
  const auto found = std::ranges::find(all, name, &KubeconfigEntry::name);
  return found == all.end() ? nullptr : &*found;
}

// An error of the YAML reader without the text that it may quote, which may be a secret: `token: !!int s3cret`.
Error WithoutText(const Error& error) {
  if (error.message().find("its tag says !!") == std::string::npos) return error;
  return InvalidError(
      StrCat(error.message().substr(0, error.message().find(": '")), ": a value is not what its tag says"));
}

Result<json::Value> ParseDocument(std::string_view text) {
  if (text.size() > kKubeconfigBytesMax) {
    return TooLargeError(StrCat("a kubeconfig of ", text.size(), " bytes, at most ", kKubeconfigBytesMax, " are read"));
  }
  const json::YamlLimits limits = {.max_bytes = kKubeconfigBytesMax, .max_aliased_bytes = kKubeconfigBytesMax};
  Result<std::vector<json::Value>> parsed = json::ParseYamlStream(text, limits);
  if (!parsed.ok()) return WithoutText(parsed.error());
  std::vector<json::Value> documents = *std::move(parsed);
  if (documents.empty()) return json::Object();
  if (documents.size() > 1) return InvalidError("a kubeconfig is one document, not several");
  TRY(CheckKubeconfig(documents[0]));
  return std::move(documents[0]);
}

}  // namespace

Result<Kubeconfig> Kubeconfig::Parse(std::string_view text, std::string_view path) {
  const json::Value document = TRY(ParseDocument(text).Context(path.empty() ? "kubeconfig" : path));
  Kubeconfig config;
  config.paths_.emplace_back(path);
  config.current_context_ = document["current-context"].str();
  config.clusters_ = Entries(document, "clusters", "cluster", path);
  config.users_ = Entries(document, "users", "user", path);
  config.contexts_ = Entries(document, "contexts", "context", path);
  return config;
}

void Kubeconfig::Merge(const Kubeconfig& later) {
  if (&later == this) return;
  paths_.insert(paths_.end(), later.paths_.begin(), later.paths_.end());
  if (current_context_.empty()) current_context_ = later.current_context_;
  MergeEntries(clusters_, later.clusters_);
  MergeEntries(users_, later.users_);
  MergeEntries(contexts_, later.contexts_);
}

std::vector<std::string> Kubeconfig::Contexts() const {
  std::vector<std::string> names;
  names.reserve(contexts_.size());
  for (const KubeconfigEntry& context : contexts_) names.push_back(context.name);
  return names;
}

Error Kubeconfig::NoContext(std::string_view why) const {
  std::string message = Join(paths_, ", ");
  if (message.empty()) message = "kubeconfig";
  StrAppend(message, ": ", why, contexts_.empty() ? ": there are no contexts" : ": there are ");
  for (size_t i = 0; i < std::min(contexts_.size(), kContextsShownMax); ++i) {
    StrAppend(message, i == 0 ? "" : ", ", Quote(contexts_[i].name));
  }
  if (contexts_.size() > kContextsShownMax) {
    StrAppend(message, " and ", contexts_.size() - kContextsShownMax, " more");
  }
  return NotFoundError(message);
}

Result<Kubeconfig::Chosen> Kubeconfig::Choose(std::string_view context) const {
  const bool current = context.empty();
  if (current && current_context_.empty()) return NoContext("no context is named, and current-context is not set");
  const std::string_view name = current ? current_context_ : context;
  Chosen chosen = {.context = FindEntry(contexts_, name), .cluster = nullptr, .user = nullptr};
  if (chosen.context == nullptr) {
    return NoContext(StrCat(current ? "current-context: no context " : "no context ", Quote(name)));
  }

  const std::string_view cluster = chosen.context->value["cluster"].str();
  if (cluster.empty()) return FieldError(*chosen.context, "cluster", "the context needs one");
  chosen.cluster = FindEntry(clusters_, cluster);
  if (chosen.cluster == nullptr) {
    return FieldError(*chosen.context, "cluster", StrCat("there is no cluster ", Quote(cluster)), ErrorKind::kNotFound);
  }

  const std::string_view user = chosen.context->value["user"].str();
  if (user.empty()) return chosen;
  chosen.user = FindEntry(users_, user);
  if (chosen.user == nullptr) {
    return FieldError(*chosen.context, "user", StrCat("there is no user ", Quote(user)), ErrorKind::kNotFound);
  }
  return chosen;
}

Result<std::vector<Kubeconfig::FileReference>> Kubeconfig::FilesOf(std::string_view context) const {
  const Chosen chosen = TRY(Choose(context));
  return AccessBuilder(*chosen.context, *chosen.cluster, chosen.user).Files();
}

Result<ClusterAccess> Kubeconfig::Access(std::string_view context, const std::vector<ReferencedFile>& read) const {
  const Chosen chosen = TRY(Choose(context));
  return AccessBuilder(*chosen.context, *chosen.cluster, chosen.user).Build(read);
}

}  // namespace baton::kube
