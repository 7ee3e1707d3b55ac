// Lua as Karmada's scripts know it: semantics, conversion, isolation.
#include "interpret/lua_vm.h"

#include <gtest/gtest.h>

#include <thread>

#include "interpret/lua_for_test.h"
#include "json/rfc3339.h"

namespace baton::interpret {
namespace {

using json::Array;
using json::Object;
using json::Value;

WallTime FixedNow() { return json::ParseTime("2026-02-03T04:05:06Z").value(); }

TEST(LuaVmTest, FollowsLua51WhereVersionsDiffer) {
  LuaPool pool({}, FixedNow);
  const struct {
    const char* expression;
    const char* expected;
  } kCases[] = {
      {"10/2 .. ''", "5"},
      {"tostring(2^31)", "2147483648"},
      {"tostring(tonumber('3.0'))", "3"},
      {"tostring(2^53)", "9007199254740992"},
      {"tostring(1e15)", "1000000000000000"},
      {"tostring(0.5)", "0.5"},
      {"tostring(1/3)", "0.3333333333333333"},
      {"tostring(1e100)", "1e+100"},
      {"tostring(1e20)", "100000000000000000000"},
      {"tostring(1e-5)", "1e-05"},
      {"tostring(1/0)", "+Inf"},
      {"tostring(true) .. tostring(nil)", "truenil"},
      {"string.format('%d', 3.5)", "3"},
      {"string.format('%s-%5.2f', 'a', 1.005)", "a- 1.00"},
      {"type(unpack)", "function"},
      {"select('#', unpack({1, 2, 3}))", "3"},
      {"table.getn({1, 2})", "2"},
      {"table.concat({'a', 'b'}, ',')", "a,b"},
      {"math.max(3, 1, 2) + math.floor(2.7) + math.ceil(0.2)", "6"},
      {"#{1, 2, 3}", "3"},
      {"#'abc'", "3"},
      {"('ABC'):lower()", "abc"},
      {"('abc'):sub(-2)", "bc"},
      {"('a'):byte()", "97"},
      {"string.char(72, 105)", "Hi"},
      {"tonumber('0x10')", "16"},
      {"tonumber('abc') == nil", "true"},
      {"tonumber('10', 2)", "2"},
      {"next({}) == nil", "true"},
      {"pcall(error, 'x')", "false"},
      {"1 == 1.0", "true"},
      {"7 % 3", "1"},
      {"-7 % 3", "2"},
      {"'10' + 5", "15"},
      {"not nil", "true"},
      {"type(os.time())", "number"},
      {"os.time()", "1770091506"},
      {"os.date('!%Y-%m-%dT%H:%M:%SZ')", "2026-02-03T04:05:06Z"},
      {"os.date('!%Y', 0)", "1970"},
      {"os.time({year = 1970, month = 1, day = 2, hour = 0})", "86400"},
      {"os.date('*t').year", "2026"},
      {"type(string.gmatch('a', 'a'))", "function"},
  };
  for (const auto& c : kCases) EXPECT_EQ(EvalLua(pool, c.expression), c.expected) << c.expression;
}

TEST(LuaVmTest, KnowsGoto) {
  LuaPool pool;
  const auto outcome =
      RunLua(pool, "function F() for i = 1, 3 do if i == 2 then goto out end end ::out:: return 7 end");
  ASSERT_TRUE(outcome.ok()) << outcome.error().message();
  EXPECT_EQ(outcome->results[0].value, Value(7));
}

TEST(LuaVmTest, RefusesWhatOnlyLaterLuasKnow) {
  for (const char* text : {"return 7 // 2", "return 5 & 3", "return 1 << 2"}) {
    EXPECT_FALSE(LuaScript::Compile("s", text).ok()) << text;
  }
}

TEST(LuaVmTest, ConvertsThereAndBack) {
  LuaPool pool;
  const struct {
    const char* in;
    const char* out;  // of the identity; null: the same
  } kCases[] = {
      {"1", nullptr},
      {"-5", nullptr},
      {"1.5", nullptr},
      {"true", nullptr},
      {"\"text\"", nullptr},
      {R"({"a":{"b":[1,2,{"c":"d"}]}})", nullptr},
      {"9007199254740993", nullptr},      // more exact than Karmada: the number is passed on as it was
      {"18446744073709551615", nullptr},  // above int64
      {"[9007199254740993,9007199254740992]", "[9007199254740992,9007199254740992]"},  // two of one double: in doubt
      {R"({"a":null,"b":1})", R"({"b":1})"},                                           // nil members are absent
      {"[1,null,2]", "[1,2]"},                                                         // gopher-lua's append skips nil
      {"1.0", "1"},  // all numbers are doubles; whole ones print as integers
      {"{}", "[]"},  // one empty table for both; empty_tables.h tells them apart
      {"[]", nullptr},
      {"1e300", nullptr},
      {"-0.0", "0"},
  };
  for (const auto& c : kCases) {
    const auto outcome = RunLua(pool, "function F(x) return x end", {json::Parse(c.in).value()});
    ASSERT_TRUE(outcome.ok()) << c.in << ": " << outcome.error().message();
    EXPECT_EQ(outcome->results[0].value, json::Parse(c.out == nullptr ? c.in : c.out).value()) << c.in;
  }
}

TEST(LuaVmTest, SaysWhatJsonCannotHold) {
  LuaPool pool;
  const struct {
    const char* expression;
    const char* error;
  } kCases[] = {
      {"{1, nil, 3}", "sparse array"},
      {"{[2] = 1}", "sparse array"},
      {"{[1.5] = 1}", "sparse array"},
      {"{1, a = 2}", "mixed or invalid key types"},
      {"{[true] = 1}", "mixed or invalid key types"},
      {"{f = print}", "f: cannot encode function to JSON"},
      {"{a = {b = 0/0}}", "a: b: cannot encode a number that is not finite"},
      {"1/0", "not finite"},
  };
  for (const auto& c : kCases) {
    const std::string got = EvalLua(pool, c.expression);
    EXPECT_TRUE(got.starts_with("error: script: ") && got.find(c.error) != std::string::npos)
        << c.expression << ": " << got;
  }
  const auto cycle = RunLua(pool, "function F() local t = {} t.a = {b = t} return t end");
  ASSERT_FALSE(cycle.ok());
  EXPECT_NE(cycle.error().message().find("recursively nested"), std::string::npos);
}

TEST(LuaVmTest, TakesATableThatStandsInTwoPlaces) {
  LuaPool pool;
  const auto outcome = RunLua(pool, "function F() local t = {1} return {a = t, b = t} end");
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->results[0].value, Object({{"a", Array({1})}, {"b", Array({1})}}));
}

TEST(LuaVmTest, ReplacesBytesThatAreNotUtf8) {
  LuaPool pool;
  EXPECT_EQ(EvalLua(pool, "{['a\\255'] = 'b\\254'}"), "{\"a\xef\xbf\xbd\":\"b\xef\xbf\xbd\"}");
}

TEST(LuaVmTest, GivesNilForMissingResultsAndArguments) {
  LuaPool pool;
  const auto outcome = RunLua(pool, "function F(a, b) return b == nil end", {Value(1), Value()}, 3);
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->results[0].value, Value(true));
  EXPECT_EQ(outcome->results[1].kind, LuaResult::Kind::kNil);
  EXPECT_EQ(outcome->results[2].kind, LuaResult::Kind::kNil);
}

TEST(LuaVmTest, NamesLineAndMessage) {
  LuaPool pool;
  EXPECT_EQ(LuaScript::Compile("health", "function F()\n  x = = 1\nend").error().message(),
            "line 2: unexpected symbol near '='");
  EXPECT_EQ(RunLua(pool, "function F()\n\n  return nil .. 'a'\nend").error().message(),
            "script: line 3: attempt to concatenate a nil value");
  EXPECT_EQ(RunLua(pool, "function F(x) return x.a.b end", {Object()}).error().message(),
            "script: line 1: attempt to index field 'a' (a nil value)");
  EXPECT_EQ(RunLua(pool, "function F() error('no') end").error().message(), "script: line 1: no");
  EXPECT_EQ(RunLua(pool, "function F() error({}) end").error().message(), "script: (error object is a table value)");
  EXPECT_EQ(RunLua(pool, "function G() end").error().message(), "script: not found function F");
  EXPECT_EQ(RunLua(pool, "F = 1").error().message(), "script: F is not a function: number");
}

TEST(LuaVmTest, ForgetsGlobalsBetweenCalls) {
  LuaPool pool;
  const char* text = "function F() seen = (seen or 0) + 1 string_was = string return seen end";
  for (int i = 0; i < 3; ++i) EXPECT_EQ(RunLua(pool, text)->results[0].value, Value(1));
  EXPECT_EQ(EvalLua(pool, "seen == nil and string_was == nil"), "true");
  EXPECT_EQ(RunLua(pool, "function F() _G.left = 1 return _G.left end")->results[0].value, Value(1));
  EXPECT_EQ(EvalLua(pool, "left == nil"), "true");
}

TEST(LuaVmTest, RunsTheScriptAnewForEachCall) {
  LuaPool pool;
  const auto script = LuaScript::Compile("s", "local n = 0 function F() n = n + 1 return n end").value();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(pool.Call(*script, "F", {}, 1)->results[0].value, Value(1));
}

TEST(LuaVmTest, CompilesAScriptOnceHoweverOftenItIsCalled) {
  LuaPool pool;
  const auto script = LuaScript::Compile("s", "function F() return 1 end function Fails() error('no') end").value();
  const auto other = LuaScript::Compile("s", "function F() return 2 end").value();
  EXPECT_TRUE(pool.Call(*script, "F", {}, 1)->compiled);
  EXPECT_TRUE(pool.Call(*other, "F", {}, 1)->compiled);
  EXPECT_FALSE(pool.Call(*script, "Fails", {}, 1).ok());  // a script's error does not cost the state
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(pool.Call(*script, "F", {}, 1)->compiled);
    EXPECT_FALSE(pool.Call(*other, "F", {}, 1)->compiled);
  }
}

TEST(LuaVmTest, GivesWhatWasPrinted) {
  LuaPool pool;
  const auto outcome = RunLua(pool, "function F() print('a', 1, true, nil) print('b') return 1 end");
  EXPECT_EQ(outcome->printed, "a\t1\ttrue\tnil\nb\n");
  const auto flood = RunLua(pool, "function F() for i = 1, 100000 do print('0123456789') end return 1 end");
  ASSERT_TRUE(flood.ok());
  EXPECT_LE(flood->printed.size(), LuaLimits().printed_bytes + 1);
}

TEST(LuaVmTest, KeepsMoreScriptsThanAStateDoes) {
  LuaPool pool;
  std::vector<std::shared_ptr<const LuaScript>> scripts;
  for (int i = 0; i < 600; ++i) {
    scripts.push_back(LuaScript::Compile("s", "function F() return " + std::to_string(i) + " end").value());
  }
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 600; ++i) EXPECT_EQ(pool.Call(*scripts[i], "F", {}, 1)->results[0].value, Value(i));
  }
}

TEST(LuaVmTest, ServesManyThreads) {
  LuaPool pool;
  const auto script =
      LuaScript::Compile("s", "function F(x) total = 0 for _, v in ipairs(x) do total = total + v end return total end")
          .value();
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        const std::vector<Value> arguments = {Array({t, i})};
        const auto outcome = pool.Call(*script, "F", arguments, 1);
        if (!outcome.ok() || outcome->results[0].value != Value(t + i)) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(LuaKubeTest, AddsQuantities) {
  LuaPool pool;
  const struct {
    const char* expression;
    const char* expected;
  } kCases[] = {
      {"require('kube').resourceAdd('1', '500m')", "1500m"},
      {"require('kube').resourceAdd()", "0"},
      {"require('kube').resourceAdd('1Gi', nil, '512Mi')", "1536Mi"},
      {"require('kube').resourceAdd(1, 2)", "3"},
      {"require('kube').getResourceQuantity('2Gi')", "2147483648"},
      {"require('kube').getResourceQuantity('500m')", "0.5"},
      {"require('kube').getResourceQuantity('1500u')", "0.0015"},
      {"require('kube').getResourceQuantity('1e30')", "1e+30"},
      {"require('kube').getResourceQuantity(nil)", "0"},
  };
  for (const auto& c : kCases) EXPECT_EQ(EvalLua(pool, c.expression), c.expected) << c.expression;
  for (const char* bad : {"require('kube').resourceAdd('1x')", "require('kube').resourceAdd({})",
                          "require('kube').getResourceQuantity('-1')", "require('kube').getResourceQuantity()",
                          "require('kube').accuratePodRequirements(1)", "require('kube').getPodDependencies({})",
                          "require('kube').getPodDependencies({}, {})", "require('io')", "require('string')"}) {
    EXPECT_TRUE(EvalLua(pool, bad).starts_with("error: script: line 1: ")) << bad << EvalLua(pool, bad);
  }
}

TEST(LuaKubeTest, ReadsPodTemplates) {
  LuaPool pool;
  const Value pod =
      json::Parse(R"({"spec":{"nodeSelector":{"disk":"ssd"},"serviceAccountName":"runner","priorityClassName":"high",
      "containers":[{"resources":{"requests":{"cpu":"100m"},"limits":{"cpu":"1","memory":"64Mi"}},"envFrom":[{"secretRef":{"name":"s"}}]}],
      "volumes":[{"persistentVolumeClaim":{"claimName":"data"}},{"configMap":{"name":"c"}}]}})")
          .value();
  EXPECT_EQ(
      EvalLua(pool, "require('kube').accuratePodRequirements(x)", pod),
      R"({"nodeClaim":{"nodeSelector":{"disk":"ssd"}},"priorityClassName":"high","resourceRequest":{"cpu":"100m","memory":"64Mi"}})");
  EXPECT_EQ(EvalLua(pool, "require('kube').accuratePodRequirements({}) == nil"), "true");
  EXPECT_EQ(EvalLua(pool, "require('kube').getPodDependencies(x, nil)", pod),
            R"([{"apiVersion":"v1","kind":"ConfigMap","name":"c","namespace":"default"},)"
            R"({"apiVersion":"v1","kind":"Secret","name":"s","namespace":"default"},)"
            R"({"apiVersion":"v1","kind":"ServiceAccount","name":"runner","namespace":"default"},)"
            R"({"apiVersion":"v1","kind":"PersistentVolumeClaim","name":"data","namespace":"default"}])");
}

}  // namespace
}  // namespace baton::interpret
