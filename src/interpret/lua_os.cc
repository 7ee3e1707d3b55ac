// os.time and os.date, in UTC: all that scripts get of the operating system.
#include <time.h>

#include <array>
#include <lua.hpp>
#include <string>

#include "interpret/lua_internal.h"

namespace baton::interpret {

namespace {

constexpr size_t kMaxDateFormat = 256;
constexpr std::string_view kConversions = "aAbBcdDeFgGhHIjmMnprRStTuUVwWxXyYzZ%";

int64_t Now(lua_State* state) {
  const LuaContext& context = ContextOf(state);
  const WallTime now = context.now ? context.now() : WallTime();
  return std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count();
}

int Field(lua_State* state, const char* name, int fallback) {
  lua_getfield(state, 1, name);
  const double number = lua_type(state, -1) == LUA_TNUMBER ? lua_tonumber(state, -1) : fallback;
  lua_pop(state, 1);
  constexpr double kLargest = 1e6;  // of any field that makes sense
  if (!(number >= -kLargest && number <= kLargest)) luaL_error(state, "field '%s' is out of range", name);
  return static_cast<int>(number);
}

int Time(lua_State* state) {
  if (lua_isnoneornil(state, 1)) {
    lua_pushnumber(state, static_cast<double>(Now(state)));
    return 1;
  }
  luaL_checktype(state, 1, LUA_TTABLE);
  tm parts{};
  parts.tm_sec = Field(state, "sec", 0);
  parts.tm_min = Field(state, "min", 0);
  parts.tm_hour = Field(state, "hour", 12);
  parts.tm_mday = Field(state, "day", -1);
  parts.tm_mon = Field(state, "month", -1) - 1;
  parts.tm_year = Field(state, "year", -1) - 1900;
  lua_pushnumber(state, static_cast<double>(timegm(&parts)));
  return 1;
}

void PushParts(lua_State* state, const tm& parts) {
  lua_createtable(state, 0, 9);
  const auto set = [state](const char* name, int value) {
    lua_pushinteger(state, value);
    lua_setfield(state, -2, name);
  };
  set("year", parts.tm_year + 1900);
  set("month", parts.tm_mon + 1);
  set("day", parts.tm_mday);
  set("hour", parts.tm_hour);
  set("min", parts.tm_min);
  set("sec", parts.tm_sec);
  set("wday", parts.tm_wday + 1);
  set("yday", parts.tm_yday + 1);
  lua_pushboolean(state, 0);
  lua_setfield(state, -2, "isdst");
}

int Date(lua_State* state) {
  size_t size = 0;
  const char* text = luaL_optlstring(state, 1, "%c", &size);
  const double at = luaL_optnumber(state, 2, static_cast<double>(Now(state)));
  constexpr double kLargest = 1e11;  // year 5138
  if (!(at >= -kLargest && at <= kLargest)) return luaL_error(state, "date result cannot be represented");
  const auto seconds = static_cast<time_t>(at);
  tm parts{};
  gmtime_r(&seconds, &parts);
  std::string_view format(text, size);
  if (format.starts_with('!')) format.remove_prefix(1);
  if (format.starts_with("*t")) {
    PushParts(state, parts);
    return 1;
  }
  if (format.size() > kMaxDateFormat || format.find('\0') != std::string_view::npos)
    return luaL_error(state, "invalid date format");
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') continue;
    ++i;
    if (i >= format.size() || kConversions.find(format[i]) == std::string_view::npos)
      return luaL_error(state, "invalid conversion specifier in a date format");
  }
  constexpr size_t kMaxDate = kMaxDateFormat * 16;  // a conversion of two characters makes at most 32
  std::array<char, kMaxDate> buffer;
  const size_t written = strftime(buffer.data(), buffer.size(), std::string(format).c_str(), &parts);
  lua_pushlstring(state, buffer.data(), written);
  return 1;
}

}  // namespace

void OpenSafeOs(lua_State* state) {
  lua_createtable(state, 0, 2);
  lua_pushcfunction(state, Time);
  lua_setfield(state, -2, "time");
  lua_pushcfunction(state, Date);
  lua_setfield(state, -2, "date");
  SetReadOnly(state, "os");
}

}  // namespace baton::interpret
