// A kube::Call as a call of the API server's Core.
#include "kube/local_api.h"

#include <algorithm>
#include <utility>

#include "apiserver/discovery.h"
#include "apiserver/errors.h"
#include "apiserver/scale.h"
#include "apiserver/selection.h"
#include "base/strings.h"
#include "rt/when.h"

namespace baton::kube {
namespace {

using apiserver::Core;
using apiserver::Target;

apiserver::PatchType CorePatchType(PatchType type) {
  switch (type) {
    case PatchType::kJson:
      return apiserver::PatchType::kJson;
    case PatchType::kMerge:
      return apiserver::PatchType::kMerge;
    case PatchType::kStrategic:
      return apiserver::PatchType::kStrategic;
    case PatchType::kApply:
      return apiserver::PatchType::kApply;
  }
  return apiserver::PatchType::kMerge;
}

apiserver::Propagation CorePropagation(Propagation propagation) {
  switch (propagation) {
    case Propagation::kDefault:
      return apiserver::Propagation::kDefault;
    case Propagation::kBackground:
      return apiserver::Propagation::kBackground;
    case Propagation::kForeground:
      return apiserver::Propagation::kForeground;
    case Propagation::kOrphan:
      return apiserver::Propagation::kOrphan;
  }
  return apiserver::Propagation::kDefault;
}

apiserver::WriteOptions CoreWriteOptions(const Call& call) {
  apiserver::WriteOptions options;
  options.dry_run = call.dry_run;
  options.field_manager = call.field_manager;
  options.force = call.force;
  if (call.field_validation == "Strict") options.field_validation = apiserver::FieldValidation::kStrict;
  if (call.field_validation == "Ignore") options.field_validation = apiserver::FieldValidation::kIgnore;
  return options;
}

ChangeType TypeOf(apiserver::EventType type) {
  switch (type) {
    case apiserver::EventType::kAdded:
      return ChangeType::kAdded;
    case apiserver::EventType::kModified:
      return ChangeType::kModified;
    case apiserver::EventType::kDeleted:
      return ChangeType::kDeleted;
    case apiserver::EventType::kBookmark:
      return ChangeType::kBookmark;
  }
  return ChangeType::kBookmark;
}

class LocalWatch final : public Watch {
 public:
  LocalWatch(Core& core, std::unique_ptr<apiserver::Watcher> watcher) : core_(core), watcher_(std::move(watcher)) {}

  rt::Task<Result<std::vector<Change>>> Next() override {
    const std::vector<apiserver::WatchEvent> events = CO_TRY(co_await watcher_->Next());
    std::vector<Change> changes;
    changes.reserve(events.size());
    for (const apiserver::WatchEvent& event : events) {
      Change change{.type = TypeOf(event.type), .object = {}, .initial_events_end = event.initial_events_end};
      if (event.type == apiserver::EventType::kBookmark) {
        change.object.Edit("metadata").Set("resourceVersion", apiserver::VersionText(event.object.revision));
      } else {
        change.object = core_.Decode(event.object.bytes);
      }
      changes.push_back(std::move(change));
    }
    co_return changes;
  }

 private:
  Core& core_;
  std::unique_ptr<apiserver::Watcher> watcher_;
};

}  // namespace

LocalApi::LocalApi(apiserver::Backend& backend, LocalApiOptions options)
    : backend_(backend), options_(std::move(options)) {}

Result<Target> LocalApi::TargetOf(const Resource& resource, std::string ns, std::string name,
                                  std::string subresource) const {
  Target target{.type = backend_.core().registry().Find(resource.group, resource.version, resource.plural),
                .ns = std::move(ns),
                .name = std::move(name),
                .subresource = std::move(subresource)};
  if (target.type == nullptr) return apiserver::UnknownPath();
  const apiserver::ResourceType& type = *target.type;
  if (!type.stored) return UnsupportedError(StrCat(resource.ToString(), " is not kept: ask the server over HTTPS"));
  if (!type.namespaced) target.ns.clear();
  if (!target.name.empty() && type.namespaced && target.ns.empty()) return apiserver::UnknownPath();
  const std::string& sub = target.subresource;
  const bool known = sub.empty() || (sub == "status" && type.has_status) || (sub == "scale" && type.scale) ||
                     (sub == "finalize" && type.plural == "namespaces");
  if (!known) return apiserver::UnknownPath();
  return target;
}

rt::Task<Result<Answer>> LocalApi::Do(CallBox call, rt::Deadline deadline) {
  return rt::WithDeadline(deadline, "the server's answer", Serve(std::move(call)));
}

rt::Task<Result<Answer>> LocalApi::Serve(CallBox call) {
  Target target = CO_TRY(TargetOf(call->resource, call->ns, call->name, call->subresource));
  switch (call->verb) {
    case Verb::kGet:
      co_return co_await ServeRead(*call, std::move(target));
    case Verb::kList:
      co_return co_await ServeList(*call, std::move(target));
    case Verb::kCreate:
    case Verb::kUpdate:
    case Verb::kPatch:
      co_return co_await ServeWrite(*call, std::move(target));
    case Verb::kDelete:
    case Verb::kDeleteCollection:
      co_return co_await ServeDelete(*call, std::move(target));
  }
  co_return apiserver::MethodNotAllowed();
}

rt::Task<Result<Answer>> LocalApi::ServeRead(const Call& call, Target target) {
  Core& core = backend_.core();
  const apiserver::ResourceTypePtr type = target.type;
  const bool scale = target.subresource == "scale";
  const apiserver::Object object = CO_TRY(co_await core.Get(std::move(target), call.resource_version));
  Answer answer;
  answer.object = core.Decode(object.bytes);
  if (scale) answer.object = apiserver::ScaleOf(*type, answer.object);
  co_return answer;
}

rt::Task<Result<Answer>> LocalApi::ServeList(const Call& call, Target target) {
  Core& core = backend_.core();
  apiserver::ListOptions options;
  options.selection = CO_TRY(apiserver::ParseSelection(*target.type, call.label_selector, call.field_selector));
  options.limit = call.limit;
  options.continue_token = call.continue_token;
  options.resource_version = call.resource_version;
  options.resource_version_match = call.resource_version_match;
  const apiserver::Listed listed = CO_TRY(co_await core.List(std::move(target), std::move(options)));
  Answer answer;
  answer.items.reserve(listed.items.size());
  for (const apiserver::Object& item : listed.items) answer.items.push_back(core.Decode(item.bytes));
  answer.resource_version = apiserver::VersionText(listed.revision);
  answer.continue_token = listed.continue_token;
  co_return answer;
}

rt::Task<Result<Answer>> LocalApi::ServeWrite(Call& call, Target target) {
  Core& core = backend_.core();
  const apiserver::ResourceTypePtr type = target.type;
  const bool scale = target.subresource == "scale";
  apiserver::Caller caller{
      .user = {.name = options_.user, .uid = {}, .groups = {std::string(apiserver::kMastersGroup)}, .extra = {}},
      .user_agent = options_.user_agent,
      .warnings = {}};
  apiserver::WriteOptions options = CoreWriteOptions(call);
  if (call.verb == Verb::kCreate && type->namespaced && target.ns.empty()) co_return apiserver::MethodNotAllowed();
  Result<apiserver::Written> written = InternalError("not a write");
  if (call.verb == Verb::kCreate) {
    written = co_await core.Create(std::move(target), std::move(call.body), std::move(options), caller);
  } else if (call.verb == Verb::kUpdate) {
    written = co_await core.Update(std::move(target), std::move(call.body), std::move(options), caller);
  } else {
    written = co_await core.Patch(std::move(target), CorePatchType(call.patch_type), std::move(call.body),
                                  std::move(options), caller);
  }
  if (!written.ok()) co_return std::move(written).error();
  Answer answer;
  answer.object = scale ? apiserver::ScaleOf(*type, written->value) : written->value;
  answer.warnings = std::move(caller.warnings);
  co_return answer;
}

rt::Task<Result<Answer>> LocalApi::ServeDelete(const Call& call, Target target) {
  Core& core = backend_.core();
  apiserver::Caller caller{
      .user = {.name = options_.user, .uid = {}, .groups = {std::string(apiserver::kMastersGroup)}, .extra = {}},
      .user_agent = options_.user_agent,
      .warnings = {}};
  const apiserver::DeleteOptions options{.dry_run = call.dry_run,
                                         .uid = call.precondition_uid,
                                         .resource_version = call.precondition_version,
                                         .propagation = CorePropagation(call.propagation)};
  Answer answer;
  if (call.verb == Verb::kDeleteCollection) {
    const apiserver::Selection selection =
        CO_TRY(apiserver::ParseSelection(*target.type, call.label_selector, call.field_selector));
    const std::vector<apiserver::Object> deleted =
        CO_TRY(co_await core.DeleteCollection(std::move(target), selection, options, caller));
    for (const apiserver::Object& object : deleted) answer.items.push_back(core.Decode(object.bytes));
    co_return answer;
  }
  const apiserver::Subject subject{.group = call.resource.group, .resource = call.resource.plural, .name = call.name};
  const apiserver::Deleted deleted = CO_TRY(co_await core.Delete(std::move(target), options, caller));
  answer.object = deleted.gone ? apiserver::SuccessStatus(subject, UidOf(deleted.value)) : deleted.value;
  co_return answer;
}

rt::Task<Result<std::unique_ptr<Watch>>> LocalApi::OpenWatch(WatchCall call, rt::Deadline /*deadline*/) {
  Core& core = backend_.core();
  const Target target = CO_TRY(TargetOf(call.resource, call.ns, {}, {}));
  apiserver::WatchOptions options;
  options.selection = CO_TRY(apiserver::ParseSelection(*target.type, call.label_selector, call.field_selector));
  options.resource_version = call.resource_version;
  options.bookmarks = call.bookmarks;
  std::unique_ptr<apiserver::Watcher> watcher = CO_TRY(core.Watch(target, options));
  co_return std::make_unique<LocalWatch>(core, std::move(watcher));
}

rt::Task<Result<Discovered>> LocalApi::Discover(rt::Deadline /*deadline*/) {
  const apiserver::Registry& registry = backend_.core().registry();
  if (discovered_at_ == registry.generation()) co_return discovered_;
  Discovered discovered;
  discovered.server_version = apiserver::VersionInfo()["gitVersion"].str();
  for (const apiserver::ResourceTypePtr& type : registry.AllTypes()) {
    ResourceInfo info;
    info.resource = {.group = type->group,
                     .version = type->version,
                     .plural = type->plural,
                     .kind = type->kind,
                     .namespaced = type->namespaced};
    info.verbs = apiserver::VerbsOf(*type);
    info.short_names = type->short_names;
    info.categories = type->categories;
    if (type->has_status) info.subresources.emplace_back("status");
    if (type->scale) info.subresources.emplace_back("scale");
    for (const api::Subresource& sub : type->subresources) info.subresources.push_back(sub.name);
    std::ranges::sort(info.subresources);
    info.preferred = registry.Versions(type->group).front() == type->version;
    discovered.resources.push_back(std::move(info));
  }
  discovered_at_ = registry.generation();
  discovered_ = discovered;
  co_return discovered;
}

}  // namespace baton::kube
