// Holds DecodeProtobuf against Go: tests/golden/protobuf.json has every field of every message, made by
// tests/golden/protobuf.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "api/builtin_types.h"
#include "api/protobuf.h"
#include "api/protobuf_table.h"
#include "base/base64.h"
#include "base/strings.h"
#include "json/patch_golden.h"
#include "json/print.h"

namespace baton::api {
namespace {

using json::Value;

const Value& Golden() {
  static const Value* const golden = new Value(json::ReadGolden("protobuf.json"));
  return *golden;
}

// Without what we leave out on purpose: a list, map or pointer that JSON must have (Go's tag says no omitempty) and
// that is not set is null in Go's JSON. The message has nothing of it, so that absent is all that can be said, and a
// server takes both for the same. A null that we do give (a time that is not set) must be there in both.
Value WithoutAbsentNulls(const Value& go, const Value& ours) {
  if (go.is_array()) {
    Value out = json::Array();
    for (size_t i = 0; i < go.size(); ++i) out.Push(WithoutAbsentNulls(go[i], ours[i]));
    return out;
  }
  if (!go.is_object()) return go;
  Value out = json::Object();
  for (const json::Member& member : go.members()) {
    if (member.value().is_null() && !ours.Has(member.key())) continue;
    out.Set(member.key(), WithoutAbsentNulls(member.value(), ours[member.key()]));
  }
  return out;
}

TEST(ProtobufGoldenTest, GivesTheJsonThatGoPrints) {
  ASSERT_GT(Golden().size(), 400U);
  for (const Value& row : Golden().items()) {
    const Result<std::string> body = Base64Decode(row["protobuf"].str());
    ASSERT_TRUE(body.ok());
    EXPECT_TRUE(IsProtobuf(*body));
    const Result<Value> ours = DecodeProtobuf(*body);
    ASSERT_TRUE(ours.ok()) << row["name"] << ": " << ours.error().message();
    const Value expected = WithoutAbsentNulls(row["json"], *ours);
    EXPECT_EQ(*ours, expected) << row["name"] << "\nours " << json::PrintPretty(*ours) << "\nGo   "
                               << json::PrintPretty(expected);
  }
}

// All fields that the rule above leaves out in some row. Everything else is exactly as Go prints it.
TEST(ProtobufGoldenTest, LeavesOutOnlyRequiredFieldsThatAreNotSet) {
  const std::set<std::string> lists = {"addresses",      "admissionReviewVersions",
                                       "audiences",      "conditions",
                                       "containers",     "currentMetrics",
                                       "endpoints",      "limits",
                                       "names",          "paths",
                                       "ports",          "nodeSelectorTerms",
                                       "rules",          "nonResourceRules",
                                       "storedVersions", "values",
                                       "verbs",          "resourceRules",
                                       "versions"};
  const std::set<std::string> pointers = {"apiGroup", "boundObjectRef", "expirationSeconds",
                                          "pathType", "selector",       "sideEffects"};
  std::set<std::string> expected = lists;
  expected.insert(pointers.begin(), pointers.end());
  std::set<std::string> left_out;
  const auto visit = [&](const auto& self, const Value& go, const Value& ours) -> void {
    for (size_t i = 0; i < go.items().size(); ++i) self(self, go[i], ours[i]);
    for (const json::Member& member : go.members()) {
      if (member.value().is_null() && !ours.Has(member.key())) left_out.emplace(member.key());
      self(self, member.value(), ours[member.key()]);
    }
  };
  for (const Value& row : Golden().items()) {
    const Result<Value> ours = DecodeProtobuf(*Base64Decode(row["protobuf"].str()));
    ASSERT_TRUE(ours.ok());
    visit(visit, row["json"], *ours);
  }
  EXPECT_EQ(left_out, expected);
}

// Marks the fields of the message that the JSON has, and those of the messages in it.
void Mark(const protobuf::Message& message, const Value& json, std::set<const protobuf::Field*>& seen) {
  for (const protobuf::Field& field : message.fields) {
    const Value& value = json[field.name];
    if (field.inlined) Mark(*field.message, json, seen);
    if (!field.inlined && !json.Has(field.name)) continue;
    seen.insert(&field);
    if (field.message == nullptr) continue;
    if (field.shape == protobuf::Shape::kOne) Mark(*field.message, value, seen);
    for (const Value& item : value.items()) Mark(*field.message, item, seen);
    for (const json::Member& member : value.members()) Mark(*field.message, member.value(), seen);
  }
}

// So that no field can be wrong unseen. Where JSON has something else than the message's object (lists, schemas or
// booleans) manifests.json of tests/golden/protobuf has the cases.
TEST(ProtobufGoldenTest, HasEveryFieldOfEveryMessage) {
  std::set<const protobuf::Field*> seen;
  std::set<const protobuf::Message*> messages;
  const auto walk = [&](const auto& self, const protobuf::Message* message) -> void {
    if (!messages.insert(message).second) return;
    for (const protobuf::Field& field : message->fields) {
      if (field.message != nullptr) self(self, field.message);
    }
  };
  for (const Value& row : Golden().items()) {
    const Value& object = row["json"];
    const protobuf::Message* const message = protobuf::MessageOf(object["apiVersion"].str(), object["kind"].str());
    ASSERT_NE(message, nullptr);
    Mark(*message, object, seen);
    walk(walk, message);
  }
  for (const protobuf::KindRow& kind : protobuf::Kinds()) EXPECT_TRUE(messages.contains(kind.message)) << kind.kind;
  EXPECT_GT(messages.size(), 300U);
  for (const protobuf::Message* message : messages) {
    if (message->form != protobuf::Form::kObject) continue;
    for (const protobuf::Field& field : message->fields) {
      EXPECT_TRUE(seen.contains(&field)) << message->name << "." << field.name;
    }
  }
}

TEST(ProtobufGoldenTest, KnowsEveryBuiltinKind) {
  for (const ResourceTypePtr& type : BuiltinTypes()) {
    EXPECT_NE(protobuf::MessageOf(type->ApiVersion(), type->kind), nullptr) << type->ApiVersion() << " " << type->kind;
  }
}

// A cut body is refused wherever the cut is not between two fields of the envelope, and never crashes.
TEST(ProtobufGoldenTest, RefusesABodyThatIsCutOff) {
  for (const Value& row : Golden().items()) {
    if (!row["name"].str().starts_with("full ")) continue;
    const std::string body = *Base64Decode(row["protobuf"].str());
    for (size_t size = 0; size < body.size(); size += 1 + body.size() / 64) {
      const Result<Value> ours = DecodeProtobuf(std::string_view(body).substr(0, size));
      if (!ours.ok()) EXPECT_EQ(ours.error().kind(), ErrorKind::kInvalid) << ours.error().message();
    }
  }
}

}  // namespace
}  // namespace baton::api
