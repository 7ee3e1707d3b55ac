// Statuses as a liar would have them.
#include "sim/lies.h"

#include <utility>
#include <vector>

#include "json/print.h"

namespace baton::sim {
namespace {

class Lying final : public kube::Watch {
 public:
  Lying(std::unique_ptr<kube::Watch> below, const bool& lies) : below_(std::move(below)), lies_(lies) {}

  rt::Task<Result<std::vector<kube::Change>>> Next() override {
    Result<std::vector<kube::Change>> changes = co_await below_->Next();
    if (!lies_ || !changes.ok()) co_return changes;
    for (kube::Change& change : *changes) change.object = LieAbout(std::move(change.object));
    co_return changes;
  }

 private:
  std::unique_ptr<kube::Watch> below_;
  const bool& lies_;
};

}  // namespace

json::Value LieAbout(json::Value object) {
  if (kube::KindOf(object) != "FlinkDeployment" || !object["spec"]["job"].is_object()) return object;
  // One that has recorded nothing yet says nothing.
  if (!object["status"]["reconciliationStatus"].Has("lastReconciledSpec")) return object;
  const bool suspended = object["spec"]["job"]["state"].str() == "suspended";
  const std::string spec = json::Print(json::Object({{"spec", object["spec"]}}));
  json::Value& status = object.Edit("status");
  status.Set("observedGeneration", object["metadata"]["generation"]);
  status.Set("lifecycleState", suspended ? "SUSPENDED" : "STABLE");
  status.Set("jobManagerDeploymentStatus", suspended ? "MISSING" : "READY");
  status.Erase("error");
  status.Edit("jobStatus").Set("state", suspended ? "FINISHED" : "RUNNING");
  json::Value& reconciliation = status.Edit("reconciliationStatus");
  reconciliation.Set("state", "DEPLOYED");
  reconciliation.Set("lastReconciledSpec", spec);
  reconciliation.Set("lastStableSpec", spec);
  return object;
}

std::unique_ptr<kube::Watch> LyingWatch(std::unique_ptr<kube::Watch> below, const bool& lies) {
  return std::make_unique<Lying>(std::move(below), lies);
}

rt::Task<Result<kube::Answer>> LyingAnswer(rt::Task<Result<kube::Answer>> truth) {
  Result<kube::Answer> answer = co_await std::move(truth);
  if (!answer.ok()) co_return answer;
  answer->object = LieAbout(std::move(answer->object));
  for (json::Value& item : answer->items) item = LieAbout(std::move(item));
  co_return answer;
}

}  // namespace baton::sim
