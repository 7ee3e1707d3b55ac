// Owner references at work.
#include "apiserver/garbage_collector.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "apiserver/metadata.h"
#include "base/strings.h"

namespace baton::apiserver {

namespace {

using json::Value;

// By memmem: find() stops at every quote, and JSON is full of them.
bool Mentions(const Bytes& bytes, std::string_view word) {
  return bytes != nullptr && ::memmem(bytes->data(), bytes->size(), word.data(), word.size()) != nullptr;
}

// Whether the object is going, or owned by others: without parsing it, which a list of all objects could not afford.
bool Concerns(Core& core, const Bytes& bytes) {
  if (const Value* known = core.KnownAs(bytes)) {
    const Value& metadata = (*known)["metadata"];
    return metadata.Has("deletionTimestamp") || metadata.Has("ownerReferences");
  }
  return Mentions(bytes, "\"deletionTimestamp\"") || Mentions(bytes, "\"ownerReferences\"");
}

bool HasFinalizer(const Value& object, std::string_view finalizer) {
  return std::ranges::any_of(object["metadata"]["finalizers"].items(),
                             [&](const Value& one) { return one.str() == finalizer; });
}

}  // namespace

Target GarbageCollector::TargetOf(std::string_view key) const {
  const std::optional<KeyParts> parts = SplitKey(key);
  if (!parts) return {};
  return {.type = core_.registry().FindResource(parts->group, parts->plural),
          .ns = std::string(parts->ns),
          .name = std::string(parts->name),
          .subresource = {}};
}

ResourceTypePtr GarbageCollector::TypeOf(const Owner& owner) const {
  const std::string_view text = owner.api_version;
  const size_t slash = text.find('/');
  const std::string_view group = slash == std::string_view::npos ? std::string_view() : text.substr(0, slash);
  return core_.registry().FindKind(group, text.substr(slash == std::string_view::npos ? 0 : slash + 1), owner.kind);
}

void GarbageCollector::Queue(const std::string& key) {
  if (queued_.insert(key).second) queue_.push_back(key);
}

void GarbageCollector::QueueDependentsOf(std::string_view uid) {
  const auto found = dependents_of_.find(uid);
  if (found == dependents_of_.end()) return;
  for (const std::string& key : found->second) Queue(key);
}

void GarbageCollector::Forget(const std::string& key) {
  const auto known = dependents_.find(key);
  if (known == dependents_.end()) return;
  for (const Owner& owner : known->second.owners) {
    const auto of = dependents_of_.find(owner.uid);
    if (of == dependents_of_.end()) continue;
    of->second.erase(key);
    if (of->second.empty()) dependents_of_.erase(of);
  }
  dependents_.erase(known);
}

std::vector<GarbageCollector::Owner> GarbageCollector::OwnersOf(const Value& object) {
  std::vector<Owner> owners;
  for (const Value& owner : object["metadata"]["ownerReferences"].items()) {
    owners.push_back({.uid = std::string(owner["uid"].str()),
                      .api_version = std::string(owner["apiVersion"].str()),
                      .kind = std::string(owner["kind"].str()),
                      .name = std::string(owner["name"].str()),
                      .blocks = owner["blockOwnerDeletion"].bool_or(false)});
  }
  return owners;
}

// One change: who owns the object now, and who must look again because of it.
void GarbageCollector::Take(const std::string& key, const Bytes& value, const Bytes& previous) {
  const auto known = dependents_.find(key);
  if (known != dependents_.end()) {
    // A dependent that changed or went may be what an owner in foreground deletion waits for.
    const Target target = TargetOf(key);
    for (const Owner& owner : known->second.owners) {
      const ResourceTypePtr type = TypeOf(owner);
      if (type != nullptr) Queue(StorageKey(*type, type->namespaced ? target.ns : std::string(), owner.name));
    }
    Forget(key);
  }
  if (value == nullptr) {
    if (previous != nullptr && !dependents_of_.empty()) {
      QueueDependentsOf(core_.Decode(previous)["metadata"]["uid"].str());
    }
    return;
  }
  if (!Concerns(core_, value)) return;
  const Value object = core_.Decode(value);
  Dependent dependent{.owners = OwnersOf(object)};
  if (!dependent.owners.empty()) {
    for (const Owner& owner : dependent.owners) dependents_of_[owner.uid].insert(key);
    dependents_[key] = std::move(dependent);
    Queue(key);
  }
  if (IsBeingDeleted(object)) {
    Queue(key);
    QueueDependentsOf(object["metadata"]["uid"].str());
  }
}

rt::Task<void> GarbageCollector::Run() {
  while (true) {
    dependents_.clear();
    dependents_of_.clear();
    const Result<store::ListResult> found = core_.store().List("");
    if (!found.ok()) co_return;
    Result<std::unique_ptr<store::Watch>> watch = core_.store().OpenWatch("", found->revision);
    if (!watch.ok()) co_return;
    for (const store::Entry& entry : found->entries) Take(entry.key, entry.value, nullptr);
    while (true) {
      co_await Work();
      const auto changes = co_await (*watch)->Next();
      if (!changes.ok() && changes.error().kind() == ErrorKind::kGone) break;  // fell behind: begin anew
      if (!changes.ok()) co_return;
      for (const auto& change : *changes) Take(change->key, change->value, change->previous);
    }
  }
}

rt::Task<void> GarbageCollector::Work() {
  while (!queue_.empty()) {
    std::string key = std::move(queue_.front());
    queue_.pop_front();
    queued_.erase(key);
    co_await Process(std::move(key));
  }
}

rt::Task<void> GarbageCollector::Process(std::string key) {
  Target target = TargetOf(key);
  if (target.type == nullptr) co_return;
  const std::optional<Object> live = core_.Live(*target.type, target.ns, target.name);
  if (!live) co_return;
  Value object = core_.Decode(live->bytes);
  if (IsBeingDeleted(object) && HasFinalizer(object, kOrphanFinalizer)) {
    co_await ProcessOrphan(target, object);
  } else if (IsBeingDeleted(object) && HasFinalizer(object, kForegroundFinalizer)) {
    co_await ProcessForeground(target, object);
  }
  if (dependents_.contains(key) && !IsBeingDeleted(object))
    co_await ProcessDependent(std::move(target), std::move(object));
}

GarbageCollector::OwnerState GarbageCollector::StateOf(const Owner& owner, const std::string& ns) const {
  const ResourceTypePtr type = TypeOf(owner);
  if (type == nullptr) return OwnerState::kUnknown;  // not served here: no reason to delete anything
  if (type->namespaced && ns.empty()) return OwnerState::kAbsent;
  const std::optional<Object> live = core_.Live(*type, type->namespaced ? ns : std::string(), owner.name);
  if (!live) return OwnerState::kAbsent;
  const Value object = core_.Decode(live->bytes);
  if (object["metadata"]["uid"].str() != owner.uid) return OwnerState::kAbsent;
  return IsBeingDeleted(object) && HasFinalizer(object, kForegroundFinalizer) ? OwnerState::kWaiting
                                                                              : OwnerState::kSolid;
}

rt::Task<void> GarbageCollector::ProcessDependent(Target target, Value object) {
  // From the object as it is now: what is remembered may be older than an orphaning of our own.
  const std::vector<Owner> owners = OwnersOf(object);
  std::set<std::string> dangling;
  bool solid = false;
  bool waiting = false;
  for (const Owner& owner : owners) {
    const OwnerState state = StateOf(owner, target.ns);
    solid |= state == OwnerState::kSolid || state == OwnerState::kUnknown;
    waiting |= state == OwnerState::kWaiting;
    if (state == OwnerState::kAbsent || state == OwnerState::kWaiting) dangling.insert(owner.uid);
  }
  if (dangling.empty()) co_return;
  if (solid) {
    co_await RemoveOwners(std::move(target), std::move(dangling));
    co_return;
  }
  Caller server;
  DeleteOptions options;
  options.uid = object["metadata"]["uid"].str();
  options.resource_version = object["metadata"]["resourceVersion"].str();  // who changed it since may have freed it
  const bool has_dependents = dependents_of_.contains(options.uid);
  options.propagation = waiting && has_dependents ? Propagation::kForeground : Propagation::kDefault;
  const Result<Deleted> deleted = co_await core_.Delete(std::move(target), std::move(options), server);
  (void)deleted;  // gone, re-created or changed: its event brings it here again
}

rt::Task<void> GarbageCollector::ProcessForeground(Target target, Value object) {
  const std::string uid(object["metadata"]["uid"].str());
  bool blocked = false;
  if (const auto found = dependents_of_.find(uid); found != dependents_of_.end()) {
    for (const std::string& key : found->second) {
      Queue(key);
      for (const Owner& owner : dependents_.find(key)->second.owners) blocked |= owner.uid == uid && owner.blocks;
    }
  }
  if (!blocked) co_await RemoveFinalizer(std::move(target), std::string(kForegroundFinalizer));
}

rt::Task<void> GarbageCollector::ProcessOrphan(Target target, Value object) {
  const std::string uid(object["metadata"]["uid"].str());
  std::vector<std::string> keys;
  if (const auto found = dependents_of_.find(uid); found != dependents_of_.end()) {
    keys.assign(found->second.begin(), found->second.end());
  }
  for (const std::string& key : keys) co_await RemoveOwners(TargetOf(key), {uid});
  co_await RemoveFinalizer(std::move(target), std::string(kOrphanFinalizer));
}

rt::Task<void> GarbageCollector::RemoveOwners(Target target, std::set<std::string> uids) {
  if (target.type == nullptr) co_return;
  const Result<Written> written = co_await core_.Modify(std::move(target), [&](const Value& object) {
    Value next = object;
    Value& owners = next.Edit("metadata").Edit("ownerReferences");
    for (size_t i = owners.size(); i-- > 0;) {
      if (uids.contains(std::string(owners[i]["uid"].str()))) owners.EraseAt(i);
    }
    if (owners.empty()) next.Edit("metadata").Erase("ownerReferences");
    return std::optional(std::move(next));
  });
  (void)written;  // an object that is gone has no owners
}

rt::Task<void> GarbageCollector::RemoveFinalizer(Target target, std::string finalizer) {
  const Result<Written> written = co_await core_.Modify(std::move(target), [&](const Value& object) {
    Value next = object;
    Value& finalizers = next.Edit("metadata").Edit("finalizers");
    for (size_t i = finalizers.size(); i-- > 0;) {
      if (finalizers[i].str() == finalizer) finalizers.EraseAt(i);
    }
    if (finalizers.empty()) next.Edit("metadata").Erase("finalizers");
    return std::optional(std::move(next));
  });
  (void)written;
}

}  // namespace baton::apiserver
