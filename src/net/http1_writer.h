// Internal to net: how a handler's answer is written in HTTP/1.x.
#pragma once

#include <string>
#include <string_view>

#include "net/server_session.h"

namespace baton::net {

class Http1Writer final : public ResponseWriter {
 public:
  Http1Writer(ServerSession& session, ByteStream& stream, const Request& request, bool http10, bool close)
      : session_(session),
        stream_(stream),
        head_request_(request.method == "HEAD"),
        accepts_gzip_(AcceptsGzip(request.headers)),
        http10_(http10),
        close_(close) {}

  bool started() const { return started_; }
  bool finished() const { return finished_; }  // a whole answer was written
  bool close() const { return close_; }        // the client was told that the connection ends with this answer

  rt::Task<Result<void>> Send(int status, Headers headers, Body body) override;
  rt::Task<Result<void>> Start(int status, Headers headers) override;
  rt::Task<Result<void>> Write(Body chunk) override;
  rt::Task<Result<void>> Finish() override;
  bool shutting_down() const override { return session_.shutting_down; }
  rt::Event& shutdown() override { return session_.shutdown; }

 private:
  // The status line and the fields, without the blank line that ends them.
  std::string Head(int status, const Headers& headers);
  // `front`, the body's pieces and `back`, in as few writes as is cheap.
  rt::Task<Result<void>> WriteGathered(std::string front, Body body, std::string_view back);
  rt::Task<Result<void>> WriteAll(std::string_view bytes);

  ServerSession& session_;
  ByteStream& stream_;
  bool head_request_;
  bool accepts_gzip_;
  bool http10_;
  bool close_;
  bool started_ = false;
  bool finished_ = false;
  bool body_allowed_ = true;
};

}  // namespace baton::net
