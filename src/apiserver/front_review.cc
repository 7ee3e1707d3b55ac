// Requests that are answered and not kept: access reviews, token reviews, and tokens for service accounts.
#include <algorithm>
#include <utility>

#include "api/field_errors.h"
#include "apiserver/errors.h"
#include "apiserver/front_context.h"
#include "apiserver/metadata.h"
#include "base/strings.h"

namespace baton::apiserver {

namespace {

using json::Value;

constexpr size_t kAudiencesMax = 32;  // of a TokenReview

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

// The uid of what a token shall be bound to.
Result<std::string> BoundUid(Core& core, const std::string& ns, const Value& bound) {
  const std::string_view kind = bound["kind"].str();
  const std::string_view plural = kind == "Pod" ? "pods" : (kind == "Secret" ? "secrets" : "");
  if (plural.empty()) return BadRequest(StrCat("cannot bind token for serviceaccount to type ", kind));
  const ResourceTypePtr type = core.registry().Find("", "v1", plural);
  const std::optional<Object> live = core.Live(*type, ns, bound["name"].str());
  if (!live) return NotFound({.group = {}, .resource = std::string(plural), .name = std::string(bound["name"].str())});
  std::string uid(core.Decode(live->bytes)["metadata"]["uid"].str());
  const std::string_view wanted = bound["uid"].str();
  if (!wanted.empty() && wanted != uid) {
    return Conflict({.group = {}, .resource = std::string(plural), .name = std::string(bound["name"].str())},
                    StrCat("the UID in the bound object reference (", wanted,
                           ") does not match the UID in record. The "
                           "object might have been deleted and then recreated"));
  }
  return uid;
}

// What is wrong with a SubjectAccessReview's spec.
std::vector<api::FieldError> CheckAccessReview(const ResourceType& type, const Value& spec, std::string_view ns) {
  std::vector<api::FieldError> errors;
  if (spec["resourceAttributes"].is_object() == spec["nonResourceAttributes"].is_object()) {
    errors.push_back({.type = api::FieldError::Type::kInvalid,
                      .field = "spec.resourceAttributes",
                      .message =
                          "Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be "
                          "specified"});
  }
  const bool self = type.kind == "SelfSubjectAccessReview";
  if (!self && spec["user"].str().empty() && spec["groups"].empty()) {
    errors.push_back(api::InvalidError("spec.user", "", "at least one of user or group must be specified"));
  }
  const Value& asked = spec["resourceAttributes"]["namespace"];
  if (type.kind == "LocalSubjectAccessReview" && asked.str() != ns) {
    errors.push_back(api::InvalidError("spec.resourceAttributes.namespace", asked, "must match metadata.namespace"));
  }
  return errors;
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
    if (spec["namespace"].str().empty()) co_return BadRequest("no namespace on request");
    review.Set("status", parts_.authorizer.rules().RulesFor(user, spec["namespace"].str()));
  } else if (type.kind == "SelfSubjectReview") {
    review.Set("status", json::Object({{"userInfo", UserValue(user)}}));
  } else if (type.kind == "TokenReview") {
    if (spec["token"].str().empty()) co_return BadRequest("token is required for TokenReview in authentication");
    // A signature is checked for each.
    if (const size_t count = spec["audiences"].size(); count > kAudiencesMax) {
      co_return InvalidObject(type.group, type.kind, "", {api::TooManyError("spec.audiences", count, kAudiencesMax)});
    }
    std::vector<std::string> audiences;
    for (const Value& audience : spec["audiences"].items()) audiences.emplace_back(audience.str());
    if (audiences.empty()) audiences.emplace_back(kDefaultIssuer);
    Result<User> found = Unauthenticated();
    std::string matched;
    for (const std::string& audience : audiences) {
      if (found.ok()) break;
      found = parts_.authenticator.FromToken(spec["token"].str(), audience);
      matched = audience;
    }
    Value status = json::Object();
    if (found.ok()) status.Set("authenticated", true);
    if (found.ok()) status.Set("user", UserValue(*found));
    if (found.ok() && !spec["audiences"].empty()) status.Set("audiences", json::Array({matched}));
    if (!found.ok()) status.Set("error", "the token is not valid here");
    review.Set("status", status);
  } else if (type.kind.ends_with("SubjectAccessReview")) {
    const std::vector<api::FieldError> errors = CheckAccessReview(type, spec, target.ns);
    if (!errors.empty()) co_return InvalidObject(type.group, type.kind, "", errors);
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
  if (asked > seconds(int64_t{1} << 32)) {
    co_return InvalidObject("authentication.k8s.io", "TokenRequest", "",
                            {{.type = api::FieldError::Type::kInvalid,
                              .field = "spec.expirationSeconds",
                              .message = StrCat("Invalid value: ", spec["expirationSeconds"].int_or(0),
                                                ": may not specify a duration larger than 2^32 seconds")}});
  }
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
  if (const Value& bound = spec["boundObjectRef"]; bound.is_object()) {
    token.bound_kind = bound["kind"].str();
    token.bound_name = bound["name"].str();
    token.bound_uid = CO_TRY(BoundUid(core_, target.ns, bound));
  }
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
