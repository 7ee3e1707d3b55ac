// Bodies of requests.
#include "apiserver/negotiation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "api/field_errors.h"
#include "base/strings.h"

namespace baton::apiserver {
namespace {

using testing::ElementsAre;

TEST(ParseBodyTest, TellsWhereKeysAreGivenTwice) {
  const auto parsed = ParseBody(R"({"data":{"k":"1","k":"2"},"list":[{},{"a":1,"a":2}]})", BodyFormat::kJson, "");
  ASSERT_TRUE(parsed.ok());
  EXPECT_THAT(parsed->duplicate_fields, ElementsAre("data.k", "list[1].a"));
}

TEST(ParseBodyTest, KeepsFewAndShortPathsOfManyKeysGivenTwice) {
  const std::string name(10'000, 'n');
  std::string body;
  for (int depth = 0; depth < 100; ++depth) StrAppend(body, "{\"", name, "\":");
  body += "{";
  for (int i = 0; i < 100'000; ++i) StrAppend(body, i > 0 ? "," : "", R"("k":1)");
  body += std::string(101, '}');
  const auto parsed = ParseBody(body, BodyFormat::kJson, "");
  ASSERT_TRUE(parsed.ok()) << parsed.error().message().substr(0, 200);
  EXPECT_EQ(parsed->duplicate_fields.size(), api::kUnknownFieldsMax);
  for (const std::string& path : parsed->duplicate_fields) EXPECT_LE(path.size(), api::kShownPathBytesMax);
}

}  // namespace
}  // namespace baton::apiserver
