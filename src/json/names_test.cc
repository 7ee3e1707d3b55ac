// Names against apimachinery's validation.
#include "json/names.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "json/scalars_golden.h"

namespace baton::json {
namespace {

struct NameCheck {
  std::string_view name;  // in the golden table
  Messages (*check)(std::string_view);
  bool (*is)(std::string_view);  // null where there is none
};
constexpr NameCheck kChecks[] = {
    {"Dns1123Label", CheckDns1123Label, IsDns1123Label},
    {"Dns1123Subdomain", CheckDns1123Subdomain, IsDns1123Subdomain},
    {"Dns1035Label", CheckDns1035Label, IsDns1035Label},
    {"WildcardDns1123Subdomain", CheckWildcardDns1123Subdomain, IsWildcardDns1123Subdomain},
    {"FullyQualifiedDomainName", CheckFullyQualifiedDomainName, IsFullyQualifiedDomainName},
    {"QualifiedName", CheckQualifiedName, IsQualifiedName},
    {"LabelValue", CheckLabelValue, IsLabelValue},
    {"AnnotationKey", CheckAnnotationKey, IsAnnotationKey},
    {"FinalizerName", CheckFinalizerName, IsFinalizerName},
    {"PathSegmentName", CheckPathSegmentName, IsPathSegmentName},
    {"PathSegmentPrefix", CheckPathSegmentPrefix, nullptr},
    {"PortName", CheckPortName, IsPortName},
    {"ConfigMapKey", CheckConfigMapKey, IsConfigMapKey},
    {"CIdentifier", CheckCIdentifier, IsCIdentifier},
    {"EnvVarName", CheckEnvVarName, IsEnvVarName},
    {"Percent", CheckPercent, IsPercent},
    {"GenerateNameLabel", [](std::string_view text) { return CheckDns1123Label(MaskTrailingDash(text)); }, nullptr},
    {"GenerateNameSubdomain", [](std::string_view text) { return CheckDns1123Subdomain(MaskTrailingDash(text)); },
     nullptr},
};

TEST(NamesTest, SaysWhatKubernetesSays) {
  const Value golden = ReadGolden("names.json");
  ASSERT_GE(golden["names"].size() * std::size(kChecks), 3000U);
  for (const Value& row : golden["names"].items()) {
    const std::string_view in = row["in"].str();
    size_t known = 0;
    for (const NameCheck& c : kChecks) {
      Messages expected;
      for (const Value& index : row["errors"][c.name].items()) {
        expected.emplace_back(golden["messages"][static_cast<size_t>(index.int_or(0))].str());
      }
      known += row["errors"].Has(c.name) ? 1 : 0;
      EXPECT_EQ(c.check(in), expected) << c.name << " " << row["in"];
      if (c.is != nullptr) EXPECT_EQ(c.is(in), expected.empty()) << c.name << " " << row["in"];
    }
    EXPECT_EQ(known, row["errors"].size()) << "a check of the table is not in kChecks: " << row;
  }
}

TEST(NamesTest, PortsAreWithinTheirRange) {
  const Value golden = ReadGolden("names.json");
  ASSERT_GE(golden["ports"].size(), 7U);
  for (const Value& row : golden["ports"].items()) {
    const int64_t port = row[0].int_or(0);
    Messages expected;
    for (const Value& message : row[1].items()) expected.emplace_back(message.str());
    EXPECT_EQ(CheckPortNumber(port), expected) << row;
    EXPECT_EQ(IsPortNumber(port), expected.empty()) << row;
  }
}

TEST(NamesTest, AnnotationsCountKeysAndValues) {
  Value annotations = Object({{"a", std::string(kMaxAnnotationsBytes - 3, 'x')}, {"bc", ""}});
  EXPECT_EQ(CheckAnnotationsSize(annotations), Messages());
  annotations.Set("bc", "y");
  EXPECT_EQ(CheckAnnotationsSize(annotations), Messages({"annotations size 262145 is larger than limit 262144"}));
  EXPECT_EQ(CheckAnnotationsSize(Value()), Messages());
}

TEST(NamesTest, BytesThatAreNoTextAreNoNames) {
  for (const NameCheck& c : kChecks) {
    const bool any_text = c.name == "PathSegmentName" || c.name == "PathSegmentPrefix";
    EXPECT_EQ(c.check("a\xff"
                      "b")
                  .empty(),
              any_text)
        << c.name;
    EXPECT_EQ(c.check(std::string_view("a\0b", 3)).empty(), any_text) << c.name;
  }
}

}  // namespace
}  // namespace baton::json
