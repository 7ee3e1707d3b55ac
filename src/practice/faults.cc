// Faults by name.
#include "practice/faults.h"

#include <charconv>
#include <string>

#include "base/strings.h"

namespace baton::practice {

namespace {
constexpr double kSlowMax = 1000;
constexpr double kSlowDefault = 5;
constexpr double kStallMax = 3600;
constexpr int kOperatorAwayMax = 3600;  // seconds
constexpr int kOperatorAwayDefault = 10;
}  // namespace

Result<Duration> ParseKillOperator(std::string_view text) {
  constexpr std::string_view kName = "kill-operator";
  if (text == kName) return seconds(kOperatorAwayDefault);
  int away = -1;
  if (text.starts_with(kName) && text[kName.size()] == '=') {
    const std::string_view number = text.substr(kName.size() + 1);
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), away);
    if (error != std::errc() || end != number.data() + number.size()) away = -1;
  }
  if (away < 0 || away > kOperatorAwayMax)
    return InvalidError(StrCat("'", text, "' is not kill-operator=SECONDS, up to ", kOperatorAwayMax));
  return seconds(away);
}

Result<void> CheckClusterFault(std::string_view text) {
  if (text == "partition" || text == "partition=off") return {};
  if (!text.starts_with("kill-operator")) return Faults().Set(text);
  TRY(ParseKillOperator(text));
  return {};
}

Result<void> Faults::Set(std::string_view text) {
  const size_t equals = text.find('=');
  const std::string_view name = text.substr(0, equals);
  const std::string_view value = equals == std::string_view::npos ? "" : text.substr(equals + 1);
  double number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  const bool is_number = error == std::errc() && end == value.data() + value.size() && !value.empty();
  const bool on = value != "off";
  if (name == "fail-next-savepoint") {
    fail_savepoints = on ? fail_savepoints + 1 : 0;
  } else if (name == "fail-image") {
    fail_image = on;
  } else if (name == "forget-status") {
    forget_status = on;
  } else if (name == "slow" && (text == name || !on)) {
    slow = on ? kSlowDefault : 1;
  } else if (name == "slow" && is_number && number > 0 && number <= kSlowMax) {
    slow = number;
  } else if (name == "stall-operator" && !on) {
    stall_operator = Duration{0};
  } else if (name == "stall-operator" && is_number && number >= 0 && number <= kStallMax) {
    stall_operator = std::chrono::duration_cast<Duration>(std::chrono::duration<double>(number));
  } else {
    return InvalidError(StrCat("no fault '", text,
                               "': there are fail-next-savepoint, fail-image, forget-status, slow=<factor>, "
                               "stall-operator=<seconds> (each may be =off), partition (of `baton up`), "
                               "kill-operator=<seconds>"));
  }
  return {};
}

}  // namespace baton::practice
