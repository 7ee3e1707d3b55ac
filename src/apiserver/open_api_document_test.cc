#include "apiserver/open_api_document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>

#include "api/crd_schema.h"
#include "apiserver/open_api_definitions.h"
#include "apiserver/types_for_test.h"
#include "base/strings.h"
#include "json/print.h"

namespace baton::apiserver {
namespace {

using api::PropertyMap;
using api::Schema;
using api::SchemaPtr;
using api::SchemaType;
using json::Value;
using testing::ElementsAre;

SchemaPtr Named(std::string_view name, PropertyMap properties) {
  auto schema = std::make_shared<Schema>();
  schema->type = SchemaType::kObject;
  schema->name = name;
  schema->properties = std::move(properties);
  return schema;
}

SchemaPtr Text() {
  auto schema = std::make_shared<Schema>();
  schema->type = SchemaType::kString;
  return schema;
}

ResourceType Deployments() {
  ResourceType type = MakeType("apps", "v1", "Deployment", "deployments");
  type.has_status = true;
  type.scale = api::ScalePaths();
  type.patch_schema = json::KubernetesPatchSchema("apps/v1", "Deployment");
  const SchemaPtr spec = Named("io.k8s.api.apps.v1.DeploymentSpec", {{"name", Text()}});
  type.schema = Named("io.k8s.api.apps.v1.Deployment", {{"apiVersion", Text()}, {"kind", Text()}, {"spec", spec}});
  return type;
}

ResourceType Foos(std::string_view schema) {
  ResourceType type = MakeType("stable.example.com", "v1", "Foo", "foos");
  type.custom = true;
  type.namespaced = false;
  const api::CrdSchemaResult read = api::ReadCrdSchema(FromJson(schema), "schema");
  EXPECT_TRUE(read.errors.empty()) << schema;
  type.schema = read.schema;
  return type;
}

ResourceType Reviews() {
  ResourceType type = MakeType("authorization.k8s.io", "v1", "SubjectAccessReview", "subjectaccessreviews");
  type.stored = false;
  type.namespaced = false;
  type.schema = Named("io.k8s.api.authorization.v1.SubjectAccessReview", {});
  return type;
}

ResourceType Accounts() {
  ResourceType type = MakeType("", "v1", "ServiceAccount", "serviceaccounts");
  type.schema = Named("io.k8s.api.core.v1.ServiceAccount", {});
  type.subresources = {{.name = "token",
                        .verbs = {"create"},
                        .kind = "TokenRequest",
                        .group = "authentication.k8s.io",
                        .version = "v1"}};
  return type;
}

constexpr std::string_view kFooSchema = R"({"type":"object","properties":{
    "metadata":{"type":"object"},
    "spec":{"type":"object","required":["size"],"properties":{
      "size":{"type":"integer","minimum":1,"anyOf":[{"minimum":2},{"maximum":1}]},
      "maybe":{"type":"string","nullable":true},
      "port":{"x-kubernetes-int-or-string":true}}}}})";

Registry Some(std::string_view foo_schema = kFooSchema) {
  const std::vector<ResourceTypePtr> built_in = {Share(Deployments()), Share(Reviews()), Share(Accounts())};
  Registry registry(built_in);
  registry.SetCustom("foos.stable.example.com", {Share(Foos(foo_schema))});
  return registry;
}

std::vector<std::string> Keys(const Value& object) {
  std::vector<std::string> keys;
  for (const json::Member& member : object.members()) keys.emplace_back(member.key());
  return keys;
}

std::vector<std::string> Names(const Value& parameters) {
  std::vector<std::string> names;
  for (const Value& one : parameters.items()) {
    names.emplace_back(one.Has("$ref") ? one["$ref"].str() : one["name"].str());
  }
  return names;
}

void CollectRefs(const Value& value, std::set<std::string>& refs) {
  if (const Value* ref = value.Find("$ref"); ref != nullptr && ref->is_string()) refs.emplace(ref->str());
  for (const json::Member& member : value.members()) CollectRefs(member.value(), refs);
  for (const Value& item : value.items()) CollectRefs(item, refs);
}

// Every reference must lead somewhere: clients refuse the whole document otherwise.
void ExpectWhole(const Value& document, bool v3) {
  std::set<std::string> refs;
  CollectRefs(document, refs);
  EXPECT_FALSE(refs.empty());
  for (const std::string& ref : refs) {
    const std::vector<std::string_view> parts = Split(ref, '/');
    const Value& found = v3 ? document[parts[1]][parts[2]][parts[3]] : document[parts[1]][parts[2]];
    EXPECT_TRUE(found.is_object()) << ref;
  }
}

TEST(OpenApiDocumentTest, EveryReferenceLeadsSomewhere) {
  const Registry registry = Some();
  ExpectWhole(OpenApiV2(registry), false);
  const Value index = OpenApiV3Index(registry);
  for (const json::Member& path : index["paths"].members()) ExpectWhole(OpenApiV3(registry, path.key()), true);
}

TEST(OpenApiDocumentTest, PathsAreWhereTheResourcesAre) {
  EXPECT_THAT(Keys(OpenApiV2(Some())["paths"]),
              ElementsAre("/api/v1/namespaces/{namespace}/serviceaccounts",
                          "/api/v1/namespaces/{namespace}/serviceaccounts/{name}",
                          "/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token", "/api/v1/serviceaccounts",
                          "/apis/apps/v1/deployments", "/apis/apps/v1/namespaces/{namespace}/deployments",
                          "/apis/apps/v1/namespaces/{namespace}/deployments/{name}",
                          "/apis/apps/v1/namespaces/{namespace}/deployments/{name}/scale",
                          "/apis/apps/v1/namespaces/{namespace}/deployments/{name}/status",
                          "/apis/authorization.k8s.io/v1/subjectaccessreviews", "/apis/stable.example.com/v1/foos",
                          "/apis/stable.example.com/v1/foos/{name}"));
}

// path, method, operationId, action, kind, parameters
struct Row {
  std::string_view path;
  std::string_view method;
  std::string_view id;
  std::string_view action;
  std::string_view kind;
  std::vector<std::string> parameters;
};

TEST(OpenApiDocumentTest, OperationsSayWhatTheyDo) {
  const std::string one = "/apis/apps/v1/namespaces/{namespace}/deployments/{name}";
  const std::string all = "/apis/apps/v1/namespaces/{namespace}/deployments";
  const std::string token = "/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token";
  const std::vector<Row> rows = {
      {one, "get", "readAppsV1NamespacedDeployment", "get", "apps/v1/Deployment", {}},
      {one,
       "put",
       "replaceAppsV1NamespacedDeployment",
       "put",
       "apps/v1/Deployment",
       {"body", "dryRun", "#/parameters/fieldManager", "fieldValidation"}},
      {one,
       "patch",
       "patchAppsV1NamespacedDeployment",
       "patch",
       "apps/v1/Deployment",
       {"body", "dryRun", "#/parameters/fieldManager", "fieldValidation", "#/parameters/force"}},
      {one,
       "delete",
       "deleteAppsV1NamespacedDeployment",
       "delete",
       "apps/v1/Deployment",
       {"body", "dryRun", "#/parameters/gracePeriodSeconds", "#/parameters/orphanDependents",
        "#/parameters/propagationPolicy"}},
      {all,
       "post",
       "createAppsV1NamespacedDeployment",
       "post",
       "apps/v1/Deployment",
       {"body", "dryRun", "#/parameters/fieldManager", "fieldValidation"}},
      {"/apis/apps/v1/namespaces/{namespace}/deployments/{name}/scale",
       "patch",
       "patchAppsV1NamespacedDeploymentScale",
       "patch",
       "autoscaling/v1/Scale",
       {"body", "dryRun", "#/parameters/fieldManager", "fieldValidation", "#/parameters/force"}},
      {token,
       "post",
       "createCoreV1NamespacedServiceAccountToken",
       "post",
       "authentication.k8s.io/v1/TokenRequest",
       {"body", "dryRun", "#/parameters/fieldManager", "fieldValidation"}},
      {"/apis/authorization.k8s.io/v1/subjectaccessreviews",
       "post",
       "createAuthorizationV1SubjectAccessReview",
       "post",
       "authorization.k8s.io/v1/SubjectAccessReview",
       {"body", "dryRun", "#/parameters/fieldManager", "fieldValidation"}},
      {"/apis/stable.example.com/v1/foos/{name}",
       "patch",
       "patchStableExampleComV1Foo",
       "patch",
       "stable.example.com/v1/Foo",
       {"body", "dryRun", "#/parameters/fieldManager", "fieldValidation", "#/parameters/force"}},
  };
  const Value document = OpenApiV2(Some());
  for (const Row& row : rows) {
    const Value& operation = document["paths"][row.path][row.method];
    EXPECT_EQ(operation["operationId"].str(), row.id);
    EXPECT_EQ(operation["x-kubernetes-action"].str(), row.action) << row.id;
    const Value& kind = operation["x-kubernetes-group-version-kind"];
    EXPECT_EQ(StrCat(kind["group"].str(), "/", kind["version"].str(), "/", kind["kind"].str()), row.kind) << row.id;
    EXPECT_EQ(Names(operation["parameters"]), row.parameters) << row.id;
  }
  EXPECT_EQ(document["paths"][all]["get"]["operationId"], "listAppsV1NamespacedDeployment");
  EXPECT_EQ(document["paths"][all]["delete"]["operationId"], "deleteAppsV1CollectionNamespacedDeployment");
  EXPECT_EQ(document["paths"]["/apis/apps/v1/deployments"]["get"]["operationId"],
            "listAppsV1DeploymentForAllNamespaces");
  EXPECT_THAT(Keys(document["paths"]["/apis/authorization.k8s.io/v1/subjectaccessreviews"]),
              ElementsAre("parameters", "post"));
}

TEST(OpenApiDocumentTest, OnlyKindsWithAPatchSchemaTakeStrategicMerges) {
  const Value document = OpenApiV2(Some());
  const auto consumed = [&](std::string_view path) {
    return document["paths"][path]["patch"]["consumes"].ToString().contains("strategic");
  };
  EXPECT_TRUE(consumed("/apis/apps/v1/namespaces/{namespace}/deployments/{name}"));
  EXPECT_FALSE(consumed("/apis/stable.example.com/v1/foos/{name}"));
}

TEST(OpenApiDocumentTest, KindsSayThatTheyAre) {
  const Value definitions = OpenApiV2(Some())["definitions"];
  const auto kinds = [&](std::string_view name) {
    return definitions[name]["x-kubernetes-group-version-kind"].ToString();
  };
  EXPECT_EQ(kinds("io.k8s.api.apps.v1.Deployment"), R"([{"group":"apps","kind":"Deployment","version":"v1"}])");
  EXPECT_EQ(kinds("io.k8s.api.apps.v1.DeploymentList"), R"([{"group":"apps","kind":"DeploymentList","version":"v1"}])");
  EXPECT_EQ(kinds("io.k8s.api.apps.v1.DeploymentSpec"), "null");
  EXPECT_EQ(kinds("io.k8s.api.autoscaling.v1.Scale"), R"([{"group":"autoscaling","kind":"Scale","version":"v1"}])");
  EXPECT_EQ(kinds("io.k8s.apimachinery.pkg.apis.meta.v1.Status"), R"([{"group":"","kind":"Status","version":"v1"}])");
  EXPECT_EQ(definitions["io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions"]["x-kubernetes-group-version-kind"].size(),
            4U);
  EXPECT_EQ(kinds("com.example.stable.v1.Foo"), R"([{"group":"stable.example.com","kind":"Foo","version":"v1"}])");
  EXPECT_EQ(definitions["com.example.stable.v1.FooList"]["properties"]["items"]["items"]["$ref"],
            "#/definitions/com.example.stable.v1.Foo");
  EXPECT_EQ(definitions["io.k8s.api.apps.v1.Deployment"]["properties"]["spec"]["$ref"],
            "#/definitions/io.k8s.api.apps.v1.DeploymentSpec");
}

TEST(OpenApiDocumentTest, CustomKindsHaveNothingInV2ThatV2CannotSay) {
  const Registry registry = Some();
  const Value v2 = OpenApiV2(registry)["definitions"]["com.example.stable.v1.Foo"];
  EXPECT_EQ(v2["properties"]["metadata"]["$ref"], "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta");
  EXPECT_EQ(v2["properties"]["kind"]["type"], "string");
  EXPECT_EQ(v2["properties"]["spec"]["properties"], FromJson(R"({"size":{"type":"integer","minimum":1},"maybe":{},
                         "port":{"x-kubernetes-int-or-string":true}})"));
  const Value v3 =
      OpenApiV3(registry, "apis/stable.example.com/v1")["components"]["schemas"]["com.example.stable.v1.Foo"];
  EXPECT_EQ(v3["properties"]["metadata"]["allOf"][0]["$ref"],
            "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta");
  EXPECT_EQ(v3["properties"]["spec"]["properties"],
            FromJson(R"({"size":{"type":"integer","minimum":1,"anyOf":[{"minimum":2},{"maximum":1}]},
                         "maybe":{"type":"string","nullable":true},"port":{"x-kubernetes-int-or-string":true}})"));
}

TEST(OpenApiDocumentTest, FreeCustomKindsAreFreeInV2) {
  const Registry registry =
      Some(R"({"type":"object","x-kubernetes-preserve-unknown-fields":true,"properties":{"a":{"type":"string"}}})");
  const Value v2 = OpenApiV2(registry)["definitions"]["com.example.stable.v1.Foo"];
  EXPECT_THAT(Keys(v2), ElementsAre("type", "x-kubernetes-group-version-kind", "x-kubernetes-preserve-unknown-fields"));
  const Value v3 =
      OpenApiV3(registry, "apis/stable.example.com/v1")["components"]["schemas"]["com.example.stable.v1.Foo"];
  EXPECT_EQ(v3["properties"]["a"]["type"], "string");
}

TEST(OpenApiDocumentTest, ACustomKindCannotTakeTheNameOfABuiltInOne) {
  const std::vector<ResourceTypePtr> built_in = {Share(Deployments())};
  Registry registry(built_in);
  ResourceType false_one = MakeType("apps.api.k8s.io", "v1", "Deployment", "deployments");
  false_one.custom = true;
  registry.SetCustom("deployments.apps.api.k8s.io", {Share(false_one)});
  const Value definitions = OpenApiV2(registry)["definitions"];
  EXPECT_EQ(definitions["io.k8s.api.apps.v1.Deployment"]["x-kubernetes-group-version-kind"][0]["group"], "apps");
  EXPECT_EQ(definitions["io.k8s.api.apps.v1.Deployment_"]["x-kubernetes-group-version-kind"][0]["group"],
            "apps.api.k8s.io");
}

TEST(OpenApiDocumentTest, V3HasADocumentForEachGroupAndVersion) {
  Registry registry = Some();
  const Value index = OpenApiV3Index(registry)["paths"];
  EXPECT_THAT(Keys(index),
              ElementsAre("api/v1", "apis/apps/v1", "apis/authorization.k8s.io/v1", "apis/stable.example.com/v1"));
  EXPECT_TRUE(index["api/v1"]["serverRelativeURL"].str().starts_with("/openapi/v3/api/v1?hash="));

  // The hash tells whether a document is still what it was.
  registry.SetCustom("foos.stable.example.com", {Share(Foos(R"({"type":"object"})"))});
  const Value after = OpenApiV3Index(registry)["paths"];
  EXPECT_EQ(after["apis/apps/v1"], index["apis/apps/v1"]);
  EXPECT_NE(after["apis/stable.example.com/v1"], index["apis/stable.example.com/v1"]);

  for (const std::string_view path :
       {"", "api", "apis", "api/v2", "apis//v1", "apis/apps", "apis/apps/v2", "api/v1/", "apis/apps/v1/x", "version"}) {
    EXPECT_TRUE(OpenApiV3(registry, path).is_null()) << path;
  }
}

TEST(OpenApiDocumentTest, V3OperationsHaveBodiesAndInlineParameters) {
  const Value document = OpenApiV3(Some(), "apis/apps/v1");
  EXPECT_EQ(document["openapi"], "3.0.0");
  const Value& patch = document["paths"]["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]["patch"];
  EXPECT_THAT(Names(patch["parameters"]), ElementsAre("dryRun", "fieldManager", "fieldValidation", "force"));
  EXPECT_EQ(patch["parameters"][0]["schema"]["type"], "string");
  EXPECT_THAT(Keys(patch["requestBody"]["content"]),
              ElementsAre("application/apply-patch+yaml", "application/json-patch+json", "application/merge-patch+json",
                          "application/strategic-merge-patch+json"));
  EXPECT_EQ(patch["responses"]["200"]["content"]["application/json"]["schema"]["$ref"],
            "#/components/schemas/io.k8s.api.apps.v1.Deployment");
  EXPECT_FALSE(patch.Has("consumes"));
}

TEST(OpenApiDocumentTest, GroupsAreReversed) {
  EXPECT_EQ(ReversedGroup("stable.example.com"), "com.example.stable");
  EXPECT_EQ(ReversedGroup("acme"), "acme");
  EXPECT_EQ(ReversedGroup(""), "core");
}

}  // namespace
}  // namespace baton::apiserver
