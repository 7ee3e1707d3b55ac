// JSON to Lua and back, as Karmada's gopher-json does it.
#include <array>
#include <charconv>
#include <cmath>
#include <lua.hpp>
#include <vector>

#include "base/strings.h"
#include "base/utf8.h"
#include "interpret/lua_internal.h"
#include "json/builder.h"
#include "json/parse.h"

namespace baton::interpret {

namespace {

using json::Kind;
using json::Value;

constexpr double kExactBelow = 9007199254740992.0;  // 2^53: whole numbers up to here are themselves
constexpr double kTwo63 = 9223372036854775808.0;
constexpr int kPushSlots = 4;  // stack slots that one level of pushing takes

void PushLevel(lua_State* state, const Value& value, size_t depth) {
  if (depth > json::kMaxDepth) Raise(state, "the object is nested too deeply");
  switch (value.kind()) {
    case Kind::kNull:
      lua_pushnil(state);
      return;
    case Kind::kBool:
      lua_pushboolean(state, value.bool_or(false) ? 1 : 0);
      return;
    case Kind::kInt:
    case Kind::kUint: {
      const double number = value.number_or(0);
      lua_pushnumber(state, std::abs(number) >= kExactBelow ? ContextOf(state).exact.Note(value) : number);
      return;
    }
    case Kind::kDouble:
      lua_pushnumber(state, value.number_or(0));
      return;
    case Kind::kString: {
      const std::string_view text = value.str();
      lua_pushlstring(state, text.data(), text.size());
      return;
    }
    case Kind::kArray: {
      luaL_checkstack(state, kPushSlots, "the object");
      lua_createtable(state, static_cast<int>(value.size()), 0);
      int index = 0;
      for (const Value& item : value.items()) {
        if (item.is_null()) continue;
        PushLevel(state, item, depth + 1);
        lua_rawseti(state, -2, ++index);
      }
      return;
    }
    case Kind::kObject: {
      luaL_checkstack(state, kPushSlots, "the object");
      lua_createtable(state, 0, static_cast<int>(value.size()));
      for (const json::Member& member : value.members()) {
        if (member.value().is_null()) continue;
        lua_pushlstring(state, member.key().data(), member.key().size());
        PushLevel(state, member.value(), depth + 1);
        lua_rawset(state, -3);
      }
      return;
    }
  }
}

class Reader {
 public:
  Reader(lua_State* state, ResultBudget& budget) : state_(state), budget_(budget) {}

  Result<Value> Read(int index) {
    if (budget_.values-- == 0) return TooLargeError("the result has too many values");
    switch (lua_type(state_, index)) {
      case LUA_TNIL:
        return Value();
      case LUA_TBOOLEAN:
        return Value(lua_toboolean(state_, index) != 0);
      case LUA_TNUMBER:
        return Number(lua_tonumber(state_, index));
      case LUA_TSTRING:
        return Value(TRY(Text(index)));
      case LUA_TTABLE:
        return Table(index);
      default:
        return InvalidError(StrCat("cannot encode ", lua_typename(state_, lua_type(state_, index)), " to JSON"));
    }
  }

 private:
  Result<Value> Number(double number) {
    if (!std::isfinite(number)) return InvalidError("cannot encode a number that is not finite to JSON");
    if (std::trunc(number) != number) return Value(number);
    if (std::abs(number) >= kExactBelow) return ContextOf(state_).exact.Restore(number);
    return Value(static_cast<int64_t>(number));
  }

  // Call only on strings: Lua would change a number in its place.
  Result<std::string> Text(int index) {
    size_t size = 0;
    const char* data = lua_tolstring(state_, index, &size);
    if (size > budget_.bytes) return TooLargeError("the result has too many bytes");
    budget_.bytes -= size;
    return ReplaceInvalidUtf8({data, size});
  }

  Result<Value> Table(int index) {
    const void* identity = lua_topointer(state_, index);
    for (const void* outer : path_) {
      if (outer == identity) return InvalidError("cannot encode recursively nested tables to JSON");
    }
    if (path_.size() >= json::kMaxDepth) return TooLargeError("the result is nested too deeply");
    path_.push_back(identity);
    if (index < 0) index = lua_gettop(state_) + index + 1;
    lua_pushnil(state_);
    const bool empty = lua_next(state_, index) == 0;
    if (empty) {
      path_.pop_back();
      return json::Array();
    }
    const bool object = lua_type(state_, -2) == LUA_TSTRING;
    lua_pop(state_, 2);
    Result<Value> value = object ? Members(index) : Items(index);
    path_.pop_back();
    return value;
  }

  Result<Value> Items(int index) {
    const size_t count = lua_objlen(state_, index);
    size_t keys = 0;
    for (lua_pushnil(state_); lua_next(state_, index) != 0; lua_pop(state_, 1)) {
      if (lua_type(state_, -2) == LUA_TNUMBER && ++keys <= count) continue;
      const bool number = lua_type(state_, -2) == LUA_TNUMBER;
      lua_pop(state_, 2);
      return InvalidError(number ? "cannot encode sparse array" : "cannot encode mixed or invalid key types");
    }
    if (keys != count) return InvalidError("cannot encode sparse array");
    json::ArrayBuilder items;
    items.Reserve(count);
    for (size_t i = 1; i <= count; ++i) {
      lua_rawgeti(state_, index, static_cast<int>(i));
      if (lua_isnil(state_, -1)) {
        lua_pop(state_, 1);
        return InvalidError("cannot encode sparse array");
      }
      Result<Value> item = Read(lua_gettop(state_));
      lua_pop(state_, 1);
      items.Add(TRY(std::move(item)));
    }
    return std::move(items).Build();
  }

  Result<Value> Members(int index) {
    json::ObjectBuilder members;
    for (lua_pushnil(state_); lua_next(state_, index) != 0; lua_pop(state_, 1)) {
      const int top = lua_gettop(state_);
      if (lua_type(state_, top - 1) != LUA_TSTRING) {
        lua_pop(state_, 2);
        return InvalidError("cannot encode mixed or invalid key types");
      }
      Result<std::string> key = Text(top - 1);
      Result<Value> value = key.ok() ? Read(top) : Result<Value>(key.error());
      if (!value.ok()) {
        lua_pop(state_, 2);
        return value.error().Context(key.ok() ? *key : "key");
      }
      members.Add(*key, *std::move(value));
    }
    return std::move(members).Build();
  }

  lua_State* state_;
  ResultBudget& budget_;
  std::vector<const void*> path_;
};

}  // namespace

double ExactIntegers::Note(const Value& integer) {
  const double number = integer.number_or(0);
  const auto [at, added] = by_double_.try_emplace(number, integer);
  if (!added && at->second != integer) at->second = Value();
  return number;
}

Value ExactIntegers::Restore(double number) const {
  if (const auto at = by_double_.find(number); at != by_double_.end() && !at->second.is_null()) return at->second;
  if (number >= -kTwo63 && number < kTwo63) return static_cast<int64_t>(number);
  return number;
}

void PushValue(lua_State* state, const Value& value) { PushLevel(state, value, 0); }

Result<Value> ToValue(lua_State* state, int index, ResultBudget& budget) { return Reader(state, budget).Read(index); }

std::string LuaNumberText(double number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number > 0 ? "+Inf" : "-Inf";
  if (number >= -kTwo63 && number < kTwo63 && std::trunc(number) == number) return StrCat(static_cast<int64_t>(number));
  constexpr double kFixedBelow = 1e21;
  constexpr double kFixedFrom = 1e-4;
  std::array<char, 64> buffer;
  const double size = std::abs(number);
  const auto format =
      size < kFixedBelow && size >= kFixedFrom ? std::chars_format::fixed : std::chars_format::scientific;
  return {buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), number, format).ptr};
}

}  // namespace baton::interpret
