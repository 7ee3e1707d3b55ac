// kube::Api: the one door to a Kubernetes API. Everything above reaches the hub and the members through it, and cannot
// tell which of these stands behind it:
//
//   LocalApi  (kube/local_api.h)   a server in this process: no bytes are copied, nothing is parsed twice
//   RemoteApi (kube/remote_api.h)  any kube-apiserver, over HTTPS
//   FaultyApi (kube/faulty_api.h)  in front of either: errors, lost answers, delays, stale reads, cut watches
//   PoliteApi (kube/polite_api.h)  in front of either: limits, and retries of what is safe to retry
//
//   Value web = CO_TRY(co_await api.Get(kDeployments, {"blue", "web"}));
//   web.Edit("spec").Edit("replicas") = 3;
//   Value now = CO_TRY(co_await api.Update(kDeployments, web));   // carries web's resourceVersion: compare-and-swap
//
// Objects are json::Values. Errors are values too, Kubernetes' Status kept: kNotFound, kConflict (decide again, never
// retry blindly), kGone (list again), kThrottled. kUnavailable and kDeadlineExceeded say nothing about whether a write
// happened. Every call has a deadline; dropping the task cancels it.
//
// Implementations have three functions to write: Do, OpenWatch and Discover. One loop; an Api outlives its calls and
// watches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/shared_list.h"
#include "base/time.h"
#include "json/value.h"
#include "rt/loop.h"
#include "rt/task.h"

namespace baton::kube {

inline constexpr Duration kCallTimeout = seconds(30);       // of a call whose caller named no deadline
inline constexpr size_t kListPageSize = 500;                // objects in one page of ListAll
inline constexpr std::string_view kFieldManager = "baton";  // of writes that name none

// A kind of object as its server names it.
struct Resource {
  std::string group;  // "" is core
  std::string version;
  std::string plural;  // "deployments"
  std::string kind;    // "Deployment"
  bool namespaced = true;

  std::string ApiVersion() const { return group.empty() ? version : group + "/" + version; }
  std::string ToString() const;  // "deployments.v1.apps", for messages
  friend auto operator<=>(const Resource&, const Resource&) = default;
};

// Which object. A cluster-wide one has no namespace.
struct Name {
  std::string ns;
  std::string name;

  std::string Key() const { return ns.empty() ? name : ns + "/" + name; }  // as in a work queue
  static Name FromKey(std::string_view key);
  static Name Of(const json::Value& object);
  friend auto operator<=>(const Name&, const Name&) = default;
};

enum class Verb : uint8_t { kGet, kList, kCreate, kUpdate, kPatch, kDelete, kDeleteCollection };
std::string_view VerbName(Verb verb);  // "get", as RBAC and audit logs spell it

enum class PatchType : uint8_t { kJson, kMerge, kStrategic, kApply };
std::string_view ContentTypeOf(PatchType type);

enum class Propagation : uint8_t { kDefault, kBackground, kForeground, kOrphan };

// One request that is answered once. The functions of Api fill this in; decorators read it.
struct Call {
  Verb verb = Verb::kGet;
  Resource resource;
  std::string ns;
  std::string name;         // "" for collections, and for a create
  std::string subresource;  // "status", "scale", ...
  json::Value body;         // the object, or the patch
  PatchType patch_type = PatchType::kMerge;

  // Lists and deletecollection.
  std::string label_selector;
  std::string field_selector;
  size_t limit = 0;
  std::string continue_token;
  std::string resource_version;        // gets and lists: "" is the newest, "0" whatever is at hand
  std::string resource_version_match;  // "", "Exact", "NotOlderThan"

  // Writes.
  std::string field_manager{kFieldManager};
  bool force = false;  // server-side apply
  bool dry_run = false;
  std::string field_validation;  // "", "Strict", "Warn", "Ignore"

  // Deletes.
  std::string precondition_uid;
  std::string precondition_version;
  Propagation propagation = Propagation::kDefault;
  std::optional<int64_t> grace_seconds;

  bool IsWrite() const { return verb != Verb::kGet && verb != Verb::kList; }
};

// A Call on its way: a value like that one, but moved as one pointer, through as many doors as there are.
class CallBox {
 public:
  CallBox(Call call) : call_(std::make_unique<Call>(std::move(call))) {}  // NOLINT(google-explicit-constructor)
  CallBox(const CallBox& other) : CallBox(*other) {}
  CallBox(CallBox&&) = default;
  CallBox& operator=(CallBox other) noexcept { return call_.swap(other.call_), *this; }
  ~CallBox() = default;

  Call& operator*() { return *call_; }
  const Call& operator*() const { return *call_; }
  Call* operator->() { return call_.get(); }
  const Call* operator->() const { return call_.get(); }

 private:
  std::unique_ptr<Call> call_;  // null only when moved from
};

struct Answer {
  json::Value object;              // what was read or written; of a delete: the object or a Status; null for a list
  std::vector<json::Value> items;  // of a list, each with its apiVersion and kind
  std::string resource_version;    // of a list
  std::string continue_token;      // of a list that has more
  std::vector<std::string> warnings;
};

enum class ChangeType : uint8_t { kAdded, kModified, kDeleted, kBookmark };

struct Change {
  ChangeType type = ChangeType::kAdded;
  json::Value object;               // of a bookmark: only its resourceVersion is meant
  bool initial_events_end = false;  // a bookmark after which the initial events are complete
};

struct WatchCall {
  Resource resource;
  std::string ns;  // "": all
  std::string label_selector;
  std::string field_selector;
  std::string resource_version;  // changes after this one; "" begins with what is there now
  bool bookmarks = true;
};

// Changes as they come. Dropping it ends the watch, but not while Next() waits.
class Watch {
 public:
  virtual ~Watch() = default;
  // At least one change. kGone: the history is not there any more, list again. Anything else: the watch has ended (also
  // when the server ended it properly), watch again from the last resourceVersion that was seen.
  virtual rt::Task<Result<std::vector<Change>>> Next() = 0;
};

// A resource with what discovery says about it.
struct ResourceInfo {
  Resource resource;
  std::vector<std::string> verbs;
  std::vector<std::string> short_names;
  std::vector<std::string> categories;
  std::vector<std::string> subresources;  // "status", "scale"
  bool preferred = false;                 // of the version that its group prefers
};

// Everything that a server serves. Groups that could not be asked (an aggregated one that is down) are named.
struct Discovered {
  SharedList<ResourceInfo> resources;
  std::vector<std::string> failed_groups;
  std::string server_version;  // "v1.35.8"
};

struct ListOptions {
  std::string ns;
  std::string label_selector;
  std::string field_selector;
  std::string resource_version;
};

struct Listed {
  std::vector<json::Value> items;
  std::string resource_version;
};

struct WriteOptions {
  std::string subresource;
  std::string field_manager{kFieldManager};
  bool dry_run = false;
  bool force = false;
};

struct DeleteOptions {
  std::string uid;  // precondition
  std::string resource_version;
  Propagation propagation = Propagation::kDefault;
};

class Api {
 public:
  virtual ~Api() = default;

  // ---- what implementations provide ----
  virtual rt::Loop& loop() = 0;
  virtual rt::Task<Result<Answer>> Do(CallBox call, rt::Deadline deadline) = 0;
  // The deadline is for opening it.
  virtual rt::Task<Result<std::unique_ptr<Watch>>> OpenWatch(WatchCall call, rt::Deadline deadline) = 0;
  virtual rt::Task<Result<Discovered>> Discover(rt::Deadline deadline) = 0;

  // ---- what callers use ----
  // Always live: without resourceVersion, so the answer is as new as the call.
  rt::Task<Result<json::Value>> Get(Resource resource, Name name);
  // All pages, of one revision.
  rt::Task<Result<Listed>> ListAll(Resource resource, ListOptions options = {});
  // Name and namespace are the object's own.
  rt::Task<Result<json::Value>> Create(Resource resource, json::Value object, WriteOptions options = {});
  // Compare-and-swap when the object has a resourceVersion.
  rt::Task<Result<json::Value>> Update(Resource resource, json::Value object, WriteOptions options = {});
  rt::Task<Result<json::Value>> UpdateStatus(Resource resource, json::Value object);
  rt::Task<Result<json::Value>> Patch(Resource resource, Name name, PatchType type, json::Value patch,
                                      WriteOptions options = {});
  // Server-side apply: creates what is not there. The object's fields become ours; force takes them from others.
  rt::Task<Result<json::Value>> Apply(Resource resource, json::Value object, WriteOptions options = {});
  // kNotFound when there is none.
  rt::Task<Result<json::Value>> Delete(Resource resource, Name name, DeleteOptions options = {});

 private:
  rt::Task<Result<json::Value>> DoOne(CallBox call);
};

// What of an object is asked for all the time; all give "" when it is not there.
std::string_view NameOf(const json::Value& object);
std::string_view NamespaceOf(const json::Value& object);
std::string_view UidOf(const json::Value& object);
std::string_view VersionOf(const json::Value& object);
// resourceVersions are opaque but for equality, says Kubernetes; since 1.35 it also says that they are numbers that
// grow. Nothing when one is not a number.
std::optional<uint64_t> VersionNumber(std::string_view version);
std::string_view ApiVersionOf(const json::Value& object);
std::string_view KindOf(const json::Value& object);
bool IsDeleting(const json::Value& object);  // has a deletionTimestamp

}  // namespace baton::kube
