// The string library as scripts may have it: our own matcher, no gsub, no rep, no dump, arguments of bounded length.
#include <algorithm>
#include <array>
#include <lua.hpp>
#include <string>
#include <string_view>

#include "interpret/lua_internal.h"
#include "interpret/lua_pattern.h"

namespace baton::interpret {

namespace {

constexpr int kTextCostShift = 5;  // a step pays for 32 bytes
// Lua's own, run behind a check of their arguments.
constexpr std::array kKept = {"byte", "char", "format", "len", "lower", "reverse", "sub", "upper"};
constexpr std::array kRefused = {"gsub", "rep", "dump"};

void CheckLength(lua_State* state, size_t size) {
  const size_t limit = ContextOf(state).limits.string_argument;
  if (size > limit)
    luaL_error(state, "string length %d exceeds the limit of %d", static_cast<int>(size), static_cast<int>(limit));
}

std::string_view CheckText(lua_State* state, int index) {
  size_t size = 0;
  const char* data = luaL_checklstring(state, index, &size);
  CheckLength(state, size);
  return {data, size};
}

int Refused(lua_State* state) {
  return luaL_error(state, "The Lua function string.%s is not supported by Karmada.",
                    lua_tostring(state, lua_upvalueindex(1)));
}

int Checked(lua_State* state) {
  const int arguments = lua_gettop(state);
  uint64_t cost = 1;
  for (int i = 1; i <= arguments; ++i) {
    if (lua_type(state, i) != LUA_TSTRING) continue;
    const size_t size = lua_objlen(state, i);
    CheckLength(state, size);
    cost += size >> kTextCostShift;
  }
  Charge(state, cost);
  lua_pushvalue(state, lua_upvalueindex(1));
  lua_insert(state, 1);
  lua_call(state, arguments, LUA_MULTRET);
  return lua_gettop(state);
}

// Lua's numbering from 1 or from the end, as an offset inside [0, size].
size_t StartOffset(lua_State* state, int index, size_t size) {
  const double given = luaL_optnumber(state, index, 1);
  const double from = given < 0 ? static_cast<double>(size) + given : given - 1;
  if (!(from > 0)) return 0;
  return from > static_cast<double>(size) ? size : static_cast<size_t>(from);
}

// What matching may still cost, and paying for it afterwards. An error text is left on the stack, false says so.
bool RunFind(lua_State* state, LuaPattern& pattern, uint64_t& left, std::string_view subject, size_t from, bool anchors,
             bool& found) {
  const uint64_t before = left;
  const Result<bool> result = pattern.Find(subject, from, anchors);
  ContextOf(state).steps += before - left;
  if (result.ok()) {
    found = *result;
    return true;
  }
  if (result.error().kind() == ErrorKind::kTooLarge) ContextOf(state).steps = ContextOf(state).limits.steps;
  lua_pushlstring(state, result.error().message().data(), result.error().message().size());
  return false;
}

uint64_t StepsLeft(lua_State* state) {
  const LuaContext& context = ContextOf(state);
  return context.limits.steps - std::min(context.limits.steps, context.steps);
}

[[noreturn]] void RaisePushed(lua_State* state) {
  Charge(state, 1);  // when the steps are spent this ends the script
  luaL_where(state, 1);
  lua_insert(state, -2);
  lua_concat(state, 2);
  lua_error(state);
  std::abort();
}

int PushCaptures(lua_State* state, const LuaPattern& pattern, std::string_view subject, bool whole_if_none) {
  const auto captures = pattern.captures();
  if (captures.empty() && whole_if_none) {
    lua_pushlstring(state, subject.data() + pattern.start(), pattern.end() - pattern.start());
    return 1;
  }
  luaL_checkstack(state, static_cast<int>(captures.size()), "too many captures");
  for (const LuaPattern::Capture& capture : captures) {
    if (capture.position) {
      lua_pushinteger(state, static_cast<lua_Integer>(capture.start + 1));
    } else {
      lua_pushlstring(state, subject.data() + capture.start, capture.size);
    }
  }
  return static_cast<int>(captures.size());
}

int FindOrMatch(lua_State* state, bool find) {
  const std::string_view subject = CheckText(state, 1);
  const std::string_view text = CheckText(state, 2);
  const size_t from = StartOffset(state, 3, subject.size());
  Charge(state, 1);
  if (find && (lua_toboolean(state, 4) != 0 || LuaPattern::IsPlain(text))) {
    Charge(state, (subject.size() * std::max<size_t>(1, text.size() >> kTextCostShift)) >> kTextCostShift);
    const size_t at = subject.find(text, from);
    if (at == std::string_view::npos) {
      lua_pushnil(state);
      return 1;
    }
    lua_pushinteger(state, static_cast<lua_Integer>(at + 1));
    lua_pushinteger(state, static_cast<lua_Integer>(at + text.size()));
    return 2;
  }
  uint64_t left = StepsLeft(state);
  LuaPattern pattern(text, left);
  bool found = false;
  if (!RunFind(state, pattern, left, subject, from, true, found)) RaisePushed(state);
  if (!found) {
    lua_pushnil(state);
    return 1;
  }
  if (!find) return PushCaptures(state, pattern, subject, true);
  lua_pushinteger(state, static_cast<lua_Integer>(pattern.start() + 1));
  lua_pushinteger(state, static_cast<lua_Integer>(pattern.end()));
  return PushCaptures(state, pattern, subject, false) + 2;
}

int Find(lua_State* state) { return FindOrMatch(state, true); }
int MatchOnce(lua_State* state) { return FindOrMatch(state, false); }

// Upvalues: subject, pattern, the offset to go on from.
int NextMatch(lua_State* state) {
  const std::string_view subject = CheckText(state, lua_upvalueindex(1));
  const std::string_view text = CheckText(state, lua_upvalueindex(2));
  const auto from = static_cast<size_t>(lua_tointeger(state, lua_upvalueindex(3)));
  Charge(state, 1);
  if (from > subject.size()) return 0;
  uint64_t left = StepsLeft(state);
  LuaPattern pattern(text, left);
  bool found = false;
  if (!RunFind(state, pattern, left, subject, from, false, found)) RaisePushed(state);
  if (!found) return 0;
  const size_t next = pattern.end() == pattern.start() ? pattern.end() + 1 : pattern.end();
  lua_pushinteger(state, static_cast<lua_Integer>(next));
  lua_replace(state, lua_upvalueindex(3));
  return PushCaptures(state, pattern, subject, true);
}

int AllMatches(lua_State* state) {
  CheckText(state, 1);
  CheckText(state, 2);
  lua_settop(state, 2);
  lua_pushinteger(state, 0);
  lua_pushcclosure(state, NextMatch, 3);
  return 1;
}

}  // namespace

void OpenSafeString(lua_State* state) {
  lua_pushcfunction(state, luaopen_string);
  lua_pushstring(state, "string");
  lua_call(state, 1, 0);
  lua_getglobal(state, "string");
  lua_newtable(state);  // globals, Lua's library, ours
  for (const char* name : kKept) {
    lua_getfield(state, -2, name);
    lua_pushcclosure(state, Checked, 1);
    lua_setfield(state, -2, name);
  }
  for (const char* name : kRefused) {
    lua_pushstring(state, name);
    lua_pushcclosure(state, Refused, 1);
    lua_setfield(state, -2, name);
  }
  lua_pushcfunction(state, Find);
  lua_setfield(state, -2, "find");
  lua_pushcfunction(state, MatchOnce);
  lua_setfield(state, -2, "match");
  for (const char* name : {"gmatch", "gfind"}) {
    lua_pushcfunction(state, AllMatches);
    lua_setfield(state, -2, name);
  }
  lua_remove(state, -2);
  lua_newtable(state);  // ("text"):lower() reads ours, too
  lua_pushvalue(state, -2);
  lua_setfield(state, -2, "__index");
  lua_pushliteral(state, "");
  lua_insert(state, -2);
  lua_setmetatable(state, -2);
  lua_pop(state, 1);
  SetReadOnly(state, "string");
}

}  // namespace baton::interpret
