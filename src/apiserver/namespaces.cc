// The lifecycle of namespaces.
#include "apiserver/namespaces.h"

#include <array>
#include <utility>

#include "apiserver/conditions.h"
#include "apiserver/errors.h"
#include "apiserver/metadata.h"
#include "base/strings.h"

namespace baton::apiserver {

namespace {

using json::Value;

constexpr std::array<std::string_view, 3> kNeeded = {"default", "kube-public", "kube-system"};

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
  Core& core_;
};

}  // namespace

std::unique_ptr<AdmissionPlugin> MakeNamespaceLifecycle(Core& core) {
  return std::make_unique<NamespaceLifecycle>(core);
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
  size_t left = 0;
  for (const ResourceTypePtr& type : core_.registry().StoredResources()) {
    if (!type->namespaced) continue;
    const std::string prefix = StoragePrefix(*type, name);
    if (core_.store().Count(prefix) == 0) continue;
    const Result<std::vector<Object>> deleted =
        co_await core_.DeleteCollection({.type = type, .ns = name, .name = {}, .subresource = {}}, {},
                                        {.propagation = Propagation::kBackground}, server);
    (void)deleted;  // what is left is counted
    left += core_.store().Count(prefix);
  }
  const ResourceTypePtr namespaces = core_.registry().Find("", "v1", "namespaces");
  const std::string now = TimeText(core_.loop().WallNow());
  const Result<Written> changed =
      co_await core_.Modify({.type = namespaces, .ns = {}, .name = name, .subresource = {}}, [&](const Value& object) {
        Value next = object;
        if (left == 0) {
          next.Edit("spec").Erase("finalizers");
        } else {
          SetCondition(next.Edit("status").Edit("conditions"),
                       {"NamespaceContentRemaining", true, "SomeResourcesRemain",
                        StrCat("Some resources are remaining: ", left, " objects wait for their finalizers")},
                       now);
        }
        return std::optional(std::move(next));
      });
  (void)changed;  // a namespace that is gone already needs nothing
}

}  // namespace baton::apiserver
