// Trigger: the annotation karmada.io/migration-target on a template starts a move. It acts on a change of value: what
// it acted on is kept in the Writer, so that a value that stays there (after a failure, or after the workload was moved
// on) does nothing more. Taking it away before the grant aborts the move.
#pragma once

#include <string>

#include "federation/hub.h"
#include "kube/controller.h"
#include "rollout/profiles.h"

namespace baton::rollout {

class Trigger {
 public:
  Trigger(federation::Hub& hub, ProfileSet& profiles);
  rt::Task<void> Run() { return controller_.Run(); }
  kube::Controller& controller() { return controller_; }

 private:
  rt::Task<kube::Outcome> Reconcile(std::string key);
  rt::Task<Result<void>> Start(const json::Value& object, const json::Value& writer, std::string target);
  rt::Task<Result<void>> Abort(const json::Value& object, const json::Value& writer);
  rt::Task<Result<void>> Consume(json::Value writer, std::string value);

  federation::Hub& hub_;
  ProfileSet& profiles_;
  kube::Controller controller_;
};

}  // namespace baton::rollout
