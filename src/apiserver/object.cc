// Keys, bytes and versions of stored objects.
#include "apiserver/object.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <utility>

#include "apiserver/errors.h"
#include "base/invariant.h"
#include "base/strings.h"
#include "base/utf8.h"
#include "json/parse.h"
#include "json/print.h"

namespace baton::apiserver {

namespace {

constexpr std::string_view kCoreGroupKey = "core";  // no CRD's group: those have a dot
constexpr std::string_view kApiVersionStart = R"({"apiVersion":")";

// Prints the parts of an object, or takes their text from where they were printed before.
class Encoder {
 public:
  explicit Encoder(const Printed* before) : before_(before) {}

  Encoded Encode(const json::Value& object) && {
    const json::Value* old = before_ == nullptr ? nullptr : &before_->value;
    Members(
        object, old,
        [this](const json::Member& member, const json::Value* same, const Range* range) {
          return member.key() == "metadata" ? Metadata(member.value(), same) : Part(member.value(), same, range, 1);
        },
        before_ == nullptr ? nullptr : &before_->layout.members, encoded_.layout.members);
    return std::move(encoded_);
  }

 private:
  using Range = Layout::Range;
  using Ranges = std::vector<Range>;

  uint32_t Here() const { return static_cast<uint32_t>(encoded_.bytes.size()); }  // objects are far below a gigabyte

  // The range of a part of `old`; null when it is not known.
  static const Range* At(const Ranges* ranges, size_t index) {
    return ranges != nullptr && index < ranges->size() ? &(*ranges)[index] : nullptr;
  }

  template <class Print>
  void Members(const json::Value& object, const json::Value* old, const Print& print, const Ranges* old_ranges,
               Ranges& ranges) {
    std::string& out = encoded_.bytes;
    const std::span<const json::Member> olds = old == nullptr ? std::span<const json::Member>() : old->members();
    size_t beside = 0;
    ranges.reserve(object.size());
    out += '{';
    for (const json::Member& member : object.members()) {
      if (out.back() != '{') out += ',';
      json::AppendQuoted(out, member.key());
      out += ':';
      while (beside < olds.size() && olds[beside].key() < member.key()) ++beside;
      const bool there = beside < olds.size() && olds[beside].shared_key() == member.shared_key();
      const uint32_t begin = Here();
      print(member, there ? &olds[beside].value() : nullptr, there ? At(old_ranges, beside) : nullptr);
      ranges.push_back({.begin = begin, .end = Here()});
    }
    out += '}';
  }

  void Metadata(const json::Value& metadata, const json::Value* old) {
    Members(
        metadata, old,
        [this](const json::Member& member, const json::Value* same, const Range* range) {
          if (member.key() == "managedFields") return Managers(member.value(), same, range);
          Part(member.value(), same, range, 2);
          if (member.key() == "resourceVersion") encoded_.version_at = encoded_.bytes.size() - 1;
        },
        before_ == nullptr ? nullptr : &before_->layout.metadata, encoded_.layout.metadata);
  }

  // Most writes change one entry of the list.
  void Managers(const json::Value& list, const json::Value* old, const Range* range) {
    if (!list.is_array()) return Part(list, old, range, 2);
    std::string& out = encoded_.bytes;
    out += '[';
    for (const json::Value& entry : list.items()) {
      if (out.back() != '[') out += ',';
      const uint32_t begin = Here();
      const auto known = old == nullptr ? std::span<const json::Value>() : old->items();
      const auto same =
          std::ranges::find_if(known, [&](const json::Value& one) { return one.SharesStorageWith(entry); });
      const bool there = same != known.end();
      const auto index = static_cast<size_t>(same - known.begin());
      Part(entry, there ? &*same : nullptr, there ? At(&before_->layout.managers, index) : nullptr, 3);
      encoded_.layout.managers.push_back({.begin = begin, .end = Here()});
    }
    out += ']';
  }

  void Part(const json::Value& value, const json::Value* same, const Range* range, size_t depth) {
    if (same != nullptr && range != nullptr && same->SharesStorageWith(value)) {
      encoded_.bytes += before_->bytes.substr(range->begin, range->end - range->begin);
    } else {
      encoded_.depth = std::max(encoded_.depth, depth + json::Append(encoded_.bytes, value));
    }
  }

  const Printed* before_;
  Encoded encoded_;
};

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

std::optional<KeyParts> SplitKey(std::string_view key) {
  constexpr size_t kPartsMax = 4;
  std::array<std::string_view, kPartsMax> parts;
  size_t count = 0;
  if (!key.starts_with('/')) return std::nullopt;
  for (size_t slash = 0; slash < key.size(); ++count) {
    if (count == kPartsMax) return std::nullopt;
    const size_t end = std::min(key.find('/', slash + 1), key.size());
    parts[count] = key.substr(slash + 1, end - slash - 1);
    slash = end;
  }
  if (count < kPartsMax - 1) return std::nullopt;
  const bool namespaced = count == kPartsMax;
  return KeyParts{.group = parts[0] == kCoreGroupKey ? std::string_view() : parts[0],
                  .plural = parts[1],
                  .ns = namespaced ? parts[2] : std::string_view(),
                  .name = parts[count - 1]};
}

std::string Encoded::WithVersion(Revision revision) const {
  std::string text;
  text.reserve(bytes.size() + kVersionDigitsMax);
  text.append(bytes, 0, version_at);
  text += std::to_string(revision.value());
  text.append(bytes, version_at);
  return text;
}

Layout Encoded::LayoutWithVersion(Revision revision) const {
  const auto digits = static_cast<uint32_t>(std::to_string(revision.value()).size());
  Layout shifted = layout;
  for (std::vector<Layout::Range>* ranges : {&shifted.members, &shifted.metadata, &shifted.managers}) {
    for (Layout::Range& range : *ranges) {
      if (range.begin > version_at) range.begin += digits;
      if (range.end > version_at) range.end += digits;
    }
  }
  return shifted;
}

Encoded Encode(json::Value object, const Printed* before) {
  object.Edit("metadata").Set("resourceVersion", "");
  Encoded encoded = Encoder(before).Encode(object);
  INVARIANT(encoded.version_at > 0, "an object has a place for its version");
  return encoded;
}

Result<void> CheckStorable(const Encoded& encoded) {
  if (IsUtf8(encoded.bytes)) return {};
  return BadRequest("the object holds text that is not UTF-8");
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

const json::Value* DecodeCache::Find(const Bytes& bytes) const {
  const auto found = by_address_.find(bytes.get());
  return found == by_address_.end() ? nullptr : &found->second->value;
}

std::optional<Printed> DecodeCache::FindPrinted(const Bytes& bytes) const {
  const auto found = by_address_.find(bytes.get());
  if (found == by_address_.end()) return std::nullopt;
  return Printed{.bytes = *bytes, .value = found->second->value, .layout = found->second->layout};
}

void DecodeCache::Remember(const Bytes& bytes, json::Value value, Layout layout) {
  if (bytes->size() > text_bytes_max_ / 4 || by_address_.contains(bytes.get())) return;
  newest_first_.push_front({.bytes = bytes, .value = std::move(value), .layout = std::move(layout), .schema = nullptr});
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
