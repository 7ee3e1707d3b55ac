// Internal to net: HTTP/2 frames by hand, for tests that say what no decent peer says.
#pragma once

#include <nghttp2/nghttp2.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/strings.h"

namespace baton::net::h2 {

inline constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

inline std::string Number(uint64_t value, int bytes) {
  std::string text;
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) text += static_cast<char>(value >> shift & 0xff);
  return text;
}

inline std::string Frame(uint8_t type, uint8_t flags, int32_t stream, std::string_view payload) {
  return StrCat(Number(payload.size(), 3), Number(type, 1), Number(flags, 1), Number(static_cast<uint32_t>(stream), 4),
                payload);
}

inline std::string Settings(const std::vector<std::pair<uint16_t, uint32_t>>& entries = {}) {
  std::string payload;
  for (const auto& [id, value] : entries) payload += Number(id, 2) + Number(value, 4);
  return Frame(NGHTTP2_SETTINGS, 0, 0, payload);
}
inline std::string SettingsAck() { return Frame(NGHTTP2_SETTINGS, NGHTTP2_FLAG_ACK, 0, ""); }
inline std::string Ping(bool ack = false) {
  return Frame(NGHTTP2_PING, ack ? NGHTTP2_FLAG_ACK : NGHTTP2_FLAG_NONE, 0, "12345678");
}
inline std::string WindowUpdate(int32_t stream, uint32_t increment) {
  return Frame(NGHTTP2_WINDOW_UPDATE, 0, stream, Number(increment, 4));
}
inline std::string Reset(int32_t stream, uint32_t code) {
  return Frame(NGHTTP2_RST_STREAM, 0, stream, Number(code, 4));
}
inline std::string Goaway(int32_t last_stream, uint32_t code) {
  return Frame(NGHTTP2_GOAWAY, 0, 0, Number(static_cast<uint32_t>(last_stream), 4) + Number(code, 4));
}
inline std::string Data(int32_t stream, std::string_view bytes, bool end) {
  return Frame(NGHTTP2_DATA, end ? NGHTTP2_FLAG_END_STREAM : NGHTTP2_FLAG_NONE, stream, bytes);
}

using Fields = std::vector<std::pair<std::string, std::string>>;

// HPACK without compression: literals that are not indexed.
inline std::string HpackText(std::string_view text) {
  std::string out;
  if (text.size() < 127) {
    out += static_cast<char>(text.size());
  } else {
    out += static_cast<char>(127);
    size_t rest = text.size() - 127;
    for (; rest >= 128; rest /= 128) out += static_cast<char>(rest % 128 + 128);
    out += static_cast<char>(rest);
  }
  return out.append(text);
}
inline std::string Hpack(const Fields& fields) {
  std::string block;
  for (const auto& [name, value] : fields) {
    block += '\0';
    block += HpackText(name) + HpackText(value);
  }
  return block;
}

inline std::string HeadersFrame(int32_t stream, std::string_view block, bool end_stream, bool end_headers = true) {
  const int flags = (end_stream ? NGHTTP2_FLAG_END_STREAM : 0) | (end_headers ? NGHTTP2_FLAG_END_HEADERS : 0);
  return Frame(NGHTTP2_HEADERS, static_cast<uint8_t>(flags), stream, block);
}
inline std::string Continuation(int32_t stream, std::string_view block, bool end_headers) {
  return Frame(NGHTTP2_CONTINUATION, end_headers ? NGHTTP2_FLAG_END_HEADERS : NGHTTP2_FLAG_NONE, stream, block);
}

inline Fields RequestFields(std::string method, std::string path, const Fields& more = {}) {
  Fields fields = {
      {":method", std::move(method)}, {":scheme", "https"}, {":authority", "h"}, {":path", std::move(path)}};
  fields.insert(fields.end(), more.begin(), more.end());
  return fields;
}
inline std::string Get(int32_t stream, std::string path) {
  return HeadersFrame(stream, Hpack(RequestFields("GET", std::move(path))), /*end_stream=*/true);
}

// What a peer sent, one line per frame: "HEADERS 1 end :status=200 x=y", "DATA 1 end hello", "RST_STREAM 3 8".
class FrameReader {
 public:
  FrameReader() { nghttp2_hd_inflate_new(&inflater_); }
  FrameReader(const FrameReader&) = delete;
  FrameReader& operator=(const FrameReader&) = delete;
  ~FrameReader() { nghttp2_hd_inflate_del(inflater_); }

  std::vector<std::string> Feed(std::string_view bytes) {
    constexpr size_t kHead = 9;
    buffer_.append(bytes);
    std::vector<std::string> lines;
    while (buffer_.size() >= kHead) {
      const size_t length = Read(0, 3);
      if (buffer_.size() < kHead + length) break;
      lines.push_back(Line(static_cast<uint8_t>(buffer_[3]), static_cast<uint8_t>(buffer_[4]), Read(5, 4),
                           std::string_view(buffer_).substr(kHead, length)));
      buffer_.erase(0, kHead + length);
    }
    return lines;
  }

 private:
  size_t Read(size_t at, size_t bytes) const { return ReadIn(buffer_, at, bytes); }
  static size_t ReadIn(std::string_view text, size_t at, size_t bytes) {
    size_t value = 0;
    for (size_t i = 0; i < bytes && at + i < text.size(); ++i) {
      value = value << 8 | static_cast<unsigned char>(text[at + i]);
    }
    return value;
  }

  std::string Line(uint8_t type, uint8_t flags, size_t stream, std::string_view payload) {
    const std::string end = (flags & NGHTTP2_FLAG_END_STREAM) != 0 ? " end" : "";
    switch (type) {
      case NGHTTP2_DATA:
        return StrCat("DATA ", stream, end,
                      payload.size() > 100 ? StrCat(" <", payload.size(), ">") : StrCat(" ", payload));
      case NGHTTP2_HEADERS:
        return StrCat("HEADERS ", stream, end, Inflate(payload));
      case NGHTTP2_RST_STREAM:
        return StrCat("RST_STREAM ", stream, " ", ReadIn(payload, 0, 4));
      case NGHTTP2_SETTINGS:
        return (flags & NGHTTP2_FLAG_ACK) != 0 ? "SETTINGS ack" : "SETTINGS";
      case NGHTTP2_PING:
        return (flags & NGHTTP2_FLAG_ACK) != 0 ? "PING ack" : "PING";
      case NGHTTP2_GOAWAY:
        return StrCat("GOAWAY ", ReadIn(payload, 0, 4), " ", ReadIn(payload, 4, 4));
      case NGHTTP2_WINDOW_UPDATE:
        return StrCat("WINDOW_UPDATE ", stream, " ", ReadIn(payload, 0, 4));
      default:
        return StrCat("frame type ", static_cast<int>(type), " ", stream);
    }
  }

  std::string Inflate(std::string_view block) {
    std::string text;
    while (true) {
      nghttp2_nv field;
      int flags = 0;
      const ssize_t used = nghttp2_hd_inflate_hd2(inflater_, &field, &flags,
                                                  reinterpret_cast<const uint8_t*>(block.data()), block.size(), 1);
      if (used < 0) return " broken HPACK";
      block.remove_prefix(static_cast<size_t>(used));
      if ((flags & NGHTTP2_HD_INFLATE_EMIT) != 0) {
        StrAppend(text, " ", std::string_view(reinterpret_cast<const char*>(field.name), field.namelen), "=",
                  std::string_view(reinterpret_cast<const char*>(field.value), field.valuelen));
      }
      if ((flags & NGHTTP2_HD_INFLATE_FINAL) != 0) break;
    }
    nghttp2_hd_inflate_end_headers(inflater_);
    return text;
  }

  nghttp2_hd_inflater* inflater_ = nullptr;
  std::string buffer_;
};

}  // namespace baton::net::h2
