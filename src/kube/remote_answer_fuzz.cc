// Whatever a server sends: a watch reads the same whole and in pieces; errors and warnings are made of anything.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/invariant.h"
#include "base/strings.h"
#include "kube/remote_answer.h"
#include "kube/remote_discovery.h"

namespace {

using namespace baton;        // NOLINT(google-build-using-namespace)
using namespace baton::kube;  // NOLINT(google-build-using-namespace)

std::string Watched(std::string_view text, size_t piece) {
  WatchDecoder decoder({.group = "", .version = "v1", .plural = "pods", .kind = "Pod"});
  std::string seen;
  for (; !text.empty(); text.remove_prefix(std::min(piece, text.size()))) {
    for (const Change& change : decoder.Add(text.substr(0, piece))) {
      StrAppend(seen, static_cast<int>(change.type), change.object.ToString(), "\n");
    }
  }
  if (decoder.failed()) StrAppend(seen, decoder.failed()->ToString());
  return seen;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  const size_t piece = 1 + data[0];
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  INVARIANT(Watched(text, piece) == Watched(text, text.size() + 1), "a watch depends on how it was cut");
  net::Response response{.status = 200 + data[0] * 2, .headers = {{"retry-after", "1"}}, .body = std::string(text)};
  if (net::Headers::ValidField("warning", text)) response.headers.Add("warning", text);
  (void)WarningsOf(response.headers);
  (void)ErrorOf(response);
  if (const Result<json::Value> body = BodyOf(response); body.ok()) {
    (void)AnswerOf(Verb::kList, {}, *body);
    Discovered discovered;
    AddAggregated(*body, discovered);
    for (const GroupVersionPath& of : GroupVersionsOf(*body)) AddResourceList(of, *body, discovered);
  }
  return 0;
}
