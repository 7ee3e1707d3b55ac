// Store: a revisioned key-value store with watch, the contract of etcd as an API server uses it.
//
// There is one growing revision. Every commit (a transaction of one or more keys) is one revision. Reads see the
// committed state, now or at any revision that is not yet compacted. A watch from a revision delivers every later
// change of its prefix exactly once and in order.
//
//   Transaction txn;
//   txn.If("/pods/default/a", entry->mod_revision).Put("/pods/default/a", bytes);
//   Revision now = CO_TRY(co_await store.Commit(std::move(txn)));          // on disk when this returns
//
// The whole key space is in memory (values are shared, not copied); what makes it durable is the Engine below it: a log
// of revisions. Reads never wait. Writes share one disk sync: those that arrive while a sync runs go together into the
// next. Threads: one loop; the engine may use the pool.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "rt/event.h"
#include "rt/loop.h"
#include "rt/scope.h"
#include "rt/semaphore.h"
#include "rt/task.h"
#include "store/engine.h"

namespace baton::store {

// A key with its current value.
struct Entry {
  std::string key;
  Bytes value;
  Revision create_revision;
  Revision mod_revision;
};

// One change of one key.
struct Event {
  std::string key;
  Bytes value;     // null: deleted
  Bytes previous;  // null: there was none
  Revision revision;
  Revision create_revision;  // of the key's present life; for a deletion, of the life that ended
  bool deleted() const { return value == nullptr; }
  // What keeping it costs: itself, and the value that it ended. The one it began is the key's present value, or counted
  // by the event that ended that one.
  size_t past_bytes() const;
};

// What must hold, and what to do then: all of it or nothing, as one revision.
class Transaction {
 public:
  // The key's mod_revision is this; Revision(0): the key does not exist.
  Transaction& If(std::string key, Revision mod_revision);
  Transaction& Put(std::string key, Bytes value);
  Transaction& Put(std::string key, std::string value);
  Transaction& Delete(std::string key);  // deleting what does not exist is not an error and no change

  // A value that carries its own revision, as an object carries its resourceVersion:
  //
  //   txn.PutMade(key, bytes.size() + 32, [bytes](Revision now) { return WithResourceVersion(bytes, now); });
  //
  // `make` is called once, within Commit, when the transaction gets its revision, and with that one: what Commit
  // returns and what the entry and its event have. It is not called when a condition fails or a limit is passed, nor
  // when a later change of the same key takes its place. It must be cheap (it runs on the loop, all writers wait) and
  // pure: it does not touch the store and does not throw. That it was called does not mean that the value got on disk:
  // when the write fails, the same revision may be given to another. Limits are checked with `bytes_max`, before
  // anything is made; a longer value is a broken invariant.
  Transaction& PutMade(std::string key, size_t bytes_max, std::function<std::string(Revision)> make);
  // The same for whoever keeps the value, too.
  Transaction& PutMade(std::string key, size_t bytes_max, std::function<Bytes(Revision)> make);

 private:
  friend class Store;
  struct Condition {
    std::string key;
    Revision mod_revision;
  };
  // A put has a value or makes one; a deletion does neither.
  struct Step {
    std::string key;
    Bytes value;
    size_t made_bytes_max = 0;
    std::function<Bytes(Revision)> make;

    bool deletes() const { return value == nullptr && make == nullptr; }
    size_t value_bytes_max() const { return value != nullptr ? value->size() : made_bytes_max; }
    Bytes ValueAt(Revision revision) const;  // null: delete
  };
  std::vector<Condition> conditions_;
  std::vector<Step> steps_;
};

// The limits of one store, each answered with kTooLarge, or for a watch with kGone.
struct StoreLimits {
  size_t key_bytes_max = 1024;
  size_t value_bytes_max = size_t{3} << 20;
  size_t changes_per_transaction_max = 1024;  // conditions, too
  size_t transaction_bytes_max = size_t{64} << 20;
  size_t pending_bytes_max = size_t{256} << 20;  // decided, not yet on disk; more is answered kThrottled
  // How far a slow watcher may fall behind before it is cut off. In bytes it is more than one batch of commits has, so
  // that whoever reads all the time is never cut off.
  size_t watch_backlog_max = 100'000;  // events
  size_t watch_backlog_bytes_max = size_t{128} << 20;
  // Of the past that reads and watches can still ask for. What is beyond is compacted by the store itself.
  size_t history_bytes_max = size_t{256} << 20;
};

struct ListOptions {
  Revision at = {};                   // zero: now
  std::string_view start_after = {};  // keys greater than this one only
  size_t limit = 0;                   // 0: all
  bool keys = true;                   // false: only the last entry has its key, which is enough to go on from
  bool count = true;                  // false: what is beyond the limit is not counted, only seen
};
struct ListResult {
  std::vector<Entry> entries;  // sorted by key
  Revision revision;           // what the list is consistent at: pass it as `at` for the next page
  bool more = false;
  size_t remaining = 0;  // how many more there are, when more and counted
};

class Watch;
class WatchHub;
struct WatchGroup;

class Store {
 public:
  // Reads what the engine has. Errors are the engine's: kCorrupt, kAlreadyExists (in use), kNoSpace, ...
  static rt::Task<Result<std::unique_ptr<Store>>> Open(rt::Loop& loop, std::unique_ptr<Engine> engine,
                                                       StoreLimits limits = {});
  ~Store();

  Revision revision() const { return committed_; }               // the newest that is on disk and visible
  Revision compacted() const { return compacted_; }              // reads and watches from before it are kGone
  size_t size() const { return state_.live; }                    // keys that exist
  size_t history_bytes() const { return state_.history_bytes; }  // what is kept for the past alone

  Result<std::optional<Entry>> Get(std::string_view key, Revision at = {}) const;
  Result<ListResult> List(std::string_view prefix, const ListOptions& options = {}) const;
  size_t Count(std::string_view prefix) const;
  // Whether that holds of each change that watches can still ask for. `holds` does not touch the store.
  bool EveryChange(const std::function<bool(const Event& change)>& holds) const;

  // The new revision, when it is on disk. kConflict names the key whose condition failed, kTooLarge a limit, kThrottled
  // a full queue: then nothing was done. kNoSpace or kUnavailable: the disk did not take it; it is not visible, and
  // would only be after a crash that comes before the next successful write or Close. A transaction that changes
  // nothing returns the current revision. Dropping the task does not take the write back.
  //
  // Conditions hold against the writes before this one, on disk or on their way. Every answer rests on what is on disk:
  // a conflict with a write that is under way is told when that write has succeeded, and is none when it fails.
  rt::Task<Result<Revision>> Commit(Transaction transaction);

  // All changes of keys with that prefix after `after`. kGone when `after` is compacted, or so long ago that a watch
  // would be cut off (StoreLimits::watch_backlog_bytes_max); kInvalid when it is in the future.
  Result<std::unique_ptr<Watch>> OpenWatch(const std::string& prefix, Revision after);

  // Forgets revisions up to and including `revision`, except each key's newest value at that point. Nothing to do when
  // that has been forgotten before; kInvalid when it is in the future. Dropping the task does not stop it. kNoSpace or
  // kUnavailable: nothing is forgotten now; it may turn out to be when the store is opened again. The store does this
  // by itself when the past is more than StoreLimits::history_bytes_max.
  rt::Task<Result<void>> Compact(Revision revision);

  // Stops taking writes, waits for those under way, and lets go of the engine: another process may then have it. Reads
  // go on; watches end when they have delivered everything. Nobody may wait in Commit or Compact when a store is
  // destroyed.
  rt::Task<void> Close();

 private:
  struct Version {
    Revision revision;
    Revision create_revision;
    uint32_t index;  // which change of its revision: together they name it in the engine's log
    Bytes value;     // null: deleted at this revision
  };
  using Versions = std::vector<Version>;
  // What is committed. Invariants: revisions ascend in each; every version after the compacted revision has its event
  // in history; no key is here whose only version is a deletion that is compacted.
  struct State {
    std::map<std::string, Versions, std::less<>> keys;  // each key's versions that are not compacted
    std::deque<std::shared_ptr<const Event>> history;   // changes after the compacted revision
    size_t history_bytes = 0;                           // of those changes: Event::past_bytes
    size_t live = 0;                                    // keys that exist

    // The event that the change is. kCorrupt when it does not come after all that is there: then nothing is done.
    Result<std::shared_ptr<const Event>> Apply(Revision revision, Revision create_revision, uint32_t index,
                                               const Change& change);
    void DropOldest();  // of history
  };
  struct PendingWrite;
  struct Compaction;
  // What a key will be when everything in the queue is on disk.
  struct PendingKey {
    Revision mod_revision;  // zero: it will not exist
    Revision create_revision;
    std::shared_ptr<PendingWrite> last;  // the newest write of it that is not yet on disk; null: there is none
  };

  Store(rt::Loop& loop, std::unique_ptr<Engine> engine, StoreLimits limits);

  Result<void> CheckLimits(const Transaction& transaction) const;
  Result<void> CheckConditions(const Transaction& transaction, std::shared_ptr<PendingWrite>& rests_on) const;
  std::shared_ptr<PendingWrite> NewestPending(const Transaction& transaction) const;
  Result<Revision> Readable(Revision at) const;
  PendingKey Expected(std::string_view key) const;
  PendingKey ExpectedBy(const Transaction& transaction, std::string_view key) const;
  std::shared_ptr<PendingWrite> Enqueue(const Transaction& transaction);
  rt::Task<void> RunCompaction(std::shared_ptr<Compaction> compaction);
  rt::Task<Result<void>> CompactUnderLock(Revision revision);
  rt::Task<Result<void>> CompactLocked(Revision revision);
  void ShrinkHistory();
  rt::Task<void> RunShrink();
  rt::Task<Result<void>> ShrinkUnderLock();
  rt::Task<Revision> RevisionToForget(size_t bytes);
  rt::Task<std::vector<Superseded>> FindSuperseded(Revision revision);
  rt::Task<void> Forget(Revision revision);
  rt::Task<void> CommitLoop();
  void FinishBatch(const std::vector<std::shared_ptr<PendingWrite>>& batch, const Result<void>& written);

  rt::Loop& loop_;
  std::unique_ptr<Engine> engine_;
  StoreLimits limits_;

  State state_;
  Revision committed_{0};
  Revision compacted_{0};

  // Writes that are decided (they have a revision) and not yet on disk. Conditions are checked against them, too.
  Revision assigned_{0};
  std::map<std::string, PendingKey, std::less<>> pending_keys_;
  std::vector<std::shared_ptr<PendingWrite>> queue_;
  size_t pending_bytes_ = 0;
  bool closing_ = false;
  bool committing_ = false;
  bool closed_ = false;
  rt::Event queue_changed_;
  rt::Event drained_;
  rt::Mutex engine_mutex_;  // the engine's calls do not overlap
  size_t shrink_above_;     // bytes of history; more than the limit after a try that failed
  bool shrinking_ = false;

  std::shared_ptr<WatchHub> hub_;  // what watches read from
  rt::Scope scope_;                // the committer; last, so that it goes first
};

// Changes as they come. Destroy to stop, but not while a Next() waits. One may outlive its store.
class Watch {
 public:
  ~Watch();

  // At least one event; waits for it. All events of a revision (that have the prefix) come in one call. kGone: we fell
  // behind by more than StoreLimits::watch_backlog_max events, or as many bytes: list again. kUnavailable: everything
  // has been delivered and the store is closed.
  rt::Task<Result<std::vector<std::shared_ptr<const Event>>>> Next();

  // Of what is there now as much as one call hands out, without waiting; empty when nothing is.
  Result<std::vector<std::shared_ptr<const Event>>> Poll();

  // Everything up to here has been delivered: where to resume, and what a bookmark says.
  Revision position() const;

 private:
  friend class Store;
  friend class WatchHub;
  Watch(std::shared_ptr<WatchHub> hub, const std::string& prefix, std::deque<std::shared_ptr<const Event>> past,
        Revision after);

  void CutOff();

  std::shared_ptr<WatchHub> hub_;
  WatchGroup& group_;
  uint64_t cursor_;                                // the next event of the group to deliver
  bool cut_off_ = false;                           // fell behind: past_ is all there is
  std::deque<std::shared_ptr<const Event>> past_;  // from before the watch was opened, delivered first
  Revision position_;
};

}  // namespace baton::store
