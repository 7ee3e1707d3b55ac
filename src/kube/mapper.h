// Mapper: from what an object says of itself (apiVersion, kind) to the Resource that it is asked for by, as its server
// has it. Discovery is asked for once and kept; a kind that is not known yet (a CRD was installed) makes it ask anew.
//
//   Mapper mapper(api);
//   Resource resource = CO_TRY(co_await mapper.ForObject(object));
//   co_await api.Apply(resource, object);
//
// kNotFound: the server was asked and has no such kind; the message says what to do. kUnavailable: it is not known,
// because the server, or the group's own server, did not answer: nobody may conclude that the kind is not there.
//
// What is known is answered without waiting. Misses ask at most once in kRefreshMin, and those of one moment together.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "kube/api.h"
#include "rt/semaphore.h"
#include "rt/task.h"

namespace baton::kube {

inline constexpr Duration kRefreshMin = seconds(5);

class Mapper {
 public:
  explicit Mapper(Api& api) : api_(api) {}  // outlives this

  rt::Task<Result<Resource>> ForKind(std::string group, std::string version, std::string kind);
  // In the version that the group prefers, or the first that has it.
  rt::Task<Result<Resource>> ForGroupKind(std::string group, std::string kind);
  // By plural name, "deployments"; an empty version is as above.
  rt::Task<Result<Resource>> ForResource(std::string group, std::string version, std::string plural);
  rt::Task<Result<Resource>> ForObject(const json::Value& object);

  // All that discovery says about it.
  rt::Task<Result<ResourceInfo>> Info(Resource resource);
  rt::Task<Result<std::vector<ResourceInfo>>> All();

  // The next question asks the server, whatever is known. For who learned that a mapping is wrong.
  void Invalidate();

 private:
  enum class By : uint8_t { kKind, kPlural };

  // Stands until the next question that waits.
  rt::Task<Result<const ResourceInfo*>> Look(By by, std::string group, std::string version, std::string name);
  rt::Task<Result<void>> Refresh(uint64_t seen);
  // Of the version "": that of the group's preferred one, else the first.
  const ResourceInfo* Find(By by, std::string_view group, std::string_view version, std::string_view name) const;
  void Take(Discovered discovered);
  Error NoSuch(By by, std::string_view group, std::string_view version, std::string_view name) const;

  Api& api_;
  SharedList<ResourceInfo> resources_;
  std::set<std::string> failed_groups_;  // "metrics.k8s.io/v1beta1"
  uint64_t asked_ = 0;                   // how often, failures included
  std::optional<MonotonicTime> last_asked_;
  std::optional<Error> failed_;  // what the last asking came to
  bool known_ = false;           // since Invalidate()
  uint64_t invalidations_ = 0;
  rt::Mutex asking_;
};

// "apps/v1" is group "apps", version "v1"; "v1" is the core group's.
struct GroupVersion {
  std::string group, version;
};
GroupVersion ParseApiVersion(std::string_view api_version);

}  // namespace baton::kube
