// How the log's records stand in RocksDB: pure functions between values and bytes. Big-endian, so that bytes sort as
// numbers do.
//
//   column family   key                              value
//   log             revision (8), index (4)          type (1), create revision (8), key length (4), key, value
//   meta            "format"                         format version (4)
//   meta            "compacted", "newest"            revision (8)
//
// A backup file has the same records (store/backup.h), so a change here is a new format version there, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "store/engine.h"

namespace baton::store {

inline constexpr uint32_t kFormatVersion = 1;

inline constexpr std::string_view kLogFamily = "log";
inline constexpr std::string_view kMetaFamily = "meta";
inline constexpr std::string_view kFormatKey = "format";
inline constexpr std::string_view kCompactedKey = "compacted";
inline constexpr std::string_view kNewestKey = "newest";

void AppendU32(std::string& out, uint32_t number);
void AppendU64(std::string& out, uint64_t number);
uint32_t ReadU32(std::string_view bytes);  // at least 4
uint64_t ReadU64(std::string_view bytes);  // at least 8

// A change's place in the log.
struct LogPlace {
  Revision revision;
  uint32_t index = 0;
  friend auto operator<=>(const LogPlace&, const LogPlace&) = default;
};
inline constexpr size_t kLogKeyBytes = 12;
std::string EncodeLogKey(LogPlace place);
Result<LogPlace> DecodeLogKey(std::string_view bytes);

// Greater than every key of the log.
inline constexpr std::string_view kAfterTheLog = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff";

// What stands in front of a record's value: EncodeLogHead(...) + *change.value is the whole record.
std::string EncodeLogHead(Revision create_revision, const Change& change);
struct LogEntry {
  Revision create_revision;
  Change change;
};
Result<LogEntry> DecodeLogEntry(std::string_view bytes);

std::string EncodeRevision(Revision revision);
Result<Revision> DecodeRevision(std::string_view bytes);

// Checks that a log, read from its beginning, is one that we wrote: places ascend, and after the compacted revision no
// revision and no index is missing. (Before it, compaction leaves gaps.)
class LogOrder {
 public:
  explicit LogOrder(Revision compacted) : last_{compacted, 0}, compacted_(compacted) {}
  Result<void> Next(LogPlace place);

 private:
  LogPlace last_;
  Revision compacted_;
  bool begun_ = false;
};

}  // namespace baton::store
