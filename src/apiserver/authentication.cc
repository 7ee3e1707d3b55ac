// Certificates and tokens to users.
#include "apiserver/authentication.h"

#include <algorithm>
#include <utility>

#include "apiserver/errors.h"
#include "base/utf8.h"

namespace baton::apiserver {

namespace {

constexpr std::string_view kBearer = "bearer ";

std::string_view BearerToken(const net::Request& request) {
  std::string_view value = request.headers.Get("authorization").value_or("");
  if (value.size() <= kBearer.size()) return {};
  const bool bearer = std::ranges::equal(value.substr(0, kBearer.size()), kBearer, [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? a + ('a' - 'A') : a) == b;
  });
  if (!bearer) return {};
  value.remove_prefix(kBearer.size());
  while (value.starts_with(' ')) value.remove_prefix(1);
  return value;
}

}  // namespace

bool Authenticator::IsLive(std::string_view plural, std::string_view ns, std::string_view name,
                           std::string_view uid) const {
  const ResourceTypePtr type = core_.registry().Find("", "v1", plural);
  const std::optional<Object> live = type ? core_.Live(*type, ns, name) : std::nullopt;
  return live && core_.Decode(live->bytes)["metadata"]["uid"].str() == uid;
}

Result<User> Authenticator::FromToken(std::string_view token, std::string_view audience) {
  if (const User* user = options_.static_tokens.Find(token)) {
    User known = *user;
    known.groups.emplace_back(kAuthenticatedGroup);
    return known;
  }
  if (options_.signer == nullptr) return Unauthenticated();
  const ServiceAccountToken claims = TRY(options_.signer->Verify(token, audience, core_.loop().WallNow()));
  if (!IsLive("serviceaccounts", claims.ns, claims.name, claims.uid)) return Unauthenticated();
  if (!claims.bound_kind.empty() &&
      !IsLive(claims.bound_kind == "Pod" ? "pods" : "secrets", claims.ns, claims.bound_name, claims.bound_uid)) {
    return Unauthenticated();
  }
  User user = claims.ToUser();
  if (std::ranges::find(user.groups, kAuthenticatedGroup) == user.groups.end()) {
    user.groups.emplace_back(kAuthenticatedGroup);
  }
  return user;
}

Result<User> Authenticator::Authenticate(const net::Request& request) {
  if (const std::string_view token = BearerToken(request); !token.empty()) {
    Result<User> user = FromToken(token, kDefaultIssuer);
    if (!user.ok()) return Unauthenticated();
    return user;
  }
  if (request.peer.has_certificate && !request.peer.common_name.empty()) {
    const bool readable = IsUtf8(request.peer.common_name) && std::ranges::all_of(request.peer.organizations, IsUtf8);
    if (!readable) return Unauthenticated();  // nothing could be said to them, or about them
    User user{.name = request.peer.common_name, .uid = {}, .groups = request.peer.organizations, .extra = {}};
    user.groups.emplace_back(kAuthenticatedGroup);
    return user;
  }
  if (!options_.anonymous) return Unauthenticated();
  return User{
      .name = std::string(kAnonymousUser), .uid = {}, .groups = {std::string(kUnauthenticatedGroup)}, .extra = {}};
}

}  // namespace baton::apiserver
