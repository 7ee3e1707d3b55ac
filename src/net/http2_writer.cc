// Answers in HTTP/2.
#include "net/http2_writer.h"

#include <array>
#include <charconv>
#include <utility>
#include <vector>

#include "base/strings.h"

namespace baton::net {
namespace {

// Fields whose value is another one in every answer. They are not put into the table that HPACK keeps: there they would
// only push out those that come again, and nghttp2 looks through all of one name for each answer.
bool NeverComesAgain(std::string_view name) { return name == "audit-id"; }

}  // namespace

Result<void> Http2Writer::Submit(int status, const Headers& headers, bool with_body,
                                 std::optional<size_t> content_length) {
  INVARIANT(!stream_.answered, "one answer per request");
  stream_.answered = true;
  if (stream_.closed) return UnavailableError("the client went away");
  std::array<char, 24> numbers;
  char* const end = numbers.data() + numbers.size();
  char* const status_end = std::to_chars(numbers.data(), end, status).ptr;
  std::vector<nghttp2_nv> list;
  list.reserve(headers.fields().size() + 3);
  list.push_back(MakeNv(":status", {numbers.data(), status_end}));
  bool dated = false;
  for (const auto& [name, value] : headers.fields()) {
    if (IsConnectionSpecific(name) || name == "content-length" || !Headers::ValidField(name, value)) continue;
    dated = dated || name == "date";
    list.push_back(MakeNv(name, value));
    if (NeverComesAgain(name)) list.back().flags |= NGHTTP2_NV_FLAG_NO_INDEX;
  }
  if (!dated) list.push_back(MakeNv("date", session_.DateText()));
  if (content_length) {
    list.push_back(MakeNv("content-length", {status_end, std::to_chars(status_end, end, *content_length).ptr}));
  }
  const int failed = port_.SubmitAnswer(id_, list, with_body);
  if (failed != 0) return UnavailableError(StrCat("HTTP/2 error: ", nghttp2_strerror(failed)));
  return {};
}

rt::Task<Result<void>> Http2Writer::Send(int status, Headers headers, Body body) {
  const bool has_body = HasBody(stream_.head_request, status);
  const bool compress = stream_.accepts_gzip && WorthCompressing(headers, body);
  if (has_body && compress) {
    stream_.sender.Expect(body.size());
    co_await Compress(session_.loop, headers, body);
  }
  std::optional<size_t> length;
  if (has_body || (stream_.head_request && !compress)) length = body.size();
  const bool sends_body = has_body && body.size() > 0;
  stream_.sender.finished = true;
  if (sends_body) stream_.sender.Add(std::move(body));
  co_return Submit(status, headers, sends_body, length);
}

rt::Task<Result<void>> Http2Writer::Start(int status, Headers headers) {
  body_allowed_ = HasBody(stream_.head_request, status);
  stream_.sender.finished = !body_allowed_;
  co_return Submit(status, headers, body_allowed_, std::nullopt);
}

// A stream with nothing queued may always queue a chunk: so no stream waits for another one, and what many streams of a
// client that reads none of them can make the server hold is bounded.
bool Http2Writer::MayQueue() const {
  const HttpLimits& limits = session_.options.limits;
  const size_t own = stream_.sender.queued_bytes();
  return own == 0 || (own <= limits.write_buffer_bytes_max && port_.queued_bytes() <= limits.write_buffers_bytes_max);
}

// Waits while too much is queued. A client that takes nothing for too long loses the stream (ResetStuckStreams).
rt::Task<Result<void>> Http2Writer::Write(Body chunk) {
  INVARIANT(stream_.answered, "Write comes after Start");
  if (!body_allowed_ || chunk.size() == 0) co_return Result<void>();
  INVARIANT(!stream_.sender.finished, "Write comes before Finish");
  while (!MayQueue() && !stream_.closed) {
    static_cast<void>(co_await stream_.sender.drained.Wait());
  }
  if (stream_.closed) co_return UnavailableError("the client went away");
  stream_.sender.Add(std::move(chunk));
  port_.MoreToSend(id_, stream_.sender);
  co_return Result<void>();
}

rt::Task<Result<void>> Http2Writer::Finish() {
  INVARIANT(stream_.answered, "Finish comes after Start");
  if (!std::exchange(stream_.sender.finished, true)) port_.MoreToSend(id_, stream_.sender);
  co_return Result<void>();
}

}  // namespace baton::net
