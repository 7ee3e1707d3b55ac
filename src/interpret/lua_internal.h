// What the parts of the Lua sandbox share; not for others. Only the .cc files see Lua's own headers.
//
// Rules for every C function that a script can call:
//  - a Lua error is raised by Raise() or by Lua itself and unwinds C++ frames (their destructors run); nothing on the
//    way may be noexcept or catch (...);
//  - work that grows with its input is paid for with Charge(), because hooks do not interrupt C functions;
//  - what calls back into Lua asks CheckCStack() first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "interpret/lua_vm.h"
#include "json/value.h"

struct lua_State;

namespace baton::interpret {

enum class LuaStop : uint8_t { kNone, kSteps, kCpu, kMemory, kAllocated };

// Integers that a double cannot hold, by the double that stands for them in Lua: a script that passes such a number on
// unchanged gives back the exact one. Two integers with one double are in doubt, and the double stays.
class ExactIntegers {
 public:
  double Note(const json::Value& integer);
  json::Value Restore(double number) const;  // `number` is integral
  void Clear() { by_double_.clear(); }

 private:
  std::map<double, json::Value> by_double_;  // null: in doubt
};

// One state's budget and belongings; the allocator's user data, so that every C function finds it.
struct LuaContext {
  LuaLimits limits;
  std::function<WallTime()> now;
  LuaStop stop = LuaStop::kNone;
  bool enforcing = false;  // limits on memory hold only during calls
  uint64_t steps = 0;
  uint64_t next_cpu_check = 0;  // in steps
  int64_t cpu_end_ns = 0;
  size_t live = 0;
  size_t allocated = 0;
  uintptr_t c_stack_top = 0;
  std::string printed;
  ExactIntegers exact;
};

LuaContext& ContextOf(lua_State* state);

// Pays for work; raises (for good) when the budget is spent.
void Charge(lua_State* state, uint64_t steps);
void CheckCStack(lua_State* state);
// Raises "where: message" as luaL_error does.
[[noreturn]] void Raise(lua_State* state, std::string_view message);

// A number as gopher-lua's tostring writes it: whole numbers in digits, others in the shortest form.
std::string LuaNumberText(double number);

// ---- conversion (lua_convert.cc); both need a protected call around them ----

// Pushes one value. Null is nil.
void PushValue(lua_State* state, const json::Value& value);

// The value at a stack index: nil is null. Error: what JSON cannot say (functions, mixed keys, cycles, NaN), or a limit
// on results. Does not raise.
struct ResultBudget {
  size_t values;
  size_t bytes;
};
Result<json::Value> ToValue(lua_State* state, int index, ResultBudget& budget);

// ---- libraries; each leaves the stack as it was and works on the table of globals on its top ----

void OpenSafeBase(lua_State* state);    // lua_sandbox.cc
void OpenSafeTable(lua_State* state);   // lua_sandbox.cc
void OpenSafeMath(lua_State* state);    // lua_sandbox.cc
void OpenSafeOs(lua_State* state);      // lua_os.cc
void OpenSafeString(lua_State* state);  // lua_string.cc
void OpenKube(lua_State* state);        // lua_kube.cc: require()

// Sets globals[name] to a table that reads from the library on the stack's top (popped) and cannot be changed.
void SetReadOnly(lua_State* state, const char* name);
// True when a script may not change the table at this index.
bool IsReadOnly(lua_State* state, int index);

}  // namespace baton::interpret
