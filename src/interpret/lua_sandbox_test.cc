// Attacks on the sandbox: every one ends soon, with an error that says why, and leaves nothing behind.
#include <gtest/gtest.h>

#include "interpret/lua_for_test.h"
#include "interpret/lua_pattern.h"

namespace baton::interpret {
namespace {

using json::Value;

LuaLimits SmallLimits() {
  LuaLimits limits;
  limits.steps = 2'000'000;
  limits.memory = size_t{16} << 20;
  limits.allocated = size_t{128} << 20;
  return limits;
}

// The pool works on after whatever happened.
void ExpectUsable(LuaPool& pool) { EXPECT_EQ(EvalLua(pool, "1 + 1"), "2"); }

TEST(LuaSandboxTest, StopsScriptsThatDoNotEnd) {
  LuaPool pool(SmallLimits());
  for (const char* text : {
           "function F() while true do end end",
           "while true do end",
           "function F() repeat local x = {} until false end",
           "function F() while true do pcall(function() while true do end end) end end",
           "function F() local function f() pcall(f) f() end f() end",
           "function F() while true do pcall(F) end end",
           "function F() xpcall(function() while true do end end, function() while true do end end) while true do end "
           "end",
           "function F() xpcall(error, function() while true do end end) end",
           "function F() while true do xpcall(error, function() error('again') end) end end",
           "function F() for i = 1, 1e18 do end end",
           "function F() local t = {} while true do table.insert(t, 1, 1) if #t > 10000 then t = {} end end end",
           "function F() local t = {} for i = 1, 200000 do t[i] = i % 7 end while true do table.sort(t) end end",
           "function F() table.sort({1, 2, 3}, function() while true do end end) end",
           "function F() while true do string.find(('x'):lower(), 'y') end end",
           "function F() while true do require('kube').resourceAdd('1', '2') end end",
           "::a:: goto a",
       }) {
    const auto outcome = RunLua(pool, text);
    ASSERT_FALSE(outcome.ok()) << text;
    EXPECT_EQ(outcome.error().kind(), ErrorKind::kTooLarge) << text << outcome.error().message();
    ExpectUsable(pool);
  }
}

TEST(LuaSandboxTest, SaysWhichLimitWasPassed) {
  LuaPool pool(SmallLimits());
  EXPECT_EQ(RunLua(pool, "while true do end").error().message(),
            "script: stopped after 2000000 steps: is there an endless loop?");
  EXPECT_EQ(RunLua(pool, "local t = {} while true do t[#t + 1] = {} end").error().message(),
            "script: stopped: it needs more than 16777216 bytes of memory");
  LuaLimits limits = SmallLimits();
  limits.steps = UINT64_MAX / 2;
  limits.cpu = milliseconds(20);
  LuaPool timed(limits);
  EXPECT_EQ(RunLua(timed, "while true do end").error().message(), "script: stopped after 20 ms of CPU time");
}

TEST(LuaSandboxTest, StopsScriptsThatTakeAllMemory) {
  LuaPool pool(SmallLimits());
  for (const char* text : {
           "function F() local s = 'x' while true do s = s .. s end end",
           "function F() local t = {} while true do t = {t} t[2] = t end end",
           "function F() local t = {} while true do t[#t + 1] = {} end end",
           "function F() local s = 'x' while true do pcall(function() s = s .. s end) end end",
           "function F() local t = {} for i = 1, 1e7 do t[i] = tostring(i) end return t end",
           "function F() local t = {} for i = 1, 20 do t[i] = 'xxxxxxxxxx' end local s = table.concat(t) "
           "while true do s = table.concat({s, s}) end end",
           "function F() local s = 'x' for i = 1, 20 do s = s .. s end while true do local t = s .. 'y' end end",
       }) {
    const auto outcome = RunLua(pool, text);
    ASSERT_FALSE(outcome.ok()) << text;
    EXPECT_EQ(outcome.error().kind(), ErrorKind::kTooLarge) << text << outcome.error().message();
    ExpectUsable(pool);
  }
}

TEST(LuaSandboxTest, BoundsResults) {
  LuaPool pool(SmallLimits());
  // A small graph of shared tables that is large as a tree, and one long string in many places.
  const auto tree = RunLua(pool, "function F() local t = {} for i = 1, 40 do t = {t, t} end return t end");
  ASSERT_FALSE(tree.ok());
  EXPECT_NE(tree.error().message().find("too many values"), std::string::npos) << tree.error().message();
  const auto bytes = RunLua(pool,
                            "function F() local s = 'x' for i = 1, 20 do s = s .. s end local t = {} "
                            "for i = 1, 1000 do t[i] = s end return t end");
  ASSERT_FALSE(bytes.ok());
  EXPECT_NE(bytes.error().message().find("too many bytes"), std::string::npos) << bytes.error().message();
  const auto deep = RunLua(pool, "function F() local t = {1} for i = 1, 5000 do t = {t} end return t end");
  ASSERT_FALSE(deep.ok());
  EXPECT_NE(deep.error().message().find("nested too deeply"), std::string::npos) << deep.error().message();
  ExpectUsable(pool);
}

TEST(LuaSandboxTest, SurvivesDeepRecursion) {
  LuaPool pool(SmallLimits());
  for (const char* text : {
           "function F() return F() + 1 end",
           "function F() local function f(n) return f(n + 1) + 1 end return f(1) end",
           "function F() table.sort({3, 2, 1}, function(a, b) F() return a < b end) end",
           "function F() return xpcall(F, F) end",
           "function F() local s = '' for i = 1, 300 do s = s .. '(' end return string.find('x', s) end",
           "function F() local s = '' for i = 1, 5000 do s = s .. 'a?' end return string.find(s, s) end",
       }) {
    const auto outcome = RunLua(pool, text);
    if (outcome.ok()) continue;
    EXPECT_FALSE(outcome.error().message().empty()) << text;
    ExpectUsable(pool);
  }
  EXPECT_FALSE(RunLua(pool, "function F() return F() + 1 end").ok());
  EXPECT_FALSE(LuaScript::Compile("s", "return " + std::string(5000, '(') + "1" + std::string(5000, ')')).ok());
  EXPECT_FALSE(LuaScript::Compile("s", "return " + std::string(100000, '{')).ok());
}

TEST(LuaSandboxTest, StopsPatternsThatBacktrack) {
  LuaPool pool(SmallLimits());
  const std::string many(60, 'a');
  std::string stars;
  for (int i = 0; i < 15; ++i) stars += "a*";
  for (const char* function : {"find", "match", "gmatch"}) {
    std::string text = "function F() local r = string." + std::string(function) + "('" + many + "', '" + stars + "b') ";
    if (std::string(function) == "gmatch") text += "r() ";
    const auto outcome = RunLua(pool, text + "return r end");
    ASSERT_FALSE(outcome.ok()) << function;
    EXPECT_EQ(outcome.error().kind(), ErrorKind::kTooLarge) << outcome.error().message();
    ExpectUsable(pool);
  }
  EXPECT_FALSE(RunLua(pool,
                      "function F() local s = 'a' for i = 1, 19 do s = s .. s end return s:find(s .. 'b', 1, true), "
                      "s:find(s:sub(1, 260000) .. 'b', 1, true) end")
                   .ok());
}

TEST(LuaSandboxTest, TakesAwayWhatKarmadaTakesAway) {
  LuaPool pool;
  for (const char* name : {"collectgarbage", "dofile", "getfenv", "getmetatable", "load", "loadfile", "loadstring",
                           "rawequal", "rawget", "rawset", "setfenv", "setmetatable", "module", "newproxy"}) {
    EXPECT_EQ(EvalLua(pool, std::string(name) + "({}, {})"),
              std::string("error: script: line 1: call function ") + name +
                  " is not supported in karmada customized resourceinterpreter.");
  }
  for (const char* name : {"gsub", "rep", "dump"}) {
    const std::string expected = std::string("The Lua function string.") + name + " is not supported by Karmada";
    EXPECT_NE(EvalLua(pool, std::string("string.") + name + "('a', 3)").find(expected), std::string::npos) << name;
    EXPECT_NE(EvalLua(pool, std::string("('a'):") + name + "(3)").find(expected), std::string::npos) << name;
  }
  for (const char* name : {"io", "debug", "coroutine", "ffi", "jit", "bit", "gcinfo", "os.execute", "os.exit",
                           "os.getenv", "os.remove", "os.rename", "os.tmpname", "os.setlocale", "os.clock"}) {
    EXPECT_EQ(EvalLua(pool, std::string(name) + " == nil"), "true") << name;
  }
}

TEST(LuaSandboxTest, RefusesBytecode) {
  EXPECT_FALSE(LuaScript::Compile("s", std::string("\x1bLJ\x02\x0a\x00", 6)).ok());
  EXPECT_FALSE(LuaScript::Compile("s", std::string("\x1bLua", 4)).ok());
}

TEST(LuaSandboxTest, LetsNoScriptChangeALibrary) {
  LuaPool pool;
  for (const char* text : {"string.lower = nil", "table.insert = print", "math.pi = 3", "os.time = nil",
                           "table.insert(string, 1)", "table.sort(math)", "table.remove(os)", "string.x = 1"}) {
    const auto outcome = RunLua(pool, std::string("function F() ") + text + " end");
    ASSERT_FALSE(outcome.ok()) << text;
    EXPECT_NE(outcome.error().message().find("read-only"), std::string::npos) << outcome.error().message();
  }
  // Its own globals it may: print = 1 concerns this call only.
  EXPECT_TRUE(RunLua(pool, "function F() print = 1 pcall = nil return 1 end").ok());
  EXPECT_EQ(EvalLua(pool, "type(print) .. type(pcall) .. type(string.lower)"), "functionfunctionfunction");
}

TEST(LuaSandboxTest, KeepsOneCallsKubeApartFromAnothers) {
  LuaPool pool;
  EXPECT_TRUE(RunLua(pool, "function F() require('kube').resourceAdd = nil return 1 end").ok());
  EXPECT_EQ(EvalLua(pool, "type(require('kube').resourceAdd)"), "function");
}

TEST(LuaSandboxTest, LimitsStringArguments) {
  LuaPool pool;
  const std::string prefix = "function F() local s = 'x' for i = 1, 20 do s = s .. s end return ";
  for (const char* call :
       {"s:lower()", "s:sub(1, 2)", "s:find('y')", "s:len()", "s:byte(1)", "string.format('%s', s)"}) {
    const auto outcome = RunLua(pool, prefix + call + " end");
    ASSERT_FALSE(outcome.ok()) << call;
    EXPECT_NE(outcome.error().message().find("exceeds the limit"), std::string::npos) << outcome.error().message();
  }
}

TEST(LuaSandboxTest, RefusesScriptsThatAreTooLong) {
  EXPECT_EQ(LuaScript::Compile("s", std::string((size_t{1} << 20) + 1, ' ')).error().kind(), ErrorKind::kTooLarge);
}

TEST(LuaSandboxTest, TakesLargeArgumentsOnlyUpToItsMemory) {
  LuaPool pool(SmallLimits());
  Value list = json::Array();
  for (int i = 0; i < 3'000'000; ++i) list.Push(i);
  const auto outcome = RunLua(pool, "function F(x) return #x end", {list});
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().kind(), ErrorKind::kTooLarge);
  Value deep = 1;
  for (int i = 0; i < 900; ++i) deep = json::Array({deep});
  EXPECT_TRUE(RunLua(pool, "function F(x) return x end", {deep}).ok());
}

TEST(LuaSandboxTest, NeverFailsWhateverTheMemory) {
  // Every allocation fails once, somewhere on the way.
  for (size_t memory = 0; memory < 400'000; memory += 1'777) {
    LuaLimits limits;
    limits.memory = memory;
    LuaPool pool(limits);
    const auto outcome =
        RunLua(pool,
               "function F(x) local kube = require('kube') local t = {} for i = 1, 50 do t[i] = "
               "kube.getPodDependencies(x, 'n') "
               "t[i].s = tostring(i) .. string.match('abc', '(.)b') end t.x = pcall(error, t) return {t[1][1]} end",
               {json::Parse(R"({"spec":{"volumes":[{"configMap":{"name":"c"}}]}})").value()});
    if (!outcome.ok()) EXPECT_EQ(outcome.error().kind(), ErrorKind::kTooLarge) << outcome.error().message();
  }
}

TEST(LuaPatternTest, MatchesAsTheManualSays) {
  const struct {
    const char* subject;
    const char* pattern;
    const char* matched;  // null: no match
  } kCases[] = {
      {"hello", "l+", "ll"},
      {"hello", "l-", ""},
      {"hello", "^h", "h"},
      {"hello", "^e", nullptr},
      {"hello", "o$", "o"},
      {"hello", "l$", nullptr},
      {"key=val", "%w+", "key"},
      {"a.b", "%.", "."},
      {"2026-02-03", "%d%d%d%d", "2026"},
      {"[x]", "%[(.-)%]", "[x]"},
      {"f(a(b)c)d", "%b()", "(a(b)c)"},
      {"THE (quick) fox", "%f[%a]%a+", "THE"},
      {"abc", "[a-b]+", "ab"},
      {"abc", "[^a]+", "bc"},
      {"]x", "[]]", "]"},
      {"a-b", "[a%-]+", "a-"},
      {"aXb", "%u", "X"},
      {"tab\there", "%s", "\t"},
      {"abab", "(ab)%1", "abab"},
      {"xyz", "x?y?z?w?", "xyz"},
      {"", ".*", ""},
      {"aaa", "a*", "aaa"},
      {"1h30m", "([%d%.]+)([hms])", "1h"},
      {"$", "%$", "$"},
      {"a$b", "a$b", "a$b"},
      {"-5", "^-?%d+$", "-5"},
      {"abc", "", ""},
  };
  for (const auto& c : kCases) {
    uint64_t steps = 10'000;
    LuaPattern pattern(c.pattern, steps);
    const std::string_view subject = c.subject;
    const Result<bool> found = pattern.Find(subject, 0);
    ASSERT_TRUE(found.ok()) << c.pattern << ": " << found.error().message();
    ASSERT_EQ(*found, c.matched != nullptr) << c.subject << " " << c.pattern;
    if (*found) EXPECT_EQ(subject.substr(pattern.start(), pattern.end() - pattern.start()), c.matched) << c.pattern;
  }
  for (const char* bad : {"%", "[a", "[", "(a", "a)", "%1", "%b", "%bx", "%f", "%fa", "[%", "[^", "(()", "[]"}) {
    uint64_t steps = 10'000;
    LuaPattern pattern(bad, steps);
    EXPECT_FALSE(pattern.Find("abc", 0).ok()) << bad;
  }
}

TEST(LuaPatternTest, GivesCaptures) {
  LuaPool pool;
  EXPECT_EQ(EvalLua(pool, "{string.find('key = value', '(%w+)%s*=%s*(%w+)')}"), R"([1,11,"key","value"])");
  EXPECT_EQ(EvalLua(pool, "{string.match('2026-02-03', '(%d+)-(%d+)-()')}"), R"(["2026","02",9])");
  EXPECT_EQ(EvalLua(pool, "{string.find('a.b', '.', 1, true)}"), "[2,2]");
  EXPECT_EQ(EvalLua(pool, "{string.find('abc', 'c', -1)}"), "[3,3]");
  EXPECT_EQ(EvalLua(pool, "{string.find('abc', 'b', 10)}"), "[]");
  EXPECT_EQ(EvalLua(pool, "{('x'):find('')}"), "[1,0]");
  const auto outcome = RunLua(
      pool,
      "function F() local t = {} for k, v in string.gmatch('a=1, b=2', '(%w+)=(%w+)') do t[k] = v end return t end");
  EXPECT_EQ(json::Print(outcome->results[0].value), R"({"a":"1","b":"2"})");
  const auto empties =
      RunLua(pool, "function F() local n = 0 for _ in ('abc'):gmatch('x*') do n = n + 1 end return n end");
  EXPECT_EQ(empties->results[0].value, Value(4));
}

}  // namespace
}  // namespace baton::interpret
