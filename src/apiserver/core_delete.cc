// Core's deletions: preconditions, finalizers, propagation, and what controllers inside the server change.
#include <algorithm>
#include <utility>

#include "apiserver/core.h"
#include "apiserver/errors.h"
#include "apiserver/metadata.h"
#include "apiserver/selection.h"
#include "base/strings.h"

namespace baton::apiserver {

namespace {

using json::Value;

Subject SubjectOf(const Target& target) {
  return {.group = target.type->group, .resource = target.type->plural, .name = target.name};
}

// Here Kubernetes names the kind, not the resource.
Subject KindSubject(const Target& target) {
  return {.group = target.type->group, .resource = target.type->kind, .name = target.name};
}

Result<void> CheckPreconditions(const Target& target, const DeleteOptions& options, const Value& live) {
  const std::string_view uid = live["metadata"]["uid"].str();
  if (!options.uid.empty() && options.uid != uid) {
    return Conflict(KindSubject(target),
                    StrCat("the UID in the precondition (", options.uid, ") does not match the UID in record (", uid,
                           "). The object might have been deleted and then recreated"));
  }
  const std::string_view version = live["metadata"]["resourceVersion"].str();
  if (!options.resource_version.empty() && options.resource_version != version) {
    return Conflict(KindSubject(target), StrCat("the ResourceVersion in the precondition (", options.resource_version,
                                                ") does not match the ResourceVersion in record (", version,
                                                "). The object might have been modified"));
  }
  return {};
}

void SetFinalizer(Value& metadata, std::string_view finalizer, bool wanted) {
  Value& finalizers = metadata.Edit("finalizers");
  for (size_t i = finalizers.size(); i-- > 0;) {
    if (finalizers[i].str() == finalizer) finalizers.EraseAt(i);
  }
  if (wanted) finalizers.Push(Value(finalizer));
  if (finalizers.empty()) metadata.Erase("finalizers");
}

bool IsNamespace(const ResourceType& type) { return type.group.empty() && type.plural == "namespaces"; }

// The object on its way out: the finalizers of its propagation, the time, and for a namespace its phase.
Value Leaving(const ResourceType& type, Value object, Propagation propagation, WallTime now) {
  Value& metadata = object.Edit("metadata");
  if (propagation != Propagation::kDefault) {
    SetFinalizer(metadata, kForegroundFinalizer, propagation == Propagation::kForeground);
    SetFinalizer(metadata, kOrphanFinalizer, propagation == Propagation::kOrphan);
  }
  if (!IsBeingDeleted(object)) {
    Value& fields = object.Edit("metadata");
    fields.Set("deletionTimestamp", TimeText(now));
    fields.Set("deletionGracePeriodSeconds", 0);
    if (type.counts_generations) fields.Set("generation", fields["generation"].int_or(0) + 1);
  }
  if (IsNamespace(type)) object.Edit("status").Set("phase", "Terminating");
  return object;
}

bool MustWait(const ResourceType& type, const Value& leaving) {
  return HasFinalizers(leaving) || (IsNamespace(type) && !leaving["spec"]["finalizers"].empty());
}

Object InRequestVersion(const Value& value, const ResourceType& type, Revision revision) {
  const Value answered = FromStorage(type, value);
  return {.bytes = std::make_shared<const std::string>(answered.ToString()), .revision = revision};
}

}  // namespace

rt::Task<Result<Deleted>> Core::Delete(Target target, DeleteOptions options, Caller& caller) {
  const ResourceType& type = *target.type;
  const std::string key = StorageKey(type, target.ns, target.name);
  for (size_t tries = 0; tries < kConflictRetriesMax; ++tries) {
    const std::optional<store::Entry> entry = CO_TRY(store_.Get(key));
    if (!entry) co_return NotFound(SubjectOf(target));
    const Value live = decoded_.Decode(entry->value);
    CO_TRY(CheckPreconditions(target, options, live));
    AdmissionRequest request{.operation = Operation::kDelete,
                             .type = target.type,
                             .ns = target.ns,
                             .name = target.name,
                             .subresource = target.subresource,
                             .user = caller.user,
                             .dry_run = options.dry_run,
                             .object = {},
                             .old_object = live,
                             .options = {},
                             .warnings = caller.warnings};
    for (const auto& plugin : admission_) CO_TRY(co_await plugin->Mutate(request));
    for (const auto& plugin : admission_) CO_TRY(co_await plugin->Validate(request));

    const Value leaving = Leaving(type, live, options.propagation, loop_.WallNow());
    const bool wait = MustWait(type, leaving);
    if (options.dry_run || (wait && leaving == live)) {
      const Value& shown = wait ? leaving : live;
      co_return Deleted{.gone = !wait, .object = InRequestVersion(shown, type, entry->mod_revision), .value = shown};
    }
    store::Transaction transaction;
    transaction.If(key, entry->mod_revision);
    if (wait) {
      Encoded encoded = Encode(leaving);
      const size_t bytes_max = encoded.bytes.size() + kVersionDigitsMax;
      transaction.PutMade(key, bytes_max,
                          [encoded = std::move(encoded)](Revision revision) { return encoded.WithVersion(revision); });
    } else {
      transaction.Delete(key);
    }
    const Result<Revision> committed = co_await store_.Commit(std::move(transaction));
    if (!committed.ok() && committed.error().kind() == ErrorKind::kConflict) continue;
    if (!committed.ok()) co_return committed.error();
    Value answered = wait ? leaving : live;
    answered.Edit("metadata").Set("resourceVersion", VersionText(*committed));
    co_return Deleted{.gone = !wait, .object = InRequestVersion(answered, type, *committed), .value = answered};
  }
  co_return Conflict(SubjectOf(target), kObjectModified);
}

rt::Task<Result<std::vector<Object>>> Core::DeleteCollection(Target target, Selection selection, DeleteOptions options,
                                                             Caller& caller) {
  const store::ListResult found = CO_TRY(store_.List(StoragePrefix(*target.type, target.ns)));
  const std::string everywhere = StoragePrefix(*target.type, "");
  std::vector<Object> deleted;
  for (const store::Entry& entry : found.entries) {
    const Value object = decoded_.Decode(entry.value);
    if (!Selects(selection, object)) continue;
    Target one = target;
    // By the key, which was authorized; what stands in the object is only its content.
    const std::string_view place = std::string_view(entry.key).substr(everywhere.size());
    const size_t slash = target.type->namespaced ? place.find('/') : std::string_view::npos;
    one.ns = slash == std::string_view::npos ? std::string_view() : place.substr(0, slash);
    one.name = slash == std::string_view::npos ? place : place.substr(slash + 1);
    Result<Deleted> gone = co_await Delete(std::move(one), options, caller);
    if (gone.ok()) deleted.push_back(std::move(gone->object));
    if (!gone.ok() && gone.error().kind() != ErrorKind::kNotFound) co_return gone.error();
  }
  co_return deleted;
}

rt::Task<Result<Written>> Core::Modify(Target target, Change change) {
  const std::string key = StorageKey(*target.type, target.ns, target.name);
  for (size_t tries = 0; tries < kConflictRetriesMax; ++tries) {
    const std::optional<store::Entry> entry = CO_TRY(store_.Get(key));
    if (!entry) co_return NotFound(SubjectOf(target));
    const Value live = decoded_.Decode(entry->value);
    const std::optional<Value> next = change(live);
    if (!next || *next == live) {
      co_return Written{.object = {.bytes = entry->value, .revision = entry->mod_revision}, .value = live};
    }
    const bool ends = IsBeingDeleted(*next) && !MustWait(*target.type, *next);
    store::Transaction transaction;
    transaction.If(key, entry->mod_revision);
    if (ends) {
      transaction.Delete(key);
    } else {
      Encoded encoded = Encode(*next);
      CO_TRY(CheckStorable(encoded));
      const size_t bytes_max = encoded.bytes.size() + kVersionDigitsMax;
      transaction.PutMade(key, bytes_max,
                          [encoded = std::move(encoded)](Revision revision) { return encoded.WithVersion(revision); });
    }
    const Result<Revision> committed = co_await store_.Commit(std::move(transaction));
    if (!committed.ok() && committed.error().kind() == ErrorKind::kConflict) continue;
    if (!committed.ok()) co_return committed.error();
    Value answered = *next;
    answered.Edit("metadata").Set("resourceVersion", VersionText(*committed));
    const Result<std::optional<store::Entry>> stored = store_.Get(key, *committed);
    if (!ends && stored.ok() && *stored && (*stored)->mod_revision == *committed) {
      decoded_.Remember((*stored)->value, answered);
    }
    Written written{.object = InRequestVersion(answered, *target.type, *committed), .value = answered};
    written.deleted = ends;
    co_return written;
  }
  co_return Conflict(SubjectOf(target), kObjectModified);
}

}  // namespace baton::apiserver
