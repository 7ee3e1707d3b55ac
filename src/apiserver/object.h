// Objects as the store has them: compact JSON with sorted keys and the resourceVersion inside, so that reads, lists and
// watches hand out stored bytes as they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "api/resource_type.h"
#include "base/result.h"
#include "json/parse.h"
#include "json/value.h"
#include "store/store.h"

namespace baton::apiserver {

using store::Bytes;
using store::Revision;

// Keys: /apps/deployments/<namespace>/<name>, /core/namespaces/<name>.
std::string StoragePrefix(const api::ResourceType& type, std::string_view ns);  // "" : all namespaces; ends with '/'
std::string StorageKey(const api::ResourceType& type, std::string_view ns, std::string_view name);
// And back. The parts point into the key.
struct KeyParts {
  std::string_view group;  // that keeps it; "": core
  std::string_view plural;
  std::string_view ns;  // "": cluster-wide
  std::string_view name;
};
std::optional<KeyParts> SplitKey(std::string_view key);

// Where the larger parts of an object stand in its bytes, in the order of the object: its members, those of its
// metadata, and the entries of metadata.managedFields.
struct Layout {
  struct Range {
    uint32_t begin = 0;
    uint32_t end = 0;
  };
  std::vector<Range> members;
  std::vector<Range> metadata;
  std::vector<Range> managers;
};

// An object's bytes but for its resourceVersion, which is known when the store assigns the revision.
struct Encoded {
  std::string bytes;      // with metadata.resourceVersion ""
  size_t version_at = 0;  // where its digits go
  Layout layout;          // of these bytes
  size_t depth = 0;       // of what was printed; what was taken from before is no deeper than it may be

  std::string WithVersion(Revision revision) const;
  Layout LayoutWithVersion(Revision revision) const;
};
inline constexpr size_t kVersionDigitsMax = 20;
// What is deeper is not stored: it could not be read again, by us as a list or an event, where it is deeper still.
inline constexpr size_t kObjectDepthMax = json::kMaxDepth - 16;

// An object as it was printed before.
struct Printed {
  std::string_view bytes;
  const json::Value& value;
  const Layout& layout;  // of nothing when it is not known
};
// What `before` has in the same storage is taken from its bytes, not printed again.
Encoded Encode(json::Value object, const Printed* before = nullptr);
// Bytes that are not UTF-8 could not be parsed again, so whoever made them is told, and the store is not.
Result<void> CheckStorable(const Encoded& encoded);

// A stored object as the type shows it: the same but for apiVersion (conversion strategy None), or converted by the
// type when another group keeps it.
Bytes InVersion(Bytes stored, Revision revision, const api::ResourceType& type);
// The same for many objects of one type, which must outlive this.
class Versioner {
 public:
  explicit Versioner(const api::ResourceType& type);
  Bytes Show(Bytes stored, Revision revision) const;

 private:
  const api::ResourceType& type_;
  std::string start_;  // what stored bytes begin with that are shown as they are; empty: none are
};
json::Value FromStorage(const api::ResourceType& type, json::Value stored, Revision revision = {});
// And the way back: as it is kept.
json::Value ToStorage(const api::ResourceType& type, json::Value object);

std::string VersionText(Revision revision);
// Go's words for a parameter that should be a number.
std::string NotANumber(std::string_view text);
// "" and "0" are zero; kInvalid for what is no number.
Result<Revision> ParseVersion(std::string_view text);

// Parses what is stored, once: the newest values stay at hand, up to a limit of text. Stored bytes are ours, so bytes
// that cannot be parsed are a broken invariant.
//
// It also keeps what is known of an object: whether it has been through everything that a write of its type does, so
// that the next write looks only at what that one changes (apiserver/decode.h, IsSettled).
class DecodeCache {
 public:
  enum class Settled : uint8_t { kUnknown, kNo, kYes };

  explicit DecodeCache(size_t text_bytes_max = kTextBytesMax) : text_bytes_max_(text_bytes_max) {}
  json::Value Decode(const Bytes& bytes);
  const json::Value* Find(const Bytes& bytes) const;  // null: not at hand; lives until the next change
  std::optional<Printed> FindPrinted(const Bytes& bytes) const;
  void Remember(const Bytes& bytes, json::Value value, Layout layout = {});
  // By this schema; of another one nothing is known.
  Settled IsSettled(const Bytes& bytes, const api::SchemaPtr& schema) const;
  void SetSettled(const Bytes& bytes, const api::SchemaPtr& schema, Settled settled);

  static constexpr size_t kTextBytesMax = size_t{16} << 20;

 private:
  struct Known {
    Bytes bytes;  // kept, so that its address names nothing else
    json::Value value;
    Layout layout;
    api::SchemaPtr schema;  // kept, like the bytes
    Settled settled = Settled::kUnknown;
  };
  size_t text_bytes_max_;
  size_t text_bytes_ = 0;
  std::list<Known> newest_first_;
  std::unordered_map<const std::string*, std::list<Known>::iterator> by_address_;
};

}  // namespace baton::apiserver
