// HTTP proxies: NO_PROXY matching and CONNECT.
#include "net/proxy.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "base/strings.h"

namespace baton::net {
namespace {

constexpr size_t kConnectAnswerBytesMax = size_t{16} << 10;

struct ProxyUrl {
  Endpoint endpoint;
  std::string credentials;  // "user:password", decoded; empty when there are none
};

// Errors name the proxy without its password.
Result<ProxyUrl> ParseProxyUrl(std::string_view url) {
  constexpr std::string_view kScheme = "http://";
  constexpr uint16_t kDefaultPort = 80;
  std::string_view rest = url;
  const bool has_scheme = rest.find("://") != std::string_view::npos;
  if (has_scheme && !rest.starts_with(kScheme)) {
    return InvalidError(
        StrCat("proxy ", Quote(rest.substr(0, rest.find("://"))), "://...: only http:// proxies are supported"));
  }
  if (has_scheme) rest.remove_prefix(kScheme.size());
  rest = rest.substr(0, rest.find_first_of("/?#"));
  ProxyUrl parsed;
  if (const size_t at = rest.rfind('@'); at != std::string_view::npos) {
    Result<std::string> credentials = PercentDecode(rest.substr(0, at), /*plus_is_space=*/false);
    rest.remove_prefix(at + 1);
    if (!credentials.ok()) return InvalidError(StrCat("proxy ", Quote(rest), ": bad escape in its user or password"));
    parsed.credentials = *std::move(credentials);
    if (parsed.credentials.find(':') == std::string::npos) parsed.credentials += ':';
  }
  const size_t bracket = rest.starts_with('[') ? std::min(rest.find(']'), rest.size()) : 0;
  const bool has_port = rest.find(':', bracket) != std::string_view::npos;
  parsed.endpoint =
      TRY(ParseEndpoint(has_port ? std::string(rest) : StrCat(rest, ":", kDefaultPort)).Context("the proxy's address"));
  return parsed;
}

// An IP address; IPv4 as the IPv6 address that stands for it, so that both forms are equal.
using Address = std::array<unsigned char, 16>;
constexpr size_t kMappedBytes = 12;
constexpr Address kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

std::optional<Address> ParseAddress(std::string_view text) {
  const std::string terminated(text);
  Address address = kMapped;
  if (inet_pton(AF_INET, terminated.c_str(), address.data() + kMappedBytes) == 1) return address;
  if (inet_pton(AF_INET6, terminated.c_str(), address.data()) == 1) return address;
  return std::nullopt;
}

bool IsV4(const Address& address) {
  return std::equal(kMapped.begin(), kMapped.begin() + kMappedBytes, address.begin());
}

bool IsLoopback(const Address& address) {
  constexpr Address kLoopback6 = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  return IsV4(address) ? address[kMappedBytes] == 127 : address == kLoopback6;
}

// "10.0.0.0/8"
struct Network {
  Address base;
  size_t bits;  // of the 128
  bool Contains(const Address& address) const {
    for (size_t bit = 0; bit < bits; ++bit) {
      if (((address[bit / 8] ^ base[bit / 8]) & (0x80 >> (bit % 8))) != 0) return false;
    }
    return true;
  }
};

std::optional<Network> ParseNetwork(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const std::string_view digits = text.substr(slash + 1);
  const std::optional<Address> base = ParseAddress(text.substr(0, slash));
  size_t bits = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bits);
  if (!base || error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  const bool is_v4 = text.substr(0, slash).find(':') == std::string_view::npos;
  if (bits > (is_v4 ? 32 : 128)) return std::nullopt;
  return Network{*base, is_v4 ? bits + 8 * kMappedBytes : bits};
}

// "host:port" and "[v6]:port" in two; false for anything else.
bool SplitPort(std::string_view text, std::string_view& host, std::string_view& port) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return false;
  host = text.substr(0, colon);
  port = text.substr(colon + 1);
  if (host.starts_with('[')) {
    if (!host.ends_with(']')) return false;
    host = host.substr(1, host.size() - 2);
    return true;
  }
  return host.find(':') == std::string_view::npos;
}

// One rule of NO_PROXY, in lower case: an address, a network, or a domain with its subdomains (".x" and "*.x": only
// subdomains), each but a network maybe with a port.
bool RuleMatches(std::string_view rule, const std::string& host, const std::optional<Address>& address,
                 std::string_view port) {
  if (const std::optional<Network> network = ParseNetwork(rule)) return address && network->Contains(*address);
  std::string_view name = rule;
  std::string_view rule_port;
  if (!SplitPort(rule, name, rule_port)) {
    name = rule;
    rule_port = {};
  }
  if (name.empty() || (!rule_port.empty() && rule_port != port)) return false;
  if (const std::optional<Address> wanted = ParseAddress(name)) return address && *wanted == *address;
  if (address) return false;  // no domain holds an address
  if (name.starts_with("*.")) name.remove_prefix(1);
  if (name.starts_with('.')) return host.ends_with(name);
  return host == name || host.ends_with(StrCat(".", name));
}

// As Go reads NO_PROXY. Local addresses never go through a proxy.
bool Excluded(std::string_view no_proxy, const Endpoint& target) {
  if (target.host == "localhost") return true;
  const std::optional<Address> address = ParseAddress(target.host);
  if (address && IsLoopback(*address)) return true;
  const std::string host = ToLower(Trim(target.host));
  const std::string port = StrCat(target.port);
  for (const std::string_view entry : Split(no_proxy, ',')) {
    const std::string rule = ToLower(Trim(entry));
    if (rule == "*" || (!rule.empty() && RuleMatches(rule, host, address, port))) return true;
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
  if (options.proxy_url.empty()) return std::optional<Endpoint>();
  if (!options.always && Excluded(options.no_proxy, target)) return std::optional<Endpoint>();
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
    if (answer.size() > kConnectAnswerBytesMax) {
      co_return UnavailableError(StrCat("proxy ", proxy.endpoint.ToString(), ": its answer is too large"));
    }
  }
  const std::string_view line = std::string_view(answer).substr(0, answer.find("\r\n"));
  if (!line.starts_with("HTTP/1.") || line.size() < 12 || line.substr(9, 1) != "2") {
    co_return UnavailableError(
        StrCat("proxy ", proxy.endpoint.ToString(), " refused ", target.ToString(), ": ", Quote(line)));
  }
  co_return Result<void>();
}

}  // namespace baton::net
