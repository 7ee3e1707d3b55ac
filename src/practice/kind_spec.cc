// A kind's file, read and asked.
#include "practice/kind_spec.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/invariant.h"
#include "base/strings.h"
#include "json/parse.h"
#include "json/yaml.h"
#include "kube/mapper.h"
#include "practice/kind_texts.h"

namespace baton::practice {

using json::Value;

namespace {

constexpr std::string_view kSteps[] = {"starting", "waiting", "running", "stopping", "stopped", "failed", "completed"};
constexpr int64_t kReplicasMax = 100;  // more pods than anyone wants to look at

Result<json::Pointer> PointerIn(const Value& value) {
  if (!value.is_string()) return json::Pointer();
  return json::Pointer::Parse(value.str());
}

Result<std::vector<KindSpec::Match>> MatchesIn(const Value& list) {
  std::vector<KindSpec::Match> matches;
  for (const Value& item : list.items()) {
    matches.push_back({.path = TRY(json::Pointer::Parse(item["path"].str())), .value = item["value"]});
  }
  return matches;
}

bool AnyMatches(const std::vector<KindSpec::Match>& matches, const Value& object) {
  return std::ranges::any_of(matches, [&](const KindSpec::Match& match) {
    const Value* found = json::Find(object, match.path);
    return found != nullptr && (match.value.is_null() || *found == match.value);
  });
}

Value Number(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size() && !text.empty()) return number;
  return text;
}

using Fill = std::map<std::string, std::string, std::less<>>;

// The text, and whether it is one ${...} and nothing else.
std::pair<std::string, bool> FilledString(std::string_view text, const Fill& fill) {
  std::string out;
  bool whole = false;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = text.find("${", at);
    const size_t end = begin == std::string_view::npos ? begin : text.find('}', begin);
    if (end == std::string_view::npos) {
      out += text.substr(at);
      break;
    }
    out += text.substr(at, begin - at);
    const auto found = fill.find(text.substr(begin + 2, end - begin - 2));
    if (found != fill.end()) out += found->second;
    whole = begin == 0 && end + 1 == text.size();
    at = end + 1;
  }
  return {out, whole};
}

// Fields without a value are left out.
Value FilledValue(const Value& value, const Fill& fill, size_t depth) {
  if (depth > json::kMaxDepth) return value;
  if (value.is_string()) {
    const auto [text, whole] = FilledString(value.str(), fill);
    return whole ? Number(text) : Value(text);
  }
  if (value.is_array()) {
    Value list = json::Array();
    for (const Value& item : value.items()) list.Push(FilledValue(item, fill, depth + 1));
    return list;
  }
  if (!value.is_object()) return value;
  Value object = json::Object();
  for (const json::Member& member : value.members()) {
    Value filled = FilledValue(member.value(), fill, depth + 1);
    const bool emptied = filled.is_string() && filled.str().empty() && !member.value().str().empty();
    if (!emptied) object.Set(member.key(), std::move(filled));
  }
  return object;
}

}  // namespace

std::string_view KindStepName(KindStep step) { return kSteps[static_cast<size_t>(step)]; }

Result<KindSpec> KindSpec::Parse(std::string_view yaml) {
  const Value file = TRY(json::ParseYaml(yaml));
  KindSpec spec;
  const kube::GroupVersion version = kube::ParseApiVersion(file["apiVersion"].str());
  spec.resource = {.group = version.group,
                   .version = version.version,
                   .plural = std::string(file["plural"].str()),
                   .kind = std::string(file["kind"].str()),
                   .namespaced = true};
  if (spec.resource.plural.empty() || spec.resource.kind.empty()) return InvalidError("kind and plural are needed");
  spec.crd = file["crd"];
  spec.held = TRY(MatchesIn(file["held"]));
  spec.ignored = TRY(MatchesIn(file["ignored"]));
  spec.replicas = TRY(PointerIn(file["replicas"]));
  spec.image = TRY(PointerIn(file["image"]));
  spec.labels = TRY(PointerIn(file["labels"]));
  spec.pod_labels = file["pods"]["labels"];
  spec.pod_name = file["pods"]["name"].str_or("${name}");
  spec.numbered = file["pods"]["numbered"].bool_or(false);
  spec.drains = file["stop"].str() == "drain";
  spec.completes = file["completes"].bool_or(false);
  spec.restarts = file["restarts"].bool_or(true);
  spec.exactly_once = file["sink"].str() == "exactly-once";
  spec.offsets = file["offsets"].bool_or(false);
  const std::string_view place = file["progress"].str_or("shared");
  constexpr std::string_view kPlaces[] = {"shared", "cluster", "volume", "archive"};
  const auto* const at = std::ranges::find(kPlaces, place);
  if (at == std::end(kPlaces)) return InvalidError(StrCat("progress: there is no place '", place, "'"));
  spec.progress = static_cast<ProgressPlace>(at - std::begin(kPlaces));
  for (const json::Member& member : file["status"].members()) {
    if (std::ranges::find(kSteps, member.key()) == std::end(kSteps))
      return InvalidError(StrCat("status: there is no step '", member.key(), "'"));
    spec.status[std::string(member.key())] = member.value();
  }
  return spec;
}

bool KindSpec::Holds(const Value& object) const { return AnyMatches(held, object); }

bool KindSpec::Ignores(const Value& object) const { return AnyMatches(ignored, object); }

int64_t KindSpec::Replicas(const Value& object) const {
  if (Holds(object)) return 0;
  const Value* found = replicas.empty() ? nullptr : json::Find(object, replicas);
  return std::clamp<int64_t>(found == nullptr ? 1 : found->int_or(1), 0, kReplicasMax);
}

std::string KindSpec::Image(const Value& object) const {
  const Value* found = image.empty() ? nullptr : json::Find(object, image);
  return found == nullptr ? "practice" : std::string(found->str_or("practice"));
}

Value KindSpec::PodLabels(const Value& object) const {
  const Value* found = labels.empty() ? nullptr : json::Find(object, labels);
  Value all = found != nullptr && found->is_object() ? *found : json::Object();
  const Fill fill = {{"name", std::string(kube::NameOf(object))}};
  for (const json::Member& member : pod_labels.members())
    all.Set(member.key(), FilledString(member.value().str(), fill).first);
  return all;
}

Value KindSpec::Status(KindStep step, const Fill& fill) const {
  auto at = status.find(KindStepName(step));
  if (at == status.end() && step == KindStep::kWaiting) at = status.find("starting");
  if (at == status.end() && step == KindStep::kCompleted) at = status.find("stopped");
  if (at == status.end() && step == KindStep::kFailed) at = status.find("starting");
  return at == status.end() ? json::Object() : FilledValue(at->second, fill, 0);
}

Value KindSpec::Crd() const {
  if (crd.is_null()) return crd;
  const Value open = json::Object({{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}});
  Value version = json::Object(
      {{"name", resource.version},
       {"served", true},
       {"storage", true},
       {"subresources", json::Object({{"status", json::Object()}})},
       {"schema", json::Object({{"openAPIV3Schema",
                                 json::Object({{"type", "object"},
                                               {"properties", json::Object({{"spec", open}, {"status", open}})}})}})}});
  for (const Value& column : crd["columns"].items()) {
    version.Edit("additionalPrinterColumns")
        .Push(json::Object({{"name", column["name"]}, {"type", "string"}, {"jsonPath", column["path"]}}));
  }
  Value names =
      json::Object({{"plural", resource.plural}, {"singular", ToLower(resource.kind)}, {"kind", resource.kind}});
  if (!crd["shortNames"].is_null()) names.Set("shortNames", crd["shortNames"]);
  Value metadata = json::Object({{"name", StrCat(resource.plural, ".", resource.group)}});
  // What Kubernetes asks of a CRD in one of its own groups.
  if (!crd["approved"].is_null()) metadata.Edit("annotations").Set("api-approved.kubernetes.io", crd["approved"]);
  return json::Object({{"apiVersion", "apiextensions.k8s.io/v1"},
                       {"kind", "CustomResourceDefinition"},
                       {"metadata", metadata},
                       {"spec", json::Object({{"group", resource.group},
                                              {"scope", "Namespaced"},
                                              {"names", names},
                                              {"versions", json::Array({version})}})}});
}

const std::vector<KindSpec>& KindSpecs() {
  static const std::vector<KindSpec>* const specs = [] {
    auto* all = new std::vector<KindSpec>;
    for (const EmbeddedText& text : KindTexts()) {
      Result<KindSpec> spec = KindSpec::Parse(text.text);
      INVARIANT(spec.ok(), StrCat(text.name, ": ", spec.ok() ? "" : spec.error().message()));
      all->push_back(*std::move(spec));
    }
    return all;
  }();
  return *specs;
}

bool IsFakeImage(std::string_view image) {
  const std::string_view registry = image.substr(0, image.find('/'));
  return registry.size() < image.size() && (registry == "fake" || registry.starts_with("fake:"));
}

}  // namespace baton::practice
