// JSON Pointer (RFC 6901): the address of one value inside a document, and the edits that JSON Patch makes there.
//
//   Pointer image = TRY(Pointer::Parse("/spec/containers/0/image"));
//   if (const Value* found = Find(pod, image)) Use(found->str());
//   TRY(ReplaceAt(pod, image, "nginx:1.27"));                     // copy on write: other owners of pod see nothing
//   Pointer label = Pointer({"metadata", "labels"}).Child("app.kubernetes.io/name");
//   label.ToString();                                             // "/metadata/labels/app.kubernetes.io~1name"
//
// The empty pointer "" is the whole document. In an array a token is an index without leading zeros; "-" is the place
// after the last item, where only AddAt can do anything. Every edit happens whole or not at all.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "json/value.h"

namespace baton::json {

class Pointer {
 public:
  Pointer() = default;  // the whole document
  Pointer(std::initializer_list<std::string_view> tokens) : tokens_(tokens.begin(), tokens.end()) {}
  explicit Pointer(std::vector<std::string> tokens) : tokens_(std::move(tokens)) {}

  // An error when the text does not begin with '/' (and is not empty) or has a '~' that is not "~0" or "~1".
  static Result<Pointer> Parse(std::string_view text);

  std::string ToString() const;

  bool empty() const { return tokens_.empty(); }
  size_t size() const { return tokens_.size(); }
  std::span<const std::string> tokens() const { return tokens_; }
  const std::string& back() const { return tokens_.back(); }  // not when empty()

  void Append(std::string_view token) { tokens_.emplace_back(token); }
  Pointer Child(std::string_view token) const;
  Pointer Child(size_t index) const;
  Pointer Parent() const;  // of the whole document: itself

  // True also when both are equal.
  bool IsPrefixOf(const Pointer& other) const;

  friend bool operator==(const Pointer&, const Pointer&) = default;

 private:
  std::vector<std::string> tokens_;  // unescaped
};

// Appends "/" and the escaped token: how a pointer's text grows without a Pointer.
void AppendPointerToken(std::string& text, std::string_view token);

// "0", "1", "42"; nothing for "", "-", "01", "+1", "1e0" and what does not fit.
std::optional<size_t> ParseArrayIndex(std::string_view token);

// The value at the pointer, or a null pointer. Lives as long as the document is not changed.
const Value* Find(const Value& document, const Pointer& pointer);

// As Find(), with an error (kNotFound) that says how far the pointer led.
Result<const Value*> FindOrExplain(const Value& document, const Pointer& pointer);

// How many items or members an AddAt or RemoveAt there would shift: those behind the place. None when there is no such
// place, and none when AddAt would find the member. For limits on what many edits cost.
size_t ShiftedByAdd(const Value& document, const Pointer& pointer);
size_t ShiftedByRemove(const Value& document, const Pointer& pointer);

// RFC 6902 "add": sets a member whether or not it was there, inserts before an array's item, or replaces the document.
// An error (kNotFound) when the parent is missing, is no object or array, or the index is past the end.
Result<void> AddAt(Value& document, const Pointer& pointer, Value value);

// RFC 6902 "replace": as AddAt, but what is there must be there, and an array keeps its length.
Result<void> ReplaceAt(Value& document, const Pointer& pointer, Value value);

// RFC 6902 "remove": takes the value out and returns it. The whole document cannot be removed (kInvalid).
Result<Value> RemoveAt(Value& document, const Pointer& pointer);

}  // namespace baton::json
