// Requests read by Kubernetes' rules. Where the rules look odd (a path that ends in ".../namespaces/x/status" is the
// namespace's own, "/api/v1/watch/pods" is a verb in the path) they are what RBAC rules have been written against.
#include "apiserver/request_info.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "base/strings.h"
#include "base/utf8.h"
#include "json/names.h"
#include "json/selector.h"
#include "net/http.h"

namespace baton::apiserver {
namespace {

using Parts = std::span<const std::string_view>;

struct MethodVerb {
  std::string_view method;
  std::string_view verb;
};
constexpr std::array<MethodVerb, 6> kMethodVerbs = {
    {{"POST", "create"}, {"GET", "get"}, {"HEAD", "get"}, {"PUT", "update"}, {"PATCH", "patch"}, {"DELETE", "delete"}}};

// "" for a method that no resource understands: no rule but "*" allows it.
std::string_view VerbOf(std::string_view method) {
  const auto* const row = std::ranges::find(kMethodVerbs, method, &MethodVerb::method);
  return row == kMethodVerbs.end() ? std::string_view() : row->verb;
}

std::vector<std::string_view> SplitPath(std::string_view path) {
  while (path.starts_with('/')) path.remove_prefix(1);
  while (path.ends_with('/')) path.remove_suffix(1);
  if (path.empty()) return {};
  return Split(path, '/');
}

// Takes group and version off the front; false when the path names no resource. At least one part is left.
bool TakeGroupVersion(Parts& parts, RequestInfo& info) {
  if (parts.size() < 3) return false;
  if (parts[0] == "api") {
    parts = parts.subspan(1);
  } else if (parts[0] == "apis" && parts.size() >= 4) {
    info.group = parts[1];
    parts = parts.subspan(2);
  } else {
    return false;
  }
  info.version = parts[0];
  parts = parts.subspan(1);
  return true;
}

// Sets the namespace and leaves the parts from the resource on.
void TakeNamespace(Parts& parts, RequestInfo& info) {
  if (parts[0] != "namespaces" || parts.size() < 2) return;
  info.ns = parts[1];
  info.names_namespace = parts.size() <= 2 || parts[2] == "status" || parts[2] == "finalize";
  if (!info.names_namespace) parts = parts.subspan(2);
}

// The name that a collection request is limited to by its field selector: who may watch one object may watch it so.
std::string SelectedName(const Query& query) {
  const Result<json::FieldSelector> selector = json::FieldSelector::Parse(query.Get("fieldSelector"));
  if (!selector.ok()) return {};
  const auto name = selector->ExactMatch("metadata.name");
  return name && json::IsPathSegmentName(*name) ? std::string(*name) : std::string();
}

Result<void> ReadResource(std::string_view method, Parts parts, const Query& query, RequestInfo& info) {
  info.is_resource = true;
  if (parts[0] == "watch" || parts[0] == "proxy") {
    if (parts.size() < 2) return InvalidError(StrCat("unable to determine kind and namespace from url, ", info.path));
    info.verb = parts[0];
    parts = parts.subspan(1);
  } else {
    info.verb = VerbOf(method);
  }
  TakeNamespace(parts, info);
  info.parts.assign(parts.begin(), parts.end());
  info.resource = parts[0];
  if (parts.size() >= 2) info.name = parts[1];
  if (parts.size() >= 3 && info.verb != "proxy") info.subresource = parts[2];

  if (info.name.empty() && info.verb == "get") {
    info.verb = query.Flag("watch") ? "watch" : "list";
    info.name = SelectedName(query);
  }
  if (info.name.empty() && info.verb == "delete") info.verb = "deletecollection";
  return {};
}

}  // namespace

std::string_view Query::Get(std::string_view name) const {
  for (const auto& [key, value] : parameters_) {
    if (key == name) return value;
  }
  return {};
}

bool Query::Has(std::string_view name) const {
  return std::ranges::any_of(parameters_, [&](const auto& parameter) { return parameter.first == name; });
}

std::vector<std::string_view> Query::All(std::string_view name) const {
  std::vector<std::string_view> values;
  for (const auto& [key, value] : parameters_) {
    if (key == name) values.push_back(value);
  }
  return values;
}

bool Query::Flag(std::string_view name) const {
  if (!Has(name)) return false;
  const std::string value = ToLower(Get(name));
  return value != "0" && value != "false";
}

Result<ParsedRequest> ParseRequest(std::string_view method, std::string_view target) {
  const size_t question = target.find('?');
  ParsedRequest parsed;
  parsed.info.path = TRY(net::PercentDecode(target.substr(0, question), /*plus_is_space=*/false));
  auto parameters = question == std::string_view::npos ? std::vector<std::pair<std::string, std::string>>()
                                                       : TRY(net::ParseQuery(target.substr(question + 1)));
  // Everything below goes into JSON sooner or later: error messages, audit records, stored names.
  const bool utf8 = IsUtf8(parsed.info.path) && std::ranges::all_of(parameters, [](const auto& parameter) {
                      return IsUtf8(parameter.first) && IsUtf8(parameter.second);
                    });
  if (!utf8) return InvalidError(StrCat("the request target ", Quote(target), " is not UTF-8"));
  parsed.query = Query(std::move(parameters));
  parsed.info.verb = ToLower(method);

  const std::vector<std::string_view> all_parts = SplitPath(parsed.info.path);
  Parts parts(all_parts);
  if (TakeGroupVersion(parts, parsed.info)) TRY(ReadResource(method, parts, parsed.query, parsed.info));
  return parsed;
}

}  // namespace baton::apiserver
