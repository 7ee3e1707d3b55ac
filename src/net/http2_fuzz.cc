// Bytes from the other side into an HTTP/2 session, server's and client's. The input is either raw bytes behind the
// greeting, or a list of small instructions that make frames, so that the fuzzer gets past the framing. Properties: the
// connection and every call end in time, no handler outlives its connection, what we send are whole frames.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/invariant.h"
#include "base/strings.h"
#include "net/client.h"
#include "net/fault_gate.h"
#include "net/http2_frames_for_test.h"
#include "net/server.h"
#include "rt/scope.h"
#include "rt/virtual_loop.h"
#include "rt/when.h"

namespace baton::net {
namespace {

using rt::Task;

// ---- instructions to frames ----

class Maker {
 public:
  explicit Maker(std::string_view input) : input_(input) {}

  std::string Make(bool from_client) {
    std::string frames;
    while (!input_.empty()) frames += One(from_client);
    return frames;
  }

 private:
  uint8_t Byte() {
    if (input_.empty()) return 0;
    const auto byte = static_cast<uint8_t>(input_.front());
    input_.remove_prefix(1);
    return byte;
  }
  std::string Text() {
    const size_t count = std::min<size_t>(Byte() % 40, input_.size());
    std::string text(input_.substr(0, count));
    input_.remove_prefix(count);
    return text;
  }
  std::string Block(bool from_client) {
    const uint8_t kind = Byte();
    h2::Fields fields;
    if (kind % 4 != 0) {
      constexpr std::string_view kMethods[] = {"GET", "POST", "HEAD", "CONNECT"};
      constexpr std::string_view kStatus[] = {"200", "103", "204", "600"};
      if (from_client) {
        fields = h2::RequestFields(std::string(kMethods[kind / 4 % 4]), "/" + Text());
      } else {
        fields = {{":status", std::string(kStatus[kind / 4 % 4])}};
      }
    }
    if (kind % 8 == 5) fields.emplace_back("content-encoding", "gzip");
    if (kind % 8 == 6) fields.emplace_back("content-length", StrCat(static_cast<int>(Byte())));
    for (uint8_t more = kind / 64; more > 0; --more) {
      std::string name = Text();
      fields.emplace_back(std::move(name), Text());
    }
    return h2::Hpack(fields) + (kind % 16 == 9 ? Text() : "");
  }

  std::string One(bool from_client) {
    const uint8_t what = Byte();
    const int32_t stream = what / 16 % 8;
    const bool flag = what >= 128;
    switch (what % 16) {
      case 0:
      case 1:
      case 2:
        return h2::HeadersFrame(stream, Block(from_client), flag);
      case 3:
        return h2::HeadersFrame(stream, Block(from_client), flag, /*end_headers=*/false);
      case 4:
        return h2::Continuation(stream, Block(from_client), flag);
      case 5:
      case 6:
        return h2::Data(stream, Text(), flag);
      case 7:
        return h2::Data(stream, std::string(static_cast<size_t>(Byte()) * 60, 'x'), flag);
      case 8:
        return h2::Reset(stream, Byte() % 16);
      case 9:
        return h2::WindowUpdate(stream, flag ? 0x7fffffff : Byte());
      case 10:
        return h2::Settings({{static_cast<uint16_t>(Byte() % 8), Byte()}});
      case 11:
        return h2::SettingsAck();
      case 12:
        return h2::Ping(flag);
      case 13:
        return h2::Goaway(stream, Byte() % 16);
      case 14: {
        const uint8_t type = Byte();
        return h2::Frame(type, Byte(), stream, Text());
      }
      default:
        return Text();
    }
  }

  std::string_view input_;
};

std::string Bytes(std::string_view input, bool from_client) {
  if (input.empty()) return "";
  const bool raw = input.front() % 2 == 0;
  input.remove_prefix(1);
  return raw ? std::string(input) : Maker(input).Make(from_client);
}

// ---- the server ----

struct Running {
  explicit Running(int& r) : running(r) { ++running; }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running() { --running; }
  int& running;
};

Task<void> Handle(rt::Loop& loop, int& running, Request request, ResponseWriter& writer) {
  const Running now(running);
  for (const auto& [name, value] : request.headers.fields()) {
    INVARIANT(Headers::ValidField(name, value), "a field with control characters");
  }
  INVARIANT(request.target.starts_with('/') || request.target == "*", "a target in no form");
  if (request.target.size() % 3 == 0) co_await loop.Sleep(milliseconds(5));
  if (request.target.size() % 2 == 0) {
    Result<void> sent = co_await writer.Start(200, request.headers);
    if (sent.ok()) sent = co_await writer.Write(std::move(request.body));
    if (sent.ok() && request.target.size() % 4 == 0) sent = co_await writer.Finish();
  } else {
    static_cast<void>(co_await writer.Send(200, request.headers, std::move(request.body)));
  }
}

Task<void> Speak(rt::Loop& loop, std::unique_ptr<ByteStream> stream, std::string bytes, size_t pause_every) {
  rt::Scope writing(loop);
  const auto write = [](rt::Loop& l, ByteStream& s, std::string all, size_t every) -> Task<void> {
    std::string_view rest = all;
    while (!rest.empty()) {
      const std::string_view piece = rest.substr(0, every);
      rest.remove_prefix(piece.size());
      if (!(co_await s.Write(piece)).ok()) co_return;
      co_await l.Sleep(milliseconds(1));
    }
  };
  writing.Spawn(write(loop, *stream, std::move(bytes), pause_every));
  h2::FrameReader reader;
  while (true) {
    std::string buffer(4096, '\0');
    const Result<size_t> got = co_await stream->Read(buffer);
    if (!got.ok() || *got == 0) break;
    for (const std::string& frame : reader.Feed(std::string_view(buffer).substr(0, *got))) {
      INVARIANT(frame.find("broken HPACK") == std::string::npos && !frame.starts_with("frame type"), frame);
    }
  }
}

void FuzzServer(std::string_view input) {
  rt::VirtualLoop loop(1);
  int running = 0;
  ServerOptions options;
  options.limits.body_bytes_max = 5000;
  options.limits.header_bytes_max = 2000;
  options.limits.streams_per_connection_max = 3;
  HttpServer server(
      loop, [&](Request request, ResponseWriter& writer) { return Handle(loop, running, std::move(request), writer); },
      options);
  auto [ours, theirs] = MakePipe();
  const std::string bytes = StrCat(h2::kPreface, h2::Settings(), Bytes(input, /*from_client=*/true));
  const size_t every = 20 + input.size() % 200;
  loop.Run(rt::WhenAll(server.ServeConnection(std::move(ours)), Speak(loop, std::move(theirs), bytes, every)));
  INVARIANT(running == 0, "a handler outlived its connection");
  INVARIANT(loop.Now().time_since_epoch() < hours(1), "a connection outlived all timeouts");
}

// ---- the client ----

struct World {
  explicit World(std::string b) : loop(1), bytes(std::move(b)), serving(loop) {}
  rt::VirtualLoop loop;
  std::string bytes;
  rt::Scope serving;
};

Task<Result<std::unique_ptr<ByteStream>>> Connect(World& world) {
  auto [ours, theirs] = MakePipe();
  world.serving.Spawn(
      Speak(world.loop, std::move(theirs), h2::Settings() + world.bytes, 20 + world.bytes.size() % 200));
  co_return MakeFaultGate(world.loop, std::move(ours), {.alpn = "h2"});
}

Task<void> Call(World& world, HttpClient& client, std::string method) {
  const rt::Deadline deadline = rt::Deadline::After(world.loop, seconds(10));
  const Result<Response> response =
      co_await client.Call({.method = std::move(method), .target = "/", .body = std::string(3000, 'x')}, deadline);
  INVARIANT(world.loop.Now() <= deadline.at(), "a call outlived its deadline");
  if (!response.ok()) co_return;
  INVARIANT(response->status >= 200, "an interim answer was taken for the answer");
}

Task<void> CallSome(World& world) {
  ClientOptions options;
  options.endpoint = {"server", 80};
  options.limits.header_bytes_max = 2000;
  options.limits.response_body_bytes_max = 100'000;
  HttpClient client(world.loop, options, [&world] { return Connect(world); });
  std::vector<Task<void>> calls;
  for (const std::string method : {"GET", "POST", "HEAD"}) calls.push_back(Call(world, client, method));
  co_await rt::WhenAll(std::move(calls));
}

void FuzzClient(std::string_view input) {
  World world(Bytes(input, /*from_client=*/false));
  world.loop.Run(CallSome(world));
}

}  // namespace
}  // namespace baton::net

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2 || size > 4096) return 0;
  const std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] % 2 == 0) {
    baton::net::FuzzServer(input);
  } else {
    baton::net::FuzzClient(input);
  }
  return 0;
}
