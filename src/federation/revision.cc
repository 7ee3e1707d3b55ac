// Revisions as values.
#include "federation/revision.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "api/karmada_keys.h"
#include "base/hash.h"
#include "base/strings.h"
#include "federation/hub.h"
#include "json/builder.h"

namespace baton::federation {
namespace {

namespace keys = api::karmada;

constexpr size_t kHashDigits = 10;
constexpr size_t kNameMax = 253;
constexpr std::string_view kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";

// Marks that steer the federation. They are not part of a version of the workload.
bool IsFederationKey(std::string_view key) {
  const std::string_view domain = key.substr(0, key.find('/'));
  return domain == "karmada.io" || domain.ends_with(".karmada.io") || domain == "baton.io" || key == kLastApplied;
}

std::optional<int64_t> Number(std::string_view text) {
  int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return number;
}

json::Value Filtered(const json::Value& map, bool of_federation) {
  json::ObjectBuilder kept;
  for (const json::Member& member : map.members()) {
    if (IsFederationKey(member.key()) == of_federation) kept.Add(member.shared_key(), member.value());
  }
  return std::move(kept).Build();
}

// What a revision keeps of a template.
json::Value DataOf(const json::Value& object) {
  json::Value data = object;
  data.Erase("status");
  json::Value metadata = json::Object({{"name", kube::NameOf(object)}});
  if (!kube::NamespaceOf(object).empty()) metadata.Set("namespace", kube::NamespaceOf(object));
  for (const std::string_view map : {"labels", "annotations"}) {
    const json::Value kept = Filtered(object["metadata"][map], false);
    if (!kept.empty()) metadata.Set(map, kept);
  }
  data.Set("metadata", metadata);
  return data;
}

bool SetsReplicas(const interpret::Interpreter& interpreter, const json::Value& object) {
  const interpret::KindName kind = KindNameOf(object);
  const auto answers = [&](interpret::Operation operation) {
    const interpret::Level level = interpreter.LevelOf(kind, operation);
    return level != interpret::Level::kNone && level != interpret::Level::kWebhook;  // it is not asked for a name
  };
  return answers(interpret::Operation::kRevise) && answers(interpret::Operation::kReplica);
}

}  // namespace

bool KeepsRevisions(const json::Value& object, const json::Value& policy) {
  const json::Value& own = object["metadata"]["annotations"][kStrategy];
  if (own.is_string()) return own.str() == kBlueGreen;
  return policy["metadata"]["annotations"][kStrategy].str() == kBlueGreen;
}

Result<json::Value> MakeRevision(const interpret::Interpreter& interpreter, const json::Value& object,
                                 const json::Value& binding, int64_t number) {
  json::Value data = DataOf(object);
  json::Value compared = data;
  if (SetsReplicas(interpreter, object)) compared = TRY(interpreter.ReviseReplica(compared, 0));
  const std::string hash = Sha256Hex(compared.ToString()).substr(0, kHashDigits);
  std::string base(kube::NameOf(binding));
  if (base.size() > kNameMax - kHashDigits - 1) base.resize(kNameMax - kHashDigits - 1);
  const bool clustered = kube::NamespaceOf(binding).empty();
  const json::Value& id =
      binding["metadata"]["labels"][clustered ? keys::kClusterResourceBindingId : keys::kResourceBindingId];
  json::Value owner = json::Object({{"apiVersion", kube::ApiVersionOf(object)},
                                    {"kind", kube::KindOf(object)},
                                    {"name", kube::NameOf(object)},
                                    {"uid", kube::UidOf(object)}});
  json::Value marks = json::Object({{kRevisionBinding, kube::Name::Of(binding).Key()},
                                    {kRevisionGeneration, std::to_string(object["metadata"]["generation"].int_or(0))}});
  return json::Object(
      {{"apiVersion", "apps/v1"},
       {"kind", "ControllerRevision"},
       {"metadata", json::Object({{"name", StrCat(base, "-", hash)},
                                  {"namespace", clustered ? keys::kSystemNamespace : kube::NamespaceOf(binding)},
                                  {"labels", json::Object({{kRevisionOf, id.str()}})},
                                  {"annotations", std::move(marks)},
                                  {"ownerReferences", json::Array({std::move(owner)})}})},
       {"data", std::move(data)},
       {"revision", number}});
}

Result<json::Value> TemplateAt(const interpret::Interpreter& interpreter, const json::Value& object,
                               const json::Value& revision, int64_t generation) {
  json::Value at = revision["data"];
  if (!at.is_object()) return InvalidError(StrCat("ControllerRevision ", kube::NameOf(revision), " has no data"));
  json::Value metadata = object["metadata"];
  for (const std::string_view map : {"labels", "annotations"}) {
    json::Value merged = Filtered(object["metadata"][map], true);
    merged.Erase(kLastApplied);
    for (const json::Member& member : at["metadata"][map].members()) merged.Set(member.key(), member.value());
    if (merged.empty()) {
      metadata.Erase(map);
    } else {
      metadata.Set(map, std::move(merged));
    }
  }
  if (generation > 0) metadata.Set("generation", generation);
  at.Set("metadata", std::move(metadata));
  at.Set("apiVersion", object["apiVersion"]);
  at.Set("kind", object["kind"]);
  if (!SetsReplicas(interpreter, object)) return at;
  const interpret::Replicas replicas = TRY(interpreter.GetReplicas(object));
  return interpreter.ReviseReplica(at, replicas.count);
}

std::optional<Release> ReleasedTo(const json::Value& binding, std::string_view cluster) {
  const std::string_view text = binding["metadata"]["annotations"][StrCat(kReleasedPrefix, cluster)].str();
  const size_t at = text.rfind('@');
  if (at == std::string_view::npos || at == 0) return std::nullopt;
  const std::optional<int64_t> generation = Number(text.substr(at + 1));
  if (!generation) return std::nullopt;
  return Release{.revision = std::string(text.substr(0, at)), .generation = *generation};
}

std::vector<std::string> ClustersWithRelease(const json::Value& binding) {
  std::vector<std::string> clusters;
  for (const json::Member& member : binding["metadata"]["annotations"].members()) {
    if (member.key().starts_with(kReleasedPrefix)) clusters.emplace_back(member.key().substr(kReleasedPrefix.size()));
  }
  return clusters;
}

bool SameReleases(const json::Value& before, const json::Value& now) {
  if (before["metadata"]["annotations"] == now["metadata"]["annotations"]) return true;
  const std::vector<std::string> clusters = ClustersWithRelease(now);
  return clusters == ClustersWithRelease(before) && std::ranges::all_of(clusters, [&](const std::string& cluster) {
           return ReleasedTo(before, cluster) == ReleasedTo(now, cluster);
         });
}

json::Value WithRelease(json::Value binding, std::string_view cluster, const json::Value& revision) {
  int64_t generation = Number(revision["metadata"]["annotations"][kRevisionGeneration].str()).value_or(0);
  // An older revision is a newer release: what the member has of a later generation must not refuse it.
  const std::optional<Release> before = ReleasedTo(binding, cluster);
  if (before) generation = std::max(generation, before->generation);
  const std::string value = StrCat(kube::NameOf(revision), "@", generation);
  const std::string key = StrCat(kReleasedPrefix, cluster);
  if (binding["metadata"]["annotations"][key].str() == value) return binding;
  binding.Edit("metadata").Edit("annotations").Set(key, value);
  return binding;
}

json::Value WithoutRelease(json::Value binding, std::string_view cluster) {
  const std::string key = StrCat(kReleasedPrefix, cluster);
  if (!binding["metadata"]["annotations"].Has(key)) return binding;
  binding.Edit("metadata").Edit("annotations").Erase(key);
  return binding;
}

std::vector<std::string> Superseded(const std::vector<json::Value>& revisions, const json::Value& binding,
                                    std::string_view newest) {
  std::set<std::string, std::less<>> released;
  for (const std::string& cluster : ClustersWithRelease(binding)) {
    const std::optional<Release> release = ReleasedTo(binding, cluster);
    if (release) released.insert(release->revision);
  }
  std::vector<std::pair<int64_t, std::string>> rest;
  for (const json::Value& revision : revisions) {
    const std::string name(kube::NameOf(revision));
    if (name != newest && !released.contains(name)) rest.emplace_back(revision["revision"].int_or(0), name);
  }
  std::ranges::sort(rest);
  std::vector<std::string> names;
  for (size_t i = 0; i + kRevisionHistory < rest.size(); ++i) names.push_back(rest[i].second);
  return names;
}

}  // namespace baton::federation
