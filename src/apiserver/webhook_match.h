// Internal to webhooks: which webhooks there are, and which of them a request is for.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/admission.h"
#include "apiserver/webhooks.h"
#include "base/result.h"
#include "json/value.h"

namespace baton::apiserver {

struct Webhook {
  std::string id;  // unique: configuration and place in it
  std::string configuration;
  std::string name;  // "check.example.com"
  json::Value spec;
};

std::string_view OperationWord(Operation operation);  // "CREATE", as rules and reviews spell it

// In the order they are asked.
std::vector<Webhook> ListWebhooks(std::vector<json::Value> configurations);

// The webhook configurations themselves, which no webhook may hold up: a broken one could not be repaired.
bool IsExempt(const AdmissionRequest& request);

// A Namespace is in itself.
std::string_view NamespaceOf(const AdmissionRequest& request);

// The version that the object is to be sent in; nothing when the webhook is not to be asked. An error refuses the
// write.
Result<std::optional<std::string>> MatchWebhook(const Webhook& webhook, const AdmissionRequest& request,
                                                const WebhookOptions& options);

}  // namespace baton::apiserver
