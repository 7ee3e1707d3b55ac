// render: from a binding to one Work per cluster: the template with the cluster's replicas, then the overrides, then
// Karmada's marks. Nothing is written that is there already.
//
// A Work is removed when its cluster is neither in spec.clusters, nor required by a binding that depends on this one,
// nor in an eviction task that keeps it. While dispatching is suspended nothing is removed either: a pause is total.
// An override that fails is a condition on the binding and an event; the old Work stays.
//
// Overrides and bindings come by different watches. Who makes an override and then adds a cluster says so on the
// binding: kNeedsOverrides lists "name@generation" with commas between, each an OverridePolicy of the binding's
// namespace ("/name@generation": a ClusterOverridePolicy). As long as one of them has not been seen in that generation
// or a later one, no cluster gets its first Work, and the condition says what is waited for.
//
// Of a template that opted in to blue-green upgrades each cluster gets the revision that is released to it
// (revision.h).
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "federation/hub.h"
#include "federation/revisions.h"
#include "kube/controller.h"

namespace baton::federation {

inline constexpr std::string_view kNeedsOverrides = "baton.io/needs-overrides";  // an annotation of bindings

// A template as members get it: without what the hub's own server has put into it.
json::Value Pruned(json::Value object);

class RenderController {
 public:
  RenderController(Hub& hub, Revisions& revisions);
  rt::Task<void> Run() { return controller_.Run(); }
  kube::Controller& controller() { return controller_; }

  // What the binding's condition should say about rendering; "": all is well. By binding key.
  std::string Trouble(const std::string& key) const;
  void OnTrouble(std::function<void(const std::string& key)> handler) { on_trouble_ = std::move(handler); }

  // The manifest that a cluster gets, before the RunGate; pure but for the hub's copies and interpreter webhooks.
  // `counts`: which of the overrides that mean the object are applied; null: all.
  using OverrideFilter = std::function<bool(const overrides::Policy& policy)>;
  rt::Task<Result<json::Value>> Render(json::Value binding, json::Value object, std::string cluster,
                                       json::Value* work_annotations, OverrideFilter counts = nullptr) const;

 private:
  struct Place {
    std::string cluster;
    int64_t replicas = 0;
  };

  rt::Task<kube::Outcome> Reconcile(std::string key);
  bool Leaves(const std::string& cluster, const json::Value& object) const;
  struct PutResult {
    std::string trouble;          // for people
    std::optional<Error> failed;  // to be tried again
  };
  rt::Task<PutResult> PutIn(const std::string& cluster, const Revisions::Plan& plan, const json::Value& object,
                            const std::string& missing);
  rt::Task<Result<void>> PutWorks(const std::string& key, const json::Value& binding, const json::Value& object);
  rt::Task<Result<void>> KeepWriter(const std::string& key, const json::Value& binding, const json::Value& object,
                                    std::set<std::string, std::less<>>& keep);
  // The clusters that keep their Work when the binding goes, or is gone, and its template is not.
  rt::Task<Result<std::set<std::string, std::less<>>>> WritersWithout(const std::string& key,
                                                                      const json::Value& binding);
  // Whether the binding on the hub is the one that is decided on: what is removed is not removed for an old copy.
  rt::Task<Result<bool>> IsCurrent(std::string key, json::Value binding);
  rt::Task<Result<void>> RemoveWorks(const std::string& key, const json::Value& binding,
                                     const std::set<std::string, std::less<>>& keep);
  rt::Task<Result<void>> PutWork(const json::Value& binding, const json::Value& object, const std::string& cluster,
                                 json::Value manifest, const json::Value& annotations);
  rt::Task<kube::Outcome> Finish(const std::string& key, const json::Value& binding);
  json::Value WorkFor(const json::Value& binding, const json::Value& object, const std::string& cluster,
                      json::Value manifest, const json::Value& annotations, const json::Value& current) const;
  void OverrideChanged(const json::Value& before, const json::Value& now);
  void SetTrouble(const std::string& key, std::string trouble);
  // The overrides that the binding needs and that have not been seen; "": none.
  std::string MissingOverrides(const json::Value& binding) const;

  Hub& hub_;
  Revisions& revisions_;
  std::map<std::string, std::string, std::less<>> trouble_;
  std::set<std::string> need_overrides_;  // bindings that wait for an override to be seen
  std::function<void(const std::string& key)> on_trouble_;
  std::map<std::string, json::Value, std::less<>> written_;  // what each Work was last given, by its key
  kube::Controller controller_;
};

// The cluster of a Work, by its namespace; "" when it is none of ours.
std::string ClusterOfWork(const json::Value& work);
// The key of the binding that a Work belongs to; "" when there is none.
std::string BindingOfWork(const json::Value& work);

}  // namespace baton::federation
