// RequestInfo: what a request is about, read from its method, path and query. Pure; the same rules as Kubernetes'
// request info, because RBAC rules and audit records are written in these words.
//
//   GET /apis/apps/v1/namespaces/blue/deployments/web/status  ->  get deployments/status "web" in "blue", group apps
//   GET /api/v1/pods?watch=1                                  ->  watch pods, all namespaces
//   GET /healthz                                              ->  not a resource request; verb "get", path "/healthz"
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace baton::apiserver {

// Query parameters, decoded, in order.
class Query {
 public:
  Query() = default;
  explicit Query(std::vector<std::pair<std::string, std::string>> parameters) : parameters_(std::move(parameters)) {}

  std::string_view Get(std::string_view name) const;  // the first of that name; "" when absent
  bool Has(std::string_view name) const;
  std::vector<std::string_view> All(std::string_view name) const;
  // Absent, "0" and "false" are false, as Kubernetes reads booleans in queries.
  bool Flag(std::string_view name) const;

 private:
  std::vector<std::pair<std::string, std::string>> parameters_;
};

struct RequestInfo {
  bool is_resource = false;
  std::string path;  // decoded, without the query
  std::string verb;  // get list watch create update patch delete deletecollection; or the method in lower case

  // Of a resource request:
  std::string group;             // "" is core
  std::string version;           // "v1"
  std::string ns;                // "" when the request names none
  bool names_namespace = false;  // the path is that of a namespace itself: namespaces/NAME[/SUBRESOURCE]
  std::string resource;
  std::string subresource;
  std::string name;
  std::vector<std::string> parts;  // of the path, from the resource on
};

struct ParsedRequest {
  RequestInfo info;
  Query query;
};

// kInvalid for a target that cannot be decoded.
Result<ParsedRequest> ParseRequest(std::string_view method, std::string_view target);

}  // namespace baton::apiserver
