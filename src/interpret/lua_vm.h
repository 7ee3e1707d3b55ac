// LuaVm: runs the Lua scripts of ResourceInterpreterCustomizations, which their authors wrote and nobody reviewed.
//
//   std::shared_ptr<const LuaScript> script = TRY(LuaScript::Compile("healthInterpretation", text));
//   LuaPool pool;
//   LuaOutcome outcome = TRY(pool.Call(*script, "InterpretHealth", {observed}, 1));
//   outcome.results[0].kind == LuaResult::Kind::kBool
//
// Semantics are those of Lua 5.1 with goto, as in Karmada (gopher-lua): every number is a double. Libraries: base,
// table, string, math, os.time and os.date (UTC), and require("kube"). What Karmada takes away is taken away with its
// words: string.gsub, string.rep, string.dump, load, setmetatable and their like raise an error. Also absent: io,
// debug, coroutine, ffi, bit, jit.
//
// A call sees only its own globals: what one call sets, no other call finds. (Karmada lets them leak.)
//
// A call ends with an Error (kInvalid, or kTooLarge when a limit was passed), never with a crash or a hang. Limits:
// steps (VM instructions, plus what library functions charge), CPU time, live memory, allocated bytes, depth of the C
// stack. A script cannot catch its own end with pcall. The state of a stopped call is thrown away.
//
// Differences to gopher-lua that a script can see: `..` and table.concat write numbers above 14 digits with an exponent
// (tostring does not); '\x41' escapes work; os.date knows UTC only.
//
// Threads: a LuaPool may be used by many, each call has a state of its own. A LuaScript never changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "json/value.h"

namespace baton::interpret {

struct LuaLimits {
  uint64_t steps = 20'000'000;               // about a tenth of a second
  Duration cpu = seconds(1);                 // of the calling thread; Karmada's limit on a call
  size_t memory = size_t{64} << 20;          // alive at any time, the arguments included
  size_t allocated = size_t{1} << 30;        // in one call, freed or not
  size_t c_stack = size_t{256} << 10;        // nested library calls
  size_t result_values = 1'000'000;          // JSON values in all results
  size_t result_bytes = size_t{32} << 20;    // their strings and keys
  size_t printed_bytes = size_t{64} << 10;   // what print() may write; the rest is dropped
  size_t script_bytes = size_t{1} << 20;     // one script's text
  size_t string_argument = size_t{1000000};  // Karmada's limit for the string library
};

// A script that parses. The text is kept; each Lua state compiles it once.
class LuaScript {
 public:
  // `name` goes into every message: "healthInterpretation:3: ...". Error: "line 3: '=' expected near 'x'".
  static Result<std::shared_ptr<const LuaScript>> Compile(std::string name, std::string text,
                                                          const LuaLimits& limits = {});

  const std::string& name() const { return name_; }
  const std::string& text() const { return text_; }
  uint64_t id() const { return id_; }  // unique in this process

 private:
  LuaScript(std::string name, std::string text, uint64_t id)
      : name_(std::move(name)), text_(std::move(text)), id_(id) {}

  std::string name_;
  std::string text_;
  uint64_t id_;
};

// One result of a Lua function. Only tables, strings and numbers have a JSON value; an empty table is [] (see
// empty_tables.h for what becomes of it).
struct LuaResult {
  enum class Kind : uint8_t { kNil, kBool, kNumber, kString, kTable, kOther };
  Kind kind = Kind::kNil;
  std::string_view type_name;  // Lua's: "nil", "boolean", "function"
  json::Value value;
};

struct LuaOutcome {
  std::vector<LuaResult> results;
  std::string printed;    // what the script wrote with print()
  uint64_t steps = 0;     // what it cost, in steps of LuaLimits
  bool compiled = false;  // the script was compiled for this call: the first that this Lua state had with it
};

class LuaVm;

class LuaPool {
 public:
  static constexpr size_t kMaxIdle = 10;  // states kept; Karmada's pool size

  // `now` is what os.time() and os.date() tell. `on_print` gets what each call printed, also one that failed; it may be
  // called by several threads at once.
  explicit LuaPool(LuaLimits limits = {}, std::function<WallTime()> now = {},
                   std::function<void(std::string_view text)> on_print = {});
  ~LuaPool();
  LuaPool(const LuaPool&) = delete;
  LuaPool& operator=(const LuaPool&) = delete;

  // Runs the script, then its global `function` with these arguments (null is nil). A null inside an array is left out,
  // a null member is absent, as in Karmada. `count` results are given, nil for those the function did not return.
  Result<LuaOutcome> Call(const LuaScript& script, std::string_view function, std::span<const json::Value> arguments,
                          size_t count);

 private:
  std::unique_ptr<LuaVm> Take();

  const LuaLimits limits_;
  const std::function<WallTime()> now_;
  const std::function<void(std::string_view)> on_print_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<LuaVm>> idle_;  // guarded by mutex_
};

}  // namespace baton::interpret
