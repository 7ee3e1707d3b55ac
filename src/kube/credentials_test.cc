// Credentials that change: token files, credential programs, and what a 401 leads to.
#include "kube/credentials.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "base/strings.h"
#include "json/parse.h"
#include "kube/api_calls_for_test.h"
#include "kube/wire_for_test.h"
#include "net/certificates.h"
#include "rt/random.h"
#include "rt/simulated_files.h"
#include "rt/test_support.h"
#include "rt/virtual_loop.h"
#include "rt/when.h"

namespace baton::kube {
namespace {

// Takes one token only, and says so as kube-apiserver does.
class Guarded {
 public:
  Guarded(rt::Loop& loop, std::string token)
      : token_(std::move(token)), wire_(loop, [this](const net::Request& request) {
          const bool known = request.headers.Get("authorization") == StrCat("Bearer ", token_);
          if (known) return WireAnswer();
          return WireAnswer{.status = 401,
                            .body = R"({"kind":"Status","code":401,"reason":"Unauthorized","message":"Unauthorized"})"};
        }) {}

  void TakeOnly(std::string token) { token_ = std::move(token); }
  Wire& wire() { return wire_; }
  size_t requests() const { return wire_.requests().size(); }

 private:
  std::string token_;
  Wire wire_;
};

rt::Task<std::string> Ask(Api& api) {
  const Result<json::Value> got = co_await api.Get(kConfigMaps, {"default", "a"});
  co_return got.ok() ? "OK" : got.error().ToString();
}

TEST(CredentialsTest, ATokenFileIsReadAgainWhenItChanges) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    rt::VirtualLoop loop(seed);
    rt::SimulatedFiles files(loop);
    loop.Run(rt::Do([&]() -> rt::Task<void> {
      Guarded server(loop, "one");
      EXPECT_TRUE((co_await files.WriteAtomically("token", "one\n")).ok());
      ClusterAccess access;
      access.token_file = "/token";
      auto api = *server.wire().Make(access, {.files = &files});
      EXPECT_EQ(co_await Ask(*api), "OK");

      // The old token is still good: noticed within a second, with no 401 in between.
      EXPECT_TRUE((co_await files.WriteAtomically("token", "two")).ok());
      co_await loop.Sleep(kFilesCheckEvery);
      server.TakeOnly("two");
      EXPECT_EQ(co_await Ask(*api), "OK");
      EXPECT_EQ(server.requests(), 2u);

      // The old one is refused at once: one 401, and the call still succeeds.
      EXPECT_TRUE((co_await files.WriteAtomically("token", "three")).ok());
      server.TakeOnly("three");
      EXPECT_EQ(co_await Ask(*api), "OK");
      EXPECT_EQ(server.requests(), 4u);

      // No better token: one 401, no second request.
      server.TakeOnly("four");
      EXPECT_EQ(co_await Ask(*api), "unauthorized: Unauthorized");
      EXPECT_EQ(server.requests(), 5u);

      // A file that is not there for a moment changes nothing.
      server.TakeOnly("three");
      EXPECT_TRUE((co_await files.Remove("token")).ok());
      co_await loop.Sleep(kFilesCheckEvery);
      EXPECT_EQ(co_await Ask(*api), "OK");
    }));
  }
}

struct Pems {
  net::KeyPair authority, one, two;
};

Pems MakePems() {
  rt::SeededRandom random(1);
  const WallTime now{};
  const WallTime later = now + hours(1);
  Pems pems;
  pems.authority = *net::MakeCertificateAuthority("ca", now, later, random);
  const auto issue = [&](std::string name) {
    net::CertificateRequest request;
    request.common_name = std::move(name);
    request.client = true;
    request.not_before = now;
    request.not_after = later;
    return *net::IssueCertificate(pems.authority, request, random);
  };
  pems.one = issue("one");
  pems.two = issue("two");
  return pems;
}

TEST(CredentialsTest, CertificateFilesAreReadAgainWhenTheyChange) {
  const Pems pems = MakePems();
  rt::VirtualLoop loop(1);
  rt::SimulatedFiles files(loop);
  loop.Run(rt::Do([&]() -> rt::Task<void> {
    const auto write = [&](const char* path, std::string_view text) -> rt::Task<void> {
      EXPECT_TRUE((co_await files.WriteAtomically(path, std::string(text))).ok());
    };
    co_await write("crt", pems.one.certificate_pem);
    co_await write("key", pems.one.key_pem);
    co_await write("ca", pems.authority.certificate_pem);
    ClusterAccess access;
    access.certificate_pem = pems.one.certificate_pem;
    access.key_pem = pems.one.key_pem;
    access.ca_pem = pems.authority.certificate_pem;
    access.certificate_file = "/crt";
    access.key_file = "/key";
    access.ca_file = "/ca";
    Credentials credentials(loop, access, {.files = &files, .environment = {}});
    EXPECT_TRUE(credentials.renewable());
    const auto now = [&]() -> rt::Task<Credential> {
      co_await loop.Sleep(kFilesCheckEvery);
      EXPECT_EQ(credentials.Ready(), nullptr);
      co_return **co_await credentials.Get(rt::Deadline::Never());
    };
    EXPECT_EQ((co_await now()).generation, 1u);

    // One of the two is new, the other is not yet: nothing has happened.
    co_await write("crt", pems.two.certificate_pem);
    EXPECT_EQ((co_await now()).generation, 1u);
    co_await write("key", pems.two.key_pem);
    const Credential renewed = co_await now();
    EXPECT_EQ(renewed.generation, 2u);
    EXPECT_EQ(renewed.certificate_pem, pems.two.certificate_pem);
    EXPECT_EQ(renewed.key_pem, pems.two.key_pem);

    // What is no certificate is never "none".
    co_await write("ca", "");
    co_await write("crt", "nothing");
    EXPECT_TRUE((co_await files.Remove("key")).ok());
    EXPECT_EQ((co_await now()).generation, 2u);
    co_await write("ca", pems.one.certificate_pem);
    EXPECT_EQ((co_await now()).ca_pem, pems.one.certificate_pem);

    // After a call that broke nobody waits for the second to be over.
    co_await write("ca", pems.authority.certificate_pem);
    credentials.LookAgain();
    EXPECT_EQ(credentials.Ready(), nullptr);
    EXPECT_EQ((*co_await credentials.Get(rt::Deadline::Never()))->ca_pem, pems.authority.certificate_pem);
  }));
}

TEST(CredentialsTest, AWatchIsOpenedWithTheNewToken) {
  rt::VirtualLoop loop(1);
  rt::SimulatedFiles files(loop);
  loop.Run(rt::Do([&]() -> rt::Task<void> {
    Guarded server(loop, "one");
    EXPECT_TRUE((co_await files.WriteAtomically("token", "one")).ok());
    ClusterAccess access;
    access.token_file = "/token";
    auto api = *server.wire().Make(access, {.files = &files});
    EXPECT_EQ(co_await Ask(*api), "OK");
    EXPECT_TRUE((co_await files.WriteAtomically("token", "two")).ok());
    server.TakeOnly("two");
    EXPECT_TRUE((co_await api->OpenWatch({.resource = kConfigMaps}, rt::Deadline::Never())).ok());
    server.TakeOnly("three");
    const auto refused = co_await api->OpenWatch({.resource = kConfigMaps}, rt::Deadline::Never());
    EXPECT_EQ(refused.error().kind(), ErrorKind::kUnauthorized);
  }));
}

// A program that counts its runs in a file of its own.
class Program {
 public:
  Program() : directory_(::testing::TempDir() + "/credentials_XXXXXX") {
    EXPECT_NE(::mkdtemp(directory_.data()), nullptr);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() { std::filesystem::remove_all(directory_); }

  // $n is the number of this run; `script` prints the answer.
  ClusterAccess Access(std::string_view script) const {
    ClusterAccess access;
    access.exec = ExecCredentials{
        .api_version = "client.authentication.k8s.io/v1",
        .command = "sh",
        .arguments = {"-c", StrCat("echo x >>'", directory_, "/runs'; n=$(wc -l <'", directory_, "/runs'); ", script)},
        .interactive_mode = "Never"};
    return access;
  }
  size_t runs() const {
    std::error_code none;
    const auto bytes = std::filesystem::file_size(directory_ + "/runs", none);
    return none ? 0 : bytes / 2;
  }

 private:
  std::string directory_;
};

std::vector<std::string> Environment() { return {"PATH=/usr/bin:/bin"}; }

constexpr std::string_view kTokenScript =
    R"(echo "{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1\",\"status\":{\"token\":\"t$n\",\"expirationTimestamp\":\"2030-01-01T00:01:00Z\"}}")";
constexpr std::string_view kForeverScript =
    R"(echo "{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1\",\"status\":{\"token\":\"t$n\"}}")";

TEST(CredentialsTest, AProgramsTokenIsKeptUntilItExpires) {
  const Program program;
  rt::VirtualLoop loop(1);
  loop.Run(rt::Do([&]() -> rt::Task<void> {
    Guarded server(loop, "t1");
    auto api = *server.wire().Make(program.Access(kTokenScript), {.environment = Environment()});
    // Two calls at once run it once.
    auto [first, second] = co_await rt::WhenAll(Ask(*api), Ask(*api));
    EXPECT_EQ(first + second, "OKOK");
    co_await loop.Sleep(seconds(59));
    EXPECT_EQ(co_await Ask(*api), "OK");
    EXPECT_EQ(program.runs(), 1u);
    co_await loop.Sleep(seconds(1));
    server.TakeOnly("t2");
    EXPECT_EQ(co_await Ask(*api), "OK");
    EXPECT_EQ(program.runs(), 2u);
  }));
}

TEST(CredentialsTest, AProgramIsAskedAgainAfterA401ButNotAgainAndAgain) {
  const Program program;
  rt::VirtualLoop loop(1);
  loop.Run(rt::Do([&]() -> rt::Task<void> {
    Guarded server(loop, "t1");
    auto api = *server.wire().Make(program.Access(kForeverScript), {.environment = Environment()});
    EXPECT_EQ(co_await Ask(*api), "OK");
    co_await loop.Sleep(hours(100));
    EXPECT_EQ(co_await Ask(*api), "OK");
    EXPECT_EQ(program.runs(), 1u);
    server.TakeOnly("t2");
    EXPECT_EQ(co_await Ask(*api), "OK");
    EXPECT_EQ(program.runs(), 2u);
    server.TakeOnly("none");
    for (int i = 0; i < 10; ++i) EXPECT_EQ(co_await Ask(*api), "unauthorized: Unauthorized");
    EXPECT_EQ(program.runs(), 2u);
    co_await loop.Sleep(kExecPause);
    for (int i = 0; i < 10; ++i) EXPECT_EQ(co_await Ask(*api), "unauthorized: Unauthorized");
    EXPECT_EQ(program.runs(), 3u);
  }));
}

TEST(CredentialsTest, AProgramThatFailsIsToldWithWhatItSaid) {
  const Program program;
  rt::VirtualLoop loop(1);
  loop.Run(rt::Do([&]() -> rt::Task<void> {
    Guarded server(loop, "t");
    ClusterAccess access = program.Access("echo 'log in first' >&2; exit 7");
    access.exec->install_hint = "see the handbook";
    auto api = *server.wire().Make(access, {.environment = Environment()});
    const std::string wanted =
        "unauthorized: no credentials, so nothing was sent: the program \"sh\": exited with 7: log in first\n"
        "see the handbook";
    for (int i = 0; i < 3; ++i) EXPECT_EQ(co_await Ask(*api), wanted);
    EXPECT_EQ(program.runs(), 1u);  // not for every call
    co_await loop.Sleep(kExecPause);
    EXPECT_EQ(co_await Ask(*api), wanted);
    EXPECT_EQ(program.runs(), 2u);
    EXPECT_EQ(server.requests(), 0u);

    access.exec->command = "no-such-program-anywhere";
    auto missing = *server.wire().Make(access, {.environment = Environment()});
    EXPECT_TRUE((co_await Ask(*missing)).find("no program \"no-such-program-anywhere\" in PATH\nsee") !=
                std::string::npos);
  }));
}

TEST(CredentialsTest, AProgramLearnsWhatTheKubeconfigSays) {
  const Program program;
  rt::VirtualLoop loop(1);
  loop.Run(rt::Do([&]() -> rt::Task<void> {
    ClusterAccess access = program.Access(R"(printf '%s' "$KUBERNETES_EXEC_INFO $A" >&2; exit 1)");
    access.server = "https://server:6443";
    access.exec->environment = {{"A", "given"}};
    access.exec->provide_cluster_info = true;
    access.exec->cluster_config = json::Object({{"audience", "x"}});
    access.ca_pem = "pem";
    access.tls_server_name = "name";
    Credentials credentials(loop, access, {.files = nullptr, .environment = {"PATH=/bin", "A=overridden"}});
    const auto failed = co_await credentials.Get(rt::Deadline::Never());
    EXPECT_TRUE(failed.error().message().ends_with(
        R"(exited with 1: {"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","spec":{"cluster":)"
        R"({"certificate-authority-data":"cGVt","config":{"audience":"x"},"server":"https://server:6443",)"
        R"("tls-server-name":"name"},"interactive":false}} given)"))
        << failed.error().message();
  }));
}

TEST(CredentialsTest, AProgramsAnswerIsReadStrictly) {
  const std::string v1 = "client.authentication.k8s.io/v1";
  const auto read = [&](std::string_view status, std::string_view kind = "ExecCredential") {
    const auto got =
        ParseExecCredential(StrCat(R"({"kind":")", kind, R"(","apiVersion":")", v1, R"(","status":)", status, "}"), v1);
    if (!got.ok()) return got.error().message();
    return StrCat(got->token, "|", got->certificate_pem, "|", got->key_pem, "|", got->expires.has_value());
  };
  EXPECT_EQ(read(R"({"token":"t"})"), "t|||false");
  EXPECT_EQ(read(R"({"clientCertificateData":"c","clientKeyData":"k","expirationTimestamp":"2030-01-01T00:00:00Z"})"),
            "|c|k|true");
  EXPECT_EQ(read(R"({"token":"t","expirationTimestamp":"9999-01-01T00:00:00Z"})"), "t|||false");
  EXPECT_EQ(read(R"({"token":"t","expirationTimestamp":"soon"})"),
            "its output has an expirationTimestamp that is no time");
  EXPECT_EQ(read(R"({"clientCertificateData":"c"})"),
            "its output has a client certificate without its key, or the other way round");
  EXPECT_EQ(read("{}"), "its output has neither a token nor a client certificate");
  EXPECT_EQ(read("null"), "its output has no status");
  EXPECT_EQ(read("{}", "Pod"), "its output is no ExecCredential");
  EXPECT_EQ(ParseExecCredential("secret", v1).error().message(), "its output is no JSON object");
  EXPECT_EQ(ParseExecCredential(R"({"kind":"ExecCredential","apiVersion":"x"})", v1).error().message(),
            "its output is of version \"x\", the kubeconfig asks for \"client.authentication.k8s.io/v1\"");
}

}  // namespace
}  // namespace baton::kube
