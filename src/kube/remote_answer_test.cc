// A server's answers as values: Status errors, foreign answers, warnings, lists, watch lines.
#include "kube/remote_answer.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/strings.h"
#include "json/parse.h"
#include "kube/api_calls_for_test.h"
#include "rt/random.h"

namespace baton::kube {
namespace {

TEST(RemoteAnswerTest, ErrorsKeepTheirStatus) {
  const Error error = ErrorOf({.status = 422, .headers = {}, .body = R"({"kind":"Status","apiVersion":"v1",
      "status":"Failure","message":"m","reason":"Invalid","code":422,"details":{"name":"n","group":"g","kind":"k",
      "uid":"u","retryAfterSeconds":3,"causes":[{"reason":"r","message":"cm","field":"f"}]}})"});
  EXPECT_EQ(error.kind(), ErrorKind::kInvalid);
  EXPECT_EQ(error.message(), "m");
  const Status wanted{.code = 422,
                      .reason = "Invalid",
                      .name = "n",
                      .group = "g",
                      .kind = "k",
                      .uid = "u",
                      .causes = {{.reason = "r", .message = "cm", .field = "f"}},
                      .retry_after_seconds = 3};
  EXPECT_EQ(*error.status(), wanted);
}

// Only Kubernetes' own word says that something is not there.
TEST(RemoteAnswerTest, AnAnswerThatIsNotOfKubernetesSaysNothingAboutObjects) {
  struct Row {
    int status;
    net::Headers headers;
    std::string body;
    ErrorKind kind;
    std::optional<int32_t> retry_after;
    std::string message;
  };
  const std::vector<Row> rows = {
      {404, {}, "404 page not found\n", ErrorKind::kUnavailable, {}, "HTTP 404 Not Found: \"404 page not found\" (no"},
      {404, {{"audit-id", "x"}}, "404 page not found\n", ErrorKind::kNotFound, {}, "the server could not find the"},
      {404, {{"audit-id", "x"}}, R"({"kind":"Pod"})", ErrorKind::kNotFound, {}, "the server could not find"},
      {410, {}, "gone", ErrorKind::kUnavailable, {}, "HTTP 410 Gone: \"gone\" (no"},
      {302,
       {{"location", "https://login"}},
       "",
       ErrorKind::kUnavailable,
       {},
       "HTTP 302 Found to \"https://login\" (no"},
      {429, {{"retry-after", "7"}}, "Too many", ErrorKind::kThrottled, 7, "HTTP 429 Too Many Requests: \"Too many\""},
      {429, {{"retry-after", "soon"}}, "", ErrorKind::kThrottled, {}, "HTTP 429 Too Many Requests"},
      {429, {{"retry-after", "-1"}}, "", ErrorKind::kThrottled, {}, "HTTP 429 Too Many Requests"},
      {429, {{"retry-after", "99999999"}}, "", ErrorKind::kThrottled, 86400, "HTTP 429 Too Many Requests"},
      {503, {{"retry-after", "1"}}, "<html>", ErrorKind::kUnavailable, 1, "HTTP 503 Service Unavailable: \"<html>\""},
      {502, {}, "bad", ErrorKind::kUnavailable, {}, "HTTP 502 Bad Gateway: \"bad\""},
      {500, {}, "", ErrorKind::kInternal, {}, "HTTP 500 Internal Server Error"},
      {401, {}, "", ErrorKind::kUnauthorized, {}, "HTTP 401 Unauthorized"},
      {503,
       {{"retry-after", "9"}},
       R"({"kind":"Status","code":503,"reason":"ServiceUnavailable"})",
       ErrorKind::kUnavailable,
       9,
       "HTTP 503 ServiceUnavailable"},
  };
  for (const Row& row : rows) {
    const Error error = ErrorOf({.status = row.status, .headers = row.headers, .body = row.body});
    EXPECT_EQ(error.kind(), row.kind) << error.ToString();
    EXPECT_EQ(error.retry_after_seconds(), row.retry_after) << error.ToString();
    EXPECT_TRUE(error.message().starts_with(row.message)) << error.ToString();
  }
  const Error large = ErrorOf({.status = 500, .headers = {}, .body = std::string(100'000, 'x')});
  EXPECT_LT(large.message().size(), 2 * kShownBodyBytesMax);
  EXPECT_EQ(BodyOf({.status = 200, .headers = {}, .body = "<html>"}).error().kind(), ErrorKind::kUnavailable);
  EXPECT_EQ(BodyOf({.status = 200, .headers = {}, .body = "[]"}).error().kind(), ErrorKind::kUnavailable);
}

TEST(RemoteAnswerTest, WarningsAreReadFromTheirHeaders) {
  using Texts = std::vector<std::string>;
  EXPECT_EQ(WarningsOf({}), Texts());
  EXPECT_EQ(WarningsOf({{"warning", R"(299 - "a \"b\" \\ c")"}, {"x", "y"}, {"warning", R"(299 me "d, e" "Tue")"}}),
            (Texts{R"(a "b" \ c)", "d, e"}));
  EXPECT_EQ(WarningsOf({{"warning", R"(299 - "a", 299 - "b" , 110 - "stale", 299 - "c")"}}), (Texts{"a", "b", "c"}));
  for (const std::string_view bad : {"", "299", "299 -", R"(299 - ")", R"(299 - "a)", R"(299 - "a\)", R"("a")"}) {
    EXPECT_EQ(WarningsOf({{"warning", bad}}), Texts()) << bad;
  }
}

Result<Answer> ListOf(std::string_view text) { return AnswerOf(Verb::kList, kDeployments, *json::Parse(text)); }

TEST(RemoteAnswerTest, ItemsOfAListKnowTheirKind) {
  const Answer answer = *ListOf(R"({"kind":"DeploymentList","apiVersion":"apps/v1","metadata":{"resourceVersion":"7",
      "continue":"c"},"items":[{"metadata":{"name":"a"}},{"kind":"Own","apiVersion":"o/v1"}]})");
  EXPECT_EQ(answer.items[0].ToString(), R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a"}})");
  EXPECT_EQ(answer.items[1].ToString(), R"({"apiVersion":"o/v1","kind":"Own"})");
  EXPECT_EQ(answer.resource_version, "7");
  EXPECT_EQ(answer.continue_token, "c");
  EXPECT_TRUE(answer.object.is_null());
  EXPECT_EQ(ListOf(R"({"kind":"DeploymentList","items":null})")->items.size(), 0u);  // Go's empty slice
}

// Taking what is no list for an empty one could make somebody believe that all is gone.
TEST(RemoteAnswerTest, WhatIsNoListIsNotAnEmptyOne) {
  for (const std::string_view text :
       {R"({})", R"({"kind":"Status","status":"Success"})", R"({"kind":"DeploymentList","items":{}})",
        R"({"kind":"DeploymentList","items":[7]})", R"({"items":[]})"}) {
    EXPECT_EQ(ListOf(text).error().kind(), ErrorKind::kUnavailable) << text;
  }
}

constexpr std::string_view kStream =
    "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"a\"}}}\n"
    "\n"
    "{\"type\":\"MODIFIED\",\"object\":{\"kind\":\"K\",\"apiVersion\":\"v\",\"metadata\":{\"name\":\"b\"}}}\r\n"
    "{\"type\":\"DELETED\",\"object\":{\"metadata\":{\"name\":\"c\"}}}\n"
    "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"5\"}}}\n"
    "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"6\",\"annotations\":"
    "{\"k8s.io/initial-events-end\":\"true\"}}}}\n"
    "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410,\"reason\":\"Expired\",\"message\":\"old\"}}\n"
    "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"never seen\"}}}\n";

TEST(RemoteAnswerTest, AWatchReadsTheSameHoweverItIsCut) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    rt::SeededRandom random(seed);
    WatchDecoder decoder(kConfigMaps);
    std::string text;
    for (std::string_view rest = kStream; !rest.empty();) {
      const size_t size = std::min<size_t>(rest.size(), seed == 0 ? rest.size() : 1 + random.Below(1 + seed));
      for (const Change& change : decoder.Add(rest.substr(0, size))) {
        StrAppend(text, static_cast<int>(change.type), NameOf(change.object), VersionOf(change.object),
                  KindOf(change.object), change.initial_events_end ? "!" : "", " ");
      }
      rest.remove_prefix(size);
    }
    EXPECT_EQ(text, "0aConfigMap 1bK 2cConfigMap 35ConfigMap 36ConfigMap! ");
    EXPECT_EQ(decoder.failed()->kind(), ErrorKind::kGone);
    EXPECT_EQ(decoder.failed()->message(), "old");
  }
}

TEST(RemoteAnswerTest, AWatchThatMakesNoSenseEnds) {
  for (const std::string_view line : {"x\n", "{}\n", "[]\n", "{\"type\":\"ADDED\"}\n",
                                      "{\"type\":\"NEW\",\"object\":{}}\n", "{\"type\":\"BOOKMARK\",\"object\":7}\n"}) {
    WatchDecoder decoder(kConfigMaps);
    EXPECT_TRUE(decoder.Add(line).empty());
    EXPECT_EQ(decoder.failed()->kind(), ErrorKind::kUnavailable) << line;
  }
  WatchDecoder endless(kConfigMaps);
  const std::string piece(1 << 20, 'x');
  for (size_t i = 0; i < kWatchLineBytesMax / piece.size(); ++i) {
    EXPECT_TRUE(endless.Add(piece).empty());
    EXPECT_FALSE(endless.failed());
    EXPECT_TRUE(endless.inside_line());
  }
  EXPECT_TRUE(endless.Add("x").empty());
  EXPECT_EQ(endless.failed()->kind(), ErrorKind::kTooLarge);
}

}  // namespace
}  // namespace baton::kube
