// Internal to kube: what a kube-apiserver answered, as values: answers, Status errors, warnings, the lines of a watch.
//
// An answer that is not Kubernetes' own (a login page, a load balancer's 404) is kUnavailable, never "not found" and
// never "an empty list": nobody may conclude from it that something is gone.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/value.h"
#include "kube/api.h"
#include "net/http.h"

namespace baton::kube {

inline constexpr size_t kWatchLineBytesMax = size_t{16} << 20;  // one event; objects have at most some 3 MiB
inline constexpr size_t kShownBodyBytesMax = 512;               // of an answer that is no Status, in the error

// Of an answer that is no success.
Error ErrorOf(const net::Response& response);
// Of a metav1.Status, which may be inside a watch event; `code` is HTTP's, for one that has none.
Error ErrorOfStatus(const json::Value& status, int code);

// The texts of `Warning: 299 - "text"` headers.
std::vector<std::string> WarningsOf(const net::Headers& headers);

// The parsed body of a success.
Result<json::Value> BodyOf(const net::Response& response);

// `body` is BodyOf(response).
Result<Answer> AnswerOf(Verb verb, const Resource& resource, json::Value body);

// A watch's stream, in pieces of any size.
class WatchDecoder {
 public:
  explicit WatchDecoder(Resource resource) : resource_(std::move(resource)) {}

  // The changes of the lines that are complete now. After an error nothing more comes: changes before it in the same
  // piece are given first, then failed() has it.
  std::vector<Change> Add(std::string_view piece);
  const std::optional<Error>& failed() const { return failed_; }
  bool inside_line() const { return !rest_.empty(); }

 private:
  Result<Change> Decode(std::string_view line) const;

  Resource resource_;
  std::string rest_;  // of a line that has not ended
  std::optional<Error> failed_;
};

}  // namespace baton::kube
