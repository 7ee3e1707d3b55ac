// Against gnostic itself: tests/golden/openapi_protobuf.json has a document that uses everything, and gnostic's bytes.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "apiserver/open_api_document.h"
#include "apiserver/types_for_test.h"
#include "base/strings.h"
#include "json/parse.h"

namespace baton::apiserver {
namespace {

using json::Value;

TEST(OpenApiProtobufTest, BytesAreThoseOfGnostic) {
  std::ifstream file(BATON_SOURCE_DIR "/tests/golden/openapi_protobuf.json");
  std::stringstream text;
  text << file.rdbuf();
  const Value golden = FromJson(text.str());
  const std::string bytes = OpenApiV2Protobuf(golden["document"]);
  EXPECT_EQ(HexEncode(std::as_bytes(std::span(bytes))), golden["protobuf"].str());
}

TEST(OpenApiProtobufTest, WhatIsNotADocumentIsEmpty) {
  for (const std::string_view text : {"null", "[]", "7", "{}", R"({"swagger":2,"paths":null,"definitions":[]})"}) {
    EXPECT_LE(OpenApiV2Protobuf(FromJson(text)).size(), 4U) << text;
  }
}

TEST(OpenApiProtobufTest, DeepSchemasEnd) {
  Value schema = json::Object({{"type", "string"}});
  for (size_t i = 0; i < 5 * json::kMaxDepth; ++i) schema = json::Object({{"items", std::move(schema)}});
  const Value document = json::Object({{"definitions", json::Object({{"Deep", schema}})}});
  EXPECT_GT(OpenApiV2Protobuf(document).size(), 1000U);
  while (schema.is_object() && schema.Has("items")) schema = Value(schema["items"]);  // freed level by level
}

}  // namespace
}  // namespace baton::apiserver
