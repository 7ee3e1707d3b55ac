// Replays tests/golden/apply.json: sequences of writes with what Kubernetes' own field manager made of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "api/managed_fields.h"
#include "api/openapi_for_test.h"
#include "json/patch_golden.h"
#include "json/print.h"
#include "json/rfc3339.h"

namespace baton::api {
namespace {

using json::Value;

constexpr std::string_view kStart = "2024-01-01T00:00:00Z";
constexpr seconds kStepTime{10};

// Schemas by the golden file's names. "crd" is without apiVersion, kind and metadata, as CRDs are.
std::map<std::string, SchemaPtr> ReadSchemas(const Value& golden) {
  std::map<std::string, SchemaPtr> schemas;
  for (const json::Member& schema : golden["schemas"].members()) {
    Value text = schema.value();
    if (schema.key() == "crd") {
      for (const char* name : {"apiVersion", "kind", "metadata"}) text.Edit("properties").Erase(name);
    }
    schemas.emplace(schema.key(), SchemaForTest(text));
  }
  schemas.emplace("deduced", std::make_shared<const Schema>());
  return schemas;
}

std::vector<std::string> CauseTexts(const Value& error) {
  std::vector<std::string> texts;
  for (const Value& cause : error["causes"].items()) texts.push_back(cause.ToString());
  std::ranges::sort(texts);
  return texts;
}

std::vector<std::string> CauseTexts(const Error& error) {
  std::vector<std::string> texts;
  for (const StatusCause& cause : error.ToStatus().causes) {
    texts.push_back(
        json::Object({{"reason", cause.reason}, {"message", cause.message}, {"field", cause.field}}).ToString());
  }
  std::ranges::sort(texts);
  return texts;
}

void ExpectSameError(const Value& golden, const Result<Value>& ours) {
  ASSERT_FALSE(ours.ok()) << "Kubernetes refuses: " << golden["message"].str() << "\nwe gave " << ours->ToString();
  EXPECT_EQ(ours.error().message(), golden["message"].str());
  EXPECT_EQ(CauseTexts(ours.error()), CauseTexts(golden));
  if (golden.Has("code")) {
    EXPECT_EQ(ours.error().ToStatus().code, golden["code"].int_or(0));
    EXPECT_EQ(ours.error().ToStatus().reason, golden["reason"].str());
  } else {
    EXPECT_EQ(ours.error().kind(), ErrorKind::kInvalid);  // Kubernetes answers 500; it is the caller's mistake
  }
}

FieldManager ManagerOf(const Value& step, size_t index) {
  FieldManager manager;
  manager.name = step["manager"].str();
  manager.api_version = "apps/v1";
  manager.subresource = step["subresource"].str();
  manager.now = *json::ParseTime(kStart) + kStepTime * static_cast<int64_t>(index);
  if (step["reset"].bool_or(false)) manager.reset_fields = ResetFields(manager.subresource);
  return manager;
}

// False when the sequence cannot go on.
bool Replay(const Value& step, size_t index, const Schema& schema, Value& live) {
  const FieldManager manager = ManagerOf(step, index);
  const std::string live_before = live.ToString();
  const std::string sent_before = step["object"].ToString();
  const Result<Value> ours = step["op"].str() == "apply" ? ApplyConfiguration(live, step["object"], schema, manager,
                                                                              step["force"].bool_or(false))
                                                         : TrackUpdate(live, step["object"], schema, manager);
  EXPECT_EQ(live.ToString(), live_before) << "the input changed";
  EXPECT_EQ(step["object"].ToString(), sent_before) << "the input changed";
  if (step.Has("error")) {
    ExpectSameError(step["error"], ours);
    return true;
  }
  EXPECT_TRUE(ours.ok()) << ours.error().ToString();
  if (!ours.ok()) return false;
  EXPECT_EQ(json::PrintPretty(*ours, 1), json::PrintPretty(step["result"], 1)) << "live was " << live_before;
  if (*ours != step["result"]) return false;

  live = *ours;
  if (live["metadata"]["uid"].str().empty()) live.Edit("metadata").Set("uid", "u1");  // as the server does on creation
  if (step["op"].str() != "apply") return true;
  FieldManager later = manager;
  later.now += kStepTime / 2;
  const Result<Value> again = ApplyConfiguration(live, step["object"], schema, later, false);
  // Kubernetes itself has a few states that a second apply changes (a list or map that was emptied is null at first).
  EXPECT_EQ(again.ok() && *again == live, !step["unstable"].bool_or(false)) << "when applying the same again";
  return true;
}

TEST(ApplyGoldenTest, EverySequenceGivesWhatKubernetesGives) {
  const Value golden = json::ReadGolden("apply.json");
  const std::map<std::string, SchemaPtr> schemas = ReadSchemas(golden);
  EXPECT_GE(golden["sequences"].size(), 60U);
  size_t failed = 0;
  for (const Value& sequence : golden["sequences"].items()) {
    const Schema& schema = *schemas.at(std::string(sequence["schema"].str()));
    Value live = sequence["start"];
    for (size_t i = 0; i < sequence["steps"].size(); ++i) {
      SCOPED_TRACE(testing::Message() << sequence["schema"].str() << ": " << sequence["name"].str() << ", step " << i);
      if (!Replay(sequence["steps"][i], i, schema, live)) {
        ++failed;
        break;
      }
    }
    if (failed > 5) break;  // enough to see what is wrong
  }
}

}  // namespace
}  // namespace baton::api
