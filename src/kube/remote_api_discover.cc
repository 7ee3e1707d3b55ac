// RemoteApi's Discover: the aggregated documents, or all groups one by one.
#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "kube/remote_answer.h"
#include "kube/remote_api.h"
#include "kube/remote_discovery.h"
#include "rt/semaphore.h"
#include "rt/when.h"

namespace baton::kube {
namespace {

// A server may have no core group, or nothing but it; who may see one only sees that.
bool MayBeMissing(const Error& error) {
  return error.kind() == ErrorKind::kNotFound || error.kind() == ErrorKind::kForbidden;
}

using Document = Result<json::Value>;

// Waits for its turn.
rt::Task<Document> Limited(rt::Semaphore& slots, rt::Task<Document> task) {
  const rt::Semaphore::Permit permit = co_await slots.Acquire();
  co_return co_await std::move(task);
}

}  // namespace

rt::Task<Result<json::Value>> RemoteApi::GetDocument(std::string path, std::string_view accept, rt::Deadline deadline) {
  net::Request request;
  request.target = StrCat(prefix_, path);
  request.headers.Add("accept", accept);
  net::Response response = CO_TRY(co_await Send(std::move(request), deadline));
  if (response.status < 200 || response.status > 299) co_return ErrorOf(response);
  co_return co_await Parsed(std::move(response), deadline);
}

rt::Task<Result<void>> RemoteApi::DiscoverOneByOne(json::Value document, Discovered& into, rt::Deadline deadline) {
  const std::vector<GroupVersionPath> groups = GroupVersionsOf(document);
  rt::Semaphore slots(kDiscoveryCallsMax);
  std::vector<rt::Task<Document>> calls;
  calls.reserve(groups.size());
  for (const GroupVersionPath& group : groups) {
    calls.push_back(Limited(slots, GetDocument(group.Path(), "application/json", deadline)));
  }
  const std::vector<Document> documents = co_await rt::WhenAll(std::move(calls));
  for (size_t i = 0; i < groups.size(); ++i) {
    // An aggregated server that is down takes nothing but its own group with it; our own deadline takes everything.
    if (documents[i].ok()) {
      AddResourceList(groups[i], *documents[i], into);
    } else if (documents[i].error().kind() == ErrorKind::kDeadlineExceeded && deadline.Passed(loop_)) {
      co_return documents[i].error();
    } else {
      into.failed_groups.push_back(groups[i].ToString());
    }
  }
  co_return Result<void>();
}

rt::Task<Result<void>> RemoteApi::DiscoverUnder(std::string path, Discovered& into, rt::Deadline deadline) {
  json::Value document = CO_TRY(co_await GetDocument(std::move(path), kDiscoveryAccept, deadline));
  if (!IsAggregated(document)) co_return co_await DiscoverOneByOne(std::move(document), into, deadline);
  AddAggregated(document, into);
  co_return Result<void>();
}

rt::Task<Result<Discovered>> RemoteApi::Discover(rt::Deadline deadline) {
  Discovered core;
  Discovered groups;
  auto [of_core, of_groups, version] =
      co_await rt::WhenAll(DiscoverUnder("/api", core, deadline), DiscoverUnder("/apis", groups, deadline),
                           GetDocument("/version", "application/json", deadline));
  if (!of_core.ok() && (!of_groups.ok() || !MayBeMissing(of_core.error()))) co_return of_core.error();
  if (!of_groups.ok() && !MayBeMissing(of_groups.error())) co_return of_groups.error();
  if (!version.ok() && !MayBeMissing(version.error())) co_return version.error();
  for (const ResourceInfo& info : groups.resources) core.resources.push_back(info);
  std::ranges::move(groups.failed_groups, std::back_inserter(core.failed_groups));
  if (version.ok()) core.server_version = version.value()["gitVersion"].str();
  co_return core;
}

}  // namespace baton::kube
