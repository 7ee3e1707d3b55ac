// Command lines.
#include "cli/flags.h"

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "base/strings.h"
#include "json/go_duration.h"

namespace baton::cli {

// By its name or its alias, with a value after '=' or, in the short form, right behind it.
const Flag* Flags::Find(std::string_view argument) const {
  const std::string_view name = argument.substr(0, argument.find('='));
  for (const Flag& flag : known_) {
    if (flag.name == name || (!flag.alias.empty() && flag.alias == name)) return &flag;
  }
  if (argument.starts_with("--") || argument.size() < 3) return nullptr;
  const auto with_value = std::ranges::find_if(
      known_, [&](const Flag& flag) { return flag.alias == argument.substr(0, 2) && !flag.value.empty(); });
  return with_value == known_.end() ? nullptr : &*with_value;
}

Result<void> Flags::Parse(std::span<const std::string_view> arguments) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    if (!argument.starts_with('-') && positional_.size() < positionals_) {
      positional_.emplace_back(argument);
      continue;
    }
    const Flag* flag = Find(argument);
    if (flag == nullptr) return InvalidError(StrCat("'", argument, "' is not an option"));
    if (given_.contains(flag->name)) return InvalidError(StrCat(flag->name, " is given twice"));
    const size_t equals = argument.find('=');
    std::string value;
    if (flag->value.empty()) {
      if (equals != std::string_view::npos) return InvalidError(StrCat(flag->name, " takes no value"));
    } else {
      const std::string_view spelled = argument.substr(0, equals);
      const bool glued = spelled != flag->name && spelled != flag->alias;
      if (glued) {
        value = argument.substr(flag->alias.size());
      } else if (equals != std::string_view::npos) {
        value = argument.substr(equals + 1);
      } else if (i + 1 < arguments.size()) {
        value = arguments[++i];
      }
      if (value.empty()) return InvalidError(StrCat(flag->name, " needs a value"));
    }
    given_.emplace(flag->name, std::move(value));
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

Result<int64_t> Flags::GetInt(std::string_view name, int64_t fallback, int64_t least, int64_t most) const {
  if (!Has(name)) return fallback;
  const std::string text = Get(name);
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < least || number > most) {
    return InvalidError(StrCat(name, ": '", text, "' is not a number from ", least, " to ", most));
  }
  return number;
}

Result<Duration> Flags::GetDuration(std::string_view name, Duration fallback) const {
  if (!Has(name)) return fallback;
  Result<Duration> duration = json::ParseDuration(Get(name));
  if (!duration.ok() || *duration < Duration::zero()) {
    return InvalidError(StrCat(name, ": '", Get(name), "' is no duration, as 30s or 10m"));
  }
  return duration;
}

Result<std::string> Flags::Only(std::string_view what) const {
  if (positional_.size() != 1) return InvalidError(StrCat(what, " is missing"));
  return positional_.front();
}

bool AsksForHelp(std::span<const std::string_view> arguments) {
  return std::ranges::any_of(arguments, [](std::string_view one) { return one == "--help" || one == "-h"; });
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
