// A Front before a backend on a virtual loop, asked without a connection, for tests.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "apiserver/backend_for_test.h"
#include "apiserver/front.h"
#include "base/strings.h"
#include "rt/event.h"

namespace baton::apiserver {

// Keeps what it is given.
class KeptAnswer final : public net::ResponseWriter {
 public:
  rt::Task<Result<void>> Send(int code, net::Headers /*headers*/, net::Body sent) override {
    status = code;
    body = sent.ToString();
    co_return Result<void>();
  }
  rt::Task<Result<void>> Start(int code, net::Headers /*headers*/) override {
    status = code;
    co_return Result<void>();
  }
  rt::Task<Result<void>> Write(net::Body chunk) override {
    body += chunk.ToString();
    co_return Result<void>();
  }
  rt::Task<Result<void>> Finish() override { co_return Result<void>(); }
  bool shutting_down() const override { return false; }
  rt::Event& shutdown() override { return shutdown_; }

  int status = 0;
  std::string body;

 private:
  rt::Event shutdown_;
};

// Users are known by tokens that are their names; "root" is of system:masters.
class Fronted {
 public:
  explicit Fronted(World& world)
      : world(world),
        authenticator_(world.core,
                       {.static_tokens = StaticTokens::Parse("root,root,1,system:masters\nmia,mia,2\n").value(),
                        .signer = nullptr,
                        .anonymous = false}),
        front_({.core = world.core,
                .authenticator = authenticator_,
                .authorizer = world.backend.authorizer(),
                .metrics = metrics}) {}

  World& world;
  MetricRegistry metrics;

  struct Asked {
    std::string_view user = "root";
    std::string_view method = "GET";
    std::string_view target;
    std::string_view body = {};
    net::Headers headers = {};
  };
  struct Got {
    int status = 0;
    std::string body;
  };
  rt::Task<Got> Ask(Asked asked) {
    net::Request request{.method = std::string(asked.method), .target = std::string(asked.target)};
    request.headers = std::move(asked.headers);
    if (!asked.user.empty()) request.headers.Set("authorization", StrCat("Bearer ", asked.user));
    request.body = asked.body;
    KeptAnswer answer;
    co_await front_.Handle(std::move(request), answer);
    co_return Got{.status = answer.status, .body = std::move(answer.body)};
  }

  // Lets mia do what these rules say, in one namespace or ("") everywhere.
  rt::Task<void> Allow(std::string_view ns, std::string_view rules) {
    constexpr std::string_view kGroup = "rbac.authorization.k8s.io";
    world.caller.user = {.name = "root", .uid = {}, .groups = {std::string(kMastersGroup)}, .extra = {}};
    const bool wide = ns.empty();
    EXPECT_EQ(Outcome(co_await world.Create(world.Of(kGroup, wide ? "clusterroles" : "roles", ns),
                                            StrCat("{metadata: {name: given}, rules: ", rules, "}"))),
              "OK");
    EXPECT_EQ(
        Outcome(co_await world.Create(
            world.Of(kGroup, wide ? "clusterrolebindings" : "rolebindings", ns),
            StrCat("{metadata: {name: given}, subjects: [{kind: User, name: mia, apiGroup: ", kGroup,
                   "}], roleRef: {apiGroup: ", kGroup, ", kind: ", wide ? "ClusterRole" : "Role", ", name: given}}"))),
        "OK");
  }

 private:
  Authenticator authenticator_;
  Front front_;
};

}  // namespace baton::apiserver
