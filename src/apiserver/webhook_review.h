// Internal to webhooks: the AdmissionReview that is sent, and what is read from the one that comes back.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/admission.h"
#include "base/result.h"
#include "json/value.h"
#include "net/http.h"

namespace baton::apiserver {

// `version`: what the webhook is to see the object in.
json::Value MakeReview(const AdmissionRequest& request, std::string_view version, std::string_view uid);

// The object as another version of its kind, and back: only apiVersion changes.
json::Value InApiVersion(json::Value object, const ResourceType& type, std::string_view version);

struct WebhookAnswer {
  bool allowed = false;
  json::Value status;  // why not
  json::Value patch;   // null: none
  std::vector<std::string> warnings;
};

// Errors are what Kubernetes writes after `failed calling webhook "x": `.
Result<WebhookAnswer> ReadAnswer(const net::Response& response, std::string_view uid, bool mutating);

// admission webhook "x" denied the request: <why>, with the code and reason that the webhook gave.
Error Denial(std::string_view webhook, const json::Value& status);

}  // namespace baton::apiserver
