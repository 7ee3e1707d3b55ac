// The callers' functions of kube::Api, each a Call.
#include "kube/api.h"

#include <utility>

#include "base/strings.h"

namespace baton::kube {
namespace {

CallBox ForObject(Verb verb, Resource resource, const json::Value& object, WriteOptions options) {
  CallBox box{Call()};
  Call& call = *box;
  call.verb = verb;
  call.ns = resource.namespaced ? std::string(NamespaceOf(object)) : std::string();
  call.name = NameOf(object);
  call.resource = std::move(resource);
  call.body = object;
  call.subresource = std::move(options.subresource);
  call.field_manager = std::move(options.field_manager);
  call.dry_run = options.dry_run;
  call.force = options.force;
  return box;
}

}  // namespace

std::string Resource::ToString() const { return StrCat(plural, ".", version, group.empty() ? "" : ".", group); }

Name Name::FromKey(std::string_view key) {
  const size_t slash = key.find('/');
  if (slash == std::string_view::npos) return {.ns = {}, .name = std::string(key)};
  return {.ns = std::string(key.substr(0, slash)), .name = std::string(key.substr(slash + 1))};
}

Name Name::Of(const json::Value& object) {
  return {.ns = std::string(NamespaceOf(object)), .name = std::string(NameOf(object))};
}

std::string_view VerbName(Verb verb) {
  switch (verb) {
    case Verb::kGet:
      return "get";
    case Verb::kList:
      return "list";
    case Verb::kCreate:
      return "create";
    case Verb::kUpdate:
      return "update";
    case Verb::kPatch:
      return "patch";
    case Verb::kDelete:
      return "delete";
    case Verb::kDeleteCollection:
      return "deletecollection";
  }
  return "";
}

std::string_view ContentTypeOf(PatchType type) {
  switch (type) {
    case PatchType::kJson:
      return "application/json-patch+json";
    case PatchType::kMerge:
      return "application/merge-patch+json";
    case PatchType::kStrategic:
      return "application/strategic-merge-patch+json";
    case PatchType::kApply:
      return "application/apply-patch+yaml";
  }
  return "";
}

rt::Task<Result<json::Value>> Api::DoOne(CallBox call) {
  Answer answer = CO_TRY(co_await Do(std::move(call), rt::Deadline::After(loop(), kCallTimeout)));
  co_return std::move(answer.object);
}

rt::Task<Result<json::Value>> Api::Get(Resource resource, Name name) {
  CallBox box{Call()};
  Call& call = *box;
  call.resource = std::move(resource);
  call.ns = std::move(name.ns);
  call.name = std::move(name.name);
  return DoOne(std::move(box));
}

rt::Task<Result<Listed>> Api::ListAll(Resource resource, ListOptions options) {
  const rt::Deadline deadline = rt::Deadline::After(loop(), kCallTimeout);
  Call call;
  call.verb = Verb::kList;
  call.resource = std::move(resource);
  call.ns = std::move(options.ns);
  call.label_selector = std::move(options.label_selector);
  call.field_selector = std::move(options.field_selector);
  call.resource_version = std::move(options.resource_version);
  call.limit = kListPageSize;
  Listed all;
  while (true) {
    Answer page = CO_TRY(co_await Do(call, deadline));
    if (all.items.empty()) {
      all.items = std::move(page.items);
    } else {
      all.items.insert(all.items.end(), std::move_iterator(page.items.begin()), std::move_iterator(page.items.end()));
    }
    all.resource_version = std::move(page.resource_version);
    if (page.continue_token.empty()) co_return all;
    call.continue_token = std::move(page.continue_token);
    call.resource_version.clear();  // a continued list has its revision in the token
  }
}

rt::Task<Result<json::Value>> Api::Create(Resource resource, json::Value object, WriteOptions options) {
  CallBox call = ForObject(Verb::kCreate, std::move(resource), object, std::move(options));
  if (call->subresource.empty()) call->name.clear();
  return DoOne(std::move(call));
}

rt::Task<Result<json::Value>> Api::Update(Resource resource, json::Value object, WriteOptions options) {
  return DoOne(ForObject(Verb::kUpdate, std::move(resource), object, std::move(options)));
}

rt::Task<Result<json::Value>> Api::UpdateStatus(Resource resource, json::Value object) {
  return Update(std::move(resource), std::move(object), {.subresource = "status"});
}

rt::Task<Result<json::Value>> Api::Patch(Resource resource, Name name, PatchType type, json::Value patch,
                                         WriteOptions options) {
  CallBox box{Call()};
  Call& call = *box;
  call.verb = Verb::kPatch;
  call.resource = std::move(resource);
  call.ns = std::move(name.ns);
  call.name = std::move(name.name);
  call.body = std::move(patch);
  call.patch_type = type;
  call.subresource = std::move(options.subresource);
  call.field_manager = std::move(options.field_manager);
  call.dry_run = options.dry_run;
  call.force = options.force;
  return DoOne(std::move(box));
}

rt::Task<Result<json::Value>> Api::Apply(Resource resource, json::Value object, WriteOptions options) {
  Name name = Name::Of(object);
  if (!resource.namespaced) name.ns.clear();
  return Patch(std::move(resource), std::move(name), PatchType::kApply, std::move(object), std::move(options));
}

rt::Task<Result<json::Value>> Api::Delete(Resource resource, Name name, DeleteOptions options) {
  CallBox box{Call()};
  Call& call = *box;
  call.verb = Verb::kDelete;
  call.resource = std::move(resource);
  call.ns = std::move(name.ns);
  call.name = std::move(name.name);
  call.precondition_uid = std::move(options.uid);
  call.precondition_version = std::move(options.resource_version);
  call.propagation = options.propagation;
  return DoOne(std::move(box));
}

std::string_view NameOf(const json::Value& object) { return object["metadata"]["name"].str(); }
std::string_view NamespaceOf(const json::Value& object) { return object["metadata"]["namespace"].str(); }
std::string_view UidOf(const json::Value& object) { return object["metadata"]["uid"].str(); }
std::optional<uint64_t> VersionNumber(std::string_view version) {
  constexpr size_t kDigitsMax = 19;
  uint64_t number = 0;
  if (version.empty() || version.size() > kDigitsMax) return std::nullopt;
  for (const char c : version) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + static_cast<uint64_t>(c - '0');
  }
  return number;
}

std::string_view VersionOf(const json::Value& object) { return object["metadata"]["resourceVersion"].str(); }
std::string_view ApiVersionOf(const json::Value& object) { return object["apiVersion"].str(); }
std::string_view KindOf(const json::Value& object) { return object["kind"].str(); }
bool IsDeleting(const json::Value& object) { return object["metadata"].Has("deletionTimestamp"); }

}  // namespace baton::kube
