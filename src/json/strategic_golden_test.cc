// Strategic merge patches against tests/golden/strategic_merge.json, which `kubectl patch --local` wrote.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "base/strings.h"
#include "json/builder.h"
#include "json/patch_golden.h"
#include "json/patch_schema.h"
#include "json/strategic_merge.h"

namespace baton::json {
namespace {

constexpr size_t kRows = 263;  // a golden file cut short must not pass

// kubectl prints the object before the API server's typed decoding, which drops unknown members and nulls. So what is
// left of directives there, and nulls in objects, are no differences.
Value AsDecoded(const Value& value) {
  if (value.is_array()) {
    ArrayBuilder items;
    for (const Value& item : value.items()) items.Add(AsDecoded(item));
    return std::move(items).Build();
  }
  if (!value.is_object()) return value;
  ObjectBuilder members;
  for (const Member& member : value.members()) {
    const bool directive = member.key() == "$patch" || member.key() == "$retainKeys" ||
                           member.key().starts_with("$setElementOrder/") ||
                           member.key().starts_with("$deleteFromPrimitiveList/");
    if (!directive && !member.value().is_null()) members.Add(member.shared_key(), AsDecoded(member.value()));
  }
  return std::move(members).Build();
}

// Error texts that are not kubectl's, and results where it has an error.
const OnPurpose kOtherwise = {
    {"order: atomic list with an order", "Kubernetes panics; an order for a list without merge key does nothing here"},
    {"a kind that is not built in", "whether to refuse a kind without schema is the caller's decision"},
};

TEST(StrategicGoldenTest, GivesWhatKubectlGives) {
  const Value rows = ReadGolden("strategic_merge.json");
  ASSERT_EQ(rows.size(), kRows);
  size_t on_purpose = 0;
  for (const Value& row : rows.items()) {
    SCOPED_TRACE(row["name"].str());
    const Value object = row["object"];
    const PatchSchema* schema = KubernetesPatchSchema(object["apiVersion"].str(), object["kind"].str());
    const Result<Value> result = ApplyStrategicMergePatch(object, row["patch"], schema);
    EXPECT_EQ(object, row["object"]);
    if (kOtherwise.contains(row["name"].str())) {
      ++on_purpose;
      EXPECT_TRUE(row.Has("error") && result.ok());
    } else if (row.Has("error")) {
      ASSERT_FALSE(result.ok()) << "kubectl: " << row["error"] << "\nours: " << *result;
      std::string_view message = result.error().message();
      if (message.ends_with('\n')) message.remove_suffix(1);  // kubectl's output is trimmed
      EXPECT_EQ(message, row["error"].str());
      EXPECT_EQ(result.error().kind(), ErrorKind::kInvalid);
    } else {
      ASSERT_TRUE(result.ok()) << result.error().ToString() << "\nkubectl: " << row["result"];
      EXPECT_EQ(AsDecoded(*result), AsDecoded(row["result"]));
    }
  }
  EXPECT_EQ(on_purpose, kOtherwise.size());
}

TEST(StrategicGoldenTest, GivesWhatKubectlGivesForRandomPods) {
  const Value rows = ReadGolden("strategic_merge_random.json");
  ASSERT_EQ(rows.size(), 250U);
  size_t applied = 0;
  for (const Value& row : rows.items()) {
    SCOPED_TRACE(StrCat("row ", row["name"].str(), "\n", row["object"].ToString(), "\n", row["patch"].ToString()));
    const Result<Value> result =
        ApplyStrategicMergePatch(row["object"], row["patch"], KubernetesPatchSchema("v1", "Pod"));
    ASSERT_EQ(result.ok(), row.Has("result")) << (result.ok() ? row["error"].ToString() : result.error().ToString());
    if (!result.ok()) continue;
    ++applied;
    EXPECT_EQ(AsDecoded(*result), AsDecoded(row["result"]));
  }
  EXPECT_GT(applied, rows.size() / 2);
}

}  // namespace
}  // namespace baton::json
