// RemoteApi against a real server over TLS: every verb gives what LocalApi gives, watches resume, credentials renew.
#include "kube/remote_api.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "json/yaml.h"
#include "kube/api_calls_for_test.h"
#include "kube/local_api.h"
#include "kube/remote_for_test.h"
#include "net/certificates.h"
#include "net/fault_gate.h"
#include "net/transport.h"
#include "rt/scope.h"
#include "rt/when.h"

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

class TempFiles {
 public:
  TempFiles() : directory_(::testing::TempDir() + "/remote_api_XXXXXX") {
    EXPECT_NE(::mkdtemp(directory_.data()), nullptr);
  }
  TempFiles(const TempFiles&) = delete;
  TempFiles& operator=(const TempFiles&) = delete;
  ~TempFiles() { std::filesystem::remove_all(directory_); }
  std::string Path(std::string_view name) const { return StrCat(directory_, "/", name); }
  void Write(std::string_view name, std::string_view text) const {
    std::ofstream(Path(name), std::ios::trunc | std::ios::binary) << text;
  }

 private:
  std::string directory_;
};

TEST(RemoteApiTest, CertificateFilesOfAKubeconfigAreReadAgain) {
  const TempFiles temp;
  WithServer([&](rt::RealLoop& loop, apiserver::ApiServer& server) -> rt::Task<void> {
    const ClusterAccess admin = AccessOf(server);
    // Certificates of an authority that this server does not know.
    const WallTime now = loop.WallNow();
    const net::KeyPair other = *net::MakeCertificateAuthority("other", now - hours(1), now + hours(1), loop.random());
    temp.Write("ca.crt", other.certificate_pem);
    temp.Write("me.crt", admin.certificate_pem);
    temp.Write("me.key", admin.key_pem);
    temp.Write("config",
               StrCat(R"({"current-context":"c","contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}],)",
                      R"("users":[{"name":"u","user":{"client-certificate":"me.crt","client-key":"me.key"}}],)",
                      R"("clusters":[{"name":"c","cluster":{"certificate-authority":"ca.crt","server":")", admin.server,
                      R"("}}]})"));
    const std::unique_ptr<rt::Files> files = rt::MakeRealFiles(loop, "/");
    const Result<Kubeconfig> config = co_await LoadKubeconfig(*files, {temp.Path("config")});
    EXPECT_EQ(Outcome(config), "OK");
    const Result<ClusterAccess> access = co_await LoadAccess(*files, *config, "");
    EXPECT_EQ(Outcome(access), "OK");
    const std::unique_ptr<RemoteApi> api = MakeRemote(loop, *access);
    const auto other_server = co_await api->Get(kNamespaces, {"", "default"});
    EXPECT_EQ(Outcome(other_server).substr(0, 12), "unauthorized") << Outcome(other_server);
    temp.Write("ca.crt", admin.ca_pem);
    EXPECT_EQ(Outcome(co_await api->Get(kNamespaces, {"", "default"})), "OK");
  });
}

// A proxy that opens tunnels for whoever knows the password; counts them.
struct TestProxy {
  std::unique_ptr<net::Listener> listener;
  std::vector<std::string> requests;

  rt::Task<void> Run(rt::RealLoop& loop) {
    rt::Scope connections(loop);
    while (true) {
      Result<std::unique_ptr<net::ByteStream>> accepted = co_await listener->Accept();
      if (!accepted.ok()) co_return;
      connections.Spawn(Serve(loop, *std::move(accepted)));
    }
  }

  rt::Task<void> Serve(rt::RealLoop& loop, std::unique_ptr<net::ByteStream> client) {
    std::string head;
    char byte = 0;
    while (!head.ends_with("\r\n\r\n")) {
      const Result<size_t> got = co_await client->Read({&byte, 1});
      if (!got.ok() || *got == 0) co_return;
      head += byte;
    }
    requests.push_back(head);
    const bool known = head.find("proxy-authorization: Basic bWU6cHc=\r\n") != std::string::npos;  // me:pw
    const size_t start = std::string_view("CONNECT ").size();
    const Result<net::Endpoint> target = net::ParseEndpoint(head.substr(start, head.find(' ', start) - start));
    if (!head.starts_with("CONNECT ") || !target.ok() || !known) {
      (void)co_await client->Write("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
      co_return;
    }
    Result<std::unique_ptr<net::ByteStream>> there = co_await net::ConnectTcp(loop, *target);
    if (!there.ok()) co_return;
    if (!(co_await client->Write("HTTP/1.1 200 Connection established\r\n\r\n")).ok()) co_return;
    std::vector<rt::Task<bool>> both;
    both.push_back(Pass(*client, **there));
    both.push_back(Pass(**there, *client));
    co_await rt::WhenAny(std::move(both));
  }

  static rt::Task<bool> Pass(net::ByteStream& from, net::ByteStream& to) {
    std::vector<char> buffer(size_t{16} << 10);
    while (true) {
      const Result<size_t> got = co_await from.Read(buffer);
      if (!got.ok() || *got == 0) co_return false;
      if (!(co_await to.Write({buffer.data(), *got})).ok()) co_return false;
    }
  }
};

TEST(RemoteApiTest, AProxyUrlIsGoneThroughWithTlsToTheServerItself) {
  WithServer([&](rt::RealLoop& loop, apiserver::ApiServer& server) -> rt::Task<void> {
    TestProxy proxy;
    proxy.listener = *net::Listen(loop, {"127.0.0.1", 0});
    rt::Scope scope(loop);
    scope.Spawn(proxy.Run(loop));
    const std::string address = proxy.listener->endpoint().ToString();

    // As a kubeconfig says it: also for a server on this machine, as client-go does.
    json::Value config = *json::ParseYaml(server.Kubeconfig());
    config.Edit("clusters").Edit(0).Edit("cluster").Set("proxy-url", StrCat("http://me:pw@", address));
    const ClusterAccess access = *(*Kubeconfig::Parse(config.ToString(), "")).Access("");
    const std::unique_ptr<RemoteApi> api = MakeRemote(loop, access);
    EXPECT_EQ(Outcome(co_await api->Create(kConfigMaps, Map("through", "1"))), "OK");
    EXPECT_EQ(Outcome(co_await api->Get(kConfigMaps, {"default", "through"})), "OK");
    Result<std::unique_ptr<Watch>> watch =
        co_await api->OpenWatch({.resource = kConfigMaps, .ns = "default"}, rt::Deadline::After(loop, kTestTimeout));
    EXPECT_EQ(Outcome(watch), "OK");
    EXPECT_FALSE((co_await (*watch)->Next()).value().empty());
    EXPECT_EQ(proxy.requests.size(), 1u) << "one tunnel carries everything";
    EXPECT_TRUE(
        Join(proxy.requests, "").starts_with(StrCat("CONNECT ", server.endpoint().ToString(), " HTTP/1.1\r\n")));

    ClusterAccess stranger = access;
    stranger.proxy_url = StrCat("http://you:secret@", address);
    const auto refused = co_await MakeRemote(loop, stranger)->Get(kNamespaces, {"", "default"});
    EXPECT_EQ(refused.error().kind(), ErrorKind::kUnavailable);
    EXPECT_TRUE(refused.error().message().find("407") != std::string::npos) << refused.error().message();
    EXPECT_TRUE(refused.error().message().find("secret") == std::string::npos) << refused.error().message();
    watch->reset();
    scope.CancelAll();
  });
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
