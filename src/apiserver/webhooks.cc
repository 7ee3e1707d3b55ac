// The plugin: who is asked when, what becomes of failures, and reinvocation.
#include "apiserver/webhooks.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include "api/schema.h"
#include "apiserver/errors.h"
#include "apiserver/webhook_match.h"
#include "apiserver/webhook_review.h"
#include "base/base64.h"
#include "base/strings.h"
#include "json/json_patch.h"
#include "json/print.h"
#include "rt/when.h"

namespace baton::apiserver {
namespace {

constexpr int64_t kHttpsPort = 443;

// What came of one webhook. A failure of the call itself is what failurePolicy decides about; a refusal is not.
struct Outcome {
  std::optional<Error> refusal;
  std::optional<Error> call_failure;
  WebhookAnswer answer;
};

Outcome Refused(Error error) { return {.refusal = std::move(error), .call_failure = {}, .answer = {}}; }

Outcome Failed(const Webhook& webhook, std::string_view why) {
  return {.refusal = {},
          .call_failure = InternalServerError(StrCat("failed calling webhook ", Quote(webhook.name), ": ", why)),
          .answer = {}};
}

Duration TimeoutOf(const json::Value& spec) {
  const int64_t wanted = spec["timeoutSeconds"].int_or(0);
  if (wanted <= 0) return kWebhookTimeoutDefault;
  return std::min<Duration>(seconds(std::min<int64_t>(wanted, kWebhookTimeoutMax / seconds(1))), kWebhookTimeoutMax);
}

bool Ignores(const Webhook& webhook) { return webhook.spec["failurePolicy"].str() == "Ignore"; }

// Who is asked a second time: of the mutating webhooks that want it, those that were asked before a later one changed
// the object.
struct Reinvocation {
  std::set<std::string> asked;  // those with IfNeeded, since the last change
  std::set<std::string> due;

  void ObjectChanged() {
    due.merge(asked);
    asked.clear();
  }
};

class Webhooks final : public AdmissionPlugin {
 public:
  Webhooks(rt::Loop& loop, WebhookOptions options) : loop_(loop), options_(std::move(options)) {}

  rt::Task<Result<void>> Mutate(AdmissionRequest& request) override {
    if (!options_.mutating || IsExempt(request)) co_return Result<void>();
    const std::vector<Webhook> webhooks = ListWebhooks(options_.mutating());
    Reinvocation reinvocation;
    CO_TRY(co_await MutateRound(request, webhooks, reinvocation, /*again=*/false));
    if (!reinvocation.due.empty()) CO_TRY(co_await MutateRound(request, webhooks, reinvocation, /*again=*/true));
    co_return Result<void>();
  }

  rt::Task<Result<void>> Validate(const AdmissionRequest& request) override {
    if (!options_.validating || IsExempt(request)) co_return Result<void>();
    const std::vector<Webhook> webhooks = ListWebhooks(options_.validating());
    std::vector<const Webhook*> asked;
    std::vector<rt::Task<Outcome>> calls;
    for (const Webhook& webhook : webhooks) {
      std::optional<std::string> version = CO_TRY(MatchWebhook(webhook, request, options_));
      if (!version) continue;
      asked.push_back(&webhook);
      calls.push_back(Ask(webhook, request, *std::move(version), /*mutating=*/false));
    }
    if (asked.empty()) co_return Result<void>();
    const std::vector<Outcome> outcomes = co_await rt::WhenAll(std::move(calls));
    for (const Outcome& outcome : outcomes)
      request.warnings.insert(request.warnings.end(), outcome.answer.warnings.begin(), outcome.answer.warnings.end());
    for (size_t i = 0; i < outcomes.size(); ++i) {
      if (auto error = Judge(*asked[i], outcomes[i])) co_return *std::move(error);
    }
    co_return Result<void>();
  }

 private:
  rt::Task<Result<void>> MutateRound(AdmissionRequest& request, const std::vector<Webhook>& webhooks,
                                     Reinvocation& reinvocation, bool again) {
    for (const Webhook& webhook : webhooks) {
      std::optional<std::string> version = CO_TRY(MatchWebhook(webhook, request, options_));
      if (!version || (again && !reinvocation.due.contains(webhook.id))) continue;
      const Outcome outcome = co_await Ask(webhook, request, *version, /*mutating=*/true);
      request.warnings.insert(request.warnings.end(), outcome.answer.warnings.begin(), outcome.answer.warnings.end());
      if (auto error = Judge(webhook, outcome)) co_return *std::move(error);
      if (!outcome.call_failure && !outcome.answer.patch.empty() &&
          CO_TRY(ApplyPatch(webhook, request, *version, outcome.answer.patch)))
        reinvocation.ObjectChanged();
      if (webhook.spec["reinvocationPolicy"].str() == "IfNeeded") reinvocation.asked.insert(webhook.id);
    }
    co_return Result<void>();
  }

  // The error that the write ends with, if any.
  std::optional<Error> Judge(const Webhook& webhook, const Outcome& outcome) const {
    if (outcome.refusal) return outcome.refusal;
    if (!outcome.call_failure) return std::nullopt;
    if (!Ignores(webhook)) return outcome.call_failure;
    if (options_.on_ignored) options_.on_ignored(webhook.name, *outcome.call_failure);
    return std::nullopt;
  }

  rt::Task<Outcome> Ask(const Webhook& webhook, const AdmissionRequest& request, std::string version, bool mutating) {
    if (request.dry_run) {
      const std::string_view side_effects = webhook.spec["sideEffects"].str();
      if (side_effects.empty()) co_return Failed(webhook, "Webhook SideEffects is nil");
      if (side_effects != "None" && side_effects != "NoneOnDryRun")
        co_return Refused(BadRequest(StrCat("admission webhook ", Quote(webhook.name), " does not support dry run")));
    }
    const auto versions = webhook.spec["admissionReviewVersions"].items();
    if (std::ranges::none_of(versions, [](const json::Value& known) { return known.str() == "v1"; }))
      co_return Failed(
          webhook, "could not create admission objects: webhook does not accept known AdmissionReview versions (v1)");

    const Duration timeout = TimeoutOf(webhook.spec);
    Result<WebhookCall> call = CallOf(webhook.spec["clientConfig"], timeout);
    if (!call.ok()) co_return Failed(webhook, StrCat("could not get REST client: ", call.error().message()));
    const std::string uid = loop_.random().NewUid().str();
    call->body = json::Print(MakeReview(request, version, uid));
    const std::string url = call->url;
    const rt::Deadline deadline = rt::Deadline::After(loop_, timeout);
    const Result<net::Response> response =
        co_await rt::WithDeadline(deadline, "a webhook", options_.call(*std::move(call), deadline));
    if (!response.ok()) {
      const bool late = response.error().kind() == ErrorKind::kDeadlineExceeded;
      co_return Failed(webhook, StrCat("failed to call webhook: Post ", Quote(url), ": ",
                                       late ? "context deadline exceeded" : response.error().message()));
    }
    Result<WebhookAnswer> answer = ReadAnswer(*response, uid, mutating);
    if (!answer.ok()) co_return Failed(webhook, answer.error().message());
    Outcome outcome{.refusal = {}, .call_failure = {}, .answer = *std::move(answer)};
    if (!outcome.answer.allowed) outcome.refusal = Denial(webhook.name, outcome.answer.status);
    co_return outcome;
  }

  Result<WebhookCall> CallOf(const json::Value& config, Duration timeout) const {
    WebhookCall call;
    const std::string query = StrCat("?timeout=", timeout / seconds(1), "s");
    if (!config["caBundle"].str().empty()) {
      auto pem = Base64Decode(config["caBundle"].str());
      if (!pem.ok()) return baton::InvalidError("clientConfig.caBundle is not base64");
      call.ca_pem = *std::move(pem);
    }
    const json::Value& service = config["service"];
    if (service.is_object()) {
      const std::string_view ns = service["namespace"].str();
      const std::string_view name = service["name"].str();
      const int64_t port = service["port"].int_or(kHttpsPort);
      if (port < 1 || port > UINT16_MAX)
        return baton::InvalidError(StrCat("clientConfig.service.port ", port, " is no port"));
      if (!options_.resolve_service)
        return UnsupportedError(StrCat("the webhook names the service ", ns, "/", name,
                                       ", and this server cannot reach services: give clientConfig.url instead"));
      call.address = TRY(options_.resolve_service(ns, name, static_cast<uint16_t>(port)));
      call.server_name = StrCat(name, ".", ns, ".svc");
      const std::string_view path = service["path"].str();
      call.url = StrCat("https://", call.server_name, ":", port, path.starts_with('/') ? "" : "/", path, query);
      return call;
    }
    const std::string_view url = config["url"].str();
    if (url.empty()) return baton::InvalidError("webhook configuration must have either service or URL");
    constexpr std::string_view kScheme = "https://";
    if (!url.starts_with(kScheme) || url.find_first_of("?#@ ") != std::string_view::npos)
      return baton::InvalidError(
          StrCat("clientConfig.url ", Quote(url), " is not of the form https://host[:port]/path"));
    const bool has_path = url.find('/', kScheme.size()) != std::string_view::npos;
    call.url = StrCat(url, has_path ? "" : "/", query);
    return call;
  }

  // Whether the object changed. What the webhook added goes through the schema like what a client sends.
  static Result<bool> ApplyPatch(const Webhook& webhook, AdmissionRequest& request, std::string_view version,
                                 const json::Value& patch) {
    if (!request.object.is_object())
      return InternalServerError(StrCat("admission webhook ", Quote(webhook.name),
                                        " attempted to modify the object, which is not supported for this operation"));
    const ResourceType& type = *request.type;
    const json::Value sent = InApiVersion(request.object, type, version);
    Result<json::Value> patched = json::ApplyJsonPatch(sent, patch);
    if (!patched.ok())
      return InternalServerError(StrCat("the patch of admission webhook ", Quote(webhook.name),
                                        " cannot be applied: ", patched.error().message()));
    if (!patched->is_object() || (*patched)["kind"] != sent["kind"] || (*patched)["apiVersion"] != sent["apiVersion"])
      return InternalServerError(
          StrCat("the patch of admission webhook ", Quote(webhook.name), " changes the object's apiVersion or kind"));
    json::Value object = *std::move(patched);
    if (object["kind"].str() == type.kind) {
      object.Set("apiVersion", type.ApiVersion());
      if (type.schema != nullptr) {
        api::Prune(object, *type.schema);
        api::ApplyDefaults(object, *type.schema);
      }
      if (type.default_fields != nullptr) type.default_fields(object);
    }
    const bool changed = !(object == request.object);
    request.object = std::move(object);
    return changed;
  }

  rt::Loop& loop_;
  WebhookOptions options_;
};

}  // namespace

std::unique_ptr<AdmissionPlugin> MakeWebhooks(rt::Loop& loop, WebhookOptions options) {
  return std::make_unique<Webhooks>(loop, std::move(options));
}

}  // namespace baton::apiserver
