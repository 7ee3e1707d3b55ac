// HubDisk: what outlives the hub's process: a log that has every write that was acknowledged. When the process dies,
// what was on its way to the disk is there afterwards, all of it or nothing, as the seed says, and nobody was told.
//
//   HubDisk disk(loop);
//   auto store = co_await Store::Open(loop, disk.NewEngine());
//   disk.Crash();                                               // the engine writes nothing any more
//   auto again = co_await Store::Open(loop, disk.NewEngine());  // has what was acknowledged, perhaps more
//
// The durable engine of the product is not here: its own power-cut tests say that it keeps to the same contract.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/time.h"
#include "rt/event.h"
#include "rt/virtual_loop.h"
#include "store/engine.h"

namespace baton::sim {

class HubDisk {
 public:
  explicit HubDisk(rt::VirtualLoop& loop) : loop_(loop) {}
  HubDisk(const HubDisk&) = delete;
  HubDisk& operator=(const HubDisk&) = delete;

  // A sync takes up to that long, so that a crash may come before it has ended. Zero: none does.
  void SetSlowestSync(Duration slowest) { slowest_sync_ = slowest; }

  // For the next process. Only one is in use at a time; this outlives them.
  std::unique_ptr<store::Engine> NewEngine();

  void Crash();

  // The next write is on its way until the process dies; afterwards it is there, or not.
  void Hold(bool keeps) { hold_ = keeps; }

  // What is on it, to be put back later: acknowledged writes are lost then, and revisions begin anew from there. Only
  // while no process runs.
  struct Backup;
  std::shared_ptr<const Backup> BackUp() const;
  void Restore(const Backup& backup);

  // Until a write has begun that has not ended. Waits for ever while syncs take no time.
  rt::Task<void> WriteUnderWay();

  uint64_t lost() const { return lost_; }  // writes that a crash took with it
  uint64_t kept() const { return kept_; }  // those that nobody was told of, and that are there

 private:
  class LogEngine;
  using Place = std::pair<store::Revision, uint32_t>;  // of a change: its revision, and which one of it
  struct Kept {
    store::Revision create_revision;
    store::Change change;
  };

  void Append(const std::vector<store::LogRecord>& records);

  struct Content {
    std::map<Place, Kept> log;
    store::Revision newest;
    store::Revision compacted;
  };

  rt::VirtualLoop& loop_;
  Duration slowest_sync_{};
  Content content_;
  std::vector<store::LogRecord> under_way_;
  rt::Event begun_;  // set while there are such
  std::optional<bool> hold_;
  rt::Event died_;        // set from a crash until the next process
  uint64_t process_ = 0;  // engines of earlier ones write nothing
  uint64_t lost_ = 0;
  uint64_t kept_ = 0;
};

struct HubDisk::Backup {
  Content content;
};

}  // namespace baton::sim
