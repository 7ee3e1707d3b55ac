// Commons: what all practice clusters share: the storage, the sources and the sinks. One per practice world.
#pragma once

#include <map>
#include <memory>
#include <optional>

#include "practice/sink.h"
#include "practice/source.h"
#include "practice/storage.h"
#include "rt/scope.h"

namespace baton::practice {

class Commons {
 public:
  // Both outlive this.
  Commons(rt::Loop& loop, const Storage& storage) : loop_(loop), storage_(storage), scope_(loop) {}

  const Storage& storage() const { return storage_; }
  rt::Loop& loop() const { return loop_; }

  // Begins to append on the first call; later calls set the rate only.
  Source& SourceOf(const WorkloadName& workload, const SourceOptions& options);
  Source* FindSource(const WorkloadName& workload);
  Sink& SinkOf(const WorkloadName& workload);

  // Sources that begin from here on append that often, whatever their options say: in a simulation the records count,
  // and each append is a write and a sync of a log, and a turn of the job.
  void SetAppendEvery(Duration every) { append_every_ = every; }

 private:
  rt::Loop& loop_;
  const Storage& storage_;
  std::optional<Duration> append_every_;
  std::map<WorkloadName, std::unique_ptr<Source>> sources_;
  std::map<WorkloadName, std::unique_ptr<Sink>> sinks_;
  rt::Scope scope_;  // last, so that it goes first
};

}  // namespace baton::practice
