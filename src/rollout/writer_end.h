// WriterEnd: lets a Writer go that is being deleted, with its namespace or by a person. It guards one workload, and the
// numbers in the members mean something only beside it; so it goes when nothing of that workload is left:
//
// - no move has it claimed, and the last one has told its end;
// - template and binding are gone from the hub, so that nothing renders the workload any more;
// - every cluster that it was ever granted to (holder and receipts) was looked at, live, is the one that was meant, and
//   has neither the object nor anything that it made. One that has left the hub cannot be asked. For one that does not
//   answer a person may say that nothing runs there (kNothingRunsAnnotation).
//
// Until then it stays and guards, and what it waits for is told (event WriterStays, on the Writer, and on its namespace
// when that goes: nothing new can be made in it). The removal of the finalizer is a compare-and-swap on what was
// decided on: a template that is made anew meanwhile renews the Writer (rollout/gate.h), or finds none and is placed
// for the first time, which asks every member.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "federation/federation.h"
#include "kube/controller.h"
#include "rollout/engine.h"
#include "rollout/profiles.h"

namespace baton::rollout {

inline constexpr std::string_view kWriterStaysEvent = "WriterStays";

// A cluster that a Writer names, with the id that it had then ("": not known).
struct NamedCluster {
  std::string name, id;
  friend auto operator<=>(const NamedCluster&, const NamedCluster&) = default;
};
// Wherever the workload may have been: each once.
std::vector<NamedCluster> ClustersNamedBy(const json::Value& writer);

// What of the Writer's workload is in that cluster, by a live look, and what a person can do about it; "": nothing, or
// the cluster has left the hub.
rt::Task<Result<std::string>> StillIn(kube::Api& hub, federation::Members& members, json::Value writer,
                                      NamedCluster cluster, std::shared_ptr<const interpret::Profile> profile);

class WriterEnd {
 public:
  // All outlive this. Before federation.Run().
  WriterEnd(federation::Federation& federation, Engine& engine, ProfileSet& profiles);
  rt::Task<void> Run();

 private:
  void Look(const std::string& key);  // if the Writer of that key is being deleted
  rt::Task<kube::Outcome> Reconcile(std::string key);
  // Each gives what stands in the way, and what a person can do; "": nothing.
  rt::Task<Result<std::string>> InTheWay(const json::Value& writer);
  rt::Task<Result<std::string>> OnTheHub(const json::Value& writer);
  rt::Task<Result<void>> LetGo(json::Value writer);
  rt::Task<void> Tell(const json::Value& writer, std::string why);

  federation::Hub& hub_;
  Engine& engine_;
  ProfileSet& profiles_;
  std::map<std::string, std::string, std::less<>> told_;  // by uid of the Writer: what was told last
  kube::Controller controller_;
};

}  // namespace baton::rollout
