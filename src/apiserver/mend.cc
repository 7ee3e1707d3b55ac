// Finding and mending what cannot be parsed.
#include "apiserver/mend.h"

#include <cstdint>
#include <optional>
#include <unordered_set>
#include <utility>

#include "apiserver/object.h"
#include "base/strings.h"
#include "base/utf8.h"
#include "json/parse.h"

namespace baton::apiserver {

namespace {

using json::Value;

constexpr size_t kMendedDepthMax = 4 * json::kMaxDepth;         // of what is read to be mended
constexpr size_t kMendedPerTransaction = 100;                   // one disk sync...
constexpr size_t kMendedBytesPerTransaction = size_t{8} << 20;  // ...and not too much of it

// Whether it could be nested too deep, without parsing it: each level has a bracket.
bool MayBeDeep(std::string_view text) {
  if (text.size() < 2 * json::kMaxDepth) return false;
  size_t opens = 0;
  // In parts that a byte counts: many bytes are then counted at a time.
  constexpr size_t kPart = UINT8_MAX;
  for (size_t from = 0; from < text.size(); from += kPart) {
    uint8_t in_part = 0;
    for (const char c : text.substr(from, kPart)) in_part += static_cast<uint8_t>(c == '{' || c == '[');
    opens += in_part;
  }
  return opens > json::kMaxDepth;
}

bool IsReadable(const Bytes& bytes) {
  return bytes == nullptr || (IsUtf8(*bytes) && (!MayBeDeep(*bytes) || json::Parse(*bytes).ok()));
}

struct Mending {
  store::Entry entry;
  Encoded encoded;
  std::string what;
};

Error CannotMend(const store::Entry& entry, std::string_view why) {
  return CorruptError(StrCat("the stored object '", entry.key, "' cannot be read: ", why,
                             "; restore the store from a backup (baton restore)"));
}

Result<Mending> Mend(const store::Entry& entry) {
  Mending mending{.entry = entry, .encoded = {}, .what = {}};
  std::string text = *entry.value;
  if (!IsUtf8(text)) {
    text = ReplaceInvalidUtf8(text);
    mending.what = "bytes that are not UTF-8 became U+FFFD";
  }
  Result<Value> object = json::Parse(text);
  if (!object.ok()) {
    object = json::Parse(text, {.max_depth = kMendedDepthMax});
    if (object.ok() && (*object)["metadata"].is_object()) object->Edit("metadata").Erase("managedFields");
    StrAppend(mending.what, mending.what.empty() ? "" : "; ", "managedFields, nested too deep, are gone");
  }
  if (!object.ok()) return CannotMend(entry, object.error().message());
  if (!(*object)["metadata"].is_object()) return CannotMend(entry, "it has no metadata");
  mending.encoded = Encode(*std::move(object));
  if (mending.encoded.depth > json::kMaxDepth) return CannotMend(entry, "it is nested too deep");
  return mending;
}

rt::Task<Result<void>> Write(store::Store& store, std::vector<Mending> mendings) {
  for (size_t next = 0; next < mendings.size();) {
    store::Transaction transaction;
    size_t bytes = 0;
    for (size_t count = 0; next < mendings.size() && count < kMendedPerTransaction; ++count, ++next) {
      Mending& one = mendings[next];
      const size_t bytes_max = one.encoded.bytes.size() + kVersionDigitsMax;
      bytes += bytes_max;
      if (count > 0 && bytes > kMendedBytesPerTransaction) break;
      transaction.If(one.entry.key, one.entry.mod_revision)
          .PutMade(one.entry.key, bytes_max,
                   [encoded = std::move(one.encoded)](Revision revision) { return encoded.WithVersion(revision); });
    }
    CO_TRY(co_await store.Commit(std::move(transaction)));
  }
  co_return Result<void>();
}

using Known = std::unordered_set<const std::string*>;

// What lists and watches from before can still ask for. What one change wrote is what the next one replaced, and at
// last what is stored: what was found to be readable is kept in `readable`, and looked at once.
bool IsPastReadable(const store::Store& store, Known& readable) {
  const auto check = [&](const Bytes& bytes) {
    if (bytes == nullptr || readable.contains(bytes.get())) return true;
    if (!IsReadable(bytes)) return false;
    readable.insert(bytes.get());
    return true;
  };
  return store.EveryChange([&](const store::Event& change) { return check(change.value) && check(change.previous); });
}

}  // namespace

rt::Task<Result<std::vector<Mended>>> MendStored(store::Store& store) {
  Known readable;
  const bool past_readable = IsPastReadable(store, readable);
  std::vector<Mending> mendings;
  for (const store::Entry& entry : CO_TRY(store.List("")).entries) {
    if (!readable.contains(entry.value.get()) && !IsReadable(entry.value)) mendings.push_back(CO_TRY(Mend(entry)));
  }
  std::vector<Mended> mended;
  mended.reserve(mendings.size());
  for (const Mending& one : mendings) mended.push_back({.key = one.entry.key, .what = one.what});
  const bool forget = !mendings.empty() || !past_readable;
  CO_TRY(co_await Write(store, std::move(mendings)));
  if (forget) CO_TRY(co_await store.Compact(store.revision()));
  co_return mended;
}

}  // namespace baton::apiserver
