// Short ways to run Lua in tests.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "interpret/lua_vm.h"
#include "json/parse.h"
#include "json/print.h"

namespace baton::interpret {

// Runs `text`, which defines F, with these arguments.
inline Result<LuaOutcome> RunLua(LuaPool& pool, std::string_view text, std::vector<json::Value> arguments = {},
                                 size_t count = 1) {
  const auto script = LuaScript::Compile("script", std::string(text));
  if (!script.ok()) return script.error();
  return pool.Call(**script, "F", arguments, count);
}

// What an expression gives, as JSON text; or "error: ...".
inline std::string EvalLua(LuaPool& pool, std::string_view expression, json::Value x = {}) {
  const auto outcome =
      RunLua(pool, std::string("function F(x) return (").append(expression).append(") end"), {std::move(x)});
  if (!outcome.ok()) return "error: " + outcome.error().message();
  const LuaResult& result = outcome->results[0];
  if (result.kind == LuaResult::Kind::kOther) return std::string(result.type_name);
  return result.kind == LuaResult::Kind::kString ? std::string(result.value.str()) : json::Print(result.value);
}

}  // namespace baton::interpret
