// SimulatedDisk: the model behind SimulatedFiles. A tree of files in memory that knows, of everything in it, what a
// running process sees and what is already on the medium.
//
// A file is its durable bytes and the list of changes since its last sync. The tree is durable entries and one log of
// pending records: a record (a creation, removal or rename) becomes durable as a whole, as in a journalling file
// system. Syncing a directory writes the records that concern it, and those they build on; others stay pending.
//
// No turns, no waiting, no faults here: see rt/simulated_files.h. Everything is ordered by inode number and name, so
// equal calls with equal random numbers give equal disks. Paths are checked by the caller.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "rt/files.h"
#include "rt/random.h"

namespace baton::rt {

// How unkind a power cut is. Whatever is set, durable bytes and entries stay.
struct PowerCutOptions {
  bool torn_tail = true;       // the end of what a file keeps of its unsynced bytes may be zeroes or garbage
  bool lost_blocks = false;    // so may any block of them be zeroes: a later one was written before it
  bool any_records = false;    // pending records survive as any subset, not only as the first few
  size_t block_bytes = 4'096;  // > 0
};

class SimulatedDisk {
 public:
  using InodeId = uint64_t;
  static constexpr uint64_t kNoQuota = std::numeric_limits<uint64_t>::max();

  SimulatedDisk();

  // ---- the tree ----
  // The file's inode, kept until Close() also when its last name goes.
  Result<InodeId> Open(std::string_view path, OpenMode mode);
  void Close(InodeId file);
  Result<void> MakeDirectory(std::string_view path);
  Result<std::vector<FileEntry>> List(std::string_view path) const;
  Result<void> Rename(std::string_view from, std::string_view to);
  Result<void> Remove(std::string_view path);
  Result<void> SyncDirectory(std::string_view path);

  // ---- open files ----
  const std::string& Content(InodeId file) const { return inodes_.at(file).content; }
  // Appends what fits under the quota; false when that was not all.
  bool Append(InodeId file, std::string_view bytes);
  void Truncate(InodeId file, uint64_t size);  // not above the present size
  void Sync(InodeId file);
  // A sync that failed as they do: what was not durable stays readable, but no later sync writes it.
  void FailSync(InodeId file);

  // ---- accidents ----
  // What is not durable survives in part, by chance. No file is open afterwards.
  void PowerCut(Random& random, const PowerCutOptions& options);
  void CloseAll();  // a killed process: nothing is lost

  // Files (named and open ones) may hold so many bytes together.
  void set_quota(uint64_t bytes) { quota_ = bytes; }
  uint64_t used_bytes() const;

  std::map<std::string, std::string> Snapshot() const;  // path -> bytes of every file, as a process sees them

 private:
  static constexpr InodeId kNone = 0;
  static constexpr InodeId kRoot = 1;

  // One step from a file's durable bytes towards its content.
  struct Change {
    bool is_append;
    std::string bytes;     // of an append
    uint64_t size = 0;     // of a truncation
    bool dropped = false;  // by a failed sync: when written at last, it is zeroes
  };
  using Entries = std::map<std::string, InodeId, std::less<>>;
  struct Inode {
    bool is_directory = false;
    uint64_t opens = 0;
    std::string content;
    std::string durable;
    std::vector<Change> unsynced;
    Entries entries;
    Entries durable_entries;
  };

  struct Slot {
    InodeId directory;
    std::string name;
    friend auto operator<=>(const Slot&, const Slot&) = default;
  };
  // A pending change of the tree: entries that are set, or taken away where the inode is kNone.
  struct Record {
    std::vector<std::pair<Slot, InodeId>> entries;
    InodeId removed_directory = kNone;   // what was moved out of it must be durable before it goes
    std::set<InodeId> way_to_find = {};  // of a rename into another directory: that one and those it is in
  };

  std::expected<InodeId, int> Find(std::string_view path) const;  // or an errno
  std::expected<InodeId, int> FindDirectory(std::string_view path) const;
  InodeId Lookup(InodeId directory, std::string_view name) const;  // kNone when it is not there
  InodeId Create(InodeId parent, std::string_view name, bool is_directory);
  bool IsEmptyDirectory(InodeId inode) const;
  std::set<InodeId> WayTo(std::string_view directory) const;  // every directory on that path

  void Do(Record record);  // for the process now, for the medium later
  void MakeDurable(const Record& record);
  void AddWhatTheyBuildOn(std::vector<bool>& chosen, std::set<InodeId> whole_directories) const;
  void KeepSomeRecords(Random& random, const PowerCutOptions& options);
  static void KeepSomeBytes(Inode& file, Random& random, const PowerCutOptions& options);
  std::map<std::string, InodeId> NamedFiles() const;  // by path
  void Sweep();                                       // forgets inodes that nothing leads to

  std::map<InodeId, Inode> inodes_;
  InodeId last_inode_ = kRoot;
  std::vector<Record> pending_;
  uint64_t quota_ = kNoQuota;
  static constexpr size_t kSweepAtLeast = 64;
  size_t sweep_at_ = kSweepAtLeast;  // this many inodes
};

}  // namespace baton::rt
