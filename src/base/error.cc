// Error's kinds, and their two-way mapping to Kubernetes Status reasons and HTTP codes.
#include "base/error.h"

#include <array>
#include <utility>

namespace baton {
namespace {

struct KindRow {
  ErrorKind kind;
  std::string_view name;
  int code;                 // the HTTP code we answer with
  std::string_view reason;  // the metav1.StatusReason we answer with
};

// One row per kind, in the order of the enum.
constexpr std::array<KindRow, 16> kKinds = {{
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
}};

constexpr const KindRow& Row(ErrorKind kind) { return kKinds[static_cast<size_t>(kind)]; }

consteval bool RowsFollowTheEnum() {
  for (size_t i = 0; i < kKinds.size(); ++i) {
    if (static_cast<size_t>(kKinds[i].kind) != i) return false;
  }
  return true;
}
static_assert(RowsFollowTheEnum());

// Reasons that Kubernetes gives and that none of our own kinds answers with.
constexpr std::array<std::pair<std::string_view, ErrorKind>, 6> kForeignReasons = {{
    {"Invalid", ErrorKind::kInvalid},
    {"Gone", ErrorKind::kGone},
    {"ServerTimeout", ErrorKind::kUnavailable},
    {"NotAcceptable", ErrorKind::kUnsupported},
    {"UnsupportedMediaType", ErrorKind::kUnsupported},
    {"StorageReadError", ErrorKind::kUnavailable},
}};

ErrorKind KindOf(const Status& status) {
  for (const KindRow& row : kKinds) {
    if (!row.reason.empty() && row.reason == status.reason && row.kind != ErrorKind::kCorrupt) return row.kind;
  }
  for (const auto& [reason, kind] : kForeignReasons) {
    if (reason == status.reason) return kind;
  }
  for (const KindRow& row : kKinds) {
    // 409 without a reason is a conflict: taking it for "already there" could make a caller adopt a foreign object.
    if (row.code == status.code && row.kind != ErrorKind::kAlreadyExists && row.kind != ErrorKind::kCorrupt)
      return row.kind;
  }
  if (status.code == 422) return ErrorKind::kInvalid;
  if (status.code == 405 || status.code == 406 || status.code == 415) return ErrorKind::kUnsupported;
  if (status.code == 408 || status.code == 502) return ErrorKind::kUnavailable;
  return status.code >= 400 && status.code < 500 ? ErrorKind::kInvalid : ErrorKind::kInternal;
}

}  // namespace

std::string_view ErrorKindName(ErrorKind kind) { return Row(kind).name; }

Error::Error(Rep rep) : rep_(std::make_shared<const Rep>(std::move(rep))) {}

Error::Error(ErrorKind kind, std::string message)
    : Error(Rep{.kind = kind, .message = std::move(message), .status = std::nullopt}) {}

Error Error::FromStatus(Status status, std::string message) {
  const ErrorKind kind = KindOf(status);
  return Error(Rep{.kind = kind, .message = std::move(message), .status = std::move(status)});
}

Status Error::ToStatus() const {
  if (rep_->status) return *rep_->status;
  Status status;
  status.code = Row(rep_->kind).code;
  status.reason = std::string(Row(rep_->kind).reason);
  return status;
}

std::optional<int32_t> Error::retry_after_seconds() const {
  return rep_->status ? rep_->status->retry_after_seconds : std::nullopt;
}

Error Error::Context(std::string_view what) const {
  Rep rep = *rep_;
  rep.message.insert(0, ": ").insert(0, what);
  return Error(std::move(rep));
}

std::string Error::ToString() const {
  std::string text(ErrorKindName(kind()));
  text.append(": ").append(message());
  return text;
}

Error InvalidError(std::string message) { return {ErrorKind::kInvalid, std::move(message)}; }
Error NotFoundError(std::string message) { return {ErrorKind::kNotFound, std::move(message)}; }
Error AlreadyExistsError(std::string message) { return {ErrorKind::kAlreadyExists, std::move(message)}; }
Error ConflictError(std::string message) { return {ErrorKind::kConflict, std::move(message)}; }
Error TooLargeError(std::string message) { return {ErrorKind::kTooLarge, std::move(message)}; }
Error UnavailableError(std::string message) { return {ErrorKind::kUnavailable, std::move(message)}; }
Error DeadlineExceededError(std::string message) { return {ErrorKind::kDeadlineExceeded, std::move(message)}; }
Error CancelledError(std::string message) { return {ErrorKind::kCancelled, std::move(message)}; }
Error UnsupportedError(std::string message) { return {ErrorKind::kUnsupported, std::move(message)}; }
Error CorruptError(std::string message) { return {ErrorKind::kCorrupt, std::move(message)}; }
Error InternalError(std::string message) { return {ErrorKind::kInternal, std::move(message)}; }

}  // namespace baton
