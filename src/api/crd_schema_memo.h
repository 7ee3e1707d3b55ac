// ReadCrdSchema(), remembered: a definition is read by its admission, its controller, by each server of a process that
// has several (practice clusters), and by each server that starts again on what it had. The result is ReadCrdSchema's,
// always; who reads the same definition gets the same Schema.
//
//   const std::shared_ptr<const CrdSchemaResult> read = CrdSchemaMemo::OfThisThread().Read(schema, path);
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <string>
#include <string_view>

#include "api/crd_schema.h"
#include "json/value.h"

namespace baton::api {

inline constexpr size_t kCrdSchemasRemembered = 64;
// Of all definitions that are remembered (json::Value::HeapBytes); one that is larger alone is not.
inline constexpr size_t kCrdSchemaBytesRemembered = size_t{16} << 20;

class CrdSchemaMemo {
 public:
  static CrdSchemaMemo& OfThisThread();

  std::shared_ptr<const CrdSchemaResult> Read(const json::Value& open_api_v3_schema, std::string_view path);

  size_t hits() const { return hits_; }
  size_t bytes() const { return bytes_; }

 private:
  struct Known {
    json::Value schema;
    std::string path;
    std::shared_ptr<const CrdSchemaResult> read;
    size_t bytes = 0;  // of `schema`
  };
  std::list<Known> newest_first_;
  size_t bytes_ = 0;  // of all
  size_t hits_ = 0;
};

}  // namespace baton::api
