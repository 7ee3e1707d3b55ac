// Apply against Karmada's own override manager: same results, same annotations, errors where it has errors.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "json/yaml.h"
#include "overrides/apply.h"
#include "overrides/golden_for_test.h"

namespace baton::overrides {
namespace {

// Where Baton differs on purpose, and why.
const std::map<std::string_view, std::string_view>& Differences() {
  static const std::map<std::string_view, std::string_view> differences{
      {"pinned image, other registry", "Karmada drops the digest, and with it the pin"},
      {"commandOverrider remove from a container without", "Karmada adds an empty command"},
      {"argsOverrider remove from a container without", "Karmada adds empty args"},
      {"json whole document", "Karmada's library patches no document that is a scalar"},
  };
  return differences;
}

// What is wrong in a policy whatever the object is already an error when it is compiled.
Result<Applied> ApplyRow(const json::Value& row) {
  std::vector<Policy> compiled;
  for (const json::Value& policy : row["policies"].items()) compiled.push_back(TRY(CompilePolicy(policy)));
  const Target cluster = Target::FromCluster(Golden()["clusters"][row["cluster"].str()]);
  Applied applied = TRY(Apply(Golden()["objects"][row["object"].str()], cluster, compiled));
  applied.rules.clear();  // they point into `compiled`
  return applied;
}

// A text inside a string keeps its layout here and is printed anew by Karmada: equal when it means the same.
json::Value WithMeanings(json::Value object) {
  if (object["kind"].str() != "ConfigMap") return object;
  for (const std::string_view key : {"config.yaml", "commented.yaml", "config.json", "pretty.json"}) {
    const json::Value text = object["data"][key];
    if (text.is_string()) object.Edit("data").Set(key, json::ParseYaml(text.str()).value());
  }
  return object;
}

TEST(ApplyGoldenTest, GivesWhatKarmadaGives) {
  size_t compared = 0;
  for (const json::Value& row : Golden()["apply"].items()) {
    const std::string name(row["name"].str());
    SCOPED_TRACE(name);
    if (Differences().contains(name)) continue;
    const Result<Applied> applied = ApplyRow(row);
    EXPECT_EQ(applied.ok(), !row.Has("error")) << (applied.ok() ? "no error" : applied.error().message());
    ++compared;
    if (!applied.ok() || row.Has("error")) continue;
    EXPECT_EQ(WithMeanings(applied->object), WithMeanings(row["result"]));
    EXPECT_EQ(applied->overrides, row["overrides"].str());
    EXPECT_EQ(applied->cluster_overrides, row["clusterOverrides"].str());
  }
  EXPECT_GT(compared, 200U);
}

TEST(ApplyGoldenTest, EveryListedDifferenceIsOne) {
  size_t found = 0;
  for (const json::Value& row : Golden()["apply"].items()) {
    const std::string name(row["name"].str());
    if (!Differences().contains(name)) continue;
    SCOPED_TRACE(name);
    ++found;
    const Result<Applied> applied = ApplyRow(row);
    ASSERT_TRUE(applied.ok());
    EXPECT_NE(applied->object, row["result"]);
  }
  EXPECT_EQ(found, Differences().size());
}

}  // namespace
}  // namespace baton::overrides
