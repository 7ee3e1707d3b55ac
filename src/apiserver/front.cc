// The way of a request: parse, authenticate, authorize, serve, answer, record.
#include "apiserver/front.h"

#include <algorithm>
#include <array>
#include <utility>

#include "apiserver/errors.h"
#include "apiserver/front_context.h"
#include "base/strings.h"
#include "base/utf8.h"
#include "json/print.h"
#include "json/rfc3339.h"
#include "json/yaml.h"

namespace baton::apiserver {

namespace {

constexpr size_t kWarningsMax = 64;
constexpr size_t kWarningBytesMax = 256;

Attributes AttributesOf(const RequestInfo& info) {
  if (!info.is_resource) {
    return {.verb = info.verb, .group = {}, .resource = {}, .subresource = {}, .ns = {}, .name = {}, .path = info.path};
  }
  return {.verb = info.verb,
          .group = info.group,
          .resource = info.resource,
          .subresource = info.subresource,
          .ns = info.ns,
          .name = info.name,
          .path = info.path};
}

// Labels of metrics are kept for good, so they are never a client's own words.
constexpr std::string_view kOtherLabel = "other";

std::string_view VerbLabel(std::string_view verb) {
  constexpr std::array<std::string_view, 14> kVerbs = {"",       "get",    "head", "list", "watch",  "create",
                                                       "update", "patch",  "put",  "post", "delete", "deletecollection",
                                                       "proxy",  "options"};
  return std::ranges::find(kVerbs, verb) == kVerbs.end() ? kOtherLabel : verb;
}

// A Warning header's text is a quoted string (RFC 7234).
std::string WarningText(std::string_view message) {
  std::string text = "299 - \"";
  for (const char c : Utf8Prefix(message, kWarningBytesMax)) {
    if (c == '"' || c == '\\') text += '\\';
    text += static_cast<unsigned char>(c) < ' ' || c == '\x7f' ? ' ' : c;
  }
  return text += '"';
}

}  // namespace

net::Headers JsonHeaders() { return {{"content-type", "application/json"}, {"cache-control", "no-cache, private"}}; }

Front::Front(Parts parts)
    : parts_(std::move(parts)),
      core_(parts_.core),
      requests_(parts_.metrics.AddCounters("apiserver_request_total", "Requests, by what they did and how they ended.",
                                           {"verb", "resource", "code"})),
      durations_(parts_.metrics.AddHistograms("apiserver_request_duration_seconds", "How long requests took.", {"verb"},
                                              kCallSeconds)),
      watches_(parts_.metrics.AddGauge("apiserver_longrunning_requests", "Watches that are open.")) {}

Front::~Front() = default;

net::ErrorPage Front::ErrorPage(int status, std::string_view why) {
  const Error error =
      status == 413 ? EntityTooLarge(StrCat("limit is ", net::HttpLimits().body_bytes_max))
      : status == 503
          ? ServiceUnavailable(std::string(why))
          : Error::FromStatus({.code = status, .reason = status == 408 ? "Timeout" : "BadRequest"}, std::string(why));
  return {.content_type = "application/json", .body = StatusObject(error).ToString() + "\n"};
}

net::Handler Front::AsHandler() {
  return [this](net::Request request, net::ResponseWriter& writer) { return Handle(std::move(request), writer); };
}

std::string Front::ResourceLabel(const RequestInfo& info) const {
  const bool known = !info.is_resource || core_.registry().Find(info.group, info.version, info.resource) != nullptr;
  return known ? info.resource : std::string(kOtherLabel);
}

rt::Task<void> Front::Handle(net::Request request, net::ResponseWriter& writer) {
  Context context{.request = std::move(request), .writer = writer};
  context.audit_id = core_.loop().random().NewUid().str();
  context.caller.user_agent = ReplaceInvalidUtf8(context.Header("user-agent"));
  const MonotonicTime begun = core_.loop().Now();
  Result<Answer> answer = co_await Dispatch(context);
  if (context.answered) co_return;
  Answer sent;
  std::optional<Error> failure;
  if (answer.ok()) {
    sent = *std::move(answer);
  } else {
    failure = answer.error();
    const json::Value status = StatusObject(answer.error());
    sent = ValueAnswer(context, status, static_cast<int>(status["code"].int_or(500)));
    if (const auto seconds = answer.error().retry_after_seconds()) {
      sent.headers.Set("retry-after", std::to_string(*seconds));
    }
    if (sent.status == 401) sent.headers.Set("www-authenticate", "Bearer realm=\"baton\"");
  }
  sent.headers.Set("audit-id", context.audit_id);
  for (size_t i = 0; i < std::min(context.caller.warnings.size(), kWarningsMax); ++i) {
    sent.headers.Add("warning", WarningText(context.caller.warnings[i]));
  }
  const std::string verb(VerbLabel(context.info.verb));
  requests_.With({verb, ResourceLabel(context.info), std::to_string(sent.status)}).Add();
  durations_.With({verb}).Observe(core_.loop().Now() - begun);
  Record(context, sent.status, failure ? &*failure : nullptr);
  // What becomes of an answer is the connection's affair: a client that left gets none.
  [[maybe_unused]] const Result<void> done =
      co_await writer.Send(sent.status, std::move(sent.headers), std::move(sent.body));
}

rt::Task<Result<Answer>> Front::Dispatch(Context& context) {
  Result<ParsedRequest> parsed = ParseRequest(context.request.method, context.request.target);
  if (!parsed.ok()) co_return BadRequest(parsed.error().message());
  context.info = std::move(parsed->info);
  context.query = std::move(parsed->query);
  context.caller.user = CO_TRY(parts_.authenticator.Authenticate(context.request));
  CO_TRY(Impersonate(context));
  CO_TRY(Authorize(context, context.info.verb));
  if (context.info.is_resource) co_return co_await ServeResource(context);
  co_return ServeDocument(context);
}

Result<void> Front::Authorize(const Context& context, std::string_view verb) {
  Attributes attributes = AttributesOf(context.info);
  attributes.verb = verb;
  const Decision decision = parts_.authorizer.Authorize(context.caller.user, attributes);
  if (decision.allowed) return {};
  const std::string why = CannotMessage(context.caller.user, attributes);
  if (!context.info.is_resource) return ForbiddenPath(context.info.path, why);
  return Forbidden({.group = context.info.group, .resource = context.info.resource, .name = context.info.name}, why);
}

// kubectl --as: one user in the place of another, when they may.
Result<void> Front::Impersonate(Context& context) {
  const std::string_view name = context.Header("impersonate-user");
  User wanted;
  for (const auto& [field, value] : context.request.headers.fields()) {
    // They go into reviews and audit records. A replaced byte would make them the name of somebody else.
    if (field.starts_with("impersonate-") && !IsUtf8(value)) return BadRequest(StrCat(field, " is not UTF-8"));
    if (field == "impersonate-group") wanted.groups.push_back(value);
  }
  if (name.empty()) {
    if (wanted.groups.empty()) return {};
    return BadRequest("requested [impersonate-group] without impersonating a user");
  }
  wanted.name = name;
  const auto check = [&](std::string_view resource, std::string_view one) -> Result<void> {
    const Attributes attributes{.verb = "impersonate",
                                .group = {},
                                .resource = std::string(resource),
                                .subresource = {},
                                .ns = {},
                                .name = std::string(one),
                                .path = {}};
    if (parts_.authorizer.Authorize(context.caller.user, attributes).allowed) return {};
    return Forbidden({.group = {}, .resource = std::string(resource), .name = std::string(one)},
                     CannotMessage(context.caller.user, attributes));
  };
  TRY(check("users", name));
  for (const std::string& group : wanted.groups) TRY(check("groups", group));
  if (wanted.name != kAnonymousUser) wanted.groups.emplace_back(kAuthenticatedGroup);
  context.caller.user = std::move(wanted);
  return {};
}

Answer Front::ValueAnswer(const Context& context, const json::Value& value, int status) const {
  Answer answer{.status = status, .headers = JsonHeaders(), .body = {}};
  if (context.accepted.yaml) {
    answer.headers.Set("content-type", "application/yaml");
    answer.body = net::Body(json::PrintYaml(value));
  } else if (context.query.Flag("pretty")) {
    constexpr int kIndent = 2;
    answer.body = net::Body(json::PrintPretty(value, kIndent) + "\n");
  } else {
    answer.body = net::Body(json::Print(value));
  }
  return answer;
}

void Front::Record(const Context& context, int status, const Error* error) {
  if (parts_.audit == nullptr) return;
  json::Value user = json::Object({{"username", context.caller.user.name}});
  for (const std::string& group : context.caller.user.groups) user.Edit("groups").Push(group);
  json::Value event = json::Object({{"apiVersion", "audit.k8s.io/v1"},
                                    {"kind", "Event"},
                                    {"level", "Metadata"},
                                    {"stage", "ResponseComplete"},
                                    {"auditID", context.audit_id},
                                    {"requestURI", ReplaceInvalidUtf8(context.request.target)},
                                    {"verb", context.info.verb},
                                    {"user", user},
                                    {"userAgent", context.caller.user_agent},
                                    {"sourceIPs", json::Array({context.request.peer_address})},
                                    {"requestReceivedTimestamp", json::FormatMicroTime(core_.loop().WallNow())},
                                    {"responseStatus", json::Object({{"code", status}})}});
  if (error != nullptr) event.Edit("responseStatus").Set("message", ReplaceInvalidUtf8(error->message()));
  if (context.info.is_resource) {
    json::Value object = json::Object({{"resource", context.info.resource}, {"apiVersion", context.info.version}});
    for (const auto& [name, value] : {std::pair<std::string_view, const std::string&>{"apiGroup", context.info.group},
                                      {"namespace", context.info.ns},
                                      {"name", context.info.name},
                                      {"subresource", context.info.subresource}}) {
      if (!value.empty()) object.Set(name, value);
    }
    event.Set("objectRef", object);
  }
  parts_.audit(event);
}

}  // namespace baton::apiserver
