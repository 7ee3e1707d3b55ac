// GarbageCollector: deletes objects whose owners are gone, and does what the deletion of an owner asks for: dependents
// first (Foreground), dependents without it (Orphan), or afterwards (Background).
//
// It sees every change of the store. Objects without owner references cost it a search in their text, nothing more; of
// the others it keeps who owns whom. Whether an owner exists is always read live.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "apiserver/core.h"
#include "rt/task.h"

namespace baton::apiserver {

class GarbageCollector {
 public:
  explicit GarbageCollector(Core& core) : core_(core) {}
  rt::Task<void> Run();  // until dropped

 private:
  struct Owner {
    std::string uid;
    std::string api_version, kind, name;
    bool blocks = false;  // blockOwnerDeletion
  };
  struct Dependent {
    std::vector<Owner> owners;
  };
  enum class OwnerState : uint8_t { kSolid, kWaiting, kAbsent, kUnknown };

  static std::vector<Owner> OwnersOf(const json::Value& object);
  void Take(const std::string& key, const Bytes& value, const Bytes& previous);
  void Forget(const std::string& key);
  void Queue(const std::string& key);
  void QueueDependentsOf(std::string_view uid);
  rt::Task<void> Work();
  rt::Task<void> Process(std::string key);
  rt::Task<void> ProcessDependent(Target target, json::Value object);
  rt::Task<void> ProcessForeground(Target target, json::Value object);
  rt::Task<void> ProcessOrphan(Target target, json::Value object);
  rt::Task<void> RemoveOwners(Target target, std::set<std::string> uids);
  rt::Task<void> RemoveFinalizer(Target target, std::string finalizer);
  ResourceTypePtr TypeOf(const Owner& owner) const;  // null: not served
  OwnerState StateOf(const Owner& owner, const std::string& dependents_namespace) const;
  // The object of a key: its type (any version), namespace and name; a null type when it is not served.
  Target TargetOf(std::string_view key) const;

  Core& core_;
  std::map<std::string, Dependent, std::less<>> dependents_;                 // by key
  std::map<std::string, std::set<std::string>, std::less<>> dependents_of_;  // keys, by the owner's uid
  std::deque<std::string> queue_;
  std::set<std::string, std::less<>> queued_;
};

}  // namespace baton::apiserver
