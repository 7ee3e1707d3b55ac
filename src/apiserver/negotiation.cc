// Accept and Content-Type.
#include "apiserver/negotiation.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>

#include "api/field_errors.h"
#include "api/protobuf.h"
#include "apiserver/errors.h"
#include "base/strings.h"
#include "base/utf8.h"
#include "json/parse.h"
#include "json/yaml.h"

namespace baton::apiserver {

namespace {

constexpr size_t kBodyDepthMax = 500;

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::string_view TakeUntil(std::string_view& text, char separator) {
  const size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return Trimmed(part);
}

// One element of an Accept header: a media type with the parameters that Kubernetes uses.
struct Clause {
  std::string type;
  std::string as, group, version;
  bool refused = false;  // q=0
};

Clause ParseClause(std::string_view text) {
  Clause clause;
  clause.type = MediaType(TakeUntil(text, ';'));
  while (!text.empty()) {
    std::string_view parameter = TakeUntil(text, ';');
    const std::string_view name = TakeUntil(parameter, '=');
    if (name == "as") clause.as = parameter;
    if (name == "g") clause.group = parameter;
    if (name == "v") clause.version = parameter;
    if (name == "q") clause.refused = parameter == "0" || parameter == "0.0";
  }
  return clause;
}

std::optional<Accepted> Try(const Clause& clause, Answerable what) {
  if (clause.refused) return std::nullopt;
  Accepted accepted;
  accepted.yaml = clause.type == "application/yaml";
  if (!accepted.yaml && clause.type != "application/json" && clause.type != "*/*" && clause.type != "application/*") {
    return std::nullopt;
  }
  if (clause.as.empty()) return accepted;
  accepted.shape_version = clause.version;
  if (what == Answerable::kResource && clause.group == "meta.k8s.io" &&
      (clause.version == "v1" || clause.version == "v1beta1")) {
    if (clause.as == "Table") accepted.shape = Shape::kTable;
    if (clause.as == "PartialObjectMetadata" || clause.as == "PartialObjectMetadataList") {
      accepted.shape = Shape::kPartialMetadata;
    }
  }
  if (what == Answerable::kDiscovery && clause.group == "apidiscovery.k8s.io" && clause.as == "APIGroupDiscoveryList" &&
      (clause.version == "v2" || clause.version == "v2beta1")) {
    accepted.shape = Shape::kAggregatedDiscovery;
  }
  if (accepted.shape == Shape::kObject) return std::nullopt;
  return accepted;
}

std::string Unrecognized(std::string_view kind) {
  if (kind.empty()) return "couldn't get version/kind; json parse error: ";
  return StrCat("the object provided is unrecognized (must be of type ", kind,
                "): couldn't get version/kind; json parse error: ");
}

// Where keys are given twice: "data.k". Called for text that is known to be JSON and to have some.
std::vector<std::string> DuplicatePaths(std::string_view text) {
  struct Level {
    std::string path;
    std::set<std::string_view> keys;  // of an object
    bool array = false;
    size_t index = 0;
  };
  std::vector<Level> levels(1);
  std::vector<std::string> found;
  std::string_view key;  // the last string that was read
  std::string child;
  // A path is as long as all keys above it, and there may be one for every few bytes of a body: few are kept, and
  // short.
  const auto cut = [](std::string path) {
    if (path.size() > api::kShownPathBytesMax) path.resize(Utf8Prefix(path, api::kShownPathBytesMax).size());
    return path;
  };
  for (size_t i = 0; i < text.size() && found.size() < api::kUnknownFieldsMax; ++i) {
    Level& level = levels.back();
    const auto place = [&] { return level.array ? cut(StrCat(level.path, "[", level.index, "]")) : child; };
    switch (text[i]) {
      case '"': {
        const size_t begin = ++i;
        while (text[i] != '"') i += text[i] == '\\' ? 2 : 1;
        key = text.substr(begin, i - begin);
        break;
      }
      case ':':
        child = cut(level.path.empty() ? std::string(key) : StrCat(level.path, ".", key));
        if (!level.keys.insert(key).second) found.push_back(child);
        break;
      case '{':
      case '[':
        levels.push_back({.path = place(), .keys = {}, .array = text[i] == '[', .index = 0});
        break;
      case '}':
      case ']':
        levels.pop_back();
        break;
      case ',':
        ++level.index;
        break;
      default:
        break;
    }
  }
  return found;
}

}  // namespace

std::string MediaType(std::string_view content_type) {
  std::string type(Trimmed(content_type.substr(0, content_type.find(';'))));
  std::ranges::transform(type, type.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return type;
}

Result<Accepted> Negotiate(std::string_view accept, Answerable what) {
  if (Trimmed(accept).empty()) return Accepted();
  while (!accept.empty()) {
    if (std::optional<Accepted> accepted = Try(ParseClause(TakeUntil(accept, ',')), what)) return *accepted;
  }
  return NotAcceptable("only the following media types are accepted: application/json, application/yaml");
}

Result<BodyFormat> ObjectFormat(std::string_view content_type) {
  const std::string type = MediaType(content_type);
  if (type.empty() || type == "application/json") return BodyFormat::kJson;
  if (type == "application/yaml") return BodyFormat::kYaml;
  if (type == "application/vnd.kubernetes.protobuf") return BodyFormat::kProtobuf;
  return UnsupportedMedia(
      "the body of the request was in an unknown format - accepted media types include: application/json, "
      "application/yaml, application/vnd.kubernetes.protobuf");
}

Result<ParsedBody> ParseBody(std::string_view body, BodyFormat format, std::string_view kind) {
  ParsedBody parsed;
  if (format == BodyFormat::kProtobuf) {
    Result<json::Value> value = api::DecodeProtobuf(body);
    if (!value.ok()) return BadRequest(value.error().message());
    parsed.value = *std::move(value);
    return parsed;
  }
  if (format == BodyFormat::kYaml) {
    Result<json::Value> value = json::ParseYaml(body);
    if (!value.ok()) return BadRequest(StrCat("error parsing YAML: ", value.error().message()));
    parsed.value = *std::move(value);
    return parsed;
  }
  json::ParseOptions options;
  options.max_depth = kBodyDepthMax;
  options.duplicate_keys = &parsed.duplicate_fields;
  Result<json::Value> value = json::Parse(body, options);
  if (!value.ok()) {
    return BadRequest(StrCat(Unrecognized(kind), value.error().message()));
  }
  if (!kind.empty() && !value->is_object()) {
    return BadRequest(
        StrCat(Unrecognized(kind), "cannot unmarshal ", json::KindName(value->kind()), " into an object"));
  }
  if (!parsed.duplicate_fields.empty()) parsed.duplicate_fields = DuplicatePaths(body);
  parsed.value = *std::move(value);
  return parsed;
}

}  // namespace baton::apiserver
