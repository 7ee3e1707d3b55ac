// Interpreter webhooks in the pipe, with a webhook that this test answers for.
#include "federation/interpretation.h"

#include <gtest/gtest.h>

#include <map>

#include "base/base64.h"
#include "base/strings.h"
#include "federation/world_for_test.h"
#include "json/parse.h"

namespace baton::federation {
namespace {

using json::Value;

// Answers each operation with what the test put there; an operation without is refused.
struct Hook {
  std::map<std::string, Value> answers;
  std::string down;  // it cannot be reached, because
  Duration delay{};
  std::vector<Value> asked;
  std::string url;
};

PostToWebhook PostTo(rt::Loop& loop, Hook& hook) {
  struct Call {
    static rt::Task<Result<std::string>> Do(rt::Loop& loop, Hook& hook, interpret::WebhookPlace place,
                                            std::string body) {
      hook.url = place.url;
      co_await loop.Sleep(hook.delay);
      if (!hook.down.empty()) co_return UnavailableError(hook.down);
      const Value context = CO_TRY(json::Parse(body));
      const Value& request = context["request"];
      hook.asked.push_back(request);
      const auto at = hook.answers.find(std::string(request["operation"].str()));
      Value response = at == hook.answers.end()
                           ? json::Object({{"successful", false},
                                           {"status", json::Object({{"code", 404}, {"message", "not for me"}})}})
                           : at->second;
      response.Set("uid", request["uid"]);
      if (!response.Has("successful")) response.Set("successful", true);
      co_return json::Object({{"response", response}}).ToString();
    }
  };
  return [&loop, &hook](interpret::WebhookPlace place, std::string body, rt::Deadline) {
    return Call::Do(loop, hook, std::move(place), std::move(body));
  };
}

Value Patch(std::string_view patch) {
  return json::Object({{"patchType", "JSONPatch"}, {"patch", Base64Encode(patch)}});
}

constexpr std::string_view kPolicy = R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: p, namespace: default}
spec: {propagateDeps: true, resourceSelectors: [{apiVersion: v1, kind: ConfigMap, name: a}]}
)";

std::string Configuration(std::string_view operations, int timeout = 10) {
  return StrCat(R"(
apiVersion: config.karmada.io/v1alpha1
kind: ResourceInterpreterWebhookConfiguration
metadata: {name: c}
webhooks:
- name: hook.example.com
  timeoutSeconds: )",
                timeout, R"(
  interpreterContextVersions: [v1alpha1]
  clientConfig: {url: "https://hook.example.com:9443/interpret", caBundle: Q0E=}
  rules: [{operations: [)",
                operations, R"(], apiGroups: [""], apiVersions: [v1], kinds: [ConfigMap]}]
)");
}

template <class Test>
void WithHook(Hook& hook, Test test) {
  rt::VirtualLoop loop(1);
  loop.Run(rt::Do([&]() -> rt::Task<void> {
    FederationWorld world(loop);
    HubOptions options;
    options.post = PostTo(loop, hook);
    co_await world.Start({"blue"}, options);
    co_await test(world);
    co_await world.Stop();
  }));
}

rt::Task<Value> BindingOf(FederationWorld& world) { return world.OnHub(kResourceBindings, "default/a-configmap"); }

rt::Task<void> PutMap(FederationWorld& world, std::string value) {
  co_await world.Apply(kTestConfigMaps,
                       StrCat("{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default}, "
                              "data: {value: '",
                              value, "'}}"));
}

TEST(InterpretationTest, EachOperationIsAskedOfTheWebhookThatAnswersForTheKind) {
  Hook hook;
  hook.answers = {
      {"InterpretReplica", json::Object({{"replicas", 3}})},
      {"ReviseReplica", Patch(R"([{"op":"add","path":"/data/replicas","value":"revised"}])")},
      {"Retain", Patch(R"([{"op":"add","path":"/data/kept","value":"retained"}])")},
      {"InterpretStatus", json::Object({{"rawStatus", json::Object({{"phase", "Good"}})}})},
      {"InterpretHealth", json::Object({{"healthy", false}})},
      {"InterpretDependency",
       json::Object({{"dependencies",
                      json::Array({json::Object(
                          {{"apiVersion", "v1"}, {"kind", "Secret"}, {"namespace", "default"}, {"name", "s"}})})}})},
      {"AggregateStatus", json::Object()},
  };
  WithHook(hook, [&](FederationWorld& world) -> rt::Task<void> {
    co_await world.Apply(kInterpreterWebhooks, Configuration("\"*\""));
    co_await world.Apply(kPropagationPolicies, kPolicy);
    co_await world.Apply(kSecrets, "{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: default}}");
    co_await PutMap(world, "1");
    co_await world.Settle();
    EXPECT_EQ(hook.url, "https://hook.example.com:9443/interpret?timeout=10s");
    Value there = co_await world.OnMember("blue", kTestConfigMaps, "default/a");
    EXPECT_EQ(there["data"]["replicas"].str(), "revised") << there;
    EXPECT_FALSE((co_await world.OnMember("blue", kSecrets, "default/s")).is_null());
    const Value binding = co_await BindingOf(world);
    EXPECT_EQ(binding["spec"]["replicas"].int_or(0), 3);
    const Value& item = binding["status"]["aggregatedStatus"][0];
    EXPECT_EQ(item["status"]["phase"].str(), "Good") << binding["status"];
    EXPECT_EQ(item["health"].str(), "Unhealthy");
    co_await PutMap(world, "2");
    co_await world.Settle();
    there = co_await world.OnMember("blue", kTestConfigMaps, "default/a");
    EXPECT_EQ(there["data"]["value"].str(), "2");
    EXPECT_EQ(there["data"]["kept"].str(), "retained");
    // Without the configuration the other levels answer again.
    co_await world.DeleteOnHub(kInterpreterWebhooks, "c");
    hook.asked.clear();
    co_await PutMap(world, "3");
    co_await world.Settle();
    EXPECT_TRUE(hook.asked.empty());
    EXPECT_EQ((co_await world.OnMember("blue", kTestConfigMaps, "default/a"))["data"]["value"].str(), "3");
  });
}

TEST(InterpretationTest, AWebhookThatFailsIsToldAndAskedAgain) {
  struct Row {
    std::string_view operation;
    std::string_view down;
    std::string_view says;
  };
  for (const Row& row : {Row{"InterpretReplica", "nobody is there", "nobody is there"},
                         Row{"ReviseReplica", "", "not for me"}, Row{"InterpretStatus", "", "not for me"}}) {
    Hook hook;
    hook.down = row.down;
    hook.answers = {{"InterpretReplica", json::Object({{"replicas", 1}})}};
    if (row.down.empty()) hook.answers.erase(std::string(row.operation));
    WithHook(hook, [&](FederationWorld& world) -> rt::Task<void> {
      co_await world.Apply(kInterpreterWebhooks, Configuration(StrCat("InterpretReplica, ", row.operation)));
      co_await world.Apply(kPropagationPolicies, kPolicy);
      co_await PutMap(world, "1");
      co_await world.Settle(seconds(10));
      std::string events;
      const Result<kube::Listed> listed =
          co_await world.hub_server->api->ListAll({.group = "", .version = "v1", .plural = "events", .kind = "Event"});
      for (const Value& event : listed->items)
        events += StrCat(event["reason"].str(), ": ", event["message"].str(), "\n");
      EXPECT_NE(events.find("interpreter webhook c/hook.example.com"), std::string::npos) << row.operation << events;
      EXPECT_NE(events.find(row.says), std::string::npos) << events;
      if (row.operation == "ReviseReplica") {
        const Value binding = co_await BindingOf(world);
        EXPECT_NE(FindCondition(binding["status"], "FullyApplied")["message"].str().find("not for me"),
                  std::string_view::npos)
            << binding["status"];
      }
      hook.down.clear();
      hook.answers = {{"InterpretReplica", json::Object({{"replicas", 1}})},
                      {"ReviseReplica", json::Object()},
                      {"InterpretStatus", json::Object({{"rawStatus", json::Object({{"phase", "Good"}})}})}};
      co_await world.Settle(minutes(2));
      const Value binding = co_await BindingOf(world);
      EXPECT_EQ(FindCondition(binding["status"], "FullyApplied")["status"].str(), "True")
          << row.operation << binding["status"];
      if (row.operation == "InterpretStatus")
        EXPECT_EQ(binding["status"]["aggregatedStatus"][0]["status"]["phase"].str(), "Good");
    });
  }
}

TEST(InterpretationTest, AWebhookThatIsLateIsNotWaitedFor) {
  Hook hook;
  hook.delay = minutes(10);
  WithHook(hook, [&](FederationWorld& world) -> rt::Task<void> {
    co_await world.Apply(kInterpreterWebhooks, Configuration("InterpretReplica", 2));
    const Result<void> set = world.interpreter.SetWebhooks(FederationWorld::Yaml(Configuration("InterpretReplica", 2)));
    EXPECT_TRUE(set.ok());
    const Interpretation interpretation(world.interpreter, world.loop, PostTo(world.loop, hook));
    const MonotonicTime begin = world.loop.Now();
    const auto replicas = co_await interpretation.GetReplicas(
        FederationWorld::Yaml("{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default}}"));
    EXPECT_FALSE(replicas.ok());
    EXPECT_EQ(replicas.error().kind(), ErrorKind::kUnavailable);
    EXPECT_LE(world.loop.Now() - begin, Duration(seconds(3)));
    const Interpretation mute(world.interpreter, world.loop, nullptr);
    const auto refused = co_await mute.GetReplicas(FederationWorld::Yaml("{apiVersion: v1, kind: ConfigMap}"));
    EXPECT_NE(refused.error().message().find("cannot call webhooks"), std::string::npos);
  });
}

}  // namespace
}  // namespace baton::federation
