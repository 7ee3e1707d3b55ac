// Tokens: what is signed verifies, and nothing else does.
#include "apiserver/tokens.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>

#include "base/base64.h"
#include "base/strings.h"
#include "json/parse.h"
#include "json/print.h"
#include "net/signing_key.h"

namespace baton::apiserver {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr WallTime kNow = WallTime(seconds(1'800'000'000));
constexpr std::string_view kAudience = "https://kubernetes.default.svc";

ServiceAccountToken Token() {
  return {.ns = "blue",
          .name = "ci",
          .uid = "u-1",
          .audiences = {std::string(kAudience), "vault"},
          .issued = kNow,
          .expires = kNow + hours(1)};
}

const TokenSigner& Signer() {
  static const std::unique_ptr<TokenSigner> signer = TokenSigner::Make().value();
  return *signer;
}

std::string Refusal(const TokenSigner& signer, std::string_view token, std::string_view audience, WallTime now) {
  const Result<ServiceAccountToken> verified = signer.Verify(token, audience, now);
  if (verified.ok()) return "accepted";
  EXPECT_EQ(verified.error().kind(), ErrorKind::kUnauthorized);
  return verified.error().message();
}
std::string Refusal(std::string_view token) { return Refusal(Signer(), token, kAudience, kNow); }

TEST(TokensTest, WhatIsSignedIsVerified) {
  const std::string text = Signer().Sign(Token()).value();
  for (const std::string_view audience : {kAudience, std::string_view("vault")}) {
    const ServiceAccountToken verified = Signer().Verify(text, audience, kNow + minutes(5)).value();
    EXPECT_EQ(verified.ns, "blue");
    EXPECT_EQ(verified.name, "ci");
    EXPECT_EQ(verified.uid, "u-1");
    EXPECT_EQ(verified.audiences, Token().audiences);
    EXPECT_EQ(verified.issued, kNow);
    EXPECT_EQ(verified.expires, kNow + hours(1));
    const User user = verified.ToUser();
    EXPECT_EQ(user.name, "system:serviceaccount:blue:ci");
    EXPECT_EQ(user.uid, "u-1");
    EXPECT_THAT(user.groups, ElementsAre("system:serviceaccounts", "system:serviceaccounts:blue"));
  }
}

TEST(TokensTest, HasTheClaimsOfKubernetes) {
  const std::string text = Signer().Sign(Token()).value();
  const auto segments = Split(text, '.');
  ASSERT_EQ(segments.size(), 3U);
  const json::Value header = json::Parse(*Base64UrlDecode(segments[0])).value();
  EXPECT_EQ(header["alg"].str(), "ES256");
  EXPECT_EQ(header["kid"], Signer().Jwks()["keys"][0]["kid"]);
  EXPECT_EQ(json::Parse(*Base64UrlDecode(segments[1])).value(), json::Parse(R"({
      "iss":"https://kubernetes.default.svc","sub":"system:serviceaccount:blue:ci",
      "aud":["https://kubernetes.default.svc","vault"],"iat":1800000000,"nbf":1800000000,"exp":1800003600,
      "kubernetes.io":{"namespace":"blue","serviceaccount":{"name":"ci","uid":"u-1"}}})")
                                                                    .value());
  EXPECT_EQ(Base64UrlDecode(segments[2])->size(), 64U);
}

TEST(TokensTest, HoldsForItsTimeAndAudienceOnly) {
  const std::string text = Signer().Sign(Token()).value();
  EXPECT_EQ(Refusal(Signer(), text, kAudience, kNow + hours(1) - seconds(1)), "accepted");
  EXPECT_THAT(Refusal(Signer(), text, kAudience, kNow + hours(1)), HasSubstr("expired"));
  EXPECT_EQ(Refusal(Signer(), text, kAudience, kNow - minutes(1)), "accepted");  // clocks differ a little
  EXPECT_THAT(Refusal(Signer(), text, kAudience, kNow - minutes(1) - seconds(1)), HasSubstr("not valid yet"));
  EXPECT_THAT(Refusal(Signer(), text, "other", kNow), HasSubstr("another audience"));
  EXPECT_THAT(Refusal(Signer(), text, "", kNow), HasSubstr("another audience"));
}

TEST(TokensTest, AKeyIsKeptAsPemAndAnotherOneIsRefused) {
  const std::unique_ptr<TokenSigner> again = TokenSigner::FromPem(Signer().ToPem()).value();
  const std::unique_ptr<TokenSigner> other = TokenSigner::Make().value();
  const std::string text = Signer().Sign(Token()).value();
  EXPECT_EQ(Refusal(*again, text, kAudience, kNow), "accepted");
  EXPECT_EQ(again->Jwks(), Signer().Jwks());
  EXPECT_THAT(Refusal(*other, text, kAudience, kNow), HasSubstr("another key"));
  EXPECT_FALSE(TokenSigner::FromPem("").ok());
  EXPECT_FALSE(TokenSigner::FromPem("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n").ok());
}

TEST(TokensTest, PublishesItsPublicKey) {
  const json::Value key = Signer().Jwks()["keys"][0];
  EXPECT_EQ(key["kty"].str(), "EC");
  EXPECT_EQ(key["crv"].str(), "P-256");
  EXPECT_EQ(key["alg"].str(), "ES256");
  EXPECT_EQ(key["use"].str(), "sig");
  EXPECT_EQ(Base64UrlDecode(key["x"].str())->size(), 32U);
  EXPECT_EQ(Base64UrlDecode(key["y"].str())->size(), 32U);
  EXPECT_EQ(Base64UrlDecode(key["kid"].str())->size(), 32U);
}

TEST(TokensTest, RefusesWhatWasTamperedWith) {
  const std::string text = Signer().Sign(Token()).value();
  const auto segments = Split(text, '.');
  const auto with_header = [&](std::string_view header) {
    return StrCat(Base64UrlEncode(header), ".", segments[1], ".", segments[2]);
  };
  const std::string kid(Signer().Jwks()["keys"][0]["kid"].str());
  json::Value claims = json::Parse(*Base64UrlDecode(segments[1])).value();
  claims.Set("sub", "system:serviceaccount:kube-system:root");
  struct Row {
    std::string token;
    std::string_view why;
  };
  const Row rows[] = {
      {"", "three parts"},
      {".", "three parts"},
      {"..", "no JSON object"},
      {text + ".", "three parts"},
      {text + "A", "signature"},
      {text + "=", "signature"},
      {" " + text, "not base64url"},
      {std::string(kTokenBytesMax + 1, 'a'), "too large"},
      {std::string(kTokenBytesMax, '.'), "three parts"},
      {StrCat(segments[0], ".", segments[1], "."), "signature"},
      {StrCat(segments[0], ".", segments[1], ".", Base64UrlEncode(std::string(64, '\0'))), "signature"},
      {StrCat(segments[0], ".", segments[1], ".", Base64UrlEncode(std::string(64, '\xff'))), "signature"},
      {StrCat(segments[0], ".", Base64UrlEncode(json::Print(claims)), ".", segments[2]), "signature"},
      {with_header(R"({"alg":"none"})"), "ES256"},
      {with_header(R"({"alg":"HS256"})"), "ES256"},
      {with_header(R"({"alg":"es256"})"), "ES256"},
      {with_header(R"({"alg":["ES256"]})"), "ES256"},
      {with_header(R"({})"), "ES256"},
      {with_header(R"([])"), "no JSON object"},
      {with_header(R"({"alg":"ES256")"), "no JSON object"},
      {with_header(R"({"alg":"ES256","crit":["x"]})"), "extensions"},
      {with_header(R"({"alg":"ES256","kid":"other"})"), "another key"},
      {with_header(R"({"alg":"ES256"})"), "signature"},
      {with_header(std::string(5000, '[')), "no JSON object"},
  };
  for (const Row& row : rows) EXPECT_THAT(Refusal(row.token), HasSubstr(row.why)) << row.token.substr(0, 40);
  // Every single character counts.
  for (size_t i = 0; i < text.size(); ++i) {
    std::string changed = text;
    changed[i] = changed[i] == 'A' ? 'B' : 'A';
    EXPECT_NE(Refusal(changed), "accepted") << i;
  }
}

// A token with any claims, signed with the signer's own key.
std::string SignedClaims(std::string_view claims) {
  const std::string text = StrCat(Base64UrlEncode(R"({"alg":"ES256"})"), ".", Base64UrlEncode(claims));
  const std::string raw = net::SigningKey::FromPem(Signer().ToPem()).value()->Sign(text).value();
  return StrCat(text, ".", Base64UrlEncode(raw));
}

TEST(TokensTest, AGoodSignatureIsNotEnough) {
  const json::Value good = json::Parse(R"({"iss":"https://kubernetes.default.svc","sub":"system:serviceaccount:blue:ci",
      "aud":["https://kubernetes.default.svc"],"iat":1800000000,"nbf":1800000000,"exp":1800003600,
      "kubernetes.io":{"namespace":"blue","serviceaccount":{"name":"ci","uid":"u-1"}}})")
                               .value();
  EXPECT_EQ(Refusal(SignedClaims(json::Print(good))), "accepted");
  struct Row {
    std::string_view claim;
    json::Value value;
    std::string_view why;
  };
  const Row rows[] = {
      {"iss", "https://evil.example.com", "another issuer"},
      {"iss", nullptr, "another issuer"},
      {"sub", "system:serviceaccount:kube-system:root", "its subject is not its service account"},
      {"sub", 7, "its subject is not its service account"},
      {"aud", "https://kubernetes.default.svc", "accepted"},
      {"aud", "other", "another audience"},
      {"aud", json::Array({7, nullptr}), "another audience"},
      {"aud", nullptr, "another audience"},
      {"exp", nullptr, "its exp is no time"},
      {"exp", "1800003600", "its exp is no time"},
      {"exp", 1800003600.5, "its exp is no time"},
      {"exp", INT64_MAX, "its exp is no time"},
      {"exp", UINT64_MAX, "its exp is no time"},
      {"exp", 1800000000, "it has expired"},
      {"iat", -1, "its iat is no time"},
      {"iat", 1800000061, "issued in the future"},
      {"nbf", nullptr, "its nbf is no time"},
      {"nbf", 1800000061, "not valid yet"},
      {"kubernetes.io", nullptr, "names no service account"},
      {"kubernetes.io", json::Array(), "names no service account"},
      {"kubernetes.io", json::Object({{"namespace", "blue"}}), "names no service account"},
  };
  for (const Row& row : rows) {
    json::Value claims = good;
    claims.Set(row.claim, row.value);
    EXPECT_THAT(Refusal(SignedClaims(json::Print(claims))), HasSubstr(row.why)) << row.claim << " " << row.value;
  }
  for (const std::string_view no_claims : {"", "7", "[]", "{", "{\"a\":\xff}"})
    EXPECT_THAT(Refusal(SignedClaims(no_claims)), HasSubstr("no JSON object"));
}

TEST(TokensTest, SignsOnlyWhatItCouldVerify) {
  ServiceAccountToken token = Token();
  token.expires = token.issued;
  EXPECT_FALSE(Signer().Sign(token).ok());
  token = Token();
  token.uid = "";
  EXPECT_FALSE(Signer().Sign(token).ok());
  token = Token();
  token.name = "\xff";
  EXPECT_FALSE(Signer().Sign(token).ok());
  token = Token();
  token.expires = WallTime::max();
  EXPECT_FALSE(Signer().Sign(token).ok());
  token = Token();
  token.audiences.emplace_back(kTokenBytesMax, 'a');
  EXPECT_EQ(Signer().Sign(token).error().kind(), ErrorKind::kTooLarge);
}

TEST(StaticTokensTest, ReadsTheTokenFileOfKubernetes) {
  const StaticTokens tokens = StaticTokens::Parse(
                                  "abc,jane,1,\"devs,ops\"\r\n"
                                  "\n"
                                  "\"d\"\"e,f\",joe,2\n"
                                  "ghi,ann,,,ignored")
                                  .value();
  ASSERT_NE(tokens.Find("abc"), nullptr);
  EXPECT_EQ(*tokens.Find("abc"), (User{.name = "jane", .uid = "1", .groups = {"devs", "ops"}, .extra = {}}));
  ASSERT_NE(tokens.Find("d\"e,f"), nullptr);
  EXPECT_EQ(*tokens.Find("d\"e,f"), (User{.name = "joe", .uid = "2", .groups = {}, .extra = {}}));
  ASSERT_NE(tokens.Find("ghi"), nullptr);
  EXPECT_EQ(tokens.Find("ghi")->name, "ann");
  for (const std::string_view unknown : {"", "ab", "abcd", "ABC", "jane"}) EXPECT_EQ(tokens.Find(unknown), nullptr);
  EXPECT_EQ(StaticTokens::Parse("").value().Find(""), nullptr);
}

TEST(StaticTokensTest, SaysWhatIsWrongAndWhereButNotTheToken) {
  struct Row {
    std::string_view csv;
    std::string_view why;
  };
  constexpr Row kRows[] = {
      {"secret,jane", "line 1: at least 3 columns"},
      {"secret,jane,1\n\nother,joe\n", "line 3: at least 3 columns"},
      {",jane,1", "line 1: the token is empty"},
      {"secret,,1", "line 1: the user name is empty"},
      {"secret,jane,1\nsecret,joe,2", "line 2: this token stands further above"},
      {"secret,jane,1,\"devs", "line 1: a \" that is not closed"},
      {"\"secret\"x,jane,1", "line 1: text after a closing \""},
      {"sec\"ret,jane,1", "line 1: a bare \""},
      {"secret\xff,jane,1", "not UTF-8"},
  };
  for (const Row& row : kRows) {
    const Result<StaticTokens> parsed = StaticTokens::Parse(row.csv);
    ASSERT_FALSE(parsed.ok()) << row.csv;
    EXPECT_THAT(parsed.error().message(), HasSubstr(row.why));
    EXPECT_THAT(parsed.error().message(), testing::Not(HasSubstr("secret")));
  }
}

}  // namespace
}  // namespace baton::apiserver
