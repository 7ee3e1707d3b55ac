// Kinds to resources, over discovery.
#include "kube/mapper.h"

#include <utility>

#include "base/strings.h"

namespace baton::kube {
namespace {

std::string ApiVersionText(std::string_view group, std::string_view version) {
  return group.empty() ? std::string(version) : StrCat(group, "/", version);
}

}  // namespace

GroupVersion ParseApiVersion(std::string_view api_version) {
  const size_t slash = api_version.find('/');
  if (slash == std::string_view::npos) return {.group = {}, .version = std::string(api_version)};
  return {.group = std::string(api_version.substr(0, slash)), .version = std::string(api_version.substr(slash + 1))};
}

void Mapper::Invalidate() {
  ++invalidations_;
  known_ = false;
  last_asked_.reset();
}

rt::Task<Result<Resource>> Mapper::ForKind(std::string group, std::string version, std::string kind) {
  const ResourceInfo* info = CO_TRY(co_await Look(By::kKind, std::move(group), std::move(version), std::move(kind)));
  co_return info->resource;
}

rt::Task<Result<Resource>> Mapper::ForGroupKind(std::string group, std::string kind) {
  return ForKind(std::move(group), {}, std::move(kind));
}

rt::Task<Result<Resource>> Mapper::ForResource(std::string group, std::string version, std::string plural) {
  const ResourceInfo* info =
      CO_TRY(co_await Look(By::kPlural, std::move(group), std::move(version), std::move(plural)));
  co_return info->resource;
}

rt::Task<Result<Resource>> Mapper::ForObject(const json::Value& object) {
  GroupVersion of = ParseApiVersion(ApiVersionOf(object));
  return ForKind(std::move(of.group), std::move(of.version), std::string(KindOf(object)));
}

rt::Task<Result<ResourceInfo>> Mapper::Info(Resource resource) {
  const ResourceInfo* info = CO_TRY(
      co_await Look(By::kPlural, std::move(resource.group), std::move(resource.version), std::move(resource.plural)));
  co_return *info;
}

rt::Task<Result<std::vector<ResourceInfo>>> Mapper::All() {
  if (!known_) CO_TRY(co_await Refresh(asked_));
  co_return std::vector<ResourceInfo>(resources_.begin(), resources_.end());
}

rt::Task<Result<const ResourceInfo*>> Mapper::Look(By by, std::string group, std::string version, std::string name) {
  if (name.empty()) {
    co_return InvalidError(StrCat("an object of ", Quote(ApiVersionText(group, version)), " without a kind"));
  }
  const uint64_t seen = asked_;
  if (known_) {
    if (const ResourceInfo* found = Find(by, group, version, name)) co_return found;
    if (last_asked_ && api_.loop().Now() - *last_asked_ < kRefreshMin) co_return NoSuch(by, group, version, name);
  }
  CO_TRY(co_await Refresh(seen));
  if (const ResourceInfo* found = Find(by, group, version, name)) co_return found;
  co_return NoSuch(by, group, version, name);
}

// `seen` is what asked_ was when the caller looked: whoever asked since then asked for the caller, too.
rt::Task<Result<void>> Mapper::Refresh(uint64_t seen) {
  const rt::Mutex::Guard guard = co_await asking_.Lock();
  if (asked_ != seen && (known_ || failed_)) {
    if (failed_) co_return *failed_;
    co_return Result<void>();
  }
  const MonotonicTime begun = api_.loop().Now();
  const uint64_t invalidations = invalidations_;
  Result<Discovered> discovered = co_await api_.Discover(rt::Deadline::After(api_.loop(), kCallTimeout));
  ++asked_;
  failed_.reset();
  if (!discovered.ok()) {
    failed_ = discovered.error().Context("asking the server what it serves");
    co_return *failed_;
  }
  // An answer to a question of before Invalidate() is no answer to one of after it.
  if (invalidations == invalidations_) {
    known_ = true;
    last_asked_ = begun;
  }
  Take(*std::move(discovered));
  co_return Result<void>();
}

// Some hundreds, looked through in a microsecond: an index would cost more to make than it saves.
const ResourceInfo* Mapper::Find(By by, std::string_view group, std::string_view version, std::string_view name) const {
  const ResourceInfo* first = nullptr;
  for (const ResourceInfo& info : resources_) {
    const Resource& resource = info.resource;
    if ((by == By::kKind ? resource.kind : resource.plural) != name || resource.group != group) continue;
    if (!version.empty() && resource.version != version) continue;
    if (info.preferred) return &info;
    if (first == nullptr) first = &info;
  }
  return first;
}

void Mapper::Take(Discovered discovered) {
  failed_groups_ = {discovered.failed_groups.begin(), discovered.failed_groups.end()};
  // What a group's own server had said still holds while it is down.
  for (const ResourceInfo& info : failed_groups_.empty() ? SharedList<ResourceInfo>() : resources_) {
    if (failed_groups_.contains(info.resource.ApiVersion())) discovered.resources.push_back(info);
  }
  resources_ = std::move(discovered.resources);
}

Error Mapper::NoSuch(By by, std::string_view group, std::string_view version, std::string_view name) const {
  const std::string what = StrCat(by == By::kKind ? "kind " : "resource ", Quote(name));
  const std::string where = version.empty() ? StrCat("group ", Quote(group)) : ApiVersionText(group, version);
  for (const std::string& failed : failed_groups_) {
    const GroupVersion of = ParseApiVersion(failed);
    if (of.group == group && (version.empty() || of.version == version)) {
      return UnavailableError(StrCat("it is not known whether the server has ", what, " in ", where, ": ", failed,
                                     " does not answer; `kubectl get apiservices` says why"));
    }
  }
  const ResourceInfo* other = Find(by, group, {}, name);
  if (other != nullptr) {
    return NotFoundError(StrCat("the server has ", what, " not in ", where, " but in ", other->resource.ApiVersion(),
                                "; `kubectl api-resources` shows what it has"));
  }
  return NotFoundError(StrCat("the server has no ", what, " in ", where,
                              "; is its CRD installed? `kubectl api-resources` shows what it has"));
}

}  // namespace baton::kube
