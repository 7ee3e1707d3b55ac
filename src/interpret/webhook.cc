// Rules, requests and answers of interpreter webhooks.
#include "interpret/webhook.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/base64.h"
#include "base/strings.h"
#include "interpret/lua_operations.h"
#include "interpret/question.h"
#include "json/json_patch.h"
#include "json/parse.h"

namespace baton::interpret {
namespace {

using json::Value;

constexpr std::string_view kAny = "*";
constexpr int64_t kHttpsPort = 443;
constexpr size_t kSaidMax = 1000;  // of what a webhook said, in our messages

bool Lists(const Value& list, std::string_view one) {
  return std::ranges::any_of(list.items(), [&](const Value& item) { return item.str() == kAny || item.str() == one; });
}

struct GroupVersion {
  std::string_view group;
  std::string_view version;
};

GroupVersion Split(std::string_view api_version) {
  const size_t slash = api_version.find('/');
  if (slash == std::string_view::npos) return {.group = "", .version = api_version};
  return {.group = api_version.substr(0, slash), .version = api_version.substr(slash + 1)};
}

// A patch of what was sent; none at all leaves it as it is.
Result<Value> Patched(const Value& response, const Value& object) {
  const Value& type = response["patchType"];
  const std::string_view encoded = response["patch"].str();
  if (type.is_null() && encoded.empty()) return object;
  if (type.is_null()) return InvalidError("it gave a patch without patchType");
  if (encoded.empty()) return InvalidError("it gave a patchType without a patch");
  if (type.str() != "JSONPatch") return InvalidError(StrCat("patchType ", Quote(type.str()), " is not JSONPatch"));
  const std::string text = TRY(Base64Decode(encoded).Context("its patch"));
  const Value patch = TRY(json::Parse(text).Context("its patch"));
  Value patched = TRY(json::ApplyJsonPatch(object, patch).Context("its patch"));
  if (!patched.is_object()) return InvalidError("its patch leaves no object");
  return patched;
}

Result<int64_t> ReplicasOf(const Value& holder) {
  const Value& replicas = holder["replicas"];
  const bool fits =
      replicas.is_int() && replicas.int_or(-1) >= 0 && replicas.int_or(0) <= std::numeric_limits<int32_t>::max();
  if (!fits) return InvalidError(StrCat("replicas is ", replicas.ToString(), ", not a number of replicas"));
  return replicas.int_or(0);
}

Result<Value> ComponentsOf(const Value& response) {
  Value list = json::Array();
  for (const Value& component : response["components"].items()) {
    if (component["name"].str().empty()) return InvalidError("a component has no name");
    Value one = json::Object({{"name", component["name"]}, {"replicas", TRY(ReplicasOf(component))}});
    const Value& requirements = component["replicaRequirements"];
    if (!requirements.is_null()) one.Set("requirements", TRY(CheckRequirements(requirements)));
    list.Push(std::move(one));
  }
  return list;
}

Result<Value> DependenciesOf(const Value& response) {
  std::vector<Value> references;
  for (const Value& one : response["dependencies"].items()) references.push_back(one);
  TRY(CheckDependencies(references));
  Value list = json::Array();
  for (Value& one : SortedDependencies(std::move(references))) list.Push(std::move(one));
  return list;
}

Result<Value> AnswerOf(const Value& response, const InterpretQuestion& question) {
  switch (question.operation) {
    case Operation::kReplica: {
      if (response["replicas"].is_null()) return InvalidError("it gave no replicas");
      Value answer = json::Object({{"replicas", TRY(ReplicasOf(response))}});
      const Value& requirements = response["replicaRequirements"];
      if (!requirements.is_null()) answer.Set("requirements", TRY(CheckRequirements(requirements)));
      return answer;
    }
    case Operation::kComponent:
      return ComponentsOf(response);
    case Operation::kRevise:
    case Operation::kRetain:
    case Operation::kAggregate:
      return Patched(response, question.object);
    case Operation::kReflect:
      if (response["rawStatus"].is_null()) return InvalidError("it gave no rawStatus");
      return response["rawStatus"];
    case Operation::kHealth:
      if (!response["healthy"].is_bool()) return InvalidError("it gave no healthy");
      return response["healthy"];
    case Operation::kDependency:
      return DependenciesOf(response);
  }
  return InternalError("unknown operation");
}

}  // namespace

Result<void> Webhooks::Set(const Value& configuration) {
  const std::string_view name = configuration["metadata"]["name"].str();
  if (name.empty() || !configuration["webhooks"].is_array())
    return InvalidError("not a ResourceInterpreterWebhookConfiguration with a name and webhooks");
  Remove(name);
  for (const Value& one : configuration["webhooks"].items()) {
    auto hook = std::make_shared<Webhook>();
    hook->id = StrCat(name, "/", one["name"].str());
    hook->client_config = one["clientConfig"];
    const int64_t asked = one["timeoutSeconds"].int_or(0);
    if (asked > 0) hook->timeout = std::min(Duration(seconds(asked)), kWebhookTimeoutMax);
    hook->speaks = Lists(one["interpreterContextVersions"], kWebhookContextVersion);
    hook->rules = one["rules"];
    by_id_[hook->id] = std::move(hook);
  }
  return {};
}

void Webhooks::Remove(std::string_view configuration) {
  const std::string prefix = StrCat(configuration, "/");
  std::erase_if(by_id_, [&](const auto& entry) { return entry.first.starts_with(prefix); });
}

std::shared_ptr<const Webhook> Webhooks::Find(const KindName& kind, Operation operation) const {
  const GroupVersion version = Split(kind.api_version);
  for (const auto& [id, hook] : by_id_) {
    for (const Value& rule : hook->rules.items()) {
      if (Lists(rule["operations"], Names(operation).name) && Lists(rule["apiGroups"], version.group) &&
          Lists(rule["apiVersions"], version.version) && Lists(rule["kinds"], kind.kind)) {
        return hook;
      }
    }
  }
  return nullptr;
}

Result<WebhookPlace> PlaceOf(const Webhook& webhook) {
  const Value& config = webhook.client_config;
  WebhookPlace place;
  if (!config["caBundle"].str().empty()) place.ca_pem = TRY(Base64Decode(config["caBundle"].str()).Context("caBundle"));
  const std::string query =
      StrCat("timeout=", std::chrono::duration_cast<std::chrono::seconds>(webhook.timeout).count(), "s");
  if (!config["url"].str().empty()) {
    const std::string_view url = config["url"].str();
    place.url = StrCat(url, url.find('?') == std::string_view::npos ? "?" : "&", query);
    return place;
  }
  const Value& service = config["service"];
  place.service_namespace = service["namespace"].str();
  place.service_name = service["name"].str();
  const int64_t port = service["port"].int_or(kHttpsPort);
  if (place.service_namespace.empty() || place.service_name.empty() || port < 1 ||
      port > std::numeric_limits<uint16_t>::max()) {
    return InvalidError("clientConfig names neither a url nor a service");
  }
  place.port = static_cast<uint16_t>(port);
  std::string path(service["path"].str());
  if (!path.starts_with('/')) path.insert(path.begin(), '/');
  place.url = StrCat("https://", place.service_name, ".", place.service_namespace, ".svc:", port, path, "?", query);
  return place;
}

Value WebhookContext(std::string_view uid, const InterpretQuestion& question) {
  const GroupVersion version = Split(question.object["apiVersion"].str());
  const Value& metadata = question.object["metadata"];
  Value request = json::Object(
      {{"uid", uid},
       {"kind", json::Object(
                    {{"group", version.group}, {"version", version.version}, {"kind", question.object["kind"].str()}})},
       {"name", metadata["name"].str()},
       {"operation", Names(question.operation).name},
       {"object", question.object},
       {"replicas", question.replicas}});
  if (!metadata["namespace"].str().empty()) request.Set("namespace", metadata["namespace"]);
  if (!question.observed.is_null()) request.Set("observedObject", question.observed);
  if (!question.items.empty()) request.Set("aggregatedStatus", question.items);
  return json::Object({{"apiVersion", "config.karmada.io/v1alpha1"},
                       {"kind", "ResourceInterpreterContext"},
                       {"request", std::move(request)}});
}

Result<Value> ReadWebhookAnswer(std::string_view uid, const InterpretQuestion& question, std::string_view body) {
  const Value context = TRY(json::Parse(body).Context("its answer"));
  const Value& response = context["response"];
  if (!response.is_object()) return InvalidError("its answer has no response");
  if (response["uid"].str() != uid)
    return InvalidError(StrCat("its answer is for uid ", Quote(response["uid"].str()), ", asked was ", Quote(uid)));
  if (!response["successful"].bool_or(false)) {
    const Value& status = response["status"];
    if (!status.is_object()) return InvalidError("it says that it failed, and gives no status");
    return InvalidError(StrCat("it says that it failed: code ", status["code"].int_or(0), ", ",
                               status["message"].str().substr(0, kSaidMax)));
  }
  return AnswerOf(response, question);
}

}  // namespace baton::interpret
