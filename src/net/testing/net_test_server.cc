// The server that black-box tests and benchmarks talk to: every kind of answer that HttpServer can give, on a loopback
// port.
//
//   net_test_server DIRECTORY [plain] [expired] [certificates=optional|required] [NAME=VALUE...]
//
// Writes ca.pem, server.pem, server.key, client.pem, client.key (CN=alice, O=team and admins), expired.{pem,key} (hers
// of yesterday) and stranger.{pem,key} (of another CA) into DIRECTORY, prints "port N" and serves until SIGTERM, which
// is a graceful shutdown. `expired`: the server's own certificate is of yesterday. Limits and timeouts are set by
// NAME=VALUE; see Configure. What it answers: see Handle.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <thread>
#include <utility>

#include "base/strings.h"
#include "net/certificates.h"
#include "net/server.h"
#include "rt/event.h"
#include "rt/real_loop.h"
#include "rt/scope.h"
#include "rt/when.h"

namespace baton::net {
namespace {

struct Settings {
  std::string directory;
  bool plain = false;
  bool expired = false;
  uint16_t port = 0;
  ClientCertificates client_certificates = ClientCertificates::kOptional;
  ServerOptions server;
  Duration shutdown = seconds(5);
};

[[noreturn]] void Fail(std::string_view what) {
  std::cerr << "net_test_server: " << what << "\n";
  std::exit(1);
}

template <class T>
T Must(Result<T> result) {
  if (!result.ok()) Fail(result.error().ToString());
  return *std::move(result);
}

void Configure(Settings& settings, std::string_view argument) {
  const size_t equals = argument.find('=');
  const std::string_view name = argument.substr(0, equals);
  const std::string_view text = equals == std::string_view::npos ? std::string_view() : argument.substr(equals + 1);
  const long number = std::strtol(std::string(text).c_str(), nullptr, 10);
  const auto size = static_cast<size_t>(number);
  HttpLimits& limits = settings.server.limits;
  HttpTimeouts& timeouts = settings.server.timeouts;
  if (name == "plain") {
    settings.plain = true;
  } else if (name == "expired") {
    settings.expired = true;
  } else if (name == "port") {
    settings.port = static_cast<uint16_t>(number);
  } else if (name == "certificates") {
    settings.client_certificates = text == "required" ? ClientCertificates::kRequired : ClientCertificates::kOptional;
  } else if (name == "connections_max") {
    limits.connections_max = size;
  } else if (name == "streams_max") {
    limits.streams_per_connection_max = size;
  } else if (name == "body_bytes_max") {
    limits.body_bytes_max = size;
  } else if (name == "header_bytes_max") {
    limits.header_bytes_max = size;
  } else if (name == "http2_ping_ms") {
    timeouts.http2_ping = milliseconds(number);
  } else if (name == "handshake_ms") {
    timeouts.handshake = milliseconds(number);
  } else if (name == "request_header_ms") {
    timeouts.request_header = milliseconds(number);
  } else if (name == "request_body_ms") {
    timeouts.request_body = milliseconds(number);
  } else if (name == "idle_ms") {
    timeouts.keep_alive_idle = milliseconds(number);
  } else if (name == "write_stall_ms") {
    timeouts.write_stall = milliseconds(number);
  } else if (name == "shutdown_ms") {
    settings.shutdown = milliseconds(number);
  } else {
    Fail(StrCat("unknown argument '", argument, "'"));
  }
}

void WriteFile(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  if (!file.flush()) Fail(StrCat("cannot write ", path));
}

std::shared_ptr<TlsServerContext> MakeContext(rt::RealLoop& loop, const Settings& settings) {
  const WallTime now = loop.WallNow();
  const auto authority = [&](std::string name) {
    return Must(MakeCertificateAuthority(std::move(name), now - hours(1), now + hours(24), loop.random()));
  };
  const auto write = [&](std::string_view name, const KeyPair& pair) {
    WriteFile(StrCat(settings.directory, "/", name, ".pem"), pair.certificate_pem);
    WriteFile(StrCat(settings.directory, "/", name, ".key"), pair.key_pem);
  };
  const KeyPair ca = authority("net test CA");
  CertificateRequest request{.common_name = "server",
                             .dns_names = {"localhost"},
                             .ip_addresses = {"127.0.0.1", "::1"},
                             .server = true,
                             .not_before = now - hours(1),
                             .not_after = settings.expired ? now - seconds(1) : now + hours(24)};
  const KeyPair server = Must(IssueCertificate(ca, request, loop.random()));
  request = {.common_name = "alice",
             .organizations = {"team", "admins"},
             .client = true,
             .not_before = now - hours(1),
             .not_after = now + hours(24)};
  write("ca", ca);
  write("server", server);
  write("client", Must(IssueCertificate(ca, request, loop.random())));
  write("stranger", Must(IssueCertificate(authority("another CA"), request, loop.random())));
  request.not_after = now - seconds(1);
  write("expired", Must(IssueCertificate(ca, request, loop.random())));
  return Must(MakeTlsServerContext({.certificate_pem = server.certificate_pem + ca.certificate_pem,
                                    .key_pem = server.key_pem,
                                    .client_ca_pem = ca.certificate_pem,
                                    .client_certificates = settings.client_certificates}));
}

long Parameter(const Request& request, std::string_view name, long fallback) {
  const auto parameters = ParseQuery(request.query());
  if (parameters.ok()) {
    for (const auto& [key, value] : *parameters) {
      if (key == name) return std::strtol(value.c_str(), nullptr, 10);
    }
  }
  return fallback;
}

// `chunks` pieces of `bytes` each, as fast as the client takes them.
rt::Task<Result<void>> Stream(Request request, ResponseWriter& writer) {
  const long chunks = Parameter(request, "chunks", 10);
  const std::string chunk(static_cast<size_t>(Parameter(request, "bytes", 1024)), 'x');
  CO_TRY(co_await writer.Start(200, {{"content-type", "application/octet-stream"}}));
  for (long i = 0; i < chunks; ++i) CO_TRY(co_await writer.Write(Body(chunk)));
  co_return co_await writer.Finish();
}

// Text that gzip makes small, of about that many bytes.
std::string Text(long bytes) {
  std::string text;
  for (int i = 0; std::ssize(text) < bytes; ++i) StrAppend(text, "line ", i, " of a text that says little\n");
  return text;
}

rt::Task<void> ShutdownOf(ResponseWriter& writer) { co_await writer.shutdown().Wait(); }

// Lines until `count` are sent or the server shuts down, when a last line says so.
rt::Task<void> Watch(rt::Loop& loop, Request request, ResponseWriter& writer) {
  const long count = Parameter(request, "count", 1'000'000'000);
  const Duration pause = milliseconds(Parameter(request, "every_ms", 50));
  const std::string padding(static_cast<size_t>(Parameter(request, "padding", 0)), '.');
  Result<void> sent = co_await writer.Start(200, {{"content-type", "text/plain"}});
  for (long i = 0; sent.ok() && i < count && !writer.shutting_down(); ++i) {
    sent = co_await writer.Write(StrCat("line ", i, padding, "\n"));
    static_cast<void>(co_await rt::WithDeadline(rt::Deadline::After(loop, pause), "the next line", ShutdownOf(writer)));
  }
  if (sent.ok() && writer.shutting_down()) sent = co_await writer.Write(std::string("bye\n"));
  if (sent.ok()) sent = co_await writer.Finish();
}

int slow_requests = 0;  // that are being answered now: tests wait for them, then act

rt::Task<void> Handle(rt::Loop& loop, Request request, ResponseWriter& writer) {
  const Headers text{{"content-type", "text/plain"}};
  const std::string_view path = request.path();
  Result<void> sent;
  if (path == "/hello") {
    sent = co_await writer.Send(200, text, std::string("hello\n"));
  } else if (path == "/echo") {
    sent = co_await writer.Send(200, text, std::move(request.body));
  } else if (path == "/bytes") {
    sent = co_await writer.Send(200, text, std::string(static_cast<size_t>(Parameter(request, "n", 0)), 'x'));
  } else if (path == "/whoami") {
    sent = co_await writer.Send(
        200, text,
        StrCat(request.http2 ? "http2" : "http1", " ", request.peer.has_certificate ? "" : "no ", "certificate ",
               request.peer.common_name, " ", Join(request.peer.organizations, ","), "\n"));
  } else if (path == "/slow") {
    ++slow_requests;
    co_await loop.Sleep(milliseconds(Parameter(request, "ms", 100)));
    --slow_requests;
    sent = co_await writer.Send(200, text, std::string("slow\n"));
  } else if (path == "/stream") {
    sent = co_await Stream(std::move(request), writer);
  } else if (path == "/text") {
    sent = co_await writer.Send(200, text, Text(Parameter(request, "n", 1'000'000)));
  } else if (path == "/slow_requests") {
    sent = co_await writer.Send(200, text, StrCat(slow_requests));
  } else if (path == "/watch") {
    co_await Watch(loop, std::move(request), writer);
  } else if (path == "/nothing") {
    co_return;  // the server answers 500
  } else {
    sent = co_await writer.Send(404, text, std::string("not found\n"));
  }
}

// SIGTERM arrives in a thread of its own, which waits for nothing else.
struct Signals {
  Signals() {
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
  }
  sigset_t set;
};

// The listener goes with the end of accepting, so that new connections are refused while running answers are finished.
rt::Task<void> Serve(HttpServer& server, rt::RealLoop& loop, std::unique_ptr<Listener> listener,
                     std::shared_ptr<TlsServerContext> context) {
  std::function<std::shared_ptr<TlsServerContext>()> tls;
  if (context != nullptr) tls = [context] { return context; };
  const Result<void> served = co_await server.Serve(loop, *listener, std::move(tls));
  if (!served.ok()) Fail(served.error().ToString());
}

rt::Task<int> Run(rt::RealLoop& loop, const Settings& settings, rt::Event& stop) {
  std::shared_ptr<TlsServerContext> context = settings.plain ? nullptr : MakeContext(loop, settings);
  std::unique_ptr<Listener> listener = Must(Listen(loop, {"127.0.0.1", settings.port}));
  HttpServer server(
      loop, [&loop](Request request, ResponseWriter& writer) { return Handle(loop, std::move(request), writer); },
      settings.server);
  const uint16_t port = listener->endpoint().port;
  rt::Scope scope(loop);
  scope.Spawn(Serve(server, loop, std::move(listener), std::move(context)));
  std::cout << "port " << port << std::endl;
  co_await stop.Wait();
  co_await server.Shutdown(rt::Deadline::After(loop, settings.shutdown));
  std::cout << "stopped" << std::endl;
  co_return 0;
}

}  // namespace

int Main(int argc, char** argv) {
  if (argc < 2) Fail("usage: net_test_server DIRECTORY [plain] [NAME=VALUE...]");
  Settings settings;
  settings.directory = argv[1];
  for (int i = 2; i < argc; ++i) Configure(settings, argv[i]);
  const Signals signals;
  rt::RealLoop loop;
  rt::Event stop;
  std::thread waiting([&] {
    int number = 0;
    sigwait(&signals.set, &number);
    loop.Post([&stop] { stop.Set(); });
  });
  const int code = loop.Run(Run(loop, settings, stop));
  waiting.join();
  return code;
}

}  // namespace baton::net

int main(int argc, char** argv) { return baton::net::Main(argc, argv); }
