// What both server protocols share.
#include "net/server_session.h"

#include <array>
#include <chrono>

#include "base/strings.h"
#include "net/gzip.h"
#include "net/http_syntax.h"
#include "rt/when.h"

namespace baton::net {
namespace {

constexpr Duration kCloseTimeout = seconds(2);

std::string TwoDigits(int64_t number) { return StrCat(number < 10 ? "0" : "", number); }

std::string FormatDate(int64_t unix_second) {
  constexpr std::array<std::string_view, 7> kDays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::chrono::sys_seconds time{std::chrono::seconds(unix_second)};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  return StrCat(kDays[std::chrono::weekday(day).c_encoding()], ", ", TwoDigits(static_cast<unsigned>(date.day())), " ",
                kMonths[static_cast<unsigned>(date.month()) - 1], " ", static_cast<int>(date.year()), " ",
                TwoDigits(clock.hours().count()), ":", TwoDigits(clock.minutes().count()), ":",
                TwoDigits(clock.seconds().count()), " GMT");
}

// "0", "0.0": the value of a q that refuses.
bool IsZero(std::string_view number) {
  return !number.empty() && number.find_first_not_of("0.") == std::string_view::npos;
}

}  // namespace

void ServerSession::BeginShutdown() {
  shutting_down = true;
  shutdown.Set();
  while (ShutdownHook* hook = told.PopFront()) hook->OnShutdown();
}

std::string_view ServerSession::DateText() {
  const int64_t second = std::chrono::floor<std::chrono::seconds>(loop.WallNow().time_since_epoch()).count();
  if (second != date_second_) {
    date_second_ = second;
    date_ = FormatDate(second);
  }
  return date_;
}

rt::Task<void> CloseGently(rt::Loop& loop, ByteStream& stream) {
  const Result<void> ignored = co_await rt::WithDeadline(rt::Deadline::After(loop, kCloseTimeout),
                                                         "the connection to close", stream.CloseWrite());
  static_cast<void>(ignored);
}

bool AcceptsGzip(const Headers& request_headers) {
  bool accepts = false;
  for (const auto& [name, value] : request_headers.fields()) {
    if (name != "accept-encoding") continue;
    ForEachInList(value, [&](std::string_view member) {
      const size_t semicolon = member.find(';');
      if (!EqualNoCase(TrimBlanks(member.substr(0, semicolon)), "gzip")) return;
      accepts = true;
      if (semicolon == std::string_view::npos) return;
      const std::string_view weight = TrimBlanks(member.substr(semicolon + 1));
      if ((weight.starts_with("q=") || weight.starts_with("Q=")) && IsZero(weight.substr(2))) accepts = false;
    });
  }
  return accepts;
}

rt::Task<void> Compress(rt::Loop& loop, Headers& headers, Body& body) {
  Body shared = body;  // pieces are shared, not copied
  std::string zipped = co_await loop.Offload([shared] { return Gzip(shared); });
  headers.Set("content-encoding", "gzip");
  headers.Add("vary", "accept-encoding");
  body = Body(std::move(zipped));
}

}  // namespace baton::net
