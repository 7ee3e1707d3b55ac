// Bytes from a client into the HTTP/1.x server. Properties: what is seen does not depend on how the bytes are sliced;
// where Beast's parser takes a request too, both see it end at the same byte (a difference is how requests are
// smuggled); every answer is well formed; the connection ends.
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/invariant.h"
#include "base/strings.h"
#include "net/fault_gate.h"
#include "net/fuzz_shorthand_for_test.h"
#include "net/http1_parser.h"
#include "net/server.h"
#include "rt/virtual_loop.h"
#include "rt/when.h"

namespace baton::net {
namespace {

using rt::Task;

constexpr std::string_view kWords[] = {
    "GET /a HTTP/1.1\r\n",
    "POST /ab HTTP/1.1\r\n",
    "PUT /abc HTTP/1.0\r\n",
    "HEAD / HTTP/1.1\r\n",
    "OPTIONS * HTTP/1.1\r\n",
    "GET http://x/y HTTP/1.1\r\n",
    "CONNECT x:1 HTTP/1.1\r\n",
    "host: h\r\n",
    "content-length: 5\r\n",
    "content-length: 0\r\n",
    "Content-Length: ",
    "transfer-encoding: chunked\r\n",
    "Transfer-Encoding: ",
    "connection: close\r\n",
    "connection: keep-alive\r\n",
    "expect: 100-continue\r\n",
    "accept-encoding: gzip\r\n",
    "\r\n",
    "\n",
    "\r",
    "\r\n\r\n",
    "5\r\nhello\r\n",
    "0\r\n\r\n",
    "0\r\n",
    "5;x=y\r\n",
    "hello",
    ": ",
    "\t",
    "chunked",
    "gzip, chunked",
    " HTTP/1.1\r\n",
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
};

struct Seen {
  std::string requests;  // what the handler was given
  size_t handled = 0;
  std::string reply;
};

Task<void> Handle(Seen& seen, Request request, ResponseWriter& writer) {
  ++seen.handled;
  StrAppend(seen.requests, request.method, " ", request.target, " ", request.body.size(), " ", request.body, "\n");
  for (const auto& [name, value] : request.headers.fields()) {
    StrAppend(seen.requests, name, ": ", value, "\n");
    INVARIANT(Headers::ValidField(name, value), "a field with control characters");
  }
  INVARIANT(request.target.starts_with('/') || request.target == "*", "a target in no form");
  if (request.target.size() % 2 == 0) {
    Result<void> sent = co_await writer.Start(200, {});
    if (sent.ok()) sent = co_await writer.Write(std::move(request.body));
    if (sent.ok()) sent = co_await writer.Finish();
  } else {
    static_cast<void>(co_await writer.Send(200, request.headers, std::move(request.body)));
  }
}

Task<void> Speak(std::unique_ptr<ByteStream> stream, std::string_view bytes, std::string& reply) {
  if ((co_await stream->Write(bytes)).ok()) static_cast<void>(co_await stream->CloseWrite());
  while (true) {
    std::string buffer(4096, '\0');
    const Result<size_t> got = co_await stream->Read(buffer);
    if (!got.ok() || *got == 0) co_return;
    reply.append(buffer, 0, *got);
  }
}

Seen Serve(std::string_view bytes, bool sliced) {
  rt::VirtualLoop loop(1);
  Seen seen;
  ServerOptions options;
  options.limits.body_bytes_max = 1000;
  options.limits.header_bytes_max = 2000;
  options.limits.target_bytes_max = 200;
  HttpServer server(
      loop, [&](Request request, ResponseWriter& writer) { return Handle(seen, std::move(request), writer); }, options);
  auto [ours, theirs] = MakePipe(size_t{1} << 20);
  std::unique_ptr<ByteStream> client = std::move(theirs);
  if (sliced) client = MakeFaultGate(loop, std::move(client), {.seed = bytes.size(), .slice = 0.9});
  loop.Run(rt::WhenAll(server.ServeConnection(std::move(ours)), Speak(std::move(client), bytes, seen.reply)));
  return seen;
}

// The replies are a sequence of whole responses, but for the last of a stream that was cut.
void CheckReply(const Seen& seen) {
  std::string_view rest = seen.reply;
  const HttpLimits limits;
  size_t answers = 0;
  while (!rest.empty()) {
    Http1Parser parser(Http1Parser::Kind::kResponse, limits);
    size_t used = 0;
    do {
      used = parser.Feed(rest);
      rest.remove_prefix(used);
      if (parser.head_done() && seen.requests.find("HEAD ") != std::string::npos) return;  // bodies cannot be told
    } while (used > 0 && !parser.done() && !parser.failed());
    if (!parser.failed()) parser.End();  // an answer in HTTP/1.0 ends with the connection
    INVARIANT(!parser.failed(), parser.problem().why);
    if (parser.status() != 100) ++answers;
  }
  INVARIANT(answers == seen.handled || answers == seen.handled + 1, "an answer per request, and maybe a refusal");
}

void CompareWithBeast(std::string_view bytes) {
  namespace http = boost::beast::http;
  HttpLimits limits;
  Http1Parser ours(Http1Parser::Kind::kRequest, limits);
  std::string_view rest = bytes;
  size_t used = 0;
  do {
    used = ours.Feed(rest);
    rest.remove_prefix(used);
  } while (used > 0 && !ours.done() && !ours.failed());
  if (!ours.done()) return;
  http::request_parser<http::string_body> theirs;
  theirs.header_limit(static_cast<uint32_t>(limits.header_bytes_max + limits.target_bytes_max));
  theirs.body_limit(limits.body_bytes_max);
  theirs.eager(true);
  std::string_view left = bytes;
  while (!theirs.is_done()) {
    boost::beast::error_code error;
    const size_t count = theirs.put(boost::asio::buffer(left.data(), left.size()), error);
    left.remove_prefix(count);
    if (error || (count == 0 && !theirs.is_done())) return;  // it wants none of this, or more
  }
  INVARIANT(left.size() == rest.size(), "two parsers see the request end in different places");
  INVARIANT(theirs.get().body() == ours.TakeBody(), "two parsers see different bodies");
}

}  // namespace
}  // namespace baton::net

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 4096) return 0;
  const std::string bytes =
      baton::net::ExpandShorthand({reinterpret_cast<const char*>(data), size}, baton::net::kWords);
  if (bytes.starts_with("PRI ")) return 0;  // that is HTTP/2
  baton::net::CompareWithBeast(bytes);
  const baton::net::Seen whole = baton::net::Serve(bytes, /*sliced=*/false);
  const baton::net::Seen sliced = baton::net::Serve(bytes, /*sliced=*/true);
  INVARIANT(whole.requests == sliced.requests, "what is seen depends on the slicing");
  baton::net::CheckReply(whole);
  baton::net::CheckReply(sliced);
  return 0;
}
