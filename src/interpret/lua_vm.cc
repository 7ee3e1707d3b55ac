// One Lua state with its limits, and the pool of them.
#include "interpret/lua_vm.h"

#include <time.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <lua.hpp>
#include <unordered_map>
#include <utility>

#include "base/strings.h"
#include "base/utf8.h"
#include "interpret/lua_internal.h"

namespace baton::interpret {

namespace {

constexpr int kHookEvery = 200;              // instructions between two looks at the budget
constexpr uint64_t kCpuCheckEvery = 20'000;  // steps between two looks at the CPU clock
constexpr size_t kMaxCompiled = 256;         // scripts that one state keeps compiled
constexpr size_t kCollectAbove = 4U << 20;   // bytes alive after a call at which garbage is collected whole
constexpr int kResultStack = 3200;           // slots for reading results: three for each level of json::kMaxDepth

int64_t ThreadCpuNanoseconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

void* Allocate(void* user, void* block, size_t old_size, size_t new_size) {
  auto& context = *static_cast<LuaContext*>(user);
  if (new_size == 0) {
    context.live -= old_size;
    std::free(block);
    return nullptr;
  }
  if (block == nullptr) old_size = 0;
  if (new_size > old_size && context.enforcing) {
    const size_t more = new_size - old_size;
    if (context.live + more > context.limits.memory) {
      context.stop = LuaStop::kMemory;
    } else if (context.allocated + more > context.limits.allocated) {
      context.stop = LuaStop::kAllocated;
    }
    if (context.stop == LuaStop::kMemory || context.stop == LuaStop::kAllocated) return nullptr;
    context.allocated += more;
  }
  void* moved = std::realloc(block, new_size);
  if (moved != nullptr) context.live += new_size - old_size;
  return moved;
}

[[noreturn]] void StopForGood(lua_State* state);

void Hook(lua_State* state, lua_Debug* /*where*/) {
  LuaContext& context = ContextOf(state);
  if (context.stop == LuaStop::kNone) {
    Charge(state, kHookEvery);
    return;
  }
  StopForGood(state);
}

// From here on every instruction raises, so that no pcall of the script can go on.
void StopForGood(lua_State* state) {
  lua_sethook(state, Hook, LUA_MASKCOUNT, 1);
  luaL_error(state, "stopped");
  std::abort();
}

std::string_view TypeName(int type) {
  switch (type) {
    case LUA_TNIL:
      return "nil";
    case LUA_TBOOLEAN:
      return "boolean";
    case LUA_TNUMBER:
      return "number";
    case LUA_TSTRING:
      return "string";
    case LUA_TTABLE:
      return "table";
    case LUA_TFUNCTION:
      return "function";
    default:
      return "userdata";
  }
}

// "name:3: message" or "[string "name"]:3: message" without the name: the caller says it. `line` false keeps it whole.
std::string WithLine(std::string_view message, std::string_view name) {
  if (message.starts_with(name) && message.size() > name.size() && message[name.size()] == ':') {
    const std::string_view rest = message.substr(name.size() + 1);
    const size_t colon = rest.find(": ");
    if (colon != std::string_view::npos && colon > 0 && rest.find_first_not_of("0123456789") == colon)
      return StrCat("line ", rest.substr(0, colon), ": ", rest.substr(colon + 2));
  }
  return std::string(message);
}

std::string ErrorText(lua_State* state, std::string_view name) {
  if (lua_type(state, -1) != LUA_TSTRING)
    return StrCat("(error object is a ", TypeName(lua_type(state, -1)), " value)");
  size_t size = 0;
  const char* text = lua_tolstring(state, -1, &size);
  return WithLine(ReplaceInvalidUtf8(Utf8Prefix({text, size}, 4096)), name);
}

}  // namespace

LuaContext& ContextOf(lua_State* state) {
  void* user = nullptr;
  lua_getallocf(state, &user);
  return *static_cast<LuaContext*>(user);
}

void Charge(lua_State* state, uint64_t steps) {
  LuaContext& context = ContextOf(state);
  context.steps += steps;
  if (context.steps > context.limits.steps) {
    context.stop = LuaStop::kSteps;
  } else if (context.steps >= context.next_cpu_check) {
    context.next_cpu_check = context.steps + kCpuCheckEvery;
    if (context.cpu_end_ns != 0 && ThreadCpuNanoseconds() > context.cpu_end_ns) context.stop = LuaStop::kCpu;
  }
  if (context.stop != LuaStop::kNone) StopForGood(state);
}

void CheckCStack(lua_State* state) {
  const LuaContext& context = ContextOf(state);
  const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  if (context.c_stack_top - here > context.limits.c_stack) Raise(state, "C stack overflow");
}

void Raise(lua_State* state, std::string_view message) {
  luaL_where(state, 1);
  lua_pushlstring(state, message.data(), message.size());
  lua_concat(state, 2);
  lua_error(state);
  std::abort();
}

class LuaVm {
 public:
  explicit LuaVm(const LuaLimits& limits, const std::function<WallTime()>& now) {
    context_.limits = limits;
    context_.now = now;
    state_ = lua_newstate(Allocate, &context_);
    if (state_ == nullptr) return;
    // A compiled loop never looks at the hook.
    luaJIT_setmode(state_, 0, LUAJIT_MODE_ENGINE | LUAJIT_MODE_OFF);
    if (lua_cpcall(state_, OpenLibraries, this) != 0) Close();
  }
  ~LuaVm() { Close(); }
  LuaVm(const LuaVm&) = delete;
  LuaVm& operator=(const LuaVm&) = delete;

  const std::string& printed() const { return context_.printed; }  // by the last call
  bool ok() const { return state_ != nullptr && context_.stop == LuaStop::kNone; }

  Result<LuaOutcome> Call(const LuaScript& script, std::string_view function, std::span<const json::Value> arguments,
                          size_t count) {
    if (state_ == nullptr) return TooLargeError("no memory for a Lua state");
    CallFrame frame{this, &script, function, arguments, count, {}, false, {}};
    Begin();
    const int status = lua_cpcall(state_, RunCall, &frame);
    End();
    if (context_.stop != LuaStop::kNone) return Stopped(script);
    if (status != 0) {
      Error error = InvalidError(StrCat(script.name(), ": ", ErrorText(state_, script.name())));
      lua_settop(state_, 0);
      return error;
    }
    if (!frame.error.empty()) return InvalidError(StrCat(script.name(), ": ", frame.error));
    if (context_.live > kCollectAbove) lua_gc(state_, LUA_GCCOLLECT, 0);
    return LuaOutcome{std::move(frame.results), context_.printed, context_.steps, frame.compiled};
  }

 private:
  struct CallFrame {
    LuaVm* vm;
    const LuaScript* script;
    std::string_view function;
    std::span<const json::Value> arguments;
    size_t count;
    std::vector<LuaResult> results;
    bool compiled = false;
    std::string error;
  };

  void Begin() {
    context_.stop = LuaStop::kNone;
    context_.steps = 0;
    context_.allocated = 0;
    context_.printed.clear();
    context_.exact.Clear();
    context_.next_cpu_check = kCpuCheckEvery;
    const int64_t budget = context_.limits.cpu.count();
    context_.cpu_end_ns = budget == 0 ? 0 : ThreadCpuNanoseconds() + budget;
    context_.c_stack_top = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
    context_.enforcing = true;
    lua_sethook(state_, Hook, LUA_MASKCOUNT, kHookEvery);
  }

  void End() {
    context_.enforcing = false;
    lua_sethook(state_, nullptr, 0, 0);
  }

  void Close() {
    if (state_ != nullptr) lua_close(std::exchange(state_, nullptr));
  }

  Error Stopped(const LuaScript& script) const {
    const LuaLimits& limits = context_.limits;
    switch (context_.stop) {
      case LuaStop::kSteps:
        return TooLargeError(
            StrCat(script.name(), ": stopped after ", limits.steps, " steps: is there an endless loop?"));
      case LuaStop::kCpu:
        return TooLargeError(StrCat(script.name(), ": stopped after ",
                                    std::chrono::duration_cast<milliseconds>(limits.cpu).count(), " ms of CPU time"));
      case LuaStop::kMemory:
        return TooLargeError(
            StrCat(script.name(), ": stopped: it needs more than ", limits.memory, " bytes of memory"));
      default:
        return TooLargeError(StrCat(script.name(), ": stopped after allocating ", limits.allocated, " bytes"));
    }
  }

  static int OpenLibraries(lua_State* state) {
    auto* vm = static_cast<LuaVm*>(lua_touserdata(state, 1));
    lua_newtable(state);  // the globals that scripts read through to
    OpenSafeBase(state);
    OpenSafeTable(state);
    OpenSafeMath(state);
    OpenSafeOs(state);
    OpenSafeString(state);
    OpenKube(state);
    lua_newtable(state);  // the metatable of every call's own globals
    lua_pushvalue(state, -2);
    lua_setfield(state, -2, "__index");
    vm->environment_meta_ = luaL_ref(state, LUA_REGISTRYINDEX);
    return 0;
  }

  // Pushes the script's chunk, compiled now (then true) or before.
  bool PushChunk(const LuaScript& script) {
    if (const auto at = compiled_.find(script.id()); at != compiled_.end()) {
      lua_rawgeti(state_, LUA_REGISTRYINDEX, at->second);
      return false;
    }
    const std::string chunk_name = StrCat("=", script.name());
    const std::string& text = script.text();
    if (luaL_loadbufferx(state_, text.data(), text.size(), chunk_name.c_str(), "t") != 0) lua_error(state_);
    if (compiled_.size() >= kMaxCompiled) {
      for (const auto& [id, reference] : compiled_) luaL_unref(state_, LUA_REGISTRYINDEX, reference);
      compiled_.clear();
    }
    lua_pushvalue(state_, -1);
    compiled_[script.id()] = luaL_ref(state_, LUA_REGISTRYINDEX);
    return true;
  }

  static int RunCall(lua_State* state) {
    auto& frame = *static_cast<CallFrame*>(lua_touserdata(state, 1));
    LuaVm& vm = *frame.vm;
    lua_settop(state, 0);
    luaL_checkstack(state, kResultStack, "the result");
    lua_newtable(state);  // 1: this call's globals
    lua_rawgeti(state, LUA_REGISTRYINDEX, vm.environment_meta_);
    lua_setmetatable(state, 1);
    lua_pushvalue(state, 1);
    lua_setfield(state, 1, "_G");
    frame.compiled = vm.PushChunk(*frame.script);
    lua_pushvalue(state, 1);
    lua_setfenv(state, -2);
    lua_call(state, 0, 0);

    lua_pushlstring(state, frame.function.data(), frame.function.size());
    lua_gettable(state, 1);
    if (!lua_isfunction(state, -1)) {
      frame.error = lua_isnil(state, -1)
                        ? StrCat("not found function ", frame.function)
                        : StrCat(frame.function, " is not a function: ", TypeName(lua_type(state, -1)));
      return 0;
    }
    for (const json::Value& argument : frame.arguments) PushValue(state, argument);
    lua_call(state, static_cast<int>(frame.arguments.size()), static_cast<int>(frame.count));
    ReadResults(state, frame);
    return 0;
  }

  static void ReadResults(lua_State* state, CallFrame& frame) {
    const LuaLimits& limits = frame.vm->context_.limits;
    ResultBudget budget{limits.result_values, limits.result_bytes};
    const int first = lua_gettop(state) - static_cast<int>(frame.count) + 1;
    for (size_t i = 0; i < frame.count; ++i) {
      const int index = first + static_cast<int>(i);
      const int type = lua_type(state, index);
      LuaResult result{LuaResult::Kind::kOther, TypeName(type), {}};
      switch (type) {
        case LUA_TNIL:
          result.kind = LuaResult::Kind::kNil;
          break;
        case LUA_TBOOLEAN:
          result.kind = LuaResult::Kind::kBool;
          break;
        case LUA_TNUMBER:
          result.kind = LuaResult::Kind::kNumber;
          break;
        case LUA_TSTRING:
          result.kind = LuaResult::Kind::kString;
          break;
        case LUA_TTABLE:
          result.kind = LuaResult::Kind::kTable;
          break;
        default:
          break;
      }
      if (result.kind != LuaResult::Kind::kOther) {
        Result<json::Value> value = ToValue(state, index, budget);
        if (!value.ok()) {
          frame.error = value.error().message();
          return;
        }
        result.value = *std::move(value);
      }
      frame.results.push_back(std::move(result));
    }
  }

  LuaContext context_;
  lua_State* state_ = nullptr;
  int environment_meta_ = 0;
  std::unordered_map<uint64_t, int> compiled_;  // script id to registry reference
};

Result<std::shared_ptr<const LuaScript>> LuaScript::Compile(std::string name, std::string text,
                                                            const LuaLimits& limits) {
  static std::atomic<uint64_t> next_id{1};
  if (text.size() > limits.script_bytes)
    return TooLargeError(StrCat("a script of ", text.size(), " bytes; the limit is ", limits.script_bytes));
  LuaContext context;
  context.limits = limits;
  lua_State* state = lua_newstate(Allocate, &context);
  if (state == nullptr) return TooLargeError("no memory for a Lua state");
  context.enforcing = true;
  const std::string chunk_name = StrCat("=", name);
  const int status = luaL_loadbufferx(state, text.data(), text.size(), chunk_name.c_str(), "t");
  std::optional<Error> error;
  if (context.stop != LuaStop::kNone) {
    error = TooLargeError(StrCat("compiling it needs more than ", limits.memory, " bytes"));
  } else if (status != 0) {
    error = InvalidError(ErrorText(state, name));
  }
  context.enforcing = false;
  lua_close(state);
  if (error) return *error;
  return std::shared_ptr<const LuaScript>(new LuaScript(std::move(name), std::move(text), next_id++));
}

LuaPool::LuaPool(LuaLimits limits, std::function<WallTime()> now, std::function<void(std::string_view)> on_print)
    : limits_(limits), now_(std::move(now)), on_print_(std::move(on_print)) {}

LuaPool::~LuaPool() = default;

std::unique_ptr<LuaVm> LuaPool::Take() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      std::unique_ptr<LuaVm> vm = std::move(idle_.back());
      idle_.pop_back();
      return vm;
    }
  }
  return std::make_unique<LuaVm>(limits_, now_);
}

Result<LuaOutcome> LuaPool::Call(const LuaScript& script, std::string_view function,
                                 std::span<const json::Value> arguments, size_t count) {
  std::unique_ptr<LuaVm> vm = Take();
  Result<LuaOutcome> outcome = vm->Call(script, function, arguments, count);
  if (on_print_ && !vm->printed().empty()) on_print_(vm->printed());
  if (!vm->ok()) return outcome;
  const std::lock_guard lock(mutex_);
  if (idle_.size() < kMaxIdle) idle_.push_back(std::move(vm));
  return outcome;
}

}  // namespace baton::interpret
