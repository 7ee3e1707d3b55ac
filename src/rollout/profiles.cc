// Which profile a workload has.
#include "rollout/profiles.h"

#include "base/invariant.h"
#include "base/strings.h"
#include "kube/api.h"
#include "rollout/records.h"

namespace baton::rollout {

const ProfileSet::ByName& ProfileSet::Builtin() {
  static const ByName all = [] {
    ByName made;
    for (const json::Value& object : interpret::BuiltinProfiles()) {
      Result<std::shared_ptr<const interpret::Profile>> profile = interpret::Profile::Compile(object);
      INVARIANT(profile.ok(), "a built-in profile compiles");
      made[(*profile)->name()] = *profile;
    }
    return made;
  }();
  return all;
}

Result<void> ProfileSet::Set(const json::Value& object) {
  users_[std::string(kube::NameOf(object))] = TRY(interpret::Profile::Compile(object));
  return {};
}

void ProfileSet::Remove(std::string_view name) {
  const auto at = users_.find(name);
  if (at != users_.end()) users_.erase(at);
}

std::string ProfileSet::ClaimKey(std::string_view kind, std::string_view ns, std::string_view name) {
  return StrCat(kind, "/", ns, "/", name);
}

void ProfileSet::WriterChanged(const json::Value& before, const json::Value& now) {
  for (const json::Value* writer : {&before, &now}) {
    if (writer->is_null()) continue;
    const json::Value& workload = (*writer)["spec"]["workload"];
    std::string key = ClaimKey(workload["kind"].str(), kube::NamespaceOf(*writer), workload["name"].str());
    if (writer == &now && now["spec"]["claim"].is_object()) {
      claimed_.insert(std::move(key));
    } else {
      claimed_.erase(key);
    }
  }
}

std::shared_ptr<const interpret::Profile> ProfileSet::ForKind(std::string_view api_version,
                                                              std::string_view kind) const {
  for (const auto* set : {&users_, &Builtin()}) {
    for (const auto& [name, profile] : *set) {
      if (profile->kind().api_version == api_version && profile->kind().kind == kind) return profile;
    }
  }
  return nullptr;
}

std::shared_ptr<const interpret::Profile> ProfileSet::Asked(const json::Value& object) const {
  std::shared_ptr<const interpret::Profile> profile = ForKind(kube::ApiVersionOf(object), kube::KindOf(object));
  if (profile == nullptr) return nullptr;
  const std::string_view asked = object["metadata"]["annotations"][kManagedAnnotation].str();
  if (asked == "false" || (profile->opt_in() && asked != "true")) return nullptr;
  return profile;
}

std::shared_ptr<const interpret::Profile> ProfileSet::Managing(const json::Value& object) const {
  if (claimed_.contains(ClaimKey(kube::KindOf(object), kube::NamespaceOf(object), kube::NameOf(object))))
    return ForKind(kube::ApiVersionOf(object), kube::KindOf(object));
  return Asked(object);
}

}  // namespace baton::rollout
