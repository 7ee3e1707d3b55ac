// Trigger: the annotation karmada.io/migration-target on a template starts a move. It acts on a change of value: what
// it acted on is kept in the Writer, so that a value that stays there (after a failure, or after the workload was moved
// on) does nothing more.
//
// Taking it away before the grant aborts the move that it led to, also when nobody watched, and when that move has not
// begun: its own, or the one to that cluster that was under way already and for which its own was rejected. Moves that
// others asked for are left alone.
#pragma once

#include <string>
#include <vector>

#include "federation/hub.h"
#include "kube/controller.h"
#include "rollout/engine.h"
#include "rollout/profiles.h"

namespace baton::rollout {

class Trigger {
 public:
  // All outlive this.
  Trigger(federation::Hub& hub, Engine& engine, ProfileSet& profiles);
  rt::Task<void> Run();
  kube::Controller& controller() { return controller_; }

 private:
  rt::Task<kube::Outcome> Reconcile(std::string key);
  rt::Task<Result<void>> Start(const json::Value& object, const json::Value& writer, std::string target);
  rt::Task<Result<void>> TakeBack(federation::TemplateKey key, json::Value writer);
  rt::Task<Result<void>> Abort(kube::Name migration, std::string uid);
  rt::Task<Result<void>> Consume(json::Value writer, std::string value);
  void LookInto(const federation::TemplateKey& key);
  bool HasWish(const federation::TemplateKey& key) const;
  std::vector<json::Value> MovesOf(const federation::TemplateKey& key) const;

  federation::Hub& hub_;
  Engine& engine_;
  ProfileSet& profiles_;
  kube::Controller controller_;
};

}  // namespace baton::rollout
