// The lifecycle of namespaces.
#include "apiserver/namespaces.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "api/field_errors.h"
#include "apiserver/conditions.h"
#include "apiserver/errors.h"
#include "apiserver/metadata.h"
#include "base/strings.h"
#include "rt/when.h"

namespace baton::apiserver {

namespace {

using json::Value;

constexpr std::array<std::string_view, 3> kNeeded = {"default", "kube-public", "kube-system"};

// "configmaps. has 2 resource instances, widgets.example.com has 1 resource instances"
std::string Listing(const std::map<std::string, size_t>& counts, std::string_view verb) {
  std::string text;
  for (const auto& [name, count] : counts) {
    StrAppend(text, text.empty() ? "" : ", ", name, " ", verb, " ", count, " resource instances");
  }
  return text;
}

class NamespaceLifecycle final : public AdmissionPlugin {
 public:
  explicit NamespaceLifecycle(Core& core) : core_(core) {}

  rt::Task<Result<void>> Validate(const AdmissionRequest& request) override {
    const ResourceType& type = *request.type;
    if (request.operation == Operation::kDelete && type.group.empty() && type.plural == "namespaces") {
      if (std::ranges::find(kNeeded, request.name) != kNeeded.end()) {
        co_return Forbidden({.group = {}, .resource = "namespaces", .name = request.name},
                            "this namespace may not be deleted");
      }
    }
    if (request.operation != Operation::kDelete && type.group.empty() && type.plural == "namespaces") {
      co_return CheckNamespace(request);
    }
    if (request.operation != Operation::kCreate || !type.namespaced) co_return Result<void>();
    const ResourceTypePtr namespaces = core_.registry().Find("", "v1", "namespaces");
    const std::optional<Object> live = core_.Live(*namespaces, "", request.ns);
    if (!live) co_return NotFound({.group = {}, .resource = "namespaces", .name = request.ns});
    if (!IsBeingDeleted(core_.Decode(live->bytes))) co_return Result<void>();
    const Error refused =
        Forbidden({.group = type.group, .resource = type.plural, .name = request.name},
                  StrCat("unable to create new content in namespace ", request.ns, " because it is being terminated"));
    Status status = refused.ToStatus();
    status.causes.push_back({.reason = "NamespaceTerminating",
                             .message = StrCat("namespace ", request.ns, " is being terminated"),
                             .field = "metadata.namespace"});
    co_return Error::FromStatus(std::move(status), refused.message());
  }

 private:
  static Result<void> CheckNamespace(const AdmissionRequest& request) {
    std::vector<api::FieldError> errors;
    for (const Value& finalizer : request.object["spec"]["finalizers"].items()) {
      if (finalizer.str() == "kubernetes" || finalizer.str().find('/') != std::string_view::npos) continue;
      errors.push_back(api::InvalidError("spec.finalizers", finalizer,
                                         "name is neither a standard finalizer name nor is it fully qualified"));
    }
    const Value& phase = request.object["status"]["phase"];
    if (request.subresource == "status" && !IsBeingDeleted(request.object) && phase.str() != "Active" &&
        !phase.is_null()) {
      errors.push_back(
          api::InvalidError("status.Phase", phase, "may only be 'Active' if `deletionTimestamp` is empty"));
    }
    if (errors.empty()) return {};
    return InvalidObject("", "Namespace", request.name, errors);
  }

  Core& core_;
};

}  // namespace

std::unique_ptr<AdmissionPlugin> MakeNamespaceLifecycle(Core& core) {
  return std::make_unique<NamespaceLifecycle>(core);
}

// The namespace without what held it, or with the conditions that say what does.
Value NamespaceController::AfterSweep(Value object, const Remains& left, std::string_view now) {
  if (left.resources.empty()) {
    object.Edit("spec").Erase("finalizers");
    return object;
  }
  Value& conditions = object.Edit("status").Edit("conditions");
  SetCondition(conditions,
               {"NamespaceContentRemaining", true, "SomeResourcesRemain",
                StrCat("Some resources are remaining: ", Listing(left.resources, "has"))},
               now);
  const bool held = !left.finalizers.empty();
  SetCondition(
      conditions,
      {"NamespaceFinalizersRemaining", held, held ? "SomeFinalizersRemain" : "ContentHasNoFinalizers",
       held ? StrCat("Some content in the namespace has finalizers remaining: ", Listing(left.finalizers, "in"))
            : "All content-preserving finalizers finished"},
      now);
  return object;
}

void NamespaceController::Remains::Add(const std::string& resource, const Value& object) {
  ++resources[resource];
  for (const Value& finalizer : object["metadata"]["finalizers"].items()) ++finalizers[std::string(finalizer.str())];
}

void NamespaceController::Remains::Remove(const std::string& resource, const Value& object) {
  const auto one_less = [](std::map<std::string, size_t>& counts, const std::string& name) {
    const auto found = counts.find(name);
    if (found != counts.end() && --found->second == 0) counts.erase(found);
  };
  one_less(resources, resource);
  for (const Value& finalizer : object["metadata"]["finalizers"].items()) {
    one_less(finalizers, std::string(finalizer.str()));
  }
}

rt::Task<void> NamespaceController::Run() {
  while (co_await RunFromTheList()) {
  }
}

// False when the store ends; true when it is to begin anew.
rt::Task<bool> NamespaceController::RunFromTheList() {
  const ResourceTypePtr namespaces = core_.registry().Find("", "v1", "namespaces");
  const std::string prefix = StoragePrefix(*namespaces, "");
  emptying_.clear();
  const Result<store::ListResult> found = core_.store().List(prefix);
  if (!found.ok()) co_return false;
  for (const store::Entry& entry : found->entries) TakeNamespace(entry.key.substr(prefix.size()), entry.value);
  Revision seen = found->revision;
  std::unique_ptr<store::Watch> watch;
  std::string watched;
  while (true) {
    co_await SweepAndTell();
    // While a namespace waits for its content, everything is watched; else namespaces alone.
    const std::string wanted = emptying_.empty() ? prefix : std::string();
    if (watch == nullptr || watched != wanted) {
      Result<std::unique_ptr<store::Watch>> opened = core_.store().OpenWatch(wanted, seen);
      if (!opened.ok()) co_return opened.error().kind() == ErrorKind::kGone;
      watch = *std::move(opened);
      watched = wanted;
    }
    const auto changes = co_await rt::WithDeadline(NextTry(), "a change", watch->Next());
    if (!changes.ok() && changes.error().kind() == ErrorKind::kDeadlineExceeded) continue;
    if (!changes.ok()) co_return changes.error().kind() == ErrorKind::kGone;
    for (const auto& change : *changes) {
      if (change->key.starts_with(prefix)) {
        TakeNamespace(change->key.substr(prefix.size()), change->value);
      } else {
        TakeContent(*change);
      }
    }
    seen = watch->position();
  }
}

void NamespaceController::TakeNamespace(const std::string& name, const Bytes& value) {
  if (value != nullptr && IsBeingDeleted(core_.Decode(value))) {
    emptying_.try_emplace(name);
  } else {
    emptying_.erase(name);
  }
}

// What is in a namespace is counted once, and from then on change by change: its objects go one by one, and looking at
// all of them each time would take the square of their number.
void NamespaceController::TakeContent(const store::Event& change) {
  const std::optional<KeyParts> parts = SplitKey(change.key);
  const auto found = parts ? emptying_.find(parts->ns) : emptying_.end();
  if (found == emptying_.end() || change.revision <= found->second.counted_at) return;
  const ResourceTypePtr type = core_.registry().FindResource(parts->group, parts->plural);
  if (type == nullptr) return;
  Emptying& emptying = found->second;
  const std::string resource = StrCat(type->plural, ".", type->group);
  if (change.previous != nullptr) emptying.left.Remove(resource, core_.Decode(change.previous));
  if (change.value != nullptr) emptying.left.Add(resource, core_.Decode(change.value));
  emptying.changed = true;
  const bool came = change.previous == nullptr;  // it passed the check before the namespace was on its way out
  if (came || emptying.left.resources.empty()) emptying.sweep = rt::Deadline::At(core_.loop().Now());
}

rt::Deadline NamespaceController::NextTry() const {
  rt::Deadline next = rt::Deadline::Never();
  for (const auto& [name, emptying] : emptying_) next = next.Earlier(emptying.sweep);
  return next;
}

rt::Task<void> NamespaceController::SweepAndTell() {
  for (auto& [name, emptying] : emptying_) {
    if (emptying.sweep.Passed(core_.loop())) {
      co_await Empty(name, emptying);
    } else if (emptying.changed) {
      co_await Tell(name, emptying);
    }
  }
}

// Deletes what is in the namespace, counts what stays, and says so.
rt::Task<void> NamespaceController::Empty(const std::string& name, Emptying& emptying) {
  Caller server;
  bool refused = false;
  for (const ResourceTypePtr& type : core_.registry().StoredResources()) {
    if (!type->namespaced || core_.store().Count(StoragePrefix(*type, name)) == 0) continue;
    const Result<std::vector<Object>> deleted =
        co_await core_.DeleteCollection({.type = type, .ns = name, .name = {}, .subresource = {}}, {},
                                        {.propagation = Propagation::kBackground}, server);
    refused |= !deleted.ok();  // what is left is counted
  }
  emptying.left = Count(name);
  emptying.counted_at = core_.store().revision();
  emptying.sweep = refused ? rt::Deadline::After(core_.loop(), kSweepAgainAfter) : rt::Deadline::Never();
  co_await Tell(name, emptying);
}

// When nothing is left the namespace is let go.
rt::Task<void> NamespaceController::Tell(const std::string& name, Emptying& emptying) {
  emptying.changed = false;
  const ResourceTypePtr namespaces = core_.registry().Find("", "v1", "namespaces");
  const std::string now = TimeText(core_.loop().WallNow());
  const Result<Written> changed =
      co_await core_.Modify({.type = namespaces, .ns = {}, .name = name, .subresource = {}},
                            [&](const Value& object) { return std::optional(AfterSweep(object, emptying.left, now)); });
  // One that is gone already needs nothing.
  const bool failed = !changed.ok() && changed.error().kind() != ErrorKind::kNotFound;
  if (failed) emptying.sweep = rt::Deadline::After(core_.loop(), kSweepAgainAfter);
}

NamespaceController::Remains NamespaceController::Count(std::string_view ns) const {
  Remains left;
  for (const ResourceTypePtr& type : core_.registry().StoredResources()) {
    if (!type->namespaced) continue;
    const Result<store::ListResult> found = core_.store().List(StoragePrefix(*type, ns));
    if (!found.ok()) continue;
    const std::string resource = StrCat(type->plural, ".", type->group);
    for (const store::Entry& entry : found->entries) left.Add(resource, core_.Decode(entry.value));
  }
  return left;
}

}  // namespace baton::apiserver
