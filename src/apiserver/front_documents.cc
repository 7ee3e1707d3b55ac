// What is not a resource: discovery, OpenAPI, health, version, metrics.
#include <utility>

#include "apiserver/discovery.h"
#include "apiserver/errors.h"
#include "apiserver/front_context.h"
#include "apiserver/open_api_document.h"
#include "base/hash.h"
#include "base/strings.h"

namespace baton::apiserver {

namespace {

// Asked for with '@' by older clients; Go's own parser of media types refuses that, so the answer has a dot.
constexpr std::string_view kProtobufV2 = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
constexpr std::string_view kProtobufV2Old = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";

std::vector<std::string_view> Segments(std::string_view path) {
  std::vector<std::string_view> segments;
  while (!path.empty()) {
    const size_t slash = std::min(path.find('/'), path.size());
    if (slash > 0) segments.push_back(path.substr(0, slash));
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  return segments;
}

// GET /: every path that is not a resource.
json::Value AllPaths(const Registry& registry) {
  json::Value paths = json::Array({"/api", "/api/v1", "/apis", "/apis/"});
  for (const std::string& group : registry.Groups()) {
    if (group.empty()) continue;
    paths.Push(StrCat("/apis/", group));
    for (const std::string& version : registry.Versions(group)) paths.Push(StrCat("/apis/", group, "/", version));
  }
  for (const char* path : {"/healthz", "/livez", "/metrics", "/openapi/v2", "/openapi/v3", "/readyz", "/version"}) {
    paths.Push(path);
  }
  return paths;
}

bool IsHealth(std::string_view first) { return first == "healthz" || first == "livez" || first == "readyz"; }

Answer TextAnswer(int status, std::string text, std::string_view content_type = "text/plain; charset=utf-8") {
  return {.status = status, .headers = {{"content-type", content_type}}, .body = net::Body(std::move(text))};
}

}  // namespace

// A document by its key, made anew only when the registry changed. Clients that show the tag they have get 304.
Answer Front::DocumentAnswer(Context& context, const std::string& key, const std::function<std::string()>& make,
                             std::string_view content_type) {
  const uint64_t generation = core_.registry().generation();
  if (std::exchange(documents_generation_, generation) != generation) documents_.clear();  // groups go, too
  Document& document = documents_[key];
  if (document.bytes == nullptr) {
    document.bytes = std::make_shared<const std::string>(make());
    document.etag = StrCat("\"", Sha256Hex(*document.bytes), "\"");
  }
  Answer answer{.status = 200, .headers = {{"content-type", content_type}, {"etag", document.etag}}, .body = {}};
  answer.headers.Add("vary", "Accept");
  answer.headers.Add("cache-control", context.query.Has("hash") ? "public, immutable" : "no-cache, private");
  if (context.Header("if-none-match") == document.etag) {
    answer.status = 304;
    return answer;
  }
  answer.body.Add(document.bytes);
  return answer;
}

Result<Answer> Front::ServeOpenApi(Context& context) {
  const Registry& registry = core_.registry();
  const std::string& path = context.info.path;
  if (path == "/openapi/v2") {
    const std::string_view accept = context.Header("accept");
    const bool protobuf =
        accept.find(kProtobufV2) != std::string_view::npos || accept.find(kProtobufV2Old) != std::string_view::npos;
    if (!protobuf) {
      TRY(Negotiate(accept, Answerable::kPlain));
      return DocumentAnswer(context, "v2", [&] { return OpenApiV2(registry).ToString(); }, "application/json");
    }
    return DocumentAnswer(context, "v2.pb", [&] { return OpenApiV2Protobuf(OpenApiV2(registry)); }, kProtobufV2);
  }
  if (path == "/openapi/v3") {
    return DocumentAnswer(context, "v3", [&] { return OpenApiV3Index(registry).ToString(); }, "application/json");
  }
  constexpr std::string_view kV3 = "/openapi/v3/";
  if (!path.starts_with(kV3)) return UnknownPath();
  const std::string_view group = std::string_view(path).substr(kV3.size());
  const std::vector<std::string_view> parts = Split(group, '/');  // one path for each document, which is its key
  const bool known = (parts.size() == 2 && parts[0] == "api" && registry.HasGroupVersion("", parts[1])) ||
                     (parts.size() == 3 && parts[0] == "apis" && registry.HasGroupVersion(parts[1], parts[2]));
  if (!known) return UnknownPath();
  return DocumentAnswer(
      context, StrCat("v3/", group), [&] { return OpenApiV3(registry, group).ToString(); }, "application/json");
}

Result<Answer> Front::ServeDocument(Context& context) {
  const Registry& registry = core_.registry();
  const std::vector<std::string_view> parts = Segments(context.info.path);
  if (context.request.method != "GET" && context.request.method != "HEAD") {
    return MethodNotSupported({.group = {}, .resource = context.info.path, .name = {}}, context.info.verb);
  }
  if (parts.empty()) {
    return ValueAnswer(context, json::Object({{"paths", AllPaths(registry)}}), 200);
  }
  if (IsHealth(parts[0])) {
    const bool ready = parts[0] != "readyz" || parts_.ready == nullptr || parts_.ready();
    if (!context.query.Has("verbose")) return TextAnswer(ready ? 200 : 500, ready ? "ok" : "not ready");
    const std::string_view end = ready ? " check passed\n" : " check failed\n";
    return TextAnswer(ready ? 200 : 500, StrCat("[+]ping ok\n", ready ? "[+]" : "[-]", "store\n", parts[0], end));
  }
  if (parts[0] == "version" && parts.size() == 1) return ValueAnswer(context, VersionInfo(), 200);
  if (parts[0] == "metrics" && parts.size() == 1) {
    return TextAnswer(200, parts_.metrics.Text(), kMetricsContentType);
  }
  if (parts[0] == "openapi") return ServeOpenApi(context);
  if (parts[0] == "api" && parts.size() == 1) {
    context.accepted = TRY(Negotiate(context.Header("accept"), Answerable::kDiscovery));
    if (context.accepted.shape != Shape::kAggregatedDiscovery) return ValueAnswer(context, ApiVersions(), 200);
  } else if (parts[0] == "apis" && parts.size() == 1) {
    context.accepted = TRY(Negotiate(context.Header("accept"), Answerable::kDiscovery));
    if (context.accepted.shape != Shape::kAggregatedDiscovery) {
      return DocumentAnswer(context, "apis", [&] { return ApiGroupList(registry).ToString(); }, "application/json");
    }
  }
  if (parts.size() == 1 && (parts[0] == "api" || parts[0] == "apis")) {
    const std::string version = context.accepted.shape_version;
    return DocumentAnswer(
        context, StrCat("aggregated/", version, "/", parts[0]),
        [&] { return AggregatedDiscovery(registry, parts[0] == "api", version).ToString(); },
        StrCat("application/json;g=apidiscovery.k8s.io;v=", version, ";as=APIGroupDiscoveryList"));
  }
  json::Value found;
  if (parts[0] == "api" && parts.size() == 2) found = ApiResourceList(registry, "", parts[1]);
  if (parts[0] == "apis" && parts.size() == 2) found = ApiGroup(registry, parts[1]);
  if (parts[0] == "apis" && parts.size() == 3) found = ApiResourceList(registry, parts[1], parts[2]);
  if (found.is_null()) return UnknownPath();
  return ValueAnswer(context, found, 200);
}

}  // namespace baton::apiserver
