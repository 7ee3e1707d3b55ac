// Source: the numbered records of one workload, in partitions, appended at a set rate whether anybody reads them or
// not. It stands for a message log such as Kafka: outside of every cluster, the same for all of them.
//
// A record is a partition and an offset; its key and value are pure functions of these (RecordAt), so that the log need
// not hold them: it only says how far each partition reaches, and when.
//
//   practice-source 1 <partitions> <keys per partition>
//   <wall time in ms> <end of partition 0> <end of partition 1> ...
//
// One process appends to a source: a second one's numbers would not follow.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "practice/storage.h"
#include "rt/loop.h"
#include "rt/scope.h"
#include "rt/task.h"

namespace baton::practice {

inline constexpr uint32_t kPartitionsMax = 64;
inline constexpr uint32_t kKeysMax = 100'000;      // per partition
inline constexpr double kRateMax = 100'000;        // records a second
inline constexpr uint64_t kAppendMax = 1'000'000;  // records in one append, after a process was away for long

struct SourceOptions {
  uint32_t partitions = 2;
  uint32_t keys = 8;  // per partition
  double rate = 20;   // records a second, over all partitions
  Duration append_every = milliseconds(200);
};

struct Record {
  uint32_t key = 0;    // below `keys`
  uint64_t value = 0;  // added up in the key's state
};

// h = mix(partition * 2^40 + offset): key = h mod keys, value = h >> 32. mix is SplitMix64's.
Record RecordAt(uint32_t partition, uint64_t offset, uint32_t keys);

class Source {
 public:
  Source(rt::Loop& loop, const Storage& storage, WorkloadName workload, SourceOptions options);
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  // Appends until dropped. Goes on where the log ends.
  rt::Task<void> Run();

  const SourceOptions& options() const { return options_; }
  void SetRate(double rate);  // 0: stands still
  const std::vector<uint64_t>& ends() const { return ends_; }
  bool ready() const { return !ends_.empty(); }

  // Called after each append. Until Unsubscribe.
  uint64_t Subscribe(std::function<void()> on_append);
  void Unsubscribe(uint64_t id) { subscribers_.erase(id); }

 private:
  rt::Task<Result<void>> Load();
  rt::Task<Result<void>> Append();

  rt::Loop& loop_;
  const Storage& storage_;
  WorkloadName workload_;
  SourceOptions options_;
  std::unique_ptr<rt::File> file_;
  std::vector<uint64_t> ends_;  // durable; empty before the log is open
  double owed_ = 0;             // of a record, between appends
  uint32_t next_partition_ = 0;
  MonotonicTime last_{};
  uint64_t next_subscriber_ = 1;
  std::map<uint64_t, std::function<void()>> subscribers_;
};

}  // namespace baton::practice
