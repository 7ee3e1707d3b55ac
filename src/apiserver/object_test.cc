#include "apiserver/object.h"

#include <gtest/gtest.h>

#include <random>

#include "apiserver/types_for_test.h"
#include "base/strings.h"
#include "json/print.h"

namespace baton::apiserver {
namespace {

using json::Value;

const std::string_view kObject = R"({"apiVersion":"v1","kind":"Thing",
  "metadata":{"name":"a","annotations":{"note":"says \"so\", more than a few letters"},"resourceVersion":"7",
    "managedFields":[{"manager":"one","fieldsV1":{"f:spec":{}}},{"manager":"two","fieldsV1":{"f:status":{}}}]},
  "spec":{"list":[1,2,3],"text":"a text that is long enough for the heap"},"status":{"ready":true}})";

// As it is stored at that revision, with all that is kept of it.
struct Kept {
  std::string bytes;
  Value value;
  Layout layout;
};
Kept StoredAt(const Value& object, int64_t revision, const Kept* before) {
  const Printed printed{.bytes = before == nullptr ? std::string_view() : before->bytes,
                        .value = before == nullptr ? object : before->value,
                        .layout = before == nullptr ? Layout() : before->layout};
  const Encoded encoded = Encode(object, before == nullptr ? nullptr : &printed);
  Kept kept{.bytes = encoded.WithVersion(Revision(revision)),
            .value = object,
            .layout = encoded.LayoutWithVersion(Revision(revision))};
  kept.value.Edit("metadata").Set("resourceVersion", VersionText(Revision(revision)));
  return kept;
}

TEST(EncodeTest, WhatWasPrintedBeforeIsTakenOverAndTheTextIsTheSame) {
  const Kept before = StoredAt(FromJson(kObject), 7, nullptr);
  EXPECT_EQ(before.bytes, json::Print(before.value));
  Value next = before.value;
  next.Edit("status").Set("ready", false);
  next.Edit("metadata").Edit("managedFields").EraseAt(0);
  next.Edit("metadata").Edit("managedFields").Push(FromJson(R"({"manager":"three"})"));
  const Kept after = StoredAt(next, 123456, &before);
  EXPECT_EQ(after.bytes, json::Print(after.value));
}

TEST(EncodeTest, ALayoutSaysWhereEachPartStands) {
  const Kept kept = StoredAt(FromJson(kObject), 987, nullptr);
  const auto text = [&](const Layout::Range& range) { return kept.bytes.substr(range.begin, range.end - range.begin); };
  const auto members = kept.value.members();
  ASSERT_EQ(kept.layout.members.size(), members.size());
  for (size_t i = 0; i < members.size(); ++i)
    EXPECT_EQ(text(kept.layout.members[i]), json::Print(members[i].value())) << members[i].key();
  const auto metadata = kept.value["metadata"].members();
  ASSERT_EQ(kept.layout.metadata.size(), metadata.size());
  for (size_t i = 0; i < metadata.size(); ++i)
    EXPECT_EQ(text(kept.layout.metadata[i]), json::Print(metadata[i].value())) << metadata[i].key();
  const Value& managers = kept.value["metadata"]["managedFields"];
  ASSERT_EQ(kept.layout.managers.size(), managers.size());
  for (size_t i = 0; i < managers.size(); ++i) EXPECT_EQ(text(kept.layout.managers[i]), json::Print(managers[i]));
}

TEST(EncodeTest, AShortTextThatNowEndsInNulIsPrinted) {
  const Kept before = StoredAt(json::Object({{"metadata", json::Object()}, {"reason", "ab"}}), 7, nullptr);
  Value next = before.value;
  next.Set("reason", Value(std::string_view("ab\0", 3)));
  const Kept after = StoredAt(next, 8, &before);
  EXPECT_EQ(after.bytes, json::Print(after.value));
  EXPECT_NE(after.bytes.find("ab\\u0000"), std::string::npos);
}

TEST(EncodeTest, TellsHowDeepWhatItPrintedIs) {
  const auto deep = [](size_t levels) {
    Value value = json::Array();
    while (--levels > 0) value = json::Array({value});
    return value;
  };
  const Value metadata =
      json::Object({{"a", deep(4)}, {"managedFields", json::Array({json::Object({{"x", deep(7)}})})}});
  EXPECT_EQ(Encode(json::Object({{"metadata", metadata}})).depth, 11U);
  EXPECT_EQ(Encode(json::Object({{"metadata", metadata}, {"spec", deep(20)}})).depth, 21U);
  EXPECT_EQ(Encode(json::Object({{"metadata", json::Object()}, {"kind", "X"}})).depth, 2U);
}

TEST(EncodeTest, AnObjectWhosePlacesAreNotKnownIsPrinted) {
  Kept before = StoredAt(FromJson(kObject), 7, nullptr);
  before.layout = {};
  const Kept after = StoredAt(before.value, 8, &before);
  EXPECT_EQ(after.bytes, json::Print(after.value));
}

TEST(EncodeTest, RandomChangesOneAfterTheOtherPrintAsTheyAre) {
  std::mt19937 random(1);
  const auto below = [&](size_t n) { return static_cast<size_t>(random()) % n; };
  const auto key = [&] { return std::string(1, static_cast<char>('a' + below(6))); };
  Kept kept = StoredAt(FromJson(kObject), 1, nullptr);
  for (int64_t revision = 2; revision < 3'000; ++revision) {
    Value next = kept.value;
    for (size_t changes = below(3); changes > 0; --changes) {
      Value& managers = next.Edit("metadata").Edit("managedFields");
      switch (below(7)) {
        case 0:
          next.Edit("spec").Set(key(), static_cast<int64_t>(random()));
          break;
        case 1:
          next.Edit("spec").Erase(key());
          break;
        case 2:
          next.Set(key(), json::Object({{key(), "a text that needs \n escapes"}}));
          break;
        case 3:
          next.Erase(key());
          break;
        case 4:
          next.Edit("metadata").Set(key(), Value(key()));
          break;
        case 5:
          managers.Insert(below(managers.size() + 1), json::Object({{key(), json::Object({{key(), 1}})}}));
          break;
        default:
          if (!managers.empty()) managers.EraseAt(below(managers.size()));
          break;
      }
    }
    kept = StoredAt(next, revision, &kept);
    ASSERT_EQ(kept.bytes, json::Print(kept.value)) << revision;
  }
}

TEST(ObjectTest, KeysAreSplitAsTheyAreMade) {
  const struct {
    std::string_view key;
    std::string_view text;
  } cases[] = {
      {"/core/configmaps/blue/a", ",configmaps,blue,a"},
      {"/apps/deployments/blue/a", "apps,deployments,blue,a"},
      {"/core/namespaces/blue", ",namespaces,,blue"},
      {"/a/b", "-"},
      {"/a/b/c/d/e", "-"},
      {"", "-"},
      {"/", "-"},
      {"a/b/c", "-"},
  };
  for (const auto& [key, text] : cases) {
    const std::optional<KeyParts> parts = SplitKey(key);
    EXPECT_EQ(parts ? StrCat(parts->group, ",", parts->plural, ",", parts->ns, ",", parts->name) : "-", text) << key;
  }
}

}  // namespace
}  // namespace baton::apiserver
