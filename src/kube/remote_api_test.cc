// RemoteApi against a real server over TLS: every verb gives what LocalApi gives, watches resume, credentials renew.
#include "kube/remote_api.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "kube/api_calls_for_test.h"
#include "kube/local_api.h"
#include "kube/remote_for_test.h"
#include "net/fault_gate.h"
#include "rt/scope.h"

namespace baton::kube {
namespace {

json::Value Data(std::string_view value) { return json::Object({{"data", json::Object({{"k", value}})}}); }

json::Value Map(std::string_view name, std::string_view value) {
  json::Value map = Data(value);
  map.Set("apiVersion", "v1");
  map.Set("kind", "ConfigMap");
  map.Set("metadata", json::Object({{"name", name}, {"namespace", "default"}}));
  return map;
}

// One line a resource, sorted.
std::vector<std::string> Described(const Discovered& discovered) {
  std::vector<std::string> lines;
  for (const ResourceInfo& info : discovered.resources) {
    lines.push_back(StrCat(info.resource.ToString(), " ", info.resource.kind, " ", info.resource.namespaced, " ",
                           Join(info.verbs, ","), " ", Join(info.short_names, ","), " ", Join(info.categories, ","),
                           " ", Join(info.subresources, ","), " ", info.preferred));
  }
  std::ranges::sort(lines);
  return lines;
}

rt::Task<std::vector<std::pair<std::string, std::string>>> RunTable(Api& api) {
  std::vector<std::pair<std::string, std::string>> lines;
  SeenAnswers seen;
  for (const ApiCallRow& row : ApiCallTable()) {
    Result<Answer> answer = co_await api.Do(row.call(seen), rt::Deadline::After(api.loop(), kTestTimeout));
    lines.emplace_back(row.name, Masked(answer, seen));
    EXPECT_TRUE(seen.emplace(row.name, std::move(answer)).second) << "two rows " << row.name;
  }
  co_return lines;
}

TEST(RemoteApiTest, EveryCallGivesWhatItGivesInProcess) {
  std::vector<std::pair<std::string, std::string>> local;
  std::vector<std::pair<std::string, std::string>> remote;
  WithServer([&](rt::RealLoop&, apiserver::ApiServer& server) -> rt::Task<void> {
    LocalApi api(server.backend());
    local = co_await RunTable(api);
  });
  WithServer([&](rt::RealLoop& loop, apiserver::ApiServer& server) -> rt::Task<void> {
    const std::unique_ptr<RemoteApi> api = MakeRemote(loop, AccessOf(server));
    remote = co_await RunTable(*api);
  });
  EXPECT_GE(local.size(), 80u);
  ASSERT_EQ(local.size(), remote.size());
  for (size_t i = 0; i < local.size(); ++i) EXPECT_EQ(local[i].second, remote[i].second) << local[i].first;
}

// The kind of the outcome, with code and reason: what code branches on.
std::string Summary(const std::string& masked) {
  if (!masked.starts_with("error ")) return "OK";
  const size_t status = masked.find("\n  ");
  return masked.substr(0, masked.find(':')) + masked.substr(status, masked.find(" name=") - status);
}

// KUBE_BIN=DIR tests/e2e-kube/run-real build/src/kube/kube_test --gtest_filter='*ARealServer*'
// SHOW_DIFFERENCES=1 also prints where answers differ in anything at all.
TEST(RemoteApiTest, ARealServerAnswersAsOursDoes) {
  const char* path = std::getenv("E2E_KUBECONFIG");
  if (path == nullptr) GTEST_SKIP() << "no kube-apiserver: tests/e2e-kube/run-real gives one";
  std::vector<std::pair<std::string, std::string>> ours;
  WithServer([&](rt::RealLoop& loop, apiserver::ApiServer& server) -> rt::Task<void> {
    ours = co_await RunTable(*MakeRemote(loop, AccessOf(server)));
  });
  std::vector<std::pair<std::string, std::string>> real;
  rt::RealLoop loop;
  loop.Run(rt::Do([&]() -> rt::Task<void> {
    const std::unique_ptr<rt::Files> files = rt::MakeRealFiles(loop, "/");
    const auto config = co_await LoadKubeconfig(*files, {path});
    const auto access = co_await LoadAccess(*files, *config, "");
    EXPECT_EQ(Outcome(access), "OK");
    if (!access.ok()) co_return;
    const std::unique_ptr<RemoteApi> api = MakeRemote(loop, *access);
    real = co_await RunTable(*api);
    const auto discovered = co_await api->Discover(rt::Deadline::After(loop, kTestTimeout));
    EXPECT_EQ(Outcome(discovered), "OK");
    EXPECT_TRUE(discovered->failed_groups.empty());
    EXPECT_TRUE(discovered->server_version.starts_with("v1.")) << discovered->server_version;
    EXPECT_GT(discovered->resources.size(), 40u);
    auto watch = co_await api->OpenWatch({.resource = kNamespaces}, rt::Deadline::After(loop, kTestTimeout));
    EXPECT_EQ(Outcome(watch), "OK");
    const auto changes = co_await (*watch)->Next();
    EXPECT_EQ(Outcome(changes), "OK");
    EXPECT_EQ(KindOf(changes->front().object), "Namespace");
  }));
  ASSERT_EQ(ours.size(), real.size());
  for (size_t i = 0; i < ours.size(); ++i) {
    // kube-apiserver takes the version for something that it had checked before, and fails over it.
    if (ours[i].first == "get at a version that is none") continue;
    if (std::getenv("SHOW_DIFFERENCES") != nullptr && ours[i].second != real[i].second) {
      std::printf("%s\n  ours %s\n  real %s\n", ours[i].first.c_str(), ours[i].second.c_str(), real[i].second.c_str());
    }
    EXPECT_EQ(Summary(ours[i].second), Summary(real[i].second))
        << ours[i].first << "\nours: " << ours[i].second << "\nreal: " << real[i].second;
  }
}

// What a table of differences cannot show: that the calls worked at all.
TEST(RemoteApiTest, TheShortWaysOfApiWork) {
  WithServer([&](rt::RealLoop& loop, apiserver::ApiServer& server) -> rt::Task<void> {
    const std::unique_ptr<RemoteApi> api = MakeRemote(loop, AccessOf(server));
    json::Value made = *co_await api->Create(kConfigMaps, Map("a", "1"));
    EXPECT_EQ(NameOf(made), "a");
    made.Edit("data").Set("k", "2");
    const json::Value now = *co_await api->Update(kConfigMaps, made);
    EXPECT_EQ(now["data"]["k"].str(), "2");
    const auto stale = co_await api->Update(kConfigMaps, made);
    EXPECT_EQ(stale.error().kind(), ErrorKind::kConflict);
    EXPECT_EQ(*co_await api->Get(kConfigMaps, {"default", "a"}), now);
    json::Value applied = Map("a", "3");
    const auto refused = co_await api->Apply(kConfigMaps, applied, {.field_manager = "other"});
    EXPECT_EQ(refused.error().kind(), ErrorKind::kConflict);
    EXPECT_EQ(refused.error().status()->causes.size(), 1u);
    const auto forced = co_await api->Apply(kConfigMaps, applied, {.field_manager = "other", .force = true});
    EXPECT_EQ(Outcome(forced), "OK");
    EXPECT_EQ(Outcome(co_await api->Delete(kConfigMaps, {"default", "a"}, {.uid = std::string(UidOf(made))})), "OK");
    EXPECT_EQ((co_await api->Get(kConfigMaps, {"default", "a"})).error().kind(), ErrorKind::kNotFound);
  });
}

TEST(RemoteApiTest, AListOfManyPagesIsOfOneRevision) {
  constexpr size_t kObjects = 1201;  // three pages
  WithServer([&](rt::RealLoop& loop, apiserver::ApiServer& server) -> rt::Task<void> {
    LocalApi local(server.backend());
    for (size_t i = 0; i < kObjects; ++i) {
      EXPECT_EQ(Outcome(co_await local.Create(kConfigMaps, Map(StrCat("m-", i), std::string(1000, 'x')))), "OK");
    }
    const std::unique_ptr<RemoteApi> api = MakeRemote(loop, AccessOf(server));
    const Listed all = *co_await api->ListAll(kConfigMaps, {.ns = "default"});
    EXPECT_EQ(all.items, (co_await local.ListAll(kConfigMaps, {.ns = "default"}))->items);
    EXPECT_EQ(all.items.size(), kObjects);
    // One page whole is larger than what is parsed on the loop.
    Call call;
    call.verb = Verb::kList;
    call.resource = kConfigMaps;
    const Answer whole = *co_await api->Do(call, rt::Deadline::After(loop, kTestTimeout));
    EXPECT_EQ(whole.items.size(), kObjects);
    EXPECT_EQ(whole.resource_version, all.resource_version);
  });
}

TEST(RemoteApiTest, DiscoversWhatTheServerServes) {
  WithServer([&](rt::RealLoop& loop, apiserver::ApiServer& server) -> rt::Task<void> {
    LocalApi local(server.backend());
    const std::unique_ptr<RemoteApi> api = MakeRemote(loop, AccessOf(server));
    Discovered there = *co_await local.Discover(rt::Deadline::After(loop, kTestTimeout));
    Discovered here = *co_await api->Discover(rt::Deadline::After(loop, kTestTimeout));
    EXPECT_EQ(here.server_version, there.server_version);
    EXPECT_TRUE(here.failed_groups.empty());
    EXPECT_GT(here.resources.size(), 40u);
    EXPECT_EQ(Described(here), Described(there));
  });
}

// Until a change that is no bookmark.
rt::Task<std::string> NextChange(Watch& watch) {
  while (true) {
    const Result<std::vector<Change>> changes = co_await watch.Next();
    if (!changes.ok()) co_return changes.error().ToString();
    std::string text;
    for (const Change& change : *changes) {
      if (change.type == ChangeType::kBookmark) continue;
      StrAppend(text, text.empty() ? "" : " ", static_cast<int>(change.type), ":", NameOf(change.object), "@",
                change.object["data"]["k"].str(), ApiVersionOf(change.object), KindOf(change.object));
    }
    if (!text.empty()) co_return text;
  }
}

TEST(RemoteApiTest, AWatchGoesOnAfterItsConnectionWasCut) {
  WithServer([&](rt::RealLoop& loop, apiserver::ApiServer& server) -> rt::Task<void> {
    LocalApi in_process(server.backend());
    Api& local = in_process;
    auto listener = net::Listen(loop, {.host = "127.0.0.1", .port = 0});
    ClusterAccess access = AccessOf(server);
    access.server = StrCat("https://", (*listener)->endpoint().ToString());
    const std::unique_ptr<RemoteApi> api = MakeRemote(loop, access);
    rt::Scope relay(loop);
    relay.Spawn(net::RunFaultRelay(loop, **listener, server.endpoint(), {}));

    const json::Value first = *co_await local.Create(kConfigMaps, Map("w", "1"));
    WatchCall call{.resource = kConfigMaps, .ns = "default", .field_selector = "metadata.name=w"};
    auto watch = co_await api->OpenWatch(call, rt::Deadline::After(loop, kTestTimeout));
    EXPECT_EQ(Outcome(watch), "OK");
    EXPECT_EQ(co_await NextChange(**watch), "0:w@1v1ConfigMap");
    EXPECT_EQ(Outcome(co_await local.Patch(kConfigMaps, {"default", "w"}, PatchType::kMerge, Data("2"))), "OK");
    EXPECT_EQ(co_await NextChange(**watch), "1:w@2v1ConfigMap");

    relay.CancelAll();  // every connection is cut
    const auto cut = co_await (*watch)->Next();
    EXPECT_EQ(cut.error().kind(), ErrorKind::kUnavailable) << cut.error().ToString();
    EXPECT_EQ(Outcome(co_await local.Patch(kConfigMaps, {"default", "w"}, PatchType::kMerge, Data("3"))), "OK");
    EXPECT_EQ(Outcome(co_await local.Delete(kConfigMaps, {"default", "w"})), "OK");
    relay.Spawn(net::RunFaultRelay(loop, **listener, server.endpoint(), {}));
    call.resource_version = VersionOf(first);
    watch = co_await api->OpenWatch(call, rt::Deadline::After(loop, kTestTimeout));
    EXPECT_EQ(Outcome(watch), "OK");
    std::string rest;
    while (rest.find("2:") == std::string::npos) StrAppend(rest, " ", co_await NextChange(**watch));
    EXPECT_EQ(rest, " 1:w@2v1ConfigMap 1:w@3v1ConfigMap 2:w@3v1ConfigMap");
  });
}

TEST(RemoteApiTest, AWatchOfForgottenHistoryIsGone) {
  WithServer([&](rt::RealLoop& loop, apiserver::ApiServer& server) -> rt::Task<void> {
    const std::unique_ptr<RemoteApi> api = MakeRemote(loop, AccessOf(server));
    const json::Value old = *co_await api->Create(kConfigMaps, Map("w", "1"));
    EXPECT_EQ(Outcome(co_await api->Patch(kConfigMaps, {"default", "w"}, PatchType::kMerge, Data("2"))), "OK");
    store::Store& store = server.backend().core().store();
    EXPECT_EQ(Outcome(co_await store.Compact(store.revision())), "OK");
    auto watch = co_await api->OpenWatch({.resource = kConfigMaps, .resource_version = std::string(VersionOf(old))},
                                         rt::Deadline::After(loop, kTestTimeout));
    EXPECT_EQ(Outcome(watch), "OK");
    EXPECT_EQ((co_await (*watch)->Next()).error().kind(), ErrorKind::kGone);
    watch = co_await api->OpenWatch({.resource = kNoSuchKind}, rt::Deadline::After(loop, kTestTimeout));
    EXPECT_EQ(watch.error().kind(), ErrorKind::kNotFound);
  });
}

TEST(RemoteApiTest, AProgramsCertificateIsShown) {
  std::string path = ::testing::TempDir() + "/certificate_XXXXXX";
  const int file = ::mkstemp(path.data());
  ASSERT_GE(file, 0);
  WithServer([&](rt::RealLoop& loop, apiserver::ApiServer& server) -> rt::Task<void> {
    ClusterAccess access = AccessOf(server);
    const std::string answer = json::Object({{"kind", "ExecCredential"},
                                             {"apiVersion", "client.authentication.k8s.io/v1beta1"},
                                             {"status", json::Object({{"clientCertificateData", access.certificate_pem},
                                                                      {"clientKeyData", access.key_pem}})}})
                                   .ToString();
    EXPECT_EQ(::write(file, answer.data(), answer.size()), static_cast<ssize_t>(answer.size()));
    access.certificate_pem.clear();
    access.key_pem.clear();
    const std::unique_ptr<RemoteApi> nobody = MakeRemote(loop, access);
    EXPECT_EQ((co_await nobody->Get(kNamespaces, {"", "default"})).error().kind(), ErrorKind::kUnauthorized);
    access.exec = ExecCredentials{.api_version = "client.authentication.k8s.io/v1beta1",
                                  .command = "/bin/cat",
                                  .arguments = {path},
                                  .interactive_mode = "IfAvailable"};
    const std::unique_ptr<RemoteApi> api = MakeRemote(loop, access);
    EXPECT_EQ(Outcome(co_await api->Get(kNamespaces, {"", "default"})), "OK");
  });
  ::close(file);
  ::unlink(path.c_str());
}

TEST(RemoteApiTest, TokensAndImpersonationReachTheServer) {
  WithServer(
      [&](rt::RealLoop& loop, apiserver::ApiServer& server) -> rt::Task<void> {
        ClusterAccess access = AccessOf(server);
        access.certificate_pem.clear();
        access.key_pem.clear();
        access.token = "wrong";
        EXPECT_EQ((co_await MakeRemote(loop, access)->Get(kNamespaces, {"", "default"})).error().kind(),
                  ErrorKind::kUnauthorized);
        access.token = "right";
        EXPECT_EQ(Outcome(co_await MakeRemote(loop, access)->Get(kNamespaces, {"", "default"})), "OK");
        access.impersonate_user = "ann";
        access.impersonate_groups = {"people"};
        const auto refused = co_await MakeRemote(loop, access)->Get(kNamespaces, {"", "default"});
        EXPECT_EQ(refused.error().kind(), ErrorKind::kForbidden);
        EXPECT_TRUE(refused.error().message().find("User \"ann\"") != std::string::npos) << refused.error().message();
      },
      {.static_tokens = "right,root,1,system:masters"});
}

TEST(RemoteApiTest, AServerThatIsAnotherOrNotThereIsAnError) {
  WithServer([&](rt::RealLoop& loop, apiserver::ApiServer& server) -> rt::Task<void> {
    ClusterAccess access = AccessOf(server);
    access.tls_server_name = "somebody.else";
    const auto other = co_await MakeRemote(loop, access)->Get(kNamespaces, {"", "default"});
    EXPECT_TRUE(other.error().message().find("certificate not accepted") != std::string::npos)
        << other.error().ToString();
    access.insecure_skip_tls_verify = true;
    access.ca_pem.clear();
    EXPECT_EQ(Outcome(co_await MakeRemote(loop, access)->Get(kNamespaces, {"", "default"})), "OK");
    access.server = "https://127.0.0.1:1";
    const auto nobody = co_await MakeRemote(loop, access)->Get(kNamespaces, {"", "default"});
    EXPECT_EQ(nobody.error().kind(), ErrorKind::kUnavailable) << nobody.error().ToString();
  });
}

}  // namespace
}  // namespace baton::kube
