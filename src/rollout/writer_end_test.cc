// Where a Writer that is being deleted looks.
#include "rollout/writer_end.h"

#include <gtest/gtest.h>

#include "json/yaml.h"

namespace baton::rollout {
namespace {

TEST(WriterEndTest, EveryClusterThatHadItIsNamedOnce) {
  const auto named = [](std::string_view spec) {
    const Result<json::Value> writer = json::ParseYaml(spec);
    EXPECT_TRUE(writer.ok());
    std::string all;
    for (const NamedCluster& one : ClustersNamedBy(*writer)) all += one.name + ":" + one.id + " ";
    return all;
  };
  EXPECT_EQ(named("{spec: {holder: {cluster: blue, clusterID: b}}}"), "blue:b ");
  EXPECT_EQ(named("{spec: {}}"), "");
  EXPECT_EQ(named("{spec: {holder: {cluster: green, clusterID: g}, receipt: {from: blue, fromID: b, to: green, toID: "
                  "g}, receipts: [{from: red, fromID: r, to: blue, toID: b}]}}"),
            "blue:b green:g red:r ");
  // Another cluster of the same name is another one.
  EXPECT_EQ(named("{spec: {holder: {cluster: blue, clusterID: b2}, receipt: {from: red, fromID: r, to: blue, toID: "
                  "b2}, receipts: [{from: blue, fromID: b1, to: red, toID: r}]}}"),
            "blue:b1 blue:b2 red:r ");
}

}  // namespace
}  // namespace baton::rollout
