// One request on its way through Front. Inside the module.
#pragma once

#include <string>
#include <utility>

#include "apiserver/front.h"

namespace baton::apiserver {

struct Front::Context {
  net::Request request;
  net::ResponseWriter& writer;
  RequestInfo info;
  Query query;
  Caller caller;
  Accepted accepted;
  std::string audit_id;
  bool answered = false;  // by a stream

  std::string_view Header(std::string_view name) const { return request.headers.Get(name).value_or(""); }
};

// dryRun, fieldManager, fieldValidation, force. 400 or 422 for what they cannot be.
Result<WriteOptions> ReadWriteOptions(const Query& query, std::string_view kind);  // kind: "CreateOptions", ...
// From the body (metav1.DeleteOptions, may be empty) and the query, which wins.
Result<DeleteOptions> ReadDeleteOptions(const Query& query, std::string_view body, std::string_view content_type);

net::Headers JsonHeaders();

}  // namespace baton::apiserver
