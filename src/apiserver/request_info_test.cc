// Requests and what they are about: Kubernetes' own cases, and those that can go wrong.
#include "apiserver/request_info.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace baton::apiserver {
namespace {

using testing::ElementsAre;

struct ResourceRow {
  std::string_view method;
  std::string_view target;
  std::string_view verb;
  std::string_view group;
  std::string_view version;
  std::string_view ns;
  std::string_view resource;
  std::string_view subresource;
  std::string_view name;
};

constexpr ResourceRow kResourceRows[] = {
    // Namespaces themselves.
    {"GET", "/api/v1/namespaces", "list", "", "v1", "", "namespaces", "", ""},
    {"GET", "/api/v1/namespaces/", "list", "", "v1", "", "namespaces", "", ""},
    {"POST", "/api/v1/namespaces", "create", "", "v1", "", "namespaces", "", ""},
    {"GET", "/api/v1/namespaces/other", "get", "", "v1", "other", "namespaces", "", "other"},
    {"PUT", "/api/v1/namespaces/other/finalize", "update", "", "v1", "other", "namespaces", "finalize", "other"},
    {"PATCH", "/api/v1/namespaces/other/status", "patch", "", "v1", "other", "namespaces", "status", "other"},
    // The known subresources win over a resource of that name, also further down.
    {"GET", "/api/v1/namespaces/other/status/x", "get", "", "v1", "other", "namespaces", "status", "other"},
    // Within namespaces, and across them.
    {"GET", "/api/v1/namespaces/other/pods", "list", "", "v1", "other", "pods", "", ""},
    {"GET", "/api/v1/namespaces/other/pods/foo", "get", "", "v1", "other", "pods", "", "foo"},
    {"HEAD", "/api/v1/namespaces/other/pods/foo", "get", "", "v1", "other", "pods", "", "foo"},
    {"GET", "/api/v1/pods", "list", "", "v1", "", "pods", "", ""},
    {"HEAD", "/api/v1/pods", "list", "", "v1", "", "pods", "", ""},
    {"GET", "/api/v1/nodes/n1", "get", "", "v1", "", "nodes", "", "n1"},
    {"PUT", "/api/v1/namespaces/other/pods/foo/status", "update", "", "v1", "other", "pods", "status", "foo"},
    {"GET", "/api/v1/namespaces/other/pods/foo/log/more/parts", "get", "", "v1", "other", "pods", "log", "foo"},
    // Groups.
    {"POST", "/apis/apps/v1/namespaces/b/deployments", "create", "apps", "v1", "b", "deployments", "", ""},
    {"GET", "/apis/apps/v1/namespaces/blue/deployments/web/status", "get", "apps", "v1", "blue", "deployments",
     "status", "web"},
    // Deletes.
    {"DELETE", "/api/v1/namespaces/other/pods/foo", "delete", "", "v1", "other", "pods", "", "foo"},
    {"DELETE", "/api/v1/namespaces/other/pods", "deletecollection", "", "v1", "other", "pods", "", ""},
    {"DELETE", "/api/v1/nodes", "deletecollection", "", "v1", "", "nodes", "", ""},
    // Watches: any value but 0 and false.
    {"GET", "/api/v1/pods?watch=true", "watch", "", "v1", "", "pods", "", ""},
    {"GET", "/api/v1/pods?watch=1", "watch", "", "v1", "", "pods", "", ""},
    {"GET", "/api/v1/pods?watch", "watch", "", "v1", "", "pods", "", ""},
    {"GET", "/api/v1/pods?watch=", "watch", "", "v1", "", "pods", "", ""},
    {"GET", "/api/v1/pods?watch=no", "watch", "", "v1", "", "pods", "", ""},
    {"GET", "/api/v1/pods?watch=0", "list", "", "v1", "", "pods", "", ""},
    {"GET", "/api/v1/pods?watch=False", "list", "", "v1", "", "pods", "", ""},
    {"GET", "/api/v1/pods?watch=false&watch=true", "list", "", "v1", "", "pods", "", ""},
    // A named get is a get, whatever the query says; and only reads look at the query.
    {"GET", "/api/v1/nodes/n1?watch=true", "get", "", "v1", "", "nodes", "", "n1"},
    {"POST", "/api/v1/nodes?watch=true", "create", "", "v1", "", "nodes", "", ""},
    // A field selector that names the object.
    {"GET", "/api/v1/pods?fieldSelector=metadata.name%3Dfoo", "list", "", "v1", "", "pods", "", "foo"},
    {"GET", "/api/v1/pods?watch=1&fieldSelector=metadata.name=foo", "watch", "", "v1", "", "pods", "", "foo"},
    {"GET", "/api/v1/pods?fieldSelector=a=b,metadata.name==foo", "list", "", "v1", "", "pods", "", "foo"},
    {"GET", "/api/v1/pods?fieldSelector=metadata.name!=foo", "list", "", "v1", "", "pods", "", ""},
    {"GET", "/api/v1/pods?fieldSelector=metadata.name=a%2Fb", "list", "", "v1", "", "pods", "", ""},
    {"GET", "/api/v1/pods?fieldSelector=(bad", "list", "", "v1", "", "pods", "", ""},
    {"DELETE", "/api/v1/pods?fieldSelector=metadata.name=foo", "deletecollection", "", "v1", "", "pods", "", ""},
    // The deprecated verbs in the path.
    {"GET", "/api/v1/watch/pods", "watch", "", "v1", "", "pods", "", ""},
    {"GET", "/api/v1/watch/namespaces/other/pods/foo", "watch", "", "v1", "other", "pods", "", "foo"},
    {"GET", "/api/v1/watch/namespaces/other", "watch", "", "v1", "other", "namespaces", "", "other"},
    {"GET", "/api/v1/proxy/namespaces/other/pods/foo/sub", "proxy", "", "v1", "other", "pods", "", "foo"},
    {"DELETE", "/api/v1/proxy/nodes/n1", "proxy", "", "v1", "", "nodes", "", "n1"},
    // Escapes, and a method that is nobody's.
    {"GET", "/api/v1/namespaces/a%20b/pods/x%2By", "get", "", "v1", "a b", "pods", "", "x+y"},
    {"GET", "/api/v1/namespaces/other/pods%2Ffoo", "get", "", "v1", "other", "pods", "", "foo"},
    {"OPTIONS", "/api/v1/pods", "", "", "v1", "", "pods", "", ""},
    {"get", "/api/v1/pods", "", "", "v1", "", "pods", "", ""},
};

TEST(RequestInfoTest, ReadsResourceRequestsAsKubernetesDoes) {
  for (const ResourceRow& row : kResourceRows) {
    SCOPED_TRACE(std::string(row.method) + " " + std::string(row.target));
    const Result<ParsedRequest> parsed = ParseRequest(row.method, row.target);
    ASSERT_TRUE(parsed.ok());
    const RequestInfo& info = parsed->info;
    EXPECT_TRUE(info.is_resource);
    EXPECT_EQ(info.verb, row.verb);
    EXPECT_EQ(info.group, row.group);
    EXPECT_EQ(info.version, row.version);
    EXPECT_EQ(info.ns, row.ns);
    EXPECT_EQ(info.resource, row.resource);
    EXPECT_EQ(info.subresource, row.subresource);
    EXPECT_EQ(info.name, row.name);
  }
}

TEST(RequestInfoTest, TakesEverythingElseForAPath) {
  struct Row {
    std::string_view method;
    std::string_view target;
    std::string_view verb;
    std::string_view path;
  };
  constexpr Row kRows[] = {
      {"GET", "/", "get", "/"},
      {"GET", "", "get", ""},
      {"GET", "//", "get", "//"},
      {"GET", "/healthz?verbose", "get", "/healthz"},
      {"POST", "/api", "post", "/api"},
      {"GET", "/api/v1", "get", "/api/v1"},
      {"GET", "/api/v1/", "get", "/api/v1/"},
      {"GET", "/apis", "get", "/apis"},
      {"GET", "/apis/apps", "get", "/apis/apps"},
      {"GET", "/apis/apps/v1", "get", "/apis/apps/v1"},
      {"OPTIONS", "/a/b/c/d/e", "options", "/a/b/c/d/e"},
      {"GET", "/openapi/v3/apis/apps/v1", "get", "/openapi/v3/apis/apps/v1"},
      {"GET", "/a%20b+c", "get", "/a b+c"},
  };
  for (const Row& row : kRows) {
    SCOPED_TRACE(std::string(row.target));
    const Result<ParsedRequest> parsed = ParseRequest(row.method, row.target);
    ASSERT_TRUE(parsed.ok());
    EXPECT_FALSE(parsed->info.is_resource);
    EXPECT_EQ(parsed->info.verb, row.verb);
    EXPECT_EQ(parsed->info.path, row.path);
    EXPECT_EQ(parsed->info.resource, "");
  }
}

TEST(RequestInfoTest, RefusesWhatCannotBeDecoded) {
  for (const std::string_view target : {"/api/v1/pods/%zz", "/api/v1/pods/%4", "/api/v1/pods?a=%", "/api/v1/pods/%ff",
                                        "/api/v1/pods?a=%c3", "/api/v1/watch", "/apis/apps/v1/proxy"}) {
    SCOPED_TRACE(std::string(target));
    const Result<ParsedRequest> parsed = ParseRequest("GET", target);
    ASSERT_FALSE(parsed.ok());
    EXPECT_EQ(parsed.error().kind(), ErrorKind::kInvalid);
  }
}

TEST(RequestInfoTest, KeepsThePartsFromTheResourceOn) {
  EXPECT_THAT(ParseRequest("GET", "/api/v1/namespaces/b/pods/p/proxy/a/b")->info.parts,
              ElementsAre("pods", "p", "proxy", "a", "b"));
  EXPECT_THAT(ParseRequest("GET", "/api/v1/namespaces/b/status")->info.parts, ElementsAre("namespaces", "b", "status"));
  EXPECT_THAT(ParseRequest("GET", "/api/v1/watch/nodes")->info.parts, ElementsAre("nodes"));
}

TEST(RequestInfoTest, QueriesGiveTheFirstOfAName) {
  const ParsedRequest parsed = ParseRequest("GET", "/x?a=1&b=x+y%26&a=2&flag&no=FALSE&zero=0").value();
  EXPECT_EQ(parsed.query.Get("a"), "1");
  EXPECT_THAT(parsed.query.All("a"), ElementsAre("1", "2"));
  EXPECT_EQ(parsed.query.Get("b"), "x y&");
  EXPECT_EQ(parsed.query.Get("c"), "");
  EXPECT_FALSE(parsed.query.Has("c"));
  EXPECT_TRUE(parsed.query.Has("flag"));
  EXPECT_TRUE(parsed.query.Flag("flag"));
  EXPECT_FALSE(parsed.query.Flag("no"));
  EXPECT_FALSE(parsed.query.Flag("zero"));
  EXPECT_FALSE(parsed.query.Flag("absent"));
}

}  // namespace
}  // namespace baton::apiserver
