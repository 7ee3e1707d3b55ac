// Calls as HTTP requests.
#include "kube/remote_request.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/strings.h"
#include "kube/api_calls_for_test.h"

namespace baton::kube {
namespace {

using calls_internal::Of;
using calls_internal::PatchOf;
using calls_internal::With;

std::string Sent(const Call& call, std::string_view prefix = "") {
  const Result<net::Request> request = RequestOf(call, prefix);
  if (!request.ok()) return request.error().ToString();
  return StrCat(request->method, " ", request->target, request->headers.Get("content-type") ? " " : "",
                request->headers.Get("content-type").value_or(""), request->body.empty() ? "" : " ", request->body);
}

TEST(RemoteRequestTest, EveryVerbHasItsMethodPathQueryAndBody) {
  const std::string ns = "/namespaces/baton-api-calls/";
  struct Row {
    Call call;
    std::string sent;
  };
  const std::vector<Row> rows = {
      {Of(Verb::kGet, kConfigMaps, "a"), StrCat("GET /api/v1", ns, "configmaps/a")},
      {With(Of(Verb::kGet, kConfigMaps, "a"), [](Call& c) { c.resource_version = "0"; }),
       StrCat("GET /api/v1", ns, "configmaps/a?resourceVersion=0")},
      {With(Of(Verb::kGet, kDeployments, "web"), [](Call& c) { c.subresource = "scale"; }),
       StrCat("GET /apis/apps/v1", ns, "deployments/web/scale")},
      {With(Of(Verb::kGet, kNamespaces, "n"), [](Call& c) { c.ns = "left out"; }), "GET /api/v1/namespaces/n"},
      {Of(Verb::kGet, kConfigMaps, "system:a b"), StrCat("GET /api/v1", ns, "configmaps/system%3Aa%20b")},
      {With(Of(Verb::kList, kDeployments), [](Call& c) { c.ns.clear(); }), "GET /apis/apps/v1/deployments"},
      {With(Of(Verb::kList, kDeployments),
            [](Call& c) {
              c.label_selector = "a in (b,c)";
              c.field_selector = "metadata.name!=x";
              c.limit = 500;
              c.continue_token = "a+b/c=";
              c.resource_version = "7";
              c.resource_version_match = "NotOlderThan";
            }),
       StrCat("GET /apis/apps/v1", ns,
              "deployments?labelSelector=a%20in%20%28b%2Cc%29&fieldSelector=metadata.name%21%3Dx&limit=500&continue="
              "a%2Bb%2Fc%3D&resourceVersion=7&resourceVersionMatch=NotOlderThan")},
      {Of(Verb::kCreate, kConfigMaps, "not in the path", "{kind: ConfigMap}"),
       StrCat("POST /api/v1", ns, R"(configmaps?fieldManager=baton application/json {"kind":"ConfigMap"})")},
      {With(Of(Verb::kCreate, kConfigMaps, "pod", "{kind: Eviction}"), [](Call& c) { c.subresource = "eviction"; }),
       StrCat("POST /api/v1", ns,
              R"(configmaps/pod/eviction?fieldManager=baton application/json {"kind":"Eviction"})")},
      {With(Of(Verb::kUpdate, kConfigMaps, "a", "{kind: ConfigMap}"),
            [](Call& c) {
              c.dry_run = true;
              c.field_validation = "Strict";
              c.field_manager = "me & you";
            }),
       StrCat("PUT /api/v1", ns,
              "configmaps/a?fieldManager=me%20%26%20you&dryRun=All&fieldValidation=Strict application/json "
              R"({"kind":"ConfigMap"})")},
      {PatchOf(kConfigMaps, "a", PatchType::kJson, "[]"),
       StrCat("PATCH /api/v1", ns, "configmaps/a?fieldManager=baton application/json-patch+json []")},
      {PatchOf(kConfigMaps, "a", PatchType::kMerge, "{}"),
       StrCat("PATCH /api/v1", ns, "configmaps/a?fieldManager=baton application/merge-patch+json {}")},
      {PatchOf(kConfigMaps, "a", PatchType::kStrategic, "{}"),
       StrCat("PATCH /api/v1", ns, "configmaps/a?fieldManager=baton application/strategic-merge-patch+json {}")},
      {With(PatchOf(kConfigMaps, "a", PatchType::kApply, "{}"), [](Call& c) { c.force = true; }),
       StrCat("PATCH /api/v1", ns, "configmaps/a?fieldManager=baton&force=true application/apply-patch+yaml {}")},
      {Of(Verb::kDelete, kConfigMaps, "a"),
       StrCat("DELETE /api/v1", ns, R"(configmaps/a application/json {"apiVersion":"v1","kind":"DeleteOptions"})")},
      {With(Of(Verb::kDelete, kConfigMaps, "a"),
            [](Call& c) {
              c.dry_run = true;
              c.precondition_uid = "u";
              c.precondition_version = "7";
              c.propagation = Propagation::kForeground;
              c.grace_seconds = 0;
            }),
       StrCat("DELETE /api/v1", ns, "configmaps/a application/json ",
              R"({"apiVersion":"v1","dryRun":["All"],"gracePeriodSeconds":0,"kind":"DeleteOptions",)",
              R"("preconditions":{"resourceVersion":"7","uid":"u"},"propagationPolicy":"Foreground"})")},
      {With(Of(Verb::kDeleteCollection, kConfigMaps), [](Call& c) { c.label_selector = "a"; }),
       StrCat("DELETE /api/v1", ns,
              R"(configmaps?labelSelector=a application/json {"apiVersion":"v1","kind":"DeleteOptions"})")},
  };
  for (const Row& row : rows) EXPECT_EQ(Sent(row.call), row.sent);
  EXPECT_EQ(Sent(Of(Verb::kGet, kNamespaces, "n"), "/k8s/clusters/c-1"), "GET /k8s/clusters/c-1/api/v1/namespaces/n");
}

// A DELETE of ".../configmaps/" or ".../configmaps/.." would be one of something else.
TEST(RemoteRequestTest, WhatWouldAskForSomethingElseIsNotSent) {
  const std::vector<Call> calls = {
      Of(Verb::kDelete, kConfigMaps, ""),
      Of(Verb::kGet, kConfigMaps, ""),
      Of(Verb::kUpdate, kConfigMaps, "", "{}"),
      Of(Verb::kDelete, kConfigMaps, "."),
      Of(Verb::kDelete, kConfigMaps, ".."),
      Of(Verb::kDelete, kConfigMaps, "a/b"),
      Of(Verb::kDelete, kConfigMaps, "a%2Fb"),
      With(Of(Verb::kDelete, kConfigMaps, "a"), [](Call& c) { c.ns = ".."; }),
      With(Of(Verb::kDelete, kConfigMaps, "a"), [](Call& c) { c.ns = "a/configmaps"; }),
      With(Of(Verb::kDelete, kConfigMaps, "a"), [](Call& c) { c.subresource = "../b"; }),
      With(Of(Verb::kDelete, kConfigMaps, "a"), [](Call& c) { c.resource.plural = "pods/x"; }),
      With(Of(Verb::kDelete, kConfigMaps, "a"), [](Call& c) { c.resource.plural.clear(); }),
      With(Of(Verb::kDelete, kConfigMaps, "a"), [](Call& c) { c.resource.version = ".."; }),
      With(Of(Verb::kDeleteCollection, kConfigMaps), [](Call& c) { c.ns.clear(); }),
  };
  for (const Call& call : calls) EXPECT_TRUE(Sent(call).starts_with("invalid: nothing was sent: ")) << Sent(call);
}

TEST(RemoteRequestTest, AWatchAsksForBookmarksAndAnEnd) {
  const WatchCall call{.resource = kDeployments, .ns = "blue", .label_selector = "a=b", .resource_version = "7"};
  EXPECT_EQ(RequestOf(call, seconds(301), "/p")->target,
            "/p/apis/apps/v1/namespaces/blue/deployments?watch=true&allowWatchBookmarks=true&labelSelector=a%3Db&"
            "resourceVersion=7&timeoutSeconds=301");
  EXPECT_EQ(RequestOf({.resource = kConfigMaps, .bookmarks = false}, seconds(5), "")->target,
            "/api/v1/configmaps?watch=true&timeoutSeconds=5");
  EXPECT_FALSE(RequestOf({.resource = kConfigMaps, .ns = ".."}, seconds(5), "").ok());
}

}  // namespace
}  // namespace baton::kube
