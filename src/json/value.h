// json::Value: the one JSON value of the whole program.
//
// A Value is 16 bytes and behaves like an int: copy it, pass it, compare it. Long strings, arrays and objects are
// shared by reference count and copied only when one of several owners writes (copy on write), so a copy costs nothing
// and "the same but for one field" costs one path. Object keys are sorted by bytes and shared between objects.
//
//   Value pod = TRY(Parse(text));                                // json/parse.h
//   std::string_view name = pod["metadata"]["name"].str();       // absent, or of another kind: ""
//   for (const Member& m : pod["metadata"]["labels"].members()) Use(m.key(), m.value());
//
//   Value changed = pod;                                         // free
//   changed.Edit("spec").Edit("replicas") = 3;                   // pod is as it was
//   Value made = Object({{"kind", "ConfigMap"}, {"data", Object({{"a", "1"}})}});
//
// Numbers are exact: int64, uint64 (only above int64's range) or a finite double, and 1 is not 1.0.
// Threads: different Values may be used by different threads even when they share storage; one Value is not a mutex.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/ref_count.h"

namespace baton::json {

enum class Kind : uint8_t { kNull, kBool, kInt, kUint, kDouble, kString, kArray, kObject };

std::string_view KindName(Kind kind);  // "null", "bool", "int", "uint", "double", "string", "array", "object"

class Member;

// An object's key: immutable, shared, 8 bytes. Frequent keys are found in a per-thread cache, so parsing the same kind
// of object again allocates no keys.
//
// Where the text is, is not all that the 8 bytes say: an address needs 48 of the 64 bits, and the others have a digest
// of the text and whether the key is one of those that are never freed. So most keys that differ are told apart, and
// most keys are copied and dropped, without a look at memory elsewhere.
class Key {
 public:
  explicit Key(std::string_view text);
  Key(const Key& other) noexcept : word_(other.word_) { Ref(); }
  Key(Key&& other) noexcept : word_(std::exchange(other.word_, kImmortal)) {}
  Key& operator=(Key other) noexcept { return std::swap(word_, other.word_), *this; }
  ~Key() { Unref(); }

  std::string_view text() const { return {node()->chars(), node()->size}; }
  bool plain() const { return node()->plain; }  // prints without escapes
  friend bool operator==(const Key& a, const Key& b) {
    return a.word_ == b.word_ || (a.digest() == b.digest() && a.text() == b.text());
  }
  friend auto operator<=>(const Key& a, const Key& b) { return a.text() <=> b.text(); }

 private:
  friend class Value;
  struct Node {
    RefCount refs;
    uint32_t size : 31;
    uint32_t plain : 1;
    char* chars() { return reinterpret_cast<char*>(this + 1); }
    const char* chars() const { return reinterpret_cast<const char*>(this + 1); }
  };
  struct Cache;
  static constexpr int kAddressBits = 48;
  static constexpr uint64_t kAddressMask = (uint64_t{1} << kAddressBits) - 1;
  static constexpr uint64_t kImmortal = uint64_t{1} << 63;  // a key of the bounded set that is never freed
  static constexpr uint64_t kDigestMask = ~kImmortal & ~kAddressMask;

  // Of texts that are alike in length and at three places it is the same.
  static uint64_t DigestOf(std::string_view text) {
    if (text.empty()) return 0;
    const auto at = [&](size_t index) { return static_cast<uint64_t>(static_cast<unsigned char>(text[index])); };
    const uint64_t mixed = text.size() * 37 + at(0) * 5 + at(text.size() / 2) * 131 + at(text.size() - 1) * 1031;
    return (mixed << kAddressBits) & kDigestMask;
  }
  uint64_t digest() const { return word_ & kDigestMask; }
  Node* node() const { return reinterpret_cast<Node*>(word_ & kAddressMask); }

  static Node* Make(std::string_view text);
  static void Free(Node* node);
  void Ref() const {
    if ((word_ & kImmortal) == 0) node()->refs.Add();
  }
  void Unref() {
    if ((word_ & kImmortal) == 0 && node()->refs.Drop()) Free(node());
  }

  Key() noexcept : word_(kImmortal) {}
  bool is_none() const { return word_ == kImmortal; }

  uint64_t word_;  // kImmortal alone: none, as when it was moved from
};

class Value {
 public:
  // ---- making ----
  Value() noexcept { std::memset(raw_, 0, sizeof raw_); }  // null
  Value(std::nullptr_t) noexcept : Value() {}              // NOLINT(google-explicit-constructor)
  Value(std::same_as<bool> auto value) noexcept            // NOLINT(google-explicit-constructor)
      : Value(Tag::kBool, static_cast<uint64_t>(value)) {}
  template <std::integral Int>
    requires(!std::same_as<Int, bool> && !std::same_as<Int, char>)
  Value(Int value) noexcept  // NOLINT(google-explicit-constructor)
      : Value(std::in_range<int64_t>(value) ? Tag::kInt : Tag::kUint, static_cast<uint64_t>(value)) {}
  Value(double value);           // NOLINT(google-explicit-constructor) must be finite
  Value(std::string_view text);  // NOLINT(google-explicit-constructor) must be UTF-8
  Value(const std::string& text) : Value(std::string_view(text)) {}  // NOLINT(google-explicit-constructor)
  Value(const char* text) : Value(std::string_view(text)) {}         // NOLINT(google-explicit-constructor)
  template <class T>
  Value(T*) = delete;  // a pointer is not a bool

  Value(const Value& other) noexcept {
    std::memcpy(static_cast<void*>(this), &other, sizeof *this);
    if (tag_ >= Tag::kHeapString) node()->refs.Add();
  }
  Value(Value&& other) noexcept {
    std::memcpy(static_cast<void*>(this), &other, sizeof *this);
    other.Forget();
  }
  Value& operator=(const Value& other) noexcept { return *this = Value(other); }
  Value& operator=(Value&& other) noexcept {
    if (this == &other) return *this;
    Value old(std::move(*this));  // freed last: `v = v["child"]` and cycles of moves are safe
    std::memcpy(static_cast<void*>(this), &other, sizeof *this);
    other.Forget();
    return *this;
  }
  ~Value() {
    if (tag_ >= Tag::kHeapString) Unref();
  }

  // ---- asking ----
  Kind kind() const;
  bool is_null() const { return tag_ == Tag::kNull; }
  bool is_bool() const { return tag_ == Tag::kBool; }
  bool is_int() const { return tag_ == Tag::kInt; }
  bool is_number() const { return tag_ == Tag::kInt || tag_ == Tag::kUint || tag_ == Tag::kDouble; }
  bool is_string() const { return tag_ == Tag::kInlineString || tag_ == Tag::kHeapString; }
  bool is_array() const { return tag_ == Tag::kArray; }
  bool is_object() const { return tag_ == Tag::kObject; }
  explicit operator bool() const = delete;  // ask what you mean: is_null(), empty(), bool_or()

  // The value, or a fallback when it is of another kind. str() is "" for everything that is not a string.
  std::string_view str() const;
  std::string_view str_or(std::string_view fallback) const { return is_string() ? str() : fallback; }
  bool bool_or(bool fallback) const { return is_bool() ? word() != 0 : fallback; }
  int64_t int_or(int64_t fallback) const { return is_int() ? static_cast<int64_t>(word()) : fallback; }
  double number_or(double fallback) const;    // any number, as the nearest double
  std::optional<uint64_t> as_uint64() const;  // a non-negative int or a uint

  size_t size() const { return is_array() || is_object() ? node()->size : 0; }  // items or members
  bool empty() const { return size() == 0; }

  // A member or an item; the shared null when absent or when this is no object (no array). Chains: v["a"]["b"][0].
  const Value& operator[](std::string_view key) const;
  const Value& operator[](size_t index) const;
  const Value* Find(std::string_view key) const;  // null pointer when absent: tells absent from null
  bool Has(std::string_view key) const { return Find(key) != nullptr; }

  std::span<const Value> items() const;     // empty unless an array
  std::span<const Member> members() const;  // empty unless an object; sorted by key

  // ---- changing (copy on write; a reference from Edit() lives until the next change of its parent) ----
  Value& Edit(std::string_view key);  // created as null when absent; what is no object becomes one
  Value& Edit(size_t index);          // index < size() of an array, or the process ends
  void Set(std::string_view key, Value value) { Edit(key) = std::move(value); }
  bool Erase(std::string_view key);        // false when there was none
  void Push(Value value);                  // what is no array becomes one
  void Insert(size_t index, Value value);  // index <= size() of an array
  void EraseAt(size_t index);              // index < size() of an array
  Value Take(std::string_view key);        // removes and returns it; null when absent

  // ---- comparing ----
  friend bool operator==(const Value& a, const Value& b) {
    return std::memcmp(static_cast<const void*>(&a), static_cast<const void*>(&b), sizeof a) == 0 || SlowEqual(a, b);
  }
  // A total order (by kind, then by value) for sorting; numbers of different kinds are different values.
  static std::strong_ordering Compare(const Value& a, const Value& b);
  // Same storage: equal for certain, at no cost. False says nothing.
  bool SharesStorageWith(const Value& other) const {
    // All of it: of short strings that end in NUL only the length differs.
    return std::memcmp(static_cast<const void*>(this), static_cast<const void*>(&other), sizeof *this) == 0;
  }

  // ---- text ---- (json/print.h has more)
  std::string ToString() const;  // compact
  friend std::ostream& operator<<(std::ostream& out, const Value& value);

  // Heap bytes reachable from here, the texts of keys included, what is shared counted once per reference (for memory
  // budgets and benchmarks).
  size_t HeapBytes() const;

 private:
  friend class ArrayBuilder;
  friend class ObjectBuilder;
  friend class Printer;

  enum class Tag : uint8_t { kNull, kBool, kInt, kUint, kDouble, kInlineString, kHeapString, kArray, kObject };

  // The head of every heap block: a string's bytes, an array's Values or an object's Members follow it.
  struct Node {
    RefCount refs;
    uint32_t size;
    uint32_t capacity;
    uint32_t unused;
    char* chars() { return reinterpret_cast<char*>(this + 1); }
    Value* values() { return reinterpret_cast<Value*>(this + 1); }
    Member* members() { return reinterpret_cast<Member*>(this + 1); }
  };

  static constexpr size_t kInlineBytes = 14;

  Value(Tag tag, uint64_t word) noexcept : Value() {
    std::memcpy(raw_, &word, sizeof word);
    tag_ = tag;
  }
  Value(Tag tag, Node* node) noexcept : Value(tag, reinterpret_cast<uint64_t>(node)) {}

  uint64_t word() const {
    uint64_t word;
    std::memcpy(&word, raw_, sizeof word);
    return word;
  }
  Node* node() const { return reinterpret_cast<Node*>(word()); }
  void Forget() noexcept {
    std::memset(raw_, 0, sizeof raw_);
    inline_size_ = 0;
    tag_ = Tag::kNull;
  }
  void Unref() noexcept {
    if (node()->refs.Drop()) FreeNode();
  }
  void FreeNode() noexcept;
  Node* OwnArray(size_t room);  // this as an array that only we own, with room for that many items in all
  Node* OwnObject(size_t room);
  static Node* NewNode(size_t header_and_payload_bytes, size_t capacity);
  static bool SlowEqual(const Value& a, const Value& b);
  Member* FindMember(std::string_view key) const;  // null when absent; only for objects
  Member* LowerBound(std::string_view key) const;

  alignas(8) char raw_[kInlineBytes];
  uint8_t inline_size_ = 0;
  Tag tag_ = Tag::kNull;
};
static_assert(sizeof(Value) == 16);

// One member of an object.
class Member {
 public:
  Member(Key key, Value value) : key_(std::move(key)), value_(std::move(value)) {}
  std::string_view key() const { return key_.text(); }
  const Key& shared_key() const { return key_; }
  const Value& value() const { return value_; }

 private:
  friend class Value;
  friend class ObjectBuilder;
  Key key_;
  Value value_;
};

inline std::string_view Value::str() const {
  if (tag_ == Tag::kInlineString) return {raw_, inline_size_};
  if (tag_ == Tag::kHeapString) return {node()->chars(), node()->size};
  return {};
}

inline std::span<const Value> Value::items() const {
  if (!is_array()) return {};
  return {node()->values(), node()->size};
}

inline std::span<const Member> Value::members() const {
  if (!is_object()) return {};
  return {node()->members(), node()->size};
}

inline const Value* Value::Find(std::string_view key) const {
  if (!is_object()) return nullptr;
  const Member* found = FindMember(key);
  return found == nullptr ? nullptr : &found->value();
}

namespace value_internal {
extern const Value kNull;
}  // namespace value_internal

inline const Value& Value::operator[](std::string_view key) const {
  const Value* found = Find(key);
  return found != nullptr ? *found : value_internal::kNull;
}

inline const Value& Value::operator[](size_t index) const {
  return index < items().size() ? items()[index] : value_internal::kNull;
}

// Values from literals. A key given twice: the last one wins.
Value Object(std::initializer_list<std::pair<std::string_view, Value>> members = {});
Value Array(std::initializer_list<Value> items = {});

}  // namespace baton::json
