// Putting the parts together, and the objects that every cluster has.
#include "apiserver/backend.h"

#include <utility>

#include "apiserver/aggregation.h"
#include "apiserver/escalation.h"
#include "apiserver/rbac.h"
#include "base/strings.h"
#include "json/rfc3339.h"

namespace baton::apiserver {

namespace {

using json::Value;

constexpr std::string_view kBootstrapper = "baton-bootstrap";

Value NamespaceObject(std::string_view name) {
  return json::Object(
      {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", json::Object({{"name", Value(name)}})}});
}

std::vector<Value> BootstrapObjects() {
  std::vector<Value> objects;
  for (const std::string_view name : {"default", "kube-node-lease", "kube-public", "kube-system"}) {
    objects.push_back(NamespaceObject(name));
  }
  for (Value& object : BootstrapPolicy()) objects.push_back(std::move(object));
  return objects;
}

}  // namespace

Backend::Backend(rt::Loop& loop, store::Store& store)
    : core_(loop, store, registry_),
      authorizer_(core_),
      crds_(core_),
      namespaces_(core_),
      collector_(core_),
      scope_(loop) {}

Backend::~Backend() = default;

rt::Task<Result<std::unique_ptr<Backend>>> Backend::Start(rt::Loop& loop, store::Store& store, WebhookCaller call) {
  std::unique_ptr<Backend> backend(new Backend(loop, store));
  backend->core_.AddAdmission(MakeNamespaceLifecycle(backend->core_));
  backend->core_.AddAdmission(MakeCrdAdmission());
  backend->core_.AddAdmission(MakeEscalationCheck(backend->core_, backend->authorizer_));
  backend->core_.AddAdmission(MakeWebhooks(loop, backend->WebhooksFromStore(std::move(call))));
  backend->mended_ = CO_TRY(co_await MendStored(store));
  CO_TRY(co_await backend->Bootstrap());
  backend->crds_.LoadAll();
  backend->scope_.Spawn(backend->crds_.Run());
  backend->scope_.Spawn(backend->namespaces_.Run());
  backend->scope_.Spawn(backend->collector_.Run());
  backend->scope_.Spawn(KeepAggregatedRoles(backend->core_));
  backend->scope_.Spawn(backend->Compact());
  backend->scope_.Spawn(backend->ExpireEvents());
  co_return backend;
}

WebhookOptions Backend::WebhooksFromStore(WebhookCaller call) {
  const auto all_of = [this](std::string_view plural) {
    return [this, type = registry_.FindResource("admissionregistration.k8s.io", plural)] {
      std::vector<Value> objects;
      const Result<store::ListResult> found = core_.store().List(StoragePrefix(*type, ""));
      if (!found.ok()) return objects;
      for (const store::Entry& entry : found->entries) objects.push_back(core_.Decode(entry.value));
      return objects;
    };
  };
  WebhookOptions options;
  options.validating = all_of("validatingwebhookconfigurations");
  options.mutating = all_of("mutatingwebhookconfigurations");
  options.find_namespace = [this, type = registry_.Find("", "v1", "namespaces")](std::string_view name) {
    const std::optional<Object> live = core_.Live(*type, "", name);
    return live ? std::optional(core_.Decode(live->bytes)) : std::nullopt;
  };
  options.versions = [this](const ResourceType& type) {
    std::vector<std::string> versions;
    for (const std::string& version : registry_.Versions(type.group)) {
      if (registry_.Find(type.group, version, type.plural) != nullptr) versions.push_back(version);
    }
    return versions;
  };
  options.call = std::move(call);
  if (options.call == nullptr) {
    options.call = [](WebhookCall one, rt::Deadline /*deadline*/) -> rt::Task<Result<net::Response>> {
      co_return UnavailableError(StrCat("nothing calls webhooks here: ", one.url));
    };
  }
  return options;
}

rt::Task<Result<void>> Backend::Bootstrap() {
  Caller server{.user = {.name = "system:apiserver", .uid = {}, .groups = {std::string(kMastersGroup)}, .extra = {}},
                .user_agent = std::string(kBootstrapper),
                .warnings = {}};
  for (Value& object : BootstrapObjects()) {
    const std::string_view api_version = object["apiVersion"].str();
    const size_t slash = api_version.find('/');
    const std::string_view group = slash == std::string_view::npos ? std::string_view() : api_version.substr(0, slash);
    const ResourceTypePtr type = registry_.FindKind(
        group, slash == std::string_view::npos ? api_version : api_version.substr(slash + 1), object["kind"].str());
    if (type == nullptr) co_return InternalError(StrCat("no type for the bootstrap object ", object["kind"].str()));
    const std::string ns(object["metadata"]["namespace"].str());
    const std::string name(object["metadata"]["name"].str());
    if (core_.Live(*type, ns, name)) continue;
    const Result<Written> made =
        co_await core_.Create({.type = type, .ns = ns, .name = {}, .subresource = {}}, std::move(object), {}, server);
    if (!made.ok() && made.error().kind() != ErrorKind::kAlreadyExists) {
      co_return made.error().Context(StrCat("making ", type->kind, " ", name));
    }
  }
  co_return Result<void>();
}

rt::Task<void> Backend::Compact() {
  Revision before = core_.store().revision();
  while (true) {
    co_await core_.loop().Sleep(kCompactEvery);
    const Result<void> compacted = co_await core_.store().Compact(before);
    if (!compacted.ok() && compacted.error().kind() == ErrorKind::kUnavailable) continue;  // the disk: next time
    before = core_.store().revision();
  }
}

rt::Task<void> Backend::ExpireEvents() {
  const ResourceTypePtr events = registry_.Find("", "v1", "events");
  while (events != nullptr) {
    co_await core_.loop().Sleep(kEventSweepEvery);
    const Result<store::ListResult> found = core_.store().List(StoragePrefix(*events, ""));
    if (!found.ok()) continue;
    const WallTime now = core_.loop().WallNow();
    for (const store::Entry& entry : found->entries) {
      const Value event = core_.Decode(entry.value);
      std::string_view last = event["lastTimestamp"].str();
      if (last.empty()) last = event["metadata"]["creationTimestamp"].str();
      const Result<WallTime> time = json::ParseTime(last);
      if (!time.ok() || now - *time < kEventLife) continue;
      store::Transaction transaction;
      transaction.If(entry.key, entry.mod_revision).Delete(entry.key);
      const Result<Revision> gone = co_await core_.store().Commit(std::move(transaction));
      (void)gone;  // one that was counted up meanwhile stays
    }
  }
}

}  // namespace baton::apiserver
