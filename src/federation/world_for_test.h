// A hub and members in memory on a virtual loop, with the federation at work between them, for tests.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "apiserver/backend.h"
#include "federation/admission.h"
#include "federation/federation.h"
#include "federation/resources.h"
#include "json/yaml.h"
#include "kube/api.h"
#include "kube/borrowed_api.h"
#include "kube/faulty_api.h"
#include "kube/local_api.h"
#include "rt/scope.h"
#include "rt/test_support.h"
#include "rt/virtual_loop.h"
#include "store/store.h"

namespace baton::federation {

inline const kube::Resource kTestConfigMaps{.group = "", .version = "v1", .plural = "configmaps", .kind = "ConfigMap"};
inline const kube::Resource kTestDeployments{
    .group = "apps", .version = "v1", .plural = "deployments", .kind = "Deployment"};

// Counts writes by verb and resource: "create works".
class CountingApi final : public kube::Api {
 public:
  explicit CountingApi(kube::Api& below) : below_(&below) {}
  rt::Loop& loop() override { return below_->loop(); }
  void set_below(kube::Api& below) { below_ = &below; }
  rt::Task<Result<kube::Answer>> Do(kube::CallBox call, rt::Deadline deadline) override {
    const std::string what = std::string(kube::VerbName(call->verb)) + " " + call->resource.plural +
                             (call->subresource.empty() ? "" : "/" + call->subresource);
    const bool write = call->IsWrite();
    if (write && takes > Duration{}) co_await loop().Sleep(takes);
    Result<kube::Answer> answer = co_await below_->Do(std::move(call), deadline);
    if (write) ++writes[what];
    if (write && !answer.ok()) refusals.push_back(what + ": " + answer.error().message());
    if (write && !answer.ok() && answer.error().kind() == ErrorKind::kConflict) ++conflicts;
    co_return answer;
  }
  rt::Task<Result<std::unique_ptr<kube::Watch>>> OpenWatch(kube::WatchCall call, rt::Deadline deadline) override {
    return below_->OpenWatch(std::move(call), deadline);
  }
  rt::Task<Result<kube::Discovered>> Discover(rt::Deadline deadline) override { return below_->Discover(deadline); }

  std::map<std::string, int> writes;
  std::vector<std::string> refusals;
  int conflicts = 0;
  Duration takes{};  // a write, beside what is computed
  int Writes() const {
    int sum = 0;
    for (const auto& [what, count] : writes) sum += what.ends_with(" events") ? 0 : count;
    return sum;
  }

 private:
  kube::Api* below_;
};

// One API server in memory.
class TestServer {
 public:
  static rt::Task<std::unique_ptr<TestServer>> Start(rt::Loop& loop) {
    auto server = std::make_unique<TestServer>();
    server->store = *co_await store::Store::Open(loop, store::MakeMemoryEngine());
    server->backend = *co_await apiserver::Backend::Start(loop, *server->store);
    server->api = std::make_unique<kube::LocalApi>(*server->backend);
    co_return server;
  }
  rt::Task<void> Stop() {
    api.reset();
    backend.reset();
    co_await store->Close();
  }

  std::unique_ptr<store::Store> store;
  std::unique_ptr<apiserver::Backend> backend;
  std::unique_ptr<kube::LocalApi> api;
};

class FederationWorld {
 public:
  explicit FederationWorld(rt::VirtualLoop& virtual_loop) : loop(virtual_loop) {}

  rt::Task<void> Start(std::vector<std::string> names, HubOptions options = {}) {
    hub_server = co_await TestServer::Start(loop);
    hub_server->backend->core().AddAdmission(MakeAdmission(loop, &interpreter));
    hub = std::make_unique<CountingApi>(*hub_server->api);
    for (const std::string& name : names) co_await AddServer(name);
    const Result<void> installed = co_await InstallCrds(*hub_server->api);
    EXPECT_TRUE(installed.ok()) << installed.error().message();
    hub_options = options;
    for (const std::string& name : names) co_await Join(name);
    Run();
    co_await Settle();
  }

  rt::Task<void> Join(std::string name, std::string_view extra = "{}") {
    json::Value cluster = Yaml("{apiVersion: cluster.karmada.io/v1alpha1, kind: Cluster, spec: {syncMode: Push}}");
    cluster.Edit("metadata").Set("name", name);
    const json::Value more = Yaml(extra);
    for (const json::Member& member : more["spec"].members()) cluster.Edit("spec").Set(member.key(), member.value());
    if (!more["labels"].is_null()) cluster.Edit("metadata").Set("labels", more["labels"]);
    const auto made = co_await hub_server->api->Create(kClusters, cluster);
    EXPECT_TRUE(made.ok()) << made.error().message();
  }

  // The federation, (re)started: what it kept in memory is gone.
  void Run() {
    scope.reset();
    federation.reset();
    federation = std::make_unique<Federation>(
        *hub, interpreter,
        [this](const json::Value& cluster, const json::Value& secret) -> Result<std::unique_ptr<kube::Api>> {
          const std::string name(kube::NameOf(cluster));
          const auto at = reach.find(name);
          if (at == reach.end()) return NotFoundError("no such member in this test");
          const auto token = tokens.find(name);
          if (token != tokens.end() && secret["data"]["token"].str() != token->second) {
            return UnavailableError("the credentials in the Secret are not those of the cluster");
          }
          return std::unique_ptr<kube::Api>(std::make_unique<kube::BorrowedApi>(*at->second));
        },
        hub_options);
    scope = std::make_unique<rt::Scope>(loop);
    scope->Spawn(federation->Run());
  }
  // A server is there for that name from now on; a Cluster object makes it a member.
  rt::Task<void> AddServer(std::string name) {
    member_servers[name] = co_await TestServer::Start(loop);
    members[name] = std::make_unique<CountingApi>(*member_servers[name]->api);
    reach[name] = std::make_unique<kube::FaultyApi>(*members[name], faults[name]);
  }
  // Another, empty cluster answers under that name: what the federation had open there is cut.
  rt::Task<void> Replace(std::string name) {
    std::unique_ptr<TestServer> fresh = co_await TestServer::Start(loop);
    old_servers.push_back(std::move(member_servers[name]));
    member_servers[name] = std::move(fresh);
    members[name]->set_below(*member_servers[name]->api);
  }
  void Kill() {
    scope.reset();
    federation.reset();
  }

  rt::Task<void> Stop() {
    Kill();
    reach.clear();
    members.clear();
    hub.reset();
    for (auto& [name, server] : member_servers) co_await server->Stop();
    for (auto& server : old_servers) co_await server->Stop();
    co_await hub_server->Stop();
  }

  // Virtual time in which everything that can happen by itself happens.
  rt::Task<void> Settle(Duration time = seconds(3)) { co_await loop.Sleep(time); }

  static json::Value Yaml(std::string_view text) {
    Result<json::Value> value = json::ParseYaml(text);
    EXPECT_TRUE(value.ok()) << text << "\n" << (value.ok() ? "" : value.error().message());
    return value.ok() ? *value : json::Value();
  }
  // On the hub, created or changed as kubectl apply does.
  rt::Task<json::Value> Apply(const kube::Resource& resource, std::string_view yaml) {
    co_return co_await ApplyValue(resource, Yaml(yaml));
  }
  rt::Task<json::Value> ApplyValue(const kube::Resource& resource, json::Value object) {
    Result<json::Value> written =
        co_await hub_server->api->Apply(resource, object, {.field_manager = "kubectl", .force = true});
    EXPECT_TRUE(written.ok()) << written.error().message();
    co_return written.ok() ? *std::move(written) : json::Value();
  }
  rt::Task<json::Value> OnHub(const kube::Resource& resource, std::string_view key) {
    Result<json::Value> got = co_await hub_server->api->Get(resource, kube::Name::FromKey(key));
    co_return got.ok() ? *std::move(got) : json::Value();
  }
  rt::Task<json::Value> OnMember(std::string cluster, const kube::Resource& resource, std::string_view key) {
    Result<json::Value> got = co_await member_servers[cluster]->api->Get(resource, kube::Name::FromKey(key));
    co_return got.ok() ? *std::move(got) : json::Value();
  }
  rt::Task<void> DeleteOnHub(const kube::Resource& resource, std::string_view key) {
    const auto gone = co_await hub_server->api->Delete(resource, kube::Name::FromKey(key));
    EXPECT_TRUE(gone.ok()) << gone.error().message();
  }

  rt::VirtualLoop& loop;
  interpret::Interpreter interpreter;
  HubOptions hub_options;
  std::unique_ptr<TestServer> hub_server;
  std::unique_ptr<CountingApi> hub;
  std::map<std::string, std::unique_ptr<TestServer>> member_servers;
  std::map<std::string, std::unique_ptr<CountingApi>> members;
  std::vector<std::unique_ptr<TestServer>> old_servers;  // that were replaced
  std::map<std::string, std::string> tokens;             // what the Secret's data must have, base64; none: anything
  std::map<std::string, kube::ScriptedFaults> faults;
  std::map<std::string, std::unique_ptr<kube::FaultyApi>> reach;  // as the federation reaches them
  std::unique_ptr<Federation> federation;
  std::unique_ptr<rt::Scope> scope;
};

template <class Test>
void InFederation(std::vector<std::string> names, Test test, uint64_t seed = 1) {
  rt::VirtualLoop loop(seed);
  loop.Run(rt::Do([&]() -> rt::Task<void> {
    FederationWorld world(loop);
    co_await world.Start(names);
    co_await test(world);
    co_await world.Stop();
  }));
}

}  // namespace baton::federation
