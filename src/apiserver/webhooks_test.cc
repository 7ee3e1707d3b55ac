// Admission webhooks against webhook servers that are functions, on virtual time.
#include "apiserver/webhooks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

#include "apiserver/errors.h"
#include "base/base64.h"
#include "base/strings.h"
#include "json/parse.h"
#include "json/print.h"
#include "rt/virtual_loop.h"

namespace baton::apiserver {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

json::Value J(std::string_view text) { return json::Parse(text).value(); }

ResourceTypePtr Type(std::string_view group, std::string_view version, std::string_view kind, std::string_view plural,
                     bool namespaced) {
  auto type = std::make_shared<ResourceType>();
  type->group = group;
  type->version = version;
  type->kind = kind;
  type->plural = plural;
  type->namespaced = namespaced;
  return type;
}
const ResourceTypePtr& Deployments() {
  static const ResourceTypePtr type = Type("apps", "v1", "Deployment", "deployments", true);
  return type;
}
const ResourceTypePtr& Namespaces() {
  static const ResourceTypePtr type = Type("", "v1", "Namespace", "namespaces", false);
  return type;
}

// A webhook server: what it answers to a review's request, after how long. The answer gets its uid by itself.
struct Server {
  std::function<net::Response(const json::Value& request)> answer;
  Duration takes = Duration(0);
};

net::Response Reply(const json::Value& request, json::Value response) {
  if (!response.Has("uid")) response.Set("uid", request["uid"]);
  const json::Value review = json::Object(
      {{"apiVersion", "admission.k8s.io/v1"}, {"kind", "AdmissionReview"}, {"response", std::move(response)}});
  return {.status = 200, .headers = {}, .body = json::Print(review)};
}
Server Says(std::string_view response) {
  return {.answer = [text = std::string(response)](const json::Value& request) { return Reply(request, J(text)); }};
}
Server Raw(int status, std::string_view body) {
  return {.answer = [status, text = std::string(body)](const json::Value&) {
    return net::Response{.status = status, .headers = {}, .body = text};
  }};
}
std::string PatchOf(std::string_view patch) {
  return StrCat(R"({"allowed":true,"patchType":"JSONPatch","patch":")", Base64Encode(patch), R"("})");
}

class World {
 public:
  World() {
    WebhookOptions options;
    options.validating = [this] { return validating; };
    options.mutating = [this] { return mutating; };
    options.find_namespace = [this](std::string_view name) -> std::optional<json::Value> {
      const auto found = namespaces.find(std::string(name));
      if (found == namespaces.end()) return std::nullopt;
      return found->second;
    };
    options.versions = [](const ResourceType& type) {
      return type.plural == "deployments" ? std::vector<std::string>{"v1", "v1beta1"} : std::vector<std::string>{"v1"};
    };
    options.call = [this](WebhookCall call, rt::Deadline) { return Answer(this, std::move(call)); };
    options.on_ignored = [this](std::string_view webhook, const Error& why) {
      ignored.push_back(StrCat(webhook, ": ", why.message()));
    };
    options_ = std::move(options);
  }

  void Edit(const std::function<void(WebhookOptions&)>& edit) { edit(options_); }

  Result<void> Validate(const AdmissionRequest& request) {
    const auto plugin = MakeWebhooks(loop, options_);
    return loop.Run(plugin->Validate(request));
  }
  Result<void> Mutate(AdmissionRequest& request) {
    const auto plugin = MakeWebhooks(loop, options_);
    return loop.Run(plugin->Mutate(request));
  }

  AdmissionRequest Request(Operation operation = Operation::kCreate) {
    return {.operation = operation,
            .type = Deployments(),
            .ns = "blue",
            .name = "web",
            .subresource = "",
            .user = user,
            .dry_run = false,
            .object = operation == Operation::kDelete ? json::Value() : J(kObject),
            .old_object = operation == Operation::kCreate ? json::Value() : J(kObject),
            .options = J(R"({"kind":"CreateOptions","apiVersion":"meta.k8s.io/v1"})"),
            .warnings = warnings};
  }

  static constexpr std::string_view kObject =
      R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"blue","labels":{"app":"web"}}})";

  rt::VirtualLoop loop{7};
  std::vector<json::Value> validating;
  std::vector<json::Value> mutating;
  std::map<std::string, json::Value> namespaces;
  std::map<std::string, Server> servers;  // by host
  std::vector<WebhookCall> calls;
  std::vector<std::string> asked;  // hosts, in order
  std::vector<std::string> ignored;
  std::vector<std::string> warnings;
  User user{.name = "jane", .uid = "u1", .groups = {"devs"}, .extra = {{"scopes", {"a", "b"}}}};

 private:
  static rt::Task<Result<net::Response>> Answer(World* world, WebhookCall call) {
    std::string host = call.url.substr(8, call.url.find('/', 8) - 8);
    world->asked.push_back(host);
    const json::Value review = J(call.body);
    world->calls.push_back(std::move(call));
    const auto found = world->servers.find(host);
    if (found == world->servers.end()) co_return UnavailableError("dial tcp: connection refused");
    co_await world->loop.Sleep(found->second.takes);
    co_return found->second.answer(review["request"]);
  }

  WebhookOptions options_;
};

// A webhook "<host>.example.com" at https://<host>/, for everything; `more` changes it (null erases).
json::Value Hook(std::string_view host, std::string_view more = "{}") {
  json::Value hook = J(R"({"rules":[{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*/*","*"]}],
                           "admissionReviewVersions":["v1beta1","v1"],"sideEffects":"None"})");
  hook.Set("name", StrCat(host, ".example.com"));
  hook.Set("clientConfig", json::Object({{"url", StrCat("https://", host, "/check")}}));
  const json::Value changes = J(more);
  for (const json::Member& member : changes.members()) hook.Set(member.key(), member.value());
  return hook;
}
json::Value Configuration(std::string_view name, std::vector<json::Value> hooks) {
  json::Value configuration = json::Object({{"metadata", json::Object({{"name", name}})}});
  for (json::Value& hook : hooks) configuration.Edit("webhooks").Push(std::move(hook));
  return configuration;
}

TEST(WebhooksTest, SendAReviewAsKubernetesWritesIt) {
  World world;
  world.servers["h"] = Says(R"({"allowed":true})");
  world.validating = {Configuration("c", {Hook("h")})};
  AdmissionRequest request = world.Request(Operation::kUpdate);
  request.subresource = "status";
  ASSERT_TRUE(world.Validate(request).ok());
  ASSERT_EQ(world.calls.size(), 1U);
  EXPECT_EQ(world.calls[0].url, "https://h/check?timeout=10s");
  EXPECT_EQ(world.calls[0].ca_pem, "");
  json::Value review = J(world.calls[0].body);
  EXPECT_EQ(review["request"]["uid"].str().size(), 36U);
  review.Edit("request").Erase("uid");
  json::Value expected = J(R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{
      "kind":{"group":"apps","version":"v1","kind":"Deployment"},
      "resource":{"group":"apps","version":"v1","resource":"deployments"},
      "requestKind":{"group":"apps","version":"v1","kind":"Deployment"},
      "requestResource":{"group":"apps","version":"v1","resource":"deployments"},
      "subResource":"status","requestSubResource":"status","name":"web","namespace":"blue","operation":"UPDATE",
      "userInfo":{"username":"jane","uid":"u1","groups":["devs"],"extra":{"scopes":["a","b"]}},
      "dryRun":false,"options":{"kind":"CreateOptions","apiVersion":"meta.k8s.io/v1"}}})");
  expected.Edit("request").Set("object", J(World::kObject));
  expected.Edit("request").Set("oldObject", J(World::kObject));
  EXPECT_EQ(review, expected);

  // A namespace is in itself; a deletion has no object; another kind in a subresource is told as such.
  AdmissionRequest deletion = world.Request(Operation::kDelete);
  deletion.type = Namespaces();
  deletion.ns = "";
  deletion.name = "blue";
  deletion.old_object = json::Value();
  ASSERT_TRUE(world.Validate(deletion).ok());
  review = J(world.calls[1].body);
  EXPECT_EQ(review["request"]["namespace"].str(), "blue");
  EXPECT_TRUE(review["request"].Has("object"));
  EXPECT_TRUE(review["request"]["object"].is_null());
  AdmissionRequest scale = world.Request(Operation::kUpdate);
  scale.subresource = "scale";
  scale.object = J(R"({"apiVersion":"autoscaling/v1","kind":"Scale"})");
  ASSERT_TRUE(world.Validate(scale).ok());
  EXPECT_EQ(J(world.calls[2].body)["request"]["kind"], J(R"({"group":"autoscaling","version":"v1","kind":"Scale"})"));
}

TEST(WebhooksTest, AreAskedByTheirRules) {
  struct Row {
    std::string_view rule;
    bool deployment;         // create deployments web in blue
    bool deployment_status;  // update deployments/status
    bool ns;                 // create namespaces blue
  };
  constexpr Row kRows[] = {
      {R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*/*"]})", true, true, true},
      {R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"]})", true, false, true},
      {R"({"operations":["CREATE"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*/*"]})", true, false, true},
      {R"({"operations":["UPDATE","DELETE"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*/*"]})", false, true,
       false},
      {R"({"operations":["CONNECT"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*/*"]})", false, false, false},
      {R"({"operations":["*"],"apiGroups":["apps"],"apiVersions":["v1"],"resources":["deployments"]})", true, false,
       false},
      {R"({"operations":["*"],"apiGroups":["apps"],"apiVersions":["v1"],"resources":["deployments/status"]})", false,
       true, false},
      {R"({"operations":["*"],"apiGroups":["apps"],"apiVersions":["v1"],"resources":["deployments/*"]})", true, true,
       false},
      {R"({"operations":["*"],"apiGroups":["apps"],"apiVersions":["v1"],"resources":["*/status"]})", false, true,
       false},
      {R"({"operations":["*"],"apiGroups":[""],"apiVersions":["v1"],"resources":["namespaces"]})", false, false, true},
      {R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*/*"],"scope":"Namespaced"})", true,
       true, false},
      {R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*/*"],"scope":"Cluster"})", false,
       false, true},
      {R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*/*"],"scope":"*"})", true, true,
       true},
      {R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["v2"],"resources":["*/*"]})", false, false, false},
      {R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["*"]})", false, false, false},
      {R"({})", false, false, false},
      {R"(null)", false, false, false},
  };
  for (const Row& row : kRows) {
    SCOPED_TRACE(std::string(row.rule));
    World world;
    world.servers["h"] = Says(R"({"allowed":true})");
    world.validating = {Configuration("c", {Hook("h", StrCat(R"({"rules":[)", row.rule, "]}"))})};
    const auto asked = [&](const AdmissionRequest& request) {
      world.asked.clear();
      EXPECT_TRUE(world.Validate(request).ok());
      return !world.asked.empty();
    };
    EXPECT_EQ(asked(world.Request()), row.deployment);
    AdmissionRequest status = world.Request(Operation::kUpdate);
    status.subresource = "status";
    EXPECT_EQ(asked(status), row.deployment_status);
    AdmissionRequest ns = world.Request();
    ns.type = Namespaces();
    ns.ns = "";
    EXPECT_EQ(asked(ns), row.ns);
  }
}

TEST(WebhooksTest, EquivalentVersionsAreSentInTheVersionThatTheRuleNames) {
  constexpr std::string_view kBeta =
      R"({"rules":[{"operations":["*"],"apiGroups":["apps"],"apiVersions":["v1beta1"],"resources":["deployments"]}]})";
  World world;
  world.servers["h"] = Says(PatchOf(R"([{"op":"add","path":"/metadata/labels/new","value":"1"}])"));
  world.mutating = {Configuration("c", {Hook("h", kBeta)})};
  AdmissionRequest request = world.Request();
  ASSERT_TRUE(world.Mutate(request).ok());
  ASSERT_EQ(world.calls.size(), 1U);
  const json::Value review = J(world.calls[0].body)["request"];
  EXPECT_EQ(review["kind"]["version"].str(), "v1beta1");
  EXPECT_EQ(review["resource"]["version"].str(), "v1beta1");
  EXPECT_EQ(review["requestKind"]["version"].str(), "v1");
  EXPECT_EQ(review["object"]["apiVersion"].str(), "apps/v1beta1");
  EXPECT_EQ(request.object["apiVersion"].str(), "apps/v1");  // and back
  EXPECT_EQ(request.object["metadata"]["labels"]["new"].str(), "1");

  json::Value exact = Hook("h", kBeta);
  exact.Set("matchPolicy", "Exact");
  world.mutating = {Configuration("c", {exact})};
  ASSERT_TRUE(world.Mutate(request).ok());
  EXPECT_EQ(world.calls.size(), 1U);
  // Without knowledge of versions any matches, and the object goes as it is.
  world.mutating = {Configuration("c", {Hook("h", kBeta)})};
  world.Edit([](WebhookOptions& options) { options.versions = nullptr; });
  ASSERT_TRUE(world.Mutate(request).ok());
  ASSERT_EQ(world.calls.size(), 2U);
  EXPECT_EQ(J(world.calls[1].body)["request"]["object"]["apiVersion"].str(), "apps/v1");
}

TEST(WebhooksTest, AreAskedBySelectors) {
  World world;
  world.servers["h"] = Says(R"({"allowed":true})");
  world.namespaces["blue"] = J(R"({"metadata":{"labels":{"env":"prod"}}})");
  const auto asked = [&](std::string_view more, const AdmissionRequest& request) {
    world.validating = {Configuration("c", {Hook("h", more)})};
    world.asked.clear();
    const Result<void> result = world.Validate(request);
    return result.ok() ? (world.asked.empty() ? "no" : "yes") : result.error().message();
  };
  constexpr std::string_view kProd = R"({"namespaceSelector":{"matchLabels":{"env":"prod"}}})";
  constexpr std::string_view kDev = R"({"namespaceSelector":{"matchLabels":{"env":"dev"}}})";
  EXPECT_EQ(asked(kProd, world.Request()), "yes");
  EXPECT_EQ(asked(kDev, world.Request()), "no");
  EXPECT_EQ(asked(R"({"namespaceSelector":{}})", world.Request()), "yes");
  AdmissionRequest elsewhere = world.Request();
  elsewhere.ns = "nowhere";
  EXPECT_EQ(asked(kProd, elsewhere), "namespaces \"nowhere\" not found");
  // Cluster-wide objects are in no namespace, and always asked about; but a Namespace has labels of its own.
  AdmissionRequest node = world.Request();
  node.type = Type("", "v1", "Node", "nodes", false);
  node.ns = "";
  EXPECT_EQ(asked(kDev, node), "yes");
  AdmissionRequest ns = world.Request();
  ns.type = Namespaces();
  ns.ns = "";
  ns.name = "blue";
  ns.object = J(R"({"kind":"Namespace","metadata":{"labels":{"env":"dev"}}})");
  EXPECT_EQ(asked(kDev, ns), "yes");
  EXPECT_EQ(asked(kProd, ns), "no");
  ns.operation = Operation::kDelete;
  ns.object = json::Value();
  EXPECT_EQ(asked(kProd, ns), "yes");
  // Objects: the new one or the old one.
  EXPECT_EQ(asked(R"({"objectSelector":{"matchLabels":{"app":"web"}}})", world.Request()), "yes");
  EXPECT_EQ(asked(R"({"objectSelector":{"matchLabels":{"app":"db"}}})", world.Request()), "no");
  EXPECT_EQ(asked(R"({"objectSelector":{"matchLabels":{"app":"web"}}})", world.Request(Operation::kDelete)), "yes");
  EXPECT_THAT(asked(R"({"objectSelector":{"matchLabel":{"app":"web"}}})", world.Request()),
              HasSubstr("Internal error occurred: the objectSelector of webhook \"h.example.com\" cannot be read"));
}

TEST(WebhooksTest, DenialsAreInKubernetesWords) {
  struct Row {
    std::string_view response;
    std::string_view message;
    int code;
    std::string_view reason;
  };
  constexpr Row kRows[] = {
      {R"({"allowed":false,"status":{"message":"why","code":403,"reason":"Forbidden"}})",
       R"(admission webhook "h.example.com" denied the request: why)", 403, "Forbidden"},
      {R"({"allowed":false,"status":{"message":"why"}})",
       R"(admission webhook "h.example.com" denied the request: why)", 400, ""},
      {R"({"allowed":false,"status":{"reason":"Because","code":200}})",
       R"(admission webhook "h.example.com" denied the request: Because)", 400, "Because"},
      {R"({"allowed":false})", R"(admission webhook "h.example.com" denied the request without explanation)", 400, ""},
      {R"({})", R"(admission webhook "h.example.com" denied the request without explanation)", 400, ""},
      {R"({"allowed":false,"status":{"code":99999999999}})",
       R"(admission webhook "h.example.com" denied the request without explanation)", 599, ""},
  };
  for (const Row& row : kRows) {
    for (const bool mutating : {false, true}) {
      World world;
      world.servers["h"] = Says(row.response);
      // Ignore is about failures, not about refusals.
      (mutating ? world.mutating
                : world.validating) = {Configuration("c", {Hook("h", R"({"failurePolicy":"Ignore"})")})};
      AdmissionRequest request = world.Request();
      const Result<void> result = mutating ? world.Mutate(request) : world.Validate(request);
      ASSERT_FALSE(result.ok()) << row.response;
      EXPECT_EQ(result.error().message(), row.message);
      EXPECT_EQ(result.error().status()->code, row.code);
      EXPECT_EQ(result.error().status()->reason, row.reason);
    }
  }
}

TEST(WebhooksTest, FailedCallsAreInKubernetesWordsAndIgnoredOnDemand) {
  constexpr std::string_view kReview = R"("apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview")";
  struct Row {
    Server server;
    std::string_view more;
    std::string why;
  };
  const Row rows[] = {
      {Raw(500, "boom\n"), "{}",
       R"(failed to call webhook: an error on the server ("boom") has prevented the request from succeeding)"},
      {Raw(500, ""), "{}",
       R"(failed to call webhook: an error on the server ("unknown") has prevented the request from succeeding)"},
      {Raw(404, "x"), "{}", "failed to call webhook: the server could not find the requested resource"},
      {Raw(302, ""), "{}",
       "failed to call webhook: the server responded with the status code 302 but did not return more information"},
      {Raw(200, "<html>"), "{}", "failed to call webhook: couldn't get version/kind; json parse error: "},
      {Raw(200, ""), "{}", "failed to call webhook: couldn't get version/kind; json parse error: "},
      {Raw(200, "[]"), "{}", "received invalid webhook response: webhook response was absent"},
      {Raw(200, StrCat("{", kReview, "}")), "{}", "received invalid webhook response: webhook response was absent"},
      {Says(R"({"allowed":true,"uid":"other"})"), "{}", "received invalid webhook response: expected response.uid="},
      {Says(R"({"allowed":"yes"})"), "{}", "received invalid webhook response: response.allowed is not a boolean"},
      {Says(R"({"allowed":true,"patch":"W10="})"), "{}",
       "received invalid webhook response: validating webhook may not return response.patch"},
      {Says(R"({"allowed":true,"patchType":"JSONPatch"})"), "{}",
       "received invalid webhook response: validating webhook may not return response.patchType"},
      {{.answer = nullptr, .takes = seconds(60)},
       R"({"timeoutSeconds":3})",
       R"(failed to call webhook: Post "https://h/check?timeout=3s": context deadline exceeded)"},
      {Says("{}"), R"({"admissionReviewVersions":["v1beta1"]})",
       "could not create admission objects: webhook does not accept known AdmissionReview versions (v1)"},
      {Says("{}"), R"({"clientConfig":{}})",
       "could not get REST client: webhook configuration must have either service or URL"},
      {Says("{}"), R"({"clientConfig":{"url":"http://h/"}})", "could not get REST client: clientConfig.url"},
      {Says("{}"), R"({"clientConfig":{"url":"https://u:p@h/"}})", "could not get REST client: clientConfig.url"},
      {Says("{}"), R"({"clientConfig":{"url":"https://h/","caBundle":"%"}})",
       "could not get REST client: clientConfig.caBundle is not base64"},
      {Says("{}"), R"({"clientConfig":{"service":{"namespace":"n","name":"s"}}})",
       "could not get REST client: the webhook names the service n/s, and this server cannot reach services"},
      {Says("{}"), R"({"clientConfig":{"service":{"namespace":"n","name":"s","port":70000}}})",
       "could not get REST client: clientConfig.service.port 70000 is no port"},
      {Says("{}"), R"({"clientConfig":{"url":"https://nobody/"}})",
       R"(failed to call webhook: Post "https://nobody/?timeout=10s": dial tcp: connection refused)"},
  };
  for (const Row& row : rows) {
    World world;
    world.servers["h"] = row.server;
    world.validating = {Configuration("c", {Hook("h", row.more)})};
    const MonotonicTime before = world.loop.Now();
    const Result<void> result = world.Validate(world.Request());
    ASSERT_FALSE(result.ok()) << row.why;
    const std::string prefix = R"(Internal error occurred: failed calling webhook "h.example.com": )";
    EXPECT_THAT(result.error().message(), testing::StartsWith(prefix + row.why));
    EXPECT_EQ(result.error().status()->code, 500);
    EXPECT_EQ(result.error().status()->reason, "InternalError");
    EXPECT_LE(world.loop.Now() - before, seconds(3));

    world.validating[0].Edit("webhooks").Edit(0).Set("failurePolicy", "Ignore");
    EXPECT_TRUE(world.Validate(world.Request()).ok());
    ASSERT_EQ(world.ignored.size(), 1U);
    EXPECT_THAT(world.ignored[0], HasSubstr(row.why));
  }
}

TEST(WebhooksTest, TheAnswerMustBeAReviewOfVersionOne) {
  World world;
  world.servers["h"] = {.answer = [](const json::Value& request) {
    net::Response response = Reply(request, J(R"({"allowed":true})"));
    json::Value review = J(response.body);
    review.Set("apiVersion", "admission.k8s.io/v1beta1");
    response.body = json::Print(review);
    return response;
  }};
  world.validating = {Configuration("c", {Hook("h")})};
  EXPECT_THAT(world.Validate(world.Request()).error().message(),
              HasSubstr("received invalid webhook response: expected webhook response of admission.k8s.io/v1, "
                        "Kind=AdmissionReview, got admission.k8s.io/v1beta1, Kind=AdmissionReview"));
}

TEST(WebhooksTest, DryRunsAskOnlyThoseWithoutSideEffects) {
  struct Row {
    std::string_view side_effects;
    std::string_view error;  // "" : asked
  };
  constexpr Row kRows[] = {
      {R"({"sideEffects":"None"})", ""},
      {R"({"sideEffects":"NoneOnDryRun"})", ""},
      {R"({"sideEffects":"Some"})", R"(admission webhook "h.example.com" does not support dry run)"},
      {R"({"sideEffects":"Unknown","failurePolicy":"Ignore"})",
       R"(admission webhook "h.example.com" does not support dry run)"},
      {R"({"sideEffects":null})",
       R"(Internal error occurred: failed calling webhook "h.example.com": Webhook SideEffects is nil)"},
  };
  for (const Row& row : kRows) {
    World world;
    world.servers["h"] = Says(R"({"allowed":true})");
    world.validating = {Configuration("c", {Hook("h", row.side_effects)})};
    AdmissionRequest request = world.Request();
    request.dry_run = true;
    const Result<void> result = world.Validate(request);
    EXPECT_EQ(result.ok() ? "" : result.error().message(), row.error);
    EXPECT_EQ(world.asked.empty(), !row.error.empty());
    if (result.ok()) EXPECT_TRUE(J(world.calls[0].body)["request"]["dryRun"].bool_or(false));
    request.dry_run = false;
    EXPECT_TRUE(world.Validate(request).ok());
  }
}

TEST(WebhooksTest, MatchConditionsFailClosed) {
  World world;
  world.servers["h"] = Says(R"({"allowed":true})");
  constexpr std::string_view kConditions =
      R"({"matchConditions":[{"name":"x","expression":"true"}],"failurePolicy":"Ignore"})";
  world.validating = {Configuration("c", {Hook("h", kConditions)})};
  const Result<void> result = world.Validate(world.Request());
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind(), ErrorKind::kForbidden);
  EXPECT_EQ(result.error().message(),
            R"(deployments.apps "web" is forbidden: webhook "h.example.com" of configuration "c" has matchConditions, )"
            "which this server cannot evaluate: take them out of the webhook");
  // Not when it would not have been asked anyway.
  json::Value other = Hook("h", kConditions);
  other.Edit("rules").Edit(0).Set("apiGroups", json::Array({"batch"}));
  world.validating = {Configuration("c", {other})};
  EXPECT_TRUE(world.Validate(world.Request()).ok());
}

TEST(WebhooksTest, NeverHoldUpTheirOwnConfigurations) {
  World world;
  world.validating = {Configuration("c", {Hook("nobody")})};
  world.mutating = world.validating;
  for (const std::string_view kind : {"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"}) {
    AdmissionRequest request = world.Request();
    request.type = Type("admissionregistration.k8s.io", "v1", kind, "x", false);
    EXPECT_TRUE(world.Validate(request).ok());
    EXPECT_TRUE(world.Mutate(request).ok());
  }
  AdmissionRequest request = world.Request();
  request.type = Type("example.com", "v1", "ValidatingWebhookConfiguration", "x", false);
  EXPECT_FALSE(world.Validate(request).ok());
}

TEST(WebhooksTest, ReachServicesThroughTheResolver) {
  World world;
  world.servers["hook.ops.svc:8443"] = Says(R"({"allowed":true})");
  world.validating = {Configuration(
      "c", {Hook("h", StrCat(R"({"clientConfig":{"caBundle":")", Base64Encode("PEM"),
                             R"(","service":{"namespace":"ops","name":"hook","port":8443,"path":"/v"}}})"))})};
  world.Edit([](WebhookOptions& options) {
    options.resolve_service = [](std::string_view ns, std::string_view name, uint16_t port) -> Result<std::string> {
      if (ns != "ops") return NotFoundError(StrCat("no service ", ns, "/", name));
      return StrCat("10.0.0.7:", port);
    };
  });
  ASSERT_TRUE(world.Validate(world.Request()).ok());
  EXPECT_EQ(world.calls[0].url, "https://hook.ops.svc:8443/v?timeout=10s");
  EXPECT_EQ(world.calls[0].address, "10.0.0.7:8443");
  EXPECT_EQ(world.calls[0].server_name, "hook.ops.svc");
  EXPECT_EQ(world.calls[0].ca_pem, "PEM");
}

TEST(WebhooksTest, ValidatingOnesAreAskedAtOnceAndTheFirstInOrderSpeaks) {
  World world;
  world.servers["a"] = Says(R"({"allowed":true,"warnings":["from a"]})");
  world.servers["b"] = Says(R"({"allowed":false,"status":{"message":"b"},"warnings":["from b"]})");
  world.servers["c"] = Says(R"({"allowed":false,"status":{"message":"c"}})");
  world.servers["a"].takes = world.servers["c"].takes = seconds(2);
  world.servers["b"].takes = seconds(3);
  world.validating = {Configuration("2", {Hook("c")}), Configuration("1", {Hook("a"), Hook("b")})};
  const MonotonicTime before = world.loop.Now();
  const Result<void> result = world.Validate(world.Request());
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().message(), R"(admission webhook "b.example.com" denied the request: b)");
  EXPECT_EQ(world.loop.Now() - before, seconds(3));
  EXPECT_THAT(world.warnings, ElementsAre("from a", "from b"));
}

TEST(WebhooksTest, MutatingOnesChangeTheObjectInTheOrderOfTheirConfigurations) {
  World world;
  world.servers["a"] = Says(PatchOf(R"([{"op":"add","path":"/metadata/labels/seen","value":"a"}])"));
  world.servers["b"] = {.answer = [](const json::Value& request) {
    EXPECT_EQ(request["object"]["metadata"]["labels"]["seen"].str(), "a");
    return Reply(request, J(PatchOf(R"([{"op":"replace","path":"/metadata/labels/seen","value":"b"}])")));
  }};
  world.servers["c"] = Says(PatchOf("[]"));
  world.mutating = {Configuration("y", {Hook("b"), Hook("c")}), Configuration("x", {Hook("a")})};
  AdmissionRequest request = world.Request();
  ASSERT_TRUE(world.Mutate(request).ok());
  EXPECT_THAT(world.asked, ElementsAre("a", "b", "c"));
  EXPECT_EQ(request.object["metadata"]["labels"], J(R"({"app":"web","seen":"b"})"));
}

TEST(WebhooksTest, PatchesThatCannotBeApplied) {
  struct Row {
    std::string response;
    std::string_view why;
    bool ignorable;
  };
  const Row rows[] = {
      {R"({"allowed":true,"patch":"W10="})", "webhook returned response.patch but not response.patchType", true},
      {R"({"allowed":true,"patchType":"JSONPatch"})", "webhook returned response.patchType but not response.patch",
       true},
      {R"({"allowed":true,"patchType":"","patch":"W10="})", "invalid response.patchType of \"\"", true},
      {R"({"allowed":true,"patchType":"Merge","patch":"W10="})", "unsupported patch type \"Merge\"", true},
      {R"({"allowed":true,"patchType":"JSONPatch","patch":"%"})", "response.patch is not base64", true},
      {R"({"allowed":true,"patchType":"JSONPatch","patch":7})", "response.patch is not a base64 string", true},
      {PatchOf("{"), "received undecodable patch in webhook response", true},
      {PatchOf("{}"), "received undecodable patch in webhook response", true},
      {PatchOf(R"([{"op":"remove","path":"/nothing"}])"), "cannot be applied", false},
      {PatchOf(R"([{"op":"replace","path":"","value":7}])"), "changes the object's apiVersion or kind", false},
      {PatchOf(R"([{"op":"replace","path":"/kind","value":"Pod"}])"), "changes the object's apiVersion or kind", false},
  };
  for (const Row& row : rows) {
    World world;
    world.servers["h"] = Says(row.response);
    world.mutating = {Configuration("c", {Hook("h")})};
    AdmissionRequest request = world.Request();
    const Result<void> result = world.Mutate(request);
    ASSERT_FALSE(result.ok()) << row.why;
    EXPECT_THAT(result.error().message(), HasSubstr(row.why));
    EXPECT_EQ(result.error().status()->code, 500);
    world.mutating[0].Edit("webhooks").Edit(0).Set("failurePolicy", "Ignore");
    EXPECT_EQ(world.Mutate(request).ok(), row.ignorable) << row.why;
    EXPECT_EQ(request.object, J(World::kObject));
  }
  World world;
  world.servers["h"] = Says(PatchOf(R"([{"op":"add","path":"/x","value":1}])"));
  world.mutating = {Configuration("c", {Hook("h")})};
  AdmissionRequest deletion = world.Request(Operation::kDelete);
  EXPECT_EQ(world.Mutate(deletion).error().message(),
            R"(Internal error occurred: admission webhook "h.example.com" attempted to modify the object, )"
            "which is not supported for this operation");
}

TEST(WebhooksTest, AreAskedAgainWhenOthersChangedTheObjectAfterThem) {
  constexpr std::string_view kIfNeeded = R"({"reinvocationPolicy":"IfNeeded"})";
  const auto set = [](std::string_view key, std::string_view value) {
    return Says(PatchOf(StrCat(R"([{"op":"add","path":"/metadata/labels/)", key, R"(","value":")", value, R"("}])")));
  };
  {  // Nobody changes anything.
    World world;
    world.servers["a"] = world.servers["b"] = Says(R"({"allowed":true})");
    world.mutating = {Configuration("c", {Hook("a", kIfNeeded), Hook("b", kIfNeeded)})};
    AdmissionRequest request = world.Request();
    ASSERT_TRUE(world.Mutate(request).ok());
    EXPECT_THAT(world.asked, ElementsAre("a", "b"));
  }
  {  // b's change is for a to see; b's own change is not for b, nor for c, which came later, nor for d, which never
     // asks.
    World world;
    world.servers["d"] = world.servers["a"] = world.servers["c"] = Says(R"({"allowed":true})");
    world.servers["b"] = set("x", "1");
    world.mutating = {
        Configuration("c", {Hook("d"), Hook("a", kIfNeeded), Hook("b", kIfNeeded), Hook("c", kIfNeeded)})};
    AdmissionRequest request = world.Request();
    ASSERT_TRUE(world.Mutate(request).ok());
    EXPECT_THAT(world.asked, ElementsAre("d", "a", "b", "c", "a"));
  }
  {  // a changes it once more the second time: c sees that, and there is no third round.
    World world;
    int rounds = 0;
    world.servers["a"] = {.answer = [&](const json::Value& request) {
      const std::string patch = StrCat(R"([{"op":"add","path":"/metadata/labels/round","value":")", ++rounds, R"("}])");
      return Reply(request, J(PatchOf(patch)));
    }};
    world.servers["b"] = set("x", "1");
    world.servers["c"] = Says(R"({"allowed":true})");
    world.mutating = {Configuration("c", {Hook("a", kIfNeeded), Hook("b"), Hook("c", kIfNeeded)})};
    AdmissionRequest request = world.Request();
    ASSERT_TRUE(world.Mutate(request).ok());
    EXPECT_THAT(world.asked, ElementsAre("a", "b", "c", "a", "c"));
  }
  {  // A patch that changes nothing is no change.
    World world;
    world.servers["a"] = Says(R"({"allowed":true})");
    world.servers["b"] = set("app", "web");
    world.mutating = {Configuration("c", {Hook("a", kIfNeeded), Hook("b")})};
    AdmissionRequest request = world.Request();
    ASSERT_TRUE(world.Mutate(request).ok());
    EXPECT_THAT(world.asked, ElementsAre("a", "b"));
  }
}

TEST(WebhooksTest, WhatAWebhookAddsGoesThroughTheSchema) {
  auto schema = std::make_shared<api::Schema>();
  schema->type = api::SchemaType::kObject;
  auto text = std::make_shared<api::Schema>();
  text->type = api::SchemaType::kString;
  auto defaulted = std::make_shared<api::Schema>(*text);
  defaulted->default_value = json::Value("d");
  auto spec = std::make_shared<api::Schema>();
  spec->type = api::SchemaType::kObject;
  spec->properties = {{"a", text}, {"b", defaulted}};
  auto any = std::make_shared<api::Schema>();
  any->type = api::SchemaType::kObject;
  any->preserve_unknown_fields = true;
  schema->properties = {{"apiVersion", text}, {"kind", text}, {"metadata", any}, {"spec", spec}};
  auto type = std::make_shared<ResourceType>(*Deployments());
  type->schema = schema;
  World world;
  world.servers["h"] = Says(PatchOf(R"([{"op":"add","path":"/spec","value":{"a":"1","unknown":2}}])"));
  world.mutating = {Configuration("c", {Hook("h")})};
  AdmissionRequest request = world.Request();
  request.type = type;
  ASSERT_TRUE(world.Mutate(request).ok());
  EXPECT_EQ(request.object["spec"], J(R"({"a":"1","b":"d"})"));
}

TEST(WebhooksTest, WithoutConfigurationsNobodyIsAsked) {
  World world;
  AdmissionRequest request = world.Request();
  EXPECT_TRUE(world.Validate(request).ok());
  EXPECT_TRUE(world.Mutate(request).ok());
  world.validating = {J("null"), J("{}"), J(R"({"webhooks":"x"})"), J(R"({"webhooks":[null,7]})")};
  EXPECT_TRUE(world.Validate(request).ok());
  EXPECT_THAT(world.asked, IsEmpty());
}

}  // namespace
}  // namespace baton::apiserver
