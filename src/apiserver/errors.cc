// Status errors: the words of apimachinery's api/errors, and their JSON.
#include "apiserver/errors.h"

#include <algorithm>
#include <array>
#include <span>
#include <unordered_set>
#include <utility>

#include "api/field_errors.h"
#include "base/strings.h"
#include "base/utf8.h"
#include "json/builder.h"

namespace baton::apiserver {
namespace {

constexpr size_t kNameBytesMax = 256;  // of what may be no name at all

Error Make(int code, std::string_view reason, std::string message) {
  Status status;
  status.code = code;
  status.reason = reason;
  return Error::FromStatus(std::move(status), std::move(message));
}

Error MakeFor(int code, std::string_view reason, const Subject& subject, std::string message) {
  Status status;
  status.code = code;
  status.reason = reason;
  status.name = subject.name;
  status.group = subject.group;
  status.kind = subject.resource;
  return Error::FromStatus(std::move(status), std::move(message));
}

std::string Named(const Subject& subject) { return StrCat(subject.Qualified(), " ", Quote(subject.name)); }

// Several errors as one text: "a", or "[a, b]"; what was said before is not said again.
std::string Aggregate(std::span<const api::FieldError> errors) {
  std::unordered_set<std::string> seen;
  std::string text;
  for (const api::FieldError& error : errors) {
    const auto [line, added] = seen.insert(StrCat(error.field, ": ", error.message));
    if (!added) continue;
    if (seen.size() > 1) text += ", ";
    text += *line;
  }
  return seen.size() > 1 ? StrCat("[", text, "]") : text;
}

std::string Cut(std::string_view text, size_t bytes_max) {
  return text.size() <= bytes_max ? std::string(text) : StrCat(Utf8Prefix(text, bytes_max), "...");
}

json::Value Text(std::string_view text) {
  return IsUtf8(text) ? json::Value(text) : json::Value(ReplaceInvalidUtf8(text));
}

size_t PrintedBytes(const api::FieldError& error) {
  constexpr size_t kCauseBytes = 64;  // of a cause beside its texts
  return kCauseBytes + Text(error.field).ToString().size() + Text(error.message).ToString().size();
}

// As many of the first errors as an answer has room for when they are printed, but one at least.
std::vector<api::FieldError> Told(const std::vector<api::FieldError>& errors) {
  constexpr size_t kMessageBytesMax = kFieldErrorsBytesMax / 3;
  constexpr size_t kEscapeBytes = 6;  // \u0001: of one byte
  std::vector<api::FieldError> told;
  size_t bytes = 0;
  for (const api::FieldError& error : errors) {
    api::FieldError one{.type = error.type,
                        .field = Cut(error.field, api::kShownPathBytesMax),
                        .message = Cut(error.message, kMessageBytesMax)};
    bytes += PrintedBytes(one);
    if (bytes > kFieldErrorsBytesMax && !told.empty()) break;
    if (bytes > kFieldErrorsBytesMax) {
      one.message = Cut(one.message, kFieldErrorsBytesMax / kEscapeBytes - api::kShownPathBytesMax);
    }
    told.push_back(std::move(one));
  }
  return told;
}

void SetUnlessEmpty(json::Value& object, std::string_view key, std::string_view text) {
  if (!text.empty()) object.Set(key, Text(text));
}

json::Value Envelope(std::string_view outcome) {
  return json::Object({{"kind", "Status"}, {"apiVersion", "v1"}, {"metadata", json::Object()}, {"status", outcome}});
}

json::Value Cause(const StatusCause& cause) {
  json::Value value = json::Object();
  SetUnlessEmpty(value, "reason", cause.reason);
  SetUnlessEmpty(value, "message", cause.message);
  SetUnlessEmpty(value, "field", cause.field);
  return value;
}

// kube-apiserver gives these errors details even when there is nothing in them.
bool AlwaysHasDetails(std::string_view reason) {
  constexpr std::array<std::string_view, 9> kReasons = {"NotFound",      "AlreadyExists",    "Conflict",
                                                        "Invalid",       "Forbidden",        "Timeout",
                                                        "ServerTimeout", "MethodNotAllowed", "TooManyRequests"};
  return std::ranges::find(kReasons, reason) != kReasons.end();
}

json::Value Details(const Status& status) {
  json::Value details = json::Object();
  SetUnlessEmpty(details, "name", status.name);
  SetUnlessEmpty(details, "group", status.group);
  SetUnlessEmpty(details, "kind", status.kind);
  SetUnlessEmpty(details, "uid", status.uid);
  for (const StatusCause& cause : status.causes) details.Edit("causes").Push(Cause(cause));
  if (status.retry_after_seconds.value_or(0) != 0) details.Set("retryAfterSeconds", *status.retry_after_seconds);
  return details;
}

}  // namespace

Error NotFound(const Subject& subject) {
  return MakeFor(404, "NotFound", subject, StrCat(Named(subject), " not found"));
}

Error AlreadyExists(const Subject& subject) {
  return MakeFor(409, "AlreadyExists", subject, StrCat(Named(subject), " already exists"));
}

Error Conflict(const Subject& subject, std::string_view why) {
  return MakeFor(409, "Conflict", subject, StrCat("Operation cannot be fulfilled on ", Named(subject), ": ", why));
}

Error InvalidObject(std::string_view group, std::string_view kind, std::string_view name,
                    const std::vector<api::FieldError>& errors) {
  Status status;
  status.code = 422;
  status.reason = "Invalid";
  status.name = Cut(name, kNameBytesMax);
  status.group = group;
  status.kind = Cut(kind, kNameBytesMax);
  const std::vector<api::FieldError> told = Told(errors);
  status.causes.reserve(told.size());
  for (const api::FieldError& error : told)
    status.causes.push_back({.reason = std::string(error.reason()), .message = error.message, .field = error.field});
  std::string message = StrCat(status.kind, group.empty() ? "" : ".", group, " ", Quote(status.name), " is invalid");
  if (!errors.empty()) StrAppend(message, ": ", Aggregate(told));
  if (told.size() < errors.size()) StrAppend(message, ", and ", errors.size() - told.size(), " more");
  return Error::FromStatus(std::move(status), std::move(message));
}

Error BadRequest(std::string message) { return Make(400, "BadRequest", std::move(message)); }

Error MethodNotAllowed() {
  return Error::FromStatus({.code = 405, .reason = "MethodNotAllowed"},
                           "the server does not allow this method on the requested resource");
}

Error MethodNotSupported(const Subject& subject, std::string_view verb) {
  return MakeFor(405, "MethodNotAllowed", {.group = subject.group, .resource = subject.resource, .name = ""},
                 StrCat(verb, " is not supported on resources of kind ", Quote(subject.Qualified())));
}

Error UnknownPath() { return Make(404, "NotFound", "the server could not find the requested resource"); }

Error Unauthenticated() { return Make(401, "Unauthorized", "Unauthorized"); }

Error Forbidden(const Subject& subject, std::string_view why) {
  return MakeFor(403, "Forbidden", subject,
                 StrCat(subject.name.empty() ? subject.Qualified() : Named(subject), " is forbidden: ", why));
}

// Kubernetes names no path here: `why` does.
Error ForbiddenPath(std::string_view /*path*/, std::string_view why) {
  return Make(403, "Forbidden", StrCat("forbidden: ", why));
}

Error Expired(std::string message) { return Make(410, "Expired", std::move(message)); }
Error UnsupportedMedia(std::string message) { return Make(415, "UnsupportedMediaType", std::move(message)); }
Error NotAcceptable(std::string message) { return Make(406, "NotAcceptable", std::move(message)); }
Error EntityTooLarge(std::string message) {
  return Make(413, "RequestEntityTooLarge", StrCat("Request entity too large: ", message));
}

Error PlainServerError(std::string message) {
  return Error::FromStatus({.code = 500, .reason = {}}, std::move(message));
}

Error InternalServerError(std::string message) {
  Status status;
  status.code = 500;
  status.reason = "InternalError";
  std::string full = StrCat("Internal error occurred: ", message);
  status.causes.push_back({.reason = "", .message = std::move(message), .field = ""});
  return Error::FromStatus(std::move(status), std::move(full));
}

Error ServiceUnavailable(std::string message) { return Make(503, "ServiceUnavailable", std::move(message)); }
Error TimedOut(std::string message) { return Make(504, "Timeout", StrCat("Timeout: ", message)); }

json::Value StatusObject(const Error& error) {
  const Status status = error.ToStatus();
  json::Value object = Envelope("Failure");
  SetUnlessEmpty(object, "message", error.message());
  SetUnlessEmpty(object, "reason", status.reason);
  json::Value details = Details(status);
  if (!details.empty() || AlwaysHasDetails(status.reason)) object.Set("details", std::move(details));
  object.Set("code", status.code);
  return object;
}

json::Value SuccessStatus(const Subject& subject, std::string_view uid) {
  json::Value details = json::Object();
  SetUnlessEmpty(details, "name", subject.name);
  SetUnlessEmpty(details, "group", subject.group);
  SetUnlessEmpty(details, "kind", subject.resource);
  SetUnlessEmpty(details, "uid", uid);
  json::Value object = Envelope("Success");
  object.Set("details", std::move(details));
  return object;
}

}  // namespace baton::apiserver
