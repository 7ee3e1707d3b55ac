// HTTP/1.x parsing: lines, fields, framing, bodies.
#include "net/http1_parser.h"

#include <algorithm>
#include <charconv>

#include "net/http_syntax.h"

namespace baton::net {
namespace {

constexpr size_t kBlankLinesMax = 2;  // before a request line: old clients send one
constexpr size_t kMethodBytesMax = 32;
constexpr size_t kChunkLineBytesMax = 256;                // a size and its extensions
constexpr size_t kChunkOverheadMax = size_t{16} << 10;    // all extensions of one message
constexpr size_t kBodyReserveMax = size_t{16} << 10;      // set aside because a peer says so
constexpr size_t kStartLineExtra = kMethodBytesMax + 16;  // beside the target: method, blanks, version, line end

}  // namespace

Http1Parser::Http1Parser(Kind kind, const HttpLimits& limits) : limits_(limits), kind_(kind) {}

bool Http1Parser::Fail(int status, std::string_view why) {
  if (problem_.status == 0) problem_ = {status, why};
  return false;
}

size_t Http1Parser::Feed(std::string_view input) {
  const size_t offered = input.size();
  const bool was_in_head = !head_done();
  started_ = started_ || offered > 0;
  while (!input.empty() && !failed() && !done()) {
    if (was_in_head && head_done()) break;
    if (state_ == State::kBody || state_ == State::kChunkData || state_ == State::kBodyUntilClose) {
      TakeBodyBytes(input);
      continue;
    }
    const std::optional<std::string_view> line = TakeLine(input, LineBytesMax(), LineTooLong());
    if (!line || !ParseLine(*line)) break;
  }
  return offered - input.size();
}

void Http1Parser::End() {
  if (state_ == State::kBodyUntilClose) {
    state_ = State::kDone;
  } else if (!done()) {
    Fail(400, "the connection ended in the middle of a message");
  }
}

// ---- lines ----

size_t Http1Parser::LineBytesMax() const {
  switch (state_) {
    case State::kStartLine:
      return kind_ == Kind::kRequest ? limits_.target_bytes_max + kStartLineExtra : limits_.header_bytes_max;
    case State::kChunkSize:
    case State::kChunkEnd:
      return kChunkLineBytesMax;
    default:
      return limits_.header_bytes_max - std::min(limits_.header_bytes_max, field_bytes_) + 2;  // the blank line
  }
}

Http1Parser::Problem Http1Parser::LineTooLong() const {
  switch (state_) {
    case State::kStartLine:
      return {414, "the request line is too long"};
    case State::kChunkSize:
    case State::kChunkEnd:
      return {400, "a chunk's size line is too long"};
    default:
      return {431, "the header fields are too large"};
  }
}

// The next line without its end; none when it is not complete yet, or too long.
std::optional<std::string_view> Http1Parser::TakeLine(std::string_view& input, size_t bytes_max, Problem too_long) {
  if (state_ == State::kStartLine && scanned_ == 0 && !IsTokenCharacter(input.front()) && input.front() != '\r') {
    Fail(400, "not HTTP");  // at once: most likely a TLS handshake on a plain port, which has no line end to wait for
    return std::nullopt;
  }
  const size_t end = input.find('\n', scanned_);
  if (std::min(end, input.size()) > bytes_max) {
    Fail(too_long.status, too_long.why);
    return std::nullopt;
  }
  if (end == std::string_view::npos) {
    scanned_ = input.size();
    return std::nullopt;
  }
  scanned_ = 0;
  if (end == 0 || input[end - 1] != '\r') {
    Fail(400, "a line that does not end in CRLF");
    return std::nullopt;
  }
  const std::string_view line = input.substr(0, end - 1);
  input.remove_prefix(end + 1);
  return line;
}

bool Http1Parser::ParseLine(std::string_view line) {
  switch (state_) {
    case State::kStartLine:
      if (line.empty()) return ++blank_lines_ <= kBlankLinesMax || Fail(400, "no request line");
      state_ = State::kFields;
      return kind_ == Kind::kRequest ? ParseRequestLine(line) : ParseStatusLine(line);
    case State::kFields:
    case State::kTrailers:
      if (!line.empty()) return ParseField(line);
      if (state_ == State::kFields) return FinishHead();
      state_ = State::kDone;
      return true;
    case State::kChunkSize:
      return ParseChunkSize(line);
    default:  // kChunkEnd
      if (!line.empty()) return Fail(400, "a chunk is longer than it said");
      state_ = State::kChunkSize;
      return true;
  }
}

bool Http1Parser::ParseRequestLine(std::string_view line) {
  const size_t first = line.find(' ');
  const size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) return Fail(400, "a malformed request line");
  const std::string_view method = line.substr(0, first);
  if (!IsToken(method) || method.size() > kMethodBytesMax) return Fail(400, "a malformed method");
  method_ = method;
  return ParseVersion(line.substr(last + 1)) && ParseTarget(line.substr(first + 1, last - first - 1));
}

bool Http1Parser::ParseVersion(std::string_view version) {
  if (version == "HTTP/1.1" || version == "HTTP/1.0") {
    minor_version_ = version.back() - '0';
    return true;
  }
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  const bool other = version.size() == 8 && version.starts_with("HTTP/") && digit(version[5]) && version[6] == '.' &&
                     digit(version[7]);
  return other ? Fail(505, "only HTTP/1.0, HTTP/1.1 and HTTP/2 are spoken here")
               : Fail(400, "a malformed HTTP version");
}

// Absolute form ("http://host/path", as sent to a proxy) becomes origin form; its host counts, not the field's.
bool Http1Parser::ParseTarget(std::string_view target) {
  if (target.size() > limits_.target_bytes_max) return Fail(414, "the request's target is too long");
  if (method_ == "CONNECT") return Fail(501, "CONNECT is not supported");
  if (target.empty() || !IsTargetText(target)) return Fail(400, "a malformed target");
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!EqualNoCase(target.substr(0, scheme.size()), scheme)) continue;
    target.remove_prefix(scheme.size());
    const size_t end = std::min(target.find_first_of("/?"), target.size());
    absolute_host_ = target.substr(0, end);
    target.remove_prefix(end);
    if (absolute_host_.empty() || absolute_host_.find('@') != std::string::npos) {
      return Fail(400, "a malformed target");
    }
    if (!target.starts_with('/')) target_ = "/";
    target_ += target;
    return true;
  }
  if (!target.starts_with('/') && !(target == "*" && method_ == "OPTIONS")) return Fail(400, "a malformed target");
  target_ = target;
  return true;
}

bool Http1Parser::ParseStatusLine(std::string_view line) {
  constexpr size_t kVersionBytes = 8;
  if (line.size() < kVersionBytes + 4 || line[kVersionBytes] != ' ') return Fail(400, "a malformed status line");
  if (!ParseVersion(line.substr(0, kVersionBytes))) return false;
  for (size_t i = kVersionBytes + 1; i < kVersionBytes + 4; ++i) {
    if (line[i] < '0' || line[i] > '9') return Fail(400, "a malformed status");
    status_ = status_ * 10 + (line[i] - '0');
  }
  const std::string_view reason = line.substr(kVersionBytes + 4);
  if (status_ < 100 || (!reason.empty() && reason.front() != ' ') || !IsFieldText(reason)) {
    return Fail(400, "a malformed status line");
  }
  return true;
}

// ---- fields ----

bool Http1Parser::ParseField(std::string_view line) {
  field_bytes_ += line.size() + 2;
  if (field_bytes_ > limits_.header_bytes_max) return Fail(431, "the header fields are too large");
  if (++field_count_ > limits_.header_count_max) return Fail(431, "too many header fields");
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos || !IsToken(line.substr(0, colon))) return Fail(400, "a malformed header field");
  const std::string_view name = line.substr(0, colon);
  const std::string_view value = TrimBlanks(line.substr(colon + 1));
  if (!IsFieldText(value)) return Fail(400, "a malformed header field");
  if (state_ == State::kTrailers) return true;
  headers_.Add(name, value);
  return NoteFraming(headers_.fields().back().first, value);
}

bool Http1Parser::NoteFraming(std::string_view name, std::string_view value) {
  if (name == "content-length") {
    uint64_t length = 0;
    const char* end = value.data() + value.size();
    const auto [stop, error] = std::from_chars(value.data(), end, length);
    if (value.empty() || error != std::errc() || stop != end) return Fail(400, "a malformed content-length");
    if (content_length_) return Fail(400, "more than one content-length");
    content_length_ = length;
  } else if (name == "transfer-encoding") {
    if (chunked_ || !EqualNoCase(value, "chunked")) return Fail(501, "a transfer-encoding other than chunked");
    chunked_ = true;
  } else if (name == "connection") {
    ForEachInList(value, [this](std::string_view option) {
      close_asked_ = close_asked_ || EqualNoCase(option, "close");
      keep_alive_asked_ = keep_alive_asked_ || EqualNoCase(option, "keep-alive");
    });
  } else if (name == "host") {
    hosts_ = hosts_ == 0 ? 1 : 2;
  } else if (name == "expect") {
    expects_continue_ = EqualNoCase(value, "100-continue");
  }
  return true;
}

bool Http1Parser::FinishHead() {
  keep_alive_ = !close_asked_ && (!http10() || keep_alive_asked_);
  if (chunked_ && content_length_) return Fail(400, "both transfer-encoding and content-length");
  if (chunked_ && http10()) return Fail(400, "a transfer-encoding in HTTP/1.0");
  if (kind_ == Kind::kRequest && !FinishRequestHead()) return false;
  remaining_ = content_length_.value_or(0);
  const bool bodiless = no_body_ || (kind_ == Kind::kResponse && (status_ < 200 || status_ == 204 || status_ == 304));
  const bool empty = !chunked_ && (content_length_ ? *content_length_ == 0 : kind_ == Kind::kRequest);
  if (bodiless || empty) {
    state_ = State::kDone;
  } else if (chunked_) {
    state_ = State::kChunkSize;
  } else if (!content_length_) {
    state_ = State::kBodyUntilClose;
    keep_alive_ = false;
  } else {
    state_ = State::kBody;
    body_.reserve(std::min<uint64_t>(remaining_, kBodyReserveMax));
  }
  expects_continue_ = expects_continue_ && !http10() && !done();
  return true;
}

bool Http1Parser::FinishRequestHead() {
  if (hosts_ > 1) return Fail(400, "more than one host");
  if (hosts_ == 0 && !http10()) return Fail(400, "no host");
  if (!absolute_host_.empty()) headers_.Set("host", absolute_host_);
  if (content_length_.value_or(0) > limits_.body_bytes_max) return Fail(413, "the request's body is too large");
  return true;
}

// ---- bodies ----

bool Http1Parser::ParseChunkSize(std::string_view line) {
  constexpr size_t kDigitsMax = 15;  // below 2^60: no sum of sizes overflows
  uint64_t size = 0;
  const auto [stop, error] = std::from_chars(line.data(), line.data() + line.size(), size, 16);
  const size_t digits = static_cast<size_t>(stop - line.data());
  if (error != std::errc() || digits > kDigitsMax) return Fail(400, "a malformed chunk size");
  const std::string_view rest = TrimBlanks(line.substr(digits));
  if ((!rest.empty() && rest.front() != ';') || !IsFieldText(rest)) return Fail(400, "a malformed chunk size");
  chunk_overhead_ += line.size() - digits;
  if (chunk_overhead_ > kChunkOverheadMax) return Fail(400, "too many chunk extensions");
  if (kind_ == Kind::kRequest && size > limits_.body_bytes_max - body_bytes_) {
    return Fail(413, "the request's body is too large");
  }
  remaining_ = size;
  state_ = size == 0 ? State::kTrailers : State::kChunkData;
  return true;
}

void Http1Parser::TakeBodyBytes(std::string_view& input) {
  const bool until_close = state_ == State::kBodyUntilClose;
  const size_t count = until_close ? input.size() : std::min<uint64_t>(input.size(), remaining_);
  body_.append(input.substr(0, count));
  body_bytes_ += count;
  input.remove_prefix(count);
  if (until_close) return;
  remaining_ -= count;
  if (remaining_ == 0) state_ = state_ == State::kBody ? State::kDone : State::kChunkEnd;
}

}  // namespace baton::net
