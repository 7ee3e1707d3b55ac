// Faults by name.
#include "practice/faults.h"

#include <charconv>
#include <string>

#include "base/strings.h"

namespace baton::practice {

namespace {
constexpr double kSlowMax = 1000;
constexpr double kStallMax = 3600;
}  // namespace

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
  } else if (name == "slow" && is_number && number > 0 && number <= kSlowMax) {
    slow = number;
  } else if (name == "stall-operator" && is_number && number >= 0 && number <= kStallMax) {
    stall_operator = std::chrono::duration_cast<Duration>(std::chrono::duration<double>(number));
  } else {
    return InvalidError(StrCat("no fault '", text,
                               "': there are fail-next-savepoint, fail-image, forget-status (each may be =off), "
                               "partition (of `baton up`), slow=<factor>, stall-operator=<seconds>"));
  }
  return {};
}

}  // namespace baton::practice
