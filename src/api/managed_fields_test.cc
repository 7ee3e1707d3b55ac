// What ApplyConfiguration and TrackUpdate promise, in small cases that read by themselves. apply_golden_test.cc holds
// them against Kubernetes.
#include "api/managed_fields.h"

#include <gtest/gtest.h>

#include <random>

#include "api/managers_memo.h"
#include "api/openapi_for_test.h"
#include "api/typed.h"
#include "base/strings.h"
#include "json/parse.h"
#include "json/rfc3339.h"

namespace baton::api {
namespace {

using json::Value;

Value Json(std::string_view text) { return json::Parse(text).value(); }

const Schema& AnySchema() {
  static const Schema* const schema = new Schema();
  return *schema;
}

const Schema& CrdSchema() {
  static const SchemaPtr* const schema = new SchemaPtr(SchemaForTest(Json(R"({"type":"object","properties":{
    "spec":{"type":"object","properties":{"replicas":{"type":"integer"},"paused":{"type":"boolean"},
      "zones":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}}}},
    "status":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}})")));
  return **schema;
}

FieldManager By(std::string name, std::string_view time = "2024-01-01T00:00:00Z") {
  FieldManager manager;
  manager.name = std::move(name);
  manager.api_version = "apps/v1";
  manager.now = *json::ParseTime(time);
  return manager;
}

Value Deployment(std::string_view spec) {
  Value object =
      Json(R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"default"}})");
  object.Set("spec", Json(spec));
  return object;
}

// As the server stores it.
Value Stored(Value object) {
  object.Edit("metadata").Set("uid", "u1");
  return object;
}

TEST(ApplyTest, AConflictNamesManagerVersionAndField) {
  const Value live =
      Stored(TrackUpdate({}, Deployment(R"({"replicas":3})"), CrdSchema(), By("kubectl-client-side-apply")).value());
  const Result<Value> applied = ApplyConfiguration(live, Deployment(R"({"replicas":4})"), CrdSchema(), By("b"), false);
  ASSERT_FALSE(applied.ok());
  EXPECT_EQ(applied.error().message(),
            "Apply failed with 1 conflict: conflict with \"kubectl-client-side-apply\" using apps/v1: .spec.replicas");
  EXPECT_EQ(applied.error().kind(), ErrorKind::kConflict);
  const Status status = applied.error().ToStatus();
  EXPECT_EQ(status.code, 409);
  EXPECT_EQ(status.reason, "Conflict");
  EXPECT_EQ(status.causes,
            (std::vector<StatusCause>{{.reason = "FieldManagerConflict",
                                       .message = "conflict with \"kubectl-client-side-apply\" using apps/v1",
                                       .field = ".spec.replicas"}}));
}

TEST(ApplyTest, ConflictsAreListedByManager) {
  Value live = Stored(ApplyConfiguration({}, Deployment(R"({"replicas":3})"), CrdSchema(), By("a"), false).value());
  live.Edit("spec").Set("paused", true);
  live.Edit("spec").Set("zones", Json(R"(["x"])"));
  live = TrackUpdate(ApplyConfiguration({}, Deployment(R"({"replicas":3})"), CrdSchema(), By("a"), false).value(), live,
                     CrdSchema(), By("u"))
             .value();
  const Result<Value> applied =
      ApplyConfiguration(live, Deployment(R"({"replicas":4,"paused":false})"), CrdSchema(), By("b"), false);
  ASSERT_FALSE(applied.ok());
  EXPECT_EQ(applied.error().message(),
            "Apply failed with 2 conflicts: conflicts with \"a\":\n- .spec.replicas\n"
            "conflicts with \"u\" using apps/v1:\n- .spec.paused");
}

TEST(ApplyTest, RefusesConfigurationsThatAreNone) {
  const Value good = Deployment("{}");
  const auto refused = [&](const Value& config) {
    const Result<Value> applied = ApplyConfiguration({}, config, CrdSchema(), By("a"), false);
    return applied.ok() ? std::string("applied") : applied.error().message();
  };
  EXPECT_EQ(refused({}), "an apply configuration is a JSON object");
  EXPECT_EQ(refused(json::Object()), "an apply configuration must name apiVersion and kind");
  Value other = good;
  other.Set("apiVersion", "apps/v2");
  EXPECT_EQ(refused(other), "invalid object type: apps/v2, Kind=Deployment");
  Value nameless = good;
  nameless.Edit("metadata").Erase("name");
  EXPECT_EQ(refused(nameless), "an apply configuration must name metadata.name");
  Value managed = good;
  managed.Edit("metadata").Set("managedFields", json::Array());
  EXPECT_EQ(refused(managed), "metadata.managedFields must be nil");
  EXPECT_EQ(refused(Deployment(R"({"replicas":"3"})")),
            "failed to create typed patch object (default/web; apps/v1, Kind=Deployment): .spec.replicas: expected "
            "numeric (int or float), got string");
  EXPECT_EQ(ApplyConfiguration(Json(R"({"apiVersion":"apps/v1","kind":"Pod"})"), good, CrdSchema(), By("a"), false)
                .error()
                .message(),
            "invalid object type: apps/v1, Kind=Deployment");
}

TEST(ApplyTest, TheSameAgainChangesNothingNotEvenTimes) {
  const Value config = Deployment(R"({"replicas":3,"zones":["b","a"]})");
  const Value once = ApplyConfiguration({}, config, CrdSchema(), By("a"), false).value();
  const Value twice = ApplyConfiguration(once, config, CrdSchema(), By("a", "2025-01-01T00:00:00Z"), false).value();
  EXPECT_EQ(once, twice);
}

TEST(ApplyTest, ADeepConfigurationIsAnErrorNotACrash) {
  Value deep = json::Object();
  for (size_t i = 0; i < kPathElementsMax + 10; ++i) deep = json::Object({{"a", deep}});
  Value config = Deployment("{}");
  config.Set("status", deep);
  for (const Schema* schema : {&AnySchema(), &CrdSchema()}) {
    const Result<Value> applied = ApplyConfiguration({}, config, *schema, By("a"), false);
    ASSERT_FALSE(applied.ok());
    EXPECT_EQ(applied.error().kind(), ErrorKind::kTooLarge);
    EXPECT_EQ(TrackUpdate({}, config, *schema, By("a")).value(), config) << "stored untracked";
  }
}

TEST(ApplyTest, CorruptManagedFieldsOfALiveObjectAreAnError) {
  Value live = Stored(Deployment(R"({"replicas":3})"));
  live.Edit("metadata").Set("managedFields", Json(R"([{"manager":"a","operation":"Guess","apiVersion":"v1"}])"));
  EXPECT_EQ(ApplyConfiguration(live, Deployment("{}"), CrdSchema(), By("a"), false).error().message(),
            "failed to decode managed fields: operation must be `Apply` or `Update`");
}

TEST(TrackUpdateTest, MalformedManagedFieldsOfARequestLeaveTheKeptOnes) {
  const Value live = Stored(TrackUpdate({}, Deployment(R"({"replicas":3})"), CrdSchema(), By("u")).value());
  const std::vector<std::string> malformed = {
      "null",
      "1",
      "\"x\"",
      "{}",
      "[1]",
      "[[]]",
      R"([{"manager":1}])",
      R"([{"manager":"x"}])",
      R"([{"time":"yesterday"}])",
      R"([{"manager":"x","operation":"Apply","apiVersion":"v1"}])",
      R"([{"manager":"x","operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV2"}])",
      R"([{"manager":"x","operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"bad":{}}}])"};
  for (const std::string& text : malformed) {
    Value next = live;
    next.Edit("metadata").Set("managedFields", Json(text));
    EXPECT_EQ(TrackUpdate(live, next, CrdSchema(), By("v")).value(), live) << text;
  }
}

TEST(TrackUpdateTest, StoresWhatDoesNotFitWithoutManagedFields) {
  const Value odd = Deployment(R"({"nope":1})");
  EXPECT_EQ(TrackUpdate({}, odd, CrdSchema(), By("u")).value(), odd);
  EXPECT_FALSE(TrackUpdate({}, json::Array(), CrdSchema(), By("u")).ok());
}

TEST(TrackUpdateTest, TheBucketOfAncientChangesIsNotLost) {
  // The bucket is the second oldest update, so that its own turn to be merged comes.
  Value entries = json::Array();
  for (size_t i = 0; i <= kManagersMax; ++i) {
    entries.Push(json::Object({{"manager", i == 1 ? std::string("ancient-changes") : StrCat("m", i)},
                               {"operation", "Update"},
                               {"apiVersion", "apps/v1"},
                               {"time", StrCat("2023-01-01T00:00:", 10 + i, "Z")},
                               {"fieldsType", "FieldsV1"},
                               {"fieldsV1", json::Object({{StrCat("f:x", i), json::Object()}})}}));
  }
  Value live = Stored(Deployment("{}"));
  live.Edit("metadata").Set("managedFields", entries);
  const Value next = TrackUpdate(live, live, AnySchema(), By("u")).value();
  const Value& kept = next["metadata"]["managedFields"];
  ASSERT_EQ(kept.size(), kManagersMax);
  EXPECT_EQ(kept[0]["manager"].str(), "ancient-changes");
  EXPECT_EQ(kept[0]["fieldsV1"], Json(R"({"f:x0":{},"f:x1":{}})"));
}

// Any JSON, with the names and shapes that the code looks for.
Value RandomJson(std::mt19937& random, int depth) {
  static const std::vector<std::string> kNames = {"spec",  "status",        "metadata",   "replicas",
                                                  "zones", "labels",        "finalizers", "name",
                                                  "uid",   "managedFields", "annotations"};
  switch (random() % (depth > 0 ? 8 : 5)) {
    case 0:
      return {};
    case 1:
      return static_cast<int64_t>(random() % 3);
    case 2:
      return "text";
    case 3:
      return 1.5;
    case 4:
      return true;
    case 5: {
      Value list = json::Array();
      for (size_t i = random() % 3; i > 0; --i) list.Push(RandomJson(random, depth - 1));
      return list;
    }
    default: {
      Value object = json::Object();
      for (size_t i = random() % 5; i > 0; --i) {
        object.Set(kNames[random() % kNames.size()], RandomJson(random, depth - 1));
      }
      return object;
    }
  }
}

TEST(CheckTypedTest, BesideAnObjectThatFitsSaysWhatItSaysAlone) {
  std::mt19937 random(5);
  const TypeRef type = TypeRef::Root(CrdSchema());
  int fit = 0;
  int unfit = 0;
  for (int round = 0; round < 5000; ++round) {
    Value checked = Deployment(R"({"replicas":1,"zones":["a","b"]})");
    checked.Set("status", RandomJson(random, 3));
    if (!checked["status"].is_object() || !CheckTyped(checked, type, true).ok()) continue;
    Value object = checked;
    for (size_t i = random() % 3; i > 0; --i) {
      Value& part = random() % 2 == 0 ? object.Edit("spec") : object;
      constexpr std::string_view kNames[] = {"replicas", "zones", "status", "paused", "metadata"};
      part.Set(kNames[random() % std::size(kNames)], RandomJson(random, 2));
    }
    const bool fits = CheckTyped(object, type, true).ok();
    (fits ? fit : unfit)++;
    EXPECT_EQ(CheckTypedBeside(object, checked, type), fits) << object << checked;
  }
  EXPECT_GT(fit, 200);
  EXPECT_GT(unfit, 200);
}

TEST(TrackUpdateTest, TheSameManagersAgainKeepTheStorageOfTheirFields) {
  Value first = Deployment(R"({"replicas":1,"zones":["a"]})");
  first = Stored(TrackUpdate({}, first, CrdSchema(), By("u")).value());
  Value next = first;
  next.Edit("spec").Set("replicas", 2);
  next = TrackUpdate(first, next, CrdSchema(), By("u", "2024-01-01T00:00:09Z")).value();
  ASSERT_EQ(next["metadata"]["managedFields"].size(), 1);
  const Value& entry = next["metadata"]["managedFields"][0];
  EXPECT_EQ(entry["time"].str(), "2024-01-01T00:00:09Z");
  EXPECT_TRUE(entry["fieldsV1"].SharesStorageWith(first["metadata"]["managedFields"][0]["fieldsV1"]));
  next.Edit("spec").Edit("zones").Push("b");
  const Value grown = TrackUpdate(first, next, CrdSchema(), By("u")).value();
  EXPECT_EQ(grown["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"]["f:zones"].size(), 3) << grown;
}

TEST(ApplyTest, AnyInputGivesAResultAndKeepsInputs) {
  std::mt19937 random(4);
  size_t applied = 0;
  for (int round = 0; round < 20'000; ++round) {
    const Schema& schema = random() % 2 == 0 ? AnySchema() : CrdSchema();
    Value config = RandomJson(random, 4);
    if (config.is_object()) {
      config.Set("apiVersion", "apps/v1");
      config.Set("kind", "Deployment");
      if (config["metadata"].is_object() || config["metadata"].is_null()) config.Edit("metadata").Set("name", "web");
    }
    Value live = RandomJson(random, 4);
    if (live.is_object()) live.Set("kind", "Deployment");
    const std::string before = live.ToString() + config.ToString();
    const Result<Value> result = ApplyConfiguration(live, config, schema, By("a"), random() % 2 == 0);
    applied += result.ok() ? 1 : 0;
    if (result.ok()) {
      const Result<Value> tracked = TrackUpdate(*result, live, schema, By("u"));
      EXPECT_EQ(tracked.ok(), live.is_object());
    }
    ASSERT_EQ(live.ToString() + config.ToString(), before);
  }
  EXPECT_GT(applied, 1000U);
}

// What was written lately is not read again (api/managers_memo.h): that must not be seen in the result.
TEST(TrackUpdateTest, WhatIsRememberedGivesWhatReadingItAnewGives) {
  std::mt19937 random(7);
  const auto below = [&](size_t n) { return static_cast<size_t>(random()) % n; };
  Value live =
      Stored(TrackUpdate({}, Deployment(R"({"replicas":1,"zones":["a"]})"), CrdSchema(), By("creator")).value());
  for (int i = 0; i < 500; ++i) {
    Value next = live;
    if (below(2) == 0) next.Edit("spec").Set("replicas", static_cast<int64_t>(below(3)));
    if (below(3) == 0) next.Edit("spec").Set("paused", below(2) == 0);
    if (below(4) == 0) next.Edit("spec").Edit("zones").Push(StrCat("z", i));
    if (below(5) == 0) next.Edit("status").Set(StrCat("s", below(4)), static_cast<int64_t>(i));
    if (below(9) == 0) next.Edit("spec").Erase("paused");
    if (below(20) == 0) next.Edit("metadata").Set("managedFields", json::Array());
    FieldManager manager = By(StrCat("m", below(14)), StrCat("2024-01-01T00:00:", 10 + below(50), ".25Z"));
    if (below(4) == 0) manager.subresource = "status";
    const bool applies = below(6) == 0;
    const auto write = [&](const Value& before, const Value& after) {
      if (!applies) return TrackUpdate(before, after, CrdSchema(), manager);
      return ApplyConfiguration(before, Deployment(R"({"replicas":2})"), CrdSchema(), manager, true);
    };
    const Result<Value> read_anew = write(Json(live.ToString()), Json(next.ToString()));
    const Result<Value> remembered = write(live, next);
    ASSERT_TRUE(remembered.ok());
    ASSERT_EQ(remembered->ToString(), read_anew->ToString()) << i;
    live = Stored(*remembered);
  }
}

TEST(TrackUpdateTest, WhatHasLongNamesIsNotRemembered) {
  const auto made_by = [](const std::string& name) {
    const Value made = TrackUpdate({}, Deployment(R"({"replicas":1})"), CrdSchema(), By(name)).value();
    return made["metadata"]["managedFields"];
  };
  const Value short_name = made_by("me");
  EXPECT_NE(ManagersMemo::OfThisThread().Find(short_name), nullptr);
  const Value long_name = made_by(std::string(ManagersMemo::kBytesMax, 'm'));
  EXPECT_EQ(ManagersMemo::OfThisThread().Find(long_name), nullptr);
}

TEST(TrackUpdateTest, ATimeBeforeTheFirstWholeSecondIsThatSecond) {
  const std::string earliest = "1677-09-21T00:12:43.5Z";
  Value live = TrackUpdate({}, Deployment(R"({"replicas":1})"), CrdSchema(), By("creator")).value();
  live.Edit("metadata").Edit("managedFields").Edit(0).Set("time", earliest);
  const Value next = TrackUpdate(live, Deployment(R"({"replicas":2})"), CrdSchema(), By("other")).value();
  for (const Value& entry : next["metadata"]["managedFields"].items()) {
    EXPECT_TRUE(json::ParseTime(entry["time"].str()).ok()) << entry["time"];
    if (entry["manager"].str() == "creator") EXPECT_EQ(entry["time"].str(), "1677-09-21T00:12:44Z");
  }
}

}  // namespace
}  // namespace baton::api
