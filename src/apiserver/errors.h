// The Status errors of a Kubernetes API server, in its own words: clients branch on code and reason, people search for
// the message.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/schema.h"
#include "base/error.h"
#include "json/value.h"

namespace baton::apiserver {

// What the error is about: group and resource as in "deployments.apps", and the object's name.
struct Subject {
  std::string group;
  std::string resource;
  std::string name;

  std::string Qualified() const { return group.empty() ? resource : resource + "." + group; }
};

Error NotFound(const Subject& subject);       // deployments.apps "web" not found
Error AlreadyExists(const Subject& subject);  // deployments.apps "web" already exists
// Operation cannot be fulfilled on deployments.apps "web": <why>
Error Conflict(const Subject& subject, std::string_view why);
inline constexpr std::string_view kObjectModified =
    "the object has been modified; please apply your changes to the latest version and try again";
// Deployment.apps "web" is invalid: spec.replicas: Invalid value: ...; one cause per field error. `kind` is
// "Deployment".
// Errors beyond kFieldErrorsBytesMax as printed are counted, not told: both the message and the causes show each.
inline constexpr size_t kFieldErrorsBytesMax = size_t{24} << 10;
inline constexpr size_t kStatusBytesMax = size_t{64} << 10;  // what such a Status stays below
Error InvalidObject(std::string_view group, std::string_view kind, std::string_view name,
                    const std::vector<api::FieldError>& errors);
Error BadRequest(std::string message);
Error MethodNotSupported(const Subject& subject, std::string_view verb);
Error MethodNotAllowed();  // the server does not allow this method on the requested resource
Error UnknownPath();       // the server could not find the requested resource
Error Unauthenticated();   // Unauthorized
// deployments.apps "web" is forbidden: <why>
Error Forbidden(const Subject& subject, std::string_view why);
Error ForbiddenPath(std::string_view path, std::string_view why);
Error Expired(std::string message);           // 410, reason Expired
Error UnsupportedMedia(std::string message);  // 415
Error NotAcceptable(std::string message);     // 406
Error EntityTooLarge(std::string message);    // 413
Error InternalServerError(std::string message);
Error PlainServerError(std::string message);  // 500 without a reason: what kube-apiserver did not expect either
Error ServiceUnavailable(std::string message);
Error TimedOut(std::string message);  // 504

// metav1.Status, ready to be sent.
json::Value StatusObject(const Error& error);
// The Status that a successful delete is answered with.
json::Value SuccessStatus(const Subject& subject, std::string_view uid);

}  // namespace baton::apiserver
