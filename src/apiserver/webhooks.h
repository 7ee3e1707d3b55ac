// Admission webhooks: asks the servers that ValidatingWebhookConfiguration and MutatingWebhookConfiguration objects
// name, by the rules and in the words of Kubernetes (AdmissionReview admission.k8s.io/v1).
//
//   core.AddAdmission(MakeWebhooks(core.loop(), {.validating = ..., .mutating = ..., .find_namespace = ...,
//                                                .versions = ..., .call = MakeWebhookCaller(loop)}));
//
// Mutating webhooks are asked one after the other, in the order of their configurations' names; those that want to see
// later changes (reinvocationPolicy IfNeeded) once more. Validating ones are asked all at once, and the first refusal
// in that order is the answer. A webhook that cannot be reached refuses the write unless its failurePolicy is Ignore.
//
// Differences to Kubernetes: matchConditions (CEL) are not evaluated, a webhook that has them and would be asked
// refuses the write; AdmissionReview v1beta1 is not spoken; objects are converted between versions by their apiVersion
// alone.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/admission.h"
#include "base/result.h"
#include "base/time.h"
#include "json/value.h"
#include "net/http.h"
#include "rt/loop.h"
#include "rt/task.h"

namespace baton::rt {
class RealLoop;
}

namespace baton::apiserver {

inline constexpr Duration kWebhookTimeoutDefault = seconds(10);  // Kubernetes' numbers
inline constexpr Duration kWebhookTimeoutMax = seconds(30);
inline constexpr size_t kWebhookAnswerBytesMax = size_t{16} << 20;

// One POST.
struct WebhookCall {
  std::string url;          // https://host[:port]/path?timeout=10s
  std::string address;      // host:port to connect to; empty: the URL's
  std::string server_name;  // that the certificate must have; empty: the URL's host
  std::string ca_pem;       // who signed the certificate; empty: the system's authorities
  std::string body;
};

struct WebhookOptions {
  // The configurations now, as objects.
  std::function<std::vector<json::Value>()> validating;
  std::function<std::vector<json::Value>()> mutating;
  // The Namespace object, for namespaceSelectors; nothing when it does not exist.
  std::function<std::optional<json::Value>(std::string_view name)> find_namespace;
  // All served versions of a resource, for matchPolicy Equivalent. Null: a rule of any version matches, and the object
  // is sent as it is.
  std::function<std::vector<std::string>(const ResourceType& type)> versions;
  // Where a service can be reached, as host:port. Null: webhooks that name a service fail, saying so.
  std::function<Result<std::string>(std::string_view ns, std::string_view name, uint16_t port)> resolve_service;
  std::function<rt::Task<Result<net::Response>>(WebhookCall call, rt::Deadline deadline)> call;
  // Told of a webhook that failed and was ignored, as its failurePolicy says; may be null.
  std::function<void(std::string_view webhook, const Error& why)> on_ignored;
};

std::unique_ptr<AdmissionPlugin> MakeWebhooks(rt::Loop& loop, WebhookOptions options);

// WebhookOptions::call over real sockets; keeps connections. The loop outlives the function.
std::function<rt::Task<Result<net::Response>>(WebhookCall call, rt::Deadline deadline)> MakeWebhookCaller(
    rt::RealLoop& loop);

}  // namespace baton::apiserver
