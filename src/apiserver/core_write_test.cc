// Create, update, patch and apply through the whole backend.
#include "apiserver/backend_for_test.h"
#include "base/strings.h"
#include "base/utf8.h"

namespace baton::apiserver {
namespace {

using json::Value;

constexpr std::string_view kDeployment = R"(
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: app, image: 'app:1'}]}
)";

TEST(CoreCreateTest, GivesAnObjectItsServerMetadataAndDefaults) {
  InWorld(1, [](World& world) -> rt::Task<void> {
    const auto made = co_await world.Create(world.Of("apps", "deployments", "default"), kDeployment);
    EXPECT_EQ(Outcome(made), "OK");
    const Value& object = made->value;
    EXPECT_TRUE(made->created);
    EXPECT_EQ(object["apiVersion"].str(), "apps/v1");
    EXPECT_EQ(object["metadata"]["namespace"].str(), "default");
    EXPECT_EQ(object["metadata"]["generation"].int_or(0), 1);
    EXPECT_EQ(object["metadata"]["creationTimestamp"].str(), "2030-01-01T00:00:00Z");
    EXPECT_EQ(object["metadata"]["uid"].str().size(), 36U);
    EXPECT_EQ(object["spec"]["replicas"].int_or(0), 1);
    EXPECT_EQ(object["spec"]["strategy"]["type"].str(), "RollingUpdate");
    EXPECT_EQ(object["metadata"]["managedFields"][0]["manager"].str(), "test");
    // What is answered is what is stored, to the byte, with its own revision inside.
    const auto live = world.core.Live(*world.Type("apps", "deployments"), "default", "web");
    EXPECT_EQ(*live->bytes, *made->object.bytes);
    EXPECT_EQ(object["metadata"]["resourceVersion"].str(), VersionText(live->revision));
  });
}

TEST(CoreCreateTest, RefusesWhatIsThereAlreadyAndWhatHasNoNamespace) {
  InWorld(1, [](World& world) -> rt::Task<void> {
    EXPECT_EQ(Outcome(co_await world.Create(world.ConfigMap(), "metadata: {name: a}")), "OK");
    EXPECT_EQ(Outcome(co_await world.Create(world.ConfigMap(), "metadata: {name: a}")),
              R"(configmaps "a" already exists)");
    EXPECT_EQ(Outcome(co_await world.Create(world.Of("", "configmaps", "nowhere"), "metadata: {name: a}")),
              R"(namespaces "nowhere" not found)");
    EXPECT_EQ(Outcome(co_await world.Create(world.ConfigMap(), "metadata: {name: a, namespace: other}")),
              "the namespace of the provided object does not match the namespace sent on the request");
    EXPECT_EQ(Outcome(co_await world.Create(world.ConfigMap(), "{}")),
              R"(ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required)");
  });
}

TEST(CoreUpdateTest, RefusesManagersWithNamesThatNobodyCouldRead) {
  InWorld(1, [](World& world) -> rt::Task<void> {
    const auto made = co_await world.Create(world.ConfigMap(), "{metadata: {name: a}, data: {a: b}}");
    EXPECT_EQ(Outcome(made), "OK");
    const auto updated = [&](std::string_view field, std::string value) {
      Value object = made->value;
      object.Edit("metadata").Erase("resourceVersion");
      object.Edit("metadata").Edit("managedFields").Edit(0).Set(field, std::move(value));
      return world.Update(world.ConfigMap("a"), object);
    };
    EXPECT_EQ(
        Outcome(co_await updated("manager", std::string(129, 'm'))),
        R"(ConfigMap "a" is invalid: metadata.managedFields[0].manager: Too long: may not be more than 128 bytes)");
    EXPECT_EQ(Outcome(co_await updated("manager", "a\ab")),
              R"(ConfigMap "a" is invalid: metadata.managedFields[0].manager: Invalid value: "a\ab": )"
              "invalid character U+0007 (at position 1)");
    EXPECT_EQ(Outcome(co_await updated("subresource", std::string(257, 's'))),
              R"(ConfigMap "a" is invalid: metadata.managedFields[0].subresource: Too long: may not be more than )"
              "256 bytes");
    EXPECT_EQ(Outcome(co_await updated("manager", std::string(128, 'm'))), "OK");
  });
}

TEST(CoreCreateTest, TellsOnceThatThereAreTooManyControllers) {
  InWorld(1, [](World& world) -> rt::Task<void> {
    Value owners = json::Array();
    for (int i = 0; i < 1000; ++i) {
      owners.Push(json::Object(
          {{"apiVersion", "v1"}, {"kind", "Pod"}, {"name", StrCat("p", i)}, {"uid", "u"}, {"controller", true}}));
    }
    const auto made = co_await world.core.Create(
        world.ConfigMap(), json::Object({{"metadata", json::Object({{"name", "a"}, {"ownerReferences", owners}})}}), {},
        world.caller);
    const std::string told = Outcome(made);
    EXPECT_LT(told.size(), 10'000U);
    EXPECT_TRUE(told.ends_with(R"(Found "true" in references for Pod/p0 and Pod/p1)")) << told;
  });
}

TEST(CoreCreateTest, CutsNamesItMakesUpBetweenCharacters) {
  InWorld(1, [](World& world) -> rt::Task<void> {
    // A role may have any name. 58 bytes of a prefix are kept: the 58th is the first of two.
    world.caller.user.groups = {std::string(kMastersGroup)};
    const std::string kept(57, 'a');
    const Value object = json::Object({{"metadata", json::Object({{"generateName", kept + "\u00e9-"}})}});
    const auto made =
        co_await world.core.Create(world.Of("rbac.authorization.k8s.io", "roles", "default"), object, {}, world.caller);
    EXPECT_EQ(Outcome(made), "OK");
    if (!made.ok()) co_return;
    const std::string_view name = made->value["metadata"]["name"].str();
    EXPECT_TRUE(name.starts_with(kept) && IsUtf8(name)) << name;
    EXPECT_EQ(name.size(), 62U);
  });
}

TEST(CoreCreateTest, StoresOnlyWhatCanBeReadAgain) {
  InWorld(1, [](World& world) -> rt::Task<void> {
    const Value object = FromYaml("{metadata: {name: a}, data: {k: v}}");
    Value bad = object;
    bad.Edit("data").Set("k", "\xff");
    EXPECT_EQ(Outcome(co_await world.core.Create(world.ConfigMap(), bad, {}, world.caller)),
              "the object holds text that is not UTF-8");
    EXPECT_EQ(Outcome(co_await world.core.Create(world.ConfigMap(), object, {}, world.caller)), "OK");
    const auto changed = co_await world.core.Modify(world.ConfigMap("a"), [](const Value& live) {
      Value next = live;
      next.Edit("data").Set("k", "\xff");
      return std::optional(next);
    });
    EXPECT_EQ(Outcome(changed), "the object holds text that is not UTF-8");
    EXPECT_EQ(world.Live(world.ConfigMap("a"))["data"]["k"].str(), "v");
  });
}

TEST(CoreCreateTest, MakesUpNamesThatAreFree) {
  InWorld(1, [](World& world) -> rt::Task<void> {
    std::set<std::string> names;
    for (int i = 0; i < 50; ++i) {
      const auto made = co_await world.Create(world.ConfigMap(), "metadata: {generateName: job-}");
      EXPECT_EQ(Outcome(made), "OK");
      names.emplace(made->value["metadata"]["name"].str());
    }
    EXPECT_EQ(names.size(), 50U);
    EXPECT_TRUE(names.begin()->starts_with("job-"));
    EXPECT_EQ(names.begin()->size(), 9U);
  });
}

TEST(CoreCreateTest, TellsUnknownFieldsAsStrictlyAsItIsAsked) {
  InWorld(1, [](World& world) -> rt::Task<void> {
    constexpr std::string_view kTypo = "{metadata: {name: a, lables: {}}, dta: {x: '1'}}";
    WriteOptions strict{.field_validation = FieldValidation::kStrict};
    EXPECT_EQ(Outcome(co_await world.Create(world.ConfigMap(), kTypo, strict)),
              R"(ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: )"
              R"(unknown field "dta", unknown field "metadata.lables")");
    const auto made = co_await world.Create(world.ConfigMap(), kTypo);
    EXPECT_EQ(Outcome(made), "OK");
    EXPECT_FALSE(made->value.Has("dta"));
    EXPECT_EQ(world.caller.warnings,
              (std::vector<std::string>{R"(unknown field "dta")", R"(unknown field "metadata.lables")"}));
  });
}

TEST(CoreCreateTest, NamesTheFieldWhoseTypeIsWrong) {
  InWorld(1, [](World& world) -> rt::Task<void> {
    EXPECT_EQ(Outcome(co_await world.Create(world.Of("apps", "deployments", "default"),
                                            "{metadata: {name: a}, spec: {replicas: three}}")),
              R"(Deployment in version "v1" cannot be handled as a Deployment: json: cannot unmarshal string into Go )"
              "struct field DeploymentSpec.spec.replicas of type int32");
  });
}

TEST(CoreCreateTest, ChangesNothingInADryRun) {
  InWorld(1, [](World& world) -> rt::Task<void> {
    const Revision before = world.core.store().revision();
    const auto made = co_await world.Create(world.ConfigMap(), "metadata: {name: a}", {.dry_run = true});
    EXPECT_EQ(Outcome(made), "OK");
    EXPECT_TRUE(made->value["metadata"]["resourceVersion"].is_null());
    EXPECT_EQ(world.core.store().revision(), before);
  });
}

TEST(CoreUpdateTest, InsistsOnTheVersionThatTheClientNames) {
  InWorld(1, [](World& world) -> rt::Task<void> {
    const Value first = (co_await world.Create(world.ConfigMap(), "metadata: {name: a}"))->value;
    Value second = first;
    second.Set("data", json::Object({{"x", "1"}}));
    EXPECT_EQ(Outcome(co_await world.Update(world.ConfigMap("a"), second)), "OK");
    second.Set("data", json::Object({{"x", "2"}}));
    EXPECT_EQ(Outcome(co_await world.Update(world.ConfigMap("a"), second)),
              R"(Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your )"
              "changes to the latest version and try again");
    second.Edit("metadata").Erase("resourceVersion");
    EXPECT_EQ(Outcome(co_await world.Update(world.ConfigMap("a"), second)), "OK");
    second.Edit("metadata").Set("uid", "another");
    EXPECT_TRUE(Outcome(co_await world.Update(world.ConfigMap("a"), second)).find("Precondition failed: UID") !=
                std::string::npos);
  });
}

TEST(CoreUpdateTest, WritesNothingWhenNothingChanges) {
  InWorld(1, [](World& world) -> rt::Task<void> {
    const Value object = (co_await world.Create(world.ConfigMap(), "{metadata: {name: a}, data: {x: '1'}}"))->value;
    const Revision before = world.core.store().revision();
    const auto again = co_await world.Update(world.ConfigMap("a"), object);
    EXPECT_EQ(again->value, object);
    EXPECT_EQ(world.core.store().revision(), before);
  });
}

TEST(CoreUpdateTest, CountsGenerationsForTheSpecAndKeepsStatusApart) {
  InWorld(1, [](World& world) -> rt::Task<void> {
    const Target main = world.Of("apps", "deployments", "default", "web");
    const Target status = world.Of("apps", "deployments", "default", "web", "status");
    EXPECT_EQ(Outcome(co_await world.Create(world.Of("apps", "deployments", "default"), kDeployment)), "OK");
    EXPECT_EQ((co_await world.Patch(main, PatchType::kMerge, "metadata: {labels: {a: b}}"))
                  ->value["metadata"]["generation"]
                  .int_or(0),
              1);
    EXPECT_EQ((co_await world.Patch(main, PatchType::kMerge, "{spec: {replicas: 3}, status: {replicas: 9}}"))
                  ->value["metadata"]["generation"]
                  .int_or(0),
              2);
    EXPECT_EQ(world.Live(main)["status"]["replicas"].int_or(0), 0);
    const auto patched = co_await world.Patch(status, PatchType::kMerge,
                                              "{spec: {replicas: 5}, status: {replicas: 3, observedGeneration: 2}}");
    EXPECT_EQ(patched->value["status"]["replicas"].int_or(0), 3);
    EXPECT_EQ(patched->value["spec"]["replicas"].int_or(0), 3);
    EXPECT_EQ(patched->value["metadata"]["generation"].int_or(0), 2);
  });
}

TEST(CorePatchTest, TakesAllFourKinds) {
  InWorld(1, [](World& world) -> rt::Task<void> {
    const Target web = world.Of("apps", "deployments", "default", "web");
    EXPECT_EQ(Outcome(co_await world.Create(world.Of("apps", "deployments", "default"), kDeployment)), "OK");
    auto patched = co_await world.Patch(web, PatchType::kStrategic,
                                        "spec: {template: {spec: {containers: [{name: side, image: 'side:1'}]}}}");
    EXPECT_EQ(patched->value["spec"]["template"]["spec"]["containers"].size(), 2U);
    patched = co_await world.Patch(web, PatchType::kMerge,
                                   "spec: {template: {spec: {containers: [{name: app, image: 'app:2'}]}}}");
    EXPECT_EQ(patched->value["spec"]["template"]["spec"]["containers"].size(), 1U);
    patched = co_await world.Patch(web, PatchType::kJson, R"([{"op":"replace","path":"/spec/replicas","value":4}])");
    EXPECT_EQ(patched->value["spec"]["replicas"].int_or(0), 4);
    const auto applied = co_await world.Patch(
        web, PatchType::kApply, "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 7}}",
        {.field_manager = "gitops"});
    EXPECT_TRUE(Outcome(applied).find("conflict with \"test\"") != std::string::npos) << Outcome(applied);
    const auto forced = co_await world.Patch(
        web, PatchType::kApply, "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 7}}",
        {.field_manager = "gitops", .force = true});
    EXPECT_EQ(forced->value["spec"]["replicas"].int_or(0), 7);
  });
}

TEST(CorePatchTest, AppliesWhatIsNotThereYet) {
  InWorld(1, [](World& world) -> rt::Task<void> {
    const auto made = co_await world.Patch(world.ConfigMap("a"), PatchType::kApply,
                                           "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {x: '1'}}",
                                           {.field_manager = "gitops"});
    EXPECT_EQ(Outcome(made), "OK");
    EXPECT_TRUE(made->created);
    EXPECT_EQ(made->value["metadata"]["managedFields"][0]["operation"].str(), "Apply");
    EXPECT_EQ(Outcome(co_await world.Patch(world.ConfigMap("b"), PatchType::kMerge, "data: {x: '1'}")),
              R"(configmaps "b" not found)");
  });
}

TEST(CorePatchTest, PatchesOfManyClientsAllArrive) {
  InWorld(7, [](World& world) -> rt::Task<void> {
    EXPECT_EQ(Outcome(co_await world.Create(world.ConfigMap(), "metadata: {name: a}")), "OK");
    rt::Scope scope(world.core.loop());
    for (int i = 0; i < 20; ++i) {
      scope.Spawn(rt::Do([&world, i]() -> rt::Task<void> {
        const std::string patch = "data: {k" + std::to_string(i) + ": '1'}";
        EXPECT_EQ(Outcome(co_await world.Patch(world.ConfigMap("a"), PatchType::kMerge, patch)), "OK");
      }));
    }
    co_await scope.Join();
    EXPECT_EQ(world.Live(world.ConfigMap("a"))["data"].size(), 20U);
  });
}

}  // namespace
}  // namespace baton::apiserver
