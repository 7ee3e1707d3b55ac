// Internal to net: HTTP/1.x messages, requests and responses, parsed strictly as the bytes come.
//
//   Http1Parser parser(Http1Parser::Kind::kRequest, limits);
//   input.remove_prefix(parser.Feed(input));     // again when more has come
//   if (parser.failed()) answer parser.problem();
//   if (parser.done()) use parser.method(), parser.target(), parser.headers(), parser.TakeBody()
//
// Strict where leniency lets two parties see different messages in the same bytes: lines end in CRLF, a field name is
// followed by its colon at once, no folded lines, one content-length in digits only, a transfer-encoding is "chunked"
// and nothing else, never both. Trailers are checked and thrown away.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "net/http.h"

namespace baton::net {

class Http1Parser {
 public:
  enum class Kind : uint8_t { kRequest, kResponse };

  // What is wrong with the message, and the status that a server answers.
  struct Problem {
    int status = 0;
    std::string_view why;
  };

  Http1Parser(Kind kind, const HttpLimits& limits);

  // A response to a HEAD request has a head only. Before the first Feed.
  void ExpectNoBody() { no_body_ = true; }

  // Uses up a prefix of `input` and returns its length. The rest is to be offered again with more bytes behind it.
  // Stops behind the head once, so that its caller can decide on the body, and behind the message.
  size_t Feed(std::string_view input);

  // The connection ended cleanly. That ends a response without a length, and is a problem for anything else.
  void End();

  bool head_done() const { return state_ > State::kFields; }
  bool done() const { return state_ == State::kDone; }
  bool failed() const { return problem_.status != 0; }
  const Problem& problem() const { return problem_; }
  bool started() const { return started_; }  // something of the message was seen

  // ---- with the head ----
  std::string& method() { return method_; }
  std::string& target() { return target_; }  // in origin form ("/path?query") or "*"
  int status() const { return status_; }
  Headers& headers() { return headers_; }
  const Headers& headers() const { return headers_; }
  bool http10() const { return minor_version_ == 0; }
  bool keep_alive() const { return keep_alive_; }
  bool expects_continue() const { return expects_continue_; }
  bool has_body() const { return state_ != State::kDone; }  // right behind the head

  // The body's bytes since the last call.
  std::string TakeBody() { return std::exchange(body_, {}); }
  size_t body_bytes() const { return body_bytes_; }  // so far, in all

 private:
  enum class State : uint8_t {
    kStartLine,
    kFields,
    kBody,  // remaining_ bytes
    kChunkSize,
    kChunkData,  // remaining_ bytes, then CRLF
    kChunkEnd,
    kTrailers,
    kBodyUntilClose,
    kDone,
  };

  std::optional<std::string_view> TakeLine(std::string_view& input, size_t bytes_max, Problem too_long);
  bool ParseLine(std::string_view line);  // false: failed
  bool ParseRequestLine(std::string_view line);
  bool ParseTarget(std::string_view target);
  bool ParseStatusLine(std::string_view line);
  bool ParseVersion(std::string_view version);
  bool ParseField(std::string_view line);
  bool ParseChunkSize(std::string_view line);
  bool NoteFraming(std::string_view name, std::string_view value);
  bool FinishHead();
  bool FinishRequestHead();
  bool Fail(int status, std::string_view why);
  void TakeBodyBytes(std::string_view& input);
  size_t LineBytesMax() const;
  Problem LineTooLong() const;

  const HttpLimits& limits_;
  Kind kind_;
  State state_ = State::kStartLine;
  Problem problem_;
  bool started_ = false;
  bool no_body_ = false;
  bool keep_alive_ = true;
  bool keep_alive_asked_ = false;
  bool close_asked_ = false;
  bool chunked_ = false;
  bool expects_continue_ = false;
  uint8_t hosts_ = 0;  // 2: more than one
  int minor_version_ = 1;
  int status_ = 0;
  size_t blank_lines_ = 0;  // before the start line
  size_t scanned_ = 0;      // of the unfinished line, known to have no line end
  size_t field_bytes_ = 0;
  size_t field_count_ = 0;
  size_t chunk_overhead_ = 0;
  std::optional<uint64_t> content_length_;
  uint64_t remaining_ = 0;
  size_t body_bytes_ = 0;
  std::string method_;
  std::string target_;
  std::string absolute_host_;  // of a target in absolute form
  Headers headers_;
  std::string body_;
};

}  // namespace baton::net
