// Quantity: canonical text reads back as the same number, and comparing agrees with adding.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/invariant.h"
#include "json/quantity.h"

namespace {

using baton::Result;
using baton::json::Quantity;

void CheckText(const Quantity& q) {
  const std::string text = q.ToString();
  const Result<Quantity> again = Quantity::Parse(text);
  INVARIANT(again.ok(), text);
  INVARIANT(*again == q, text);
  // A binary quantity that prints without suffix reads back as a decimal one, which may have a shorter text: 1025000.
  const bool forgets_format = q.format() == Quantity::Format::kBinarySi && text.back() != 'i';
  INVARIANT(forgets_format || again->ToString() == text, text);
  INVARIANT(Quantity::Parse(again->ToString())->ToString() == again->ToString(), text);
  INVARIANT(q.Neg().Neg() == q, text);
  INVARIANT((q.Sign() < 0) == text.starts_with('-'), text);
  if (const Result<int64_t> value = q.Value(); value.ok()) {
    const Quantity rounded = Quantity::FromInt(*value);
    INVARIANT(q.Sign() >= 0 ? rounded >= q : rounded <= q, text);
    const Result<int64_t> milli = q.MilliValue();
    if (milli.ok()) INVARIANT((*milli / 1000 == *value) == (*milli % 1000 == 0), text);
  }
}

void CheckPair(const Quantity& a, const Quantity& b) {
  const auto order = a <=> b;
  INVARIANT((b <=> a) == (0 <=> order), "the order is not symmetric");
  INVARIANT((order == 0) == (a == b), "equal, but not in order");
  INVARIANT((a.Neg() <=> b.Neg()) == (b <=> a), "negation does not turn the order around");
  const Result<Quantity> sum = a.Add(b);
  const Result<Quantity> difference = a.Sub(b);
  if (sum.ok()) {
    CheckText(*sum);
    INVARIANT(*sum == *b.Add(a), "adding is not commutative");
    INVARIANT((*sum <=> a) == (b <=> Quantity()), "adding does not keep the order");
    if (const Result<Quantity> back = sum->Sub(b); back.ok()) INVARIANT(*back == a, "a + b - b is not a");
  }
  if (difference.ok()) {
    CheckText(*difference);
    INVARIANT((*difference <=> Quantity()) == order, "comparing and subtracting disagree");
  }
}

}  // namespace

// The input is up to three quantities, one a line.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  Quantity q[3];
  for (Quantity& each : q) {
    const size_t end = text.find('\n');
    Result<Quantity> parsed = Quantity::Parse(text.substr(0, end));
    if (!parsed.ok()) return 0;
    each = *parsed;
    CheckText(each);
    text = end == std::string_view::npos ? "0" : text.substr(end + 1);
  }
  for (const Quantity& a : q) {
    for (const Quantity& b : q) CheckPair(a, b);
  }
  INVARIANT(!(q[0] <= q[1] && q[1] <= q[2]) || q[0] <= q[2], "the order is not transitive");
  return 0;
}
