// AdmissionReview admission.k8s.io/v1, written and read.
#include "apiserver/webhook_review.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "apiserver/webhook_match.h"
#include "base/base64.h"
#include "base/strings.h"
#include "json/builder.h"
#include "json/parse.h"

namespace baton::apiserver {
namespace {

constexpr std::string_view kReviewVersion = "admission.k8s.io/v1";
constexpr size_t kQuotedBodyBytesMax = 512;

json::Value Strings(const std::vector<std::string>& strings) {
  json::ArrayBuilder array;
  for (const std::string& text : strings) array.Add(text);
  return std::move(array).Build();
}

json::Value UserInfo(const User& user) {
  json::Value info = json::Object();
  if (!user.name.empty()) info.Set("username", user.name);
  if (!user.uid.empty()) info.Set("uid", user.uid);
  if (!user.groups.empty()) info.Set("groups", Strings(user.groups));
  for (const auto& [key, values] : user.extra) info.Edit("extra").Set(key, Strings(values));
  return info;
}

// Of the object, which for a subresource may be of another kind (Scale) than its resource.
json::Value KindOf(const AdmissionRequest& request, std::string_view version) {
  const json::Value& object = request.object.is_object() ? request.object : request.old_object;
  const std::string_view kind = object["kind"].str_or(request.type->kind);
  if (kind == request.type->kind)
    return json::Object({{"group", request.type->group}, {"version", version}, {"kind", kind}});
  const std::string_view api_version = object["apiVersion"].str();
  const size_t slash = api_version.find('/');
  const bool core = slash == std::string_view::npos;
  return json::Object({{"group", core ? std::string_view() : api_version.substr(0, slash)},
                       {"version", core ? api_version : api_version.substr(slash + 1)},
                       {"kind", kind}});
}

json::Value ResourceOf(const ResourceType& type, std::string_view version) {
  return json::Object({{"group", type.group}, {"version", version}, {"resource", type.plural}});
}

// client-go's words for an answer that is no success and says nothing itself.
std::string HttpFailure(const net::Response& response) {
  switch (response.status) {
    case 400:
      return "the server rejected our request for an unknown reason";
    case 401:
      return "the server has asked for the client to provide credentials";
    case 404:
      return "the server could not find the requested resource";
    case 405:
      return "the server does not allow this method on the requested resource";
    case 429:
      return "the server has received too many requests and has asked us to try again later";
    case 503:
      return "the server is currently unable to handle the request";
    case 504:
      return "the server was unable to return a response in the time allotted, but may still be processing the request";
    default:
      break;
  }
  const std::string_view body = Trim(std::string_view(response.body).substr(0, kQuotedBodyBytesMax));
  if (response.status >= 500)
    return StrCat("an error on the server (", Quote(body.empty() ? "unknown" : body),
                  ") has prevented the request from succeeding");
  return StrCat("the server responded with the status code ", response.status, " but did not return more information");
}

Error InvalidAnswer(std::string_view why) {
  return baton::InvalidError(StrCat("received invalid webhook response: ", why));
}

std::string KindText(const json::Value& review) {
  return StrCat(review["apiVersion"].str_or("/"), ", Kind=", review["kind"].str());
}

// The patch, or null; patch and patchType come together, and only from mutating webhooks.
Result<json::Value> ReadPatch(const json::Value& response, bool mutating) {
  const json::Value& patch = response["patch"];
  const json::Value& type = response["patchType"];
  if (!patch.is_null() && !patch.is_string()) return InvalidAnswer("response.patch is not a base64 string");
  if (!type.is_null() && !type.is_string()) return InvalidAnswer("response.patchType is not a string");
  const bool has_patch = !patch.str().empty();
  if (!mutating) {
    if (has_patch) return InvalidAnswer("validating webhook may not return response.patch");
    if (!type.is_null()) return InvalidAnswer("validating webhook may not return response.patchType");
    return json::Value();
  }
  if (has_patch && type.is_null()) return InvalidAnswer("webhook returned response.patch but not response.patchType");
  if (!has_patch && !type.is_null()) return InvalidAnswer("webhook returned response.patchType but not response.patch");
  if (!has_patch) return json::Value();
  if (type.str().empty()) return InvalidAnswer("webhook returned invalid response.patchType of \"\"");
  if (type.str() != "JSONPatch") return baton::InvalidError(StrCat("unsupported patch type ", Quote(type.str())));
  const Result<std::string> text = Base64Decode(patch.str());
  if (!text.ok()) return InvalidAnswer("response.patch is not base64");
  auto parsed = json::Parse(*text);
  if (!parsed.ok())
    return baton::InvalidError(StrCat("received undecodable patch in webhook response: ", parsed.error().message()));
  if (!parsed->is_array())
    return baton::InvalidError("received undecodable patch in webhook response: a JSON patch is an array");
  return parsed;
}

}  // namespace

json::Value InApiVersion(json::Value object, const ResourceType& type, std::string_view version) {
  if (object.is_object() && object["kind"].str() == type.kind)
    object.Set("apiVersion", type.group.empty() ? std::string(version) : StrCat(type.group, "/", version));
  return object;
}

json::Value MakeReview(const AdmissionRequest& request, std::string_view version, std::string_view uid) {
  json::Value asked = json::Object({{"uid", uid},
                                    {"kind", KindOf(request, version)},
                                    {"resource", ResourceOf(*request.type, version)},
                                    {"requestKind", KindOf(request, request.type->version)},
                                    {"requestResource", ResourceOf(*request.type, request.type->version)},
                                    {"operation", OperationWord(request.operation)},
                                    {"userInfo", UserInfo(request.user)},
                                    {"object", InApiVersion(request.object, *request.type, version)},
                                    {"oldObject", InApiVersion(request.old_object, *request.type, version)},
                                    {"dryRun", request.dry_run},
                                    {"options", request.options}});
  if (!request.name.empty()) asked.Set("name", request.name);
  if (const std::string_view ns = NamespaceOf(request); !ns.empty()) asked.Set("namespace", ns);
  if (!request.subresource.empty()) {
    asked.Set("subResource", request.subresource);
    asked.Set("requestSubResource", request.subresource);
  }
  return json::Object({{"apiVersion", kReviewVersion}, {"kind", "AdmissionReview"}, {"request", std::move(asked)}});
}

Result<WebhookAnswer> ReadAnswer(const net::Response& response, std::string_view uid, bool mutating) {
  if (response.status < 200 || response.status > 299)
    return baton::InvalidError(StrCat("failed to call webhook: ", HttpFailure(response)));
  const Result<json::Value> review = json::Parse(response.body, {.max_bytes = kWebhookAnswerBytesMax});
  if (!review.ok())
    return baton::InvalidError(
        StrCat("failed to call webhook: couldn't get version/kind; json parse error: ", review.error().message()));
  const json::Value& answer = (*review)["response"];
  if (!answer.is_object()) return InvalidAnswer("webhook response was absent");
  if (answer["uid"].str() != uid)
    return InvalidAnswer(StrCat("expected response.uid=", Quote(uid), ", got ", Quote(answer["uid"].str())));
  if ((*review)["apiVersion"].str() != kReviewVersion || (*review)["kind"].str() != "AdmissionReview")
    return InvalidAnswer(
        StrCat("expected webhook response of ", kReviewVersion, ", Kind=AdmissionReview, got ", KindText(*review)));
  if (!answer["allowed"].is_null() && !answer["allowed"].is_bool())
    return InvalidAnswer("response.allowed is not a boolean");
  WebhookAnswer read;
  read.allowed = answer["allowed"].bool_or(false);
  read.status = answer["status"];
  read.patch = TRY(ReadPatch(answer, mutating));
  for (const json::Value& warning : answer["warnings"].items()) {
    if (warning.is_string()) read.warnings.emplace_back(warning.str());
  }
  return read;
}

Error Denial(std::string_view webhook, const json::Value& result) {
  Status status;
  // A refusal never looks like a success.
  status.code = static_cast<int>(std::clamp<int64_t>(result["code"].int_or(400), 0, 599));
  if (status.code < 400) status.code = 400;
  status.reason = result["reason"].str();
  const json::Value& details = result["details"];
  status.name = details["name"].str();
  status.group = details["group"].str();
  status.kind = details["kind"].str();
  status.uid = details["uid"].str();
  for (const json::Value& cause : details["causes"].items())
    status.causes.push_back({.reason = std::string(cause["reason"].str()),
                             .message = std::string(cause["message"].str()),
                             .field = std::string(cause["field"].str())});
  const int64_t retry = details["retryAfterSeconds"].int_or(0);
  if (retry > 0 && retry <= std::numeric_limits<int32_t>::max())
    status.retry_after_seconds = static_cast<int32_t>(retry);
  const std::string_view message = result["message"].str();
  const std::string_view why = message.empty() ? std::string_view(status.reason) : message;
  std::string text = StrCat("admission webhook ", Quote(webhook), " denied the request");
  StrAppend(text, why.empty() ? " without explanation" : ": ", why);
  return Error::FromStatus(std::move(status), std::move(text));
}

}  // namespace baton::apiserver
