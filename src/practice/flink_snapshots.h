// FlinkSnapshots: the operator's controller of FlinkStateSnapshots, where the cluster serves them: savepoints and
// checkpoints on demand (TRIGGER_PENDING -> IN_PROGRESS -> COMPLETED | FAILED | ABANDONED), which do not stop the job.
#pragma once

#include <string>

#include "kube/api.h"
#include "kube/controller.h"
#include "kube/informer.h"
#include "practice/flink_operator.h"
#include "practice/job_manager.h"

namespace baton::practice {

class FlinkSnapshots {
 public:
  // Both outlive this.
  FlinkSnapshots(kube::Api& api, JobManagers& managers, FlinkOperatorOptions options);

  // Until dropped. Waits for as long as the kind is not served.
  rt::Task<void> Run();

 private:
  rt::Task<kube::Outcome> Reconcile(std::string key);
  rt::Task<Result<void>> Make(json::Value& object);
  rt::Task<Result<void>> Write(json::Value& object);

  kube::Api& api_;
  JobManagers& managers_;
  FlinkOperatorOptions options_;
  kube::Informer objects_;
  kube::Controller controller_;
};

}  // namespace baton::practice
