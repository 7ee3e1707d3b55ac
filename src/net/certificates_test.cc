// Certificates, checked with our own reader and with the `openssl` command.
#include "net/certificates.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "net/net_for_test.h"
#include "rt/virtual_loop.h"

namespace baton::net {
namespace {

// A directory with files for the `openssl` command.
class OpenSsl {
 public:
  OpenSsl() {
    std::string pattern = (std::filesystem::temp_directory_path() / "net-test-XXXXXX").string();
    directory_ = mkdtemp(pattern.data());
  }
  OpenSsl(const OpenSsl&) = delete;
  OpenSsl& operator=(const OpenSsl&) = delete;
  ~OpenSsl() { std::filesystem::remove_all(directory_); }

  std::string File(const std::string& name, const std::string& text) const {
    const std::string path = StrCat(directory_, "/", name);
    std::ofstream(path) << text;
    return path;
  }

  // Standard output and error.
  std::string Run(const std::string& arguments) const {
    FILE* pipe = popen(StrCat("openssl ", arguments, " 2>&1").c_str(), "r");
    std::string out;
    std::array<char, 4096> buffer;
    while (const size_t got = std::fread(buffer.data(), 1, buffer.size(), pipe)) out.append(buffer.data(), got);
    pclose(pipe);
    return out;
  }

 private:
  std::string directory_;
};

// Real time: `openssl verify` looks at the clock.
class CertificatesTest : public testing::Test {
 protected:
  CertificatesTest()
      : now_(std::chrono::duration_cast<Duration>(std::chrono::system_clock::now().time_since_epoch())) {}

  KeyPair Authority(std::string name = "test CA") {
    return Must(MakeCertificateAuthority(std::move(name), now_ - hours(1), now_ + hours(100), random_));
  }
  CertificateRequest Wanted() const {
    return {.common_name = "someone", .not_before = now_ - hours(1), .not_after = now_ + hours(2)};
  }
  Result<KeyPair> Issue(const KeyPair& authority, const CertificateRequest& request) {
    return IssueCertificate(authority, request, random_);
  }

  WallTime now_;
  rt::SystemRandom random_;
};

TEST_F(CertificatesTest, OpensslAcceptsTheAuthorityAndWhatItSigns) {
  const KeyPair ca = Authority();
  CertificateRequest request = Wanted();
  request.organizations = {"system:masters", "team"};
  request.dns_names = {"localhost", "*.example.com"};
  request.ip_addresses = {"127.0.0.1", "::1"};
  request.server = true;
  const KeyPair server = Must(Issue(ca, request));
  const OpenSsl openssl;
  const std::string ca_file = openssl.File("ca.pem", ca.certificate_pem);
  const std::string file = openssl.File("server.pem", server.certificate_pem);

  const std::string authority = openssl.Run(StrCat("x509 -noout -text -in ", ca_file));
  for (const std::string_view part : {"Version: 3", "CA:TRUE", "Certificate Sign", "CN = test CA", "P-256"}) {
    EXPECT_NE(authority.find(part), std::string::npos) << part << " is missing in " << authority;
  }
  const std::string text = openssl.Run(StrCat("x509 -noout -text -in ", file));
  for (const std::string_view part :
       {"CA:FALSE", "O = system:masters, O = team, CN = someone", "TLS Web Server Authentication", "P-256",
        "DNS:localhost, DNS:*.example.com, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1", "ecdsa-with-SHA256"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is missing in " << text;
  }
  const auto verify = [&](std::string_view options) {
    return openssl.Run(StrCat("verify -x509_strict ", options, " -CAfile ", ca_file, " ", file));
  };
  EXPECT_EQ(verify("-purpose sslserver"), StrCat(file, ": OK\n"));
  EXPECT_EQ(verify("-verify_hostname localhost"), StrCat(file, ": OK\n"));
  EXPECT_EQ(verify("-verify_ip ::1"), StrCat(file, ": OK\n"));
  EXPECT_NE(verify("-purpose sslclient"), StrCat(file, ": OK\n"));
  EXPECT_NE(verify("-verify_hostname other"), StrCat(file, ": OK\n"));
  // The key is PKCS#8 and belongs to it.
  const std::string key = openssl.File("server.key", server.key_pem);
  EXPECT_TRUE(server.key_pem.starts_with("-----BEGIN PRIVATE KEY-----\n"));
  EXPECT_EQ(openssl.Run(StrCat("pkey -pubout -in ", key)), openssl.Run(StrCat("x509 -noout -pubkey -in ", file)));
}

TEST_F(CertificatesTest, ReadsBackWhatWasAskedFor) {
  const KeyPair ca = Authority();
  CertificateRequest request = Wanted();
  request.common_name = "jürgen";
  request.organizations = {"b", "a"};
  request.dns_names = {"x.y"};
  request.ip_addresses = {"10.0.0.1", "fe80::1"};
  request.client = true;
  const CertificateInfo info = Must(ReadCertificate(Must(Issue(ca, request)).certificate_pem));
  EXPECT_EQ(info.subject_common_name, "jürgen");
  EXPECT_EQ(info.organizations, request.organizations);
  EXPECT_EQ(info.dns_names, request.dns_names);
  EXPECT_EQ(info.ip_addresses, request.ip_addresses);
  EXPECT_EQ(info.not_before, std::chrono::floor<seconds>(request.not_before));
  EXPECT_EQ(info.not_after, std::chrono::floor<seconds>(request.not_after));
  EXPECT_FALSE(info.is_authority);
  EXPECT_TRUE(Must(ReadCertificate(ca.certificate_pem)).is_authority);
}

TEST_F(CertificatesTest, TimesBeyond2050AreKept) {
  const WallTime far = WallTime(seconds(4'000'000'000));  // 2096
  const KeyPair ca = Must(MakeCertificateAuthority("ca", now_, far, random_));
  EXPECT_EQ(Must(ReadCertificate(ca.certificate_pem)).not_after, far);
}

TEST_F(CertificatesTest, RefusesWhatIsNoName) {
  const KeyPair ca = Authority();
  struct Case {
    std::function<void(CertificateRequest&)> change;
    ErrorKind kind;
    std::string part;  // of the message
  };
  const Case cases[] = {
      {[](auto& r) { r.dns_names = {"a,DNS:evil.com"}; }, ErrorKind::kInvalid, "a,DNS:evil.com"},
      {[](auto& r) { r.dns_names = {"a\nb"}; }, ErrorKind::kInvalid, "a\\nb"},
      {[](auto& r) { r.dns_names = {""}; }, ErrorKind::kInvalid, "DNS name"},
      {[](auto& r) { r.dns_names = {"*"}; }, ErrorKind::kInvalid, "DNS name"},
      {[](auto& r) { r.dns_names = {std::string(300, 'a')}; }, ErrorKind::kInvalid, "DNS name"},
      {[](auto& r) { r.ip_addresses = {"localhost"}; }, ErrorKind::kInvalid, "IP address"},
      {[](auto& r) { r.ip_addresses = {"1.2.3"}; }, ErrorKind::kInvalid, "IP address"},
      {[](auto& r) { r.common_name = std::string(65, 'a'); }, ErrorKind::kTooLarge, "64 characters"},
      {[](auto& r) { r.common_name = "\xff\xfe"; }, ErrorKind::kInvalid, "UTF-8"},
      {[](auto& r) { r.organizations = {""}; }, ErrorKind::kInvalid, "UTF-8"},
      {[](auto& r) { r.not_after = r.not_before; }, ErrorKind::kInvalid, "ends after it begins"},
  };
  for (const Case& c : cases) {
    CertificateRequest request = Wanted();
    c.change(request);
    const Result<KeyPair> issued = Issue(ca, request);
    ASSERT_FALSE(issued.ok()) << c.part;
    EXPECT_EQ(issued.error().kind(), c.kind) << issued.error().ToString();
    EXPECT_NE(issued.error().message().find(c.part), std::string::npos) << issued.error().message();
  }
  CertificateRequest nameless = Wanted();
  nameless.common_name = "";
  EXPECT_TRUE(Issue(ca, nameless).ok());
}

TEST_F(CertificatesTest, VerifiesIssuerAndTime) {
  const KeyPair ca = Authority();
  const KeyPair other = Authority();  // the same name, another key
  const KeyPair pair = Must(Issue(ca, Wanted()));
  EXPECT_TRUE(VerifyIssuedBy(pair.certificate_pem, ca.certificate_pem, now_).ok());
  EXPECT_FALSE(VerifyIssuedBy(pair.certificate_pem, other.certificate_pem, now_).ok());
  EXPECT_EQ(VerifyIssuedBy(pair.certificate_pem, ca.certificate_pem, now_ + hours(3)).error().message(),
            "certificate not accepted: certificate has expired");
  EXPECT_EQ(VerifyIssuedBy(pair.certificate_pem, ca.certificate_pem, now_ - hours(2)).error().message(),
            "certificate not accepted: certificate is not yet valid");
  EXPECT_TRUE(VerifyKeyMatches(pair.certificate_pem, pair.key_pem).ok());
  EXPECT_FALSE(VerifyKeyMatches(pair.certificate_pem, ca.key_pem).ok());
}

TEST_F(CertificatesTest, SerialNumbersDiffer) {
  const KeyPair ca = Authority();
  const OpenSsl openssl;
  const auto serial = [&] {
    return openssl.Run(
        StrCat("x509 -noout -serial -in ", openssl.File("c.pem", Must(Issue(ca, Wanted())).certificate_pem)));
  };
  const std::string one = serial();
  EXPECT_TRUE(one.starts_with("serial="));
  EXPECT_GT(one.size(), 30u);
  EXPECT_NE(one, serial());
}

TEST_F(CertificatesTest, IsRenewedAfterTwoThirdsOfItsLife) {
  const CertificateInfo info{.not_before = now_, .not_after = now_ + hours(90)};
  EXPECT_EQ(RenewalTime(info), now_ + hours(60));
}

TEST_F(CertificatesTest, BrokenPemIsAnErrorAndNeverMore) {
  const KeyPair ca = Authority();
  const KeyPair pair = Must(Issue(ca, Wanted()));
  EXPECT_FALSE(ReadCertificate("").ok());
  EXPECT_FALSE(ReadCertificate("no PEM at all").ok());
  EXPECT_FALSE(ReadCertificate(pair.key_pem).ok());
  EXPECT_TRUE(ReadCertificate(pair.key_pem + pair.certificate_pem).ok());
  EXPECT_FALSE(ReadCertificate(pair.certificate_pem.substr(0, 300)).ok());
  std::string flipped = pair.certificate_pem;
  flipped[40] = '!';
  EXPECT_EQ(ReadCertificate(flipped).error().kind(), ErrorKind::kInvalid);
  EXPECT_EQ(ReadCertificate(std::string(size_t{5} << 20, 'x')).error().kind(), ErrorKind::kTooLarge);
  EXPECT_FALSE(IssueCertificate({ca.certificate_pem, "no key"}, Wanted(), random_).ok());
  EXPECT_FALSE(IssueCertificate({"no certificate", ca.key_pem}, Wanted(), random_).ok());
  const OpenSsl openssl;
  const std::string locked =
      openssl.Run(StrCat("pkey -aes256 -passout pass:x -in ", openssl.File("k.pem", pair.key_pem)));
  EXPECT_TRUE(locked.starts_with("-----BEGIN ENCRYPTED PRIVATE KEY-----"));
  EXPECT_FALSE(VerifyKeyMatches(pair.certificate_pem, locked).ok());
}

TEST_F(CertificatesTest, AContextNeedsWhatBelongsTogether) {
  const KeyPair ca = Authority();
  const KeyPair pair = Must(Issue(ca, Wanted()));
  EXPECT_TRUE(MakeTlsServerContext({.certificate_pem = pair.certificate_pem, .key_pem = pair.key_pem}).ok());
  EXPECT_FALSE(MakeTlsServerContext({.certificate_pem = pair.certificate_pem, .key_pem = ca.key_pem}).ok());
  EXPECT_FALSE(MakeTlsServerContext({}).ok());
  EXPECT_FALSE(MakeTlsServerContext({.certificate_pem = pair.certificate_pem,
                                     .key_pem = pair.key_pem,
                                     .client_certificates = ClientCertificates::kRequired})
                   .ok());
  EXPECT_FALSE(
      MakeTlsServerContext({.certificate_pem = pair.certificate_pem, .key_pem = pair.key_pem, .alpn = {""}}).ok());
  EXPECT_TRUE(MakeTlsClientContext({}).ok()) << "the system's CAs";
  EXPECT_FALSE(MakeTlsClientContext({.ca_pem = "nothing in here"}).ok());
}

}  // namespace
}  // namespace baton::net
