// Sink: where the jobs of one workload write. It stands for a transactional sink such as a Kafka topic, and, as that,
// lets anyone write: nobody is fenced out, so that two writers are seen by the judge and not prevented.
//
//   practice-sink 1
//   S <ms> <cluster> <job> <epoch> <state it starts from, or -> <offset of partition 0> ...   an instance may now write
//   E <ms> <cluster> <job> <epoch> <FINISHED|CANCELED|FAILED|KILLED> <offset read up to> ...  it never will again
//   T <ms> <cluster> <job> <epoch> <transaction, or -> <rows>                        a commit by that instance, and
//   <partition> <offset> <key> <count> <sum, hexadecimal>                            its rows, and
//   .                                                                                its end: without it, it is none
//
// Exactly once is done as in Flink, in two phases: Prepare() makes rows durable under a transaction's name, as part of
// a checkpoint; Commit() shows them, once, however often it is called and by whoever restored that checkpoint. Rows of
// Append() are shown at once. Once asked for, a commit happens even when the one who asked is gone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "practice/storage.h"
#include "rt/event.h"
#include "rt/loop.h"
#include "rt/scope.h"
#include "rt/semaphore.h"
#include "rt/task.h"

namespace baton::practice {

// Who writes: an instance of a job.
struct SinkWriter {
  std::string cluster;
  std::string job_id;
  std::string epoch = "0";
};

struct SinkRows {
  std::string text;  // whole lines
  size_t count = 0;

  void Add(uint32_t partition, uint64_t offset, uint32_t key, uint64_t key_count, uint64_t key_sum);
};

class Sink {
 public:
  Sink(rt::Loop& loop, const Storage& storage, WorkloadName workload);

  rt::Task<Result<void>> Prepare(std::string transaction, SinkRows rows);
  // kNotFound: it was neither prepared nor committed, so that its rows are lost.
  rt::Task<Result<void>> Commit(SinkWriter writer, std::string transaction);
  rt::Task<Result<void>> Append(SinkWriter writer, SinkRows rows);

  rt::Task<Result<void>> Started(SinkWriter writer, std::string from, std::vector<uint64_t> offsets);
  // Written in the background: the time is that of the call.
  void Ended(const SinkWriter& writer, std::string_view how, const std::vector<uint64_t>& offsets);
  // Until all that was asked for is written.
  rt::Task<void> Settle();

 private:
  using Work = std::function<rt::Task<Result<void>>()>;
  struct Asked;

  rt::Task<Result<void>> Ask(Work work);
  rt::Task<void> Do(std::shared_ptr<Asked> asked);
  rt::Task<Result<void>> Write(std::string block);
  rt::Task<Result<void>> CommitNow(SinkWriter writer, std::string transaction);
  rt::Task<Result<void>> Load();
  std::string Line(std::string_view kind, const SinkWriter& writer) const;
  std::string PendingPath(std::string_view transaction) const;

  rt::Loop& loop_;
  const Storage& storage_;
  WorkloadName workload_;
  std::unique_ptr<rt::File> file_;  // null: to be opened
  std::set<std::string, std::less<>> committed_;
  rt::Mutex one_at_a_time_;
  rt::Scope scope_;  // last, so that it goes first
};

}  // namespace baton::practice
