// Fuzz: any bytes as a body, and as the message of a kind that the first byte chooses. Nothing crashes, the same bytes
// give the same answer, and an object that is read can be printed and read again as JSON within JSON's own limits.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "api/protobuf.h"
#include "api/protobuf_table.h"
#include "base/strings.h"
#include "json/parse.h"
#include "json/print.h"

namespace {

using baton::Result;
using baton::StrCat;
using baton::json::Value;

void Check(std::string_view body) {
  const Result<Value> decoded = baton::api::DecodeProtobuf(body);
  const Result<Value> again = baton::api::DecodeProtobuf(body);
  if (decoded.ok() != again.ok()) abort();
  if (!decoded.ok()) {
    if (decoded.error().kind() != baton::ErrorKind::kInvalid || !(decoded.error() == again.error())) abort();
    return;
  }
  const Result<Value> parsed = baton::json::Parse(baton::json::Print(*decoded));
  if (!parsed.ok() || !(*parsed == *decoded) || !(*again == *decoded)) abort();
}

std::string Bytes(char tag, std::string_view bytes) {
  std::string out(1, tag);
  size_t size = bytes.size();
  for (; size >= 0x80; size >>= 7) out.push_back(static_cast<char>(size | 0x80));
  out.push_back(static_cast<char>(size));
  return out.append(bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Check(text);
  if (size == 0) return 0;
  const auto kinds = baton::api::protobuf::Kinds();
  const baton::api::protobuf::KindRow& row = kinds[data[0] % kinds.size()];
  const std::string type_meta = Bytes('\x0a', StrCat(Bytes('\x0a', row.api_version), Bytes('\x12', row.kind)));
  Check(StrCat(std::string_view("k8s\0", 4), type_meta, Bytes('\x12', text.substr(1))));
  return 0;
}
