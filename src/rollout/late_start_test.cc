// Versions of one object between two looks.
#include "rollout/late_start.h"

#include <gtest/gtest.h>

#include "json/yaml.h"

namespace baton::rollout {
namespace {

using json::Value;

Value Yaml(std::string_view text) { return *json::ParseYaml(text); }

// What never ran has no status but for what it is doing.
std::shared_ptr<const interpret::Profile> Profile() {
  const auto parsed = interpret::Profile::Compile(Yaml(R"(
apiVersion: rollout.karmada.io/v1alpha1
kind: MigrationProfile
metadata: {name: p}
spec:
  target: {apiVersion: a/v1, kind: K}
  guarantee: FencedOnly
  epoch: /metadata/annotations/rollout.karmada.io~1seq
  hold: [{path: /spec/on, value: false}]
  script: |
    function Judge(object, related, q)
      local status = object.status or {}
      local seen = status.generation == nil or status.generation == object.metadata.generation
      local none = seen and status.deployed == nil
      return {stopProven = none, stopMissing = none and "" or "it was deployed", progress = none and "none" or nil}
    end
)"));
  EXPECT_TRUE(parsed.ok()) << (parsed.ok() ? "" : parsed.error().ToString());
  return parsed.ok() ? *parsed : nullptr;
}

Value Version(int number, std::string_view status, std::string_view more = "", std::string_view uid = "u") {
  return Yaml(StrCat("{apiVersion: a/v1, kind: K, metadata: {name: w, uid: ", uid, ", resourceVersion: '", number,
                     "', generation: 4", more, "}, status: ", status, "}"));
}

constexpr std::string_view kDeleted = ", deletionTimestamp: '2030-01-01T00:00:00Z'";
constexpr MonotonicTime kBegin{};

class LateStartTest : public testing::Test {
 protected:
  void Judged(const Value& object) { late_.Judged("green", object, Profile(), {.stop_seq = 7}); }
  bool GoneAfter(Duration silence) {
    late_.Looked("u", kBegin);
    return late_.WentUnseen("u", kBegin + silence);
  }
  LateStart late_;
};

TEST_F(LateStartTest, WhatWasDeployedWhileNobodyLookedIsTold) {
  Judged(Version(10, "{}"));
  late_.Take("green", Version(11, "{deployed: true}"));
  EXPECT_TRUE(GoneAfter(seconds(30)));
  EXPECT_TRUE(late_.WentUnseen("u", kBegin + minutes(1))) << "once decided it stays";
}

TEST_F(LateStartTest, WhatALookCameToSeeInTimeIsLeftToLooks) {
  Judged(Version(10, "{}"));
  late_.Take("green", Version(11, "{deployed: true}"));
  EXPECT_FALSE(GoneAfter(seconds(1)));
  EXPECT_FALSE(late_.WentUnseen("u", kBegin + minutes(1))) << "it is decided when it is first found gone";
}

TEST_F(LateStartTest, WhatIsNoLaterVersionOfThatObjectTellsNothing) {
  Judged(Version(10, "{}"));
  late_.Take("green", Version(9, "{deployed: true}"));
  late_.Take("green", Version(10, "{deployed: true}"));
  late_.Take("red", Version(11, "{deployed: true}"));
  late_.Take("green", Version(11, "{deployed: true}", "", "v"));
  late_.Take("green", Version(11, "{phase: x}"));
  EXPECT_FALSE(GoneAfter(seconds(30)));
}

TEST_F(LateStartTest, ItsDeletionAloneIsNoStart) {
  Judged(Version(10, "{generation: 4}"));
  late_.Take("green", Yaml(StrCat("{apiVersion: a/v1, kind: K, metadata: {name: w, uid: u, resourceVersion: '11', ",
                                  "generation: 5", kDeleted, "}, status: {generation: 4}}")));
  EXPECT_FALSE(GoneAfter(seconds(30)));
}

TEST_F(LateStartTest, ALaterLookThatSaysItNeverStartedCountsMore) {
  Judged(Version(10, "{}"));
  late_.Take("green", Version(11, "{deployed: true}"));
  Judged(Version(12, "{}"));
  EXPECT_FALSE(GoneAfter(seconds(30)));
}

TEST_F(LateStartTest, WhatWasNeverJudgedSoIsNotWatched) {
  Judged(Version(10, "{deployed: true}"));
  late_.Take("green", Version(11, "{deployed: true}"));
  EXPECT_FALSE(GoneAfter(seconds(30)));
}

}  // namespace
}  // namespace baton::rollout
