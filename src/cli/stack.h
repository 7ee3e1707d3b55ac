// Stack: the whole of Baton in one process: an embedded hub, practice clusters (each with its own API server, joined
// over HTTPS as a real one would be), and the controllers between them. What `baton up` and `baton demo` run.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/server.h"
#include "base/log.h"
#include "federation/federation.h"
#include "interpret/interpreter.h"
#include "kube/faulty_api.h"
#include "kube/local_api.h"
#include "practice/cluster.h"
#include "practice/commons.h"
#include "practice/storage.h"
#include "rollout/alongside.h"
#include "rollout/gate.h"
#include "rollout/profiles.h"
#include "rollout/rollout.h"
#include "rt/files.h"
#include "rt/real_loop.h"
#include "rt/scope.h"
#include "store/directory_lock.h"

namespace baton::cli {

struct StackOptions {
  std::string data_dir;    // also with `ephemeral`: practice storage and kubeconfig go there
  bool ephemeral = false;  // API servers in memory
  net::Endpoint listen = {.host = "127.0.0.1", .port = 0};
  std::vector<std::string> practice_clusters;
  int operator_speed = 1;  // how many times faster than real ones the practice operators look
  practice::PracticeClusterOptions practice;
  const Logger* log = nullptr;
};

struct ControlOptions {
  bool own_hub = true;  // false: another federation places workloads, and RunAlongside() is meant
  const rollout::RolloutMetrics* metrics = nullptr;
  rollout::EvacuateOptions limits = {};
  std::function<void(int64_t fence)> outranked = {};  // rollout/engine.h
};

// The controllers on a hub: the federation and the rollout engine.
struct ControlPlane {
  ControlPlane(kube::Api& hub, federation::Connect connect, federation::PostToWebhook post,
               std::function<int64_t()> fence, const Logger* log, const ControlOptions& options);
  void Run();  // from now on, until it is dropped
  // The rollout alone: moves, their triggers, and the Writers of what the other federation placed.
  void RunAlongside();

  interpret::Interpreter interpreter;
  rollout::ProfileSet profiles;
  rollout::Gate gate;
  federation::Federation federation;
  rollout::Rollout rollout;
  std::unique_ptr<rollout::Alongside> alongside;  // null on our own hub
  rt::Scope scope;                                // last, so that it goes first

 private:
  rt::Task<void> RunPipe();
};

// The way between hub and a practice cluster: what goes over it while it is cut is lost.
class Way final : public kube::FaultPlan {
 public:
  void Cut(bool cut) { cut_ = cut; }
  bool cut() const { return cut_; }
  kube::FaultDecision ForCall(const kube::Call&) override { return Lost(kube::Fault::kSilence); }
  kube::FaultDecision ForOpen(const kube::WatchCall&) override { return Lost(kube::Fault::kErrorBefore); }
  kube::FaultDecision ForChanges(const kube::WatchCall&) override { return Lost(kube::Fault::kWatchCut); }

 private:
  kube::FaultDecision Lost(kube::Fault how) const { return {.fault = cut_ ? how : kube::Fault::kNone}; }
  bool cut_ = false;
};

class Stack {
 public:
  static rt::Task<Result<std::unique_ptr<Stack>>> Start(rt::RealLoop& loop, StackOptions options);
  ~Stack();
  rt::Task<void> Stop(rt::Deadline deadline);

  const std::string& kubeconfig_path() const { return kubeconfig_path_; }
  net::Endpoint endpoint() const { return hub_->endpoint(); }
  net::Endpoint practice_endpoint(const std::string& name) const;
  kube::Api& hub() { return *hub_api_; }
  kube::Api& member(const std::string& name);
  practice::PracticeCluster& practice(const std::string& name);
  rt::Files& files() { return *files_; }
  ControlPlane& control() { return *control_; }

 private:
  struct Practice {
    std::string name;
    std::unique_ptr<apiserver::ApiServer> server;
    std::unique_ptr<kube::LocalApi> api;
    std::unique_ptr<practice::PracticeCluster> cluster;
    Way way;
  };

  Stack(rt::RealLoop& loop, StackOptions options);
  rt::Task<Result<void>> StartHub();
  rt::Task<Result<void>> StartPractice(std::string name);
  rt::Task<Result<void>> Join(const Practice& practice);
  Result<void> WriteKubeconfig();
  Practice& Find(const std::string& name);
  federation::Connect ConnectMembers();

  rt::RealLoop& loop_;
  StackOptions options_;
  std::string kubeconfig_path_;
  interpret::Interpreter admission_interpreter_;
  std::unique_ptr<apiserver::ApiServer> hub_;
  std::unique_ptr<kube::LocalApi> hub_api_;
  std::unique_ptr<rollout::RolloutMetrics> metrics_;
  store::DirectoryLock storage_lock_;  // records are appended by one process
  std::unique_ptr<rt::Files> files_;
  std::unique_ptr<practice::Storage> storage_;
  std::unique_ptr<practice::Commons> commons_;
  std::vector<std::unique_ptr<Practice>> practice_;
  std::unique_ptr<rt::Scope> scope_;  // practice clusters
  std::unique_ptr<ControlPlane> control_;
};

}  // namespace baton::cli
