// Checkers: what must hold in every story, whatever it is about, looked at from outside: the processes in the practice
// clusters, their sources and sinks, the objects on hub and members, and what a person could see. Nothing of the engine
// is asked.
//
//   I1 one writer          never two processes of one workload, after every step of anything; nor two in the sink
//   I2 nothing lost        the judge: no record lost, no state wrong; none twice where the kind promises exactly once
//   I3 somebody runs       for minutes nobody does, or at the end: a status says why not
//   I4 no residue          at the end nothing of a move is left, and the template is as its owner wrote it
//   I5 direction           who may write changes only with a receipt, numbers only grow; back is never forward again
//   I6 honest status       an end is told when it is true; progress does not go backwards; receipts are chained
//   I7 budgets             no more moves at a time than allowed; nothing before its approval or its time
//   L1 liveness            when faults have stopped, every move comes to its end, or says who must act
//
//   Checkers checkers(world, story);
//   scope.Spawn(checkers.Follow());                        // looks at the hub's objects as they change
//   world.loop().OnEveryStep([&] { checkers.Look(); });
//   checkers.Owns(workload, object);                       // whenever the story itself has written a template
//   co_await checkers.AtTheEnd();                          // faults have stopped
//   checkers.problems
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"
#include "sim/story.h"
#include "sim/workloads.h"
#include "sim/world.h"

namespace baton::sim {

inline constexpr Duration kLastCalls = seconds(40);  // of a call that was under way when faults stopped, and a bit
// Nobody runs for longer: somebody is told why. (Leaders, hubs and operators that are down tell nothing; they are back
// by then.)
inline constexpr Duration kToldWithin = minutes(5);

class Checkers {
 public:
  // Both outlive this; `story` may be null.
  Checkers(World& world, Story* story) : world_(world), story_(story) {}
  Checkers(const Checkers&) = delete;
  Checkers& operator=(const Checkers&) = delete;
  ~Checkers() = default;

  std::vector<std::string> problems;
  std::function<void(const std::string& problem)> on_wrong;  // for who wants to know at once

  // A template as its owner wrote it; null: they deleted it.
  void Owns(const Workload& workload, const json::Value& object);
  // Their owner deleted the namespace, and with it all templates in it.
  void DeletesNamespace(std::string_view ns);
  // A backup is put back: numbers and phases begin anew from there.
  void HubForgets() {
    moves_.clear();
    writers_.clear();
    forgot_ = world_.loop().Now();
  }
  // Without a receipt, with a number of their own.
  void PersonSaysWhoWrites() { writers_.clear(); }
  // The story meddles with bindings or overrides: what is left there may be its own.
  void MeddlesWithBindings() { meddles_ = true; }
  // An operator that forgot a status starts its job again, whatever a move says meanwhile.
  void OperatorsForget() { operators_forget_ = true; }
  // It writes what a move says itself.
  void MeddlesWithStatuses() { meddles_with_statuses_ = true; }

  void Look();
  rt::Task<void> Follow();
  rt::Task<void> AtTheEnd();
  rt::Task<void> NothingIsLeft();  // I4 alone; all moves are over

  std::vector<Workload> workloads() const;  // that have one writer
  size_t moves_ended() const { return ended_.size(); }
  Duration longest_outage() const;  // for which one of them ran nowhere, and was meant to

 private:
  struct Owned {
    Workload workload;
    std::string key;
    json::Value object;     // as its owner wrote it; null: it is gone
    uint64_t running = 0;   // where: bits
    MonotonicTime since{};  // it runs there, and nowhere else
    Duration before{};      // for how long it was as it was before that
    std::string last;       // where it ran, of where it runs no more since then
    bool ran = false;
    bool two = false;
    bool untold = false;  // at the last look nobody was told why it runs nowhere
  };
  struct Move {
    std::string phase;
    bool granted = false;
    int64_t attempt = 0;
    std::string source, target;
    std::string ran_at_its_end;  // where its workload ran when the Writer said that it had ended
    bool stops = false;          // its workload was told to stop
    bool of_a_drain = false;
    json::Value spec;
    bool idle_before = false;  // its workload did not run when the move was first told: a job that had failed, say
  };

  void Wrong(std::string_view which, std::string what);
  rt::Task<void> FollowOne(kube::Resource resource);
  rt::Task<void> FollowOutages();
  static bool IsMeantToRun(const Owned& owned);
  static bool IsDown(const Owned& owned) { return owned.running == 0 && IsMeantToRun(owned); }
  void MoveChanged(const json::Value& migration);
  void CheckOfNoRefused(const json::Value& policy);
  void CheckPhase(const json::Value& migration, const Move& before, const std::string& phase);
  void CheckEnd(const json::Value& migration, const Move& move, const std::string& phase);
  bool RunsThere(std::string_view ns, const json::Value& of, const std::string& cluster) const;
  bool TellsWhatIsNot(const std::string& cluster) const;
  static bool BeginsUnseen(const Owned& owned, const std::string& cluster);
  void EndIsRecorded(const json::Value& before, const json::Value& writer);
  void CheckStable(const json::Value& before, const json::Value& writer);
  void CheckBudgets(const json::Value& migration, const std::string& phase);
  void CheckMovesAtATime(const Move& move);
  void WriterChanged(const json::Value& writer);
  void CheckWindow(const json::Value& before, const json::Value& writer);
  void CheckReceipts(const json::Value& writer);
  int LimitOf(const std::string& cluster, bool out) const;

  rt::Task<void> UntilAllEnded();
  enum class Told : uint8_t {
    kWaits,  // a move that is under way says what it waits for
    kAsks,   // a person is asked
  };
  rt::Task<bool> IsExplained(const Owned& owned, Told least);
  rt::Task<void> CheckJudge(const Owned& owned);
  rt::Task<void> CheckRuns(const Owned& owned);
  rt::Task<void> CheckNoResidueOnHub();
  rt::Task<void> CheckNoResidueOf(const Owned& owned);
  rt::Task<void> CheckNoResidueIn(std::string cluster);

  World& world_;
  Story* story_;
  std::vector<Owned> owned_;
  std::map<std::string, practice::PracticeCluster*> clusters_;
  std::map<std::string, Move> moves_;                   // by uid
  std::map<std::string, json::Value> writers_;          // as they were, by "ns/name"
  std::map<std::string, json::Value> cluster_objects_;  // by name
  std::map<std::string, json::Value> drains_;           // by cluster
  std::set<std::string> ended_;                         // moves, by uid
  Duration longest_outage_{};                           // of those that are over
  std::optional<MonotonicTime> forgot_;                 // what still comes in that moment is of before
  bool meddles_ = false;
  bool meddles_with_statuses_ = false;
  bool operators_forget_ = false;
};

}  // namespace baton::sim
