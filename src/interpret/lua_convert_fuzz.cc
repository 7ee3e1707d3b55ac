// Fuzz: any JSON goes through Lua and comes back the same, but for what Lua cannot tell apart: null, {} and [], 1.0
// and 1.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/invariant.h"
#include "interpret/empty_tables.h"
#include "interpret/lua_vm.h"
#include "json/parse.h"
#include "json/print.h"

namespace {

using baton::json::Value;

// What Lua makes of a value, said without Lua.
Value Normal(const Value& value) {
  if (value.is_array()) {
    Value list = baton::json::Array();
    for (const Value& item : value.items()) {
      if (!item.is_null()) list.Push(Normal(item));
    }
    return list;
  }
  if (value.is_object()) {
    Value object = baton::json::Object();
    for (const auto& member : value.members()) {
      if (!member.value().is_null()) object.Set(member.key(), Normal(member.value()));
    }
    return object.empty() ? baton::json::Array() : object;
  }
  if (value.is_number()) {
    const double number = value.number_or(0);
    return std::abs(number) < 9e15 && std::trunc(number) == number ? Value(static_cast<int64_t>(number))
                                                                   : Value(number);
  }
  return value;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace baton::interpret;  // NOLINT(google-build-using-namespace)
  static LuaPool pool;
  static const auto script = LuaScript::Compile("identity", "function F(x) return x end").value();
  const baton::Result<Value> parsed =
      baton::json::Parse({reinterpret_cast<const char*>(data), size}, {.max_depth = 500});
  if (!parsed.ok()) return 0;
  const std::vector<Value> arguments = {*parsed};
  const baton::Result<LuaOutcome> outcome = pool.Call(*script, "F", arguments, 1);
  INVARIANT(outcome.ok(), outcome.ok() ? "" : outcome.error().message());
  const Value& back = outcome->results[0].value;
  // Large integers come back exact or, in doubt, as their double: compare what both sides are as doubles.
  INVARIANT(Normal(back) == Normal(*parsed), baton::json::Print(back) + " of " + baton::json::Print(*parsed));
  // With itself as the reference nothing is lost but nulls, and doing it twice changes nothing.
  const Value kept = WithEmptyTables(back, arguments, parsed->is_object());
  INVARIANT(WithEmptyTables(kept, arguments, parsed->is_object()) == kept, baton::json::Print(kept));
  return 0;
}
