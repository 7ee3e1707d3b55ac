// Engine: what makes a store durable: an ordered log of revisions. Two kinds: memory (nothing survives) and RocksDB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "rt/loop.h"
#include "rt/task.h"

namespace baton::store {

using Revision = StrongInt<struct RevisionTag>;

// An immutable value, shared by everybody who reads it.
using Bytes = std::shared_ptr<const std::string>;

// One key's change in a transaction.
struct Change {
  std::string key;
  Bytes value;  // null: delete
};

// One revision: a transaction as it stands in the log.
struct LogRecord {
  Revision revision;
  std::vector<Change> changes;
  std::vector<Revision> create_revisions;  // one for each change: when the key's present life began
};

// A change that compaction may forget: the key was changed again, or deleted, at a later compacted revision.
struct Superseded {
  Revision revision;
  uint32_t index;  // which change of that revision
  friend auto operator<=>(const Superseded&, const Superseded&) = default;
};

// Load comes first, Close last. Calls of one Engine do not overlap; but a dropped call may go on in the pool, and the
// engine orders the next one after it.
class Engine {
 public:
  virtual ~Engine() = default;

  struct Loaded {
    Revision revision;  // of the newest record
    Revision compacted;
  };
  // Every change in the log, in order. `each` may be called on a pool thread, before Load returns or after its task was
  // dropped, so it owns all it touches. An error of its own ends the load and is what Load returns.
  using LoadEach =
      std::function<Result<void>(Revision revision, Revision create_revision, uint32_t index, Change change)>;
  virtual rt::Task<Result<Loaded>> Load(LoadEach each) = 0;

  // All of it on disk when this returns; all or nothing. kNoSpace when the disk is full, kUnavailable when it failed:
  // what then may be on disk is taken back by the next Write that succeeds. That one may use the same revisions again.
  virtual rt::Task<Result<void>> Write(std::vector<LogRecord> records) = 0;

  // Forgets these changes and remembers `compacted`, all or nothing; errors as for Write, but nothing is taken back:
  // what failed may be done when the log is loaded again. Repeating it does no harm, nor does a lesser one afterwards.
  virtual rt::Task<Result<void>> Compact(Revision compacted, std::vector<Superseded> superseded) = 0;

  // Takes back what a failed Write may have left, when the disk lets it, and lets go of what it holds (files, locks).
  // The destructor, too, lets go, but takes nothing back and may block.
  virtual rt::Task<void> Close() = 0;
};

std::unique_ptr<Engine> MakeMemoryEngine();

}  // namespace baton::store
