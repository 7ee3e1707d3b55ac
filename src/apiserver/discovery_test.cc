// Against the documents of kube-apiserver 1.35 (tests/golden/discovery.json): types are made from what its lists say of
// each resource, and every document must come out again.
#include "apiserver/discovery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "api/builtin_discovery.h"
#include "apiserver/types_for_test.h"
#include "base/strings.h"

namespace baton::apiserver {
namespace {

using json::Object;
using json::Value;

const Value& Golden() {
  static const Value golden = [] {
    std::ifstream file(BATON_SOURCE_DIR "/tests/golden/discovery.json");
    std::stringstream text;
    text << file.rdbuf();
    return FromJson(text.str());
  }();
  return golden;
}

std::vector<std::string> Texts(const Value& array) {
  std::vector<std::string> texts;
  for (const Value& one : array.items()) texts.emplace_back(one.str());
  return texts;
}

// Resources that Kubernetes keeps in another version than the one that is asked for.
const std::map<std::string, std::string, std::less<>> kStoredAs = {
    {"admissionregistration.k8s.io/v1alpha1", "admissionregistration.k8s.io/v1beta1"},
    {"certificates.k8s.io/v1alpha1", "certificates.k8s.io/v1beta1"},
    {"coordination.k8s.io/v1alpha2", "coordination.k8s.io/v1beta1"},
    {"networking.k8s.io/v1beta1", "networking.k8s.io/v1"},
    {"resource.k8s.io/v1beta1", "resource.k8s.io/v1"},
    {"resource.k8s.io/v1beta2", "resource.k8s.io/v1"},
};

void AddSubresource(ResourceType& type, const Value& listed) {
  const std::string_view name = listed["name"].str().substr(type.plural.size() + 1);
  if (name == "status") {
    type.has_status = true;
  } else if (name == "scale") {
    type.scale = api::ScalePaths();
  } else {
    const bool own = listed["kind"].str() == type.kind;
    type.subresources.push_back({.name = std::string(name),
                                 .verbs = Texts(listed["verbs"]),
                                 .kind = own ? "" : std::string(listed["kind"].str()),
                                 .group = std::string(listed["group"].str()),
                                 .version = std::string(listed["version"].str())});
  }
}

std::vector<ResourceType> TypesOf(const Value& list) {
  const std::string_view group_version = list["groupVersion"].str();
  const size_t slash = group_version.find('/');
  const bool core = slash == std::string_view::npos;
  std::vector<ResourceType> types;
  for (const Value& listed : list["resources"].items()) {
    const std::string_view name = listed["name"].str();
    if (name.contains('/')) {
      AddSubresource(types.back(), listed);
      continue;
    }
    ResourceType type = MakeType(core ? "" : group_version.substr(0, slash),
                                 core ? group_version : group_version.substr(slash + 1), listed["kind"].str(), name);
    type.singular = listed["singularName"].str();
    type.namespaced = listed["namespaced"].bool_or(false);
    type.short_names = Texts(listed["shortNames"]);
    type.categories = Texts(listed["categories"]);
    type.stored = listed.Has("storageVersionHash");
    if (listed["verbs"].size() != (type.stored ? 8U : 1U)) type.verbs = Texts(listed["verbs"]);
    if (const auto found = kStoredAs.find(group_version); found != kStoredAs.end()) type.stored_as = found->second;
    if (name == "volumeattributesclasses") type.stored_as = "storage.k8s.io/v1beta1";
    api::FillBuiltinDiscovery(type);  // where each is kept; the rest is as the list has it
    type.subresources.clear();
    types.push_back(std::move(type));
  }
  return types;
}

const Registry& Kubernetes() {
  static const Registry* const registry = [] {
    std::vector<ResourceTypePtr> types;
    for (const json::Member& document : Golden().members()) {
      for (ResourceType& type : TypesOf(document.value())) types.push_back(Share(std::move(type)));
    }
    return new Registry(types);
  }();
  return *registry;
}

TEST(DiscoveryTest, GivesEveryResourceListOfKubernetes) {
  size_t lists = 0;
  for (const json::Member& document : Golden().members()) {
    if (document.value()["kind"].str() != "APIResourceList") continue;
    ++lists;
    const std::vector<std::string_view> parts = Split(document.key(), '/');
    const bool core = parts[1] == "api";
    EXPECT_EQ(ApiResourceList(Kubernetes(), core ? "" : parts[2], core ? parts[2] : parts[3]), document.value())
        << document.key();
  }
  EXPECT_EQ(lists, 36U);
}

TEST(DiscoveryTest, GivesEveryGroupOfKubernetes) {
  size_t groups = 0;
  for (const json::Member& document : Golden().members()) {
    if (document.value()["kind"].str() != "APIGroup") continue;
    ++groups;
    EXPECT_EQ(ApiGroup(Kubernetes(), document.value()["name"].str()), document.value()) << document.key();
  }
  EXPECT_EQ(groups, 22U);
  EXPECT_EQ(ApiGroupList(Kubernetes()), Golden()["/apis"]);
  EXPECT_EQ(ApiVersions()["versions"], Golden()["/api"]["versions"]);
  EXPECT_EQ(ApiVersions()["kind"], Golden()["/api"]["kind"]);
}

TEST(DiscoveryTest, GivesTheAggregatedListOfKubernetes) {
  EXPECT_EQ(AggregatedDiscovery(Kubernetes(), false, "v2"), Golden()["/aggregated_v2"]);

  const Value core = AggregatedDiscovery(Kubernetes(), true, "v2beta1");
  EXPECT_EQ(core["apiVersion"], "apidiscovery.k8s.io/v2beta1");
  ASSERT_EQ(core["items"].size(), 1U);
  EXPECT_EQ(core["items"][0]["metadata"], Object());
  EXPECT_EQ(core["items"][0]["versions"][0]["version"], "v1");
  EXPECT_EQ(core["items"][0]["versions"][0]["resources"][0]["resource"], "bindings");
}

TEST(DiscoveryTest, KnowsOnlyWhatIsServed) {
  EXPECT_TRUE(ApiGroup(Kubernetes(), "none.io").is_null());
  EXPECT_TRUE(ApiGroup(Kubernetes(), "").is_null());
  EXPECT_TRUE(ApiResourceList(Kubernetes(), "apps", "v2").is_null());
  EXPECT_TRUE(ApiResourceList(Kubernetes(), "none.io", "v1").is_null());
  EXPECT_EQ(AggregatedDiscovery(Registry(std::span<const ResourceTypePtr>()), true, "v2")["items"], json::Array());
}

TEST(DiscoveryTest, ListsCustomResourcesAsApiextensionsDoes) {
  ResourceType type = MakeType("stable.example.com", "v1", "Foo", "foos");
  type.custom = true;
  type.short_names = {"fo"};
  type.categories = {"all"};
  type.has_status = true;
  type.scale = api::ScalePaths();
  type.stored_as = "stable.example.com/v2";
  Registry registry{std::span<const ResourceTypePtr>()};
  registry.SetCustom("foos.stable.example.com", {Share(type)});

  EXPECT_EQ(ApiResourceList(registry, "stable.example.com", "v1"), FromJson(R"({
    "kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "stable.example.com/v1", "resources": [
      {"name": "foos", "singularName": "foo", "namespaced": true, "kind": "Foo", "shortNames": ["fo"],
       "verbs": ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"],
       "categories": ["all"], "storageVersionHash": "HON1N03T2TM="},
      {"name": "foos/status", "singularName": "", "namespaced": true, "kind": "Foo",
       "verbs": ["get", "patch", "update"]},
      {"name": "foos/scale", "singularName": "", "namespaced": true, "group": "autoscaling", "version": "v1",
       "kind": "Scale", "verbs": ["get", "patch", "update"]}]})"));
  EXPECT_EQ(AggregatedDiscovery(registry, false, "v2")["items"], FromJson(R"([
    {"metadata": {"name": "stable.example.com"}, "versions": [{"version": "v1", "freshness": "Current", "resources": [
      {"resource": "foos", "singularResource": "foo", "scope": "Namespaced", "shortNames": ["fo"],
       "categories": ["all"],
       "responseKind": {"group": "stable.example.com", "version": "v1", "kind": "Foo"},
       "verbs": ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"],
       "subresources": [
         {"subresource": "status", "verbs": ["get", "patch", "update"],
          "responseKind": {"group": "stable.example.com", "version": "v1", "kind": "Foo"}},
         {"subresource": "scale", "verbs": ["get", "patch", "update"],
          "responseKind": {"group": "autoscaling", "version": "v1", "kind": "Scale"}}]}]}]}])"));
}

TEST(DiscoveryTest, BuiltInSubresourcesAreKubernetes) {
  size_t known = 0;
  for (const ResourceTypePtr& type : Kubernetes().AllTypes()) {
    ResourceType filled = *type;
    filled.subresources.clear();
    api::FillBuiltinDiscovery(filled);
    EXPECT_EQ(filled.verbs, type->verbs);
    for (const api::Subresource& sub : filled.subresources) {
      ++known;
      EXPECT_THAT(type->subresources, testing::Contains(sub)) << type->plural << "/" << sub.name;
    }
  }
  EXPECT_EQ(known, 3U);
}

TEST(DiscoveryTest, ListsTheBuiltInTypesAsKubernetesDoes) {
  const Registry registry;
  for (const ResourceTypePtr& type : registry.AllTypes()) {
    const Value ours = ApiResourceList(registry, type->group, type->version)["resources"];
    const Value theirs = ApiResourceList(Kubernetes(), type->group, type->version)["resources"];
    for (const Value& one : ours.items()) {
      EXPECT_THAT(theirs.items(), testing::Contains(one)) << "is its type made with FillBuiltinDiscovery()?";
    }
  }
}

TEST(DiscoveryTest, SaysWhichKubernetesItIs) {
  const Value version = VersionInfo();
  EXPECT_EQ(version["major"], "1");
  EXPECT_EQ(version["minor"], "35");
  EXPECT_TRUE(version["gitVersion"].str().starts_with("v1.35.0+baton"));
  for (const json::Member& member : version.members()) EXPECT_TRUE(member.value().is_string()) << member.key();
}

}  // namespace
}  // namespace baton::apiserver
