// Bytes from a server into the HTTP/1.1 client. Properties: calls end in time, and what the first one gives does not
// depend on how the bytes are sliced. (What comes behind its answer is noticed, or is the second one's answer when it
// comes too late for that.)
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/invariant.h"
#include "base/strings.h"
#include "net/client.h"
#include "net/fault_gate.h"
#include "net/fuzz_shorthand_for_test.h"
#include "rt/scope.h"
#include "rt/virtual_loop.h"

namespace baton::net {
namespace {

using rt::Task;

constexpr std::string_view kWords[] = {
    "HTTP/1.1 200 OK\r\n",
    "HTTP/1.0 200 OK\r\n",
    "HTTP/1.1 404 Not Found\r\n",
    "HTTP/1.1 204 No Content\r\n",
    "HTTP/1.1 304 Not Modified\r\n",
    "HTTP/1.1 100 Continue\r\n\r\n",
    "HTTP/1.1 101 Switching\r\n",
    "HTTP/1.1 103 \r\n",
    "content-length: 5\r\n",
    "content-length: 0\r\n",
    "Content-Length: ",
    "transfer-encoding: chunked\r\n",
    "connection: close\r\n",
    "connection: keep-alive\r\n",
    "content-encoding: gzip\r\n",
    "content-length: 25\r\n",
    std::string_view("\x1f\x8b\x08\0\0\0\0\0\0\x03\xcb\x48\xcd\xc9\xc9\x07\0\x86\xa6\x10\x36\x05\0\0\0", 25),
    "\r\n",
    "\n",
    "\r\n\r\n",
    "5\r\nhello\r\n",
    "0\r\n\r\n",
    "0\r\n",
    "hello",
    "x: y\r\n",
    ": ",
    "19\r\n",
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
};

struct World {
  World(std::string_view b, bool s) : loop(1), bytes(b), sliced(s), serving(loop) {}
  rt::VirtualLoop loop;
  std::string_view bytes;
  bool sliced;
  rt::Scope serving;
};

Task<void> Answer(std::unique_ptr<ByteStream> stream, std::string_view bytes) {
  std::string request;
  while (!request.ends_with("\r\n\r\n")) {
    char byte = 0;
    const Result<size_t> got = co_await stream->Read({&byte, 1});
    if (!got.ok() || *got == 0) co_return;
    request += byte;
  }
  if ((co_await stream->Write(bytes)).ok()) static_cast<void>(co_await stream->CloseWrite());
  char byte = 0;
  static_cast<void>(co_await stream->Read({&byte, 1}));
}

Task<Result<std::unique_ptr<ByteStream>>> Connect(World& world) {
  auto [ours, theirs] = MakePipe(size_t{1} << 20);
  world.serving.Spawn(Answer(std::move(theirs), world.bytes));
  if (world.sliced) co_return MakeFaultGate(world.loop, std::move(ours), {.seed = world.bytes.size(), .slice = 0.9});
  co_return std::move(ours);
}

Task<std::string> CallTwice(World& world, std::string method) {
  ClientOptions options;
  options.endpoint = {"server", 80};
  options.limits.header_bytes_max = 2000;
  options.limits.response_body_bytes_max = 100'000;
  HttpClient client(world.loop, options, [&world] { return Connect(world); });
  std::string text;
  for (int i = 0; i < 2; ++i) {
    const rt::Deadline deadline = rt::Deadline::After(world.loop, seconds(10));
    const Result<Response> response = co_await client.Call({.method = method, .target = "/"}, deadline);
    INVARIANT(world.loop.Now() <= deadline.at(), "a call outlived its deadline");
    if (i > 0) break;
    if (!response.ok()) {
      text += "error\n";
      continue;
    }
    StrAppend(text, response->status, " ", response->body, "\n");
    for (const auto& [name, value] : response->headers.fields()) {
      INVARIANT(Headers::ValidField(name, value), "a field with control characters");
      StrAppend(text, name, ": ", value, "\n");
    }
  }
  co_return text;
}

std::string Run(std::string_view bytes, bool sliced, const std::string& method) {
  World world(bytes, sliced);
  return world.loop.Run(CallTwice(world, method));
}

}  // namespace
}  // namespace baton::net

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0 || size > 4096) return 0;
  const std::string method = data[0] % 2 == 0 ? "GET" : "HEAD";
  const std::string bytes =
      baton::net::ExpandShorthand({reinterpret_cast<const char*>(data) + 1, size - 1}, baton::net::kWords);
  INVARIANT(baton::net::Run(bytes, false, method) == baton::net::Run(bytes, true, method),
            "an answer depends on the slicing");
  return 0;
}
