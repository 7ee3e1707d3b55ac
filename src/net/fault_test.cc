// Client and server with the fault gate between them: whatever it does, every call ends with the right answer or an
// error, within its deadline; nothing that changes something is done twice; nothing leaks.
#include <dirent.h>
#include <gtest/gtest.h>

#include <map>

#include "net/client.h"
#include "net/fault_gate.h"
#include "net/net_for_test.h"
#include "net/server.h"
#include "rt/real_loop.h"
#include "rt/when.h"

namespace baton::net {
namespace {

using rt::Deadline;
using rt::Loop;
using rt::Task;
using rt::VirtualLoop;

constexpr Duration kDeadline = seconds(5);

size_t OpenFiles() {
  size_t count = 0;
  DIR* directory = opendir("/proc/self/fd");
  while (readdir(directory) != nullptr) ++count;
  closedir(directory);
  return count;
}

// What the handlers did, by request id (the target).
struct Deeds {
  std::map<std::string, int> done;
  int running = 0;
};

struct Running {
  explicit Running(int& r) : running(r) { ++running; }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running() { --running; }
  int& running;
};

// The answer says what the request was, so that a mixed-up answer is seen.
std::string AnswerFor(const std::string& method, const std::string& target, const std::string& body) {
  return StrCat(method, " ", target, " ", body.size(), " ", body);
}

Task<void> Handle(Loop& loop, Deeds& deeds, Request request, ResponseWriter& writer) {
  const Running running(deeds.running);
  ++deeds.done[request.target];
  const std::string answer = AnswerFor(request.method, request.target, request.body);
  if (answer.size() % 3 == 0) co_await loop.Sleep(milliseconds(30));
  if (request.target.ends_with("s")) {
    Result<void> sent = co_await writer.Start(200, {});
    for (size_t at = 0; sent.ok() && at < answer.size(); at += 500)
      sent = co_await writer.Write(answer.substr(at, 500));
    if (sent.ok()) sent = co_await writer.Finish();
  } else {
    static_cast<void>(co_await writer.Send(200, {}, answer));
  }
}

// An error, or a server that says that it did not get the request.
bool Failed(const Result<Response>& response) { return !response.ok() || response->status == 408; }

struct Outcome {
  int right = 0;
  int failed = 0;
  int wrong = 0;
};

Task<void> CallsMany(HttpClient& client, Loop& loop, uint64_t seed, int calls, Outcome& outcome) {
  rt::SeededRandom random(seed);
  for (int i = 0; i < calls; ++i) {
    const std::string method = random.Chance(0.5) ? "POST" : "GET";
    const std::string target = StrCat("/", seed, "-", i, "-", method, random.Chance(0.5) ? "s" : "");
    const std::string body = method == "GET" ? "" : std::string(random.Below(4000), static_cast<char>('a' + i % 26));
    const MonotonicTime start = loop.Now();
    const Result<Response> response =
        co_await client.Call({.method = method, .target = target, .body = body}, Deadline::After(loop, kDeadline));
    EXPECT_LE(loop.Now() - start, kDeadline + seconds(1)) << "a call outlived its deadline";
    if (Failed(response)) {
      ++outcome.failed;
    } else if (response->status == 200 && response->body == AnswerFor(method, target, body)) {
      ++outcome.right;
    } else {
      ++outcome.wrong;
    }
  }
}

ClientOptions Options() {
  ClientOptions options;
  options.endpoint = {"server", 443};
  options.timeouts.http2_ping = seconds(2);
  options.timeouts.write_stall = seconds(3);
  return options;
}

ServerOptions QuickServer() {
  ServerOptions options;
  options.timeouts = {.handshake = seconds(2),
                      .request_header = seconds(2),
                      .request_body = seconds(3),
                      .keep_alive_idle = seconds(4),
                      .write_stall = seconds(3),
                      .http2_ping = seconds(2)};
  return options;
}

// Both ends in one virtual world; every connection has a gate with a seed of its own.
class VirtualRig {
 public:
  VirtualRig(uint64_t seed, FaultPlan plan, std::string alpn)
      : loop(seed),
        plan_(std::move(plan)),
        alpn_(std::move(alpn)),
        server(
            loop,
            [this](Request request, ResponseWriter& writer) { return Handle(loop, deeds, std::move(request), writer); },
            QuickServer()),
        serving_(loop),
        client(std::make_unique<HttpClient>(loop, Options(), [this] { return Connect(); })) {
    plan_.seed = seed;
  }

  // Calls, and then a look whether everything ends when the client goes.
  Task<Outcome> Run(int callers, int calls) {
    Outcome outcome;
    std::vector<Task<void>> tasks;
    for (int i = 0; i < callers; ++i) {
      tasks.push_back(CallsMany(*client, loop, static_cast<uint64_t>(i), calls, outcome));
    }
    co_await rt::WhenAll(std::move(tasks));
    client.reset();
    co_await loop.Sleep(seconds(30));  // every timeout of the server has passed
    EXPECT_EQ(serving_.active(), 0u) << "a connection outlived its client and all timeouts";
    EXPECT_EQ(deeds.running, 0) << "a handler outlived its client";
    co_return outcome;
  }

  VirtualLoop loop;
  Deeds deeds;
  int connections = 0;

 private:
  Task<Result<std::unique_ptr<ByteStream>>> Connect() {
    auto [ours, theirs] = MakePipe(2000);
    FaultPlan plan = plan_;
    plan.seed = plan_.seed * 1000 + static_cast<uint64_t>(++connections);
    plan.alpn = alpn_;
    serving_.Spawn(server.ServeConnection(std::move(theirs)));
    co_return MakeFaultGate(loop, std::move(ours), std::move(plan));
  }

  FaultPlan plan_;
  std::string alpn_;
  HttpServer server;
  rt::Scope serving_;

 public:
  std::unique_ptr<HttpClient> client;
};

void ExpectNothingChangedTwice(const Deeds& deeds) {
  for (const auto& [target, times] : deeds.done) {
    if (target.find("POST") != std::string::npos) EXPECT_LE(times, 1) << target;
  }
}

TEST(FaultTest, EveryCallEndsRightOrWithAnErrorInTime) {
  struct Case {
    std::string what;
    FaultPlan plan;
    bool harmless = false;  // every call must succeed
    bool lies = false;      // bytes change: an answer may be wrong, as there is no TLS here
  };
  const Case cases[] = {
      {"slices", {.slice = 0.9}, true},
      {"delays", {.slice = 0.3, .delay = 0.3, .delay_max = milliseconds(20)}, true},
      {"cuts", {.slice = 0.5, .cut = 0.02}},
      {"closes", {.slice = 0.5, .close = 0.02}},
      {"stalls", {.slice = 0.2, .stall = 0.01}},
      {"everything", {.slice = 0.3, .delay = 0.05, .cut = 0.01, .close = 0.01, .stall = 0.005}},
      {"corruption", {.slice = 0.3, .corrupt = 0.05}, false, true},
      {"lost bytes", {.slice = 0.3, .drop = 0.05}, false, true},
  };
  for (const std::string alpn : {"http/1.1", "h2"}) {
    for (const Case& c : cases) {
      Outcome total;
      for (uint64_t seed = 0; seed < 40; ++seed) {
        VirtualRig rig(seed, c.plan, alpn);
        const Outcome outcome = rig.loop.Run(rig.Run(4, 6));
        total.right += outcome.right;
        total.failed += outcome.failed;
        total.wrong += outcome.wrong;
        if (!c.lies) ExpectNothingChangedTwice(rig.deeds);
      }
      const std::string what = StrCat(alpn, " with ", c.what);
      if (!c.lies) EXPECT_EQ(total.wrong, 0) << what;
      EXPECT_GT(total.right, 0) << what;
      if (c.harmless) EXPECT_EQ(total.failed, 0) << what;
      if (!c.harmless) EXPECT_GT(total.failed, 0) << what << " hurt nobody: is the gate open?";
    }
  }
}

Task<std::string> OneCall(VirtualRig& rig, std::string method, std::string body) {
  const Result<Response> response =
      co_await rig.client->Call({.method = std::move(method), .target = "/x-POST", .body = std::move(body)},
                                Deadline::After(rig.loop, kDeadline));
  rig.client.reset();
  co_await rig.loop.Sleep(seconds(30));
  co_return Failed(response) ? "failed" : response->body;
}

TEST(FaultTest, AConnectionMayEndAtEveryByte) {
  // One exchange, ended in each way at each byte of either direction.
  const std::string expected = AnswerFor("POST", "/x-POST", "hello");
  for (const std::string alpn : {"http/1.1", "h2"}) {
    for (const bool sent : {true, false}) {
      int errors = 0;
      int rights = 0;
      for (size_t at = 0; at < 300; ++at) {
        for (const Fault fault : {Fault::kCut, Fault::kClose, Fault::kStall}) {
          VirtualRig rig(at, {.script = {{.at = at, .fault = fault, .sent = sent}}}, alpn);
          const std::string answer = rig.loop.Run(OneCall(rig, "POST", "hello"));
          EXPECT_TRUE(answer == expected || answer == "failed") << answer;
          ++(answer == expected ? rights : errors);
          EXPECT_LE(rig.deeds.done["/x-POST"], 1);
          EXPECT_EQ(rig.deeds.running, 0);
        }
      }
      EXPECT_GT(errors, 0);
      EXPECT_GT(rights, 0);
    }
  }
}

// ---- outside TLS, on real sockets ----

Task<void> ServeAll(HttpServer& server, rt::RealLoop& loop, Listener& listener,
                    std::shared_ptr<TlsServerContext> context) {
  static_cast<void>(co_await server.Serve(loop, listener, [context] { return context; }));
}

Task<Outcome> ThroughRelay(rt::RealLoop& loop, const TestPki& pki, FaultPlan plan, std::string alpn, Deeds& deeds) {
  ServerOptions server_options;
  server_options.timeouts.write_stall = seconds(1);
  HttpServer server(
      loop, [&](Request request, ResponseWriter& writer) { return Handle(loop, deeds, std::move(request), writer); },
      server_options);
  const std::unique_ptr<Listener> behind = Must(Listen(loop, {"127.0.0.1", 0}));
  const std::unique_ptr<Listener> front = Must(Listen(loop, {"127.0.0.1", 0}));
  rt::Scope scope(loop);
  scope.Spawn(ServeAll(server, loop, *behind, pki.ServerContext()));
  scope.Spawn(RunFaultRelay(loop, *front, behind->endpoint(), std::move(plan)));
  ClientOptions options;
  options.endpoint = front->endpoint();
  options.timeouts.connect = milliseconds(300);
  const std::shared_ptr<TlsClientContext> context = pki.ClientContext({.alpn = {std::move(alpn)}});
  options.tls = [context] { return context; };
  HttpClient client(loop, options);
  Outcome outcome;
  const auto call = [](HttpClient& c, rt::RealLoop& l, int i, Outcome& o) -> Task<void> {
    const std::string method = i % 2 == 0 ? "POST" : "GET";
    const std::string target = StrCat("/", i, "-", method, i % 3 == 0 ? "s" : "");
    const std::string body = method == "GET" ? "" : std::string(static_cast<size_t>(i * 300), 'x');
    const Result<Response> response =
        co_await c.Call({.method = method, .target = target, .body = body}, Deadline::After(l, milliseconds(400)));
    if (Failed(response)) {
      ++o.failed;
    } else {
      ++(response->status == 200 && response->body == AnswerFor(method, target, body) ? o.right : o.wrong);
    }
  };
  std::vector<Task<void>> calls;
  for (int i = 0; i < 12; ++i) calls.push_back(call(client, loop, i, outcome));
  co_await rt::WhenAll(std::move(calls));
  co_return outcome;
}

TEST(FaultTest, TlsTurnsEveryLieIntoAnError) {
  rt::RealLoop loop;
  const TestPki pki(loop);
  const size_t before = OpenFiles();
  const FaultPlan plans[] = {
      {.slice = 0.5},
      {.slice = 0.1, .corrupt = 0.03},
      {.slice = 0.1, .drop = 0.03},
      {.slice = 0.1, .cut = 0.03},
      {.slice = 0.1, .close = 0.03},
      {.stall = 0.02},
      {.slice = 0.2, .delay = 0.1, .corrupt = 0.01, .cut = 0.01, .close = 0.01, .delay_max = milliseconds(5)},
  };
  Outcome total;
  for (const FaultPlan& plan : plans) {
    for (uint64_t seed = 0; seed < 4; ++seed) {
      FaultPlan seeded = plan;
      seeded.seed = seed * 100;
      Deeds deeds;
      const Outcome outcome = loop.Run(ThroughRelay(loop, pki, seeded, seed % 2 == 0 ? "h2" : "http/1.1", deeds));
      EXPECT_EQ(outcome.wrong, 0);
      EXPECT_EQ(outcome.right + outcome.failed, 12);
      ExpectNothingChangedTwice(deeds);
      if (&plan == &plans[0]) EXPECT_EQ(outcome.failed, 0);
      total.right += outcome.right;
      total.failed += outcome.failed;
    }
  }
  EXPECT_GT(total.right, 50);
  EXPECT_GT(total.failed, 20);
  const auto turn = [](rt::RealLoop& l) -> Task<void> { co_await l.Sleep(milliseconds(1)); };
  loop.Run(turn(loop));
  EXPECT_LE(OpenFiles(), before);
}

}  // namespace
}  // namespace baton::net
