// The parts of a URL that rules ask for. Not a general URL parser: it reads what an address of a server looks like.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/federation_kinds.h"

namespace baton::api::federation {

struct UrlParts {
  std::string_view scheme;  // as written
  std::string_view user;
  std::string_view host;  // with its port
  std::string_view query;
  std::string_view fragment;
};

// None when the text cannot be a URL: it has white space or control characters, a bad percent escape, or a bad port.
std::optional<UrlParts> ReadUrl(std::string_view text);

// What an address of a server must not have: user, fragment, query; and it must have a host.
void CheckServerUrl(Errors& errors, const std::string& field, const UrlParts& url, std::string_view form);

}  // namespace baton::api::federation
