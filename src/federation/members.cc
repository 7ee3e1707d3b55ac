// Members come, change and go with their Cluster objects.
#include "federation/members.h"

#include <utility>

#include "api/karmada_keys.h"
#include "base/strings.h"

namespace baton::federation {

Member::Member(std::string name, std::unique_ptr<kube::Api> api, Handler handler, SyncedHandler on_synced)
    : name_(std::move(name)),
      api_(std::move(api)),
      mapper_(*api_),
      handler_(std::move(handler)),
      on_synced_(std::move(on_synced)),
      scope_(api_->loop()) {}

Member::~Member() = default;

kube::Informer& Member::Watch(const kube::Resource& resource) {
  std::unique_ptr<kube::Informer>& informer = informers_[resource];
  if (informer == nullptr) {
    kube::InformerOptions options;
    options.label_selector = StrCat(api::karmada::kManaged, "=", api::karmada::kTrue);
    informer = std::make_unique<kube::Informer>(*api_, resource, std::move(options));
    informer->OnChange([this](const json::Value& before, const json::Value& now) { handler_(name_, before, now); });
    informer->OnSynced([this, &copy = *informer] { on_synced_(name_, copy); });
    scope_.Spawn(informer->Run());
  }
  return *informer;
}

const kube::Informer* Member::Find(const kube::Resource& resource) const {
  const auto at = informers_.find(resource);
  return at == informers_.end() || !at->second->synced() ? nullptr : at->second.get();
}

std::string AnotherCluster(std::string_view cluster, std::string_view joined, std::string_view answers) {
  return StrCat(
      "cluster ", cluster, " joined with id ", joined, " and now answers with id ", answers,
      ": it is another cluster. Nothing is written or deleted there. If the old one is gone for good, unjoin ", cluster,
      " and join it again");
}

std::shared_ptr<Member> Members::Find(std::string_view cluster) const {
  const auto at = entries_.find(cluster);
  return at == entries_.end() ? nullptr : at->second.member;
}

std::string Members::WhyNot(std::string_view cluster) const {
  const auto at = entries_.find(cluster);
  if (at == entries_.end())
    return StrCat("cluster ", cluster, " has not joined: `baton get clusters` lists those that have");
  return at->second.why_not;
}

bool Members::Update(const std::string& cluster, const json::Value& object, const json::Value& secret) {
  json::Value made_from = json::Object({{"spec", object["spec"]}, {"secret", secret["data"]}});
  for (const std::string_view of_no_concern : {"taints", "id", "region", "zone", "zones", "provider"})
    made_from.Edit("spec").Erase(of_no_concern);
  Entry& entry = entries_[cluster];
  if (entry.member != nullptr && entry.made_from == made_from) return false;
  entry.member.reset();
  entry.made_from = made_from;
  Result<std::unique_ptr<kube::Api>> api = connect_(object, secret);
  entry.why_not = api.ok() ? std::string() : api.error().message();
  if (api.ok()) {
    const auto synced = [this](const std::string& of, const kube::Informer& copy) {
      for (const Member::SyncedHandler& handler : on_synced_) handler(of, copy);
    };
    entry.member = std::make_shared<Member>(cluster, *std::move(api), on_object_, synced);
  }
  for (const auto& handler : on_update_) handler(cluster);
  return true;
}

void Members::Remove(const std::string& cluster) { entries_.erase(cluster); }

std::vector<std::string> Members::Names() const {
  std::vector<std::string> names;
  for (const auto& [name, entry] : entries_) {
    if (entry.member != nullptr) names.push_back(name);
  }
  return names;
}

}  // namespace baton::federation
