// RBAC rules kept up to date from the store.
#include "apiserver/authorizer.h"

#include <optional>
#include <string>

namespace baton::apiserver {

namespace {

constexpr std::string_view kPrefix = "/rbac.authorization.k8s.io/";

std::optional<RbacRules::Source> SourceOf(std::string_view plural) {
  if (plural == "roles") return RbacRules::Source::kRole;
  if (plural == "clusterroles") return RbacRules::Source::kClusterRole;
  if (plural == "rolebindings") return RbacRules::Source::kRoleBinding;
  if (plural == "clusterrolebindings") return RbacRules::Source::kClusterRoleBinding;
  return std::nullopt;
}

}  // namespace

// The key is <prefix><plural>/[<namespace>/]<name>.
void Authorizer::Take(std::string_view key, const Bytes& value) {
  key.remove_prefix(kPrefix.size());
  const size_t slash = key.find('/');
  const std::optional<RbacRules::Source> source = SourceOf(key.substr(0, slash));
  if (!source || slash == std::string_view::npos) return;
  key.remove_prefix(slash + 1);
  std::string_view ns;
  if (*source == RbacRules::Source::kRole || *source == RbacRules::Source::kRoleBinding) {
    const size_t end = key.find('/');
    if (end == std::string_view::npos) return;
    ns = key.substr(0, end);
    key.remove_prefix(end + 1);
  }
  rules_->Set(*source, ns, key, value == nullptr ? json::Value() : core_.Decode(value));
}

void Authorizer::Reload() {
  store::Store& store = core_.store();
  rules_ = std::make_unique<RbacRules>();
  watch_.reset();
  const Result<store::ListResult> found = store.List(kPrefix);
  if (!found.ok()) return;
  for (const store::Entry& entry : found->entries) Take(entry.key, entry.value);
  Result<std::unique_ptr<store::Watch>> watch = store.OpenWatch(std::string(kPrefix), found->revision);
  if (watch.ok()) watch_ = *std::move(watch);
}

void Authorizer::CatchUp() {
  while (watch_ != nullptr) {  // to the last change: one call hands out a part of them
    const auto changes = watch_->Poll();
    if (!changes.ok()) break;
    if (changes->empty()) return;
    for (const std::shared_ptr<const store::Event>& change : *changes) Take(change->key, change->value);
  }
  Reload();
}

RbacRules& Authorizer::rules() {
  CatchUp();
  return *rules_;
}

Decision Authorizer::Authorize(const User& user, const Attributes& attributes) {
  return rules().Authorize(user, attributes);
}

}  // namespace baton::apiserver
