// RunGate: the one question that the pipe asks back. Before execute writes an object to a member, it asks whether that
// cluster may run it, and writes what the gate answers: the object as it is, stamped with its epoch, or in its held
// form. The rollout engine answers for workloads that must have one writer; without it everything passes.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "json/value.h"
#include "rt/task.h"

namespace baton::federation {

struct Admitted {
  json::Value manifest;  // what may be written
  int64_t seq = -1;      // its epoch; -1: the workload is not managed
  bool held = false;     // it was given its held form
  // Not empty: what is there is not the object that may write, and this says so and what a person can do. It is held.
  std::string stray = {};
};

class RunGate {
 public:
  virtual ~RunGate() = default;

  // An error means: write nothing, ask again later. `observed` is the member's object as it is now, or null.
  virtual rt::Task<Result<Admitted>> Admit(std::string cluster, json::Value manifest, json::Value observed) = 0;

  // Whether the workload may be taken out of that cluster now. Not from the writer, by whoever overwrote a binding:
  // only its deletion, or a move that has proven it stopped, ends a writer.
  virtual rt::Task<Result<bool>> MayRemove(std::string cluster, json::Value object) = 0;

  // Asked with the member's object as it is, right before that is deleted though its template stands: why it is not yet
  // to be; "": nothing is against it. It holds for that version of the object only.
  virtual rt::Task<Result<std::string>> WhyNotYet(std::string cluster, json::Value live) = 0;

  // Whether the cluster may leave as far as this workload goes: it is not its writer's, and no move has to do with it.
  virtual rt::Task<Result<bool>> MayLeave(std::string cluster, json::Value object) = 0;

  // The workloads ("Kind namespace/name") that are being moved from or to that cluster now: it cannot leave before,
  // even where nothing of them is left there. The move looks whether that is so.
  virtual rt::Task<Result<std::vector<std::string>>> MovesOf(std::string cluster) = 0;

  // The epoch that an object in a member carries; -1: none. A write of an older epoch than the member has is refused.
  virtual int64_t EpochOf(const json::Value& object) const = 0;

  // Whether the template's kind must have one writer, so that schedule never moves it by itself.
  virtual bool Manages(const json::Value& object) const = 0;
};

}  // namespace baton::federation
