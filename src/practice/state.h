// JobState: what a job knows, and its form as a file: the `_metadata` of a checkpoint or savepoint.
//
//   practice-state 1 <keys per partition>
//   from <job id> <checkpoint id>
//   offsets <partition 0's> <partition 1's> ...
//   pending <transaction> ...                         prepared with this state, committed by whoever restores it
//   <partition> <key> <count> <sum, hexadecimal>      one line per key that was seen
//   sha256 <of everything above>
//
// Every row that a job writes carries the count and the sum of its key: what a state forgot or counted twice shows in
// all later rows.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace baton::practice {

struct KeyState {
  uint64_t count = 0;
  uint64_t sum = 0;
  friend bool operator==(const KeyState&, const KeyState&) = default;
};

struct JobState {
  uint32_t keys = 0;              // per partition
  std::string job_id;             // who wrote it
  uint64_t checkpoint_id = 0;     // the last that was made of it
  std::vector<uint64_t> offsets;  // the next to read, by partition
  std::vector<KeyState> states;   // by partition * keys + key
  std::vector<std::string> pending;

  static JobState Fresh(uint32_t partitions, uint32_t keys);
  // What a job knows that read everything before these offsets: records are numbers, so it can be counted again.
  static JobState AtOffsets(const std::vector<uint64_t>& offsets, uint32_t keys);
  std::string Encode() const;
  // kCorrupt: its hash does not fit, or it is no state.
  static Result<JobState> Decode(std::string_view text);
  friend bool operator==(const JobState&, const JobState&) = default;
};

}  // namespace baton::practice
