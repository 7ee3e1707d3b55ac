// Structured logging: one event, one line, written whole.
//
//   FdSink sink(STDERR_FILENO);
//   Log log(sink, [&clock] { return clock.Wall(); }, {.filter = TRY(ParseLogFilter("info,rollout=debug"))});
//   Logger logger = log.For("rollout").With("cluster", name);
//   logger.Info("granted", {{"seq", 7}, {"took", elapsed}});
//
//   ts=2026-11-15T10:00:00.000Z level=info module=rollout msg="granted" cluster=green seq=7 took=12.5ms
//   {"ts":"2026-11-15T10:00:00.000Z","level":"info","module":"rollout","msg":"granted","cluster":"green","seq":7,...}
//
// The message is a constant; what varies goes into fields. Whatever is in a value, a line stays one line: values are
// escaped as in JSON strings, control and direction-changing characters too, and bytes that are not UTF-8 become
// U+FFFD. A value is cut after kMaxLogValueBytes (its text then ends in "..."); fields beyond kMaxLogLineBytes are left
// out; both are shown by a last field truncated=true.
//
// There is no global log: a Log is made in main() (or in a test, with a CaptureSink) and Loggers are handed down. The
// sink must outlive the Log, and the Log its Loggers. All of it may be used from any thread; the clock function, too,
// is called from any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"

namespace baton {

inline constexpr size_t kMaxLogLineBytes = size_t{16} << 10;
inline constexpr size_t kMaxLogValueBytes = size_t{4} << 10;  // as printed, that is with escapes
inline constexpr size_t kMaxLogKeyBytes = 64;
inline constexpr size_t kMaxLogFilterBytes = size_t{4} << 10;

enum class LogLevel : uint8_t { kDebug, kInfo, kWarn, kError };
enum class LogFormat : uint8_t { kLogfmt, kJson };

std::string_view LogLevelName(LogLevel level);  // "debug", "info", "warn", "error"

// Which lines are wanted: a level for everyone, and levels for single modules.
struct LogFilter {
  LogLevel level = LogLevel::kInfo;
  std::map<std::string, LogLevel, std::less<>> modules;

  LogLevel LevelOf(std::string_view module) const;
};

// "info,rollout=debug,net=warn". Empty text is the default filter. An error names the wrong item.
Result<LogFilter> ParseLogFilter(std::string_view text);

// A field's value. Refers to its text: only for the arguments of a call.
class LogValue {
 public:
  enum class Kind : uint8_t { kString, kInt, kUint, kDouble, kBool, kDuration, kTime };

  // NOLINTBEGIN(google-explicit-constructor): {{"seq", 7}} is the point of this class
  constexpr LogValue(std::string_view text) : kind_(Kind::kString), text_(text) {}
  LogValue(const std::string& text) : kind_(Kind::kString), text_(text) {}
  constexpr LogValue(const char* text) : kind_(Kind::kString), text_(text == nullptr ? "" : text) {}
  template <class Tag>
  LogValue(const StrongString<Tag>& id) : LogValue(id.str()) {}
  template <class Tag>
  constexpr LogValue(StrongInt<Tag> id) : LogValue(id.value()) {}
  template <std::same_as<bool> B>
  constexpr LogValue(B value) : kind_(Kind::kBool), int_(value) {}
  template <std::signed_integral N>
    requires(!std::same_as<N, char> && sizeof(N) <= 8)
  constexpr LogValue(N value) : kind_(Kind::kInt), int_(value) {}
  template <std::unsigned_integral N>
    requires(!std::same_as<N, bool> && !std::same_as<N, char> && sizeof(N) <= 8)
  constexpr LogValue(N value) : kind_(Kind::kUint), uint_(value) {}
  template <std::floating_point N>
    requires(sizeof(N) <= 8)
  constexpr LogValue(N value) : kind_(Kind::kDouble), double_(value) {}
  template <std::integral N, class Period>
  constexpr LogValue(std::chrono::duration<N, Period> value) : kind_(Kind::kDuration), int_(Duration(value).count()) {}
  constexpr LogValue(WallTime value) : kind_(Kind::kTime), int_(value.time_since_epoch().count()) {}
  // NOLINTEND(google-explicit-constructor)

  Kind kind() const { return kind_; }
  std::string_view text() const { return text_; }         // kString
  int64_t int_value() const { return int_; }              // kInt, kBool
  uint64_t uint_value() const { return uint_; }           // kUint
  double double_value() const { return double_; }         // kDouble
  Duration duration() const { return Duration(int_); }    // kDuration
  WallTime time() const { return WallTime(duration()); }  // kTime

 private:
  Kind kind_;
  union {
    std::string_view text_;
    int64_t int_;
    uint64_t uint_;
    double double_;
  };
};

// A key and a value. Keys are words of [A-Za-z0-9_.-]; other characters print as '_', and the line's own keys (ts,
// level, module, msg, truncated) with a '_' behind. A key given twice prints once, with the later value.
struct LogField {
  LogField(std::string_view field_key, LogValue field_value) : key(field_key), value(field_value) {}

  std::string_view key;
  LogValue value;
};

// Where lines go.
class LogSink {
 public:
  virtual ~LogSink() = default;

  // One whole line with its newline. Called from any thread, also from several at once. Must not fail and not log.
  virtual void Write(std::string_view line) = 0;
};

// To a file descriptor (which it does not own), each line with one write(2).
class FdSink : public LogSink {
 public:
  explicit FdSink(int fd) : fd_(fd) {}
  void Write(std::string_view line) override;

  // Lines lost, whole or in part, because the descriptor took no more: nobody reads it, the disk is full, or it is
  // non-blocking and its pipe is full. The program goes on (it must ignore SIGPIPE).
  uint64_t dropped_lines() const { return dropped_lines_.load(std::memory_order_relaxed); }

 private:
  const int fd_;
  std::mutex mutex_;  // a line the kernel takes in two parts must not be split by another
  bool in_line_ = false;
  std::atomic<uint64_t> dropped_lines_ = 0;
};

// Into memory, for tests.
class CaptureSink : public LogSink {
 public:
  void Write(std::string_view line) override;
  std::vector<std::string> lines() const;  // without their newlines
  void Clear();

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

class Log;

namespace log_internal {

struct Module {
  Log* log;
  std::string name;
  std::atomic<uint8_t> least;  // the lowest level that is written
};

// A field bound to a Logger, as it will stand in the line.
struct BoundField {
  std::string key;
  std::string text;
  bool cut;
};

}  // namespace log_internal

// A module's voice, with the fields bound to it. A value: copy it freely. A default-made Logger is silent.
class Logger {
 public:
  Logger() = default;

  // The same logger with one more field on each line; a field of that key it already has is replaced.
  Logger With(std::string_view key, LogValue value) const;

  // Whether a line of this level would be written; ask before computing an expensive field.
  bool On(LogLevel level) const {
    return module_ != nullptr && static_cast<uint8_t>(level) >= module_->least.load(std::memory_order_relaxed);
  }

  void Debug(std::string_view message, std::initializer_list<LogField> fields = {}) const {
    if (On(LogLevel::kDebug)) [[unlikely]]
      Write(LogLevel::kDebug, message, fields);
  }
  void Info(std::string_view message, std::initializer_list<LogField> fields = {}) const {
    if (On(LogLevel::kInfo)) Write(LogLevel::kInfo, message, fields);
  }
  void Warn(std::string_view message, std::initializer_list<LogField> fields = {}) const {
    if (On(LogLevel::kWarn)) Write(LogLevel::kWarn, message, fields);
  }
  void Error(std::string_view message, std::initializer_list<LogField> fields = {}) const {
    if (On(LogLevel::kError)) Write(LogLevel::kError, message, fields);
  }

 private:
  friend class Log;
  explicit Logger(const log_internal::Module* module) : module_(module) {}
  void Write(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) const;

  const log_internal::Module* module_ = nullptr;
  std::shared_ptr<const std::vector<log_internal::BoundField>> bound_;  // null when there are none
};

struct LogOptions {
  LogFormat format = LogFormat::kLogfmt;
  LogFilter filter = {};
};

class Log {
 public:
  Log(LogSink& sink, std::function<WallTime()> now, LogOptions options = {});
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  // The logger of a module, which is known in the filter by this name.
  Logger For(std::string_view module);

  // From now on, also for the Loggers there are.
  void SetFilter(LogFilter filter);

  LogFormat format() const { return format_; }

 private:
  friend class Logger;

  LogSink& sink_;
  const std::function<WallTime()> now_;
  const LogFormat format_;
  std::mutex mutex_;  // guards the two below
  LogFilter filter_;
  std::map<std::string, std::unique_ptr<log_internal::Module>, std::less<>> modules_;
};

}  // namespace baton
