// Keys and certificates on disk.
#include "apiserver/pki.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "apiserver/user.h"
#include "base/base64.h"
#include "base/strings.h"
#include "json/value.h"
#include "json/yaml.h"

namespace baton::apiserver {

namespace {

constexpr Duration kClockSlack = hours(1);  // a client's clock may be behind

bool IsAddress(std::string_view name) {
  return name.find(':') != std::string_view::npos || name.find_first_not_of("0123456789.") == std::string_view::npos;
}

net::CertificateRequest Dated(rt::Loop& loop, net::CertificateRequest request) {
  request.not_before = loop.WallNow() - kClockSlack;
  request.not_after = loop.WallNow() + kCertificateLife;
  return request;
}

Result<net::KeyPair> IssueAdmin(rt::Loop& loop, const net::KeyPair& authority) {
  return net::IssueCertificate(
      authority,
      Dated(loop,
            {.common_name = std::string(kAdminUser), .organizations = {std::string(kMastersGroup)}, .client = true}),
      loop.random());
}

// The pair is whole, of this authority, and not due for renewal.
bool IsGood(rt::Loop& loop, const net::KeyPair& pair, const net::KeyPair& authority) {
  const Result<net::CertificateInfo> info = net::ReadCertificate(pair.certificate_pem);
  return info.ok() && net::RenewalTime(*info) > loop.WallNow() &&
         net::VerifyKeyMatches(pair.certificate_pem, pair.key_pem).ok() &&
         net::VerifyIssuedBy(pair.certificate_pem, authority.certificate_pem, loop.WallNow()).ok();
}

// The text of a file; empty when it is not there or there are no files.
rt::Task<Result<std::string>> Read(rt::Files* files, std::string name) {
  if (files == nullptr) co_return std::string();
  Result<std::string> text = co_await files->ReadAll(StrCat("pki/", name));
  if (!text.ok() && text.error().kind() == ErrorKind::kNotFound) co_return std::string();
  co_return text;
}

rt::Task<Result<void>> Write(rt::Files* files, std::string name, std::string text) {
  if (files == nullptr) co_return Result<void>();
  co_return co_await files->WriteAtomically(StrCat("pki/", name), std::move(text));
}

rt::Task<Result<net::KeyPair>> ReadPair(rt::Files* files, std::string name) {
  net::KeyPair pair;
  pair.certificate_pem = CO_TRY(co_await Read(files, StrCat(name, ".crt")));
  pair.key_pem = CO_TRY(co_await Read(files, StrCat(name, ".key")));
  co_return pair;
}

rt::Task<Result<void>> WritePair(rt::Files* files, std::string name, net::KeyPair pair) {
  CO_TRY(co_await Write(files, StrCat(name, ".key"), pair.key_pem));
  co_return co_await Write(files, StrCat(name, ".crt"), pair.certificate_pem);
}

rt::Task<Result<net::KeyPair>> OpenAuthority(rt::Loop& loop, rt::Files* files) {
  net::KeyPair authority = CO_TRY(co_await ReadPair(files, "ca"));
  if (authority.certificate_pem.empty() && authority.key_pem.empty()) {
    authority = CO_TRY(net::MakeCertificateAuthority("baton", loop.WallNow() - kClockSlack,
                                                     loop.WallNow() + kAuthorityLife, loop.random()));
    CO_TRY(co_await WritePair(files, "ca", authority));
    co_return authority;
  }
  const Result<void> match = net::VerifyKeyMatches(authority.certificate_pem, authority.key_pem);
  if (!match.ok()) {
    co_return match.error().Context("pki/ca.crt and pki/ca.key do not belong together; restore them from a backup");
  }
  co_return authority;
}

rt::Task<Result<net::KeyPair>> OpenIssued(rt::Loop& loop, rt::Files* files, std::string name, net::KeyPair authority,
                                          std::function<Result<net::KeyPair>()> issue) {
  net::KeyPair pair = CO_TRY(co_await ReadPair(files, name));
  if (!pair.key_pem.empty() && IsGood(loop, pair, authority)) co_return pair;
  pair = CO_TRY(issue());
  CO_TRY(co_await WritePair(files, name, pair));
  co_return pair;
}

}  // namespace

Result<net::KeyPair> IssueServerCertificate(rt::Loop& loop, const net::KeyPair& authority,
                                            const std::vector<std::string>& addresses) {
  net::CertificateRequest request{
      .common_name = "baton-apiserver",
      .dns_names = {"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"},
      .ip_addresses = {"127.0.0.1", "::1"},
      .server = true};
  for (const std::string& address : addresses) {
    auto& names = IsAddress(address) ? request.ip_addresses : request.dns_names;
    if (std::ranges::find(names, address) == names.end()) names.push_back(address);
  }
  return net::IssueCertificate(authority, Dated(loop, std::move(request)), loop.random());
}

rt::Task<Result<Pki>> OpenPki(rt::Loop& loop, rt::Files* files, std::vector<std::string> addresses) {
  if (files != nullptr) CO_TRY(co_await files->MakeDirectory("pki"));
  Pki pki;
  pki.authority = CO_TRY(co_await OpenAuthority(loop, files));
  // Made at every start: the addresses may be others this time.
  pki.server = CO_TRY(IssueServerCertificate(loop, pki.authority, addresses));
  const net::KeyPair& authority = pki.authority;
  pki.admin = CO_TRY(co_await OpenIssued(loop, files, "admin", authority, [&] { return IssueAdmin(loop, authority); }));
  const std::string key = CO_TRY(co_await Read(files, "sa.key"));
  if (key.empty()) {
    pki.signer = CO_TRY(TokenSigner::Make());
    CO_TRY(co_await Write(files, "sa.key", pki.signer->ToPem()));
  } else {
    Result<std::unique_ptr<TokenSigner>> read = TokenSigner::FromPem(key);
    if (!read.ok()) co_return read.error().Context("reading pki/sa.key");
    pki.signer = *std::move(read);
  }
  co_return pki;
}

Result<std::shared_ptr<net::TlsServerContext>> MakeServerTls(const Pki& pki) {
  return net::MakeTlsServerContext({.certificate_pem = pki.server.certificate_pem,
                                    .key_pem = pki.server.key_pem,
                                    .client_ca_pem = pki.authority.certificate_pem,
                                    .client_certificates = net::ClientCertificates::kOptional});
}

std::string AdminKubeconfig(const Pki& pki, std::string_view server_url, std::string_view name) {
  using json::Array;
  using json::Object;
  const json::Value cluster =
      Object({{"server", server_url}, {"certificate-authority-data", Base64Encode(pki.authority.certificate_pem)}});
  const json::Value user = Object({{"client-certificate-data", Base64Encode(pki.admin.certificate_pem)},
                                   {"client-key-data", Base64Encode(pki.admin.key_pem)}});
  const std::string admin = StrCat(name, "-admin");
  return json::PrintYaml(Object(
      {{"apiVersion", "v1"},
       {"kind", "Config"},
       {"current-context", name},
       {"clusters", Array({Object({{"name", name}, {"cluster", cluster}})})},
       {"users", Array({Object({{"name", admin}, {"user", user}})})},
       {"contexts", Array({Object({{"name", name}, {"context", Object({{"cluster", name}, {"user", admin}})}})})}}));
}

}  // namespace baton::apiserver
