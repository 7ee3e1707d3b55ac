// A kube::Call as an HTTP request.
#include "kube/remote_request.h"

#include <utility>

#include "base/strings.h"
#include "json/names.h"
#include "json/print.h"

namespace baton::kube {
namespace {

using json::Value;

constexpr std::string_view kJson = "application/json";

// "a=1&b=x%20y"; what is empty is left out.
class QueryText {
 public:
  void Add(std::string_view key, std::string_view value) {
    if (!value.empty()) StrAppend(text_, text_.empty() ? "?" : "&", key, "=", net::PercentEncode(value));
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

Result<void> CheckPart(std::string_view what, std::string_view part) {
  const json::Messages wrong = json::CheckPathSegmentName(part);
  if (wrong.empty()) return {};
  return InvalidError(StrCat("nothing was sent: the ", what, " ", Quote(part), " ", wrong.front()));
}

Result<std::string> CollectionPath(const Resource& resource, std::string_view ns) {
  if (resource.version.empty() || resource.plural.empty()) {
    return InvalidError(StrCat("nothing was sent: ", Quote(resource.ToString()), " names no resource"));
  }
  TRY(CheckPart("group", resource.group));
  TRY(CheckPart("version", resource.version));
  TRY(CheckPart("resource", resource.plural));
  std::string path = resource.group.empty() ? StrCat("/api/", net::PercentEncode(resource.version))
                                            : StrCat("/apis/", net::PercentEncode(resource.group), "/",
                                                     net::PercentEncode(resource.version));
  if (resource.namespaced && !ns.empty()) {
    TRY(CheckPart("namespace", ns));
    StrAppend(path, "/namespaces/", net::PercentEncode(ns));
  }
  StrAppend(path, "/", net::PercentEncode(resource.plural));
  return path;
}

bool IsOfCollection(const Call& call) {
  return call.verb == Verb::kList || call.verb == Verb::kDeleteCollection ||
         (call.verb == Verb::kCreate && call.subresource.empty());
}

std::string_view MethodOf(Verb verb) {
  switch (verb) {
    case Verb::kGet:
    case Verb::kList:
      return "GET";
    case Verb::kCreate:
      return "POST";
    case Verb::kUpdate:
      return "PUT";
    case Verb::kPatch:
      return "PATCH";
    case Verb::kDelete:
    case Verb::kDeleteCollection:
      return "DELETE";
  }
  return "GET";
}

std::string QueryOf(const Call& call) {
  QueryText query;
  if (call.verb == Verb::kList || call.verb == Verb::kDeleteCollection) {
    query.Add("labelSelector", call.label_selector);
    query.Add("fieldSelector", call.field_selector);
    if (call.limit > 0) query.Add("limit", StrCat(call.limit));
    query.Add("continue", call.continue_token);
  }
  if (call.verb == Verb::kGet || call.verb == Verb::kList) query.Add("resourceVersion", call.resource_version);
  if (call.verb == Verb::kList) query.Add("resourceVersionMatch", call.resource_version_match);
  if (call.verb == Verb::kCreate || call.verb == Verb::kUpdate || call.verb == Verb::kPatch) {
    query.Add("fieldManager", call.field_manager);
    if (call.dry_run) query.Add("dryRun", "All");
    if (call.verb == Verb::kPatch && call.force) query.Add("force", "true");
    query.Add("fieldValidation", call.field_validation);
  }
  return query.text();
}

Value DeleteBody(const Call& call) {
  Value body = json::Object({{"apiVersion", "v1"}, {"kind", "DeleteOptions"}});
  if (call.grace_seconds) body.Set("gracePeriodSeconds", *call.grace_seconds);
  if (!call.precondition_uid.empty()) body.Edit("preconditions").Set("uid", call.precondition_uid);
  if (!call.precondition_version.empty()) {
    body.Edit("preconditions").Set("resourceVersion", call.precondition_version);
  }
  if (call.dry_run) body.Set("dryRun", json::Array({"All"}));
  switch (call.propagation) {
    case Propagation::kDefault:
      break;
    case Propagation::kBackground:
      body.Set("propagationPolicy", "Background");
      break;
    case Propagation::kForeground:
      body.Set("propagationPolicy", "Foreground");
      break;
    case Propagation::kOrphan:
      body.Set("propagationPolicy", "Orphan");
      break;
  }
  return body;
}

}  // namespace

Result<std::string> PathOf(const Call& call) {
  std::string path = TRY(CollectionPath(call.resource, call.ns));
  if (IsOfCollection(call)) {
    if (call.verb == Verb::kDeleteCollection && call.resource.namespaced && call.ns.empty()) {
      return InvalidError(
          StrCat("nothing was sent: a deletecollection of ", call.resource.ToString(), " needs a namespace"));
    }
    return path;
  }
  if (call.name.empty()) {
    return InvalidError(StrCat("nothing was sent: the ", VerbName(call.verb), " of one of ", call.resource.ToString(),
                               " needs a name"));
  }
  TRY(CheckPart("name", call.name));
  StrAppend(path, "/", net::PercentEncode(call.name));
  if (!call.subresource.empty()) {
    TRY(CheckPart("subresource", call.subresource));
    StrAppend(path, "/", net::PercentEncode(call.subresource));
  }
  return path;
}

Result<net::Request> RequestOf(const Call& call, std::string_view prefix) {
  net::Request request;
  request.method = MethodOf(call.verb);
  request.target = StrCat(prefix, TRY(PathOf(call)), QueryOf(call));
  request.headers.Add("accept", kJson);
  switch (call.verb) {
    case Verb::kGet:
    case Verb::kList:
      break;
    case Verb::kCreate:
    case Verb::kUpdate:
      request.headers.Add("content-type", kJson);
      request.body = json::Print(call.body);
      break;
    case Verb::kPatch:
      request.headers.Add("content-type", ContentTypeOf(call.patch_type));
      request.body = json::Print(call.body);
      break;
    case Verb::kDelete:
    case Verb::kDeleteCollection:
      request.headers.Add("content-type", kJson);
      request.body = json::Print(DeleteBody(call));
      break;
  }
  return request;
}

Result<net::Request> RequestOf(const WatchCall& call, seconds timeout, std::string_view prefix) {
  QueryText query;
  query.Add("watch", "true");
  if (call.bookmarks) query.Add("allowWatchBookmarks", "true");
  query.Add("labelSelector", call.label_selector);
  query.Add("fieldSelector", call.field_selector);
  query.Add("resourceVersion", call.resource_version);
  query.Add("timeoutSeconds", StrCat(timeout.count()));
  net::Request request;
  request.target = StrCat(prefix, TRY(CollectionPath(call.resource, call.ns)), query.text());
  request.headers.Add("accept", kJson);
  return request;
}

}  // namespace baton::kube
