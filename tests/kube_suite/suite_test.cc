// The kube suite: what kube::Api, Informer and Credentials promise, against the server that E2E_KUBECONFIG names.
#include <unistd.h>

#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "json/yaml.h"
#include "kube/informer.h"
#include "net/fault_gate.h"
#include "net/transport.h"
#include "rt/scope.h"
#include "tests/kube_suite/support.h"

namespace baton::kube_suite {
namespace {

using json::Value;
using kube::Api;
using kube::PatchType;
using kube::RemoteApi;

Value Yaml(std::string_view text) { return Must(json::ParseYaml(text)); }

std::string K(const Value& object) { return std::string(object["data"]["k"].str()); }

TEST(KubeSuite, EveryVerb) {
  InNamespace([](rt::RealLoop& loop, RemoteApi& api, const std::string& ns) -> rt::Task<void> {
    const Value made = Must(co_await api.Create(kConfigMaps, Map(ns, "a", "1")));
    EXPECT_EQ((co_await api.Create(kConfigMaps, Map(ns, "a", "1"))).error().kind(), ErrorKind::kAlreadyExists);
    EXPECT_EQ(Must(co_await api.Get(kConfigMaps, {ns, "a"})), made);
    Value changed = made;
    changed.Edit("data").Set("k", "2");
    EXPECT_EQ(K(Must(co_await api.Update(kConfigMaps, changed))), "2");
    EXPECT_EQ((co_await api.Update(kConfigMaps, changed)).error().kind(), ErrorKind::kConflict);
    EXPECT_EQ(Must(co_await api.ListAll(kConfigMaps, {.ns = ns, .field_selector = "metadata.name=a"})).items.size(),
              1U);
    const auto other = co_await api.Delete(kConfigMaps, {ns, "a"}, {.uid = "00000000-0000-0000-0000-000000000000"});
    EXPECT_EQ(other.error().kind(), ErrorKind::kConflict);
    EXPECT_EQ(Outcome(co_await api.Delete(kConfigMaps, {ns, "a"}, {.uid = std::string(kube::UidOf(made))})), "OK");
    EXPECT_EQ((co_await api.Get(kConfigMaps, {ns, "a"})).error().kind(), ErrorKind::kNotFound);
    Must(co_await api.Create(kConfigMaps, Map(ns, "b", "1")));
    kube::Call all;
    all.verb = kube::Verb::kDeleteCollection;
    all.resource = kConfigMaps;
    all.ns = ns;
    EXPECT_EQ(Outcome(co_await api.Do(all, rt::Deadline::After(loop, kTimeout))), "OK");
    EXPECT_EQ((co_await api.Get(kConfigMaps, {ns, "b"})).error().kind(), ErrorKind::kNotFound);
  });
}

TEST(KubeSuite, EveryPatchTypeAndApplyConflicts) {
  InNamespace([](rt::RealLoop&, RemoteApi& api, const std::string& ns) -> rt::Task<void> {
    Must(co_await api.Create(kConfigMaps, Map(ns, "a", "1")));
    EXPECT_EQ(K(Must(co_await api.Patch(kConfigMaps, {ns, "a"}, PatchType::kMerge, Data("2")))), "2");
    const Value tested = Yaml("[{op: test, path: /data/k, value: '2'}, {op: replace, path: /data/k, value: '3'}]");
    EXPECT_EQ(K(Must(co_await api.Patch(kConfigMaps, {ns, "a"}, PatchType::kJson, tested))), "3");
    EXPECT_EQ((co_await api.Patch(kConfigMaps, {ns, "a"}, PatchType::kJson, tested)).error().kind(),
              ErrorKind::kInvalid);
    Value web = Yaml(R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: a, image: x}]}}
)");
    web.Edit("metadata").Set("namespace", ns);
    Must(co_await api.Create(kDeployments, web));
    const Value patched =
        Must(co_await api.Patch(kDeployments, {ns, "web"}, PatchType::kStrategic,
                                Yaml("{spec: {template: {spec: {containers: [{name: b, image: 'y'}]}}}}")));
    EXPECT_EQ(patched["spec"]["template"]["spec"]["containers"].size(), 2U);
    Must(co_await api.Apply(kConfigMaps, Map(ns, "applied", "1"), {.field_manager = "one"}));
    const auto refused = co_await api.Apply(kConfigMaps, Map(ns, "applied", "2"), {.field_manager = "two"});
    EXPECT_EQ(refused.error().kind(), ErrorKind::kConflict);
    EXPECT_EQ(refused.error().status()->causes.size(), 1U);
    const auto forced =
        co_await api.Apply(kConfigMaps, Map(ns, "applied", "2"), {.field_manager = "two", .force = true});
    EXPECT_EQ(K(Must(forced)), "2");
  });
}

TEST(KubeSuite, PagesAreOfOneRevision) {
  InNamespace([](rt::RealLoop& loop, RemoteApi& api, const std::string& ns) -> rt::Task<void> {
    for (int i = 0; i < 30; ++i) Must(co_await api.Create(kConfigMaps, Map(ns, StrCat("m-", 100 + i), "old")));
    kube::Call list;
    list.verb = kube::Verb::kList;
    list.resource = kConfigMaps;
    list.ns = ns;
    list.limit = 7;
    std::set<std::string> names;
    std::string version;
    do {
      const kube::Answer page = Must(co_await api.Do(list, rt::Deadline::After(loop, kTimeout)));
      if (version.empty()) version = page.resource_version;
      EXPECT_EQ(page.resource_version, version);
      for (const Value& item : page.items) {
        if (!kube::NameOf(item).starts_with("m-")) continue;
        EXPECT_TRUE(names.insert(std::string(kube::NameOf(item))).second) << kube::NameOf(item);
        EXPECT_EQ(K(item), "old");
      }
      list.continue_token = page.continue_token;
      // What changes between the pages is in none of them.
      Must(co_await api.Patch(kConfigMaps, {ns, "m-129"}, PatchType::kMerge, Data("new")));
      Must(co_await api.Create(kConfigMaps, Map(ns, StrCat("m-0", names.size()), "new")));
      Must(co_await api.Create(kConfigMaps, Map(ns, StrCat("m-2", names.size()), "new")));
    } while (!list.continue_token.empty());
    EXPECT_EQ(names.size(), 30U);
  });
}

TEST(KubeSuite, AnInformerGoesOnAfterItsConnectionsWereKilled) {
  InNamespace([](rt::RealLoop& loop, RemoteApi& direct, const std::string& ns) -> rt::Task<void> {
    kube::ClusterAccess access = co_await TheAccess(loop);
    const net::Endpoint server = Must(net::ParseEndpoint(access.server.substr(std::string_view("https://").size())));
    const auto listener = Must(net::Listen(loop, {.host = "127.0.0.1", .port = 0}));
    access.server = StrCat("https://", listener->endpoint().ToString());
    const std::unique_ptr<RemoteApi> api = Must(RemoteApi::Make(loop, access));
    kube::Informer informer(*api, kConfigMaps, {.ns = ns});
    size_t told = 0;
    informer.OnChange([&](const Value&, const Value& now) { told += kube::NameOf(now).starts_with("w") ? 1 : 0; });
    rt::Scope relay(loop);
    relay.Spawn(net::RunFaultRelay(loop, *listener, server, {}));
    rt::Scope scope(loop);
    scope.Spawn(informer.Run());
    co_await informer.WaitSynced();
    for (int round = 1; round <= 5; ++round) {
      relay.CancelAll();  // every connection is cut
      Must(co_await direct.Apply(kConfigMaps, Map(ns, "w", StrCat(round)), {.force = true}));
      relay.Spawn(net::RunFaultRelay(loop, *listener, server, {}));
      while (K(informer.Get(ns + "/w")) != StrCat(round)) co_await loop.Sleep(milliseconds(10));
    }
    EXPECT_EQ(told, 5U);              // nothing lost, nothing twice
    EXPECT_EQ(informer.lists(), 1U);  // it resumed
  });
}

// Random changes of what is there, many at a time.
rt::Task<void> Disturb(Api& api, std::string ns, uint64_t seed, int steps, size_t objects) {
  rt::SeededRandom random(seed);
  for (int i = 0; i < steps; ++i) {
    const std::string name = StrCat("m-", random.Below(objects));
    const uint64_t what = random.Below(4);
    // Others change the same objects: that one is not there, or there already, is no failure.
    if (what == 0) {
      [[maybe_unused]] const auto gone = co_await api.Delete(kConfigMaps, {ns, name});
    } else if (what == 1) {
      [[maybe_unused]] const auto made = co_await api.Create(kConfigMaps, Map(ns, name, StrCat(i)));
    } else {
      [[maybe_unused]] const auto changed =
          co_await api.Patch(kConfigMaps, {ns, name}, PatchType::kMerge, Data(StrCat(seed, "-", i)));
    }
  }
}

std::map<std::string, std::string> Versions(const kube::Informer& informer) {
  std::map<std::string, std::string> versions;
  informer.ForEach([&](std::string_view key, const Value& object) { versions.emplace(key, kube::VersionOf(object)); });
  return versions;
}

TEST(KubeSuite, AnInformerOfTenThousandEndsEqualToTheList) {
  constexpr size_t kObjects = 10000;
  constexpr size_t kWriters = 16;
  InNamespace([&](rt::RealLoop& loop, RemoteApi& api, const std::string& ns) -> rt::Task<void> {
    const auto fill = [&](size_t from) -> rt::Task<void> {
      for (size_t i = from; i < kObjects; i += kWriters) {
        Must(co_await api.Create(kConfigMaps, Map(ns, StrCat("m-", i), "0")));
      }
    };
    kube::Informer informer(api, kConfigMaps, {.ns = ns});
    rt::Scope scope(loop);
    {
      rt::Scope fillers(loop);
      for (size_t i = 0; i < kWriters; ++i) fillers.Spawn(fill(i));
      co_await fillers.Join();
    }
    scope.Spawn(informer.Run());
    rt::Scope writers(loop);
    for (uint64_t i = 0; i < kWriters; ++i) writers.Spawn(Disturb(api, ns, i + 1, 100, kObjects));
    co_await informer.WaitSynced();
    co_await writers.Join();
    const kube::Listed listed = Must(co_await api.ListAll(kConfigMaps, {.ns = ns}));
    std::map<std::string, std::string> wanted;
    for (const Value& item : listed.items) wanted.emplace(kube::Name::Of(item).Key(), kube::VersionOf(item));
    const MonotonicTime give_up = loop.Now() + kTimeout;
    while (Versions(informer) != wanted && loop.Now() < give_up) co_await loop.Sleep(milliseconds(50));
    EXPECT_EQ(Versions(informer), wanted);
    EXPECT_GT(wanted.size(), kObjects / 2);
    EXPECT_EQ(informer.lists(), 1U);
  });
}

TEST(KubeSuite, ATokenFileIsReadAgain) {
  InNamespace([](rt::RealLoop& loop, RemoteApi&, const std::string& ns) -> rt::Task<void> {
    const char* right = std::getenv("E2E_TOKEN");  // one that the server knows; its user need not be allowed anything
    EXPECT_NE(right, nullptr) << "E2E_TOKEN is not set";
    if (right == nullptr) co_return;
    std::string path = ::testing::TempDir() + "/token_XXXXXX";
    const int file = ::mkstemp(path.data());
    const auto write = [&](std::string_view token) {
      EXPECT_EQ(::ftruncate(file, 0), 0);
      EXPECT_EQ(::pwrite(file, token.data(), token.size(), 0), static_cast<ssize_t>(token.size()));
    };
    write("wrong");
    kube::ClusterAccess access = co_await TheAccess(loop);
    access.certificate_pem.clear();
    access.key_pem.clear();
    access.token_file = path;
    const std::unique_ptr<RemoteApi> api = Must(RemoteApi::Make(loop, access));
    EXPECT_EQ((co_await api->Get(kNamespaces, {"", ns})).error().kind(), ErrorKind::kUnauthorized);
    write(right);
    // Known, and not allowed: the token came through.
    EXPECT_EQ((co_await api->Get(kNamespaces, {"", ns})).error().kind(), ErrorKind::kForbidden);
    write("wrong again");
    const MonotonicTime give_up = loop.Now() + kTimeout;
    ErrorKind kind = ErrorKind::kForbidden;
    while (kind == ErrorKind::kForbidden && loop.Now() < give_up) {
      kind = (co_await api->Get(kNamespaces, {"", ns})).error().kind();
      co_await loop.Sleep(milliseconds(100));
    }
    EXPECT_EQ(kind, ErrorKind::kUnauthorized);
    ::close(file);
    ::unlink(path.c_str());
  });
}

}  // namespace
}  // namespace baton::kube_suite
