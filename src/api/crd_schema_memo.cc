// A short list, newest first: definitions that differ do so near their beginning, so that a look costs little.
#include "api/crd_schema_memo.h"

#include <algorithm>

namespace baton::api {

CrdSchemaMemo& CrdSchemaMemo::OfThisThread() {
  static thread_local CrdSchemaMemo memo;
  return memo;
}

std::shared_ptr<const CrdSchemaResult> CrdSchemaMemo::Read(const json::Value& open_api_v3_schema,
                                                           std::string_view path) {
  const auto known = std::ranges::find_if(
      newest_first_, [&](const Known& one) { return one.path == path && one.schema == open_api_v3_schema; });
  if (known != newest_first_.end()) {
    ++hits_;
    newest_first_.splice(newest_first_.begin(), newest_first_, known);
    return known->read;
  }
  auto read = std::make_shared<const CrdSchemaResult>(ReadCrdSchema(open_api_v3_schema, path));
  const size_t bytes = open_api_v3_schema.HeapBytes();
  if (bytes > kCrdSchemaBytesRemembered) return read;
  newest_first_.push_front({.schema = open_api_v3_schema, .path = std::string(path), .read = read, .bytes = bytes});
  bytes_ += bytes;
  while (newest_first_.size() > kCrdSchemasRemembered || bytes_ > kCrdSchemaBytesRemembered) {
    bytes_ -= newest_first_.back().bytes;
    newest_first_.pop_back();
  }
  return read;
}

}  // namespace baton::api
