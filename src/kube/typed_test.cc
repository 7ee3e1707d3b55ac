// Calls with structs: the same calls, the same errors, nothing lost.
#include "kube/typed.h"

#include <gtest/gtest.h>

#include <string>

#include "api/types/coordination_v1.h"
#include "api/types/rollout_v1alpha1.h"
#include "api/types/work_v1alpha2.h"
#include "kube/api_for_test.h"
#include "kube/world_for_test.h"
#include "rt/test_support.h"
#include "rt/virtual_loop.h"

namespace baton::kube {
namespace {

using api::coordination_v1::Lease;
using api::work_v1alpha2::ResourceBinding;

TEST(TypedTest, TheResourceFollowsFromTheStruct) {
  EXPECT_EQ(ResourceOf<ResourceBinding>(), (Resource{.group = "work.karmada.io",
                                                     .version = "v1alpha2",
                                                     .plural = "resourcebindings",
                                                     .kind = "ResourceBinding",
                                                     .namespaced = true}));
  EXPECT_FALSE(ResourceOf<api::rollout_v1alpha1::MigrationProfile>().namespaced);
}

TEST(TypedTest, ObjectsAreMadeReadListedAndChanged) {
  WithServer(1, [](LocalApi& api) -> rt::Task<void> {
    Lease lease;
    lease.metadata.name = "leader";
    lease.metadata.namespace_ = "default";
    lease.spec.emplace().holder_identity = "me";
    lease.spec->lease_duration_seconds = 15;
    const Result<Lease> made = co_await Create(api, lease);
    EXPECT_TRUE(made.ok()) << made.error().ToString();
    EXPECT_TRUE(made->metadata.uid.has_value());

    Result<Lease> read = co_await Get<Lease>(api, {"default", "leader"});
    EXPECT_TRUE(read.ok()) << read.error().ToString();
    EXPECT_EQ(read->spec->holder_identity, "me");
    read->spec->holder_identity = "you";
    const Result<Lease> changed = co_await Update(api, *read);
    EXPECT_TRUE(changed.ok()) << changed.error().ToString();
    EXPECT_EQ(changed->spec->holder_identity, "you");
    EXPECT_EQ(changed->spec->lease_duration_seconds, 15);
    EXPECT_NE(changed->metadata.resource_version, made->metadata.resource_version);

    // Compare-and-swap, as with values.
    EXPECT_EQ((co_await Update(api, *made)).error().kind(), ErrorKind::kConflict);
    EXPECT_EQ((co_await Create(api, lease)).error().kind(), ErrorKind::kAlreadyExists);
    EXPECT_EQ((co_await Get<Lease>(api, {"default", "nobody"})).error().kind(), ErrorKind::kNotFound);

    const Result<ListOf<Lease>> all = co_await List<Lease>(api, {.ns = "default"});
    EXPECT_TRUE(all.ok()) << all.error().ToString();
    EXPECT_EQ(all->items.size(), 1u);
    EXPECT_EQ(all->items[0].spec->holder_identity, "you");
    EXPECT_FALSE(all->resource_version.empty());
  });
}

// What a server answers that does not fit, and what a newer program has written.
TEST(TypedTest, AnAnswerThatDoesNotFitIsAnErrorThatSaysWhere) {
  rt::VirtualLoop loop(1);
  ScriptedApi api(loop);
  const json::Value binding = FromYaml(R"(
apiVersion: work.karmada.io/v1alpha2
kind: ResourceBinding
metadata: {name: web, namespace: blue}
spec: {resource: {apiVersion: apps/v1, kind: Deployment, name: web}, replicas: many}
)");
  api.on_do = [&](Call call, rt::Deadline) -> rt::Task<Result<Answer>> {
    Answer answer;
    answer.object = binding;
    if (call.verb == Verb::kList) answer.items = {binding};
    co_return answer;
  };
  const std::string why = R"(blue/web: ResourceBinding: spec.replicas: "many" is not an integer)";
  EXPECT_EQ(loop.Run(Get<ResourceBinding>(api, {"blue", "web"})).error().message(), why);
  EXPECT_EQ(loop.Run(List<ResourceBinding>(api)).error().message(), why);
  EXPECT_EQ(loop.Run(UpdateStatus(api, ResourceBinding())).error().message(),
            StrCat("was written, but the answer does not fit: ", why));
}

TEST(TypedTest, AnUpdateSendsWhatTheStructDoesNotKnow) {
  rt::VirtualLoop loop(1);
  ScriptedApi api(loop);
  json::Value stored = FromYaml(R"(
apiVersion: work.karmada.io/v1alpha2
kind: ResourceBinding
metadata: {name: web, namespace: blue, resourceVersion: "7"}
spec: {resource: {apiVersion: apps/v1, kind: Deployment, name: web}, replicas: 1, fromTheFuture: {a: [1]}}
)");
  api.on_do = [&](Call call, rt::Deadline) -> rt::Task<Result<Answer>> {
    if (call.IsWrite()) stored = call.body;
    Answer answer;
    answer.object = stored;
    co_return answer;
  };
  json::Value expected = stored;
  expected.Edit("spec").Set("replicas", 2);
  Result<ResourceBinding> binding = loop.Run(Get<ResourceBinding>(api, {"blue", "web"}));
  binding->spec.replicas = 2;
  EXPECT_TRUE(loop.Run(Update(api, *binding)).ok());
  EXPECT_EQ(stored, expected);
}

}  // namespace
}  // namespace baton::kube
