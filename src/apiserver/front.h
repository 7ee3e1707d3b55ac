// Front: HTTP in front of Core. Reads a request, asks who it is and whether they may, calls the verb, writes the
// answer: stored bytes as they are, wherever the client takes them.
//
//   Front front({.core = core, .authenticator = ..., .authorizer = ...});
//   net::HttpServer server(loop, front.AsHandler());
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "apiserver/authentication.h"
#include "apiserver/authorizer.h"
#include "apiserver/core.h"
#include "apiserver/negotiation.h"
#include "apiserver/request_info.h"
#include "base/metrics.h"
#include "net/http.h"
#include "net/server.h"

namespace baton::apiserver {

// A whole answer.
struct Answer {
  int status = 200;
  net::Headers headers;
  net::Body body;
};

// One record for the audit log: a JSON object (audit.k8s.io/v1 Event).
using AuditSink = std::function<void(const json::Value& event)>;

inline constexpr Duration kBookmarkEvery = minutes(1);
inline constexpr Duration kBookmarkBeforeEnd = seconds(2);  // Kubernetes' number
inline constexpr Duration kWatchLifeMin = minutes(30);      // of a watch that names no timeout: random up to twice that
inline constexpr size_t kListPageMax = 0;                   // no server-side limit: lists are pieces of stored bytes

class Front {
 public:
  struct Parts {
    Core& core;
    Authenticator& authenticator;
    Authorizer& authorizer;
    MetricRegistry& metrics;
    AuditSink audit = nullptr;              // null: off
    std::function<bool()> ready = nullptr;  // null: always
  };
  explicit Front(Parts parts);
  ~Front();

  net::Handler AsHandler();
  // A Status for what the HTTP server refuses by itself.
  static net::ErrorPage ErrorPage(int status, std::string_view why);
  rt::Task<void> Handle(net::Request request, net::ResponseWriter& writer);

 private:
  struct Context;  // one request on its way

  rt::Task<Result<Answer>> Dispatch(Context& context);
  rt::Task<Result<Answer>> ServeResource(Context& context);
  rt::Task<Result<Answer>> ServeObject(Context& context, Target target);
  rt::Task<Result<Answer>> ServeCollection(Context& context, Target target);
  rt::Task<Result<Answer>> ServeReview(Context& context, Target target);
  rt::Task<Result<Answer>> ServeToken(Context& context, Target target);
  rt::Task<Result<Answer>> ServeList(Context& context, Target target);
  rt::Task<Result<Answer>> ServeCreate(Context& context, Target target);
  rt::Task<Result<Answer>> ServePatch(Context& context, Target target);
  rt::Task<Result<Answer>> ServeDelete(Context& context, Target target);
  rt::Task<Result<void>> ServeWatch(Context& context, Target target);
  Result<Answer> ServeDocument(Context& context);
  Result<Answer> ServeOpenApi(Context& context);

  Result<void> Impersonate(Context& context);
  Result<void> Authorize(const Context& context, std::string_view verb);
  Answer ObjectAnswer(const Context& context, const ResourceType& type, const Object& object, int status);
  Answer ValueAnswer(const Context& context, const json::Value& value, int status) const;
  Answer DocumentAnswer(Context& context, const std::string& key, const std::function<std::string()>& make,
                        std::string_view content_type);
  std::string ResourceLabel(const RequestInfo& info) const;
  void Record(const Context& context, int status, const Error* error);

  Parts parts_;
  Core& core_;
  struct Document {
    std::shared_ptr<const std::string> bytes;
    std::string etag;
  };
  std::map<std::string, Document, std::less<>> documents_;  // discovery and OpenAPI, by what they are
  uint64_t documents_generation_ = 0;                       // of the registry that they are made from
  Family<Counter> requests_;
  Family<Histogram> durations_;
  Gauge watches_;
};

}  // namespace baton::apiserver
