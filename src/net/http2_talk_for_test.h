// Internal to net: an HTTP/2 server on the virtual loop, and a client that says frames by hand.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/http2_frames_for_test.h"
#include "net/net_for_test.h"
#include "net/server.h"
#include "rt/when.h"

namespace baton::net::talk {

struct Ending {
  std::string& trace;
  int& running;
  explicit Ending(std::string& t, int& r) : trace(t), running(r) { ++running; }
  Ending(const Ending&) = delete;
  Ending& operator=(const Ending&) = delete;
  ~Ending() {
    --running;
    trace += "ended;";
  }
};

struct World {
  explicit World(uint64_t seed) : loop(seed) {}
  rt::VirtualLoop loop;
  std::string trace;  // what the handlers saw
  int running = 0;
  int running_max = 0;
  int handled = 0;
  size_t endless_bytes = 0;  // that the server took from handlers
  size_t sent_bytes = 0;     // that it took from the client
};

inline rt::Task<Result<void>> Answer(World& world, Request request, ResponseWriter& writer) {
  const Ending ending(world.trace, world.running);
  world.running_max = std::max(world.running_max, world.running);
  ++world.handled;
  const Headers text{{"content-type", "text/plain"}};
  const std::string path(request.path());
  if (path == "/echo") co_return co_await writer.Send(200, text, std::move(request.body));
  if (path == "/large") co_return co_await writer.Send(200, text, std::string(size_t{1} << 20, 'x'));
  if (path == "/204") co_return co_await writer.Send(204, text, std::string("not sent"));
  if (path == "/silent") co_return Result<void>();
  if (path == "/never") co_await world.loop.Sleep(hours(1000));
  if (path == "/fields") {
    std::string all;
    for (const auto& [name, value] : request.headers.fields()) StrAppend(all, name, "=", value, ";");
    co_return co_await writer.Send(200, text, std::move(all));
  }
  if (path == "/injected") {
    const Headers injected{{"x-good", "1"},           {"x-bad", "a\r\nset-cookie: evil"}, {"bad name", "x"},
                           {"content-length", "999"}, {"transfer-encoding", "chunked"},   {"connection", "upgrade"}};
    co_return co_await writer.Send(200, injected, std::string("ok"));
  }
  if (path == "/stream" || path == "/unfinished") {
    CO_TRY(co_await writer.Start(200, text));
    CO_TRY(co_await writer.Write(std::string("one ")));
    co_await world.loop.Sleep(milliseconds(10));
    CO_TRY(co_await writer.Write(std::string("two")));
    if (path != "/unfinished") CO_TRY(co_await writer.Finish());
    co_return Result<void>();
  }
  if (path == "/endless") {
    CO_TRY(co_await writer.Start(200, text));
    while (true) {
      const std::string chunk(size_t{64} << 10, 'x');
      CO_TRY(co_await writer.Write(chunk));
      world.endless_bytes += chunk.size();
    }
  }
  if (path == "/until-shutdown") {
    CO_TRY(co_await writer.Start(200, text));
    co_await writer.shutdown().Wait();
    CO_TRY(co_await writer.Write(std::string("bye")));
    co_return co_await writer.Finish();
  }
  co_return co_await writer.Send(200, text, StrCat("hello ", request.target));
}

inline rt::Task<void> Handle(World& world, Request request, ResponseWriter& writer) {
  StrAppend(world.trace, request.method, " ", request.target, ";");
  const Result<void> answered = co_await Answer(world, std::move(request), writer);
  if (!answered.ok()) world.trace += "failed;";
}

struct Say {
  std::string bytes;
  Duration pause_before = Duration::zero();
};

// Sends the script and reads frames until the server closes or `patience` is over; then goes.
inline rt::Task<std::vector<std::string>> Speak(World& world, std::unique_ptr<ByteStream> stream,
                                                std::vector<Say> script, Duration patience, bool reads) {
  std::vector<std::string> frames;
  {
    rt::Scope writing(world.loop);
    const auto write = [](World& w, ByteStream& s, std::vector<Say> all) -> rt::Task<void> {
      for (const Say& say : all) {
        if (say.pause_before > Duration::zero()) co_await w.loop.Sleep(say.pause_before);
        if (!(co_await s.Write(say.bytes)).ok()) co_return;
        w.sent_bytes += say.bytes.size();
      }
    };
    writing.Spawn(write(world, *stream, std::move(script)));
    if (reads) {
      h2::FrameReader reader;
      const auto read = [](ByteStream& s, h2::FrameReader& r, std::vector<std::string>& all) -> rt::Task<void> {
        std::vector<char> buffer(4096);
        while (true) {
          const Result<size_t> got = co_await s.Read(buffer);
          if (!got.ok() || *got == 0) {
            all.emplace_back(got.ok() ? "closed" : "cut");
            co_return;
          }
          for (std::string& line : r.Feed({buffer.data(), *got})) all.push_back(std::move(line));
        }
      };
      static_cast<void>(co_await rt::WithDeadline(rt::Deadline::After(world.loop, patience), "the server",
                                                  read(*stream, reader, frames)));
    } else {
      co_await world.loop.Sleep(patience);
    }
  }
  stream.reset();
  co_return frames;
}

struct TalkOptions {
  uint64_t seed = 1;
  bool sliced = false;
  ServerOptions server;
  std::vector<std::pair<uint16_t, uint32_t>> settings;
  Duration patience = hours(1);
  bool greet = true;
  bool reads = true;
  size_t pipe_bytes = size_t{64} << 10;
};

struct Talked {
  std::vector<std::string> frames;
  std::string trace;
  Duration took;  // until the server was done with the connection
  int running_max = 0;
  int handled = 0;
  size_t endless_bytes = 0;
  size_t sent_bytes = 0;

  // The frames that begin so, joined.
  std::string With(std::string_view begin) const {
    std::string all;
    for (const std::string& frame : frames) {
      if (frame.starts_with(begin)) StrAppend(all, frame, "\n");
    }
    return all;
  }
};

inline Talked Talk(std::vector<Say> script, TalkOptions options = {}) {
  World world(options.seed);
  HttpServer server(
      world.loop, [&](Request request, ResponseWriter& writer) { return Handle(world, std::move(request), writer); },
      options.server);
  if (options.greet) {
    script.insert(script.begin(), Say{StrCat(h2::kPreface, h2::Settings(options.settings), h2::SettingsAck())});
  }
  auto [ours, theirs] = MakePipe(options.pipe_bytes);
  std::unique_ptr<ByteStream> client = std::move(theirs);
  if (options.sliced) client = Sliced(world.loop, std::move(client), options.seed);
  Talked talked;
  const auto serve = [](HttpServer& s, std::unique_ptr<ByteStream> stream, rt::Loop& loop,
                        Duration& took) -> rt::Task<void> {
    co_await s.ServeConnection(std::move(stream));
    took = loop.Now().time_since_epoch();
  };
  auto [served, frames] =
      world.loop.Run(rt::WhenAll(serve(server, std::move(ours), world.loop, talked.took),
                                 Speak(world, std::move(client), std::move(script), options.patience, options.reads)));
  talked.frames = std::move(frames);
  talked.trace = std::move(world.trace);
  talked.running_max = world.running_max;
  talked.handled = world.handled;
  talked.endless_bytes = world.endless_bytes;
  talked.sent_bytes = world.sent_bytes;
  EXPECT_EQ(world.running, 0) << "a handler outlived its connection";
  return talked;
}

}  // namespace baton::net::talk
