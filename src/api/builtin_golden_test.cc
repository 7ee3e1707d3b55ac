// Built-in kinds against a real kube-apiserver: tests/golden/builtin.json, made by tests/golden/gen_builtin.py.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "api/builtin_behaviour.h"
#include "base/strings.h"
#include "json/parse.h"
#include "json/rfc3339.h"

namespace baton::api {
namespace {

using json::Value;

constexpr std::string_view kUid = "00000000-0000-4000-8000-000000000001";

const Value& Rows() {
  static const Value rows = [] {
    std::ifstream file(BATON_SOURCE_DIR "/tests/golden/builtin.json");
    std::string text{std::istreambuf_iterator<char>(file), {}};
    return json::Parse(text).value();
  }();
  return rows;
}

BuiltinBehaviour Of(const Value& object) {
  const std::string_view version = object["apiVersion"].str();
  const size_t slash = version.find('/');
  return BehaviourOf(slash == std::string_view::npos ? "" : version.substr(0, slash), object["kind"].str());
}

// What an allocator or a clock gives is none of this module's.
Value Comparable(Value object) {
  if (object["metadata"].is_object()) {
    object.Edit("metadata").Erase("namespace");
    object.Edit("metadata").Erase("uid");
  }
  const std::string_view kind = object["kind"].str();
  if (kind == "Service" && object["spec"].is_object()) {
    Value& spec = object.Edit("spec");
    for (std::string_view field : {"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "healthCheckNodePort"})
      spec.Erase(field);
    for (size_t i = 0; i < spec["ports"].size(); ++i) spec.Edit("ports").Edit(i).Erase("nodePort");
  }
  if (kind == "Pod" && object["status"]["conditions"].is_array()) {
    Value& conditions = object.Edit("status").Edit("conditions");
    for (size_t i = 0; i < conditions.size(); ++i) conditions.Edit(i).Erase("lastTransitionTime");
  }
  if (kind == "PersistentVolume" && object["status"].is_object()) {
    object.Edit("status").Erase("lastPhaseTransitionTime");
  }
  if (kind == "CustomResourceDefinition") object.Erase("status");
  return object;
}

// Where two values differ, for people.
void Differences(const Value& ours, const Value& theirs, const std::string& path, std::string& out, int depth = 0) {
  if (ours == theirs || depth > 30) return;
  if (ours.is_object() && theirs.is_object()) {
    std::set<std::string> keys;
    for (const json::Member& m : ours.members()) keys.emplace(m.key());
    for (const json::Member& m : theirs.members()) keys.emplace(m.key());
    for (const std::string& key : keys) {
      const std::string child = StrCat(path, ".", key);
      if (!ours.Has(key)) StrAppend(out, "  we have no ", child, " = ", theirs[key].ToString(), "\n");
      if (!theirs.Has(key)) StrAppend(out, "  only we have ", child, " = ", ours[key].ToString(), "\n");
      if (ours.Has(key) && theirs.Has(key)) Differences(ours[key], theirs[key], child, out, depth + 1);
    }
  } else if (ours.is_array() && theirs.is_array() && ours.size() == theirs.size()) {
    for (size_t i = 0; i < ours.size(); ++i) {
      Differences(ours[i], theirs[i], StrCat(path, "[", i, "]"), out, depth + 1);
    }
  } else {
    StrAppend(out, "  ", path, ": ours ", ours.ToString(), ", theirs ", theirs.ToString(), "\n");
  }
}

std::vector<std::string> Lines(const std::vector<FieldError>& errors) {
  std::vector<std::string> lines;
  for (const FieldError& error : errors)
    lines.push_back(StrCat(error.field, ": ", error.reason(), ": ", error.message));
  std::ranges::sort(lines);
  return lines;
}

std::vector<std::string> GoldenLines(const Value& errors) {
  std::vector<std::string> lines;
  for (const Value& error : errors.items()) {
    // Some messages end in a diff of Go structs, from a new line on: ours do not.
    const std::string_view message = error[2].str().substr(0, error[2].str().find('\n'));
    lines.push_back(StrCat(error[size_t{0}].str(), ": ", error[1].str(), ": ", message));
  }
  std::ranges::sort(lines);
  return lines;
}

// What is only on one side.
std::string ErrorDifferences(std::vector<std::string> ours, std::vector<std::string> theirs) {
  std::vector<std::string> only;
  std::ranges::set_difference(ours, theirs, std::back_inserter(only));
  std::string out;
  for (const std::string& line : only) StrAppend(out, "  only ours:   ", line, "\n");
  only.clear();
  std::ranges::set_difference(theirs, ours, std::back_inserter(only));
  for (const std::string& line : only) StrAppend(out, "  only theirs: ", line, "\n");
  return out;
}

std::string Check(Value object, const Value* old, const Value& golden) {
  const BuiltinBehaviour behaviour = Of(object);
  if (behaviour.default_fields != nullptr) behaviour.default_fields(object);
  if (behaviour.prepare != nullptr) behaviour.prepare(object, old);
  std::vector<FieldError> errors;
  if (behaviour.validate != nullptr) errors = behaviour.validate(object, old);
  std::string out = ErrorDifferences(Lines(errors), GoldenLines(golden["errors"]));
  if (golden["stored"].is_object()) Differences(Comparable(object), Comparable(golden["stored"]), "", out);
  return out;
}

Value WithUid(Value object) {
  object.Edit("metadata").Set("uid", kUid);
  if (!object["metadata"].Has("namespace")) object.Edit("metadata").Set("namespace", "default");
  return object;
}

// Rows where we differ, and why.
const std::map<std::string, std::string, std::less<>>& Known() {
  static const std::map<std::string, std::string, std::less<>> kKnown = {
      {"Job job-template (update)", "Kubernetes shows the template as a Go struct"},
  };
  return kKnown;
}

TEST(BuiltinGoldenTest, StoresAndRefusesWhatKubernetesDoes) {
  ASSERT_GT(Rows().size(), 200U);
  for (const Value& row : Rows().items()) {
    if (row.Has("fields")) continue;
    const std::string name(row["name"].str());
    const std::string differences = Check(WithUid(row["in"]), nullptr, row);
    if (Known().contains(name)) {
      EXPECT_NE(differences, "") << name << " is as in Kubernetes now: take it from the list";
    } else {
      EXPECT_TRUE(differences.empty()) << name << "\n" << differences;
    }
  }
}

TEST(BuiltinGoldenTest, UpdatesAsKubernetesDoes) {
  for (const Value& row : Rows().items()) {
    const Value& update = row["update"];
    if (!update.is_object() || update.Has("refused")) continue;
    const std::string name = StrCat(row["name"].str(), " (update)");
    const Value old = WithUid(update["old"]);
    const std::string differences = Check(WithUid(update["in"]), &old, update);
    if (Known().contains(name)) {
      EXPECT_NE(differences, "") << name << " is as in Kubernetes now: take it from the list";
    } else {
      EXPECT_TRUE(differences.empty()) << name << "\n" << differences;
    }
  }
}

TEST(BuiltinGoldenTest, PrintsTheTablesOfKubernetes) {
  for (const Value& row : Rows().items()) {
    const Value& table = row["table"];
    if (!table.is_object()) continue;
    const BuiltinBehaviour behaviour = Of(row["in"]);
    ASSERT_NE(behaviour.cells, nullptr) << row["name"].str();
    const std::vector<Value> cells = behaviour.cells(table["object"], json::ParseTime(table["now"].str()).value());
    ASSERT_EQ(cells.size(), behaviour.columns.size()) << row["name"].str();
    ASSERT_EQ(cells.size(), table["columns"].size()) << row["name"].str();
    for (size_t i = 0; i < cells.size(); ++i) {
      const Column& column = behaviour.columns[i];
      const Value ours = json::Array({column.name, column.type, column.format, column.priority});
      EXPECT_EQ(ours, table["columns"][i]) << row["name"].str();
      if (column.name == "Age") {  // seconds: not the same in two runs
        EXPECT_TRUE(cells[i].str().ends_with("s")) << row["name"].str() << ": " << cells[i].str();
        continue;
      }
      EXPECT_EQ(cells[i], table["cells"][i]) << row["name"].str() << ": " << column.name;
    }
  }
}

TEST(BuiltinGoldenTest, LetsFieldSelectorsNameTheSameFields) {
  size_t kinds = 0;
  for (const Value& row : Rows().items()) {
    if (!row.Has("fields")) continue;
    ++kinds;
    std::vector<std::string> ours = Of(row["in"]).selectable_fields;
    std::vector<std::string> theirs;
    for (const Value& field : row["fields"].items()) theirs.emplace_back(field.str());
    std::ranges::sort(ours);
    std::ranges::sort(theirs);
    EXPECT_EQ(ours, theirs) << row["name"].str();
  }
  EXPECT_GT(kinds, 30U);
}

TEST(BuiltinGoldenTest, DefaultsOnce) {
  for (const Value& row : Rows().items()) {
    const BuiltinBehaviour behaviour = Of(row["in"]);
    if (row.Has("fields") || behaviour.default_fields == nullptr) continue;
    Value once = row["in"];
    behaviour.default_fields(once);
    Value twice = once;
    behaviour.default_fields(twice);
    EXPECT_EQ(once, twice) << row["name"].str();
    if (!row["stored"].is_object()) continue;
    Value stored = row["stored"];
    behaviour.default_fields(stored);
    EXPECT_EQ(stored, row["stored"]) << row["name"].str() << ": what is stored needs no defaults";
  }
}

}  // namespace
}  // namespace baton::api
