// Asking webhooks.
#include "federation/interpretation.h"

#include <utility>

#include "apiserver/webhooks.h"
#include "base/strings.h"
#include "rt/when.h"

namespace baton::federation {
namespace {

using interpret::InterpretQuestion;
using interpret::Operation;
using json::Value;

constexpr int kOk = 200;
constexpr size_t kSaidMax = 500;  // of what a server said that is no answer

const kube::Resource kServices{.group = "", .version = "v1", .plural = "services", .kind = "Service"};

using Caller = std::function<rt::Task<Result<net::Response>>(apiserver::WebhookCall call, rt::Deadline deadline)>;

rt::Task<Result<std::string>> Post(Caller caller, kube::Api& hub, interpret::WebhookPlace place, std::string body,
                                   rt::Deadline deadline) {
  apiserver::WebhookCall call;
  call.url = place.url;
  call.ca_pem = place.ca_pem;
  call.body = std::move(body);
  if (!place.service_name.empty()) {
    const Result<Value> service = co_await hub.Get(kServices, {place.service_namespace, place.service_name});
    if (!service.ok() && service.error().kind() != ErrorKind::kNotFound) co_return service.error();
    if (service.ok()) {
      const Value& spec = (*service)["spec"];
      const bool external = spec["type"].str() == "ExternalName";
      const std::string_view host = external ? spec["externalName"].str() : spec["clusterIP"].str();
      if (host.empty() || host == "None") {
        co_return UnavailableError(StrCat("Service ", place.service_namespace, "/", place.service_name,
                                          " has neither a cluster IP nor an external name"));
      }
      const bool six = host.find(':') != std::string_view::npos;
      call.address = StrCat(six ? "[" : "", host, six ? "]" : "", ":", place.port);
      call.server_name = StrCat(place.service_name, ".", place.service_namespace, ".svc");
    }
  }
  net::Response response = CO_TRY(co_await caller(std::move(call), deadline));
  if (response.status == kOk) co_return std::move(response.body);
  co_return UnavailableError(StrCat("it answers ", response.status, ": ", response.body.substr(0, kSaidMax)));
}

}  // namespace

PostToWebhook PostOverHttps(rt::RealLoop& loop, kube::Api& hub) {
  return [caller = apiserver::MakeWebhookCaller(loop), &hub](interpret::WebhookPlace place, std::string body,
                                                             rt::Deadline deadline) {
    return Post(caller, hub, std::move(place), std::move(body), deadline);
  };
}

bool Interpretation::Has(const Value& object, Operation operation) const {
  return interpreter_.Has(
      {.api_version = std::string(kube::ApiVersionOf(object)), .kind = std::string(kube::KindOf(object))}, operation);
}

rt::Task<Result<Value>> Interpretation::Ask(std::shared_ptr<const interpret::Webhook> webhook,
                                            InterpretQuestion question) const {
  const auto failed = [&](const Error& error) {
    return UnavailableError(StrCat("interpreter webhook ", webhook->id, ", ", interpret::Names(question.operation).name,
                                   ": ", error.message()));
  };
  if (!webhook->speaks) co_return failed(UnsupportedError("it does not accept ResourceInterpreterContext v1alpha1"));
  if (!post_) co_return failed(UnsupportedError("this process cannot call webhooks"));
  Result<interpret::WebhookPlace> place = interpret::PlaceOf(*webhook);
  if (!place.ok()) co_return failed(place.error());
  const std::string uid(loop_.random().NewUid().str());
  std::string body = interpret::WebhookContext(uid, question).ToString();
  const rt::Deadline deadline = rt::Deadline::After(loop_, webhook->timeout);
  const Result<std::string> said = co_await rt::WithDeadline(deadline, StrCat("webhook ", webhook->id),
                                                             post_(*std::move(place), std::move(body), deadline));
  if (!said.ok()) co_return failed(said.error());
  Result<Value> answer = interpret::ReadWebhookAnswer(uid, question, *said);
  if (!answer.ok()) co_return failed(answer.error());
  co_return answer;
}

rt::Task<Result<interpret::Replicas>> Interpretation::GetReplicas(Value object) const {
  const auto webhook = interpreter_.WebhookFor(object, Operation::kReplica);
  if (webhook == nullptr) co_return interpreter_.GetReplicas(object);
  const Value answer = CO_TRY(co_await Ask(webhook, {.operation = Operation::kReplica, .object = object}));
  co_return interpret::Replicas{.count = answer["replicas"].int_or(0), .requirements = answer["requirements"]};
}

rt::Task<Result<Value>> Interpretation::ReviseReplica(Value object, int64_t replicas) const {
  const auto webhook = interpreter_.WebhookFor(object, Operation::kRevise);
  if (webhook == nullptr) co_return interpreter_.ReviseReplica(object, replicas);
  co_return co_await Ask(webhook, {.operation = Operation::kRevise, .object = object, .replicas = replicas});
}

rt::Task<Result<Value>> Interpretation::Retain(Value desired, Value observed) const {
  const auto webhook = interpreter_.WebhookFor(desired, Operation::kRetain);
  if (webhook == nullptr) co_return interpreter_.Retain(desired, observed);
  co_return co_await Ask(webhook, {.operation = Operation::kRetain, .object = desired, .observed = observed});
}

rt::Task<Result<Value>> Interpretation::AggregateStatus(Value object, Value items) const {
  const auto webhook = interpreter_.WebhookFor(object, Operation::kAggregate);
  if (webhook == nullptr) co_return interpreter_.AggregateStatus(object, items);
  co_return co_await Ask(webhook, {.operation = Operation::kAggregate, .object = object, .items = items});
}

rt::Task<Result<Value>> Interpretation::ReflectStatus(Value observed) const {
  const auto webhook = interpreter_.WebhookFor(observed, Operation::kReflect);
  if (webhook == nullptr) co_return interpreter_.ReflectStatus(observed);
  co_return co_await Ask(webhook, {.operation = Operation::kReflect, .object = observed});
}

rt::Task<Result<bool>> Interpretation::InterpretHealth(Value observed) const {
  const auto webhook = interpreter_.WebhookFor(observed, Operation::kHealth);
  if (webhook == nullptr) co_return interpreter_.InterpretHealth(observed);
  const Value answer = CO_TRY(co_await Ask(webhook, {.operation = Operation::kHealth, .object = observed}));
  co_return answer.bool_or(false);
}

rt::Task<Result<std::vector<Value>>> Interpretation::GetDependencies(Value object) const {
  const auto webhook = interpreter_.WebhookFor(object, Operation::kDependency);
  if (webhook == nullptr) co_return interpreter_.GetDependencies(object);
  const Value answer = CO_TRY(co_await Ask(webhook, {.operation = Operation::kDependency, .object = object}));
  std::vector<Value> references;
  for (const Value& one : answer.items()) references.push_back(one);
  co_return references;
}

}  // namespace baton::federation
