// Endpoints, queries, escapes, NO_PROXY and gzip: what is read can be written and read again, and slicing changes
// nothing.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/invariant.h"
#include "base/strings.h"
#include "net/client.h"
#include "net/gzip.h"
#include "net/http.h"
#include "net/transport.h"

namespace baton::net {
namespace {

void Endpoints(std::string_view text) {
  const Result<Endpoint> endpoint = ParseEndpoint(text);
  if (!endpoint.ok()) return;
  const Result<Endpoint> again = ParseEndpoint(endpoint->ToString());
  INVARIANT(again.ok() && again->host == endpoint->host && again->port == endpoint->port, "an endpoint changed");
  INVARIANT(Headers::ValidField("host", endpoint->ToString()), "an endpoint that is no header value");
}

void Queries(std::string_view text) {
  INVARIANT(*PercentDecode(PercentEncode(text), true) == text, "escaping lost something");
  const auto parameters = ParseQuery(text);
  if (!parameters.ok()) return;
  std::string printed;
  for (const auto& [name, value] : *parameters) {
    StrAppend(printed, printed.empty() ? "" : "&", PercentEncode(name), "=", PercentEncode(value));
  }
  const auto again = ParseQuery(printed);
  INVARIANT(again.ok() && *again == *parameters, "a query changed");
}

void Proxies(std::string_view text) {
  const size_t middle = text.size() / 2;
  const std::string url(text.substr(0, middle));
  const std::string rules(text.substr(middle));
  static_cast<void>(ChooseProxy({.proxy_url = url, .no_proxy = rules}, {"a.example.com", 443}));
  static_cast<void>(ChooseProxy({.proxy_url = "http://p:1", .no_proxy = rules}, {"10.1.2.3", 443}));
  const Result<std::optional<Endpoint>> excluded =
      ChooseProxy({.proxy_url = "http://p:1", .no_proxy = rules + ",a.example.com"}, {"a.example.com", 443});
  INVARIANT(excluded.ok() && !excluded->has_value(), "a rule before hides one behind");
}

std::string Gunzipped(std::string_view text, size_t piece) {
  GunzipStream stream;
  std::string out;
  while (!text.empty()) {
    const Result<std::string> made = stream.Feed(text.substr(0, piece));
    if (!made.ok()) return "error";
    out += *made;
    text.remove_prefix(std::min(piece, text.size()));
  }
  return StrCat(stream.complete(), out);
}

void Gzips(std::string_view text) {
  INVARIANT(Gunzipped(text, 7) == Gunzipped(text, text.size() + 1), "un-gzip depends on the slicing");
  INVARIANT(Gunzipped(Gzip(Body(std::string(text))), 11) == StrCat(true, text), "gzip lost something");
}

}  // namespace
}  // namespace baton::net

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  baton::net::Endpoints(text);
  baton::net::Queries(text);
  baton::net::Proxies(text);
  baton::net::Gzips(text);
  return 0;
}
