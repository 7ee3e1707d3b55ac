// require("kube"): Karmada's helpers for quantities and pod templates.
#include <charconv>
#include <cmath>
#include <lua.hpp>
#include <string>
#include <utility>

#include "base/strings.h"
#include "interpret/lua_internal.h"
#include "interpret/pod.h"
#include "json/quantity.h"

namespace baton::interpret {

namespace {

using json::Quantity;
using json::Value;

constexpr uint64_t kCost = 50;  // steps for one helper, beside what it converts

// Each helper's body returns what to push or an error; raising happens with nothing of it left on the C++ stack.
using Body = Result<Value> (*)(lua_State* state);

template <Body body>
int Helper(lua_State* state) {
  Charge(state, kCost);
  bool failed = false;
  {
    const Result<Value> result = body(state);
    failed = !result.ok();
    if (failed) {
      luaL_where(state, 1);
      lua_pushlstring(state, result.error().message().data(), result.error().message().size());
      lua_concat(state, 2);
    } else {
      PushValue(state, *result);
    }
  }
  if (failed) return lua_error(state);
  return 1;
}

// Karmada takes strings and nil; a plain number has only one meaning, so it is taken, too.
Result<Quantity> QuantityArgument(lua_State* state, int index) {
  switch (lua_type(state, index)) {
    case LUA_TNIL:
    case LUA_TNONE:
      return Quantity();
    case LUA_TSTRING: {
      size_t size = 0;
      const char* text = lua_tolstring(state, index, &size);
      return Quantity::Parse({text, size}).Context(StrCat("argument ", index, ": ", Quote({text, size})));
    }
    case LUA_TNUMBER:
      return Quantity::Parse(LuaNumberText(lua_tonumber(state, index)));
    default:
      return InvalidError(StrCat("argument ", index, ": expected a quantity, got ", luaL_typename(state, index)));
  }
}

Result<Value> TableArgument(lua_State* state, int index) {
  if (lua_type(state, index) != LUA_TTABLE)
    return InvalidError(StrCat("argument ", index, ": expected a table, got ", luaL_typename(state, index)));
  const LuaLimits& limits = ContextOf(state).limits;
  ResultBudget budget{limits.result_values, limits.result_bytes};
  Result<Value> value = ToValue(state, index, budget);
  ContextOf(state).steps += limits.result_values - budget.values;
  return value;
}

Result<Value> ResourceAdd(lua_State* state) {
  Quantity sum;
  const int count = lua_gettop(state);
  for (int i = 1; i <= count; ++i) sum = TRY(sum.Add(TRY(QuantityArgument(state, i))));
  return sum.ToJson();
}

Result<Value> AccuratePodRequirements(lua_State* state) {
  if (lua_gettop(state) != 1) return InvalidError("getPodRequirements only accepts one argument");
  return PodRequirements(TRY(TableArgument(state, 1)));
}

Result<Value> GetPodDependencies(lua_State* state) {
  if (lua_gettop(state) != 2) return InvalidError("getPodDependencies only accepts two argument");
  std::string name_space = "default";
  if (lua_type(state, 2) == LUA_TSTRING) {
    name_space = lua_tostring(state, 2);
  } else if (lua_type(state, 2) == LUA_TNUMBER) {
    name_space = LuaNumberText(lua_tonumber(state, 2));
  } else if (lua_type(state, 2) != LUA_TNIL) {
    return InvalidError(StrCat("argument 2: expected a string, got ", luaL_typename(state, 2)));
  }
  const Value pod_template = TRY(TableArgument(state, 1));
  Value references = json::Array();
  for (Value& reference : PodDependencies(pod_template, name_space)) references.Push(std::move(reference));
  return references;
}

Result<Value> GetResourceQuantity(lua_State* state) {
  if (lua_gettop(state) != 1) return InvalidError("getResourceQuantity only accepts one argument");
  const Quantity quantity = TRY(QuantityArgument(state, 1));
  if (quantity.Sign() < 0) return InvalidError(StrCat("quantity is negative: ", quantity.ToString()));
  if (const Result<int64_t> milli = quantity.MilliValue();
      milli.ok() && *Quantity::Parse(StrCat(*milli, "m")) == quantity)
    return *milli % 1000 == 0 ? Value(*milli / 1000) : Value(static_cast<double>(*milli) / 1000);
  if (const Result<int64_t> whole = quantity.Value(); whole.ok() && Quantity::FromInt(*whole) == quantity)
    return *whole;
  // Finer than a thousandth or very large: its decimal form, read as a double.
  const Quantity nanos = TRY(quantity.Add(Quantity()));
  const std::string text = nanos.ToString();
  double number = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), number).ptr;
  const std::string_view suffix(end, text.data() + text.size());
  constexpr std::string_view kSuffixes = "num kMGTPE";
  if (suffix.size() == 1) number *= std::pow(10.0, 3.0 * (static_cast<double>(kSuffixes.find(suffix[0])) - 3));
  if (!std::isfinite(number)) return InvalidError(StrCat("quantity is infinite: ", text));
  return number;
}

int Require(lua_State* state) {
  const std::string_view name = luaL_checkstring(state, 1);
  if (name != "kube") return luaL_error(state, "module %s not found", name.data());
  lua_createtable(state, 0, 4);
  lua_pushcfunction(state, Helper<ResourceAdd>);
  lua_setfield(state, -2, "resourceAdd");
  lua_pushcfunction(state, Helper<AccuratePodRequirements>);
  lua_setfield(state, -2, "accuratePodRequirements");
  lua_pushcfunction(state, Helper<GetPodDependencies>);
  lua_setfield(state, -2, "getPodDependencies");
  lua_pushcfunction(state, Helper<GetResourceQuantity>);
  lua_setfield(state, -2, "getResourceQuantity");
  return 1;
}

}  // namespace

void OpenKube(lua_State* state) {
  lua_pushcfunction(state, Require);
  lua_setfield(state, -2, "require");
}

}  // namespace baton::interpret
