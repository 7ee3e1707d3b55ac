// HTTP proxies: NO_PROXY matching and CONNECT.
#include "net/proxy.h"

#include <arpa/inet.h>

#include <array>
#include <charconv>
#include <cstring>

#include "base/strings.h"

namespace baton::net {
namespace {

constexpr size_t kConnectAnswerBytesMax = size_t{16} << 10;

struct ProxyUrl {
  Endpoint endpoint;
  std::string credentials;  // "user:password", decoded; empty when there are none
};

Result<ProxyUrl> ParseProxyUrl(std::string_view url) {
  constexpr std::string_view kScheme = "http://";
  constexpr uint16_t kDefaultPort = 80;
  const auto bad = [&](std::string_view why) { return InvalidError(StrCat("proxy '", url, "': ", why)); };
  std::string_view rest = url;
  if (rest.find("://") != std::string_view::npos) {
    if (!rest.starts_with(kScheme)) return bad("only http:// proxies are supported");
    rest.remove_prefix(kScheme.size());
  }
  rest = rest.substr(0, rest.find('/'));
  ProxyUrl parsed;
  if (const size_t at = rest.rfind('@'); at != std::string_view::npos) {
    parsed.credentials = TRY(PercentDecode(rest.substr(0, at), /*plus_is_space=*/false));
    rest.remove_prefix(at + 1);
  }
  const bool has_port = rest.find(':', rest.starts_with('[') ? rest.find(']') : 0) != std::string_view::npos;
  parsed.endpoint = TRY(ParseEndpoint(has_port ? std::string(rest) : StrCat(rest, ":", kDefaultPort))
                            .Context(StrCat("proxy '", url, "'")));
  return parsed;
}

struct Address {
  std::array<unsigned char, 16> bytes{};
  int bits = 0;  // 32 or 128; 0: no address
};

Address ParseAddress(const std::string& text) {
  Address address;
  if (inet_pton(AF_INET, text.c_str(), address.bytes.data()) == 1)
    address.bits = 32;
  else if (inet_pton(AF_INET6, text.c_str(), address.bytes.data()) == 1)
    address.bits = 128;
  return address;
}

bool InNetwork(const Address& address, std::string_view network) {
  const size_t slash = network.find('/');
  if (slash == std::string_view::npos || address.bits == 0) return false;
  const Address base = ParseAddress(std::string(network.substr(0, slash)));
  int prefix = -1;
  const std::string_view digits = network.substr(slash + 1);
  std::from_chars(digits.data(), digits.data() + digits.size(), prefix);
  if (base.bits != address.bits || prefix < 0 || prefix > base.bits) return false;
  for (int bit = 0; bit < prefix; ++bit) {
    const int mask = 0x80 >> (bit % 8);
    if ((address.bytes[static_cast<size_t>(bit / 8)] & mask) != (base.bytes[static_cast<size_t>(bit / 8)] & mask))
      return false;
  }
  return true;
}

// As Go reads NO_PROXY: "*", an address, a network, a domain with its subdomains (".x": only subdomains), each maybe
// with a port.
bool Excluded(std::string_view no_proxy, const Endpoint& target) {
  const std::string host = ToLower(target.host);
  const Address address = ParseAddress(host);
  if (host == "localhost" || (address.bits == 32 && address.bytes[0] == 127) || host == "::1") return true;
  for (std::string_view entry : Split(no_proxy, ',')) {
    const std::string rule = ToLower(Trim(entry));
    if (rule.empty()) continue;
    if (rule == "*" || rule == host || InNetwork(address, rule)) return true;
    std::string_view name = rule;
    const size_t colon = name.rfind(':');
    if (colon != std::string_view::npos && name.find(':') == colon) {
      if (name.substr(colon + 1) != StrCat(target.port)) continue;
      name = name.substr(0, colon);
      if (name == host) return true;
    }
    if (name.starts_with("*.")) name.remove_prefix(1);
    if (name.starts_with('.') ? std::string_view(host).ends_with(name)
                              : std::string_view(host).ends_with(StrCat(".", name)))
      return true;
  }
  return false;
}

std::string Base64(std::string_view text) {
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (size_t i = 0; i < text.size(); i += 3) {
    uint32_t bits = 0;
    for (size_t j = 0; j < 3; ++j)
      bits = bits << 8 | (i + j < text.size() ? static_cast<unsigned char>(text[i + j]) : 0U);
    for (size_t j = 0; j < 4; ++j) out += i + j <= text.size() ? kAlphabet[bits >> (18 - 6 * j) & 63] : '=';
  }
  return out;
}

}  // namespace

Result<std::optional<Endpoint>> ChooseProxy(const ProxyOptions& options, const Endpoint& target) {
  if (options.proxy_url.empty() || Excluded(options.no_proxy, target)) return std::optional<Endpoint>();
  return std::optional<Endpoint>(TRY(ParseProxyUrl(options.proxy_url)).endpoint);
}

rt::Task<Result<void>> OpenTunnel(ByteStream& stream, const ProxyOptions& options, const Endpoint& target) {
  const ProxyUrl proxy = CO_TRY(ParseProxyUrl(options.proxy_url));
  std::string request = StrCat("CONNECT ", target.ToString(), " HTTP/1.1\r\nhost: ", target.ToString(), "\r\n");
  if (!proxy.credentials.empty()) StrAppend(request, "proxy-authorization: Basic ", Base64(proxy.credentials), "\r\n");
  request += "\r\n";
  CO_TRY(co_await stream.Write(request));
  // Byte by byte: what follows the answer's head belongs to TLS.
  std::string answer;
  while (!answer.ends_with("\r\n\r\n")) {
    char byte = 0;
    const size_t got = CO_TRY(co_await stream.Read({&byte, 1}));
    if (got == 0) co_return UnavailableError(StrCat("proxy ", proxy.endpoint.ToString(), " closed the connection"));
    answer += byte;
    if (answer.size() > kConnectAnswerBytesMax) co_return UnavailableError("the proxy's answer is too large");
  }
  const std::string_view line = std::string_view(answer).substr(0, answer.find("\r\n"));
  if (!line.starts_with("HTTP/1.") || line.size() < 12 || line.substr(9, 1) != "2") {
    co_return UnavailableError(StrCat("proxy ", proxy.endpoint.ToString(), " refused ", target.ToString(), ": ", line));
  }
  co_return Result<void>();
}

}  // namespace baton::net
