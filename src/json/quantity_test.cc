// Quantity against what apimachinery answers, and where it is meant to answer otherwise.
#include "json/quantity.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "json/scalars_golden.h"

namespace baton::json {
namespace {

using Format = Quantity::Format;

Quantity Q(std::string_view text) {
  Result<Quantity> q = Quantity::Parse(text);
  EXPECT_TRUE(q.ok()) << text << ": " << q.error().ToString();
  return q.ok() ? *q : Quantity();
}

std::string_view FormatName(Format format) {
  switch (format) {
    case Format::kDecimalSi:
      return "DecimalSI";
    case Format::kBinarySi:
      return "BinarySI";
    case Format::kDecimalExponent:
      return "DecimalExponent";
  }
  return "";
}

// Inputs for which we answer something else on purpose, with the text we print or "error". (Rows that have "exact" are
// the other difference: there apimachinery's own canonical text does not read back as the number.)
struct Difference {
  std::string_view ours;
  std::string_view reason;
};
constexpr std::string_view kExponentBits = "apimachinery keeps the low 32 bits of an exponent";
constexpr std::string_view kDigits = "more digits than a Quantity holds";
const std::map<std::string_view, Difference>& Differences() {
  static const std::map<std::string_view, Difference> differences = {
      {"1e4294967299", {"error", kExponentBits}},
      {"0e4294967299", {"error", kExponentBits}},
      {"1e9223372036854775807", {"error", kExponentBits}},
      {"0.1e-2147483648", {"1e-9", kExponentBits}},
      {"10e2147483647", {"error", kExponentBits}},
      {"1000e2147483647", {"error", kExponentBits}},
      {"123456789012345678901234567890.123456789", {"error", kDigits}},
      {"999999999999999999999999999999999999999", {"error", kDigits}},
  };
  return differences;
}

// `text` is apimachinery's canonical form, `exact` the number where that form lost it.
void CheckText(const Quantity& ours, const Value& text, const Value& exact, const Value& row) {
  if (exact.is_string()) {
    EXPECT_EQ(ours, Q(exact.str())) << row;
    EXPECT_EQ(Q(ours.ToString()), ours) << row;
  } else {
    EXPECT_EQ(ours.ToString(), text.str()) << row;
  }
}

void CheckWholeNumber(const Result<int64_t>& ours, const Value& golden, const Value& exact, const Value& row) {
  if (golden.is_string()) {
    ASSERT_FALSE(ours.ok()) << row;
    EXPECT_EQ(ours.error().kind(), ErrorKind::kTooLarge);
    return;
  }
  ASSERT_TRUE(ours.ok()) << row << ": " << ours.error().ToString();
  EXPECT_EQ(*ours, exact.int_or(golden.int_or(-1))) << row;
}

TEST(QuantityTest, ReadsAndPrintsAsKubernetes) {
  const Value golden = ReadGolden("quantity.json");
  ASSERT_GE(golden["parse"].size(), 500U);
  size_t differences = 0;
  for (const Value& row : golden["parse"].items()) {
    const std::string_view in = row["in"].str();
    const Result<Quantity> q = Quantity::Parse(in);
    if (const auto known = Differences().find(in); known != Differences().end()) {
      ++differences;
      EXPECT_EQ(q.ok() ? q->ToString() : "error", known->second.ours) << row << known->second.reason;
      continue;
    }
    if (row.Has("error")) {
      ASSERT_FALSE(q.ok()) << row << " gave " << q->ToString();
      EXPECT_EQ(q.error().message(), row["error"].str()) << row;
      EXPECT_EQ(q.error().kind(), ErrorKind::kInvalid);
      continue;
    }
    ASSERT_TRUE(q.ok()) << row << ": " << q.error().ToString();
    CheckText(*q, row["canonical"], row["exact"], row);
    EXPECT_EQ(FormatName(q->format()), row["format"].str()) << row;
    CheckWholeNumber(q->Value(), row["value"], row["exactValue"], row);
    CheckWholeNumber(q->MilliValue(), row["milli"], row["exactMilli"], row);
  }
  EXPECT_EQ(differences, Differences().size()) << "an input with a known difference is no longer in the table";
}

// The same inputs through kubectl itself (tests/golden/gen_quantity.py).
TEST(QuantityTest, ReadsAndPrintsAsKubectl) {
  std::set<std::string, std::less<>> finer;  // where we keep what Go rounds
  for (const Value& row : ReadGolden("quantity.json")["parse"].items()) {
    if (row.Has("exact")) finer.emplace(row["in"].str());
  }
  const Value golden = ReadGolden("quantity_kubectl.json");
  size_t compared = 0;
  for (const Value& row : golden.items()) {
    const std::string_view in = row["in"].str();
    if (Differences().contains(in) || finer.contains(in)) continue;
    const Result<Quantity> q = Quantity::Parse(in);
    EXPECT_EQ(q.ok(), !row.Has("error")) << row;
    // Small numbers kubectl prints as they were written, right or not.
    if (!row.Has("error") && row["canonical"].str() == in) continue;
    ++compared;
    EXPECT_EQ(q.ok() ? q->ToString() : q.error().message(),
              row.Has("error") ? row["error"].str() : row["canonical"].str())
        << row;
  }
  EXPECT_GE(compared, 200U);
}

TEST(QuantityTest, CanonicalTextReadsBackAsTheSameNumber) {
  const Value golden = ReadGolden("quantity.json");
  for (const Value& row : golden["parse"].items()) {
    const Result<Quantity> q = Quantity::Parse(row["in"].str());
    if (!q.ok()) continue;
    const std::string text = q->ToString();
    EXPECT_EQ(Q(text), *q) << row;
    EXPECT_EQ(Q(text).ToString(), text) << row;
  }
}

TEST(QuantityTest, AddsSubtractsAndComparesAsKubernetes) {
  const Value golden = ReadGolden("quantity.json");
  ASSERT_GE(golden["pairs"].size(), 500U);
  for (const Value& row : golden["pairs"].items()) {
    const Quantity a = Q(row["a"].str());
    const Quantity b = Q(row["b"].str());
    const Result<Quantity> sum = a.Add(b);
    const Result<Quantity> difference = a.Sub(b);
    ASSERT_TRUE(sum.ok()) << row << sum.error().ToString();
    ASSERT_TRUE(difference.ok()) << row << difference.error().ToString();
    CheckText(*sum, row["sum"], row["exactSum"], row);
    CheckText(*difference, row["difference"], row["exactDifference"], row);
    const auto order = a <=> b;
    EXPECT_EQ(order > 0 ? 1 : order < 0 ? -1 : 0, row["order"].int_or(9)) << row;
    EXPECT_EQ(a == b, order == 0) << row;
  }
}

TEST(QuantityTest, PrintsWhatASuffixCannotSayWithoutLoss) {
  EXPECT_EQ(Q("1000E").ToString(), "1e21");
  EXPECT_EQ(Q("-1234567E").ToString(), "-1234567E");
  EXPECT_EQ(Q("8Ei").ToString(), "9223372036854775807");  // capped, as in Kubernetes
  EXPECT_EQ(Q("7Ei").Add(Q("7Ei"))->ToString(), "16140901064495857664");
  EXPECT_EQ(Q("7Ei").Add(Q("7Ei"))->Sub(Q("7Ei"))->ToString(), "7Ei");
}

TEST(QuantityTest, ABinaryNumberWithoutSuffixReadsBackAsADecimalOne) {
  const Quantity binary = Quantity::FromInt(1025000, Format::kBinarySi);
  EXPECT_EQ(binary.ToString(), "1025000");
  EXPECT_EQ(Q("1025000"), binary);
  EXPECT_EQ(Q("1025000").ToString(), "1025k");
}

TEST(QuantityTest, HugeExponentsAreNumbersLikeAnyOther) {
  // apimachinery needs 10^2147483638 in memory for the first of these.
  EXPECT_EQ(Q("1e-2147483647").ToString(), "1e-9");
  EXPECT_EQ(Q("-1e-2147483648").ToString(), "-1e-9");
  EXPECT_EQ(Q("1e2147483647").ToString(), "10e2147483646");
  EXPECT_EQ(Quantity::Parse("1e2147483648").error().kind(), ErrorKind::kInvalid);
  EXPECT_EQ(Quantity::Parse("10e2147483647").error().kind(), ErrorKind::kTooLarge);
  EXPECT_GT(Q("1e2147483647"), Q("9e2147483646"));
  EXPECT_LT(Q("-1e2147483647"), Q("1n"));
  EXPECT_EQ(Q("1e2147483647").Add(Q("1n")).error().kind(), ErrorKind::kTooLarge);
  EXPECT_EQ(Q("1e2147483647").Sub(Q("1e2147483647"))->ToString(), "0");
  EXPECT_EQ(Q("1e2147483647").MilliValue().error().message(),
            "quantity 10e2147483646 in thousandths does not fit into 64 bits");
}

TEST(QuantityTest, HoldsThirtyEightDigitsAndSaysSoAboveThat) {
  const std::string most(38, '9');
  EXPECT_EQ(Q(most).ToString(), most);
  EXPECT_EQ(Q("-" + most).Neg(), Q(most));
  EXPECT_EQ(Q(most).Add(Q("1"))->ToString(), "100e36");
  EXPECT_EQ(Q(most + "n").Add(Q("1n"))->ToString(), "100e27");
  EXPECT_EQ(Q("99999999999999999999999999999.9999999999").ToString(), "100e27");  // rounded up to the nano
  for (const Result<Quantity>& q : {Quantity::Parse(most + "9"), Quantity::Parse("1" + std::string(38, '0') + "1"),
                                    Q(most).Add(Q(most)), Q(most).Add(Q("1m")), Q("1e38").Add(Q("1"))}) {
    ASSERT_FALSE(q.ok()) << q->ToString();
    EXPECT_EQ(q.error().kind(), ErrorKind::kTooLarge);
  }
  EXPECT_EQ(Q(most).Add(Q("1m")).error().message(),
            "adding " + most + " and 1m: a quantity has at most 38 significant digits");
}

TEST(QuantityTest, LongTextIsReadToItsEnd) {
  const std::string zeros(100000, '0');
  EXPECT_EQ(Q("0." + zeros + "1").ToString(), "1n");
  EXPECT_EQ(Q("1." + zeros + "1Ki").ToString(), "1024000000001n");
  EXPECT_EQ(Q(zeros + "1" + zeros + "e-100000").ToString(), "1");
  EXPECT_EQ(Q("1" + zeros + "Ki").ToString(), "9223372036854775807");
  EXPECT_FALSE(Quantity::Parse("0." + zeros + "x").ok());
}

TEST(QuantityTest, ASumTakesTheFormatOfItsLeftSideUnlessThatIsZero) {
  EXPECT_EQ(Q("1Gi").Add(Q("1024M"))->format(), Format::kBinarySi);
  EXPECT_EQ(Q("1024M").Add(Q("1Gi"))->format(), Format::kDecimalSi);
  EXPECT_EQ(Q("0").Add(Q("1Gi"))->ToString(), "1Gi");
  EXPECT_EQ(Q("0").Sub(Q("1Gi"))->ToString(), "-1Gi");
  EXPECT_EQ(Q("0").Add(Q("0Ki"))->format(), Format::kBinarySi);
  EXPECT_EQ(Q("1Ki").Add(Q("0"))->ToString(), "1Ki");
  EXPECT_EQ(Quantity().Add(Q("1e3"))->ToString(), "1e3");
}

TEST(QuantityTest, IsMadeFromNumbers) {
  EXPECT_EQ(Quantity().ToString(), "0");
  EXPECT_TRUE(Quantity().IsZero());
  EXPECT_EQ(Quantity::FromInt(1500).ToString(), "1500");
  EXPECT_EQ(Quantity::FromInt(1 << 20, Format::kBinarySi).ToString(), "1Mi");
  EXPECT_EQ(Quantity::FromMilli(1500).ToString(), "1500m");
  EXPECT_EQ(Quantity::FromInt(INT64_MIN).ToString(), "-9223372036854775808");
  EXPECT_EQ(*Quantity::FromInt(INT64_MIN).Value(), INT64_MIN);
  EXPECT_EQ(Quantity::FromInt(INT64_MIN, Format::kBinarySi).ToString(), "-9223372036854775808");
  EXPECT_EQ(*Quantity::FromMilli(INT64_MAX).MilliValue(), INT64_MAX);
  EXPECT_EQ(Quantity::FromInt(-3).Sign(), -1);
}

TEST(QuantityTest, IsReadFromADocument) {
  const std::vector<std::pair<Value, std::string_view>> cases = {
      {Value("1.5Gi"), "1536Mi"},
      {Value(" 2 \n"), "2"},
      {Value(3), "3"},
      {Value(-3), "-3"},
      {Value(0.5), "500m"},
      {Value(1e21), "1e21"},
      {Value(), "0"},
      {Value(18446744073709551615U), "18446744073709551615"},
      {Value(1e-7), "100e-9"},
  };
  for (const auto& [value, text] : cases) {
    const Result<Quantity> q = Quantity::FromJson(value);
    ASSERT_TRUE(q.ok()) << value << q.error().ToString();
    EXPECT_EQ(q->ToJson(), Value(text)) << value;
  }
  for (const Value& value : {Value(true), Value(""), Value("  "), Object(), Array({Value(1)})}) {
    const Result<Quantity> q = Quantity::FromJson(value);
    ASSERT_FALSE(q.ok()) << value;
    EXPECT_EQ(q.error().message(),
              "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
  }
}

}  // namespace
}  // namespace baton::json
