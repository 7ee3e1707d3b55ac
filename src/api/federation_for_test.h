// Objects of the federation's kinds through the whole of admission, for tests.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/federation_admission.h"
#include "api/federation_types.h"
#include "api/schema_for_test.h"
#include "base/strings.h"
#include "json/merge_patch.h"
#include "json/print.h"
#include "json/yaml.h"

namespace baton::api {

inline json::Value FromYaml(std::string_view text) {
  Result<json::Value> value = json::ParseYaml(text);
  EXPECT_TRUE(value.ok()) << text << "\n" << (value.ok() ? "" : value.error().message());
  return value.ok() ? *value : json::Value();
}

inline constexpr std::string_view kTestUid = "3f2a9c1e-7b64-4d18-9e0f-5a6b7c8d9e0f";

inline FederationContext TestContext() {
  FederationContext context;
  context.new_uid = [] { return std::string(kTestUid); };
  context.now = WallTime(std::chrono::seconds(1'700'000'000));
  return context;
}

// The kind that apiVersion and kind of the object name; a failed test when there is none.
inline ResourceTypePtr TypeOf(const json::Value& object) {
  const std::string_view api_version = object["apiVersion"].str();
  ResourceTypePtr type = FederationType(api_version.substr(0, api_version.find('/')), object["kind"].str());
  EXPECT_NE(type, nullptr) << api_version << " " << object["kind"].str();
  return type;
}

struct Outcome {
  json::Value object;               // as it would be stored
  std::vector<std::string> errors;  // "spec.x: Invalid value: ..."; of the schema first
};

// As a server does it: defaults, mutation, the schema's rules, the kind's rules.
inline Outcome Admit(json::Value object, const json::Value& old = {},
                     const FederationContext& context = TestContext()) {
  const ResourceTypePtr type = TypeOf(object);
  if (type == nullptr) return {};
  ApplyDefaults(object, *type->schema);
  Outcome outcome{.object = *MutateFederation(*type, object, old, context), .errors = {}};
  EXPECT_EQ(*MutateFederation(*type, outcome.object, old, context), outcome.object) << "mutation is not idempotent";
  EXPECT_EQ(*MutateFederation(*type, outcome.object, outcome.object, context), outcome.object)
      << "an update changes it";
  outcome.errors = Lines(Validate(outcome.object, *type->schema));
  for (std::string& line : Lines(FederationErrors(*type, outcome.object, old, context))) outcome.errors.push_back(line);
  return outcome;
}

// A rule as two patches of a valid object: with one it is still valid, with the other it is not, and this is why.
struct RuleRow {
  std::string_view good;
  std::string_view bad;
  std::string_view error;  // all lines, joined by "; "
};

// The lines of tests/golden/federation_rules.jsonl, without who refuses it.
inline const std::set<std::string>& RecordedRules() {
  static const std::set<std::string> rules = [] {
    std::set<std::string> read;
    std::ifstream file(BATON_SOURCE_DIR "/tests/golden/federation_rules.jsonl");
    for (std::string line; std::getline(file, line);) {
      json::Value rule = FromYaml(line);
      rule.Erase("schema");
      read.insert(json::Print(rule));
    }
    return read;
  }();
  return rules;
}

// Every rule is in that file, by which tests/e2e/federation_rules_test.py asks servers what they refuse. With
// BATON_RULES_OUT the rules go to a new one.
inline void RecordRule(const json::Value& good, const json::Value& bad, std::string_view error) {
  const std::string rule = json::Print(json::Object({{"good", good}, {"bad", bad}, {"error", error}}));
  const char* path = std::getenv("BATON_RULES_OUT");  // NOLINT(concurrency-mt-unsafe): tests have one thread here
  if (path != nullptr) {
    std::ofstream(path, std::ios::app) << rule << "\n";
  } else {
    EXPECT_TRUE(RecordedRules().contains(rule)) << "not in tests/golden/federation_rules.jsonl: " << rule;
  }
}

// Of an object as it is created. `base` and patches are YAML.
inline void CheckRules(std::string_view base, std::span<const RuleRow> rows,
                       const FederationContext& context = TestContext()) {
  const json::Value object = FromYaml(base);
  EXPECT_EQ(Join(Admit(object, {}, context).errors, "; "), "") << base;
  for (const RuleRow& row : rows) {
    const json::Value good = json::ApplyMergePatch(object, FromYaml(row.good));
    const json::Value bad = json::ApplyMergePatch(object, FromYaml(row.bad));
    EXPECT_EQ(Join(Admit(good, {}, context).errors, "; "), "") << row.good;
    EXPECT_EQ(Join(Admit(bad, {}, context).errors, "; "), row.error) << row.bad;
    RecordRule(good, bad, row.error);
  }
}

// The same of updates of `base`, as it was admitted before.
inline void CheckUpdateRules(std::string_view base, std::span<const RuleRow> rows) {
  const json::Value old = Admit(FromYaml(base)).object;
  for (const RuleRow& row : rows) {
    const json::Value good = json::ApplyMergePatch(old, FromYaml(row.good));
    const json::Value bad = json::ApplyMergePatch(old, FromYaml(row.bad));
    EXPECT_EQ(Join(Admit(good, old).errors, "; "), "") << row.good;
    EXPECT_EQ(Join(Admit(bad, old).errors, "; "), row.error) << row.bad;
  }
}

}  // namespace baton::api
