// Keys, bytes and versions of stored objects.
#include "apiserver/object.h"

#include <charconv>
#include <utility>

#include "base/invariant.h"
#include "base/strings.h"
#include "json/parse.h"
#include "json/print.h"

namespace baton::apiserver {

namespace {

constexpr std::string_view kCoreGroupKey = "core";  // no CRD's group: those have a dot
constexpr std::string_view kApiVersionStart = R"({"apiVersion":")";

void AppendMember(std::string& out, const json::Member& member) {
  if (out.back() != '{') out += ',';
  json::AppendQuoted(out, member.key());
  out += ':';
}

}  // namespace

std::string StoragePrefix(const api::ResourceType& type, std::string_view ns) {
  const std::string& group = type.storage_group ? *type.storage_group : type.group;
  std::string prefix = StrCat("/", group.empty() ? kCoreGroupKey : std::string_view(group), "/", type.plural, "/");
  if (!ns.empty()) StrAppend(prefix, ns, "/");
  return prefix;
}

std::string StorageKey(const api::ResourceType& type, std::string_view ns, std::string_view name) {
  return StoragePrefix(type, ns).append(name);
}

std::string Encoded::WithVersion(Revision revision) const {
  std::string text;
  text.reserve(bytes.size() + kVersionDigitsMax);
  text.append(bytes, 0, version_at);
  text += std::to_string(revision.value());
  text.append(bytes, version_at);
  return text;
}

Encoded Encode(json::Value object) {
  object.Edit("metadata").Set("resourceVersion", "");
  Encoded encoded;
  encoded.bytes = "{";
  for (const json::Member& member : object.members()) {
    AppendMember(encoded.bytes, member);
    if (member.key() != "metadata") {
      json::Append(encoded.bytes, member.value());
      continue;
    }
    encoded.bytes += '{';
    for (const json::Member& field : member.value().members()) {
      AppendMember(encoded.bytes, field);
      json::Append(encoded.bytes, field.value());
      if (field.key() == "resourceVersion") encoded.version_at = encoded.bytes.size() - 1;
    }
    encoded.bytes += '}';
  }
  encoded.bytes += '}';
  INVARIANT(encoded.version_at > 0, "an object has a place for its version");
  return encoded;
}

Versioner::Versioner(const api::ResourceType& type) : type_(type) {
  if (type.from_storage == nullptr) start_ = StrCat(kApiVersionStart, type.ApiVersion(), "\"");
}

Bytes Versioner::Show(Bytes stored, Revision revision) const {
  if (!start_.empty() && revision.value() > type_.defaults_missing_until && stored->starts_with(start_)) return stored;
  return InVersion(std::move(stored), revision, type_);
}

Bytes InVersion(Bytes stored, Revision revision, const api::ResourceType& type) {
  const bool old = type.defaults_missing_until > 0 && revision.value() <= type.defaults_missing_until;
  if (type.from_storage != nullptr || old) {
    Result<json::Value> object = json::Parse(*stored);
    INVARIANT(object.ok(), "what is stored is JSON");
    return std::make_shared<const std::string>(json::Print(FromStorage(type, *std::move(object), revision)));
  }
  const std::string wanted = type.ApiVersion();
  const std::string_view text = *stored;
  if (text.starts_with(kApiVersionStart)) {
    const std::string_view rest = text.substr(kApiVersionStart.size());
    const size_t end = rest.find('"');
    if (rest.substr(0, end) == wanted) return stored;
    return std::make_shared<const std::string>(StrCat(kApiVersionStart, wanted, rest.substr(end)));
  }
  // A custom resource may have preserved a field that sorts before apiVersion.
  Result<json::Value> object = json::Parse(text);
  INVARIANT(object.ok(), "what is stored is JSON");
  if ((*object)["apiVersion"].str() == wanted) return stored;
  object->Set("apiVersion", wanted);
  return std::make_shared<const std::string>(json::Print(*object));
}

json::Value FromStorage(const api::ResourceType& type, json::Value stored, Revision revision) {
  const bool old = type.defaults_missing_until > 0 && revision.value() <= type.defaults_missing_until;
  if (old && type.schema != nullptr) api::ApplyDefaults(stored, *type.schema);
  if (type.from_storage != nullptr) return type.from_storage(std::move(stored));
  stored.Set("apiVersion", type.ApiVersion());
  return stored;
}

json::Value ToStorage(const api::ResourceType& type, json::Value object) {
  if (type.to_storage != nullptr) return type.to_storage(std::move(object));
  if (!type.storage_version.empty()) object.Set("apiVersion", StrCat(type.group, "/", type.storage_version));
  return object;
}

std::string VersionText(Revision revision) { return std::to_string(revision.value()); }

std::string NotANumber(std::string_view text) {
  return StrCat("strconv.ParseInt: parsing \"", text, "\": invalid syntax");
}

Result<Revision> ParseVersion(std::string_view text) {
  if (text.empty()) return Revision(0);
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) {
    return InvalidError(
        StrCat("Invalid value: \"", text, "\": strconv.ParseUint: parsing \"", text, "\": invalid syntax"));
  }
  return Revision(number);
}

json::Value DecodeCache::Decode(const Bytes& bytes) {
  const auto found = by_address_.find(bytes.get());
  if (found != by_address_.end()) {
    newest_first_.splice(newest_first_.begin(), newest_first_, found->second);
    return found->second->value;
  }
  Result<json::Value> value = json::Parse(*bytes);
  INVARIANT(value.ok(), "what is stored is JSON");
  Remember(bytes, *value);
  return *std::move(value);
}

DecodeCache::Settled DecodeCache::IsSettled(const Bytes& bytes, const api::SchemaPtr& schema) const {
  const auto found = by_address_.find(bytes.get());
  if (found == by_address_.end() || found->second->schema != schema) return Settled::kUnknown;
  return found->second->settled;
}

void DecodeCache::SetSettled(const Bytes& bytes, const api::SchemaPtr& schema, Settled settled) {
  const auto found = by_address_.find(bytes.get());
  if (found == by_address_.end()) return;
  found->second->schema = schema;
  found->second->settled = settled;
}

void DecodeCache::Remember(const Bytes& bytes, json::Value value) {
  if (bytes->size() > text_bytes_max_ / 4 || by_address_.contains(bytes.get())) return;
  newest_first_.push_front({.bytes = bytes, .value = std::move(value), .schema = nullptr});
  by_address_.emplace(bytes.get(), newest_first_.begin());
  text_bytes_ += bytes->size();
  while (text_bytes_ > text_bytes_max_) {
    const Known& oldest = newest_first_.back();
    text_bytes_ -= oldest.bytes->size();
    by_address_.erase(oldest.bytes.get());
    newest_first_.pop_back();
  }
}

}  // namespace baton::apiserver
