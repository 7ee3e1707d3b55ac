// Internal to net: helpers of its tests and fuzzers: streams, certificates, talking to a server in memory.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "net/certificates.h"
#include "net/client.h"
#include "net/fault_gate.h"
#include "net/server.h"
#include "net/stream.h"
#include "net/tls.h"
#include "rt/loop.h"
#include "rt/scope.h"
#include "rt/virtual_loop.h"

namespace baton::net {

inline constexpr uint64_t kSeeds = 30;  // per property; each is another order of fibers and another slicing

template <class T>
T Must(Result<T> result) {
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().ToString());
  return *std::move(result);
}
inline void Must(const Result<void>& result) {
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().ToString());
}

// All that comes until the peer closes; `error` is why, when it was not a clean end.
struct Received {
  std::string bytes;
  std::string error;
};
inline rt::Task<Received> ReadAll(ByteStream& stream) {
  Received all;
  while (true) {
    std::vector<char> buffer(4096);
    const Result<size_t> got = co_await stream.Read(buffer);
    if (!got.ok()) {
      all.error = got.error().message();
      co_return all;
    }
    if (*got == 0) co_return all;
    all.bytes.append(buffer.data(), *got);
  }
}

// Until `text` ends with `end` (or the peer closes).
inline rt::Task<std::string> ReadUntil(ByteStream& stream, std::string_view end) {
  std::string all;
  while (!all.ends_with(end)) {
    char byte = 0;
    const Result<size_t> got = co_await stream.Read({&byte, 1});
    if (!got.ok() || *got == 0) break;
    all += byte;
  }
  co_return all;
}

// A slicing gate: every read and write passes in small, random pieces.
inline std::unique_ptr<ByteStream> Sliced(rt::Loop& loop, std::unique_ptr<ByteStream> stream, uint64_t seed,
                                          std::string alpn = "") {
  return MakeFaultGate(loop, std::move(stream), {.seed = seed, .slice = 0.8, .alpn = std::move(alpn)});
}

// How often `needle` is in `text`.
inline size_t Count(std::string_view text, std::string_view needle) {
  size_t count = 0;
  for (size_t at = text.find(needle); at != std::string_view::npos; at = text.find(needle, at + needle.size())) ++count;
  return count;
}

// A CA and what it signs, for tests on real TLS.
struct TestPki {
  explicit TestPki(rt::Loop& l) : loop(l), ca(Authority("test CA")) {}

  KeyPair Authority(std::string name) const {
    const WallTime now = loop.WallNow();
    return Must(MakeCertificateAuthority(std::move(name), now - hours(48), now + hours(48), loop.random()));
  }
  KeyPair Server(std::vector<std::string> dns = {"localhost"}, std::vector<std::string> ips = {"127.0.0.1"}) const {
    return Issue(
        {.common_name = "server", .dns_names = std::move(dns), .ip_addresses = std::move(ips), .server = true});
  }
  KeyPair Client(std::string user, std::vector<std::string> groups = {}) const {
    return Issue({.common_name = std::move(user), .organizations = std::move(groups), .client = true});
  }
  KeyPair Issue(CertificateRequest request) const {
    if (request.not_after == WallTime()) {
      request.not_before = loop.WallNow() - hours(1);
      request.not_after = loop.WallNow() + hours(1);
    }
    return Must(IssueCertificate(ca, request, loop.random()));
  }
  std::shared_ptr<TlsServerContext> ServerContext(
      ClientCertificates client_certificates = ClientCertificates::kOptional,
      std::vector<std::string> alpn = {"h2", "http/1.1"}) const {
    const KeyPair pair = Server();
    return Must(MakeTlsServerContext({.certificate_pem = pair.certificate_pem,
                                      .key_pem = pair.key_pem,
                                      .client_ca_pem = ca.certificate_pem,
                                      .client_certificates = client_certificates,
                                      .alpn = std::move(alpn)}));
  }
  std::shared_ptr<TlsClientContext> ClientContext(TlsClientOptions options = {}) const {
    if (options.ca_pem.empty()) options.ca_pem = ca.certificate_pem;
    if (options.server_name.empty()) options.server_name = "localhost";
    return Must(MakeTlsClientContext(options));
  }

  rt::Loop& loop;
  KeyPair ca;
};

}  // namespace baton::net
