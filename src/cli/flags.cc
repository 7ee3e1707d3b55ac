// Command lines.
#include "cli/flags.h"

#include <algorithm>
#include <cstdio>

#include "base/strings.h"

namespace baton::cli {

Result<void> Flags::Parse(std::span<const std::string_view> arguments) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].starts_with('-') && positional_.size() < positionals_) {
      positional_.emplace_back(arguments[i]);
      continue;
    }
    const size_t equals = arguments[i].find('=');
    const std::string_view name = arguments[i].substr(0, equals);
    const auto flag = std::ranges::find(known_, name, &Flag::name);
    if (flag == known_.end()) return InvalidError(StrCat("'", arguments[i], "' is not an option"));
    if (given_.contains(name)) return InvalidError(StrCat(name, " is given twice"));
    std::string value;
    if (flag->value.empty()) {
      if (equals != std::string_view::npos) return InvalidError(StrCat(name, " takes no value"));
    } else {
      if (equals == std::string_view::npos && i + 1 == arguments.size()) {
        return InvalidError(StrCat(name, " needs a value"));
      }
      value = equals == std::string_view::npos ? arguments[++i] : arguments[i].substr(equals + 1);
      if (value.empty()) return InvalidError(StrCat(name, " needs a value"));
    }
    given_.emplace(name, std::move(value));
  }
  return {};
}

Result<void> Flags::ParseAll(std::span<const std::string_view> arguments) {
  TRY(Parse(arguments));
  for (const Flag& flag : known_) TRY(Required(flag.name));
  return {};
}

std::string Flags::Get(std::string_view name, std::string_view fallback) const {
  const auto found = given_.find(name);
  return found == given_.end() ? std::string(fallback) : found->second;
}

Result<std::string> Flags::Required(std::string_view name) const {
  if (!Has(name)) return InvalidError(StrCat(name, " is missing"));
  return Get(name);
}

bool AsksForHelp(std::span<const std::string_view> arguments) {
  return arguments.size() == 1 && (arguments[0] == "--help" || arguments[0] == "-h");
}

int UsageError(std::string_view command, const Error& error) {
  std::fputs(
      StrCat("baton ", command, ": ", error.message(), ". `baton ", command, " --help` tells how to use it.\n").c_str(),
      stderr);
  return kUsageError;
}

int Failure(std::string_view command, const Error& error) {
  std::fputs(StrCat("baton ", command, ": ", error.message(), "\n").c_str(), stderr);
  return kFailed;
}

}  // namespace baton::cli
