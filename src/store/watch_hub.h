// WatchHub: events on their way from the store to its watches. Private to the store.
//
// All watches of one prefix share one queue and keep a place in it, so an event costs the writer one append per prefix
// that it has, whatever the number of watches. An event leaves the queue when all have read it; a watch that falls too
// far behind is cut off, so a slow one costs nobody anything. Store and watches share the hub: a watch may outlive its
// store.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "rt/event.h"
#include "store/store.h"

namespace baton::store {

// Invariants: the event in front has a reader; a watch that is not cut off has first <= cursor <= end().
struct WatchGroup {
  struct Slot {
    std::shared_ptr<const Event> event;
    size_t readers;  // watches that have not read it yet
  };
  std::string prefix;
  std::deque<Slot> slots;
  size_t bytes = 0;    // of these: Event::past_bytes
  uint64_t first = 0;  // number of the event in front, of all that were ever published here
  std::unordered_set<Watch*> watches;
  size_t readers = 0;  // watches that are not cut off
  rt::Event changed;
  bool touched = false;  // something was published and nobody woken yet

  uint64_t end() const { return first + slots.size(); }
  Slot& At(uint64_t number) { return slots[number - first]; }
  // The first event that may stay when so many bytes may: what is before it is too much.
  uint64_t KeptFrom(size_t bytes_max) const;
  void DropRead();  // what all have read
};

class WatchHub {
 public:
  WatchHub(size_t backlog_max, size_t backlog_bytes_max)
      : backlog_max_(backlog_max), backlog_bytes_max_(backlog_bytes_max) {}

  // ---- for the store ----
  void Publish(const std::shared_ptr<const Event>& event);
  void Wake(Revision committed);  // everything up to there is published: whom it concerns may look
  void Close();                   // nothing more comes

  // ---- for watches ----
  WatchGroup& Join(const std::string& prefix, Watch& watch);
  void Leave(WatchGroup& group, Watch& watch);
  Revision committed() const { return committed_; }
  bool closed() const { return closed_; }
  size_t backlog_max() const { return backlog_max_; }
  size_t backlog_bytes_max() const { return backlog_bytes_max_; }

 private:
  void Append(WatchGroup& group, const std::shared_ptr<const Event>& event);

  size_t backlog_max_;
  size_t backlog_bytes_max_;
  Revision committed_{0};
  bool closed_ = false;
  std::map<std::string, std::unique_ptr<WatchGroup>, std::less<>> groups_;  // by prefix; none without a watch
  std::vector<WatchGroup*> touched_;  // between Publish and Wake, which no other code runs between
};

}  // namespace baton::store
