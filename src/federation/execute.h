// execute: from a Work to the member's object, and from the member's object back into the Work's status.
//
// Writing: create, or adopt what is there already (conflictResolution Overwrite) or refuse it (Abort); update what
// differs, keeping what the member owns (Retain); delete, or let go (preserveResourcesOnDeletion). Nothing is written
// when nothing differs, and nothing while dispatching is suspended, deletions included. Every write asks the RunGate
// first, and one of an older epoch or an older hub generation than the member has is refused.
//
// Reflecting: Applied and the member's status and health go into Work.status, in one write, when they changed.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "federation/hub.h"
#include "kube/controller.h"

namespace baton::federation {

class ExecuteController {
 public:
  explicit ExecuteController(Hub& hub);
  rt::Task<void> Run() { return controller_.Run(); }
  kube::Controller& controller() { return controller_; }

 private:
  struct Applied {
    bool ok = false;
    std::string message;
    json::Value object;  // as the member has it, when that is known
  };

  rt::Task<kube::Outcome> Reconcile(std::string key);
  rt::Task<Result<json::Value>> Apply(Member& member, const kube::Resource& resource, json::Value manifest);
  rt::Task<Result<json::Value>> Observe(Member& member, const kube::Resource& resource, const kube::Name& name);
  Result<json::Value> Merged(const json::Value& desired, const json::Value& observed);
  rt::Task<kube::Outcome> Remove(const std::string& key, const json::Value& work);
  rt::Task<Result<bool>> RemoveFromMember(Member& member, const json::Value& work);
  rt::Task<Result<void>> WriteStatus(const json::Value& work, const Applied* applied, bool suspended);
  json::Value ReflectedStatus(const json::Value& work, const json::Value& manifest, const json::Value& object) const;
  rt::Task<Result<kube::Resource>> ResourceOf(Member& member, const json::Value& manifest);

  Hub& hub_;
  kube::Controller controller_;
};

}  // namespace baton::federation
