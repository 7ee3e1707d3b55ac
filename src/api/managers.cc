// metadata.managedFields in and out: decoding, identity, order, and the cap on update managers.
#include "api/managers.h"

#include <algorithm>
#include <chrono>
#include <tuple>

#include "api/managers_memo.h"
#include "base/strings.h"
#include "json/builder.h"
#include "json/go_text.h"
#include "json/rfc3339.h"

namespace baton::api {
namespace {

using json::Value;

constexpr std::string_view kAncientChanges = "ancient-changes";

int64_t SecondsOf(const ManagerEntry& entry) {
  return entry.time ? std::chrono::floor<seconds>(entry.time->time_since_epoch()).count() : 0;
}

// As a time is written. Before the first whole second that there is: that one, or it could not be read again.
WallTime WholeSeconds(WallTime time) {
  constexpr WallTime kFirst = WallTime::min() - WallTime::min().time_since_epoch() % seconds(1);
  if (time < kFirst) return kFirst;
  const Duration rest = time.time_since_epoch() % seconds(1);
  return time - (rest < Duration{} ? rest + seconds(1) : rest);
}

// A Go string field: absent and null are "".
bool IsText(const Value& value) { return value.is_null() || value.is_string(); }

// Whether Go's ManagedFieldsEntry would take it. One entry that it does not take voids the whole list.
bool IsWellFormed(const Value& entry) {
  if (!entry.is_object()) return false;
  for (const char* field : {"manager", "operation", "apiVersion", "fieldsType", "subresource"}) {
    if (!IsText(entry[field])) return false;
  }
  const Value& time = entry["time"];
  return time.is_null() || (time.is_string() && json::ParseTime(time.str()).ok());
}

const Value* ManagedFieldsOf(const Value& object) {
  const Value* found = object["metadata"].Find("managedFields");
  if (found == nullptr || !found->is_array() || found->size() > kManagedEntriesMax) return nullptr;
  return std::ranges::all_of(found->items(), IsWellFormed) ? found : nullptr;
}

Result<ManagerEntry> DecodeEntry(const Value& encoded, size_t index) {
  ManagerEntry entry;
  const std::string_view operation = encoded["operation"].str();
  if (operation != "Apply" && operation != "Update") return InvalidError("operation must be `Apply` or `Update`");
  entry.applied = operation == "Apply";
  entry.api_version = encoded["apiVersion"].str();
  if (entry.api_version.empty()) return InvalidError("apiVersion must not be empty");
  const std::string_view fields_type = encoded["fieldsType"].str();
  if (fields_type.empty()) return InvalidError(StrCat("missing fieldsType in managed fields entry ", index));
  if (fields_type != "FieldsV1") {
    return InvalidError(StrCat("invalid fieldsType ", Quote(fields_type), " in managed fields entry ", index));
  }
  entry.manager = encoded["manager"].str();
  entry.subresource = encoded["subresource"].str();
  if (encoded["time"].is_string()) entry.time = TRY(json::ParseTime(encoded["time"].str()));
  if (!encoded["fieldsV1"].is_null()) entry.fields = TRY(FieldSet::FromFieldsV1(encoded["fieldsV1"]));
  return entry;
}

Value EncodeEntry(const ManagerEntry& entry) {
  const ManagerEntry::Written& known = entry.written;
  if (!known.entry.is_null() && known.fields == entry.fields.root() && known.time == entry.time) return known.entry;
  json::ObjectBuilder out;
  if (!entry.manager.empty()) out.Add("manager", entry.manager);
  out.Add("operation", entry.applied ? "Apply" : "Update");
  out.Add("apiVersion", entry.api_version);
  if (entry.time) out.Add("time", json::FormatTime(*entry.time));
  out.Add("fieldsType", "FieldsV1");
  out.Add("fieldsV1", entry.fields.ToFieldsV1());
  if (!entry.subresource.empty()) out.Add("subresource", entry.subresource);
  return std::move(out).Build();
}

// Go writes it as it is.
bool IsPlain(std::string_view text) {
  return std::ranges::all_of(
      text, [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&'; });
}

void AppendGoString(std::string& out, std::string_view key, const std::string& value) {
  if (value.empty()) return;
  StrAppend(out, out.size() > 1 ? "," : "", "\"", key, "\":");
  if (IsPlain(value)) return StrAppend(out, "\"", value, "\"");
  (void)json::AppendGoJson(out, Value(value)).ok();  // a string is never too deep
}

FieldSet MakeStrippedFields() {
  FieldSet set;
  for (const char* name : {"apiVersion", "kind", "metadata"}) set.Insert({PathElement::Field(name)});
  for (const char* name : {"name", "namespace", "creationTimestamp", "selfLink", "uid", "clusterName", "generation",
                           "managedFields", "resourceVersion"}) {
    set.Insert({PathElement::Field("metadata"), PathElement::Field(name)});
  }
  return set;
}

}  // namespace

std::string ManagerId(const ManagerEntry& entry) {
  std::string id = "{";
  AppendGoString(id, "manager", entry.manager);
  AppendGoString(id, "operation", entry.applied ? "Apply" : "Update");
  if (!entry.applied) AppendGoString(id, "apiVersion", entry.api_version);
  AppendGoString(id, "subresource", entry.subresource);
  return id + "}";
}

Result<Managers> DecodeManagers(const Value& object) {
  if (const auto known = ManagersMemo::OfThisThread().Find(object["metadata"]["managedFields"])) return *known;
  Managers managers;
  const Value* list = ManagedFieldsOf(object);
  if (list == nullptr) return managers;
  for (size_t i = 0; i < list->size(); ++i) {
    ManagerEntry entry = TRY(DecodeEntry((*list)[i], i));
    std::string id = ManagerId(entry);
    managers.insert_or_assign(std::move(id), std::move(entry));
  }
  return managers;
}

void DropManagedFields(Value& object) {
  if (object["metadata"].Has("managedFields")) object.Edit("metadata").Erase("managedFields");
}

void EncodeManagers(Managers managers, Value& object) {
  if (managers.empty()) return DropManagedFields(object);
  std::vector<const ManagerEntry*> entries;
  for (auto& [id, entry] : managers) {
    if (entry.time) entry.time = WholeSeconds(*entry.time);  // as it will be read
    entry.written = {.entry = EncodeEntry(entry), .fields = entry.fields.root(), .time = entry.time};
    entries.push_back(&entry);
  }
  const auto order = [](const ManagerEntry* e) {
    return std::make_tuple(!e->applied, SecondsOf(*e), std::string_view(e->manager), std::string_view(e->api_version),
                           std::string_view(e->subresource));
  };
  std::sort(entries.begin(), entries.end(),
            [&](const ManagerEntry* a, const ManagerEntry* b) { return order(a) < order(b); });
  json::ArrayBuilder list;
  for (const ManagerEntry* entry : entries) list.Add(entry->written.entry);
  Value encoded = std::move(list).Build();
  ManagersMemo::OfThisThread().Keep(encoded, std::move(managers));
  object.Edit("metadata").Set("managedFields", std::move(encoded));
}

bool IsReset(const Value& object) {
  if (ManagersMemo::OfThisThread().Find(object["metadata"]["managedFields"]) != nullptr) return false;
  const Value* list = ManagedFieldsOf(object);
  if (list == nullptr) return false;
  if (list->size() != 1) return list->empty();
  const Value& entry = (*list)[0];
  return std::ranges::all_of(entry.members(), [](const json::Member& field) {
    constexpr std::string_view kFields[] = {"manager",    "operation", "apiVersion", "time",
                                            "fieldsType", "fieldsV1",  "subresource"};
    const bool known = std::ranges::find(kFields, field.key()) != std::end(kFields);
    return !known || field.value().is_null() || (field.value().is_string() && field.value().str().empty());
  });
}

void CapUpdateManagers(Managers& managers) {
  std::vector<std::pair<int64_t, std::string>> updaters;
  for (const auto& [id, entry] : managers) {
    if (!entry.applied) updaters.emplace_back(SecondsOf(entry), id);
  }
  size_t left = updaters.size();
  std::ranges::sort(updaters);
  std::map<std::string, std::string> first_of_version;
  for (const auto& [when, id] : updaters) {
    if (left <= kManagersMax) return;
    const ManagerEntry entry = managers.at(id);
    const auto [first, fresh] = first_of_version.try_emplace(entry.api_version, id);
    if (fresh) continue;  // the version's oldest waits for a second one to share a bucket with
    ManagerEntry bucket = {.manager = std::string(kAncientChanges), .api_version = entry.api_version};
    const std::string bucket_id = ManagerId(bucket);
    const auto kept = managers.find(bucket_id);
    if (kept != managers.end() && id != bucket_id) {
      bucket.fields = kept->second.fields;
    } else {
      // No bucket yet, or its own turn has come: it takes the oldest in. (Kubernetes loses the bucket then.)
      bucket.fields = managers.at(first->second).fields;
      managers.erase(first->second);
    }
    bucket.fields = entry.fields.Union(bucket.fields);
    bucket.time = entry.time;  // the more recent one
    managers.erase(id);
    managers.insert_or_assign(bucket_id, std::move(bucket));
    --left;
  }
}

const FieldSet& StrippedFields() {
  static const FieldSet* const set = new FieldSet(MakeStrippedFields());
  return *set;
}

}  // namespace baton::api
