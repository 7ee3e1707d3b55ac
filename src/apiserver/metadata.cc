// metadata: what the server sets and keeps, and what is valid.
#include "apiserver/metadata.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "api/field_errors.h"
#include "base/strings.h"
#include "base/utf8.h"
#include "json/beside.h"
#include "json/names.h"
#include "json/rfc3339.h"

namespace baton::apiserver {

namespace {

using api::FieldError;
using json::Messages;
using json::Value;

constexpr size_t kRandomNameLength = 5;
constexpr size_t kGeneratedNameMax = json::kMaxLabelBytes;
constexpr std::string_view kNameAlphabet = "bcdfghjklmnpqrstvwxz2456789";  // no vowels: no words

// What only the server sets, and an update cannot change.
constexpr std::array<std::string_view, 6> kServerFields = {
    "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation", "resourceVersion"};

Messages CheckName(std::string_view name, api::NameRule rule, bool is_prefix) {
  if (rule == api::NameRule::kPathSegment) {
    return is_prefix ? json::CheckPathSegmentPrefix(name) : json::CheckPathSegmentName(name);
  }
  const std::string masked = is_prefix ? json::MaskTrailingDash(name) : std::string(name);
  switch (rule) {
    case api::NameRule::kDnsLabel:
      return json::CheckDns1123Label(masked);
    case api::NameRule::kDns1035Label:
      return json::CheckDns1035Label(masked);
    default:
      return json::CheckDns1123Subdomain(masked);
  }
}

// As many as are ever told: there may be one for every few bytes of a request.
bool Enough(const std::vector<FieldError>& errors) { return errors.size() >= api::kFieldErrorsMax; }

void Add(std::vector<FieldError>& errors, std::string_view field, const Value& value, const Messages& messages) {
  if (Enough(errors)) return;
  for (const std::string& message : messages) errors.push_back(api::InvalidError(std::string(field), value, message));
}

void ValidateNames(const Value& metadata, const api::ResourceType& type, std::vector<FieldError>& errors) {
  const std::string_view generate = metadata["generateName"].str();
  const std::string_view name = metadata["name"].str();
  if (!generate.empty()) Add(errors, "metadata.generateName", generate, CheckName(generate, type.name_rule, true));
  if (name.empty()) {
    errors.push_back(api::RequiredError("metadata.name", "name or generateName is required"));
  } else {
    Add(errors, "metadata.name", name, CheckName(name, type.name_rule, false));
  }
  const std::string_view ns = metadata["namespace"].str();
  if (type.namespaced) {
    if (ns.empty()) errors.push_back(api::RequiredError("metadata.namespace", ""));
    if (!ns.empty()) Add(errors, "metadata.namespace", ns, json::CheckDns1123Label(ns));
  } else if (!ns.empty()) {
    errors.push_back(api::ForbiddenError("metadata.namespace", "not allowed on this type"));
  }
}

void ValidateLabels(const Value& labels, std::vector<FieldError>& errors) {
  for (const json::Member& label : labels.members()) {
    Add(errors, "metadata.labels", label.key(), json::CheckQualifiedName(label.key()));
    Add(errors, "metadata.labels", label.value(), json::CheckLabelValue(label.value().str()));
  }
}

// `settled` are annotations that are known to be right; null: none are.
void ValidateAnnotations(const Value& annotations, const Value& settled, std::vector<FieldError>& errors) {
  json::Beside beside(&settled);
  for (const json::Member& annotation : annotations.members()) {
    if (beside.At(annotation.key()) != nullptr) continue;
    Add(errors, "metadata.annotations", annotation.key(), json::CheckAnnotationKey(annotation.key()));
  }
  if (!json::CheckAnnotationsSize(annotations).empty()) {
    errors.push_back(api::TooLongError("metadata.annotations", json::kMaxAnnotationsBytes));
  }
}

void ValidateOwners(const Value& metadata, std::vector<FieldError>& errors) {
  constexpr std::string_view kField = "metadata.ownerReferences";
  std::optional<std::string> controller;
  bool told = false;  // the whole list is shown, once is enough
  for (const Value& owner : metadata["ownerReferences"].items()) {
    if (Enough(errors)) return;
    for (const std::string_view field : {"apiVersion", "kind", "name", "uid"}) {
      if (!owner[field].str().empty()) continue;
      errors.push_back(api::InvalidError(StrCat(kField, ".", field), "",
                                         field == "apiVersion" ? "version must not be empty" : "must not be empty"));
    }
    if (owner["apiVersion"].str() == "v1" && owner["kind"].str() == "Event") {
      errors.push_back(
          api::InvalidError(std::string(kField), owner, "/v1, Kind=Event is disallowed from being an owner"));
    }
    if (!owner["controller"].bool_or(false)) continue;
    const std::string name = StrCat(owner["kind"].str(), "/", owner["name"].str());
    if (controller) {
      if (std::exchange(told, true)) continue;
      errors.push_back(api::InvalidError(
          std::string(kField), metadata["ownerReferences"],
          StrCat(R"(Only one reference can have Controller set to true. Found "true" in references for )", *controller,
                 " and ", name)));
      continue;
    }
    controller = name;
  }
}

// Who writes an object may also write who has written it.
void ValidateManagers(const Value& managers, std::vector<FieldError>& errors) {
  for (size_t i = 0; i < managers.size() && !Enough(errors); ++i) {
    const std::string_view manager = managers[i]["manager"].str();
    const std::string_view subresource = managers[i]["subresource"].str();
    const auto field = [&](std::string_view name) {
      return StrCat(api::IndexPath("metadata.managedFields", i), ".", name);
    };
    if (!manager.empty()) std::ranges::move(ValidateManagerName(field("manager"), manager), std::back_inserter(errors));
    if (subresource.size() > kSubresourceNameMax)
      errors.push_back(api::TooLongError(field("subresource"), kSubresourceNameMax));
  }
}

// Built-in kinds know which finalizers may do without a domain.
bool IsPlainFinalizer(std::string_view name) {
  const bool standard = name == "kubernetes" || name == kOrphanFinalizer || name == kForegroundFinalizer;
  return !standard && name.find('/') == std::string_view::npos;
}

void ValidatePlainFinalizers(const Value& metadata, std::vector<FieldError>& errors) {
  const Value& finalizers = metadata["finalizers"];
  for (size_t i = 0; i < finalizers.size() && !Enough(errors); ++i) {
    if (!IsPlainFinalizer(finalizers[i].str())) continue;
    errors.push_back(api::InvalidError(api::IndexPath("metadata.finalizers", i), finalizers[i],
                                       "name is neither a standard finalizer name nor is it fully qualified"));
  }
}

void ValidateFinalizers(const Value& metadata, const Value* live, std::vector<FieldError>& errors) {
  bool orphan = false;
  bool foreground = false;
  std::string added;
  std::unordered_set<std::string_view> before;
  if (live != nullptr) {
    for (const Value& finalizer : (*live)["metadata"]["finalizers"].items()) before.insert(finalizer.str());
  }
  for (const Value& finalizer : metadata["finalizers"].items()) {
    const std::string_view name = finalizer.str();
    Add(errors, "metadata.finalizers", finalizer, json::CheckFinalizerName(name));
    orphan |= name == kOrphanFinalizer;
    foreground |= name == kForegroundFinalizer;
    if (live != nullptr && !before.contains(name)) {
      StrAppend(added, added.empty() ? "" : ", ", "\"", name, "\"");
    }
  }
  if (orphan && foreground) {
    errors.push_back(api::InvalidError("metadata.finalizers", metadata["finalizers"],
                                       "finalizers orphan and foregroundDeletion cannot be both set"));
  }
  if (!added.empty() && IsBeingDeleted(*live)) {
    errors.push_back(api::ForbiddenError(
        "metadata.finalizers",
        StrCat("no new finalizers can be added if the object is being deleted, found new finalizers []string{", added,
               "}")));
  }
}

}  // namespace

std::vector<FieldError> ValidateManagerName(const std::string& field, std::string_view manager) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::vector<FieldError> errors;
  if (manager.size() > kManagerNameMax) errors.push_back(api::TooLongError(field, kManagerNameMax));
  for (size_t i = 0; i < manager.size(); ++i) {
    const auto c = static_cast<unsigned char>(manager[i]);
    if (c >= ' ' && c != 0x7f) continue;
    const std::string hex{kHex[c >> 4U], kHex[c & 0xfU]};
    errors.push_back(
        api::InvalidError(field, Value(manager), StrCat("invalid character U+00", hex, " (at position ", i, ")")));
    break;  // one is enough to know
  }
  return errors;
}

std::string TimeText(WallTime time) { return json::FormatTime(time); }

std::string GeneratedName(std::string_view prefix, rt::Random& random) {
  std::string name(Utf8Prefix(prefix, kGeneratedNameMax - kRandomNameLength));
  for (size_t i = 0; i < kRandomNameLength; ++i) name += kNameAlphabet[random.Below(kNameAlphabet.size())];
  return name;
}

void InitializeMetadata(Value& object, const api::ResourceType& type, rt::Random& random, WallTime now) {
  Value& metadata = object.Edit("metadata");
  for (const std::string_view field : kServerFields) {
    if (field != "generation" || type.counts_generations) metadata.Erase(field);  // others keep what they were given
  }
  metadata.Erase("selfLink");
  metadata.Set("uid", random.NewUid().str());
  metadata.Set("creationTimestamp", TimeText(now));
  if (type.counts_generations) metadata.Set("generation", 1);
}

void KeepServerMetadata(Value& object, const Value& live) {
  Value& metadata = object.Edit("metadata");
  metadata.Erase("selfLink");
  for (const std::string_view field : kServerFields) {
    if (const Value* kept = live["metadata"].Find(field)) {
      metadata.Set(field, *kept);
    } else {
      metadata.Erase(field);
    }
  }
}

void CountGeneration(Value& object, const Value& live, const api::ResourceType& type) {
  if (!type.counts_generations) return;
  const auto spec_of = [&](Value part) {
    const Value annotations = part["metadata"]["annotations"];
    part.Erase("metadata");
    part.Erase("apiVersion");  // another version of the same object is no change
    if (type.has_status) part.Erase("status");
    // A Deployment's annotations count, too: its controller copies them.
    const bool deployment = type.group == "apps" && type.plural == "deployments";
    if (deployment) part.Set("annotations", annotations);
    return part;
  };
  if (spec_of(object) == spec_of(live)) return;
  object.Edit("metadata").Set("generation", live["metadata"]["generation"].int_or(0) + 1);
}

std::vector<FieldError> ValidateMetadata(const Value& object, const Value* live, const api::ResourceType& type,
                                         const Value* settled) {
  std::vector<FieldError> errors;
  const Value& metadata = object["metadata"];
  const Value known = settled == nullptr ? Value() : (*settled)["metadata"];
  ValidateNames(metadata, type, errors);
  if (!known["labels"].SharesStorageWith(metadata["labels"])) ValidateLabels(metadata["labels"], errors);
  if (!known["annotations"].SharesStorageWith(metadata["annotations"])) {
    ValidateAnnotations(metadata["annotations"], known["annotations"], errors);
  }
  ValidateOwners(metadata, errors);
  if (!known["managedFields"].SharesStorageWith(metadata["managedFields"]))
    ValidateManagers(metadata["managedFields"], errors);
  ValidateFinalizers(metadata, live, errors);
  if (metadata["generation"].int_or(0) < 0) {
    errors.push_back(
        api::InvalidError("metadata.generation", metadata["generation"], "must be greater than or equal to 0"));
  }
  // Of Kubernetes' own kinds; CRDs have a finalizer of their own without a domain.
  if (!type.custom && type.group != "apiextensions.k8s.io") ValidatePlainFinalizers(metadata, errors);
  return errors;
}

bool HasFinalizers(const Value& object) { return !object["metadata"]["finalizers"].empty(); }

bool IsBeingDeleted(const Value& object) { return !object["metadata"]["deletionTimestamp"].str().empty(); }

}  // namespace baton::apiserver
