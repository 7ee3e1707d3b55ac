// HTTP/1.1, client side: one request at a time on a connection.
#include <array>
#include <boost/beast/core/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <utility>

#include "base/strings.h"
#include "net/client_connection.h"
#include "net/gzip.h"
#include "rt/when.h"

namespace baton::net {
namespace {

namespace beast = boost::beast;
namespace http = beast::http;
using Parser = http::response_parser<http::string_body>;

constexpr size_t kReadBytes = size_t{16} << 10;

class Http1ClientConnection final : public ClientConnection,
                                    public std::enable_shared_from_this<Http1ClientConnection> {
 public:
  Http1ClientConnection(std::unique_ptr<ByteStream> stream, const ClientOptions& options, std::string authority)
      : stream_(std::move(stream)), options_(options), authority_(std::move(authority)) {}

  rt::Task<Outcome> Start(const Request& request) override;
  bool usable() const override { return !busy_ && !broken_; }
  bool idle() const override { return !busy_; }
  rt::Task<void> Run() override { co_return; }

 private:
  friend class Http1ResponseStream;

  std::string Serialize(const Request& request) const;

  std::unique_ptr<ByteStream> stream_;
  const ClientOptions& options_;
  std::string authority_;
  std::string buffer_;  // received, not yet parsed
  bool busy_ = false;
  bool broken_ = false;  // cannot take another request
  bool used_ = false;    // has answered one
};

class Http1ResponseStream final : public ResponseStream {
 public:
  Http1ResponseStream(std::shared_ptr<Http1ClientConnection> connection, bool head_request)
      : connection_(std::move(connection)) {
    parser_.header_limit(static_cast<uint32_t>(connection_->options_.limits.header_bytes_max));
    parser_.body_limit(boost::none);  // counted where the body is read whole; a watch has no end
    if (head_request) parser_.skip(true);
  }
  // Not read to its end: the rest of it stands in the way of another request.
  ~Http1ResponseStream() override {
    if (!complete_) connection_->broken_ = true;
    connection_->busy_ = false;
  }

  int status() const override { return status_; }
  const Headers& headers() const override { return headers_; }

  // Until the head is parsed. Interim answers (1xx) are passed over.
  rt::Task<Result<void>> ReadHead() {
    while (!parser_.is_header_done()) CO_TRY(co_await Step());
    status_ = parser_.get().result_int();
    for (const auto& field : parser_.get()) headers_.Add(field.name_string(), field.value());
    keep_alive_ = parser_.get().keep_alive();
    if (headers_.HasToken("content-encoding", "gzip")) {
      gunzip_.emplace(connection_->options_.limits.response_body_bytes_max);
      headers_.Remove("content-encoding");
      headers_.Remove("content-length");
    }
    parser_.eager(true);
    co_return Result<void>();
  }

  rt::Task<Result<std::optional<std::string>>> Read() override {
    while (true) {
      std::string body = std::exchange(parser_.get().body(), {});
      if (!body.empty() && gunzip_) body = CO_TRY(gunzip_->Feed(body));
      if (!body.empty()) co_return std::optional<std::string>(std::move(body));
      if (parser_.is_done()) {
        if (gunzip_ && !gunzip_->complete()) co_return UnavailableError("the response's gzip body was cut");
        complete_ = true;
        if (!keep_alive_) connection_->broken_ = true;
        co_return std::optional<std::string>();
      }
      CO_TRY(co_await Step());
    }
  }

  bool received_anything() const { return received_; }

 private:
  // Parses what is there, or reads more.
  rt::Task<Result<void>> Step() {
    if (!connection_->buffer_.empty()) {
      beast::error_code error;
      const size_t used = parser_.put(boost::asio::buffer(connection_->buffer_), error);
      connection_->buffer_.erase(0, used);
      if (error && error != http::error::need_more) {
        co_return UnavailableError(StrCat("malformed response: ", error.message()));
      }
      if (!error && used > 0) co_return Result<void>();
    }
    std::array<char, kReadBytes> bytes;
    const size_t got = CO_TRY(co_await connection_->stream_->Read(bytes));
    if (got == 0) {
      beast::error_code error;
      if (parser_.is_header_done()) parser_.put_eof(error);  // a body without a length ends with the connection
      if (error || !parser_.is_done())
        co_return UnavailableError("the server closed the connection in the middle of a response");
      co_return Result<void>();
    }
    received_ = true;
    connection_->buffer_.append(bytes.data(), got);
    co_return Result<void>();
  }

  std::shared_ptr<Http1ClientConnection> connection_;
  Parser parser_;
  std::optional<GunzipStream> gunzip_;
  int status_ = 0;
  Headers headers_;
  bool keep_alive_ = true;
  bool complete_ = false;
  bool received_ = false;
};

std::string Http1ClientConnection::Serialize(const Request& request) const {
  std::string text = StrCat(request.method, " ", request.target, " HTTP/1.1\r\nhost: ", authority_, "\r\n");
  for (const auto& [name, value] : request.headers.fields()) {
    if (name != "host" && name != "content-length" && Headers::ValidField(name, value))
      StrAppend(text, name, ": ", value, "\r\n");
  }
  if (!request.headers.Get("accept-encoding")) text += "accept-encoding: gzip\r\n";
  if (!request.body.empty() || request.method == "POST" || request.method == "PUT" || request.method == "PATCH") {
    StrAppend(text, "content-length: ", request.body.size(), "\r\n");
  }
  StrAppend(text, "\r\n", request.body);
  return text;
}

rt::Task<ClientConnection::Outcome> Http1ClientConnection::Start(const Request& request) {
  INVARIANT(usable(), "an HTTP/1.1 connection takes one request at a time");
  busy_ = true;
  const bool was_used = std::exchange(used_, true);
  auto response = std::make_unique<Http1ResponseStream>(shared_from_this(), request.method == "HEAD");
  const std::string text = Serialize(request);
  Result<void> done = co_await stream_->Write(text);
  if (done.ok()) done = co_await response->ReadHead();
  if (!done.ok()) {
    broken_ = true;
    // A kept connection that the server closed while it was idle: no byte of an answer, so it was never read.
    co_return Outcome{.response = done.error(), .unprocessed = was_used && !response->received_anything()};
  }
  co_return Outcome{.response = std::unique_ptr<ResponseStream>(std::move(response))};
}

}  // namespace

std::shared_ptr<ClientConnection> MakeHttp1Connection(rt::Loop& /*loop*/, std::unique_ptr<ByteStream> stream,
                                                      const ClientOptions& options, std::string authority) {
  return std::make_shared<Http1ClientConnection>(std::move(stream), options, std::move(authority));
}

}  // namespace baton::net
