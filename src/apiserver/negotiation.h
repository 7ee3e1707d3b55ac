// Content negotiation: what a client sent, and in which form it wants the answer. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/value.h"

namespace baton::apiserver {

enum class Shape : uint8_t { kObject, kTable, kPartialMetadata, kAggregatedDiscovery };

struct Accepted {
  Shape shape = Shape::kObject;
  std::string shape_version = "v1";  // of the Table or PartialObjectMetadata: "v1", "v1beta1"
  bool yaml = false;
};

// From the Accept header, the first form that we have; an empty header takes JSON. 406 when there is none.
// `resource` says that Tables and metadata alone are possible, `discovery` the aggregated documents.
enum class Answerable : uint8_t { kPlain, kResource, kDiscovery };
Result<Accepted> Negotiate(std::string_view accept, Answerable what);

enum class BodyFormat : uint8_t { kJson, kYaml, kProtobuf };

// Of a request's body that is an object. 415 for what we do not read.
Result<BodyFormat> ObjectFormat(std::string_view content_type);

struct ParsedBody {
  json::Value value;
  std::vector<std::string> duplicate_fields;
};
// 400 with kube-apiserver's words when it cannot be parsed.
// `kind` is what the body should be, for the error; "": nothing in particular.
Result<ParsedBody> ParseBody(std::string_view body, BodyFormat format, std::string_view kind);

// The media type without parameters, in lower case.
std::string MediaType(std::string_view content_type);

}  // namespace baton::apiserver
