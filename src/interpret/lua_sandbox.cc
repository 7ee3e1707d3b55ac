// The base, table and math libraries as scripts may have them.
#include <array>
#include <bit>
#include <lua.hpp>

#include "base/strings.h"
#include "base/utf8.h"
#include "interpret/lua_internal.h"

namespace baton::interpret {

namespace {

// Taken away by Karmada, each with its message.
constexpr std::array kUnsupported = {"collectgarbage", "dofile",       "getfenv",  "getmetatable", "load",
                                     "loadfile",       "loadstring",   "rawequal", "rawget",       "rawset",
                                     "setfenv",        "setmetatable", "module",   "newproxy"};
// In LuaJIT's base library, not in gopher-lua's base library.
constexpr std::array kAbsent = {"coroutine", "gcinfo"};
constexpr uint64_t kErrorCost = 200;  // steps for a caught error: unwinding is slow
constexpr int kTableCostShift = 2;    // a step pays for four moved items

int Unsupported(lua_State* state) {
  const char* name = lua_tostring(state, lua_upvalueindex(1));
  return luaL_error(state, "call function %s is not supported in karmada customized resourceinterpreter.", name);
}

int Print(lua_State* state) {
  LuaContext& context = ContextOf(state);
  const int count = lua_gettop(state);
  for (int i = 1; i <= count; ++i) {
    std::string text;
    if (lua_type(state, i) == LUA_TNUMBER) {
      text = LuaNumberText(lua_tonumber(state, i));
    } else if (lua_type(state, i) == LUA_TSTRING) {
      text = lua_tostring(state, i);
    } else if (lua_type(state, i) == LUA_TBOOLEAN) {
      text = lua_toboolean(state, i) != 0 ? "true" : "false";
    } else {
      text = luaL_typename(state, i);
    }
    const size_t room = context.limits.printed_bytes - std::min(context.limits.printed_bytes, context.printed.size());
    context.printed.append(Utf8Prefix(text, room));
    if (room > 0) context.printed.push_back(i == count ? '\n' : '\t');
  }
  return 0;
}

int ToString(lua_State* state) {
  if (lua_type(state, 1) == LUA_TNUMBER) {
    const std::string text = LuaNumberText(lua_tonumber(state, 1));
    lua_pushlstring(state, text.data(), text.size());
    return 1;
  }
  luaL_checkany(state, 1);
  lua_pushvalue(state, lua_upvalueindex(1));
  lua_pushvalue(state, 1);
  lua_call(state, 1, 1);
  return 1;
}

// pcall and xpcall of our own, which pay for every error they catch: near the end of Lua's stack its own would go on
// without the hook ever getting room to run. Raises when the script was stopped.
int ProtectedCall(lua_State* state, int arguments) {
  CheckCStack(state);
  Charge(state, 1);
  const int status = lua_pcall(state, arguments, LUA_MULTRET, 0);
  if (status != 0) Charge(state, kErrorCost);
  return status;
}

int Pcall(lua_State* state) {
  luaL_checkany(state, 1);
  const int status = ProtectedCall(state, lua_gettop(state) - 1);
  lua_pushboolean(state, status == 0 ? 1 : 0);
  lua_insert(state, 1);
  return lua_gettop(state);
}

// Calls the handler after the failed call is gone: Lua calls it while hooks are off, and a handler that never ends
// would never be stopped.
int Xpcall(lua_State* state) {
  luaL_checkany(state, 2);
  lua_pushvalue(state, 2);
  lua_insert(state, 1);  // handler, function, handler, arguments...
  lua_remove(state, 3);
  if (ProtectedCall(state, lua_gettop(state) - 2) == 0) {
    lua_pushboolean(state, 1);
    lua_replace(state, 1);
    return lua_gettop(state);
  }
  ProtectedCall(state, 1);  // a handler that fails gives its own error
  lua_pushboolean(state, 0);
  lua_insert(state, 1);
  return lua_gettop(state);
}

// A table function that Lua brings along, with its price: upvalue 1 is the function, 2 the number of arguments from
// which on all items may move (0: always), 3 whether it compares.
int PaidTableFunction(lua_State* state) {
  luaL_checktype(state, 1, LUA_TTABLE);
  if (IsReadOnly(state, 1)) return luaL_error(state, "attempt to change a table that is read-only");
  CheckCStack(state);
  const int arguments = lua_gettop(state);
  uint64_t cost = 1;
  if (arguments >= lua_tointeger(state, lua_upvalueindex(2))) cost += lua_objlen(state, 1) >> kTableCostShift;
  if (lua_toboolean(state, lua_upvalueindex(3)) != 0) cost *= static_cast<uint64_t>(std::bit_width(cost));
  Charge(state, cost);
  lua_pushvalue(state, lua_upvalueindex(1));
  lua_insert(state, 1);
  lua_call(state, arguments, LUA_MULTRET);
  return lua_gettop(state);
}

int RefuseChange(lua_State* state) { return luaL_error(state, "attempt to change a library that is read-only"); }

// Opens one of Lua's own libraries into a table of its own, left on the stack.
void OpenAlone(lua_State* state, lua_CFunction open, const char* name) {
  lua_pushcfunction(state, open);
  lua_pushstring(state, name);
  lua_call(state, 1, 0);
  lua_getglobal(state, name);
}

}  // namespace

void SetReadOnly(lua_State* state, const char* name) {
  lua_newtable(state);  // the proxy: library, proxy
  lua_newtable(state);
  lua_pushvalue(state, -3);
  lua_setfield(state, -2, "__index");
  lua_pushcfunction(state, RefuseChange);
  lua_setfield(state, -2, "__newindex");
  lua_pushboolean(state, 1);
  lua_setfield(state, -2, "read_only");
  lua_setmetatable(state, -2);
  lua_remove(state, -2);
  lua_setfield(state, -2, name);
}

bool IsReadOnly(lua_State* state, int index) {
  if (lua_getmetatable(state, index) == 0) return false;
  lua_getfield(state, -1, "read_only");
  const bool read_only = lua_toboolean(state, -1) != 0;
  lua_pop(state, 2);
  return read_only;
}

void OpenSafeBase(lua_State* state) {
  OpenAlone(state, luaopen_base, "_G");
  lua_pushnil(state);
  while (lua_next(state, -2) != 0) {  // globals, _G, name, function
    lua_pushvalue(state, -2);
    lua_insert(state, -2);
    lua_rawset(state, -5);
  }
  lua_pop(state, 1);
  for (const char* name : kAbsent) {
    lua_pushnil(state);
    lua_setfield(state, -2, name);
  }
  for (const char* name : kUnsupported) {
    lua_pushstring(state, name);
    lua_pushcclosure(state, Unsupported, 1);
    lua_setfield(state, -2, name);
  }
  lua_pushcfunction(state, Print);
  lua_setfield(state, -2, "print");
  lua_getfield(state, -1, "tostring");
  lua_pushcclosure(state, ToString, 1);
  lua_setfield(state, -2, "tostring");
  lua_pushcfunction(state, Pcall);
  lua_setfield(state, -2, "pcall");
  lua_pushcfunction(state, Xpcall);
  lua_setfield(state, -2, "xpcall");
  lua_pushnil(state);
  lua_setfield(state, -2, "_G");  // each call has its own
}

void OpenSafeTable(lua_State* state) {
  struct Paid {
    const char* name;
    int moving_arguments;
    bool compares;
  };
  constexpr std::array kPaid = {Paid{"insert", 3, false},   Paid{"remove", 2, false},   Paid{"concat", 0, false},
                                Paid{"sort", 0, true},      Paid{"maxn", 0, false},     Paid{"getn", 99, false},
                                Paid{"foreach", 99, false}, Paid{"foreachi", 99, false}};
  OpenAlone(state, luaopen_table, "table");
  lua_newtable(state);
  for (const Paid& function : kPaid) {
    lua_getfield(state, -2, function.name);
    if (lua_isnil(state, -1)) {
      lua_pop(state, 1);
      continue;
    }
    lua_pushinteger(state, function.moving_arguments);
    lua_pushboolean(state, function.compares ? 1 : 0);
    lua_pushcclosure(state, PaidTableFunction, 3);
    lua_setfield(state, -2, function.name);
  }
  lua_remove(state, -2);
  SetReadOnly(state, "table");
}

void OpenSafeMath(lua_State* state) {
  OpenAlone(state, luaopen_math, "math");
  SetReadOnly(state, "math");
}

}  // namespace baton::interpret
