// Practice clusters on servers in memory, all on one virtual loop and one simulated disk, and shorthand to drive them.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/backend_for_test.h"
#include "json/parse.h"
#include "json/yaml.h"
#include "kube/faulty_api.h"
#include "kube/local_api.h"
#include "practice/cluster.h"
#include "practice/judge.h"
#include "rt/scope.h"
#include "rt/simulated_files.h"
#include "rt/test_support.h"
#include "rt/virtual_loop.h"
#include "store/store.h"

namespace baton::practice {

using apiserver::FromYaml;
using json::Value;

inline const kube::Resource kCrdsForTest{.group = "apiextensions.k8s.io",
                                         .version = "v1",
                                         .plural = "customresourcedefinitions",
                                         .kind = "CustomResourceDefinition",
                                         .namespaced = false};

// Enough of a CRD to serve a Flink kind.
inline Value CrdForTest(std::string_view plural, std::string_view kind) {
  Value crd = FromYaml(R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
spec:
  group: flink.apache.org
  scope: Namespaced
  versions:
  - name: v1beta1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, x-kubernetes-preserve-unknown-fields: true}
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
)");
  crd.Set("metadata", json::Object({{"name", StrCat(plural, ".flink.apache.org")}}));
  crd.Edit("spec").Set("names", json::Object({{"plural", plural}, {"singular", ToLower(kind)}, {"kind", kind}}));
  return crd;
}

inline rt::Task<void> ServeFlinkForTest(kube::Api& api) {
  for (const auto& [plural, kind] :
       {std::pair("flinkdeployments", "FlinkDeployment"), std::pair("flinkstatesnapshots", "FlinkStateSnapshot")}) {
    const auto made = co_await api.Create(kCrdsForTest, CrdForTest(plural, kind));
    EXPECT_TRUE(made.ok()) << made.error().ToString();
    const kube::Resource resource{
        .group = "flink.apache.org", .version = "v1beta1", .plural = plural, .kind = kind, .namespaced = true};
    while (!(co_await api.ListAll(resource)).ok()) co_await api.loop().Sleep(milliseconds(10));
  }
}

// One member cluster with its own server.
class Member {
 public:
  static rt::Task<std::unique_ptr<Member>> Start(rt::Loop& loop, Commons& commons, std::string name,
                                                 PracticeClusterOptions options, kube::FaultPlan* plan = nullptr) {
    auto member = std::make_unique<Member>();
    auto store = co_await store::Store::Open(loop, store::MakeMemoryEngine());
    EXPECT_TRUE(store.ok());
    member->store = *std::move(store);
    auto backend = co_await apiserver::Backend::Start(loop, *member->store);
    EXPECT_TRUE(backend.ok());
    member->backend = *std::move(backend);
    member->api = std::make_unique<kube::LocalApi>(*member->backend);
    co_await ServeFlinkForTest(*member->api);
    if (options.kinds) {
      const auto installed = co_await InstallPracticeKinds(*member->api);
      EXPECT_TRUE(installed.ok()) << installed.error().ToString();
    }
    if (plan != nullptr) member->faulty = std::make_unique<kube::FaultyApi>(*member->api, *plan);
    kube::Api& api = plan == nullptr ? *member->api : *member->faulty;
    member->cluster = std::make_unique<PracticeCluster>(api, commons, std::move(name), std::move(options));
    member->scope = std::make_unique<rt::Scope>(loop);
    member->scope->Spawn(member->cluster->Run());
    co_return member;
  }
  rt::Task<void> Stop() {
    scope = nullptr;
    cluster = nullptr;
    faulty = nullptr;
    api = nullptr;
    backend = nullptr;
    co_await store->Close();
  }

  std::unique_ptr<store::Store> store;
  std::unique_ptr<apiserver::Backend> backend;
  std::unique_ptr<kube::Api> api;           // the test's way in
  std::unique_ptr<kube::FaultyApi> faulty;  // the cluster's own, when its API has a bad day
  std::unique_ptr<PracticeCluster> cluster;
  std::unique_ptr<rt::Scope> scope;
};

inline constexpr std::string_view kOrders = R"(
apiVersion: flink.apache.org/v1beta1
kind: FlinkDeployment
metadata: {name: orders, namespace: default}
spec:
  image: flink:1.20
  flinkVersion: v1_20
  flinkConfiguration:
    execution.checkpointing.dir: s3://bucket/checkpoints
    execution.checkpointing.savepoint-dir: s3://bucket/savepoints
    execution.checkpointing.interval: 5 s
  jobManager: {resource: {cpu: 1, memory: 1Gi}}
  taskManager: {resource: {cpu: 1, memory: 1Gi}}
  job: {jarURI: "local:///opt/orders.jar", parallelism: 1, upgradeMode: savepoint, state: running}
)";

class PracticeWorld {
 public:
  PracticeWorld(rt::VirtualLoop& loop, rt::SimulatedFiles& files) : loop(loop), files(files) {}

  rt::VirtualLoop& loop;
  rt::SimulatedFiles& files;
  Storage storage{files};
  std::unique_ptr<Commons> commons = std::make_unique<Commons>(loop, storage);
  PracticeClusterOptions options;
  std::vector<std::unique_ptr<Member>> members;

  rt::Task<Member*> Add(std::string name) {
    members.push_back(co_await Member::Start(loop, *commons, std::move(name), options));
    co_return members.back().get();
  }

  // The whole program but for its API servers ends and starts again.
  void Restart() {
    for (auto& member : members) member->scope = nullptr;
    std::vector<std::string> names;
    for (auto& member : members) names.push_back(member->cluster->name());
    for (auto& member : members) member->cluster = nullptr;
    commons = std::make_unique<Commons>(loop, storage);
    for (size_t i = 0; i < members.size(); ++i) {
      members[i]->cluster = std::make_unique<PracticeCluster>(*members[i]->api, *commons, names[i], options);
      members[i]->scope = std::make_unique<rt::Scope>(loop);
      members[i]->scope->Spawn(members[i]->cluster->Run());
    }
  }

  static rt::Task<Value> Get(Member& member, std::string name = "orders") {
    const auto got = co_await member.api->Get(FlinkDeployments(), {"default", std::move(name)});
    co_return got.ok() ? *got : Value();
  }
  static rt::Task<void> Create(Member& member, Value object) {
    const auto made = co_await member.api->Create(FlinkDeployments(), std::move(object));
    EXPECT_TRUE(made.ok()) << made.error().ToString();
  }
  static rt::Task<void> Patch(Member& member, std::string_view yaml) {
    const auto made =
        co_await member.api->Patch(FlinkDeployments(), {"default", "orders"}, kube::PatchType::kMerge, FromYaml(yaml));
    EXPECT_TRUE(made.ok()) << made.error().ToString();
  }
  // Until the object is so; says what it is when that takes too long.
  rt::Task<Value> Until(Member& member, std::function<bool(const Value& object)> wanted, Duration within = minutes(5)) {
    const MonotonicTime begun = loop.Now();
    while (true) {
      const Value object = co_await Get(member);
      if (wanted(object)) co_return object;
      if (loop.Now() - begun > within) {
        ADD_FAILURE() << "it never came; the status is " << object["status"];
        co_return object;
      }
      co_await loop.Sleep(milliseconds(250));
    }
  }
  rt::Task<Value> UntilRunning(Member& member) {
    return Until(member, [](const Value& object) {
      return object["status"]["jobStatus"]["state"].str() == "RUNNING" &&
             object["status"]["lifecycleState"].str() == "STABLE" &&
             object["status"]["observedGeneration"] == object["metadata"]["generation"];
    });
  }
  rt::Task<Value> UntilSuspended(Member& member) {
    return Until(member, [](const Value& object) {
      return object["status"]["lifecycleState"].str() == "SUSPENDED" &&
             object["status"]["observedGeneration"] == object["metadata"]["generation"];
    });
  }
  rt::Task<JudgeReport> Judged() {
    const auto report = co_await Judge(files, "", "default", "orders");
    EXPECT_TRUE(report.ok()) << report.error().ToString();
    co_return report.ok() ? *report : JudgeReport();
  }
};

// The spec that a status says was recorded.
inline Value RecordedForTest(const Value& object) {
  const auto parsed = json::Parse(object["status"]["reconciliationStatus"]["lastReconciledSpec"].str());
  return parsed.ok() ? *parsed : Value();
}

inline std::string PathOfSavepoint(const Value& object) {
  return std::string(object["status"]["jobStatus"]["upgradeSavepointPath"].str());
}

// Runs `test`, a coroutine on a PracticeWorld&.
template <class Test>
void InPractice(uint64_t seed, Test test) {
  rt::VirtualLoop loop(seed);
  rt::SimulatedFiles files(loop);
  loop.Run(rt::Do([&]() -> rt::Task<void> {
    auto world = std::make_unique<PracticeWorld>(loop, files);
    co_await test(*world);
    for (auto& member : world->members) co_await member->Stop();
    world->members.clear();
  }));
}

}  // namespace baton::practice
