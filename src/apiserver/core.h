// Core: the Kubernetes API below HTTP: its verbs as functions on a Store and a Registry. Runs on any loop; the HTTP
// server, the in-process client and the simulator all call this.
//
//   Core core(loop, store, registry);
//   Written made = CO_TRY(co_await core.Create({.type = configmaps, .ns = "blue"}, object, {}, caller));
//
// The way of a write: decode (prune, default) -> change the live object -> mutating admission -> validation ->
// validating admission -> compare-and-swap in the store. A change that is lost to another writer is done again on the
// new object, unless the caller named a version. Errors are Kubernetes' Status errors (apiserver/errors.h).
//
// Nothing here asks who may do what: that is done before (apiserver/authorizer.h), but for what only shows on the way
// (WriteOptions::authorize_create).
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/creation_memo.h"
#include "apiserver/admission.h"
#include "apiserver/label_index.h"
#include "apiserver/object.h"
#include "apiserver/registry.h"
#include "apiserver/user.h"
#include "base/result.h"
#include "json/selector.h"
#include "json/value.h"
#include "rt/loop.h"
#include "rt/task.h"
#include "store/store.h"

namespace baton::apiserver {

// What a request is about.
struct Target {
  ResourceTypePtr type;
  std::string ns;           // "" for cluster-wide kinds, and for lists and watches over all namespaces
  std::string name;         // "" for collections
  std::string subresource;  // "", "status", "scale", "finalize"
};

// Who asks, and what they are to be told beside the answer.
struct Caller {
  User user;
  std::string user_agent;             // names the field manager when a write names none
  std::vector<std::string> warnings;  // Warning headers
};

enum class FieldValidation : uint8_t { kIgnore, kWarn, kStrict };

struct WriteOptions {
  bool dry_run = false;
  std::string field_manager;
  FieldValidation field_validation = FieldValidation::kWarn;
  bool force = false;                         // server-side apply only
  std::vector<std::string> duplicate_fields;  // found by the parser: strict validation reports them, too
  // Asked before an update or a patch makes what is not there; null: it may.
  std::function<Result<void>()> authorize_create = nullptr;
};

// An object in the version that was asked for.
struct Object {
  Bytes bytes;
  Revision revision;
};

struct Written {
  Object object;
  json::Value value;     // the same, parsed
  bool created = false;  // 201
  bool deleted = false;  // the last finalizer went, and with it the object
};

struct Selection {
  json::LabelSelector labels;
  json::FieldSelector fields;
  bool everything() const;
};

struct ListOptions {
  Selection selection;
  size_t limit = 0;
  std::string continue_token;
  std::string resource_version;
  std::string resource_version_match;  // "", "Exact", "NotOlderThan"
};

struct Listed {
  std::vector<Object> items;
  Revision revision;
  std::string continue_token;
  std::optional<size_t> remaining;  // known when nothing is selected
};

struct WatchOptions {
  Selection selection;
  std::string resource_version;
  std::string resource_version_match;
  bool bookmarks = false;
  std::optional<bool> send_initial_events;
};

enum class EventType : uint8_t { kAdded, kModified, kDeleted, kBookmark };

struct WatchEvent {
  EventType type;
  Object object;                    // null bytes for a bookmark
  bool initial_events_end = false;  // a bookmark that ends the initial events
};

// Changes as they come. Destroy to stop, but not while a Next() waits.
class Watcher {
 public:
  virtual ~Watcher() = default;
  // At least one. kGone (reason Expired): it fell behind, list again. kUnavailable: the server stops.
  virtual rt::Task<Result<std::vector<WatchEvent>>> Next() = 0;
  // Everything up to here has been seen, whether it was selected or not: what a bookmark says.
  virtual Revision position() const = 0;
};

enum class Propagation : uint8_t { kDefault, kBackground, kForeground, kOrphan };

struct DeleteOptions {
  bool dry_run = false;
  std::string uid;  // preconditions; "": none
  std::string resource_version;
  Propagation propagation = Propagation::kDefault;
};

struct Deleted {
  bool gone = false;  // false: it waits for its finalizers
  Object object;      // as it was, or as it is while it waits
  json::Value value;
};

enum class PatchType : uint8_t { kJson, kMerge, kStrategic, kApply };

inline constexpr size_t kConflictRetriesMax = 32;          // of a write that named no version
inline constexpr size_t kGenerateNameTriesMax = 8;         // Kubernetes' number
inline constexpr size_t kJsonPatchOperationsMax = 10'000;  // Kubernetes' number
inline constexpr Duration kFreshReadWait = seconds(3);     // for a resourceVersion that is not there yet

class Core {
 public:
  Core(rt::Loop& loop, store::Store& store, Registry& registry);
  ~Core();

  rt::Loop& loop() { return loop_; }
  store::Store& store() { return store_; }
  Registry& registry() { return registry_; }
  // Plugins in the order they are asked; add them before the first request.
  void AddAdmission(std::unique_ptr<AdmissionPlugin> plugin) { admission_.push_back(std::move(plugin)); }

  // ---- reading ----
  rt::Task<Result<Object>> Get(Target target, std::string resource_version = {});
  rt::Task<Result<Listed>> List(Target target, ListOptions options);
  Result<std::unique_ptr<Watcher>> Watch(const Target& target, const WatchOptions& options);
  // The live object, for controllers inside the server; nothing when it does not exist.
  std::optional<Object> Live(const ResourceType& type, std::string_view ns, std::string_view name) const;
  json::Value Decode(const Bytes& bytes) { return decoded_.Decode(bytes); }
  // The same where it is at hand; null: it would have to be parsed. For a look, not to be kept.
  const json::Value* KnownAs(const Bytes& bytes) const { return decoded_.Find(bytes); }

  // ---- writing ----
  rt::Task<Result<Written>> Create(Target target, json::Value object, WriteOptions options, Caller& caller);
  rt::Task<Result<Written>> Update(Target target, json::Value object, WriteOptions options, Caller& caller);
  rt::Task<Result<Written>> Patch(Target target, PatchType type, json::Value patch, WriteOptions options,
                                  Caller& caller);
  rt::Task<Result<Deleted>> Delete(Target target, DeleteOptions options, Caller& caller);
  // What was deleted or is on its way, in the order of keys.
  rt::Task<Result<std::vector<Object>>> DeleteCollection(Target target, Selection selection, DeleteOptions options,
                                                         Caller& caller);

  // For controllers inside the server: `change` is called with the live object until its result is stored; null means
  // "leave it". No admission, no validation, no managed fields. NotFound when it is gone.
  using Change = std::function<std::optional<json::Value>(const json::Value& live)>;
  rt::Task<Result<Written>> Modify(Target target, Change change);

 private:
  friend class WriteOperation;
  friend class CollectionWatcher;

  void ListByLabel(const Target& target, const Selection& selection, const std::vector<std::string>& keys,
                   Listed& listed);
  Bytes LastState(const std::shared_ptr<const store::Event>& event);

  rt::Loop& loop_;
  store::Store& store_;
  Registry& registry_;
  std::vector<std::unique_ptr<AdmissionPlugin>> admission_;
  DecodeCache decoded_;
  api::CreationMemo creations_;
  static constexpr size_t kLastStatesMax = 64;
  std::deque<std::pair<std::shared_ptr<const store::Event>, Bytes>> last_states_;  // newest first
  LabelIndex labels_;
};

}  // namespace baton::apiserver
