// Flags: "--name value", "--name=value", "--switch", and short forms ("-n value", "-nvalue") on a command line.
//
//   Flags flags({{"--data-dir", "DIR"}, {"--namespace", "NAME", "-n"}, {"--ephemeral"}});
//   TRY(flags.Parse(arguments));                       // what it does not know, or knows twice, is an error
//   std::string dir = TRY(flags.Required("--data-dir"));
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace baton::cli {

inline constexpr int kFailed = 1;
inline constexpr int kUsageError = 2;

struct Flag {
  std::string_view name;        // "--data-dir"
  std::string_view value = {};  // what its value is, for messages; "": a switch that takes none
  std::string_view alias = {};  // "-n": another spelling of it
};

class Flags {
 public:
  // `positionals`: how many arguments that are no flags there may be.
  explicit Flags(std::vector<Flag> known, size_t positionals = 0)
      : known_(std::move(known)), positionals_(positionals) {}

  Result<void> Parse(std::span<const std::string_view> arguments);
  Result<void> ParseAll(std::span<const std::string_view> arguments);  // and every flag must be there
  bool Has(std::string_view name) const { return given_.contains(name); }
  std::string Get(std::string_view name, std::string_view fallback = {}) const;
  Result<std::string> Required(std::string_view name) const;
  Result<Duration> GetDuration(std::string_view name, Duration fallback) const;  // "10m", "1h30m"
  Result<int64_t> GetInt(std::string_view name, int64_t fallback, int64_t least, int64_t most) const;
  const std::vector<std::string>& positional() const { return positional_; }
  // The only positional argument; an error says what it should be: "a migration's name".
  Result<std::string> Only(std::string_view what) const;

 private:
  const Flag* Find(std::string_view argument) const;
  std::vector<Flag> known_;
  size_t positionals_;
  std::vector<std::string> positional_;
  std::map<std::string, std::string, std::less<>> given_;
};

// Any argument is -h or --help.
bool AsksForHelp(std::span<const std::string_view> arguments);
// "baton COMMAND: <error>", with a pointer to --help for usage errors. Returns the exit code.
int UsageError(std::string_view command, const Error& error);
int Failure(std::string_view command, const Error& error);

}  // namespace baton::cli
