// Error: what went wrong, as a value.
//
// An Error is cheap to copy and never empty. It has a kind (for code to branch on), a message (for a person: what, why,
// and the next command where there is one) and, when it came from a Kubernetes API, the Status it came with: HTTP code,
// reason, details and retry-after are kept exactly and can be sent on unchanged.
//
//   return NotFoundError(StrCat("no cluster '", name, "': `baton get clusters` lists them"));
//   return std::move(error).Context("reading kubeconfig");     // "reading kubeconfig: <message>"
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace baton {

// The classes of failure that callers tell apart. Anything finer is in the Status or the message.
enum class ErrorKind : uint8_t {
  kInvalid,           // the input is wrong; the same call fails again
  kNotFound,          // the named thing is not there
  kAlreadyExists,     // the name is taken
  kConflict,          // the precondition (version, uid) does not hold: decide again, never retry blindly
  kGone,              // that revision or continue token has been compacted: list again
  kUnauthorized,      // who are you
  kForbidden,         // you may not
  kTooLarge,          // a named limit was passed
  kThrottled,         // later; see RetryAfter()
  kUnavailable,       // the other side is unreachable or not ready; nothing is known about the outcome
  kDeadlineExceeded,  // our own deadline passed; nothing is known about the outcome
  kCancelled,         // the caller no longer wants the answer
  kUnsupported,       // valid, but not something Baton does
  kNoSpace,           // the disk is full
  kCorrupt,           // stored data is not what was written
  kInternal,          // a bug of ours, or of the other side
};

// Lower-case words for logs and metrics: "not_found".
std::string_view ErrorKindName(ErrorKind kind);

// metav1.StatusCause: one reason among several, with the field it concerns.
struct StatusCause {
  std::string reason;  // "FieldValueInvalid"
  std::string message;
  std::string field;  // "spec.replicas"

  friend bool operator==(const StatusCause&, const StatusCause&) = default;
};

// The parts of metav1.Status beyond its message. Empty strings are absent fields.
struct Status {
  int code = 500;      // HTTP
  std::string reason;  // metav1.StatusReason: "NotFound", "Conflict", "Expired", ...
  std::string name;    // details.*
  std::string group;
  std::string kind;
  std::string uid;
  std::vector<StatusCause> causes;
  std::optional<int32_t> retry_after_seconds;

  friend bool operator==(const Status&, const Status&) = default;
};

class [[nodiscard]] Error {
 public:
  Error(ErrorKind kind, std::string message);

  // From a Kubernetes answer: the kind follows from the reason, or from the code when the reason is unknown.
  static Error FromStatus(Status status, std::string message);

  ErrorKind kind() const { return rep_->kind; }
  const std::string& message() const { return rep_->message; }

  // Null when the error did not come from a Kubernetes API.
  const Status* status() const { return rep_->status ? &*rep_->status : nullptr; }

  // The Status to answer a Kubernetes client with: the kept one, or one made from the kind.
  Status ToStatus() const;

  std::optional<int32_t> retry_after_seconds() const;

  // The same error with "what: " in front of its message; kind and Status stay.
  Error Context(std::string_view what) const;

  // "not_found: no cluster 'blue'", for logs and test output.
  std::string ToString() const;

  friend bool operator==(const Error& a, const Error& b) {
    return a.rep_ == b.rep_ ||
           (a.rep_->kind == b.rep_->kind && a.rep_->message == b.rep_->message && a.rep_->status == b.rep_->status);
  }

 private:
  struct Rep {
    ErrorKind kind;
    std::string message;
    std::optional<Status> status;
  };
  explicit Error(Rep rep);

  std::shared_ptr<const Rep> rep_;  // never null except in a moved-from Error, which may only be destroyed or assigned
};

Error InvalidError(std::string message);
Error NotFoundError(std::string message);
Error AlreadyExistsError(std::string message);
Error ConflictError(std::string message);
Error TooLargeError(std::string message);
Error UnavailableError(std::string message);
Error DeadlineExceededError(std::string message);
Error CancelledError(std::string message);
Error UnsupportedError(std::string message);
Error CorruptError(std::string message);
Error InternalError(std::string message);

}  // namespace baton
