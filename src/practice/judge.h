// Judge: reads what a workload's source gave and what its sink got, and counts. An independent part: it shares no code
// with jobs, sinks and operators, only the format of their files, which it reads by itself (README.md).
//
//   JudgeReport report = CO_TRY(co_await Judge(files, "", "default", "orders"));
//   puts(report.Text().c_str());
//   if (!report.clean()) ...
//
// It reads while others write: a block without its end is not there yet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "json/value.h"
#include "rt/files.h"
#include "rt/task.h"

namespace baton::practice {

struct JudgeWriter {
  std::string cluster;
  std::string job_id;
  std::string epoch;
  std::string from;  // the state it started from, "-" for none
  int64_t begin_ms = 0;
  int64_t end_ms = 0;  // of its last sign of life, when it did not say that it ended
  std::string end;     // FINISHED, CANCELED, FAILED, KILLED; "" while it runs, or when nobody saw it end
  uint64_t rows = 0;   // that it committed
  std::vector<uint64_t> from_offsets;
  std::vector<uint64_t> to_offsets;
};

struct JudgeOverlap {
  size_t a = 0;  // in `writers`
  size_t b = 0;
  int64_t begin_ms = 0;
  int64_t end_ms = 0;
};

struct JudgeReport {
  std::string ns;
  std::string name;
  uint64_t in = 0;                     // records of the source
  uint64_t out = 0;                    // rows of the sink
  uint64_t waiting = 0;                // at the end of the source, not yet in the sink
  uint64_t lost = 0;                   // not in the sink, though later ones of their partition are
  uint64_t duplicated = 0;             // rows beyond the first of their record
  uint64_t reprocessed = 0;            // records read more than once, whether that shows in the sink or not
  uint64_t out_of_order = 0;           // rows whose key already had a later record
  uint64_t wrong_state = 0;            // rows whose count or sum is not what their key's records add up to
  uint64_t invented = 0;               // rows of records that the source never had, or with a wrong key
  uint64_t unreadable = 0;             // lines that are none of the format's
  uint64_t epochs_back = 0;            // commits of an epoch lower than one before
  std::vector<JudgeOverlap> overlaps;  // two writers at one time; at most kOverlapsMax are listed
  uint64_t overlap_count = 0;
  std::vector<JudgeWriter> writers;
  std::vector<std::string> epochs;  // in order of their first commit
  int64_t longest_silence_ms = 0;   // between two commits
  int64_t silence_begin_ms = 0;

  // Exactly once, in order, by one writer at a time.
  bool clean() const {
    return lost == 0 && duplicated == 0 && out_of_order == 0 && wrong_state == 0 && invented == 0 && unreadable == 0 &&
           overlap_count == 0 && epochs_back == 0;
  }
  std::string Text() const;  // a table for people
  json::Value Json() const;
};

inline constexpr size_t kOverlapsMax = 100;
inline constexpr uint64_t kJudgeRecordsMax = 500'000'000;  // of one partition: more is no offset

// `root` as given to Storage. kNotFound: there is no such source.
rt::Task<Result<JudgeReport>> Judge(rt::Files& files, std::string root, std::string ns, std::string name);
// Every workload that has a sink.
rt::Task<Result<std::vector<JudgeReport>>> JudgeAll(rt::Files& files, std::string root);

}  // namespace baton::practice
