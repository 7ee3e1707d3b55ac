// Helpers for what is particular about built-in kinds (builtin_*.cc): careful edits, field errors, cells of a table.
//
// None of them trusts the shape of an object: where a field is not of the kind that it should be, an edit leaves it
// alone and a reader sees nothing. To report it is the schema's task.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/field_errors.h"
#include "api/resource_type.h"
#include "json/names.h"
#include "json/value.h"

namespace baton::api::builtin {

using json::Value;
using Errors = std::vector<FieldError>;

// ---- defaults ----

// Where the field is absent or null (a pointer in Kubernetes' Go types), ...
void DefaultTo(Value& object, std::string_view key, Value value);
// ... or also empty text, or also 0: fields that are no pointers there.
void DefaultText(Value& object, std::string_view key, std::string_view text);
void DefaultNumber(Value& object, std::string_view key, int64_t number);

// The field as an object to edit, made when it is absent or null; null when it is something else. Until the next change
// of its parent.
Value* EditObject(Value& parent, std::string_view key);
// The same, but null also when it is absent.
Value* EditObjectIfThere(Value& parent, std::string_view key);

// Calls edit(Value& item) for each object in an array field.
template <class Edit>
void EditEach(Value& parent, std::string_view key, const Edit& edit) {
  if (!parent[key].is_array() || parent[key].empty()) return;
  Value& list = parent.Edit(key);
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i].is_object()) edit(list.Edit(i));
  }
}

bool IsUnset(const Value& value);  // null or ""

// ---- validation ----

void Append(Errors& errors, Errors more);
void AddInvalid(Errors& errors, const std::string& field, const Value& value, std::span<const std::string> messages);

// "Required value" for empty text, "Unsupported value" for one that is not listed (as they are: Kubernetes sorts them).
void CheckEnum(Errors& errors, const std::string& field, const Value& value,
               std::initializer_list<std::string_view> allowed, bool required = false);
void CheckPortOrName(Errors& errors, const std::string& field, const Value& port);    // 80 or "http"
void CheckNotNegative(Errors& errors, const std::string& field, const Value& value);  // absent is fine
void CheckImmutable(Errors& errors, const std::string& field, const Value& now, const Value& before);

// Kubernetes shows some values as its Go structs print, with their own names and order of fields: `text` is that.
FieldError InvalidTextError(std::string field, std::string_view text, std::string_view detail);
// A label selector, which shows matchLabels first.
FieldError InvalidSelectorError(std::string field, const Value& selector, std::string_view detail);

// Quantities of a resource list ("limits", "hard"): each must be one, under the name of a resource.
void CheckResourceList(Errors& errors, const std::string& field, const Value& list);

bool IsQuotaResource(std::string_view name);  // without a domain: "pods", "requests.cpu"

// metadata.labels-like maps.
void CheckLabels(Errors& errors, const std::string& field, const Value& labels);
// metav1.LabelSelector.
void CheckLabelSelector(Errors& errors, const std::string& field, const Value& selector);

// ---- cells ----

// "Name|Ready|Desired#|Suspend?|IP+": '#' integer, '?' boolean, '@' date, '!' format name, '+' only with -o wide. The
// column Name has format name.
std::vector<Column> Columns(std::string_view text);

std::string NameOf(const Value& object);
std::string Age(const Value& object, WallTime now);                  // of metadata.creationTimestamp
std::string AgeOf(const Value& time, WallTime now);                  // "<unknown>" when there is none
std::string HumanDuration(Duration duration);                        // "5m", "3d4h"
std::string TextOr(const Value& value, std::string_view otherwise);  // otherwise: when it is no text, or empty
std::string FormatLabels(const Value& labels);                       // "a=b,c=d" or "<none>"
std::string FormatSelector(const Value& selector);                   // of a metav1.LabelSelector
std::string QuantityText(const Value& quantity);                     // canonical; "0" when there is none
std::string JoinField(const Value& list, std::string_view key, std::string_view separator = ",");
std::string JoinText(const Value& list, std::string_view separator = ",");

}  // namespace baton::api::builtin
