// A message of the table as JSON. Inside only: callers use api/protobuf.h.
#pragma once

#include <string_view>

#include "api/protobuf_table.h"
#include "base/result.h"
#include "json/builder.h"

namespace baton::api::protobuf {

// Adds the fields of a kind's message. `body` is what positions in errors count from; `bytes` lies in it.
Result<void> AddMessageFields(std::string_view body, const Message& message, std::string_view bytes,
                              json::ObjectBuilder& out);

}  // namespace baton::api::protobuf
