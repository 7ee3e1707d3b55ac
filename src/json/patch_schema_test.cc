#include "json/patch_schema.h"

#include <gtest/gtest.h>

#include <string_view>
#include <utility>

namespace baton::json {
namespace {

TEST(PatchSchemaTest, ReadsTypesAndFields) {
  const PatchSchemas schemas = *PatchSchemas::Parse(R"(
# a comment
List
  items     merge(name),retainKeys  Item   # another
  names     merge
  selector  replace
  union     retainKeys
  type      Item
Item
  list      List
  plain
)");
  EXPECT_EQ(schemas.size(), 2U);
  const PatchSchema* list = schemas.Find("List");
  ASSERT_NE(list, nullptr);
  EXPECT_EQ(list->name(), "List");
  ASSERT_EQ(list->fields().size(), 5U);

  const PatchField* items = list->Find("items");
  ASSERT_NE(items, nullptr);
  EXPECT_TRUE(items->merge && items->retain_keys && !items->replace);
  EXPECT_EQ(items->merge_key, "name");
  EXPECT_EQ(items->type, schemas.Find("Item"));
  EXPECT_TRUE(list->Find("names")->merge);
  EXPECT_EQ(list->Find("names")->merge_key, "");
  EXPECT_TRUE(list->Find("selector")->replace);
  EXPECT_TRUE(list->Find("union")->retain_keys);
  EXPECT_EQ(list->Find("type")->type, schemas.Find("Item"));
  EXPECT_EQ(list->Find("absent"), nullptr);
  EXPECT_EQ(list->Find(""), nullptr);

  EXPECT_EQ(schemas.Find("Item")->Find("list")->type, list) << "types may form cycles";
  EXPECT_EQ(schemas.Find("Item")->Find("plain")->type, nullptr);
  EXPECT_EQ(schemas.Find("None"), nullptr);
}

TEST(PatchSchemaTest, ErrorsNameTheLine) {
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"  field merge", "patch schema, line 1: a field before the first type"},
      {"A\n  f merg", "patch schema, line 2: unknown patch strategy \"merg\""},
      {"A\n  f merge(", "patch schema, line 2: a merge key is written merge(key), not \"merge(\""},
      {"A\n  f merge()", "patch schema, line 2: a merge key is written merge(key), not \"merge()\""},
      {"A\n  f replace(x)", "patch schema, line 2: a merge key is written merge(key), not \"replace(x)\""},
      {"A\n  f merge,replace", "patch schema, line 2: a field cannot both merge and be replaced"},
      {"A\n  f merge,", "patch schema, line 2: unknown patch strategy \"\""},
      {"A\n  f B", "patch schema, line 2: there is no type \"B\""},
      {"A\n\n  f merge\n  f", "patch schema, line 4: the field \"f\" is given twice"},
      {"A\nB\nA", "patch schema: the type A is given twice"},
      {"a", "patch schema, line 1: a type is one word that begins with an upper-case letter; its fields are indented"},
      {"A B",
       "patch schema, line 1: a type is one word that begins with an upper-case letter; its fields are indented"},
  };
  for (const auto& [text, message] : rows) {
    const Result<PatchSchemas> parsed = PatchSchemas::Parse(text);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_EQ(parsed.error().message(), message);
  }
}

TEST(PatchSchemaTest, AnEmptyTextHasNoTypes) { EXPECT_EQ(PatchSchemas::Parse("")->size(), 0U); }

TEST(KubernetesPatchSchemaTest, KnowsTheBuiltInKinds) {
  const std::pair<std::string_view, std::string_view> kinds[] = {
      {"v1", "Pod"},
      {"v1", "Service"},
      {"v1", "ConfigMap"},
      {"v1", "Secret"},
      {"v1", "ServiceAccount"},
      {"v1", "Node"},
      {"v1", "PersistentVolumeClaim"},
      {"v1", "PersistentVolume"},
      {"v1", "Namespace"},
      {"v1", "Endpoints"},
      {"v1", "ReplicationController"},
      {"v1", "Event"},
      {"v1", "ResourceQuota"},
      {"v1", "LimitRange"},
      {"v1", "PodTemplate"},
      {"apps/v1", "Deployment"},
      {"apps/v1", "StatefulSet"},
      {"apps/v1", "DaemonSet"},
      {"apps/v1", "ReplicaSet"},
      {"apps/v1", "ControllerRevision"},
      {"batch/v1", "Job"},
      {"batch/v1", "CronJob"},
      {"networking.k8s.io/v1", "Ingress"},
      {"networking.k8s.io/v1", "NetworkPolicy"},
      {"policy/v1", "PodDisruptionBudget"},
      {"rbac.authorization.k8s.io/v1", "Role"},
      {"rbac.authorization.k8s.io/v1", "RoleBinding"},
      {"rbac.authorization.k8s.io/v1", "ClusterRole"},
      {"rbac.authorization.k8s.io/v1", "ClusterRoleBinding"},
      {"autoscaling/v2", "HorizontalPodAutoscaler"},
      {"autoscaling/v1", "Scale"},
      {"coordination.k8s.io/v1", "Lease"},
      {"discovery.k8s.io/v1", "EndpointSlice"},
      {"storage.k8s.io/v1", "StorageClass"},
      {"apiextensions.k8s.io/v1", "CustomResourceDefinition"},
  };
  for (const auto& [api_version, kind] : kinds) {
    const PatchSchema* schema = KubernetesPatchSchema(api_version, kind);
    ASSERT_NE(schema, nullptr) << api_version << " " << kind;
    const PatchField* metadata = schema->Find("metadata");
    ASSERT_NE(metadata, nullptr) << kind;
    EXPECT_EQ(metadata->type->Find("ownerReferences")->merge_key, "uid") << kind;
    EXPECT_TRUE(metadata->type->Find("finalizers")->merge) << kind;
    EXPECT_EQ(metadata->type->Find("managedFields"), nullptr) << kind;
  }
}

TEST(KubernetesPatchSchemaTest, KnowsNothingOfOtherKinds) {
  EXPECT_EQ(KubernetesPatchSchema("example.com/v1", "Pod"), nullptr);
  EXPECT_EQ(KubernetesPatchSchema("v1", "Deployment"), nullptr);
  EXPECT_EQ(KubernetesPatchSchema("apps/v1", "pod"), nullptr);
  EXPECT_EQ(KubernetesPatchSchema("apps/v1", ""), nullptr);
  EXPECT_EQ(KubernetesPatchSchema("", "Pod"), nullptr);
  EXPECT_EQ(KubernetesPatchSchema("apps/v1", "DaemonSet ReplicaSet"), nullptr);
}

}  // namespace
}  // namespace baton::json
