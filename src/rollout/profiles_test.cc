// Which workloads must have one writer.
#include "rollout/profiles.h"

#include <gtest/gtest.h>

#include "json/builder.h"
#include "rollout/records.h"

namespace baton::rollout {
namespace {

using json::Object;
using json::Value;

Value Job(std::string_view managed) {
  Value job = Object({{"apiVersion", "flink.apache.org/v1beta1"}, {"kind", "FlinkDeployment"}});
  job.Set("metadata", Object({{"namespace", "shop"}, {"name", "orders"}}));
  if (!managed.empty()) job.Edit("metadata").Set("annotations", Object({{kManagedAnnotation, managed}}));
  return job;
}

Value WriterOfJob(bool claimed) {
  Value writer = Object({{"metadata", Object({{"namespace", "shop"}, {"name", "orders-flinkdeployment"}})}});
  Value& spec = writer.Edit("spec");
  spec.Set("workload", Object({{"kind", "FlinkDeployment"}, {"name", "orders"}}));
  if (claimed) spec.Set("claim", Object({{"migration", "move"}}));
  return writer;
}

TEST(ProfileSetTest, AWorkloadIsManagedUnlessItsTemplateSaysOtherwise) {
  const ProfileSet profiles;
  EXPECT_NE(profiles.Managing(Job("")), nullptr);
  EXPECT_NE(profiles.Managing(Job("true")), nullptr);
  EXPECT_EQ(profiles.Managing(Job("false")), nullptr);
}

TEST(ProfileSetTest, OneThatIsOnItsWayStaysManagedUntilItsMoveHasEnded) {
  ProfileSet profiles;
  profiles.WriterChanged(Value(), WriterOfJob(true));
  EXPECT_NE(profiles.Managing(Job("false")), nullptr);
  EXPECT_EQ(profiles.Asked(Job("false")), nullptr) << "what follows on the move goes by the template";
  profiles.WriterChanged(WriterOfJob(true), WriterOfJob(false));
  EXPECT_EQ(profiles.Managing(Job("false")), nullptr);
}

TEST(ProfileSetTest, AWriterThatIsGoneHoldsNothing) {
  ProfileSet profiles;
  profiles.WriterChanged(Value(), WriterOfJob(true));
  profiles.WriterChanged(WriterOfJob(true), Value());
  EXPECT_EQ(profiles.Managing(Job("false")), nullptr);
}

}  // namespace
}  // namespace baton::rollout
