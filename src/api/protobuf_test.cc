// Bodies written by hand: what Go never sends, and what a hostile client may.
#include "api/protobuf.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "base/strings.h"
#include "json/parse.h"
#include "json/print.h"

namespace baton::api {
namespace {

using json::Value;

std::string Varint(uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
  return out;
}

std::string Tag(uint64_t number, int wire_type) { return Varint(number << 3 | static_cast<uint64_t>(wire_type)); }
std::string Bytes(uint64_t number, std::string_view bytes) {
  return StrCat(Tag(number, 2), Varint(bytes.size()), bytes);
}
std::string Int(uint64_t number, uint64_t value) { return StrCat(Tag(number, 0), Varint(value)); }

std::string Body(std::string_view api_version, std::string_view kind, std::string_view raw) {
  return StrCat(std::string_view("k8s\0", 4), Bytes(1, StrCat(Bytes(1, api_version), Bytes(2, kind))), Bytes(2, raw),
                Bytes(3, ""), Bytes(4, ""));
}

std::string Metadata(std::string_view fields) { return Body("v1", "ConfigMap", Bytes(1, fields)); }

std::string Decoded(std::string_view body) {
  const Result<Value> value = DecodeProtobuf(body);
  if (!value.ok()) EXPECT_EQ(value.error().kind(), ErrorKind::kInvalid);
  return value.ok() ? json::Print(*value) : value.error().message();
}

TEST(ProtobufTest, KnowsABodyByItsMagic) {
  EXPECT_TRUE(IsProtobuf(std::string_view("k8s\0", 4)));
  for (const std::string_view other : {"", "k8s", "k8s:", "{}", "kind: Pod", "\nk8s"}) EXPECT_FALSE(IsProtobuf(other));
  EXPECT_FALSE(DecodeProtobuf("{}").ok());
  EXPECT_FALSE(DecodeProtobuf({}).ok());
}

TEST(ProtobufTest, ReadsWhatTheTableSays) {
  struct Case {
    std::string_view about;
    std::string body;
    std::string_view json;
  };
  const Case cases[] = {
      {"no fields", Body("v1", "ConfigMap", ""), R"({"apiVersion":"v1","kind":"ConfigMap"})"},
      {"a zero that JSON leaves out", Metadata(Bytes(1, "")),
       R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{}})"},
      {"a zero behind a pointer", Body("v1", "ConfigMap", Int(4, 0)),
       R"({"apiVersion":"v1","immutable":false,"kind":"ConfigMap"})"},
      {"an unknown field of each wire type",
       Body("v1", "ConfigMap",
            StrCat(Int(1000, 7), Tag(1001, 1), "12345678", Bytes(1002, "x"), Tag(1003, 5), "1234", Tag(1004, 3),
                   Tag(9, 3), Int(1, 1), Tag(9, 4), Tag(1004, 4), Int(4, 1))),
       R"({"apiVersion":"v1","immutable":true,"kind":"ConfigMap"})"},
      {"a map entry without key and value", Body("v1", "ConfigMap", Bytes(2, "")),
       R"({"apiVersion":"v1","data":{"":""},"kind":"ConfigMap"})"},
      {"a map key twice: the last one counts",
       Body("v1", "ConfigMap",
            StrCat(Bytes(2, StrCat(Bytes(1, "a"), Bytes(2, "1"))), Bytes(2, StrCat(Bytes(1, "a"), Bytes(2, "2"))))),
       R"({"apiVersion":"v1","data":{"a":"2"},"kind":"ConfigMap"})"},
      {"options of any version", Body("example.com/v7", "DeleteOptions", Int(1, 0)),
       R"({"apiVersion":"example.com/v7","gracePeriodSeconds":0,"kind":"DeleteOptions"})"},
      {"a packed list",
       Body("v1", "Pod",
            Bytes(2, Bytes(14, StrCat(Bytes(4, StrCat(Varint(1), Varint(300))), Int(4, 2), Bytes(4, ""))))),
       R"({"apiVersion":"v1","kind":"Pod","spec":{"securityContext":{"supplementalGroups":[1,300,2]}}})"},
      {"a packed list of nothing", Body("v1", "Pod", Bytes(2, Bytes(14, Bytes(4, "")))),
       R"({"apiVersion":"v1","kind":"Pod","spec":{"securityContext":{}}})"},
      {"an int32 in 64 bits", Body("autoscaling/v1", "Scale", Bytes(2, Int(1, ~uint64_t{0}))),
       R"({"apiVersion":"autoscaling/v1","kind":"Scale","spec":{"replicas":-1}})"},
      {"a quantity in another form",
       Body("v1", "ResourceQuota", Bytes(2, Bytes(1, StrCat(Bytes(1, "cpu"), Bytes(2, Bytes(1, "0.50")))))),
       R"({"apiVersion":"v1","kind":"ResourceQuota","spec":{"hard":{"cpu":"500m"}}})"},
      {"a time with nanoseconds", Metadata(Bytes(8, StrCat(Int(1, 1), Int(2, 999999999)))),
       R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"creationTimestamp":"1970-01-01T00:00:01Z"}})"},
      {"the epoch is a time", Metadata(Bytes(8, Int(1, 0))),
       R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"creationTimestamp":"1970-01-01T00:00:00Z"}})"},
  };
  for (const Case& c : cases) EXPECT_EQ(Decoded(c.body), c.json) << c.about;
}

TEST(ProtobufTest, SaysWhereAndWhyABodyIsRefused) {
  struct Case {
    std::string body;
    std::string_view message;
  };
  const std::string magic("k8s\0", 4);
  const Case cases[] = {
      {magic, R"(protobuf: no kind "" of version "" is known in this encoding: send it as JSON)"},
      {Body("v1", "Widget", ""),
       R"(protobuf: no kind "Widget" of version "v1" is known in this encoding: send it as JSON)"},
      {Body("apps/v1", "Pod", ""),
       R"(protobuf: no kind "Pod" of version "apps/v1" is known in this encoding: send it as JSON)"},
      {StrCat(magic, "\x0a\x05x"), "protobuf, byte 4 (runtime.Unknown): a field of 5 bytes, where only 1 are left"},
      {StrCat(magic, "\x80"), "protobuf, byte 4 (runtime.Unknown): the number is cut off"},
      {StrCat(magic, Tag(0, 0)), "protobuf, byte 4 (runtime.Unknown): 0 is no field number"},
      {StrCat(magic, Tag(uint64_t{1} << 29, 0)), "protobuf, byte 4 (runtime.Unknown): 536870912 is no field number"},
      {StrCat(magic, Tag(9, 6)), "protobuf, byte 4 (runtime.Unknown): 6 is no wire type"},
      {StrCat(magic, Tag(9, 0), std::string(10, '\xff')),
       "protobuf, byte 5 (runtime.Unknown): the number has more than 64 bits"},
      {StrCat(magic, Tag(9, 1), "1234567"), "protobuf, byte 5 (runtime.Unknown): the number is cut off"},
      {StrCat(magic, Tag(9, 3)), "protobuf, byte 4 (runtime.Unknown): the group does not end"},
      {StrCat(magic, Tag(9, 4)), "protobuf, byte 4 (runtime.Unknown): the end of a group that is not open"},
      {StrCat(magic, Tag(9, 3), Tag(8, 4)), "protobuf, byte 5 (runtime.Unknown): the end of a group that is not open"},
      {StrCat(magic, Int(2, 1)), "protobuf, byte 4 (runtime.Unknown): bytes were expected"},
      {StrCat(magic, Bytes(3, "gzip")),
       R"(protobuf, byte 6 (runtime.Unknown): the content encoding "gzip" is not known)"},
      {StrCat(magic, Bytes(4, "text/x")),
       R"(protobuf, byte 6 (runtime.Unknown): the content type "text/x" is not application/vnd.kubernetes.protobuf)"},
      {Body("\xff", "DeleteOptions", ""), "protobuf, byte 8 (runtime.Unknown): the text is not UTF-8"},
      {Metadata(Bytes(1, "a\xff")), "protobuf, byte 25 (meta.v1.ObjectMeta.name): the text is not UTF-8"},
      {Metadata(Int(1, 1)), "protobuf, byte 25 (meta.v1.ObjectMeta.name): wire type 0 does not fit the field"},
      {Metadata(Bytes(7, "x")),
       "protobuf, byte 25 (meta.v1.ObjectMeta.generation): wire type 2 does not fit the field"},
      {Metadata(StrCat(Bytes(1, "a"), Bytes(1, "b"))),
       "protobuf, byte 28 (meta.v1.ObjectMeta.name): the field is given twice"},
      {Metadata(Int(11, 1)), "protobuf, byte 25 (meta.v1.ObjectMeta.labels): an entry of a map was expected"},
      {Metadata(Bytes(11, StrCat(Bytes(2, "a"), Bytes(2, "b")))),
       "protobuf, byte 30 (meta.v1.ObjectMeta.labels): the entry of a map has two values"},
      {Metadata(Int(13, 1)), "protobuf, byte 25 (meta.v1.ObjectMeta.ownerReferences): a message was expected"},
      {Metadata(Bytes(8, Int(1, uint64_t{1} << 60))),
       "protobuf, byte 25 (meta.v1.ObjectMeta.creationTimestamp): 1152921504606846976 seconds since 1970 are not "
       "between "
       "the years 1678 and 2262"},
      {Body("coordination.k8s.io/v1", "Lease", Bytes(2, Bytes(3, StrCat(Int(1, 1), Int(2, 1000000000))))),
       "protobuf, byte 41 (coordination.v1.LeaseSpec.acquireTime): 1000000000 nanoseconds of a second"},
      {Body("policy/v1", "PodDisruptionBudget", Bytes(2, Bytes(1, Int(1, 2)))),
       "protobuf, byte 42 (policy.v1.PodDisruptionBudgetSpec.minAvailable): an int-or-string of type 2"},
      {Body("apps/v1", "ControllerRevision", Bytes(2, Bytes(1, "{"))),
       "protobuf, byte 37 (apps.v1.ControllerRevision.data): the JSON in it: line 1, column 2: "},
  };
  for (const Case& c : cases) {
    const std::string ours = Decoded(c.body);
    if (c.message.ends_with(": ")) {
      EXPECT_EQ(ours.substr(0, c.message.size()), c.message);
    } else {
      EXPECT_EQ(ours, c.message);
    }
  }
}

// A CRD whose schema is `not` of `not` of ...; each level is a message, and an object of the JSON.
std::string DeepSchema(size_t levels, std::string_view innermost = {}) {
  constexpr uint64_t kNot = 28;
  std::string schema(innermost);
  for (size_t i = 0; i < levels; ++i) schema = Bytes(kNot, schema);
  // spec.versions[].schema.openAPIV3Schema
  return Body("apiextensions.k8s.io/v1", "CustomResourceDefinition", Bytes(2, Bytes(7, Bytes(4, Bytes(1, schema)))));
}

TEST(ProtobufTest, ReadsAsDeepAsJsonAndNoDeeper) {
  constexpr size_t kAround = 6;  // the CRD, spec, versions, its item, schema, openAPIV3Schema
  const Result<Value> deep = DecodeProtobuf(DeepSchema(kProtobufDepthMax - kAround));
  ASSERT_TRUE(deep.ok()) << deep.error().message();
  EXPECT_TRUE(json::Parse(json::Print(*deep)).ok());
  const Result<Value> deeper = DecodeProtobuf(DeepSchema(kProtobufDepthMax - kAround + 1));
  ASSERT_FALSE(deeper.ok());
  EXPECT_TRUE(deeper.error().message().ends_with("messages nest too deep")) << deeper.error().message();
  EXPECT_FALSE(DecodeProtobuf(DeepSchema(100'000 / 4)).ok());
}

// Raw JSON is counted on from where it stands, so that the whole can be printed and read again.
TEST(ProtobufTest, CountsTheDepthOfRawJsonToo) {
  const std::string raw = StrCat(std::string(500, '['), std::string(500, ']'));
  const std::string schema_with_default = Bytes(8, Bytes(1, raw));
  const Result<Value> fits = DecodeProtobuf(DeepSchema(494, schema_with_default));
  ASSERT_TRUE(fits.ok()) << fits.error().message();
  EXPECT_TRUE(json::Parse(json::Print(*fits)).ok());
  EXPECT_FALSE(DecodeProtobuf(DeepSchema(495, schema_with_default)).ok());
}

TEST(ProtobufTest, SkipsGroupsOnlyToADepth) {
  std::string groups;
  for (size_t i = 0; i < 2000; ++i) groups += Tag(9, 3);
  EXPECT_NE(Decoded(StrCat(std::string_view("k8s\0", 4), groups)).find("groups nest too deep"), std::string::npos);
}

TEST(ProtobufTest, ReadsManyMembersInAnyOrderInOneGo) {
  std::string entries;
  constexpr int kEntries = 100'000;
  for (int i = kEntries; i > 0; --i) entries += Bytes(2, Bytes(1, StrCat(i)));
  const Result<Value> value = DecodeProtobuf(Body("v1", "ConfigMap", entries));
  ASSERT_TRUE(value.ok());
  EXPECT_EQ((*value)["data"].size(), static_cast<size_t>(kEntries));
}

// JSON has one kind of number; Go prints 1.0 as 1.
TEST(ProtobufTest, PrintsDoublesAsGoDoes) {
  const auto minimum = [](double number) {
    std::string bits;
    for (int i = 0; i < 8; ++i) bits.push_back(static_cast<char>(std::bit_cast<uint64_t>(number) >> (8 * i)));
    const std::string schema = StrCat(Tag(11, 1), bits);
    const std::string body =
        Body("apiextensions.k8s.io/v1", "CustomResourceDefinition", Bytes(2, Bytes(7, Bytes(4, Bytes(1, schema)))));
    const Result<Value> value = DecodeProtobuf(body);
    return value.ok() ? (*value)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["minimum"].ToString()
                      : value.error().message();
  };
  EXPECT_EQ(minimum(1.0), "1");
  EXPECT_EQ(minimum(-3.0), "-3");
  EXPECT_EQ(minimum(0.0), "0");
  EXPECT_EQ(minimum(0.25), "0.25");
  EXPECT_EQ(minimum(1e300), "1e+300");
  EXPECT_NE(minimum(std::numeric_limits<double>::infinity()).find("JSON has no such number"), std::string::npos);
  EXPECT_NE(minimum(std::numeric_limits<double>::quiet_NaN()).find("JSON has no such number"), std::string::npos);
}

}  // namespace
}  // namespace baton::api
