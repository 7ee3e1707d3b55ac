// RemoteApi against servers that a test makes up: headers, old discovery, answers of others.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/strings.h"
#include "kube/api_calls_for_test.h"
#include "kube/wire_for_test.h"
#include "rt/test_support.h"
#include "rt/virtual_loop.h"

namespace baton::kube {
namespace {

std::string HeadersOf(const net::Request& request) {
  std::vector<std::string> lines;
  for (const auto& [name, value] : request.headers.fields()) {
    if (name != "host" && name != "content-length") lines.push_back(StrCat(name, ": ", value));
  }
  std::ranges::sort(lines);
  return Join(lines, "\n");
}

TEST(RemoteWireTest, ARequestSaysWhoAsks) {
  rt::VirtualLoop loop(1);
  loop.Run(rt::Do([&]() -> rt::Task<void> {
    Wire wire(loop, [](const net::Request&) { return WireAnswer(); });
    ClusterAccess access;
    access.username = "ann";
    access.password = "a:b";
    access.impersonate_user = "bob";
    access.impersonate_uid = "7";
    access.impersonate_groups = {"g1", "g2"};
    access.impersonate_extra = {{"scopes/x%", {"one", "two"}}};
    access.disable_compression = true;
    auto basic = *wire.Make(access, {.user_agent = "baton/1"});
    EXPECT_TRUE((co_await basic->Get(kConfigMaps, {"default", "a"})).ok());
    EXPECT_EQ(HeadersOf(wire.requests()[0]),
              "accept-encoding: identity\naccept: application/json\nauthorization: Basic YW5uOmE6Yg==\n"
              "impersonate-extra-scopes%2fx%25: one\nimpersonate-extra-scopes%2fx%25: two\nimpersonate-group: g1\n"
              "impersonate-group: g2\nimpersonate-uid: 7\nimpersonate-user: bob\nuser-agent: baton/1");
    ClusterAccess with_token;
    with_token.server = "http://server:80/prefix";
    with_token.token = "secret";
    auto bearer = *wire.Make(with_token);
    EXPECT_TRUE((co_await bearer->Get(kConfigMaps, {"default", "a"})).ok());
    EXPECT_EQ(HeadersOf(wire.requests()[1]),
              "accept-encoding: gzip\naccept: application/json\nauthorization: Bearer secret\nuser-agent: baton");
    EXPECT_EQ(wire.requests()[1].target, "/prefix/api/v1/namespaces/default/configmaps/a");
  }));
}

WireAnswer FromMap(const std::map<std::string, WireAnswer>& answers, const net::Request& request) {
  const auto found = answers.find(request.target);
  return found == answers.end() ? WireAnswer{.status = 500, .body = request.target} : found->second;
}

std::string Described(const Result<Discovered>& discovered) {
  if (!discovered.ok()) return discovered.error().ToString();
  std::string text = discovered->server_version;
  for (const ResourceInfo& info : discovered->resources) {
    StrAppend(text, "\n", info.resource.ToString(), " ", info.resource.kind, " ", info.resource.namespaced, " ",
              Join(info.verbs, ","), " ", Join(info.short_names, ","), " ", Join(info.subresources, ","), " ",
              info.preferred);
  }
  for (const std::string& group : discovered->failed_groups) StrAppend(text, "\nfailed ", group);
  return text;
}

const std::map<std::string, WireAnswer> kOldServer = {
    {"/version", {.body = R"({"gitVersion":"v1.20.1"})"}},
    {"/api", {.body = R"({"kind":"APIVersions","versions":["v1"]})"}},
    {"/apis", {.body = R"({"kind":"APIGroupList","apiVersion":"v1","groups":[
        {"name":"apps","versions":[{"groupVersion":"apps/v1","version":"v1"},{"groupVersion":"apps/v1beta1",
         "version":"v1beta1"}],"preferredVersion":{"groupVersion":"apps/v1","version":"v1"}},
        {"name":"metrics.k8s.io","versions":[{"groupVersion":"metrics.k8s.io/v1","version":"v1"}],
         "preferredVersion":{"version":"v1"}}]})"}},
    {"/api/v1", {.body = R"({"kind":"APIResourceList","resources":[
        {"name":"pods/status","namespaced":true,"kind":"Pod","verbs":["get"]},
        {"name":"pods","namespaced":true,"kind":"Pod","verbs":["get","list"],"shortNames":["po"]},
        {"name":"orphans/scale","kind":"Scale"},{"name":"nodes","kind":"Node","namespaced":false}]})"}},
    {"/apis/apps/v1",
     {.body = R"({"kind":"APIResourceList","resources":[{"name":"deployments","namespaced":true,"kind":"Deployment"},
        {"name":"deployments/scale","group":"autoscaling","version":"v1","kind":"Scale"}]})"}},
    {"/apis/apps/v1beta1",
     {.body =
          R"({"kind":"APIResourceList","resources":[{"name":"deployments","namespaced":true,"kind":"Deployment"}]})"}},
    {"/apis/metrics.k8s.io/v1", {.status = 503, .body = "the server behind it is down"}},
};

TEST(RemoteWireTest, AnOldServerIsAskedGroupByGroup) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    rt::VirtualLoop loop(seed);
    loop.Run(rt::Do([&]() -> rt::Task<void> {
      Wire wire(loop, [](const net::Request& request) { return FromMap(kOldServer, request); });
      auto api = *wire.Make({});
      EXPECT_EQ(Described(co_await api->Discover(rt::Deadline::Never())),
                "v1.20.1\n"
                "pods.v1 Pod true get,list po status true\n"
                "nodes.v1 Node false    true\n"
                "deployments.v1.apps Deployment true   scale true\n"
                "deployments.v1beta1.apps Deployment true    false\n"
                "failed metrics.k8s.io/v1");
    }));
  }
}

TEST(RemoteWireTest, AStaleGroupOfANewServerIsAFailedOne) {
  const std::map<std::string, WireAnswer> server = {
      {"/version", {.status = 403, .body = R"({"kind":"Status","code":403,"reason":"Forbidden"})"}},
      {"/api", {.status = 404, .body = R"({"kind":"Status","code":404,"reason":"NotFound"})"}},
      {"/apis", {.body = R"({"kind":"APIGroupDiscoveryList","items":[{"metadata":{"name":"g"},"versions":[
          {"version":"v2","freshness":"Stale","resources":[{"resource":"as","responseKind":{"kind":"A"}}]},
          {"version":"v1","freshness":"Current","resources":[{"resource":"as","scope":"Namespaced","shortNames":["a"],
            "responseKind":{"kind":"A"},"verbs":["get"],"subresources":[{"subresource":"status"},
            {"subresource":"scale"}]},{"resource":"half","subresources":[{"subresource":"x"}]}]}]}]})"}},
  };
  rt::VirtualLoop loop(1);
  loop.Run(rt::Do([&]() -> rt::Task<void> {
    Wire wire(loop, [&](const net::Request& request) { return FromMap(server, request); });
    auto api = *wire.Make({});
    EXPECT_EQ(Described(co_await api->Discover(rt::Deadline::Never())),
              "\nas.v1.g A true get a scale,status false\nfailed g/v2");
  }));
}

TEST(RemoteWireTest, DiscoveryOfAServerThatAnswersNothingIsAnError) {
  rt::VirtualLoop loop(1);
  loop.Run(rt::Do([&]() -> rt::Task<void> {
    Wire wire(loop, [&](const net::Request&) { return WireAnswer{.status = 404, .body = "page not found"}; });
    auto api = *wire.Make({});
    EXPECT_EQ((co_await api->Discover(rt::Deadline::Never())).error().kind(), ErrorKind::kUnavailable);
    EXPECT_EQ((co_await api->Get(kConfigMaps, {"default", "a"})).error().kind(), ErrorKind::kUnavailable);
  }));
}

TEST(RemoteWireTest, AnAccessThatCannotBeUsedIsToldAtOnce) {
  rt::RealLoop loop;
  const auto made = [&](auto change) {
    ClusterAccess access;
    access.server = "https://server:6443";
    change(access);
    const auto api = RemoteApi::Make(loop, access);
    return api.ok() ? std::string("OK") : api.error().ToString();
  };
  EXPECT_EQ(made([](ClusterAccess&) {}), "OK");
  EXPECT_EQ(made([](ClusterAccess& a) { a.proxy_url = "http://user:pass@proxy:3128"; }), "OK");
  EXPECT_TRUE(made([](ClusterAccess& a) { a.server = "server"; }).starts_with("invalid: server \"server\""));
  EXPECT_TRUE(made([](ClusterAccess& a) { a.proxy_url = "ftp://x"; }).starts_with("invalid: "));
  EXPECT_TRUE(made([](ClusterAccess& a) { a.ca_pem = "none"; }).find("the cluster's certificates: ") !=
              std::string::npos);
  EXPECT_TRUE(made([](ClusterAccess& a) {
                a.exec = ExecCredentials{.command = "x", .interactive_mode = "Always"};
              }).starts_with("unsupported: the credential program \"x\" must ask a person"));
}

}  // namespace
}  // namespace baton::kube
