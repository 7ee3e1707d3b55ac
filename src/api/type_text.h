// Types written as text: a small language for Schemas that a person can read and write. The built-in types
// (src/api/builtin/*.types) and our own are written in it.
//
//   package io.example.shop.v1                              # the types below are io.example.shop.v1.Order, ...
//   use meta io.k8s.apimachinery.pkg.apis.meta.v1           # so that meta.ObjectMeta names a type from elsewhere
//
//   Order "What somebody wants to buy."
//     metadata  meta.ObjectMeta default={}
//     spec      OrderSpec required "What is ordered."
//   OrderSpec
//     lines     [Line] required map(sku) merge(sku) minItems=1 "By product."
//     size      string enum=Small,Large default=Small
//     count     int32 min=1 max=100 default=1
//     notes     {string maxLength=80} atomic "Free text by topic;"
//               "an empty topic is allowed."                # more words of the same field
//   Port = int-or-string "A number or a name."              # a named type that is not an object
//
// A type's name begins with an upper-case letter at the beginning of a line; its fields are indented below it. A field
// is its name, its type, attributes in any order, and what it is for, in quotes. `#` begins a comment.
//
// Types
//   string bytes time                       bytes: base64; time: RFC 3339
//   int32 int64 integer float double number bool
//   int-or-string quantity                  a port or a percentage; "500m" or 2
//   object any                              object: give it `preserve`, or it has no fields
//   [T] {T}                                 a list of T; a map from strings to T; T may have attributes of its own
//   Name alias.Name                         a named type of this package, or of another one
//
// Attributes
//   required nullable default=VALUE         VALUE is JSON; for a string a bare word will do
//   enum=A,B pattern="^a+$" format=F        pattern is RE2
//   minLength= maxLength= minItems= maxItems= minProperties= maxProperties= multipleOf= unique
//   min= max= above= below=                 bounds of numbers; above and below exclude the bound
//   set  map(key,key)                       list type (x-kubernetes-list-type); without one a list is atomic
//   atomic granular                         map type of maps and objects; granular overrides an atomic named type
//   preserve embedded                       x-kubernetes-preserve-unknown-fields, -embedded-resource
//   merge merge(key) retainKeys replace     strategic merge patch, as in json/patch_schema.h
//
// A field whose type is a named one takes only required, nullable, default, atomic, granular, retainKeys and replace.
// Not in the notation: allOf, anyOf, oneOf, not, and CEL rules.
//
// Errors name file, line and reason: 'shop.types, line 7: there is no type "Lien"'.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/schema.h"
#include "base/result.h"

namespace baton::api {

inline constexpr size_t kTypeTextBytesMax = size_t{4} << 20;  // one text
inline constexpr size_t kTypeNestingMax = 16;                 // [[[T]]]
inline constexpr size_t kEnumValuesMax = 1000;
inline constexpr size_t kCopiedFieldsMax = 200'000;  // of named types, in all fields that add something to one

// A text and what to call it in errors.
struct TypeText {
  std::string_view name;
  std::string_view text;
};

// Owns a graph of types, which may refer to each other in cycles. What Find() gives keeps the whole graph alive; the
// pointers inside the graph do not, so hold on to what you found (or to the table) while you walk.
class TypeTable {
 public:
  // Docs are kept apart where the types are generated, one line each: after `package P`, `Type words` and `Type.field
  // words`; `*.field words` is for all that have none. Words that stand in the type's own text win. `known`: types that
  // may be referred to; it must outlive the new table.
  static Result<TypeTable> Parse(std::span<const TypeText> types, std::span<const TypeText> docs = {},
                                 const TypeTable* known = nullptr);

  // By full name: "io.example.shop.v1.Order". Null when there is none; known ones are not looked at.
  SchemaPtr Find(std::string_view name) const;

  std::vector<std::string_view> Names() const;  // sorted
  size_t size() const;

 private:
  friend class TypeTextReader;
  struct Nodes;
  explicit TypeTable(std::shared_ptr<Nodes> nodes);

  std::shared_ptr<const Nodes> nodes_;
};

}  // namespace baton::api
