// execute: from a Work to the member's object, and from the member's object back into the Work's status.
//
// Writing: create, or adopt what is there already (conflictResolution Overwrite) or refuse it (Abort); update what
// differs, keeping what the member owns (Retain); delete, or let go (preserveResourcesOnDeletion). Nothing is written
// when nothing differs, and nothing while dispatching is suspended, deletions included. Every write asks the RunGate
// first, and one of an older epoch or an older hub generation than the member has is refused.
//
// Every cluster has workers of its own: one that is slow or silent delays nobody else.
//
// Absence in a member is no news of the workload unless the member is the one that joined: before an object is made
// that was there before, the cluster's id is read live, and one that answers with another id gets nothing.
//
// Reflecting: Applied and the member's status and health go into Work.status, in one write, when they changed. A change
// of the status alone waits a moment for the next one (kReflectAfter).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "federation/hub.h"
#include "kube/controller.h"
#include "rt/scope.h"

namespace baton::federation {

// Condition of a Work and of its binding: what is in the member is held because it is not the writer on record.
inline constexpr std::string_view kStrayWriter = "StrayWriter";

inline constexpr Duration kOverwrittenRest = seconds(1);  // until what somebody else has overwritten is written again
inline constexpr size_t kWroteMax = 1000;                 // writes that are remembered for longer than that

class ExecuteController {
 public:
  explicit ExecuteController(Hub& hub);
  rt::Task<void> Run();
  bool idle() const;
  // Works of that cluster that are due and that nobody has begun with.
  size_t waiting(std::string_view cluster) const;

 private:
  struct Applied {
    bool ok = false;
    std::string message;
    json::Value object;  // as the member has it, when that is known
    std::string stray;   // as the gate said
  };

  kube::Controller& LaneOf(std::string_view key);  // the workers of its cluster
  void Add(std::string_view key, kube::Priority priority = kube::Priority::kUser);
  rt::Task<kube::Outcome> Reconcile(std::string key);
  rt::Task<Result<json::Value>> Apply(Member& member, const kube::Resource& resource, json::Value manifest,
                                      bool was_there, std::string* stray);
  bool HasJustWritten(const std::string& key, const std::string& hash) const;
  void Wrote(const std::string& key, std::string hash);
  rt::Task<Result<bool>> StillWanted(const json::Value& manifest, bool look_live);
  static Error WasRemoved(const kube::Name& name, const Member& member);
  rt::Task<Result<void>> TakeBackIfUnwanted(Member& member, const kube::Resource& resource, const json::Value& created,
                                            bool look_live);
  rt::Task<Result<void>> CheckIdentity(Member& member);
  rt::Task<Result<json::Value>> Observe(Member& member, const kube::Resource& resource, const kube::Name& name);
  rt::Task<Result<json::Value>> Merged(json::Value desired, json::Value observed);
  rt::Task<kube::Outcome> Remove(const std::string& key, const json::Value& work);
  // What the end of a Work does to the object in its member.
  enum class Removal : uint8_t {
    kNone,   // nothing: somebody deleted the Work of a writer
    kAsked,  // it goes when the gate, asked with the object as it is, has nothing against it
    kPlain,  // it goes
  };
  rt::Task<Result<bool>> RemoveFromMember(Member& member, const json::Value& work, Removal removal);
  // The one writer of a workload whose template stands does not go with its Work.
  rt::Task<Result<Removal>> RemovalOf(std::string cluster, json::Value manifest);
  rt::Task<Result<void>> WriteStatus(const json::Value& work, const Applied* applied, bool suspended);
  void TellFailure(const json::Value& work, const std::string& message);
  void TellStray(const json::Value& work, const std::string& stray, json::Value& status);
  struct Reflected {
    json::Value manifest_statuses;
    std::optional<Error> failed;  // the interpreter's; what was known before stays
  };
  rt::Task<Reflected> ReflectedStatus(json::Value work, json::Value object) const;
  rt::Task<Result<kube::Resource>> ResourceOf(Member& member, const json::Value& manifest);

  Hub& hub_;
  std::map<std::string, std::unique_ptr<kube::Controller>, std::less<>> lanes_;  // by execution namespace
  struct LastWrite {
    std::string hash;  // of the render
    MonotonicTime at{};
  };
  std::map<std::string, LastWrite> wrote_;  // not long ago, by cluster, kind and name
  rt::Scope* running_ = nullptr;            // of Run(), while it runs
};

}  // namespace baton::federation
