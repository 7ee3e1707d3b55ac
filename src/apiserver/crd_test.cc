// Custom resources from their definition to their end, through the whole backend.
#include "apiserver/crd.h"

#include "api/crd_manifest.h"
#include "apiserver/backend_for_test.h"
#include "apiserver/conditions.h"
#include "base/strings.h"

namespace baton::apiserver {
namespace {

using json::Value;

constexpr std::string_view kCrd = R"(
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, shortNames: [wd], categories: [all]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}, scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}}
    additionalPrinterColumns: [{name: Size, type: integer, jsonPath: .spec.size}]
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [size]
            properties:
              size: {type: integer, minimum: 1}
              color: {type: string, default: blue, enum: [blue, green]}
              replicas: {type: integer}
              extra: {type: object, x-kubernetes-preserve-unknown-fields: true}
          status: {type: object, properties: {replicas: {type: integer}}}
  - name: v1beta1
    served: true
    storage: false
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
)";

rt::Task<void> Establish(World& world, std::string_view yaml, std::string name) {
  const auto made = co_await world.Create(world.Of("apiextensions.k8s.io", "customresourcedefinitions", ""), yaml);
  EXPECT_EQ(Outcome(made), "OK");
  co_await world.Until(world.Of("apiextensions.k8s.io", "customresourcedefinitions", "", name), [](const Value& crd) {
    return FindCondition(crd["status"]["conditions"], "Established")["status"].str() == "True";
  });
}

TEST(CrdTest, ServesItsVersionsWithDefaultsPruningAndValidation) {
  InWorld(1, [](World& world) -> rt::Task<void> {
    co_await Establish(world, kCrd, "widgets.example.com");
    const Target widgets = world.Of("example.com", "widgets", "default");
    const auto made = co_await world.Create(
        widgets, "{metadata: {name: a}, spec: {size: 3, unknown: 1, extra: {kept: 1}}, status: {replicas: 9}}");
    EXPECT_EQ(Outcome(made), "OK");
    EXPECT_EQ(made->value["spec"], FromJson(R"({"size":3,"color":"blue","extra":{"kept":1}})"));
    EXPECT_FALSE(made->value.Has("status"));
    EXPECT_EQ(Outcome(co_await world.Create(widgets, "{metadata: {name: b}, spec: {size: 0, color: red}}")),
              R"(Widget.example.com "b" is invalid: [spec.color: Unsupported value: "red": supported values: "blue", )"
              R"("green", spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1])");
    EXPECT_EQ(Outcome(co_await world.Create(widgets, "{metadata: {name: b}, spec: {}}")),
              R"(Widget.example.com "b" is invalid: spec.size: Required value)");
    // The same object in the other version, converted by its apiVersion alone.
    const ResourceTypePtr beta = world.core.registry().Find("example.com", "v1beta1", "widgets");
    const auto read = co_await world.core.Get({.type = beta, .ns = "default", .name = "a", .subresource = {}});
    EXPECT_EQ(world.core.Decode(read->bytes)["apiVersion"].str(), "example.com/v1beta1");
  });
}

TEST(CrdTest, AManifestMadeFromItsTypesServesTheSameTypes) {
  InWorld(1, [](World& world) -> rt::Task<void> {
    const std::vector<ResourceTypePtr> types = TypesOfCrd(FromYaml(kCrd)).types;
    const Value manifest = api::CrdManifest(types);
    EXPECT_EQ(manifest["metadata"]["name"].str(), "widgets.example.com");
    co_await Establish(world, manifest.ToString(), "widgets.example.com");
    const ResourceTypePtr served = world.core.registry().Find("example.com", "v1", "widgets");
    EXPECT_EQ(served->short_names, types[0]->short_names);
    EXPECT_EQ(served->columns[0].json_path, ".spec.size");
    EXPECT_TRUE(served->has_status && served->scale);
    const auto made = co_await world.Create(world.Of("example.com", "widgets", "default"),
                                            "{metadata: {name: a}, spec: {size: 3, unknown: 1}}");
    EXPECT_EQ(made->value["spec"], FromJson(R"({"size":3,"color":"blue"})"));
    EXPECT_EQ(api::CrdManifest(TypesOfCrd(manifest).types), manifest);
  });
}

TEST(CrdTest, AShortTextThatGetsANulAtItsEndIsAChange) {
  InWorld(1, [](World& world) -> rt::Task<void> {
    co_await Establish(world, kCrd, "widgets.example.com");
    Target widget = world.Of("example.com", "widgets", "default");
    EXPECT_EQ(Outcome(co_await world.Create(widget, "{metadata: {name: a}, spec: {size: 3, extra: {x: ab}}}")), "OK");
    widget.name = "a";
    EXPECT_EQ(
        Outcome(co_await world.Patch(widget, PatchType::kMerge, R"({"spec":{"color":"blue\u0000"}})")),
        R"(Widget.example.com "a" is invalid: spec.color: Unsupported value: "blue\x00": supported values: "blue", )"
        R"("green")");
    EXPECT_EQ(Outcome(co_await world.Patch(widget, PatchType::kMerge, R"({"spec":{"extra":{"x":"ab\u0000"}}})")), "OK");
    const auto live = world.core.Live(*widget.type, "default", "a");
    EXPECT_NE(live->bytes->find(R"("x":"ab\u0000")"), std::string::npos) << *live->bytes;
  });
}

// Patches may nest deeper than a body may, and managedFields are deeper than what they tell of.
TEST(CrdTest, WhatCouldNotBeReadAgainIsNotStored) {
  InWorld(1, [](World& world) -> rt::Task<void> {
    co_await Establish(world, kCrd, "widgets.example.com");
    Target widget = world.Of("example.com", "widgets", "default");
    EXPECT_EQ(Outcome(co_await world.Create(widget, "{metadata: {name: a}, spec: {size: 3}}")), "OK");
    widget.name = "a";
    size_t stored = 0;
    for (const size_t levels :
         {size_t{100}, size_t{900}, json::kMaxDepth - 40, json::kMaxDepth - 10, json::kMaxDepth - 3}) {
      Value deep = json::Object({{"leaf", 1}});
      for (size_t i = 3; i < levels; ++i) deep = json::Object({{"a", std::move(deep)}});
      const Value patch = json::Object({{"spec", json::Object({{"extra", std::move(deep)}})}});
      const auto written = co_await world.core.Patch(widget, PatchType::kMerge, patch, {}, world.caller);
      const auto live = world.core.Live(*widget.type, "default", "a");
      EXPECT_TRUE(json::Parse(*live->bytes).ok()) << levels;
      if (written.ok()) {
        ++stored;
        continue;
      }
      EXPECT_EQ(Outcome(written), StrCat("Request entity too large: nested deeper than ", kObjectDepthMax, " levels"));
    }
    EXPECT_EQ(stored, 3U);
  });
}

TEST(CrdTest, InsistsOnAVersionForUpdates) {
  InWorld(1, [](World& world) -> rt::Task<void> {
    co_await Establish(world, kCrd, "widgets.example.com");
    Value object =
        (co_await world.Create(world.Of("example.com", "widgets", "default"), "{metadata: {name: a}, spec: {size: 3}}"))
            ->value;
    object.Edit("metadata").Erase("resourceVersion");
    EXPECT_EQ(
        Outcome(co_await world.Update(world.Of("example.com", "widgets", "default", "a"), object)),
        R"(widgets.example.com "a" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for )"
        "an update");
  });
}

TEST(CrdTest, WhatIsNotTouchedIsLookedAtAgainWhenTheSchemaHasChanged) {
  InWorld(1, [](World& world) -> rt::Task<void> {
    co_await Establish(world, kCrd, "widgets.example.com");
    Target widget = world.Of("example.com", "widgets", "default");
    const auto made =
        co_await world.Create(widget, "{metadata: {name: a}, spec: {size: 3, replicas: 1, extra: {kept: 1}}}");
    EXPECT_EQ(Outcome(made), "OK");
    widget.name = "a";
    // It has been through a write of this schema, so the next one looks at what it changes.
    EXPECT_EQ(Outcome(co_await world.Patch(widget, PatchType::kMerge, "{spec: {replicas: 2}}")), "OK");
    EXPECT_EQ(Outcome(co_await world.Patch(widget, PatchType::kMerge, "{spec: {size: 0}}")),
              R"(Widget.example.com "a" is invalid: spec.size: Invalid value: 0: spec.size in body should be greater )"
              "than or equal to 1");
    EXPECT_EQ(world.Live(widget)["spec"], FromJson(R"({"size":3,"color":"blue","replicas":2,"extra":{"kept":1}})"));

    const Target crd = world.Of("apiextensions.k8s.io", "customresourcedefinitions", "", "widgets.example.com");
    Value changed = world.Live(crd);
    Value& fields = changed.Edit("spec").Edit("versions").Edit(0).Edit("schema").Edit("openAPIV3Schema");
    Value& spec = fields.Edit("properties").Edit("spec").Edit("properties");
    spec.Erase("extra");
    spec.Set("shape", FromJson(R"({"type":"string","default":"round"})"));
    EXPECT_EQ(Outcome(co_await world.Update(crd, changed)), "OK");
    const ResourceTypePtr before = widget.type;
    while (widget.type == before) {
      co_await world.core.loop().Sleep(milliseconds(10));  // virtual: the controller takes it in
      widget.type = world.core.registry().Find("example.com", "v1", "widgets");
    }
    EXPECT_EQ(Outcome(co_await world.Patch(widget, PatchType::kMerge, "{metadata: {labels: {a: b}}}")), "OK");
    EXPECT_EQ(world.Live(widget)["spec"], FromJson(R"({"size":3,"color":"blue","replicas":2,"shape":"round"})"));
  });
}

TEST(CrdTest, AKeyThatReadsLikeAnotherPlaceIsNotForgivenForIt) {
  InWorld(1, [](World& world) -> rt::Task<void> {
    std::string with_dots(kCrd);
    const std::string_view place = "            required: [size]\n";
    const std::string_view fields = "            properties:\n";
    with_dots.insert(with_dots.find(fields, with_dots.find(place)) + fields.size(),
                     "              extra.x: {type: string, maxLength: 2}\n");
    co_await Establish(world, with_dots, "widgets.example.com");
    const Target widgets = world.Of("example.com", "widgets", "default");
    EXPECT_EQ(Outcome(co_await world.Create(widgets, "{metadata: {name: a}, spec: {size: 3, extra: {x: long}}}")),
              "OK");
    EXPECT_EQ(Outcome(co_await world.Patch(world.Of("example.com", "widgets", "default", "a"), PatchType::kMerge,
                                           "{spec: {extra.x: long}}")),
              R"(Widget.example.com "a" is invalid: spec.extra.x: Too long: may not be more than 2 bytes)");
  });
}

TEST(CrdTest, TakesItsObjectsWithItAndStopsServing) {
  InWorld(2, [](World& world) -> rt::Task<void> {
    co_await Establish(world, kCrd, "widgets.example.com");
    for (const char* name : {"a", "b"}) {
      EXPECT_EQ(Outcome(co_await world.Create(world.Of("example.com", "widgets", "default"),
                                              StrCat("{metadata: {name: ", name, "}, spec: {size: 3}}"))),
                "OK");
    }
    const Target crd = world.Of("apiextensions.k8s.io", "customresourcedefinitions", "", "widgets.example.com");
    EXPECT_FALSE((co_await world.Delete(crd))->gone);
    co_await world.Until(crd, [](const Value& live) { return live.is_null(); });
    EXPECT_EQ(world.core.store().Count("/example.com/"), 0U);
    co_await world.core.loop().Sleep(seconds(1));  // virtual: the controller has seen it go
    EXPECT_EQ(world.core.registry().Find("example.com", "v1", "widgets"), nullptr);
  });
}

TEST(CrdTest, RefusesNamesThatAreTakenAndSaysSo) {
  InWorld(3, [](World& world) -> rt::Task<void> {
    co_await Establish(world, kCrd, "widgets.example.com");
    std::string other(kCrd);
    for (size_t at = 0; (at = other.find("widgets", at)) != std::string::npos; at += 7) other.replace(at, 7, "gadgets");
    const Target crds = world.Of("apiextensions.k8s.io", "customresourcedefinitions", "");
    EXPECT_EQ(Outcome(co_await world.Create(crds, other)), "OK");
    const Target gadgets = world.Of("apiextensions.k8s.io", "customresourcedefinitions", "", "gadgets.example.com");
    co_await world.Until(gadgets, [](const Value& crd) { return crd["status"]["conditions"].size() == 2; });
    const Value accepted = FindCondition(world.Live(gadgets)["status"]["conditions"], "NamesAccepted");
    EXPECT_EQ(accepted["status"].str(), "False");
    EXPECT_EQ(accepted["reason"].str(), "ListKindConflict");
    EXPECT_EQ(world.core.registry().Find("example.com", "v1", "gadgets"), nullptr);
  });
}

TEST(CrdTest, NamesWhatIsWrongWithADefinition) {
  InWorld(1, [](World& world) -> rt::Task<void> {
    const Target crds = world.Of("apiextensions.k8s.io", "customresourcedefinitions", "");
    const std::string message = Outcome(co_await world.Create(crds, R"(
metadata: {name: foos.example.com}
spec: {group: example.com, scope: Everywhere, names: {plural: bars, kind: Foo}, versions: [{name: v1, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}]}
)"));
    for (const char* part :
         {R"(metadata.name: Invalid value: "foos.example.com": must be spec.names.plural+"."+spec.group)",
          R"(spec.scope: Unsupported value: "Everywhere": supported values: "Cluster", "Namespaced")",
          "must have exactly one version marked as storage version"}) {
      EXPECT_TRUE(message.find(part) != std::string::npos) << part << "\n in " << message;
    }
  });
}

TEST(CrdTest, TellsThatCelRulesAreNotEvaluated) {
  InWorld(1, [](World& world) -> rt::Task<void> {
    std::string with_rules(kCrd);
    const std::string_view place = "            required: [size]\n";
    with_rules.insert(with_rules.find(place), "            x-kubernetes-validations: [{rule: self.size > 0}]\n");
    co_await Establish(world, with_rules, "widgets.example.com");
    const Value crd =
        world.Live(world.Of("apiextensions.k8s.io", "customresourcedefinitions", "", "widgets.example.com"));
    EXPECT_EQ(FindCondition(crd["status"]["conditions"], "ValidationRulesSupported")["reason"].str(),
              "CELNotSupported");
  });
}

}  // namespace
}  // namespace baton::apiserver
