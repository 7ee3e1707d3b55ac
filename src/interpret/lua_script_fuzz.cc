// Fuzz: no script text crashes, hangs, leaks into the next call or finds a way around its limits.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/invariant.h"
#include "interpret/lua_vm.h"
#include "json/parse.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace baton::interpret;  // NOLINT(google-build-using-namespace)
  using baton::json::Value;
  static LuaPool pool([] {
    LuaLimits limits;
    limits.steps = 100'000;
    limits.memory = size_t{4} << 20;
    limits.allocated = size_t{16} << 20;
    return limits;
  }());
  static const auto witness =
      LuaScript::Compile("witness",
                         "function W() local n = 0 for k in pairs(_G) do n = n + 1 end "
                         "return n .. type(string.find) .. type(table.insert) .. type(require) .. ('aXb'):lower() end")
          .value();
  static const std::vector<Value> arguments = {
      baton::json::Parse(R"({"spec":{"replicas":3,"list":[1,2,{"a":"b"}]},"status":{"phase":"Ready"}})").value(),
      Value(2)};
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  // As a whole script, and as the body of a function, which needs less luck to say something.
  for (const std::string& source : {std::string(text), "function F(a, b) " + std::string(text) + "\nend"}) {
    const auto script = LuaScript::Compile("fuzz", source);
    if (!script.ok()) continue;
    const auto outcome = pool.Call(**script, "F", arguments, 2);
    INVARIANT(!outcome.ok() || outcome->results.size() == 2, source);
  }
  const auto seen = pool.Call(*witness, "W", {}, 1);
  INVARIANT(seen.ok() && seen->results[0].value.str() == "2functionfunctionfunctionaxb",
            seen.ok() ? std::string(seen->results[0].value.str()) : seen.error().message());
  return 0;
}
