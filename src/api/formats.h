// The string formats that Kubernetes checks: date-time, byte, ipv4, uuid, ... Names are compared without dashes.
#pragma once

#include <string>
#include <string_view>

#include "api/schema.h"

namespace baton::api {

// The schema's format when it means something for the schema's type, else "": unknown formats are ignored.
std::string_view CheckedFormat(const Schema& schema);

// True when the text has the format, or when nothing is known about the format.
bool HasFormat(std::string_view format, std::string_view text);

}  // namespace baton::api
