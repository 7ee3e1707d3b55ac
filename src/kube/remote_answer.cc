// A kube-apiserver's answers as values.
#include "kube/remote_answer.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/strings.h"
#include "json/parse.h"

namespace baton::kube {
namespace {

using json::Value;

constexpr std::string_view kInitialEventsEnd = "k8s.io/initial-events-end";
constexpr int32_t kRetryAfterMax = 24 * 3600;  // a server that asks for more is not believed

std::optional<int32_t> ReadRetryAfter(const net::Headers& headers) {
  const std::optional<std::string_view> text = headers.Get("retry-after");
  if (!text) return std::nullopt;
  int32_t value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc() || end != text->data() + text->size() || value < 0) return std::nullopt;
  return std::min(value, kRetryAfterMax);
}

// Only what kube-apiserver itself answered has one of these.
bool IsKubernetes(const net::Headers& headers) {
  return headers.Get("audit-id").has_value() || headers.Get("x-kubernetes-pf-flowschema-uid").has_value();
}

// A start of the text that can be shown in one line.
std::string Shown(std::string_view text) {
  text = Trim(text);
  const bool cut = text.size() > kShownBodyBytesMax;
  return StrCat(Quote(text.substr(0, kShownBodyBytesMax)), cut ? "..." : "");
}

Error ForeignError(const net::Response& response) {
  std::string message = StrCat("HTTP ", response.status, " ", net::StatusText(response.status));
  if (const auto location = response.headers.Get("location")) StrAppend(message, " to ", Quote(*location));
  if (!Trim(response.body).empty()) StrAppend(message, ": ", Shown(response.body));
  const bool kubernetes = IsKubernetes(response.headers);
  if (response.status == 404 && kubernetes) {
    // An API group that is not served: kube-apiserver's answer to that is plain text.
    Status status;
    status.code = 404;
    status.reason = "NotFound";
    return Error::FromStatus(std::move(status), "the server could not find the requested resource");
  }
  if ((response.status == 404 || response.status == 410) || response.status < 400) {
    return UnavailableError(StrCat(message, " (no Kubernetes API answers like that: is the server's address right?)"));
  }
  Status status;
  status.code = response.status;
  if (response.status == 429) status.reason = "TooManyRequests";
  if (response.status == 401) status.reason = "Unauthorized";
  status.retry_after_seconds = ReadRetryAfter(response.headers);
  return Error::FromStatus(std::move(status), std::move(message));
}

bool IsStatus(const Value& body) { return body["kind"].str() == "Status"; }

void NameType(const Resource& resource, Value& object) {
  if (!object.is_object()) return;
  if (!object.Has("kind")) object.Set("kind", resource.kind);
  if (!object.Has("apiVersion")) object.Set("apiVersion", resource.ApiVersion());
}

Result<Answer> ListAnswer(const Resource& resource, Value body) {
  Answer answer;
  answer.resource_version = body["metadata"]["resourceVersion"].str();
  answer.continue_token = body["metadata"]["continue"].str();
  const Value* found = body.Find("items");
  const bool is_list = body["kind"].str().ends_with("List");
  if (!is_list || (found != nullptr && !found->is_null() && !found->is_array())) {
    return UnavailableError(StrCat("the server answered a list of ", resource.ToString(), " with something else: kind ",
                                   Quote(body["kind"].str())));
  }
  Value items = body.Take("items");
  answer.items.reserve(items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    Value item = std::move(items.Edit(i));  // moved, so that naming its type copies nothing
    if (!item.is_object()) {
      return UnavailableError(StrCat("the server's list of ", resource.ToString(), " has an item that is no object"));
    }
    NameType(resource, item);
    answer.items.push_back(std::move(item));
  }
  return answer;
}

// The text of the quoted string that `text` begins with, and what is behind it; nothing when it has no end.
std::optional<std::string> TakeQuoted(std::string_view& text) {
  if (!text.starts_with('"')) return std::nullopt;
  std::string out;
  for (size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '"') {
      text.remove_prefix(i + 1);
      return out;
    }
    if (text[i] == '\\' && i + 1 < text.size()) ++i;
    out += text[i];
  }
  return std::nullopt;
}

}  // namespace

Error ErrorOfStatus(const Value& body, int code) {
  Status status;
  status.code = static_cast<int>(std::clamp<int64_t>(body["code"].int_or(code), 0, 999));
  status.reason = body["reason"].str();
  const Value& details = body["details"];
  status.name = details["name"].str();
  status.group = details["group"].str();
  status.kind = details["kind"].str();
  status.uid = details["uid"].str();
  for (const Value& cause : details["causes"].items()) {
    status.causes.push_back({.reason = std::string(cause["reason"].str()),
                             .message = std::string(cause["message"].str()),
                             .field = std::string(cause["field"].str())});
  }
  const int64_t retry_after = details["retryAfterSeconds"].int_or(0);
  if (retry_after > 0) {
    status.retry_after_seconds = static_cast<int32_t>(std::min<int64_t>(retry_after, kRetryAfterMax));
  }
  std::string message(body["message"].str());
  if (message.empty()) message = StrCat("HTTP ", status.code, " ", status.reason);
  return Error::FromStatus(std::move(status), std::move(message));
}

Error ErrorOf(const net::Response& response) {
  const Result<Value> body = json::Parse(response.body);
  if (!body.ok() || !IsStatus(*body)) return ForeignError(response);
  Error error = ErrorOfStatus(*body, response.status);
  const std::optional<int32_t> retry_after = ReadRetryAfter(response.headers);
  if (!retry_after || error.retry_after_seconds()) return error;
  Status status = *error.status();
  status.retry_after_seconds = retry_after;
  return Error::FromStatus(std::move(status), error.message());
}

std::vector<std::string> WarningsOf(const net::Headers& headers) {
  std::vector<std::string> warnings;
  for (const auto& [name, value] : headers.fields()) {
    if (name != "warning") continue;
    // 299 agent "text" ["date"], and more of them behind a comma.
    std::string_view rest = value;
    while (true) {
      const size_t quote = rest.find('"');
      if (quote == std::string_view::npos) break;
      const bool is_299 = Trim(rest.substr(0, quote)).starts_with("299 ");
      rest.remove_prefix(quote);
      std::optional<std::string> text = TakeQuoted(rest);
      if (!text) break;
      if (is_299) warnings.push_back(*std::move(text));
      const size_t comma = rest.find(',');
      if (comma == std::string_view::npos) break;
      rest.remove_prefix(comma + 1);
    }
  }
  return warnings;
}

Result<Value> BodyOf(const net::Response& response) {
  Result<Value> body = json::Parse(response.body);
  if (body.ok() && body->is_object()) return body;
  return UnavailableError(StrCat("HTTP ", response.status, " with a body that is no JSON object: ",
                                 Shown(response.body), " (is the server's address right?)"));
}

Result<Answer> AnswerOf(Verb verb, const Resource& resource, Value body) {
  if (verb == Verb::kList) return ListAnswer(resource, std::move(body));
  if (verb == Verb::kDeleteCollection && !IsStatus(body)) {
    Answer answer = TRY(ListAnswer(resource, std::move(body)));
    answer.resource_version.clear();
    answer.continue_token.clear();
    return answer;
  }
  Answer answer;
  answer.object = std::move(body);
  return answer;
}

Result<Change> WatchDecoder::Decode(std::string_view line) const {
  Result<Value> parsed = json::Parse(line);
  if (!parsed.ok()) {
    return UnavailableError(
        StrCat("a watch of ", resource_.ToString(), " has a line that is no JSON: ", parsed.error().message()));
  }
  const std::string type(parsed.value()["type"].str());
  Value object = parsed->Take("object");
  if (type == "ERROR") return ErrorOfStatus(object, 500);
  Change change;
  if (type == "ADDED") {
    change.type = ChangeType::kAdded;
  } else if (type == "MODIFIED") {
    change.type = ChangeType::kModified;
  } else if (type == "DELETED") {
    change.type = ChangeType::kDeleted;
  } else if (type == "BOOKMARK") {
    change.type = ChangeType::kBookmark;
    change.initial_events_end = object["metadata"]["annotations"][kInitialEventsEnd].str() == "true";
  } else {
    return UnavailableError(StrCat("a watch of ", resource_.ToString(), " has an event of unknown type ", Quote(type)));
  }
  if (!object.is_object()) {
    return UnavailableError(StrCat("a watch of ", resource_.ToString(), " has an event without an object"));
  }
  NameType(resource_, object);
  change.object = std::move(object);
  return change;
}

std::vector<Change> WatchDecoder::Add(std::string_view piece) {
  std::vector<Change> changes;
  while (!failed_ && !piece.empty()) {
    const size_t end = piece.find('\n');
    const std::string_view part = piece.substr(0, end);
    if (rest_.size() + part.size() > kWatchLineBytesMax) {
      failed_ = TooLargeError(
          StrCat("a watch of ", resource_.ToString(), " has a line of more than ", kWatchLineBytesMax, " bytes"));
      break;
    }
    if (end == std::string_view::npos) {
      rest_.append(part);
      break;
    }
    piece.remove_prefix(end + 1);
    std::string whole;
    std::string_view line = part;
    if (!rest_.empty()) {
      whole = std::exchange(rest_, {}).append(part);
      line = whole;
    }
    if (Trim(line).empty()) continue;
    Result<Change> change = Decode(line);
    if (change.ok()) {
      changes.push_back(*std::move(change));
    } else {
      failed_ = std::move(change).error();
    }
  }
  return changes;
}

}  // namespace baton::kube
