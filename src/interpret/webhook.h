// Interpreter webhooks: servers that answer for kinds that neither we nor a script know. This is their pure part: which
// webhook answers what, what it is sent, and what its answer means. federation/interpretation.h calls them.
//
//   Webhooks webhooks;
//   TRY(webhooks.Set(configuration));                            // a ResourceInterpreterWebhookConfiguration
//   std::shared_ptr<const Webhook> hook = webhooks.Find(kind, Operation::kHealth);
//   Value sent = WebhookContext(uid, question);                  // POST this
//   Value answer = TRY(ReadWebhookAnswer(uid, question, body));  // as Answer() in question.h gives it
//
// The wire form is Karmada's ResourceInterpreterContext of config.karmada.io/v1alpha1. Of several webhooks whose rules
// match, the one whose "configuration/name" sorts first answers. A webhook that fails is the answer: no other level is
// asked.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "interpret/handlers.h"
#include "interpret/operation.h"
#include "json/value.h"

namespace baton::interpret {

struct InterpretQuestion;  // question.h

inline constexpr Duration kWebhookTimeoutDefault = seconds(10);  // Karmada's numbers
inline constexpr Duration kWebhookTimeoutMax = seconds(30);
inline constexpr std::string_view kWebhookContextVersion = "v1alpha1";

struct Webhook {
  std::string id;             // "configuration/name"
  json::Value client_config;  // url, or service; caBundle
  Duration timeout = kWebhookTimeoutDefault;
  bool speaks = false;  // one of its interpreterContextVersions is ours
  json::Value rules;
};

class Webhooks {
 public:
  // Adds it, or replaces the one of its name. Errors: not such an object.
  Result<void> Set(const json::Value& configuration);
  void Remove(std::string_view configuration);
  bool empty() const { return by_id_.empty(); }
  // Null: none answers that.
  std::shared_ptr<const Webhook> Find(const KindName& kind, Operation operation) const;

 private:
  std::map<std::string, std::shared_ptr<const Webhook>, std::less<>> by_id_;
};

// Where the POST goes when the webhook is named by URL; by service it is https://SERVICE.NAMESPACE.svc:PORT/PATH, and
// `service` says which.
struct WebhookPlace {
  std::string url;
  std::string service_namespace;  // "": by URL
  std::string service_name;
  uint16_t port = 0;
  std::string ca_pem;
};
Result<WebhookPlace> PlaceOf(const Webhook& webhook);

json::Value WebhookContext(std::string_view uid, const InterpretQuestion& question);
Result<json::Value> ReadWebhookAnswer(std::string_view uid, const InterpretQuestion& question, std::string_view body);

}  // namespace baton::interpret
