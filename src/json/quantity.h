// Quantity: an amount of cpu, memory, storage or anything countable, as Kubernetes writes it: "500m", "1.5Gi", "12e6".
//
//   Quantity request = TRY(Quantity::Parse("1.5Gi"));
//   request.ToString();                                    // "1536Mi": the canonical form
//   TRY(request.Add(TRY(Quantity::Parse("512Mi"))));       // 2Gi, in the format of the left side
//   request < *Quantity::Parse("2G");                      // by value, whatever the suffixes
//
// A quantity is an exact decimal number and the family of suffixes it was written with: decimal (n u m "" k M G T P E),
// binary (Ki Mi Gi Ti Pi Ei) or exponent (e3). Arithmetic never rounds. Parsing rounds what is finer than a nano away
// from zero and caps a binary quantity at 2^63-1, both as resource.Quantity of apimachinery does; what is accepted, the
// canonical form and the messages are also its own. It differs from apimachinery where that loses the number:
//  - it has at most kMaxDigits significant digits (apimachinery: as many as memory holds); more is an error;
//  - an exponent outside int32 is an error (apimachinery keeps its low 32 bits);
//  - 1000E prints as "1e21" (apimachinery: "1") and a binary sum above the cap prints in decimal, because reading it
//    back would cap it;
//  - Value() of what does not fit is an error (apimachinery: an arbitrary number) and always rounds away from zero
//    (apimachinery answers 1 for -0.1n and -2882303760 for -1Pi).
// kubectl prints many quantities as they were typed ("1.500", "+1"); ToString() is canonical always. So compare
// quantities as Quantity, never as text.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "json/value.h"

namespace baton::json {

class Quantity {
 public:
  enum class Format : uint8_t { kDecimalSi, kBinarySi, kDecimalExponent };

  static constexpr int kMaxDigits = 38;               // significant decimal digits of any quantity
  static constexpr int64_t kMaxBinary = INT64_MAX;    // magnitude at which a parsed binary quantity is capped
  static constexpr int64_t kMaxExponent = INT32_MAX;  // a quantity is a whole number times 10^n, n at most this
  static constexpr int kMinExponent = -9;             // and at least this: nanos

  Quantity() = default;  // 0
  static Quantity FromInt(int64_t value, Format format = Format::kDecimalSi);
  static Quantity FromMilli(int64_t milli, Format format = Format::kDecimalSi);

  // Errors: kInvalid with the message of Kubernetes, or kTooLarge.
  static Result<Quantity> Parse(std::string_view text);

  // A quantity in a document: a string (white space around it is allowed), a number, or null for 0.
  static Result<Quantity> FromJson(const json::Value& value);
  json::Value ToJson() const { return ToString(); }

  // Canonical: no fraction, the largest suffix of the format that keeps the number whole. A binary quantity that is no
  // whole number, or is below 1Ki, prints in decimal. Parse(ToString()) is the same number, but where the text
  // shows no binary suffix it is a decimal one.
  std::string ToString() const;

  Format format() const { return format_; }
  bool IsZero() const { return mantissa_ == 0; }
  int Sign() const { return mantissa_ > 0 ? 1 : mantissa_ < 0 ? -1 : 0; }

  // The number, or the number of thousandths, rounded away from zero to a whole one. Error (kTooLarge): outside int64.
  Result<int64_t> Value() const { return Scaled(0); }
  Result<int64_t> MilliValue() const { return Scaled(-3); }

  // In the format of this, or of the other when this is zero. Error (kTooLarge): more than kMaxDigits digits.
  Result<Quantity> Add(const Quantity& other) const;
  Result<Quantity> Sub(const Quantity& other) const { return Add(other.Neg()); }
  Quantity Neg() const;

  // By value: 1Gi == 1024Mi, and 1k == 1e3.
  friend bool operator==(const Quantity& a, const Quantity& b) {
    return a.mantissa_ == b.mantissa_ && a.exponent_ == b.exponent_;
  }
  friend std::strong_ordering operator<=>(const Quantity& a, const Quantity& b);

 private:
  using Int = __int128;

  // The one way to make a quantity: reduces to the normal form and checks the limits.
  static Result<Quantity> Make(Int mantissa, int64_t exponent, Format format);
  Quantity(Int mantissa, int32_t exponent, Format format) : mantissa_(mantissa), exponent_(exponent), format_(format) {}

  static Result<Quantity> FromDecimal(bool negative, std::string digits, int64_t exponent, Format format);
  static Result<Quantity> FromBinary(bool negative, std::string_view whole, std::string_view fraction, int power);

  Result<int64_t> Scaled(int exponent) const;
  bool PrintsInBinary() const;
  std::string BinaryText() const;
  std::string DecimalText() const;

  // mantissa * 10^exponent. Normal form, so that equal numbers have equal fields: the mantissa does not end in a zero
  // digit, and zero is 0 * 10^0. |mantissa| < 10^kMaxDigits.
  Int mantissa_ = 0;
  int32_t exponent_ = 0;
  Format format_ = Format::kDecimalSi;
};

}  // namespace baton::json
