// Storage of json::Value: reference counts, copy on write, sorted members; and the key cache.
#include "json/value.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <compare>
#include <cstdlib>
#include <mutex>
#include <new>
#include <ostream>
#include <vector>

#include "base/invariant.h"
#include "json/builder.h"
#include "json/print.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/lsan_interface.h>
#define BATON_LEAK_CHECKS 1
#endif
#endif

namespace baton::json {
namespace {

constexpr uint32_t kMaxNodeItems = 1U << 30;  // items, members or bytes of one node
constexpr size_t kScanMax = 64;               // members; up to that many digests are scanned, of more a key is searched
constexpr size_t kSortByInsertionMax = 32;

}  // namespace

namespace value_internal {
const Value kNull;
}  // namespace value_internal

std::string_view KindName(Kind kind) {
  constexpr std::array<std::string_view, 8> kNames = {"null",   "bool",   "int",   "uint",
                                                      "double", "string", "array", "object"};
  return kNames[static_cast<size_t>(kind)];
}

// ---- Key ----

// Recently seen keys of this thread, by hash. Keys made while the immortal set has room join it: they are never freed
// and cost no reference counting, and the set is small enough not to matter.
struct Key::Cache {
  static constexpr size_t kSlots = 4096;
  static constexpr size_t kCachedBytesMax = 64;      // longer keys are unlikely to come again
  static constexpr size_t kImmortalKeysMax = 16384;  // in the whole process

  static uint64_t Hash(std::string_view text) {
    uint64_t hash = text.size() * 0x9E3779B97F4A7C15ULL;
    const char* p = text.data();
    size_t left = text.size();
    for (; left >= 8; p += 8, left -= 8) {
      uint64_t word;
      std::memcpy(&word, p, 8);
      hash = (std::rotl(hash, 5) ^ word) * 0x517CC1B727220A95ULL;
    }
    uint64_t tail = 0;
    std::memcpy(&tail, p, left);
    hash = (std::rotl(hash, 5) ^ tail) * 0x517CC1B727220A95ULL;
    return hash ^ (hash >> 32);
  }

  Key& Slot(std::string_view text) { return slots[Hash(text) % kSlots]; }

  // Keeps immortal nodes reachable, and counts them.
  static bool Register(Node* node) {
    static std::mutex mutex;
    static std::vector<Node*>* const immortals = new std::vector<Node*>();
    const std::lock_guard lock(mutex);
    if (immortals->size() >= kImmortalKeysMax) return false;
    immortals->push_back(node);
    return true;
  }

  Key slots[kSlots];
};

Key::Node* Key::Make(std::string_view text) {
  INVARIANT(text.size() < kMaxNodeItems, "a key of a gigabyte");
  void* memory = ::operator new(sizeof(Node) + text.size(), std::nothrow);
  INVARIANT(memory != nullptr, "out of memory");
  INVARIANT((reinterpret_cast<uint64_t>(memory) & ~kAddressMask) == 0, "addresses of 48 bits");
#ifdef BATON_LEAK_CHECKS
  __lsan_ignore_object(memory);  // it sees no address in a word that says more
#endif
  Node* node = new (memory) Node{.refs = {}, .size = static_cast<uint32_t>(text.size()), .plain = NeedsNoEscapes(text)};
  std::memcpy(node->chars(), text.data(), text.size());
  return node;
}

void Key::Free(Node* node) { ::operator delete(node); }

Key::Key(std::string_view text) {
  const uint64_t digest = DigestOf(text);
  if (text.size() > Cache::kCachedBytesMax) {
    word_ = reinterpret_cast<uint64_t>(Make(text)) | digest;
    return;
  }
  static thread_local Cache cache;
  Key& slot = cache.Slot(text);
  if (!slot.is_none() && slot.digest() == digest && slot.text() == text) {
    word_ = slot.word_;
    Ref();
    return;
  }
  Node* node = Make(text);
  word_ = reinterpret_cast<uint64_t>(node) | digest;
  if (Cache::Register(node)) word_ |= kImmortal;
  slot = *this;
}

// ---- Value: storage ----

Value::Node* Value::NewNode(size_t payload_bytes, size_t capacity) {
  INVARIANT(capacity < kMaxNodeItems, "a JSON node of more than 2^30 items");
  void* memory = ::operator new(sizeof(Node) + payload_bytes, std::nothrow);
  INVARIANT(memory != nullptr, "out of memory");
  return new (memory) Node{.refs = {}, .size = 0, .capacity = static_cast<uint32_t>(capacity), .unused = 0};
}

void Value::FreeNode() noexcept {
  Node* n = node();
  if (tag_ == Tag::kArray) {
    std::destroy_n(n->values(), n->size);
  } else if (tag_ == Tag::kObject) {
    std::destroy_n(n->members(), n->size);
  }
  ::operator delete(n);
}

// Makes `this` an array with one owner and room for `room` items. Items are copied when others share the storage, and
// moved when only the block is too small.
Value::Node* Value::OwnArray(size_t room) {
  if (!is_array()) {
    *this = Value(Tag::kArray, NewNode(room * sizeof(Value), room));
    return node();
  }
  Node* old = node();
  const bool shared = !old->refs.IsOne();
  if (!shared && old->capacity >= room) return old;
  const size_t capacity = room > old->size ? std::max<size_t>(room, old->size + old->size / 2) : old->size;
  Node* fresh = NewNode(capacity * sizeof(Value), capacity);
  fresh->size = old->size;
  if (shared) {
    std::uninitialized_copy_n(old->values(), old->size, fresh->values());
  } else {
    std::memcpy(static_cast<void*>(fresh->values()), old->values(), old->size * sizeof(Value));
    old->size = 0;
  }
  *this = Value(Tag::kArray, fresh);
  return fresh;
}

Value::Node* Value::OwnObject(size_t room) {
  if (!is_object()) {
    *this = Value(Tag::kObject, NewNode(room * sizeof(Member), room));
    return node();
  }
  Node* old = node();
  const bool shared = !old->refs.IsOne();
  if (!shared && old->capacity >= room) return old;
  const size_t capacity = room > old->size ? std::max<size_t>(room, old->size + old->size / 2) : old->size;
  Node* fresh = NewNode(capacity * sizeof(Member), capacity);
  fresh->size = old->size;
  if (shared) {
    std::uninitialized_copy_n(old->members(), old->size, fresh->members());
  } else {
    std::memcpy(static_cast<void*>(fresh->members()), old->members(), old->size * sizeof(Member));
    old->size = 0;
  }
  *this = Value(Tag::kObject, fresh);
  return fresh;
}

// ---- Value: making and asking ----

Value::Value(double value) : Value(Tag::kDouble, std::bit_cast<uint64_t>(value)) {
  INVARIANT(std::isfinite(value), "JSON has no NaN and no Infinity");
}

Value::Value(std::string_view text) : Value() {
  if (text.size() <= kInlineBytes) {
    if (!text.empty()) std::memcpy(raw_, text.data(), text.size());
    inline_size_ = static_cast<uint8_t>(text.size());
    tag_ = Tag::kInlineString;
    return;
  }
  Node* n = NewNode(text.size(), text.size());
  std::memcpy(n->chars(), text.data(), text.size());
  n->size = static_cast<uint32_t>(text.size());
  *this = Value(Tag::kHeapString, n);
}

Kind Value::kind() const {
  constexpr std::array<Kind, 9> kKinds = {Kind::kNull,   Kind::kBool,   Kind::kInt,   Kind::kUint,  Kind::kDouble,
                                          Kind::kString, Kind::kString, Kind::kArray, Kind::kObject};
  return kKinds[static_cast<size_t>(tag_)];
}

double Value::number_or(double fallback) const {
  switch (tag_) {
    case Tag::kInt:
      return static_cast<double>(static_cast<int64_t>(word()));
    case Tag::kUint:
      return static_cast<double>(word());
    case Tag::kDouble:
      return std::bit_cast<double>(word());
    default:
      return fallback;
  }
}

std::optional<uint64_t> Value::as_uint64() const {
  if (tag_ == Tag::kUint || (tag_ == Tag::kInt && static_cast<int64_t>(word()) >= 0)) return word();
  return std::nullopt;
}

// The first member whose key is not less than `key`.
Member* Value::LowerBound(std::string_view key) const {
  Node* n = node();
  return std::lower_bound(n->members(), n->members() + n->size, key,
                          [](const Member& member, std::string_view wanted) { return member.key() < wanted; });
}

namespace {

template <class Word>
bool SameWords(const char* a, const char* b, size_t size) {  // the first and the last one, which may overlap
  Word of_a[2];
  Word of_b[2];
  std::memcpy(&of_a[0], a, sizeof(Word));
  std::memcpy(&of_b[0], b, sizeof(Word));
  std::memcpy(&of_a[1], a + size - sizeof(Word), sizeof(Word));
  std::memcpy(&of_b[1], b + size - sizeof(Word), sizeof(Word));
  return of_a[0] == of_b[0] && of_a[1] == of_b[1];
}

// Most keys are short, and a call for each costs more than the comparison.
bool SameText(std::string_view a, std::string_view b) {
  const size_t size = a.size();
  if (size != b.size()) return false;
  if (size > 2 * sizeof(uint64_t)) return std::memcmp(a.data(), b.data(), size) == 0;
  if (size >= sizeof(uint64_t)) return SameWords<uint64_t>(a.data(), b.data(), size);
  if (size >= sizeof(uint32_t)) return SameWords<uint32_t>(a.data(), b.data(), size);
  if (size >= sizeof(uint16_t)) return SameWords<uint16_t>(a.data(), b.data(), size);
  return size == 0 || a[0] == b[0];
}

}  // namespace

Member* Value::FindMember(std::string_view key) const {
  Node* n = node();
  Member* const end = n->members() + n->size;
  if (n->size <= kScanMax) {
    const uint64_t digest = Key::DigestOf(key);
    for (Member* at = n->members(); at != end; ++at) {
      if (at->key_.digest() == digest && SameText(at->key(), key)) return at;
    }
    return nullptr;
  }
  Member* const at = LowerBound(key);
  return at != end && at->key() == key ? at : nullptr;
}

// ---- Value: changing ----

Value& Value::Edit(std::string_view key) {
  if (is_object()) {
    if (const Member* found = FindMember(key)) {
      const size_t index = static_cast<size_t>(found - node()->members());  // before our storage moves
      return OwnObject(node()->size)->members()[index].value_;
    }
    Member* at = LowerBound(key);
    const size_t index = static_cast<size_t>(at - node()->members());
    Key added(key);  // before our storage moves: `key` may point into it
    Node* n = OwnObject(node()->size + 1);
    at = n->members() + index;
    std::memmove(static_cast<void*>(at + 1), static_cast<const void*>(at), (n->size - index) * sizeof(Member));
    new (at) Member(std::move(added), Value());
    ++n->size;
    return at->value_;
  }
  Key added(key);
  Node* n = OwnObject(1);
  new (n->members()) Member(std::move(added), Value());
  n->size = 1;
  return n->members()[0].value_;
}

Value& Value::Edit(size_t index) {
  INVARIANT(index < items().size(), "Edit() past the end of an array");
  return OwnArray(node()->size)->values()[index];
}

bool Value::Erase(std::string_view key) {
  const Member* found = is_object() ? FindMember(key) : nullptr;
  if (found == nullptr) return false;
  const size_t index = static_cast<size_t>(found - node()->members());
  Node* n = OwnObject(node()->size);
  Member* at = n->members() + index;
  std::destroy_at(at);
  std::memmove(static_cast<void*>(at), static_cast<const void*>(at + 1), (n->size - index - 1) * sizeof(Member));
  --n->size;
  return true;
}

Value Value::Take(std::string_view key) {
  if (!Has(key)) return {};
  Value taken = std::move(Edit(key));
  Erase(key);
  return taken;
}

void Value::Push(Value value) { Insert(items().size(), std::move(value)); }

void Value::Insert(size_t index, Value value) {
  const size_t size = items().size();
  INVARIANT(index <= size, "Insert() past the end of an array");
  Node* n = OwnArray(size + 1);
  Value* at = n->values() + index;
  std::memmove(static_cast<void*>(at + 1), static_cast<const void*>(at), (size - index) * sizeof(Value));
  new (at) Value(std::move(value));
  ++n->size;
}

void Value::EraseAt(size_t index) {
  INVARIANT(index < items().size(), "EraseAt() past the end of an array");
  Node* n = OwnArray(node()->size);
  Value* at = n->values() + index;
  std::destroy_at(at);
  std::memmove(static_cast<void*>(at), static_cast<const void*>(at + 1), (n->size - index - 1) * sizeof(Value));
  --n->size;
}

// ---- Value: comparing ----

// The callers have seen that the 16 bytes differ, so equal values can only be two blocks, or 0.0 and -0.0.
bool Value::SlowEqual(const Value& a, const Value& b) {
  if (a.tag_ != b.tag_) return false;
  switch (a.tag_) {
    case Tag::kHeapString:
      return a.str() == b.str();
    case Tag::kDouble:
      return a.number_or(0) == b.number_or(0);
    case Tag::kArray: {
      const std::span<const Value> x = a.items();
      const std::span<const Value> y = b.items();
      return x.size() == y.size() && std::equal(x.begin(), x.end(), y.begin());
    }
    case Tag::kObject: {
      const std::span<const Member> x = a.members();
      const std::span<const Member> y = b.members();
      return x.size() == y.size() && std::equal(x.begin(), x.end(), y.begin(), [](const Member& m, const Member& n) {
               return m.key_ == n.key_ && m.value_ == n.value_;
             });
    }
    default:
      return false;
  }
}

std::strong_ordering Value::Compare(const Value& a, const Value& b) {
  if (a.kind() != b.kind()) return a.kind() <=> b.kind();
  switch (a.kind()) {
    case Kind::kNull:
      return std::strong_ordering::equal;
    case Kind::kBool:
      return a.word() <=> b.word();
    case Kind::kInt:
      return static_cast<int64_t>(a.word()) <=> static_cast<int64_t>(b.word());
    case Kind::kUint:
      return a.word() <=> b.word();
    case Kind::kDouble: {
      const std::partial_ordering order = a.number_or(0) <=> b.number_or(0);
      return order < 0   ? std::strong_ordering::less
             : order > 0 ? std::strong_ordering::greater
                         : std::strong_ordering::equal;
    }
    case Kind::kString:
      return a.str() <=> b.str();
    case Kind::kArray: {
      for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
        if (const auto order = Compare(a[i], b[i]); order != 0) return order;
      }
      return a.size() <=> b.size();
    }
    case Kind::kObject: {
      const std::span<const Member> x = a.members();
      const std::span<const Member> y = b.members();
      for (size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
        if (const auto order = x[i].key() <=> y[i].key(); order != 0) return order;
        if (const auto order = Compare(x[i].value_, y[i].value_); order != 0) return order;
      }
      return x.size() <=> y.size();
    }
  }
  return std::strong_ordering::equal;
}

std::string Value::ToString() const { return Print(*this); }

std::ostream& operator<<(std::ostream& out, const Value& value) { return out << Print(value); }

size_t Value::HeapBytes() const {
  switch (tag_) {
    case Tag::kHeapString:
      return sizeof(Node) + node()->capacity;
    case Tag::kArray: {
      size_t bytes = sizeof(Node) + node()->capacity * sizeof(Value);
      for (const Value& item : items()) bytes += item.HeapBytes();
      return bytes;
    }
    case Tag::kObject: {
      size_t bytes = sizeof(Node) + node()->capacity * sizeof(Member);
      for (const Member& member : members()) bytes += member.key().size() + member.value_.HeapBytes();
      return bytes;
    }
    default:
      return 0;
  }
}

// ---- builders ----

Value ArrayBuilder::FromRange(std::span<Value> items) {
  Value::Node* n = Value::NewNode(items.size() * sizeof(Value), items.size());
  std::uninitialized_move(items.begin(), items.end(), n->values());
  n->size = static_cast<uint32_t>(items.size());
  return {Value::Tag::kArray, n};
}

Value ArrayBuilder::Build() && { return FromRange(items_); }

// Stable, so that of equal keys the last one added comes last.
void ObjectBuilder::SortByKey(std::span<Member> members) {
  const auto by_key = [](const Member& a, const Member& b) { return a.key() < b.key(); };
  if (members.size() <= kSortByInsertionMax) {
    for (size_t i = 1; i < members.size(); ++i) {
      if (!by_key(members[i], members[i - 1])) continue;
      Member moved = std::move(members[i]);
      size_t at = i;
      for (; at > 0 && by_key(moved, members[at - 1]); --at) members[at] = std::move(members[at - 1]);
      members[at] = std::move(moved);
    }
    return;
  }
  if (std::is_sorted(members.begin(), members.end(), by_key)) return;
  std::vector<std::pair<uint32_t, Member>> numbered;
  numbered.reserve(members.size());
  for (Member& member : members) numbered.emplace_back(static_cast<uint32_t>(numbered.size()), std::move(member));
  std::sort(numbered.begin(), numbered.end(), [&](const auto& a, const auto& b) {
    const auto order = a.second.key() <=> b.second.key();
    return order != 0 ? order < 0 : a.first < b.first;
  });
  for (size_t i = 0; i < members.size(); ++i) members[i] = std::move(numbered[i].second);
}

Value ObjectBuilder::FromRange(std::span<Member> members, std::vector<std::string>* duplicates) {
  SortByKey(members);
  Value::Node* n = Value::NewNode(members.size() * sizeof(Member), members.size());
  for (Member& member : members) {
    if (n->size > 0 && n->members()[n->size - 1].key_ == member.key_) {
      Member& kept = n->members()[n->size - 1];
      if (duplicates != nullptr && (duplicates->empty() || duplicates->back() != kept.key())) {
        duplicates->emplace_back(kept.key());
      }
      kept.value_ = std::move(member.value_);
      continue;
    }
    new (n->members() + n->size) Member(std::move(member));
    ++n->size;
  }
  return {Value::Tag::kObject, n};
}

Value ObjectBuilder::Build() && { return FromRange(members_); }

Value Object(std::initializer_list<std::pair<std::string_view, Value>> members) {
  ObjectBuilder builder;
  for (const auto& [key, value] : members) builder.Add(key, value);
  return std::move(builder).Build();
}

Value Array(std::initializer_list<Value> items) {
  ArrayBuilder builder;
  builder.Reserve(items.size());
  for (const Value& item : items) builder.Add(item);
  return std::move(builder).Build();
}

}  // namespace baton::json
