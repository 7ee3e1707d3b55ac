// Events: what kubectl describe shows at the end. Recording costs nothing and never fails; a task writes them.
//
//   EventRecorder events(hub, "baton-rollout");
//   scope.Spawn(events.Run());
//   events.Normal(migration, "Granted", "the writer is now in cluster green");
//
// The same event again (object, type, reason, message) raises the count of the first. Limits keep a loop that goes
// wrong from filling the hub: each object has a budget that refills slowly, and the queue is bounded; what is beyond is
// dropped and counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "json/value.h"
#include "kube/api.h"
#include "rt/event.h"
#include "rt/task.h"

namespace baton::kube {

inline constexpr size_t kEventsQueuedMax = 1000;
inline constexpr size_t kEventsKnownMax = 4096;          // remembered for aggregation, the least recent goes first
inline constexpr double kEventsBurst = 25;               // of one object, as client-go
inline constexpr Duration kEventsRefill = seconds(300);  // one more after each
inline constexpr size_t kEventMessageBytesMax = 1024;    // Kubernetes' own limit

const Resource& EventsResource();

class EventRecorder {
 public:
  EventRecorder(Api& api, std::string component, std::string instance = {});

  // About any object of the API; its apiVersion, kind, name, namespace, uid and resourceVersion are kept.
  void Normal(const json::Value& about, std::string_view reason, std::string_view message);
  void Warning(const json::Value& about, std::string_view reason, std::string_view message);

  // Writes what is recorded until it is dropped.
  rt::Task<void> Run();
  bool idle() const { return queue_.empty() && !writing_; }
  size_t dropped() const { return dropped_; }

 private:
  struct Pending {
    std::string identity;
    json::Value event;
  };
  struct Known {
    std::string identity;
    json::Value written;  // the event as the server has it
  };
  struct Budget {
    double tokens = kEventsBurst;
    MonotonicTime since{};
  };

  void Record(const json::Value& about, std::string_view type, std::string_view reason, std::string_view message);
  bool Spend(const std::string& object);
  rt::Task<Result<void>> Write(const Pending& pending);
  void Remember(std::string identity, json::Value written);

  Api& api_;
  std::string component_;
  std::string instance_;
  std::deque<Pending> queue_;
  rt::Event something_;
  bool writing_ = false;
  std::list<Known> known_;  // most recent first
  std::map<std::string, std::list<Known>::iterator, std::less<>> known_by_identity_;
  std::map<std::string, Budget, std::less<>> budgets_;
  size_t dropped_ = 0;
};

}  // namespace baton::kube
