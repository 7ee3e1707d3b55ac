// How a log line looks: keys, values, escapes and limits, for both formats. Used by log.cc only.
#pragma once

#include <string>
#include <string_view>

#include "base/log.h"

namespace baton::log_internal {

// "2026-11-15T10:00:00.000Z", always UTC, milliseconds cut (not rounded, so that no line is from the future).
void AppendTime(std::string& out, WallTime time);

// As Go prints a time.Duration, but in ASCII: "1h2m3.5s", "12.5ms", "7us", "0s". Exact.
void AppendDuration(std::string& out, Duration duration);

// "ts=... level=... module=... msg=...", in JSON with the opening brace. False when the message was cut.
bool AppendHead(std::string& out, LogFormat format, WallTime time, LogLevel level, std::string_view module,
                std::string_view message);

// " key=value", in JSON ",\"key\":value". False when the value was cut.
bool AppendField(std::string& out, LogFormat format, std::string_view key, const LogValue& value);

// The truncated mark, if so, and the end of the line.
void AppendEnd(std::string& out, LogFormat format, bool truncated);

// Bytes that AppendEnd needs at most; fields must leave them free.
inline constexpr size_t kEndBytes = 32;

}  // namespace baton::log_internal
