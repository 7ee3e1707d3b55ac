#include "api/builtin_types.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "api/builtin_texts.h"
#include "api/crd_schema.h"
#include "api/field_set.h"
#include "api/schema_for_test.h"
#include "api/type_text.h"
#include "base/strings.h"
#include "json/builder.h"

namespace baton::api {
namespace {

using json::Member;
using json::Value;

// What Kubernetes' own OpenAPI and discovery documents say, made by scripts/gen-builtin-types.
const Value& Golden() {
  static const Value* const golden = [] {
    std::ifstream file(BATON_SOURCE_DIR "/tests/golden/builtin_types.json");
    std::stringstream text;
    text << file.rdbuf();
    return new Value(FromJson(text.str()));
  }();
  return *golden;
}

ResourceTypePtr Find(std::string_view group, std::string_view kind) {
  for (const ResourceTypePtr& type : BuiltinTypes()) {
    if (type->group == group && type->kind == kind) return type;
  }
  ADD_FAILURE() << group << " " << kind;
  return std::make_shared<ResourceType>();
}

// A rendered schema without its words, and with `required` sorted.
Value Bare(const Value& schema) {
  if (!schema.is_object()) return schema;
  json::ObjectBuilder out;
  for (const Member& member : schema.members()) {
    Value value = member.value();
    if (member.key() == "description") continue;
    if (member.key() == "properties") {
      json::ObjectBuilder fields;
      for (const Member& field : value.members()) fields.Add(field.key(), Bare(field.value()));
      value = std::move(fields).Build();
    }
    if (member.key() == "items" || member.key() == "additionalProperties") value = Bare(value);
    if (member.key() == "required") {
      std::vector<Value> names(value.items().begin(), value.items().end());
      std::ranges::sort(names, [](const Value& a, const Value& b) { return Value::Compare(a, b) < 0; });
      value = json::ArrayBuilder::FromRange(names);
    }
    out.Add(member.key(), std::move(value));
  }
  Value bare = std::move(out).Build();
  return bare.size() == 1 && bare.Has("allOf") ? bare["allOf"][0] : bare;
}

// Kubernetes calls these objects without fields; any field may stand there, and we say so.
bool TakesAnyField(std::string_view name) {
  const std::string_view short_name = name.substr(name.rfind('.') + 1);
  return short_name == "RawExtension" || short_name == "FieldsV1" || short_name == "Patch";
}

TEST(BuiltinTypesTest, EveryTypeIsWhatTheOpenApiOfKubernetesSays) {
  ASSERT_GT(Golden()["schemas"].size(), 390U);
  for (const Member& member : Golden()["schemas"].members()) {
    const SchemaPtr schema = BuiltinSchema(member.key());
    ASSERT_NE(schema, nullptr) << member.key();
    std::map<std::string, SchemaPtr> referenced;
    Value ours = Bare(ToOpenApi(*schema, true, &referenced));
    if (TakesAnyField(member.key())) EXPECT_TRUE(ours.Erase("x-kubernetes-preserve-unknown-fields")) << member.key();
    EXPECT_EQ(ours, member.value()) << member.key();
    for (const auto& [name, inner] : referenced) EXPECT_EQ(inner, BuiltinSchema(name)) << member.key();
  }
}

TEST(BuiltinTypesTest, HasNoTypeThatKubernetesDoesNotHave) {
  std::vector<TypeText> types;
  for (const TypeText& text : BuiltinTexts()) {
    if (text.name.ends_with(".types")) types.push_back(text);
  }
  const Result<TypeTable> table = TypeTable::Parse(types);
  ASSERT_TRUE(table.ok()) << table.error().message();
  for (const std::string_view name : table->Names()) EXPECT_TRUE(Golden()["schemas"].Has(name)) << name;
  EXPECT_EQ(BuiltinSchema("io.k8s.api.core.v1.NoSuchThing"), nullptr);
}

TEST(BuiltinTypesTest, ServesTheKindsAsDiscoveryListsThem) {
  ASSERT_EQ(BuiltinTypes().size(), Golden()["resources"].size());
  std::map<std::string, const Value*> rows;
  for (const Value& row : Golden()["resources"].items()) {
    rows[StrCat(row["apiVersion"].str(), " ", row["kind"].str())] = &row;
  }
  for (const ResourceTypePtr& type : BuiltinTypes()) {
    const std::string name = StrCat(type->ApiVersion(), " ", type->kind);
    ASSERT_TRUE(rows.contains(name)) << name;
    json::ArrayBuilder short_names;
    for (const std::string& one : type->short_names) short_names.Add(one);
    json::ArrayBuilder categories;
    for (const std::string& one : type->categories) categories.Add(one);
    EXPECT_EQ(json::Object({{"apiVersion", type->ApiVersion()},
                            {"kind", type->kind},
                            {"plural", type->plural},
                            {"singular", type->singular},
                            {"namespaced", type->namespaced},
                            {"shortNames", std::move(short_names).Build()},
                            {"categories", std::move(categories).Build()},
                            {"status", type->has_status},
                            {"scale", type->scale.has_value()},
                            {"stored", type->stored},
                            {"schema", type->schema->name}}),
              *rows[name]);
    EXPECT_EQ(type->list_kind, type->kind + "List");
    EXPECT_FALSE(type->custom);
    EXPECT_NE(type->patch_schema, nullptr) << name;
  }
}

TEST(BuiltinTypesTest, IsSortedAndHasEveryPluralOncePerGroup) {
  std::vector<std::string> seen;
  for (const ResourceTypePtr& type : BuiltinTypes())
    seen.push_back(StrCat(type->group, "\n", type->version, "\n", type->plural));
  EXPECT_TRUE(std::ranges::is_sorted(seen));
  EXPECT_EQ(std::ranges::adjacent_find(seen), seen.end());
}

TEST(BuiltinTypesTest, CountsGenerationsWhereTheRegistryOfKubernetesDoes) {
  std::set<std::string> counted;
  for (const ResourceTypePtr& type : BuiltinTypes()) {
    if (type->counts_generations) counted.insert(type->GroupResource());
  }
  EXPECT_EQ(counted, (std::set<std::string>{"customresourcedefinitions.apiextensions.k8s.io", "cronjobs.batch",
                                            "daemonsets.apps", "deployments.apps", "endpointslices.discovery.k8s.io",
                                            "ingressclasses.networking.k8s.io", "ingresses.networking.k8s.io",
                                            "jobs.batch", "mutatingwebhookconfigurations.admissionregistration.k8s.io",
                                            "networkpolicies.networking.k8s.io", "poddisruptionbudgets.policy", "pods",
                                            "podtemplates", "priorityclasses.scheduling.k8s.io", "replicasets.apps",
                                            "replicationcontrollers", "statefulsets.apps",
                                            "validatingwebhookconfigurations.admissionregistration.k8s.io"}));
}

TEST(BuiltinTypesTest, HasTheNameRulesOfKubernetes) {
  for (const ResourceTypePtr& type : BuiltinTypes()) {
    NameRule rule = NameRule::kDnsSubdomain;
    if (type->kind == "Namespace" || type->kind == "StatefulSet") rule = NameRule::kDnsLabel;
    if (type->kind == "Service") rule = NameRule::kDns1035Label;
    if (type->group == "rbac.authorization.k8s.io" || type->kind == "PodDisruptionBudget")
      rule = NameRule::kPathSegment;
    if (type->GroupResource() == "events") rule = NameRule::kPathSegment;
    EXPECT_EQ(type->name_rule, rule) << type->GroupResource();
  }
}

TEST(BuiltinTypesTest, KnowsHowTheListsOfAPodAreKeyed) {
  const SchemaPtr deployment = Find("apps", "Deployment")->schema;
  const Schema* pod = deployment->Property("spec")->Property("template")->Property("spec");
  ASSERT_NE(pod, nullptr);
  const Schema* containers = pod->Property("containers");
  EXPECT_EQ(containers->list_type, ListType::kMap);
  EXPECT_EQ(containers->list_map_keys, std::vector<std::string>{"name"});
  EXPECT_EQ(containers->patch_merge_key, "name");
  const Schema* ports = containers->items->Property("ports");
  EXPECT_EQ(ports->list_type, ListType::kMap);
  EXPECT_EQ(ports->list_map_keys, (std::vector<std::string>{"containerPort", "protocol"}));
  EXPECT_EQ(ports->items->Property("protocol")->default_value, Value("TCP"));
  EXPECT_EQ(pod->Property("nodeSelector")->map_type, MapType::kAtomic);
  EXPECT_EQ(ObjectMetaSchema()->Property("ownerReferences")->list_map_keys, std::vector<std::string>{"uid"});
  EXPECT_EQ(ObjectMetaSchema()->Property("finalizers")->list_type, ListType::kSet);
}

TEST(BuiltinTypesTest, AppliesOwnContainersByNameAndPortsByNumberAndProtocol) {
  const Value object = FromJson(R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},
    "spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"spec":{"nodeSelector":{"x":"y"},"containers":[
      {"name":"c","ports":[{"containerPort":80},{"containerPort":80,"protocol":"UDP"}]}]}}}})");
  const Result<FieldSet> fields = FieldsOf(object, *Find("apps", "Deployment")->schema);
  ASSERT_TRUE(fields.ok()) << fields.error().message();
  EXPECT_EQ(fields->ToFieldsV1()["f:spec"], FromJson(R"({"f:selector":{},"f:template":{"f:spec":{"f:nodeSelector":{},
    "f:containers":{"k:{\"name\":\"c\"}":{".":{},"f:name":{},"f:ports":{
      "k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{}},
      "k:{\"containerPort\":80,\"protocol\":\"UDP\"}":{".":{},"f:containerPort":{},"f:protocol":{}}}}}}}})"));
}

// Where a kind's patch schema (json/kubernetes_patch_schema.cc, written by hand) says something else than its fields
// do.
class PatchSchemaCheck {
 public:
  void Compare(const Schema& schema, const json::PatchSchema* patch, const std::string& path) {
    if (!seen_.emplace(&schema, patch).second) return;
    for (const auto& [name, field] : schema.properties) {
      const json::PatchField* known = patch != nullptr ? patch->Find(name) : nullptr;
      const std::string place = StrCat(path, ".", name);
      const bool same = known == nullptr
                            ? !field->patch_merge && !field->patch_retain_keys && !field->patch_replace
                            : known->merge == field->patch_merge && known->replace == field->patch_replace &&
                                  known->retain_keys == field->patch_retain_keys &&
                                  known->merge_key == field->patch_merge_key;
      if (!same) differences.push_back(place);
      const json::PatchSchema* type = known != nullptr ? known->type : nullptr;
      if (field->type == SchemaType::kObject) {
        Compare(*field, type, place);
      } else if (field->type == SchemaType::kArray && field->patch_merge) {  // others are replaced whole
        Compare(*field->items, type, place + "[]");
      }
    }
  }
  std::vector<std::string> differences;

 private:
  std::set<std::pair<const Schema*, const json::PatchSchema*>> seen_;
};

TEST(BuiltinTypesTest, PatchesMergeAsTheFieldsSay) {
  for (const ResourceTypePtr& type : BuiltinTypes()) {
    PatchSchemaCheck check;
    check.Compare(*type->schema, type->patch_schema, type->kind);
    EXPECT_EQ(check.differences, std::vector<std::string>());
  }
}

constexpr std::string_view kDeployment = R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},
  "spec":{"replicas":2,"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},
    "spec":{"containers":[{"name":"c","image":"i:1","ports":[{"containerPort":80}],
      "resources":{"limits":{"cpu":0.5,"memory":"1Gi"},"requests":{"cpu":1}},
      "livenessProbe":{"httpGet":{"port":"http","path":"/"}}}]}}}})";

TEST(BuiltinTypesTest, AcceptsAnOrdinaryDeployment) {
  const SchemaPtr schema = Find("apps", "Deployment")->schema;
  Value object = FromJson(kDeployment);
  std::vector<std::string> unknown;
  Prune(object, *schema, &unknown);
  EXPECT_EQ(unknown, std::vector<std::string>());
  EXPECT_EQ(Lines(Validate(object, *schema)), std::vector<std::string>());
}

TEST(BuiltinTypesTest, FindsUnknownFieldsAndWrongTypes) {
  const SchemaPtr schema = Find("apps", "Deployment")->schema;
  Value object = FromJson(kDeployment);
  object.Edit("spec").Set("replicaz", 1);
  object.Edit("spec").Edit("template").Edit("spec").Edit("containers").Edit(0).Set("imagee", "x");
  object.Edit("spec").Set("replicas", "2");
  object.Edit("spec")
      .Edit("template")
      .Edit("spec")
      .Edit("containers")
      .Edit(0)
      .Edit("resources")
      .Edit("limits")
      .Set("cpu", "lots");
  std::vector<std::string> unknown;
  Prune(object, *schema, &unknown);
  EXPECT_EQ(unknown, (std::vector<std::string>{"spec.replicaz", "spec.template.spec.containers[0].imagee"}));
  EXPECT_EQ(
      Lines(Validate(object, *schema)),
      (std::vector<std::string>{
          R"(spec.replicas: Invalid value: "string": spec.replicas in body must be of type integer: "string")",
          R"(spec.template.spec.containers[0].resources.limits.cpu: Invalid value: "lots": spec.template.spec.containers[0].resources.limits.cpu in body must be of type quantity: "lots")"}));
}

TEST(BuiltinTypesTest, KeepsWhatHasNoSchemaOfItsOwn) {
  Value revision = FromJson(R"({"data":{"spec":{"a":[1]}},"revision":1})");
  const Value before = revision;
  Prune(revision, *Find("apps", "ControllerRevision")->schema);
  EXPECT_EQ(revision, before);
  Value crd = FromJson(R"({"spec":{"versions":[{"name":"v1","schema":{"openAPIV3Schema":{"type":"object","properties":
    {"a":{"default":{"x":null},"enum":[null,{"y":1}],"items":{"type":"string"},"additionalProperties":{"type":"string"},
      "not":{"properties":{"b":{"minimum":1.5}}}}}}}}]}})");
  const Value crd_before = crd;
  const SchemaPtr schema = Find("apiextensions.k8s.io", "CustomResourceDefinition")->schema;
  std::vector<std::string> unknown;
  Prune(crd, *schema, &unknown);
  EXPECT_EQ(unknown, std::vector<std::string>());
  EXPECT_EQ(crd, crd_before);
}

// Go writes structs and numbers that are not optional even when they are empty; clients see the same from us.
TEST(BuiltinTypesTest, DefaultsShowWhatGoAlwaysWrites) {
  Value service = FromJson(R"({"spec":{"ports":[{"port":80}]}})");
  ApplyDefaults(service, *Find("", "Service")->schema);
  EXPECT_EQ(
      service,
      FromJson(R"({"metadata":{},"spec":{"ports":[{"port":80,"protocol":"TCP"}]},"status":{"loadBalancer":{}}})"));
}

TEST(BuiltinTypesTest, CanBeRenderedInEveryDialectWithoutEnd) {
  const SchemaPtr schema = Find("apiextensions.k8s.io", "CustomResourceDefinition")->schema;
  EXPECT_TRUE(ToCrdSchema(*schema).is_object());
  for (const ResourceTypePtr& type : BuiltinTypes()) {
    std::map<std::string, SchemaPtr> referenced;
    EXPECT_EQ(ToOpenApi(*type->schema, false, &referenced)["type"].str(), "object");
    EXPECT_EQ(referenced.count(type->stored ? "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta" : ""),
              type->stored ? 1U : 0U);
  }
}

TEST(BuiltinTypesTest, SaysInOurWordsWhatEveryKindIs) {
  for (const ResourceTypePtr& type : BuiltinTypes()) {
    EXPECT_NE(type->schema->description, "") << type->GroupResource();
    for (const auto& [field, schema] : type->schema->properties) {
      EXPECT_NE(schema->description, "") << type->GroupResource() << " " << field;
    }
  }
  for (const auto& [field, schema] : ObjectMetaSchema()->properties) EXPECT_NE(schema->description, "") << field;
}

}  // namespace
}  // namespace baton::api
