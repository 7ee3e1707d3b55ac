// CRDs into the registry, and out of it.
#include "apiserver/crd_controller.h"

#include <algorithm>
#include <set>
#include <utility>

#include "apiserver/conditions.h"
#include "apiserver/errors.h"
#include "apiserver/metadata.h"
#include "base/strings.h"

namespace baton::apiserver {

namespace {

using json::Value;

constexpr std::string_view kPlural = "customresourcedefinitions";

bool IsEstablished(const Value& crd) {
  return FindCondition(crd["status"]["conditions"], "Established")["status"].str() == "True";
}

class CrdAdmission final : public AdmissionPlugin {
 public:
  rt::Task<Result<void>> Validate(const AdmissionRequest& request) override {
    if (request.type->terminating && request.operation == Operation::kCreate) {
      co_return Forbidden({.group = request.type->group, .resource = request.type->plural, .name = request.name},
                          "create not allowed while custom resource definition is terminating");
    }
    const bool is_crd = request.type->group == kCrdGroup && request.type->plural == kPlural;
    if (!is_crd || request.operation == Operation::kDelete || !request.subresource.empty()) co_return Result<void>();
    const std::vector<api::FieldError> errors =
        ValidateCrd(request.object, request.old_object.is_null() ? nullptr : &request.old_object);
    if (errors.empty()) co_return Result<void>();
    co_return InvalidObject(request.type->group, request.type->kind, request.object["metadata"]["name"].str(), errors);
  }
};

}  // namespace

std::unique_ptr<AdmissionPlugin> MakeCrdAdmission() { return std::make_unique<CrdAdmission>(); }

void CrdController::Serve(const std::string& name, const Value& crd) {
  const std::string shown = StrCat(crd["metadata"]["uid"].str(), "/", crd["metadata"]["generation"].int_or(0),
                                   IsBeingDeleted(crd) ? "/leaving" : "");
  if (served_[name] == shown) return;
  served_[name] = shown;
  core_.registry().SetCustom(name, TypesOfCrd(crd, core_.store().revision().value()).types);
}

void CrdController::LoadAll() {
  const ResourceTypePtr type = core_.registry().FindResource(kCrdGroup, kPlural);
  const Result<store::ListResult> found = core_.store().List(StoragePrefix(*type, ""));
  if (!found.ok()) return;
  for (const store::Entry& entry : found->entries) {
    const Value crd = core_.Decode(entry.value);
    if (IsEstablished(crd)) Serve(std::string(crd["metadata"]["name"].str()), crd);
  }
}

rt::Task<void> CrdController::Run() {
  const ResourceTypePtr type = core_.registry().FindResource(kCrdGroup, kPlural);
  const std::string prefix = StoragePrefix(*type, "");
  while (true) {
    const Result<store::ListResult> found = core_.store().List(prefix);
    if (!found.ok()) co_return;
    Result<std::unique_ptr<store::Watch>> watch = core_.store().OpenWatch(prefix, found->revision);
    if (!watch.ok()) co_return;
    for (const store::Entry& entry : found->entries) co_await Reconcile(entry.key.substr(prefix.size()));
    while (true) {
      const auto changes = co_await (*watch)->Next();
      if (!changes.ok() && changes.error().kind() == ErrorKind::kGone) break;  // list again
      if (!changes.ok()) co_return;
      std::set<std::string> names;
      for (const auto& change : *changes) names.insert(change->key.substr(prefix.size()));
      for (const std::string& name : names) co_await Reconcile(name);
    }
  }
}

rt::Task<void> CrdController::Reconcile(std::string name) {
  const ResourceTypePtr type = core_.registry().FindResource(kCrdGroup, kPlural);
  const std::optional<Object> live = core_.Live(*type, "", name);
  if (!live) {
    served_.erase(name);
    core_.registry().SetCustom(name, {});
    co_return;
  }
  const Value crd = core_.Decode(live->bytes);
  if (IsBeingDeleted(crd)) {
    if (IsEstablished(crd)) Serve(name, crd);
    if (cleaning_.insert(name).second) cleaners_.Spawn(CleanUp(name, crd));
    co_return;
  }
  const size_t cel_rules = TypesOfCrd(crd).cel_rules;
  const std::vector<NameConflict> conflicts = NameConflicts(crd, core_.registry());
  if (conflicts.empty() || IsEstablished(crd)) Serve(name, crd);
  const std::string now = TimeText(core_.loop().WallNow());
  const Result<Written> written =
      co_await core_.Modify({.type = type, .ns = {}, .name = name, .subresource = {}}, [&](const Value& object) {
        Value next = WithCrdStatus(object, conflicts, cel_rules, now);
        Value& finalizers = next.Edit("metadata").Edit("finalizers");
        const Value cleanup(kCrdCleanupFinalizer);
        if (!IsBeingDeleted(object) && std::ranges::find(finalizers.items(), cleanup) == finalizers.items().end()) {
          finalizers.Push(cleanup);
        }
        return std::optional(std::move(next));
      });
  // NotFound: it went while we looked, and its own event follows. A full disk: the next change tries again.
  (void)written;
}

// Deletes the objects first, then lets the CRD go.
rt::Task<void> CrdController::CleanUp(std::string name, Value crd) {
  const ResourceTypePtr type = core_.registry().FindResource(kCrdGroup, kPlural);
  const ResourceTypePtr objects =
      core_.registry().FindResource(crd["spec"]["group"].str(), crd["spec"]["names"]["plural"].str());
  if (objects != nullptr) {
    const std::string now = TimeText(core_.loop().WallNow());
    const Result<Written> told =
        co_await core_.Modify({.type = type, .ns = {}, .name = name, .subresource = {}}, [&](const Value& object) {
          Value next = object;
          SetCondition(next.Edit("status").Edit("conditions"),
                       {"Terminating", true, "InstanceDeletionInProgress", "CustomResource deletion is in progress"},
                       now);
          return std::optional(std::move(next));
        });
    (void)told;  // a condition that could not be written stops no deletion
    Caller server;
    const Result<std::vector<Object>> deleted =
        co_await core_.DeleteCollection({.type = objects, .ns = {}, .name = {}, .subresource = {}}, {}, {}, server);
    (void)deleted;  // what could not be deleted is still there, and seen below
    const std::string prefix = StoragePrefix(*objects, "");
    // Finalizers: wait for their owners. Counted once, and then change by change.
    for (size_t left = core_.store().Count(prefix); left > 0; left = core_.store().Count(prefix)) {
      const Result<std::unique_ptr<store::Watch>> watch = core_.store().OpenWatch(prefix, core_.store().revision());
      if (!watch.ok()) co_return;
      while (left > 0) {
        const auto changes = co_await (*watch)->Next();
        if (!changes.ok() && changes.error().kind() == ErrorKind::kGone) break;  // fell behind: count again
        if (!changes.ok()) co_return;                                            // the store ends
        for (const auto& change : *changes) {
          if (change->previous == nullptr) ++left;
          if (change->deleted()) --left;
        }
      }
    }
  }
  cleaning_.erase(name);
  const Result<Written> gone =
      co_await core_.Modify({.type = type, .ns = {}, .name = name, .subresource = {}}, [&](const Value& object) {
        Value next = object;
        Value& finalizers = next.Edit("metadata").Edit("finalizers");
        for (size_t i = finalizers.size(); i-- > 0;) {
          if (finalizers[i].str() == kCrdCleanupFinalizer) finalizers.EraseAt(i);
        }
        if (finalizers.empty()) next.Edit("metadata").Erase("finalizers");
        return std::optional(std::move(next));
      });
  (void)gone;
}

}  // namespace baton::apiserver
