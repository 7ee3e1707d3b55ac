// Every Status error against what kube-apiserver v1.35 answers with.
#include "apiserver/errors.h"

#include <gtest/gtest.h>

#include <string>

#include "api/field_errors.h"
#include "json/parse.h"

namespace baton::apiserver {
namespace {

const Subject kWeb = {.group = "apps", .resource = "deployments", .name = "web"};
const Subject kPods = {.group = "", .resource = "pods", .name = ""};

struct Row {
  Error error;
  ErrorKind kind;
  std::string_view json;  // without kind, apiVersion, metadata and status, which are always the same
};

std::vector<Row> Rows() {
  return {
      {NotFound(kWeb), ErrorKind::kNotFound,
       R"({"message":"deployments.apps \"web\" not found","reason":"NotFound",
           "details":{"name":"web","group":"apps","kind":"deployments"},"code":404})"},
      {NotFound({.group = "", .resource = "pods", .name = "a"}), ErrorKind::kNotFound,
       R"({"message":"pods \"a\" not found","reason":"NotFound","details":{"name":"a","kind":"pods"},"code":404})"},
      {AlreadyExists(kWeb), ErrorKind::kAlreadyExists,
       R"({"message":"deployments.apps \"web\" already exists","reason":"AlreadyExists",
           "details":{"name":"web","group":"apps","kind":"deployments"},"code":409})"},
      {Conflict(kWeb, kObjectModified), ErrorKind::kConflict,
       R"({"message":"Operation cannot be fulfilled on deployments.apps \"web\": the object has been modified; please apply your changes to the latest version and try again",
           "reason":"Conflict","details":{"name":"web","group":"apps","kind":"deployments"},"code":409})"},
      {InvalidObject("apps", "Deployment", "web", {api::RequiredError("spec.a", "")}), ErrorKind::kInvalid,
       R"({"message":"Deployment.apps \"web\" is invalid: spec.a: Required value","reason":"Invalid",
           "details":{"name":"web","group":"apps","kind":"Deployment","causes":[
             {"reason":"FieldValueRequired","message":"Required value","field":"spec.a"}]},"code":422})"},
      {InvalidObject("", "Pod", "", {}), ErrorKind::kInvalid,
       R"({"message":"Pod \"\" is invalid","reason":"Invalid","details":{"kind":"Pod"},"code":422})"},
      {BadRequest("no"), ErrorKind::kInvalid, R"({"message":"no","reason":"BadRequest","code":400})"},
      {MethodNotSupported(kWeb, "patch"), ErrorKind::kUnsupported,
       R"({"message":"patch is not supported on resources of kind \"deployments.apps\"","reason":"MethodNotAllowed",
           "details":{"group":"apps","kind":"deployments"},"code":405})"},
      {UnknownPath(), ErrorKind::kNotFound,
       R"({"message":"the server could not find the requested resource","reason":"NotFound","details":{},"code":404})"},
      {Unauthenticated(), ErrorKind::kUnauthorized, R"({"message":"Unauthorized","reason":"Unauthorized","code":401})"},
      {Forbidden(kWeb, "no"), ErrorKind::kForbidden,
       R"({"message":"deployments.apps \"web\" is forbidden: no","reason":"Forbidden",
           "details":{"name":"web","group":"apps","kind":"deployments"},"code":403})"},
      {Forbidden(kPods, "no"), ErrorKind::kForbidden,
       R"({"message":"pods is forbidden: no","reason":"Forbidden","details":{"kind":"pods"},"code":403})"},
      {ForbiddenPath("/metrics", "User \"a\" cannot get path \"/metrics\""), ErrorKind::kForbidden,
       R"({"message":"forbidden: User \"a\" cannot get path \"/metrics\"","reason":"Forbidden","details":{},
           "code":403})"},
      {Expired("too old"), ErrorKind::kGone, R"({"message":"too old","reason":"Expired","code":410})"},
      {UnsupportedMedia("x"), ErrorKind::kUnsupported, R"({"message":"x","reason":"UnsupportedMediaType","code":415})"},
      {NotAcceptable("x"), ErrorKind::kUnsupported, R"({"message":"x","reason":"NotAcceptable","code":406})"},
      {EntityTooLarge("limit is 3145728"), ErrorKind::kTooLarge,
       R"({"message":"Request entity too large: limit is 3145728","reason":"RequestEntityTooLarge","code":413})"},
      {InternalServerError("boom"), ErrorKind::kInternal,
       R"({"message":"Internal error occurred: boom","reason":"InternalError",
           "details":{"causes":[{"message":"boom"}]},"code":500})"},
      {ServiceUnavailable("later"), ErrorKind::kUnavailable,
       R"({"message":"later","reason":"ServiceUnavailable","code":503})"},
      {TimedOut("slow"), ErrorKind::kDeadlineExceeded,
       R"({"message":"Timeout: slow","reason":"Timeout","details":{},"code":504})"},
      // Errors that did not come from here.
      {baton::InvalidError("bad"), ErrorKind::kInvalid, R"({"message":"bad","reason":"BadRequest","code":400})"},
      {baton::NotFoundError("none"), ErrorKind::kNotFound,
       R"({"message":"none","reason":"NotFound","details":{},"code":404})"},
  };
}

TEST(ErrorsTest, AreWhatKubeApiserverAnswers) {
  for (const Row& row : Rows()) {
    SCOPED_TRACE(row.error.message());
    EXPECT_EQ(row.error.kind(), row.kind);
    json::Value expected = json::Parse(row.json).value();
    expected.Set("kind", "Status");
    expected.Set("apiVersion", "v1");
    expected.Set("metadata", json::Object());
    expected.Set("status", "Failure");
    EXPECT_EQ(StatusObject(row.error), expected);
  }
}

TEST(ErrorsTest, SeveralFieldErrorsAreOneMessageWithoutRepetition) {
  const api::FieldError a = api::RequiredError("spec.a", "");
  const api::FieldError b = api::ForbiddenError("spec.b", "never");
  EXPECT_EQ(InvalidObject("apps", "Deployment", "web", {a, b}).message(),
            "Deployment.apps \"web\" is invalid: [spec.a: Required value, spec.b: Forbidden: never]");
  EXPECT_EQ(InvalidObject("", "Pod", "p", {a, b, a}).message(),
            "Pod \"p\" is invalid: [spec.a: Required value, spec.b: Forbidden: never]");
  // The same one twice is one in the message, and two causes.
  const Error twice = InvalidObject("", "Pod", "p", {a, a});
  EXPECT_EQ(twice.message(), "Pod \"p\" is invalid: spec.a: Required value");
  EXPECT_EQ(twice.status()->causes.size(), 2U);
}

TEST(ErrorsTest, SayWhenToComeBack) {
  Status status;
  status.code = 429;
  status.reason = "TooManyRequests";
  status.retry_after_seconds = 7;
  const json::Value object = StatusObject(Error::FromStatus(status, "later"));
  EXPECT_EQ(object["details"]["retryAfterSeconds"], json::Value(7));
}

TEST(ErrorsTest, AreUtf8WhateverTheNameWas) {
  const json::Value object = StatusObject(Error(ErrorKind::kInvalid, "bad \xff byte"));
  EXPECT_EQ(object["message"].str(), "bad \xef\xbf\xbd byte");
}

TEST(ErrorsTest, ADeletionIsAnsweredWithSuccess) {
  EXPECT_EQ(SuccessStatus(kWeb, "u-1"),
            json::Parse(R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success",
                            "details":{"name":"web","group":"apps","kind":"deployments","uid":"u-1"}})")
                .value());
}

TEST(ErrorsTest, AnswersStaySmallWhateverIsWrong) {
  const std::string long_text(100'000, 'x');
  std::vector<api::FieldError> many;
  for (size_t i = 0; i < 10'000; ++i) many.push_back(api::RequiredError(api::IndexPath("spec.list", i), ""));
  const std::string escaped(100'000, '\x01');
  const std::vector<std::vector<api::FieldError>> all = {
      {{.type = api::FieldError::Type::kInvalid, .field = escaped, .message = escaped}},
      std::vector<api::FieldError>(50, api::InvalidError(escaped, json::Value(std::string(5000, '"')), escaped)),
      many,
      {api::InvalidError("spec.a", json::Value(long_text), "is too long")},
      {api::RequiredError(api::ChildPath(long_text, "a"), ""), api::RequiredError(api::KeyPath("a", long_text), "")},
      std::vector<api::FieldError>(50, api::InvalidError(long_text, json::Value(long_text), long_text)),
      {{.type = api::FieldError::Type::kInvalid, .field = long_text, .message = long_text}},
  };
  for (const std::vector<api::FieldError>& errors : all) {
    for (const std::string& name : {long_text, escaped}) {
      const std::string text = StatusObject(InvalidObject("", name, name, errors)).ToString();
      EXPECT_LT(text.size(), kStatusBytesMax);
      EXPECT_TRUE(json::Parse(text).ok());
    }
  }
  // What is left out is counted.
  const std::string told(InvalidObject("", "Pod", "a", many).message());
  EXPECT_TRUE(told.starts_with("Pod \"a\" is invalid: [spec.list[0]: Required value, ")) << told.substr(0, 80);
  EXPECT_TRUE(told.ends_with(" more")) << told.substr(told.size() - 40);
}

}  // namespace
}  // namespace baton::apiserver
