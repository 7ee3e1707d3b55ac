// KindSpec: how the generic operator plays one kind of workload: what of its spec says that it must not run, which pods
// it has, how its process ends and where its progress is kept, and what its status says in each step. Written as a
// small YAML file (src/practice/kinds), by the facts of the real operator.
//
//   apiVersion: sparkoperator.k8s.io/v1beta2
//   kind: SparkApplication
//   plural: sparkapplications
//   crd: {shortNames: [sparkapp], columns: [{name: Status, path: .status.applicationState.state}]}
//   held: [{path: /spec/suspend, value: true}]       # any of these: it must not run; value may be missing: whatever it
//   is pods: {name: "${name}-driver", labels: {spark-role: driver}} stop: kill                                       #
//   or drain: it ends at a snapshot of its progress progress: shared                                 # or cluster,
//   volume, archive sink: exactly-once                               # or at-least-once status:
//     starting: {applicationState: {state: SUBMITTED}}
//     running:  {applicationState: {state: RUNNING}, driverInfo: {podName: "${pod}"}}
//     ...
//
// progress says where a new process finds what the last one had done:
//   shared    outside of all clusters, as a consumer group's offsets or a checkpoint directory in object storage
//   cluster   in this cluster, as the offset topics of Kafka Connect
//   volume    in the volume of the first pod: of the claim that volumeClaimTemplates names
//   archive   in this cluster's database, with its log archived outside (practice/kind_tokens.cc)
//
// A status is whole: what a step does not name is not there. ${...} in it: name, generation, replicas, pods, ready,
// unready, terminating, pod, job, started, since, error, waiting; a text that is nothing else becomes a number where it
// is one. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/pointer.h"
#include "json/value.h"
#include "kube/api.h"

namespace baton::practice {

enum class KindStep : uint8_t { kStarting, kWaiting, kRunning, kStopping, kStopped, kFailed, kCompleted };
std::string_view KindStepName(KindStep step);  // "starting": as in the file

enum class ProgressPlace : uint8_t { kShared, kCluster, kVolume, kArchive };

struct KindSpec {
  struct Match {
    json::Pointer path;
    json::Value value;  // null: any value that is there
  };

  kube::Resource resource;
  json::Value crd;  // null: built into Kubernetes
  std::vector<Match> held;
  std::vector<Match> ignored;  // objects that another operator owns
  json::Pointer replicas;      // empty: one
  json::Pointer image;         // empty: none is named
  json::Pointer labels;        // of the pods; empty: `pod_labels` alone
  json::Value pod_labels;
  std::string pod_name;   // with ${name}
  bool numbered = false;  // -0, -1 ...; else random endings where there are several
  bool drains = false;
  bool completes = false;  // ends by itself after practice.baton.io/run-time
  bool restarts = true;    // a failed process is started again in its pod
  bool exactly_once = false;
  bool offsets = false;  // Strimzi's listing and altering of offsets (practice/kind_offsets.cc)
  ProgressPlace progress = ProgressPlace::kShared;
  std::map<std::string, json::Value, std::less<>> status;  // by the step's name

  static Result<KindSpec> Parse(std::string_view yaml);

  bool Holds(const json::Value& object) const;
  bool Ignores(const json::Value& object) const;
  int64_t Replicas(const json::Value& object) const;  // 0 when it is held
  std::string Image(const json::Value& object) const;
  json::Value PodLabels(const json::Value& object) const;
  // `fill` gives the values of ${...}.
  json::Value Status(KindStep step, const std::map<std::string, std::string, std::less<>>& fill) const;
  json::Value Crd() const;  // null: none is needed
};

// All of src/practice/kinds.
const std::vector<KindSpec>& KindSpecs();

// True: no registry of this name exists, so that its images are never there.
bool IsFakeImage(std::string_view image);

}  // namespace baton::practice
