// What comes over HTTP, and who may have it.
#include "apiserver/front_for_test.h"
#include "base/utf8.h"

namespace baton::apiserver {
namespace {

constexpr std::string_view kConfigMaps = "/api/v1/namespaces/default/configmaps";

TEST(FrontTest, StoresNoHeaderThatIsNotUtf8) {
  InWorld(1, [](World& world) -> rt::Task<void> {
    Fronted fronted(world);
    // The last one is cut at 128 bytes, in the middle of a character.
    const std::string agents[] = {"bad\xff\xfe/1", "\xe2\x82/1", std::string(200, '\xff'),
                                  std::string(127, 'a') + "\u00e9/1"};
    size_t i = 0;
    for (const std::string& agent : agents) {
      const std::string body = StrCat(R"({"metadata":{"name":"a)", i++, R"("},"data":{"k":"v"}})");
      const auto made = co_await fronted.Ask(
          {.method = "POST", .target = kConfigMaps, .body = body, .headers = {{"user-agent", agent}}});
      EXPECT_EQ(made.status, 201) << made.body;
      EXPECT_TRUE(IsUtf8(made.body)) << i;
    }
    for (const char* header : {"impersonate-user", "impersonate-group", "impersonate-uid"}) {
      const auto refused = co_await fronted.Ask({.target = kConfigMaps, .headers = {{header, "m\xff"}}});
      EXPECT_EQ(refused.status, 400) << header;
    }
  });
}

TEST(FrontTest, ServesNothingClusterWideInANamespace) {
  InWorld(1, [](World& world) -> rt::Task<void> {
    Fronted fronted(world);
    co_await fronted.Allow("default", "[{apiGroups: ['*'], resources: ['*'], verbs: ['*']}]");
    struct Row {
      std::string_view method;
      std::string_view target;
      int status;
    };
    const Row rows[] = {
        {"GET", "/api/v1/namespaces/default", 200},
        {"GET", "/api/v1/namespaces/default/status", 200},
        {"GET", "/api/v1/namespaces/default/status/more", 404},
        {"GET", "/api/v1/namespaces/default/namespaces", 404},
        {"GET", "/api/v1/namespaces/default/namespaces/default", 404},
        {"GET", "/api/v1/namespaces/default/namespaces/kube-system", 404},
        {"DELETE", "/api/v1/namespaces/default/namespaces/kube-system", 404},
        {"GET", "/api/v1/namespaces/default/namespaces/kube-system/status", 404},
        {"GET", "/api/v1/namespaces/default/nodes", 404},
        {"GET", "/apis/rbac.authorization.k8s.io/v1/namespaces/default/clusterroles/admin", 404},
        {"GET", "/api/v1/namespaces/kube-system", 403},
        {"GET", "/api/v1/namespaces", 403},
    };
    for (const Row& row : rows) {
      const auto got = co_await fronted.Ask({.user = "mia", .method = row.method, .target = row.target});
      EXPECT_EQ(got.status, row.status) << row.method << " " << row.target << ": " << got.body;
    }
  });
}

TEST(FrontTest, WatchesOfOneNameShowNoOther) {
  InWorld(1, [](World& world) -> rt::Task<void> {
    Fronted fronted(world);
    co_await fronted.Allow("default",
                           "[{apiGroups: [''], resources: [configmaps], verbs: [watch], resourceNames: [mine]}]");
    for (const char* name : {"mine", "other"}) {
      EXPECT_EQ(Outcome(co_await world.Create(world.ConfigMap(), StrCat("metadata: {name: ", name, "}"))), "OK");
    }
    for (const char* selector : {"", "metadata.name!=x", "metadata.name=other", "metadata.namespace=default\\"}) {
      const std::string target =
          StrCat("/api/v1/watch/namespaces/default/configmaps/mine?timeoutSeconds=1&fieldSelector=",
                 net::PercentEncode(selector));
      const auto got = co_await fronted.Ask({.user = "mia", .target = target});
      EXPECT_EQ(got.body.find(R"("name":"other")"), std::string::npos) << selector << got.body;
      const bool mine = selector == std::string_view() || selector == std::string_view("metadata.name!=x");
      EXPECT_EQ(got.body.find(R"("name":"mine")") != std::string::npos, mine) << selector << got.body;
    }
  });
}

TEST(FrontTest, WhatMakesAnObjectNeedsTheRightToCreateIt) {
  InWorld(1, [](World& world) -> rt::Task<void> {
    Fronted fronted(world);
    co_await fronted.Allow(
        "default", "[{apiGroups: ['', coordination.k8s.io], resources: [configmaps, leases], verbs: [update, patch]}]");
    const net::Headers apply = {{"content-type", "application/apply-patch+yaml"}};
    const std::string target = StrCat(kConfigMaps, "/a?fieldManager=m");
    constexpr std::string_view kApplied = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}})";
    constexpr std::string_view kLease = "/apis/coordination.k8s.io/v1/namespaces/default/leases/a";
    constexpr std::string_view kPut = R"({"metadata":{"name":"a"}})";
    for (const auto& [user, applied, put] : {std::tuple{"mia", 403, 403}, {"root", 201, 201}, {"mia", 200, 200}}) {
      const auto patched =
          co_await fronted.Ask({.user = user, .method = "PATCH", .target = target, .body = kApplied, .headers = apply});
      EXPECT_EQ(patched.status, applied) << patched.body;
      const auto updated = co_await fronted.Ask({.user = user, .method = "PUT", .target = kLease, .body = kPut});
      EXPECT_EQ(updated.status, put) << updated.body;
    }
  });
}

TEST(FrontTest, DocumentsHaveOnePathEach) {
  InWorld(1, [](World& world) -> rt::Task<void> {
    Fronted fronted(world);
    for (const char* target : {"/openapi/v3/api/v1", "/openapi/v3/apis/apps/v1"}) {
      EXPECT_EQ((co_await fronted.Ask({.target = target})).status, 200) << target;
    }
    for (const char* target : {"/openapi/v3/api//v1", "/openapi/v3//api/v1", "/openapi/v3/api/v1/",
                               "/openapi/v3/apis/apps///v1", "/openapi/v3/apis/apps"}) {
      EXPECT_EQ((co_await fronted.Ask({.target = target})).status, 404) << target;
    }
  });
}

TEST(FrontTest, MetricsHaveNoLabelOfAClientsMaking) {
  InWorld(1, [](World& world) -> rt::Task<void> {
    Fronted fronted(world);
    for (const char* target : {"/api/v1/invented", "/apis/invented.io/v1/invented", "/invented"}) {
      EXPECT_EQ((co_await fronted.Ask({.user = "", .target = target})).status, 401);
      EXPECT_EQ((co_await fronted.Ask({.user = "", .method = "INVENTED", .target = target})).status, 401);
    }
    co_await fronted.Ask({.target = kConfigMaps});
    const std::string text = fronted.metrics.Text();
    EXPECT_EQ(text.find("invented"), std::string::npos) << text;
    EXPECT_NE(text.find(R"(resource="other")"), std::string::npos) << text;
    EXPECT_NE(text.find(R"(resource="configmaps")"), std::string::npos) << text;
  });
}

TEST(FrontTest, TokenReviewsOfManyAudiencesAreRefused) {
  InWorld(1, [](World& world) -> rt::Task<void> {
    Fronted fronted(world);
    for (const auto& [count, status] : {std::pair{32, 201}, {33, 422}}) {
      json::Value audiences = json::Array();
      for (int i = 0; i < count; ++i) audiences.Push(StrCat("a", i));
      const std::string body =
          json::Object({{"spec", json::Object({{"token", "t"}, {"audiences", audiences}})}}).ToString();
      const auto got = co_await fronted.Ask(
          {.method = "POST", .target = "/apis/authentication.k8s.io/v1/tokenreviews", .body = body});
      EXPECT_EQ(got.status, status) << got.body;
    }
  });
}

}  // namespace
}  // namespace baton::apiserver
