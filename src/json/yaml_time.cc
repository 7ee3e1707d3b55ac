// Dates and times as Go's time.Parse takes them in the four layouts of go-yaml v2.
#include "json/yaml_time.h"

#include <cstddef>

namespace baton::json {
namespace {

constexpr size_t kYearDigits = 4;

// Eats a text from the left; each step is false when it does not fit.
class TimeReader {
 public:
  explicit TimeReader(std::string_view text) : left_(text) {}

  bool done() const { return left_.empty(); }

  bool Literal(char c) {
    if (left_.empty() || left_[0] != c) return false;
    left_.remove_prefix(1);
    return true;
  }

  // `digits` digits, or only one of two when `fixed` is false.
  bool Number(int& value, bool fixed = false) {
    if (!Digit(0)) return false;
    const size_t digits = Digit(1) ? 2 : 1;
    if (fixed && digits == 1) return false;
    value = left_[0] - '0';
    if (digits == 2) value = value * 10 + (left_[1] - '0');
    left_.remove_prefix(digits);
    return true;
  }

  bool Year(int& year) {
    int century = 0;
    int rest = 0;
    if (!Number(century, true) || !Number(rest, true)) return false;
    year = century * 100 + rest;
    return true;
  }

  bool Blanks() {
    const size_t end = left_.find_first_not_of(' ');
    const size_t count = end == std::string_view::npos ? left_.size() : end;
    left_.remove_prefix(count);
    return count > 0;
  }

  // Any number of digits after a point or a comma, or nothing.
  void Fraction() {
    if (left_.size() < 2 || (left_[0] != '.' && left_[0] != ',') || !Digit(1)) return;
    left_.remove_prefix(1);
    while (Digit(0)) left_.remove_prefix(1);
  }

 private:
  bool Digit(size_t at) const { return at < left_.size() && left_[at] >= '0' && left_[at] <= '9'; }

  std::string_view left_;
};

int DaysIn(int month, int year) {
  constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return month == 2 && leap ? 29 : kDays[month - 1];
}

bool Date(TimeReader& in) {
  int year = 0;
  int month = 0;
  int day = 0;
  return in.Year(year) && in.Literal('-') && in.Number(month) && in.Literal('-') && in.Number(day) && month >= 1 &&
         month <= 12 && day >= 1 && day <= DaysIn(month, year);
}

bool Clock(TimeReader& in) {
  int hour = 0;
  int minute = 0;
  int second = 0;
  if (!in.Number(hour) || !in.Literal(':') || !in.Number(minute) || !in.Literal(':') || !in.Number(second))
    return false;
  in.Fraction();
  return hour < 24 && minute < 60 && second < 60;
}

// Z or an offset; Go lets 24 hours and 60 minutes pass.
bool Zone(TimeReader& in, std::string_view signs = "+-") {
  if (in.Literal('Z')) return true;
  int hours = 0;
  int minutes = 0;
  return (in.Literal(signs[0]) || in.Literal(signs[1])) && in.Number(hours, true) && in.Literal(':') &&
         in.Number(minutes, true) && hours <= 24 && minutes <= 60;
}

}  // namespace

bool IsYamlTimestamp(std::string_view text) {
  if (text.size() <= kYearDigits || text[kYearDigits] != '-') return false;
  TimeReader in(text);
  if (!Date(in)) return false;
  if (in.done()) return true;
  if (in.Literal('T') || in.Literal('t')) return Clock(in) && Zone(in) && in.done();
  return in.Blanks() && Clock(in) && in.done();
}

}  // namespace baton::json
