// What must hold while a story goes on; what must hold at its end is in checkers_end.cc.
#include "sim/checkers.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <utility>

#include "base/strings.h"
#include "json/rfc3339.h"
#include "rollout/evacuate.h"
#include "rollout/records.h"
#include "rt/scope.h"
#include "sim/scene.h"

namespace baton::sim {
namespace {

constexpr int kMovesAtATime = 5;               // of one cluster, out or in, when nobody says otherwise
constexpr int64_t kStabilizationSeconds = 10;  // of a move that names none
constexpr Duration kWatchAgain = milliseconds(10);
constexpr Duration kRestartsWithin = seconds(1);
constexpr double kHardlyLooks = 30;               // times slower than it should be: an operator
constexpr Duration kDecidedWithin = seconds(15);  // from a look at a cluster: two at most, each with a time limit
constexpr Duration kOutagesLook = seconds(30);
constexpr Duration kSeenWithin = seconds(1);  // of what is written
constexpr int64_t kMinutesOfDay = int64_t{24} * 60;
constexpr int kBack = 100;  // ranks of phases
constexpr int kEnded = 101;

// How far a phase is on its way; those of the way back are further than all of the way there.
int RankOf(std::string_view phase) {
  constexpr std::string_view kForward[] = {"",        "Pending",   "Planned",  "Staged",   "Quiescing",
                                           "Granted", "Verifying", "Cleaning", "Succeeded"};
  const auto* found = std::ranges::find(kForward, phase);
  if (found != std::end(kForward)) return static_cast<int>(found - std::begin(kForward));
  if (phase == "Aborting" || phase == "Withdrawing") return kBack;
  return kEnded;
}

bool IsOneOf(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

bool IsManaged(const Workload& workload, const Value& object) {
  const std::string_view says = object["metadata"]["annotations"]["rollout.karmada.io/managed"].str();
  return workload.resource.kind == "FlinkDeployment" ? says != "false" : says == "true";
}

// Its owner does not want it to run.
bool IsSuspended(const Value& spec) {
  return spec["job"]["state"].str() == "suspended" || spec["suspend"].bool_or(false) || spec["replicas"].int_or(1) == 0;
}

// Whether that one of spec.windows is open, in UTC; one that ends before it starts goes on on the next day.
bool IsOpen(const Value& window, WallTime now) {
  constexpr std::string_view kDays[] = {"Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"};  // from 1970-01-01 on
  const auto minutes_of = [&](std::string_view end) {
    const std::string text(window[end].str());
    return std::atoi(text.c_str()) * 60 + std::atoi(text.c_str() + std::min<size_t>(text.size(), 3));
  };
  const int64_t minute = now.time_since_epoch() / minutes(1);
  const int64_t day = minute / kMinutesOfDay;
  const int64_t at = minute % kMinutesOfDay;
  const auto begins_on = [&](int64_t which) {
    return window["days"].empty() || std::ranges::any_of(window["days"].items(), [&](const Value& one) {
             return one.str() == kDays[which % std::ssize(kDays)];
           });
  };
  const int64_t start = minutes_of("start");
  const int64_t end = minutes_of("end");
  if (start < end) return at >= start && at < end && begins_on(day);
  return (at >= start && begins_on(day)) || (at < end && begins_on(day - 1));
}

bool Has(const Value& list, std::string_view text) {
  return std::ranges::any_of(list.items(), [&](const Value& one) { return one.str() == text; });
}

}  // namespace

void Checkers::Wrong(std::string_view which, std::string what) {
  std::string problem = StrCat(which, ": ", what);
  if (std::ranges::find(problems, problem) != problems.end()) return;
  if (story_ != nullptr) story_->Tell("checker", problem);
  if (on_wrong != nullptr) on_wrong(problem);
  problems.push_back(std::move(problem));
}

std::vector<Workload> Checkers::workloads() const {
  std::vector<Workload> all;
  all.reserve(owned_.size());
  for (const Owned& owned : owned_) all.push_back(owned.workload);
  return all;
}

void Checkers::Owns(const Workload& workload, const Value& object) {
  const auto at = std::ranges::find_if(owned_, [&](const Owned& one) { return one.workload == workload; });
  if (at != owned_.end()) {
    at->object = object;
    return;
  }
  if (!object.is_null() && IsManaged(workload, object))
    owned_.push_back({.workload = workload, .key = workload.Key(), .object = object});
  Look();  // it may run already, and the next change be that it stops
}

void Checkers::DeletesNamespace(std::string_view ns) {
  for (Owned& owned : owned_) {
    if (owned.workload.name.ns == ns) owned.object = Value();
  }
}

// After every step of anything: the processes themselves.
void Checkers::Look() {
  if (owned_.empty()) return;
  if (clusters_.size() != world_.member_count()) {
    for (const std::string& name : world_.members()) clusters_[name] = &world_.practice(name);
  }
  for (Owned& owned : owned_) {
    uint64_t running = 0;
    uint64_t bit = 1;
    for (const auto& [name, practice] : clusters_) {
      if (RunsIn(*practice, owned.workload.resource.kind, owned.key)) running |= bit;
      bit <<= 1U;
    }
    if (running == owned.running) continue;
    std::string where;
    bit = 1;
    for (const auto& [name, practice] : clusters_) {
      const bool runs = (running & bit) != 0;
      if (story_ != nullptr && runs != ((owned.running & bit) != 0))
        story_->Tell(StrCat("cluster ", name), StrCat(owned.workload.Text(), runs ? " runs" : " stopped"));
      if (runs) StrAppend(where, where.empty() ? "" : " and ", name);
      if (!runs && (owned.running & bit) != 0) owned.last = name;
      bit <<= 1U;
    }
    if (IsDown(owned)) longest_outage_ = std::max(longest_outage_, world_.loop().Now() - owned.since);
    owned.running = running;
    owned.before = world_.loop().Now() - owned.since;
    owned.since = world_.loop().Now();
    owned.ran = true;
    if (std::popcount(running) < 2 || owned.two) continue;
    owned.two = true;
    Wrong("I1", StrCat("two writers of ", owned.workload.Text(), " at once, in ", where));
  }
}

rt::Task<void> Checkers::Follow() {
  rt::Scope scope(world_.loop());
  for (const kube::Resource& resource :
       {kMigrations, kWriters, federation::kClusters, rollout::kEvacuations, federation::kOverridePolicies})
    scope.Spawn(FollowOne(resource));
  scope.Spawn(FollowOutages());
  co_await scope.Join();
}

// It has run, its template is there, and its owner wants it.
bool Checkers::IsMeantToRun(const Owned& owned) {
  return owned.ran && !owned.object.is_null() && !IsSuspended(owned.object["spec"]);
}

Duration Checkers::longest_outage() const {
  Duration longest = longest_outage_;
  for (const Owned& owned : owned_) {
    if (IsDown(owned)) longest = std::max(longest, world_.loop().Now() - owned.since);
  }
  return longest;
}

rt::Task<void> Checkers::FollowOutages() {
  while (true) {
    co_await world_.loop().Sleep(kOutagesLook);
    for (size_t i = 0; i < owned_.size(); ++i) {
      const Owned owned = owned_[i];
      const auto down = [&] { return IsDown(owned_[i]) && world_.loop().Now() - owned_[i].since > kToldWithin; };
      const bool untold = down() && !co_await IsExplained(owned, Told::kWaits) && down();
      // Not what is started in this moment, when there is nothing more to tell.
      if (untold && std::exchange(owned_[i].untold, untold))
        Wrong("I3", StrCat(owned.workload.Text(), " has not run for ", kToldWithin / minutes(1),
                           " minutes, and no status says why"));
      owned_[i].untold = untold;
    }
  }
}

rt::Task<void> Checkers::FollowOne(kube::Resource resource) {
  std::string version;
  while (true) {
    auto watch = co_await world_.hub().OpenWatch({.resource = resource, .resource_version = version},
                                                 rt::Deadline::After(world_.loop(), kube::kCallTimeout));
    if (!watch.ok()) version.clear();  // a hub that was restored does not know it
    while (watch.ok()) {
      const auto changes = co_await (*watch)->Next();
      if (!changes.ok()) break;
      for (const kube::Change& change : *changes) {
        const Value& object = change.object;
        version = kube::VersionOf(object);
        if (change.type == kube::ChangeType::kBookmark || forgot_ == world_.loop().Now()) continue;
        const bool gone = change.type == kube::ChangeType::kDeleted;
        if (resource.kind == kMigrations.kind && gone) moves_.erase(std::string(kube::UidOf(object)));
        if (resource.kind == kMigrations.kind && !gone) MoveChanged(object);
        if (resource.kind == kWriters.kind && gone) writers_.erase(kube::Name::Of(object).Key());
        if (resource.kind == kWriters.kind && !gone) WriterChanged(object);
        if (resource.kind == federation::kClusters.kind) cluster_objects_[std::string(kube::NameOf(object))] = object;
        if (resource.kind == federation::kOverridePolicies.kind && !gone) CheckOfNoRefused(object);
        if (resource.kind == rollout::kEvacuations.kind) drains_[std::string(kube::NameOf(object))] = object;
      }
    }
    co_await world_.loop().Sleep(kWatchAgain);
  }
}

// ---- moves ----

void Checkers::MoveChanged(const Value& migration) {
  const std::string uid(kube::UidOf(migration));
  const Move before = moves_[uid];
  const std::string phase(migration["status"]["phase"].str());
  Move& now = moves_[uid];
  now.phase = phase;
  now.granted = before.granted || IsOneOf(phase, {"Granted", "Verifying", "Cleaning", "Succeeded"});
  now.attempt = migration["status"]["attempt"].int_or(0);
  now.source = migration["status"]["source"].str();
  now.target = migration["status"]["target"].str();
  if (now.target.empty()) now.target = migration["spec"]["target"].str();
  now.spec = migration["spec"];
  now.of_a_drain = migration["metadata"]["labels"].Has(rollout::kDrainLabel);
  CheckBudgets(migration, phase);
  if (phase == before.phase) return;
  if (RankOf(phase) >= kEnded || phase == "Succeeded") ended_.insert(uid);
  if (story_ != nullptr && !phase.empty())
    story_->Tell("move", StrCat(kube::NameOf(migration), " is ", phase, ": ", migration["status"]["message"].str()));
  if (!meddles_with_statuses_) CheckPhase(migration, before, phase);
  // Before anything can have been stopped for it.
  if (before.phase.empty() && IsOneOf(phase, {"Planned", "Staged"}))
    now.idle_before = !RunsThere(kube::NamespaceOf(migration), now.spec["workload"], now.source);
  CheckEnd(migration, now, phase);
  if (before.phase.empty()) CheckMovesAtATime(now);
}

// What was told as refused has no effects.
void Checkers::CheckOfNoRefused(const Value& policy) {
  if (meddles_with_statuses_) return;
  for (const auto& [uid, move] : moves_) {
    if (move.phase == "Rejected" && kube::NameOf(policy) == rollout::OverrideName(uid))
      Wrong("I6", StrCat("a move that was told as refused goes on: OverridePolicy ", kube::NameOf(policy)));
  }
}

void Checkers::CheckPhase(const Value& migration, const Move& before, const std::string& phase) {
  const std::string step = StrCat(kube::NameOf(migration), ": ", before.phase, " -> ", phase);
  if (RankOf(before.phase) >= kEnded || before.phase == "Succeeded")
    Wrong("I6", StrCat("a move that had ended goes on: ", step));
  // An abort whose source is lost is turned by a person, by name, and by nothing else; what follows is another attempt.
  const bool turned = before.phase == "Aborting" && RankOf(phase) >= RankOf("Quiescing") &&
                      migration["status"]["attempt"].int_or(0) > before.attempt &&
                      migration["spec"]["attestation"]["abortedAttempt"].int_or(0) == before.attempt;
  if (RankOf(phase) < RankOf(before.phase) && !turned) Wrong("I6", StrCat("progress goes backwards: ", step));
  if (IsOneOf(phase, {"Aborting", "Aborted"}) && before.granted)
    Wrong("I5", StrCat("an abort after the grant, where only a handoff leads back: ", step));
  // Nothing is withdrawn from a target that a person says is lost.
  if (phase == "RolledBack" && before.phase != "Withdrawing" && !migration["spec"]["attestation"].is_object())
    Wrong("I5", StrCat("rolled back without having withdrawn: ", step));
  if (phase == "Rejected" && RankOf(before.phase) > RankOf("Pending"))
    Wrong("I6", StrCat("refused after it had begun: ", step));
}

// Of a workload that the story owns; true of others, and where the cluster is gone.
bool Checkers::RunsThere(std::string_view ns, const Value& of, const std::string& cluster) const {
  const std::string key = StrCat(ns, "/", of["name"].str());
  for (const Owned& owned : owned_) {
    if (owned.key != key || owned.workload.resource.kind != of["kind"].str() || owned.object.is_null()) continue;
    // Its last render, without what was the move's, may have made its own controller start it again.
    const bool restarts =
        owned.running == 0 && owned.last == cluster && world_.loop().Now() - owned.since <= kRestartsWithin;
    if (!world_.has_member(cluster) || restarts || RunsIn(world_, owned.workload, cluster)) continue;
    // Practice operators of other kinds than Flink's call a process ready while it begins.
    const std::string& kind = owned.workload.resource.kind;
    const practice::Job* process = ProcessOf(world_.practice(cluster), kind, owned.key);
    const bool begins =
        kind != "FlinkDeployment" && process != nullptr && process->phase() == practice::JobPhase::kInitializing;
    if (!begins) return false;
  }
  return true;
}

// At the moment in which an end is put on record, or in which it is told, it is true: what is told late may have been
// undone since, by who deleted the workload there. What did not run before does not run after an abort, either,
// nor need what was never told to stop.
void Checkers::CheckEnd(const Value& migration, const Move& move, const std::string& phase) {
  if (!IsOneOf(phase, {"Succeeded", "Aborted", "RolledBack"})) return;
  // It is as it was, then: whether it runs, the move has nothing to do with.
  if (phase == "Aborted" && (move.idle_before || !move.stops)) return;
  if (operators_forget_) return;
  const std::string& cluster = phase == "Succeeded" ? move.target : move.source;
  if (!cluster.empty() && move.ran_at_its_end == cluster) return;
  if (world_.has_member(cluster) && TellsWhatIsNot(cluster)) return;
  if (RunsThere(kube::NamespaceOf(migration), migration["spec"]["workload"], cluster)) return;
  Wrong("I6", StrCat(kube::NameOf(migration), " says ", phase, ", and ", migration["spec"]["workload"]["kind"].str(),
                     "/", migration["spec"]["workload"]["name"].str(), " does not run in ",
                     cluster.empty() ? "any cluster that it names" : cluster));
}

// What is decided is what a cluster's operator says: one that lies, stalls, or is slow to look says what is not so, or
// is no longer.
bool Checkers::TellsWhatIsNot(const std::string& cluster) const {
  const practice::Faults& faults = world_.practice(cluster).faults();
  return faults.stall_operator > Duration{} || faults.slow >= kHardlyLooks || world_.LiedWithin(cluster, kLastCalls);
}

// Practice operators of other kinds than Flink's call a process ready while it begins, which takes long in a slow
// cluster. One that had stopped there has begun before.
bool Checkers::BeginsUnseen(const Owned& owned, const std::string& cluster) {
  return owned.workload.resource.kind != "FlinkDeployment" && owned.last != cluster;
}

void Checkers::EndIsRecorded(const Value& before, const Value& writer) {
  const Value& ended = writer["spec"]["ended"];
  const auto move = moves_.find(std::string(ended["migrationUID"].str()));
  if (ended == before["spec"]["ended"] || move == moves_.end()) return;
  const std::string holder(writer["spec"]["holder"]["cluster"].str());
  if (RunsThere(kube::NamespaceOf(writer), move->second.spec["workload"], holder)) move->second.ran_at_its_end = holder;
}

// From here on the source goes: the target has run for as long as was asked for, without a break. For half of that time
// at least: a process that restarts between two looks of its operator is in no status, nor is what one that lags has
// not seen yet. The record is looked at, not the status: that may be told long after, when somebody has stopped it.
void Checkers::CheckStable(const Value& before, const Value& writer) {
  const Value& claim = writer["spec"]["claim"];
  if (!claim["verified"].bool_or(false) || before["spec"]["claim"]["verified"].bool_or(false)) return;
  const auto move = moves_.find(std::string(claim["migrationUID"].str()));
  if (move == moves_.end()) return;
  const Duration asked = seconds(move->second.spec["stabilizationSeconds"].int_or(kStabilizationSeconds));
  const Value& of = move->second.spec["workload"];
  const std::string key = StrCat(kube::NamespaceOf(writer), "/", of["name"].str());
  for (const Owned& owned : owned_) {
    if (owned.key != key || owned.workload.resource.kind != of["kind"].str()) continue;
    const Duration lasts = world_.loop().Now() - owned.since;
    // It was stopped while that was decided: by who deleted it, say.
    const Duration ran = lasts <= kDecidedWithin ? owned.before : Duration{};
    const Duration stable = owned.running == 0 ? ran : lasts;
    const std::string& target = move->second.target;
    if (TellsWhatIsNot(target) || BeginsUnseen(owned, target)) continue;
    if (stable < asked / 2)
      Wrong("I6", StrCat("the source of ", claim["migration"].str(), " goes when its target has run for ",
                         stable / seconds(1), " s without a break, and ", asked / seconds(1), " s were asked for"));
  }
}

void Checkers::CheckBudgets(const Value& migration, const std::string& phase) {
  const Value& spec = migration["spec"];
  const std::string_view annotated = migration["metadata"]["annotations"][rollout::kApproveAnnotation].str();
  const int rank = RankOf(phase);
  for (const auto& [gate, from] : {std::pair("BeforeQuiesce", "Quiescing"), std::pair("BeforeCleanup", "Cleaning")}) {
    if (rank < RankOf(from) || rank >= kBack || !Has(spec["approvals"], gate)) continue;
    if (Has(spec["approved"], gate) || annotated.find(gate) != std::string_view::npos) continue;
    Wrong("I7", StrCat(kube::NameOf(migration), " is ", phase, " without its approval ", gate));
  }
  const Result<WallTime> opens = json::ParseTime(spec["notBefore"].str());
  if (opens.ok() && phase == "Quiescing" && world_.loop().WallNow() < *opens)
    Wrong("I7", StrCat(kube::NameOf(migration), " stops the workload before ", spec["notBefore"].str()));
}

int Checkers::LimitOf(const std::string& cluster, bool out) const {
  int limit = kMovesAtATime;
  const auto object = cluster_objects_.find(cluster);
  if (object != cluster_objects_.end()) {
    const std::string text(
        object->second["metadata"]["annotations"][out ? rollout::kMaxOutAnnotation : rollout::kMaxInAnnotation].str());
    if (!text.empty()) limit = std::atoi(text.c_str());
  }
  const auto drain = drains_.find(cluster);
  const bool home = drain != drains_.end() && drain->second["spec"]["return"].bool_or(false);
  if (drain != drains_.end() && home != out && drain->second["spec"]["maxConcurrent"].is_int())
    limit = static_cast<int>(drain->second["spec"]["maxConcurrent"].int_or(limit));
  return limit;
}

// Asked when a drain has begun one more.
void Checkers::CheckMovesAtATime(const Move& move) {
  if (!move.of_a_drain) return;
  int out = 0;
  int in = 0;
  for (const auto& [uid, other] : moves_) {
    const bool ended = RankOf(other.phase) >= kEnded || other.phase == "Succeeded";
    if (ended) continue;
    out += other.source == move.source ? 1 : 0;
    in += other.target == move.target ? 1 : 0;
  }
  if (out > LimitOf(move.source, true))
    Wrong("I7", StrCat(out, " moves leave ", move.source, " at a time, and ", LimitOf(move.source, true), " may"));
  if (in > LimitOf(move.target, false))
    Wrong("I7", StrCat(in, " moves enter ", move.target, " at a time, and ", LimitOf(move.target, false), " may"));
}

// ---- who may write ----

void Checkers::WriterChanged(const Value& writer) {
  const std::string key = kube::Name::Of(writer).Key();
  const Value before = writers_[key];
  writers_[key] = writer;
  CheckReceipts(writer);
  if (before.is_null()) return;
  const Value& was = before["spec"];
  const Value& is = writer["spec"];
  if (is["seq"].int_or(0) < was["seq"].int_or(0))
    Wrong("I5", StrCat("the number of ", key, " went from ", was["seq"].ToString(), " to ", is["seq"].ToString()));
  const auto move = moves_.find(std::string(is["claim"]["migrationUID"].str()));
  if (move != moves_.end() && is["stop"].is_object()) move->second.stops = true;
  CheckWindow(before, writer);
  CheckStable(before, writer);
  EndIsRecorded(before, writer);
  const std::string_view from = was["holder"]["cluster"].str();
  const std::string_view to = is["holder"]["cluster"].str();
  if (from == to || from.empty()) return;
  if (was["workload"]["uid"] != is["workload"]["uid"]) return;  // another workload of that name, with its own beginning
  if (story_ != nullptr) story_->Tell("writer", StrCat(key, ": ", from, " -> ", to));
  const Value& receipt = is["receipt"];
  const bool proven = receipt["from"].str() == from && receipt["to"].str() == to &&
                      receipt["seq"].int_or(0) > was["receipt"]["seq"].int_or(0) &&
                      is["seq"].int_or(0) > was["seq"].int_or(0);
  if (!proven)
    Wrong("I5",
          StrCat("the writer of ", key, " went from ", from, " to ", to, " without a receipt: ", receipt.ToString()));
}

// A source is stopped at its time only. How the engine reads windows is not asked: this is to find out whether it does.
void Checkers::CheckWindow(const Value& before, const Value& writer) {
  const Value& claim = writer["spec"]["claim"];
  const Value& stop = writer["spec"]["stop"];
  const bool new_stop = stop.is_object() && stop["seq"] != before["spec"]["stop"]["seq"] &&
                        stop["cluster"] == claim["source"]["cluster"] && claim["intent"].str() == "Forward";
  const auto move = moves_.find(std::string(claim["migrationUID"].str()));
  if (!new_stop || move == moves_.end()) return;
  const Value& spec = move->second.spec;
  if (spec["windows"].empty() || !spec["attestation"].is_null()) return;
  const WallTime now = world_.loop().WallNow();
  // It is seen a moment later than it was written.
  const bool open = std::ranges::any_of(spec["windows"].items(), [&](const Value& window) {
    return IsOpen(window, now) || IsOpen(window, now - kSeenWithin);
  });
  if (!open)
    Wrong("I7", StrCat(claim["migration"].str(), " stops the workload at ", json::FormatTime(now),
                       ", outside of its windows ", spec["windows"].ToString()));
}

// Each receipt has the hash of the one before it.
void Checkers::CheckReceipts(const Value& writer) {
  std::vector<Value> chain(writer["spec"]["receipts"].items().begin(), writer["spec"]["receipts"].items().end());
  if (writer["spec"]["receipt"].is_object()) chain.push_back(writer["spec"]["receipt"]);
  for (size_t i = 0; i < chain.size(); ++i) {
    const std::string key = kube::Name::Of(writer).Key();
    if (chain[i]["hash"].str() != rollout::ReceiptHash(chain[i]))
      Wrong("I6", StrCat("receipt ", chain[i]["seq"].ToString(), " of ", key, " does not have its own hash"));
    if (i > 0 && chain[i]["previousHash"].str() != chain[i - 1]["hash"].str())
      Wrong("I6", StrCat("receipt ", chain[i]["seq"].ToString(), " of ", key, " does not follow the one before it"));
  }
}

}  // namespace baton::sim
