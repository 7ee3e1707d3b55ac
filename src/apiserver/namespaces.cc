// The lifecycle of namespaces.
#include "apiserver/namespaces.h"

#include <array>
#include <map>
#include <utility>

#include "api/field_errors.h"
#include "apiserver/conditions.h"
#include "apiserver/errors.h"
#include "apiserver/metadata.h"
#include "base/strings.h"

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

std::set<std::string> NamespaceController::Leaving() const {
  std::set<std::string> leaving;
  const ResourceTypePtr namespaces = core_.registry().Find("", "v1", "namespaces");
  const Result<store::ListResult> found = core_.store().List(StoragePrefix(*namespaces, ""));
  if (!found.ok()) return leaving;
  for (const store::Entry& entry : found->entries) {
    const Value object = core_.Decode(entry.value);
    if (IsBeingDeleted(object)) leaving.emplace(object["metadata"]["name"].str());
  }
  return leaving;
}

rt::Task<void> NamespaceController::Run() {
  const ResourceTypePtr namespaces = core_.registry().Find("", "v1", "namespaces");
  const std::string prefix = StoragePrefix(*namespaces, "");
  while (true) {
    // While a namespace waits for its content, everything is watched; else namespaces alone.
    const Revision seen = core_.store().revision();
    const std::set<std::string> leaving = Leaving();
    for (const std::string& name : leaving) co_await Empty(name);
    const bool waits = !Leaving().empty();
    Result<std::unique_ptr<store::Watch>> watch = core_.store().OpenWatch(waits ? std::string() : prefix, seen);
    if (!watch.ok() && watch.error().kind() == ErrorKind::kGone) continue;
    if (!watch.ok()) co_return;
    const auto changes = co_await (*watch)->Next();
    if (!changes.ok() && changes.error().kind() != ErrorKind::kGone) co_return;
  }
}

// Deletes what is in the namespace; when nothing is left, lets the namespace go.
rt::Task<void> NamespaceController::Empty(std::string name) {
  Caller server;
  Remains left;
  for (const ResourceTypePtr& type : core_.registry().StoredResources()) {
    if (!type->namespaced) continue;
    const std::string prefix = StoragePrefix(*type, name);
    if (core_.store().Count(prefix) == 0) continue;
    const Result<std::vector<Object>> deleted =
        co_await core_.DeleteCollection({.type = type, .ns = name, .name = {}, .subresource = {}}, {},
                                        {.propagation = Propagation::kBackground}, server);
    (void)deleted;  // what is left is counted
    Count(*type, name, left);
  }
  const ResourceTypePtr namespaces = core_.registry().Find("", "v1", "namespaces");
  const std::string now = TimeText(core_.loop().WallNow());
  const Result<Written> changed =
      co_await core_.Modify({.type = namespaces, .ns = {}, .name = name, .subresource = {}},
                            [&](const Value& object) { return std::optional(AfterSweep(object, left, now)); });
  (void)changed;  // a namespace that is gone already needs nothing
}

void NamespaceController::Count(const ResourceType& type, std::string_view ns, Remains& left) const {
  const Result<store::ListResult> found = core_.store().List(StoragePrefix(type, ns));
  if (!found.ok() || found->entries.empty()) return;
  left.resources[StrCat(type.plural, ".", type.group)] += found->entries.size();
  for (const store::Entry& entry : found->entries) {
    for (const Value& finalizer : core_.Decode(entry.value)["metadata"]["finalizers"].items()) {
      ++left.finalizers[std::string(finalizer.str())];
    }
  }
}

}  // namespace baton::apiserver
