// Answers in HTTP/1.x.
#include "net/http1_writer.h"

#include <array>
#include <charconv>

#include "base/strings.h"
#include "net/http_syntax.h"

namespace baton::net {
namespace {

constexpr size_t kBatchBytes = size_t{64}
                               << 10;  // pieces are joined up to this, so that each is not a write of its own
constexpr size_t kHeadReserve = 512;

std::string HexSize(size_t size) {
  std::array<char, 16> text;
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), size, 16).ptr};
}

// Fields that say how the message is framed: ours to set, not the handler's.
bool IsFraming(std::string_view name) {
  return name == "content-length" || name == "transfer-encoding" || name == "connection" || name == "keep-alive";
}

}  // namespace

// Fields that could not be sent safely are left out.
std::string Http1Writer::Head(int status, const Headers& headers) {
  close_ = close_ || session_.shutting_down;
  std::string head;
  head.reserve(kHeadReserve);
  StrAppend(head, "HTTP/1.1 ", status, " ", StatusText(status), "\r\n");
  bool dated = false;
  for (const auto& [name, value] : headers.fields()) {
    if (IsFraming(name) || !Headers::ValidField(name, value)) continue;
    dated = dated || name == "date";
    StrAppend(head, name, ": ", value, "\r\n");
  }
  if (!dated) StrAppend(head, "date: ", session_.DateText(), "\r\n");
  if (close_) {
    head += "connection: close\r\n";
  } else if (http10_) {
    head += "connection: keep-alive\r\n";
  }
  return head;
}

rt::Task<Result<void>> Http1Writer::Send(int status, Headers headers, Body body) {
  INVARIANT(!started_, "one answer per request");
  started_ = true;
  const bool has_body = HasBody(head_request_, status);
  const bool compress = accepts_gzip_ && WorthCompressing(headers, body);
  if (compress && has_body) co_await Compress(session_.loop, headers, body);
  std::string head = Head(status, headers);
  // HEAD says what GET would have sent, when that is known; 204 and 304 have no length at all.
  if (has_body || (head_request_ && !compress)) StrAppend(head, "content-length: ", body.size(), "\r\n");
  head += "\r\n";
  if (!has_body) body = Body();
  if (head.size() + body.size() <= kBatchBytes) {
    for (const Body::Piece& piece : body.pieces()) head.append(piece.view);
    const size_t sent = CO_TRY(stream_.TryWrite(head));
    if (sent < head.size()) CO_TRY(co_await WriteAll(std::string_view(head).substr(sent)));
  } else {
    CO_TRY(co_await WriteGathered(std::move(head), std::move(body), ""));
  }
  finished_ = true;
  co_return Result<void>();
}

rt::Task<Result<void>> Http1Writer::Start(int status, Headers headers) {
  INVARIANT(!started_, "one answer per request");
  started_ = true;
  body_allowed_ = HasBody(head_request_, status);
  if (http10_ && body_allowed_) close_ = true;  // the end of the connection is the end of the body
  std::string head = Head(status, headers);
  if (body_allowed_ && !http10_) head += "transfer-encoding: chunked\r\n";
  head += "\r\n";
  co_return co_await WriteAll(head);
}

rt::Task<Result<void>> Http1Writer::Write(Body chunk) {
  INVARIANT(started_ && !finished_, "Write comes between Start and Finish");
  if (!body_allowed_ || chunk.size() == 0) co_return Result<void>();
  if (http10_) co_return co_await WriteGathered("", std::move(chunk), "");
  const std::string size_line = StrCat(HexSize(chunk.size()), "\r\n");  // before the chunk is moved away
  co_return co_await WriteGathered(size_line, std::move(chunk), "\r\n");
}

rt::Task<Result<void>> Http1Writer::Finish() {
  INVARIANT(started_ && !finished_, "Finish comes once, after Start");
  if (body_allowed_ && !http10_) CO_TRY(co_await WriteAll("0\r\n\r\n"));
  finished_ = true;
  co_return Result<void>();
}

rt::Task<Result<void>> Http1Writer::WriteGathered(std::string front, Body body, std::string_view back) {
  std::string batch = std::move(front);
  for (const Body::Piece& piece : body.pieces()) {
    if (batch.size() + piece.view.size() <= kBatchBytes) {
      batch.append(piece.view);
      continue;
    }
    CO_TRY(co_await WriteAll(batch));
    batch.clear();
    if (piece.view.size() >= kBatchBytes) {
      CO_TRY(co_await WriteAll(piece.view));
    } else {
      batch.append(piece.view);
    }
  }
  batch.append(back);
  co_return co_await WriteAll(batch);
}

// A peer that takes nothing for too long is cut off.
rt::Task<Result<void>> Http1Writer::WriteAll(std::string_view bytes) {
  return WriteWithin(stream_, session_.loop, session_.options.timeouts.write_stall, bytes);
}

}  // namespace baton::net
