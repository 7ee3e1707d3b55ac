// Log, Logger, the filter's syntax and the sinks.
#include "base/log.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <utility>

#include "base/invariant.h"
#include "base/log_format.h"
#include "base/probe.h"
#include "base/strings.h"

namespace baton {
namespace {

constexpr std::array<std::string_view, 4> kLevelNames = {"debug", "info", "warn", "error"};

std::optional<LogLevel> LevelNamed(std::string_view name) {
  const auto at = std::ranges::find(kLevelNames, name);
  if (at == kLevelNames.end()) return std::nullopt;
  return static_cast<LogLevel>(at - kLevelNames.begin());
}

bool IsModuleName(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
  });
}

// One item of a filter into the filter; the error is about the item alone.
Result<void> AddFilterItem(LogFilter& filter, std::string_view item, bool& has_level) {
  const size_t equals = item.find('=');
  const std::string_view level_text = Trim(equals == std::string_view::npos ? item : item.substr(equals + 1));
  const std::optional<LogLevel> level = LevelNamed(level_text);
  if (!level) return InvalidError(StrCat(Quote(level_text), " is not a level; levels are debug, info, warn and error"));
  if (equals == std::string_view::npos) {
    if (std::exchange(has_level, true)) return InvalidError("a second level for all modules");
    filter.level = *level;
    return {};
  }
  const std::string_view module = Trim(item.substr(0, equals));
  if (!IsModuleName(module)) return InvalidError(StrCat(Quote(module), " is not a module's name"));
  if (!filter.modules.emplace(module, *level).second) {
    return InvalidError(StrCat("a second level for module ", Quote(module)));
  }
  return {};
}

}  // namespace

std::string_view LogLevelName(LogLevel level) { return kLevelNames[static_cast<size_t>(level)]; }

LogLevel LogFilter::LevelOf(std::string_view module) const {
  const auto at = modules.find(module);
  return at == modules.end() ? level : at->second;
}

Result<LogFilter> ParseLogFilter(std::string_view text) {
  if (text.size() > kMaxLogFilterBytes) {
    return TooLargeError(StrCat("a log filter has at most ", kMaxLogFilterBytes, " bytes, and this one ", text.size()));
  }
  LogFilter filter;
  if (Trim(text).empty()) return filter;
  bool has_level = false;
  for (const std::string_view piece : Split(text, ',')) {
    const std::string_view item = Trim(piece);
    const std::string where =
        StrCat("log filter ", Quote(text), " (write it like \"info,rollout=debug\"): item ", Quote(item));
    if (item.empty()) return InvalidError(StrCat(where, " is empty"));
    TRY(AddFilterItem(filter, item, has_level).Context(where));
  }
  return filter;
}

void FdSink::Write(std::string_view line) {
  std::lock_guard lock(mutex_);
  // The rest of a broken line cannot be written any more; at least the next line starts on its own.
  const std::string after_break = in_line_ ? StrCat('\n', line) : std::string();
  std::string_view rest = in_line_ ? std::string_view(after_break) : line;
  while (!rest.empty()) {
    const ssize_t written = write(fd_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      dropped_lines_.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    rest.remove_prefix(static_cast<size_t>(written));
    in_line_ = !rest.empty();
  }
}

void CaptureSink::Write(std::string_view line) {
  INVARIANT(line.ends_with('\n'), "a log line has no end");
  line.remove_suffix(1);
  std::lock_guard lock(mutex_);
  lines_.emplace_back(line);
}

std::vector<std::string> CaptureSink::lines() const {
  std::lock_guard lock(mutex_);
  return lines_;
}

void CaptureSink::Clear() {
  std::lock_guard lock(mutex_);
  lines_.clear();
}

Log::Log(LogSink& sink, std::function<WallTime()> now, LogOptions options)
    : sink_(sink), now_(std::move(now)), format_(options.format), filter_(std::move(options.filter)) {
  INVARIANT(now_ != nullptr, "a Log needs a clock");
}

Logger Log::For(std::string_view module) {
  INVARIANT(IsModuleName(module), StrCat("no filter could name a log module ", Quote(module)));
  std::lock_guard lock(mutex_);
  auto at = modules_.find(module);
  if (at == modules_.end()) {
    std::string name(module);
    const auto least = static_cast<uint8_t>(filter_.LevelOf(module));
    at = modules_.emplace(name, std::make_unique<log_internal::Module>(this, name, least)).first;
  }
  return Logger(at->second.get());
}

void Log::SetFilter(LogFilter filter) {
  std::lock_guard lock(mutex_);
  filter_ = std::move(filter);
  for (auto& [name, module] : modules_) {
    module->least.store(static_cast<uint8_t>(filter_.LevelOf(name)), std::memory_order_relaxed);
  }
}

Logger Logger::With(std::string_view key, LogValue value) const {
  if (module_ == nullptr) return {};
  auto bound = bound_ ? std::make_shared<std::vector<log_internal::BoundField>>(*bound_)
                      : std::make_shared<std::vector<log_internal::BoundField>>();
  std::erase_if(*bound, [key](const log_internal::BoundField& field) { return field.key == key; });
  log_internal::BoundField field{.key = std::string(key), .text = {}, .cut = false};
  field.cut = !log_internal::AppendField(field.text, module_->log->format(), key, value);
  bound->push_back(std::move(field));
  Logger logger(module_);
  logger.bound_ = std::move(bound);
  return logger;
}

void Logger::Write(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) const {
  constexpr size_t kUsualLine = 256;
  Log& log = *module_->log;
  std::string line;
  line.reserve(kUsualLine);
  bool cut = !log_internal::AppendHead(line, log.format(), log.now_(), level, module_->name, message);
  const auto keep = [&](size_t before, bool whole) {  // what was appended since, if the line still has room for it
    if (line.size() + log_internal::kEndBytes > kMaxLogLineBytes) {
      line.resize(before);
      whole = false;
    }
    if (!whole) cut = true;
  };
  const auto given_in = [](const LogField* begin, const LogField* end, std::string_view key) {
    return std::any_of(begin, end, [key](const LogField& field) { return field.key == key; });
  };
  if (bound_) {
    for (const log_internal::BoundField& field : *bound_) {
      if (given_in(fields.begin(), fields.end(), field.key)) continue;
      const size_t before = line.size();
      line += field.text;
      keep(before, !field.cut);
    }
  }
  for (const LogField& field : fields) {
    if (given_in(&field + 1, fields.end(), field.key)) continue;
    const size_t before = line.size();
    const bool whole = log_internal::AppendField(line, log.format(), field.key, field.value);
    keep(before, whole);
  }
  if (cut) SOMETIMES("log.line_truncated");
  log_internal::AppendEnd(line, log.format(), cut);
  log.sink_.Write(line);
}

}  // namespace baton
