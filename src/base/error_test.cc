// Error: kinds, the mapping to Kubernetes Status and back, context.
#include "base/error.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace baton {
namespace {

struct KindCase {
  ErrorKind kind;
  std::string_view name;
  int code;
  std::string_view reason;
};

// What a Kubernetes client sees for each kind.
const std::vector<KindCase> kKindCases = {
    {ErrorKind::kInvalid, "invalid", 400, "BadRequest"},
    {ErrorKind::kNotFound, "not_found", 404, "NotFound"},
    {ErrorKind::kAlreadyExists, "already_exists", 409, "AlreadyExists"},
    {ErrorKind::kConflict, "conflict", 409, "Conflict"},
    {ErrorKind::kGone, "gone", 410, "Expired"},
    {ErrorKind::kUnauthorized, "unauthorized", 401, "Unauthorized"},
    {ErrorKind::kForbidden, "forbidden", 403, "Forbidden"},
    {ErrorKind::kTooLarge, "too_large", 413, "RequestEntityTooLarge"},
    {ErrorKind::kThrottled, "throttled", 429, "TooManyRequests"},
    {ErrorKind::kUnavailable, "unavailable", 503, "ServiceUnavailable"},
    {ErrorKind::kDeadlineExceeded, "deadline_exceeded", 504, "Timeout"},
    {ErrorKind::kCancelled, "cancelled", 499, ""},
    {ErrorKind::kUnsupported, "unsupported", 501, "MethodNotAllowed"},
    {ErrorKind::kNoSpace, "no_space", 507, "InsufficientStorage"},
    {ErrorKind::kCorrupt, "corrupt", 500, "InternalError"},
    {ErrorKind::kInternal, "internal", 500, "InternalError"},
};

ErrorKind KindFrom(int code, std::string_view reason) {
  Status status;
  status.code = code;
  status.reason = reason;
  return Error::FromStatus(status, "m").kind();
}

TEST(ErrorTest, EveryKindHasItsNameCodeAndReason) {
  ASSERT_EQ(kKindCases.size(), static_cast<size_t>(ErrorKind::kInternal) + 1);
  std::set<std::string_view> names;
  for (const KindCase& row : kKindCases) {
    EXPECT_EQ(ErrorKindName(row.kind), row.name);
    EXPECT_TRUE(names.insert(ErrorKindName(row.kind)).second) << row.name;
    const Status status = Error(row.kind, "m").ToStatus();
    EXPECT_EQ(status.code, row.code) << row.name;
    EXPECT_EQ(status.reason, row.reason) << row.name;
    EXPECT_EQ(status.retry_after_seconds, std::nullopt);
  }
}

TEST(ErrorTest, EveryKindSurvivesTheWayToAClientAndBack) {
  for (const KindCase& row : kKindCases) {
    // A peer cannot say that its data is corrupt: it is an internal error of the peer to us.
    const ErrorKind expected = row.kind == ErrorKind::kCorrupt ? ErrorKind::kInternal : row.kind;
    EXPECT_EQ(Error::FromStatus(Error(row.kind, "m").ToStatus(), "m").kind(), expected) << row.name;
  }
}

TEST(ErrorTest, KnowsTheReasonsOfKubernetes) {
  const std::vector<std::tuple<int, std::string_view, ErrorKind>> cases = {
      {401, "Unauthorized", ErrorKind::kUnauthorized},
      {403, "Forbidden", ErrorKind::kForbidden},
      {404, "NotFound", ErrorKind::kNotFound},
      {409, "AlreadyExists", ErrorKind::kAlreadyExists},
      {409, "Conflict", ErrorKind::kConflict},
      {410, "Gone", ErrorKind::kGone},
      {410, "Expired", ErrorKind::kGone},
      {422, "Invalid", ErrorKind::kInvalid},
      {500, "ServerTimeout", ErrorKind::kUnavailable},
      {500, "StorageReadError", ErrorKind::kUnavailable},
      {504, "Timeout", ErrorKind::kDeadlineExceeded},
      {429, "TooManyRequests", ErrorKind::kThrottled},
      {400, "BadRequest", ErrorKind::kInvalid},
      {405, "MethodNotAllowed", ErrorKind::kUnsupported},
      {406, "NotAcceptable", ErrorKind::kUnsupported},
      {413, "RequestEntityTooLarge", ErrorKind::kTooLarge},
      {415, "UnsupportedMediaType", ErrorKind::kUnsupported},
      {500, "InternalError", ErrorKind::kInternal},
      {503, "ServiceUnavailable", ErrorKind::kUnavailable},
      {500, "NotFound", ErrorKind::kNotFound},  // the reason is finer than the code
  };
  for (const auto& [code, reason, kind] : cases) EXPECT_EQ(KindFrom(code, reason), kind) << code << " " << reason;
}

TEST(ErrorTest, FallsBackToTheCodeWhenTheReasonSaysNothing) {
  const std::vector<std::pair<int, ErrorKind>> cases = {
      {400, ErrorKind::kInvalid},     {401, ErrorKind::kUnauthorized},     {403, ErrorKind::kForbidden},
      {404, ErrorKind::kNotFound},    {405, ErrorKind::kUnsupported},      {406, ErrorKind::kUnsupported},
      {408, ErrorKind::kUnavailable}, {409, ErrorKind::kConflict},         {410, ErrorKind::kGone},
      {413, ErrorKind::kTooLarge},    {415, ErrorKind::kUnsupported},      {418, ErrorKind::kInvalid},
      {422, ErrorKind::kInvalid},     {429, ErrorKind::kThrottled},        {499, ErrorKind::kCancelled},
      {500, ErrorKind::kInternal},    {501, ErrorKind::kUnsupported},      {502, ErrorKind::kUnavailable},
      {503, ErrorKind::kUnavailable}, {504, ErrorKind::kDeadlineExceeded}, {507, ErrorKind::kNoSpace},
      {599, ErrorKind::kInternal},    {200, ErrorKind::kInternal},         {0, ErrorKind::kInternal},
      {-1, ErrorKind::kInternal},
  };
  for (const auto& [code, kind] : cases) {
    for (const std::string_view reason : {"", "Unknown", "SomethingNew"}) {
      EXPECT_EQ(KindFrom(code, reason), kind) << code << " '" << reason << "'";
    }
  }
}

TEST(ErrorTest, TakesA409WithoutReasonForAConflictAndNeverForAnObjectThatIsOurs) {
  EXPECT_EQ(KindFrom(409, ""), ErrorKind::kConflict);
}

TEST(ErrorTest, KeepsTheStatusItCameWithExactly) {
  Status status;
  status.code = 429;
  status.reason = "TooManyRequests";
  status.name = "nginx";
  status.group = "apps";
  status.kind = "deployments";
  status.uid = "u";
  status.causes = {{"DisruptionBudget", "needs 2 healthy pods", "spec"}};
  status.retry_after_seconds = 10;
  const Error error = Error::FromStatus(status, "too many").Context("evicting").Context("moving");
  EXPECT_EQ(error.message(), "moving: evicting: too many");
  ASSERT_NE(error.status(), nullptr);
  EXPECT_EQ(*error.status(), status);
  EXPECT_EQ(error.ToStatus(), status);
  EXPECT_EQ(error.retry_after_seconds(), 10);
  EXPECT_EQ(error.ToString(), "throttled: moving: evicting: too many");
}

TEST(ErrorTest, AnErrorOfOursHasNoStatus) {
  const Error error = NotFoundError("no cluster 'blue'");
  EXPECT_EQ(error.status(), nullptr);
  EXPECT_EQ(error.retry_after_seconds(), std::nullopt);
  EXPECT_EQ(error.ToString(), "not_found: no cluster 'blue'");
}

TEST(ErrorTest, ContextLeavesTheOriginalAlone) {
  const Error error = InvalidError("bad");
  EXPECT_EQ(error.Context("here").message(), "here: bad");
  EXPECT_EQ(error.message(), "bad");
}

TEST(ErrorTest, EqualMeansSameKindMessageAndStatus) {
  Status status;
  status.code = 404;
  status.reason = "NotFound";
  const Error error = NotFoundError("m");
  EXPECT_EQ(error, Error(error));
  EXPECT_EQ(error, NotFoundError("m"));
  EXPECT_NE(error, NotFoundError("n"));
  EXPECT_NE(error, InvalidError("m"));
  EXPECT_NE(error, Error::FromStatus(status, "m"));
}

TEST(ErrorTest, TheShortMakersMakeTheirKind) {
  EXPECT_EQ(InvalidError("").kind(), ErrorKind::kInvalid);
  EXPECT_EQ(NotFoundError("").kind(), ErrorKind::kNotFound);
  EXPECT_EQ(AlreadyExistsError("").kind(), ErrorKind::kAlreadyExists);
  EXPECT_EQ(ConflictError("").kind(), ErrorKind::kConflict);
  EXPECT_EQ(TooLargeError("").kind(), ErrorKind::kTooLarge);
  EXPECT_EQ(UnavailableError("").kind(), ErrorKind::kUnavailable);
  EXPECT_EQ(DeadlineExceededError("").kind(), ErrorKind::kDeadlineExceeded);
  EXPECT_EQ(CancelledError("").kind(), ErrorKind::kCancelled);
  EXPECT_EQ(UnsupportedError("").kind(), ErrorKind::kUnsupported);
  EXPECT_EQ(CorruptError("").kind(), ErrorKind::kCorrupt);
  EXPECT_EQ(InternalError("").kind(), ErrorKind::kInternal);
}

}  // namespace
}  // namespace baton
