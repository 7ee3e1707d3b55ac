// Requests that are answered and not kept: access reviews, token reviews, and tokens for service accounts.
#include <algorithm>
#include <utility>

#include "apiserver/errors.h"
#include "apiserver/front_context.h"
#include "apiserver/metadata.h"
#include "base/strings.h"

namespace baton::apiserver {

namespace {

using json::Value;

Attributes AttributesOf(const Value& spec) {
  const Value& resource = spec["resourceAttributes"];
  if (resource.is_object()) {
    return {.verb = std::string(resource["verb"].str()),
            .group = std::string(resource["group"].str()),
            .resource = std::string(resource["resource"].str()),
            .subresource = std::string(resource["subresource"].str()),
            .ns = std::string(resource["namespace"].str()),
            .name = std::string(resource["name"].str()),
            .path = {}};
  }
  const Value& path = spec["nonResourceAttributes"];
  return {.verb = std::string(path["verb"].str()),
          .group = {},
          .resource = {},
          .subresource = {},
          .ns = {},
          .name = {},
          .path = std::string(path["path"].str())};
}

User ReviewedUser(const Value& spec) {
  User user;
  user.name = spec["user"].str();
  user.uid = spec["uid"].str();
  for (const Value& group : spec["groups"].items()) user.groups.emplace_back(group.str());
  return user;
}

Value UserValue(const User& user) {
  Value value = json::Object({{"username", user.name}});
  if (!user.uid.empty()) value.Set("uid", user.uid);
  for (const std::string& group : user.groups) value.Edit("groups").Push(group);
  return value;
}

Value DecisionStatus(const Decision& decision) {
  Value status = json::Object({{"allowed", decision.allowed}});
  if (!decision.reason.empty()) status.Set("reason", decision.reason);
  return status;
}

Error OneAttribute(const ResourceType& type) {
  return InvalidObject(type.group, type.kind, "",
                       {{.type = api::FieldError::Type::kInvalid,
                         .field = "spec.resourceAttributes",
                         .message = "Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes "
                                    "must be specified"}});
}

}  // namespace

rt::Task<Result<Answer>> Front::ServeReview(Context& context, Target target) {
  const ResourceType& type = *target.type;
  if (context.info.verb != "create") {
    co_return MethodNotSupported({.group = type.group, .resource = type.plural, .name = {}}, context.info.verb);
  }
  ParsedBody body =
      CO_TRY(ParseBody(context.request.body, CO_TRY(ObjectFormat(context.Header("content-type"))), target.type->kind));
  Value review = std::move(body.value);
  if (!review.is_object()) co_return BadRequest(StrCat("the body is not a ", type.kind));
  review.Set("apiVersion", type.ApiVersion());
  review.Set("kind", type.kind);
  if (!review["metadata"].is_object()) review.Set("metadata", json::Object());
  const Value spec = review["spec"];
  const User& user = context.caller.user;
  if (type.kind == "SelfSubjectRulesReview") {
    review.Set("status", parts_.authorizer.rules().RulesFor(user, spec["namespace"].str()));
  } else if (type.kind == "SelfSubjectReview") {
    review.Set("status", json::Object({{"userInfo", UserValue(user)}}));
  } else if (type.kind == "TokenReview") {
    const Result<User> found = parts_.authenticator.FromToken(spec["token"].str(), kDefaultIssuer);
    Value status = json::Object();
    if (found.ok()) status.Set("authenticated", true);
    if (found.ok()) status.Set("user", UserValue(*found));
    if (!found.ok()) status.Set("error", "the token is not valid here");
    review.Set("status", status);
  } else if (type.kind.ends_with("SubjectAccessReview")) {
    if (spec["resourceAttributes"].is_object() == spec["nonResourceAttributes"].is_object()) {
      co_return OneAttribute(type);
    }
    const bool self = type.kind == "SelfSubjectAccessReview";
    review.Set("status",
               DecisionStatus(parts_.authorizer.Authorize(self ? user : ReviewedUser(spec), AttributesOf(spec))));
  } else {
    co_return UnknownPath();
  }
  co_return ValueAnswer(context, review, 201);
}

rt::Task<Result<Answer>> Front::ServeToken(Context& context, Target target) {
  if (context.info.verb != "create") {
    co_return MethodNotSupported({.group = {}, .resource = "serviceaccounts", .name = target.name}, context.info.verb);
  }
  const TokenSigner* signer = parts_.authenticator.signer();
  if (signer == nullptr) co_return ServiceUnavailable("this server signs no tokens");
  const Object account = CO_TRY(co_await core_.Get(target, ""));
  ParsedBody body =
      CO_TRY(ParseBody(context.request.body, CO_TRY(ObjectFormat(context.Header("content-type"))), target.type->kind));
  Value request = std::move(body.value);
  if (!request.is_object()) co_return BadRequest("the body is not a TokenRequest");
  const Value& spec = request["spec"];
  const Duration asked =
      seconds(spec["expirationSeconds"].int_or(std::chrono::duration_cast<seconds>(kTokenLifeDefault).count()));
  if (asked < kTokenLifeMin) {
    co_return InvalidObject("authentication.k8s.io", "TokenRequest", "",
                            {{.type = api::FieldError::Type::kInvalid,
                              .field = "spec.expirationSeconds",
                              .message = StrCat("Invalid value: ", spec["expirationSeconds"].int_or(0),
                                                ": may not specify a duration less than 10 minutes")}});
  }
  ServiceAccountToken token{.ns = target.ns,
                            .name = target.name,
                            .uid = std::string(core_.Decode(account.bytes)["metadata"]["uid"].str()),
                            .audiences = {},
                            .issued = core_.loop().WallNow(),
                            .expires = core_.loop().WallNow() + std::min(asked, kTokenLifeMax)};
  for (const Value& audience : spec["audiences"].items()) token.audiences.emplace_back(audience.str());
  if (token.audiences.empty()) token.audiences.emplace_back(kDefaultIssuer);
  const std::string text = CO_TRY(signer->Sign(token));
  request.Set("apiVersion", "authentication.k8s.io/v1");
  request.Set("kind", "TokenRequest");
  request.Set(
      "metadata",
      json::Object({{"name", target.name}, {"namespace", target.ns}, {"creationTimestamp", TimeText(token.issued)}}));
  request.Set("status", json::Object({{"token", text}, {"expirationTimestamp", TimeText(token.expires)}}));
  co_return ValueAnswer(context, request, 201);
}

}  // namespace baton::apiserver
