// Profile: how workloads of one kind are held, stopped, started and judged, so that the migration engine needs to know
// no kind. Made from a MigrationProfile object; built in for the kinds of builtin_profiles.h.
//
//   Profile flink = TRY(Profile::Compile(object));
//   Value held = TRY(flink.Held(manifest, {.seq = 7}));
//   Judgement now = TRY(flink.Judge(observed, related, {.stop_seq = 8, .state_dir = "s3://…/8", ...}));
//
// A profile says, in spec:
//   target      {apiVersion, kind}
//   guarantee   ExactlyOnce, AtLeastOnce or FencedOnly: what a move with it gives
//   captureFallbacks   [LastCheckpoint]: Judge gives the newest state as the capture where q.lastCheckpoint asks for it
//   epoch       JSON pointer to where the epoch goes: a string that the workload's own operator ignores
//   parse       pointers to strings in the object that hold JSON; Judge sees them parsed
//   related     what else is looked at: [{apiVersion, kind, name or labelSelector}], with ${name} ("*": all);
//               selector instead is a pointer to a LabelSelector in the object; keep: true is only looked at, and may
//               stay when the workload goes; others: labels (a selector; "*": any) of what is somebody else's when its
//               controller is neither the workload nor found by name here. What has no controller always counts
//   probe       an object that is made beside the started workload; Judge sees it; with ${name} and ${seq}
//   optIn       true: only workloads with the annotation rollout.karmada.io/managed: "true" are managed
//   passThrough pointers to what may change in place: an edit of nothing else is no new revision (blue-green upgrades)
//   staged      true: the target must be there, held, before it can be started (only on Baton's own hub)
//   hold, run, stop    what is set, as [{path, value}]; parents are made. ${name} ${seq} ${ref} ${stateDir} ${cluster}
//               ${peer} are filled in: the cluster it is for, and the other one of the move
//   script      Lua, where that is not enough: Hold, Stop, Run (object, question) give further [{path, value}];
//               Judge(object, related, question) judges; Preflight(object) lists problems; StateDir(object, name) says
//               where a stop captures its state; IsHeld(object) where `hold` fills something in.
//               Beside(object, related, question) gives objects that must be beside it in its cluster: while it stops,
//               and before it starts (it is held then). They are applied, and removed at the end of the move unless
//               annotated rollout.karmada.io/keep: "true"; {remove = true, …, metadata = {name, uid}} is deleted; for
//               the workload itself only annotations are taken. Prepared(object, related, question) gives "" when it
//               may be started, else what is missing
//
// What run sets beyond the pinned spec must be removable without the workload noticing: the validation of profiles asks
// for it (`inert`: the pointers that may be taken away).
//
// Pure but for the Lua pool and a memory of its answers (profile_memo.h). Errors name profile, field or line.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "interpret/handlers.h"
#include "interpret/lua_vm.h"
#include "json/pointer.h"
#include "json/selector.h"
#include "json/value.h"

namespace baton::interpret {

inline constexpr size_t kProfileSettingsMax = 256;  // of hold, run or stop
inline constexpr size_t kProfileRelatedMax = 16;
inline constexpr size_t kProfileBesideMax = 64;

inline constexpr std::string_view kBesideLabel = "rollout.karmada.io/beside";  // the move that made it
inline constexpr std::string_view kBesideKeep = "rollout.karmada.io/keep";     // annotation: it outlives the move

// What a form or a judgement is about.
struct Question {
  int64_t seq = 0;        // the epoch
  std::string ref;        // the state to start from; "": its own
  bool redeploy = false;  // the object ran before: it must be told to start from ref anew
  std::string state_dir;  // where the stop captures, as StateDir() gave it
  bool any_way = false;   // Stop: it need not run any more to be stopped; what it left behind is judged afterwards
  bool last_checkpoint = false;  // Judge: the newest state that it left is its capture, though the stop did not make it
  int64_t stop_seq = -1;         // Judge: the stop that is to be proven; -1: none
  std::string prior_path;        // Judge: what the workload called its state before the stop
  std::string began_from;        // Judge: what it was granted with here, by the move that brought it; "": not known
  std::string start_ref;         // Judge: what it was started from, when it was
  int64_t start_seq = -1;        // Judge: the epoch it was started with; -1: not by us
  std::string cluster;           // where it is; "": any
  std::string peer;              // the other cluster of the move; "": there is none

  bool operator==(const Question&) const = default;
};

// One look at the member's object. All false and empty when nothing is known.
struct Judgement {
  bool held = false;  // the spec says that it must not run
  bool runs = false;  // it runs, says its operator
  bool stop_proven = false;
  std::string capture;
  std::string stop_missing;
  std::string stop_failed;
  std::string state_lost;  // told to run on it would begin from nothing, and why; "": it would not
  bool ending = false;     // it is being ended without a capture: whether it leaves a state shows when it has ended
  bool in_hand = false;    // it runs, and its operator may have an order in hand that ends it without a capture
  bool unsure = false;     // ended now without a capture it may be said to have an older state than it has
  bool start_proven = false;
  std::string start_missing;
  std::string start_failed;
  bool probe_spent = false;  // the probe has ended and shows nothing: another one is to be made
  std::string progress;      // "none", "some", "" unknown
  std::string prior_path;
};

struct Related {
  std::string api_version;
  std::string kind;
  std::string name;                           // with ${name}
  std::string label_selector;                 // with ${name}
  std::string selector;                       // JSON pointer to a LabelSelector in the object
  bool keep = false;                          // looked at, and may stay when the workload goes
  std::optional<json::LabelSelector> others;  // labels of what is not the workload's if its controller is not
};

class ProfileMemo;

class Profile {
 public:
  static Result<std::shared_ptr<const Profile>> Compile(const json::Value& object);

  const std::string& name() const { return name_; }
  const KindName& kind() const { return kind_; }
  const std::string& guarantee() const { return guarantee_; }
  bool has_last_checkpoint() const { return has_last_checkpoint_; }  // captureFallback: LastCheckpoint can be asked for
  const std::vector<Related>& related() const { return related_; }   // names still with ${name}
  const std::vector<std::string>& pass_through() const { return pass_through_; }
  const std::string& epoch_pointer() const { return epoch_; }
  bool opt_in() const { return opt_in_; }  // only workloads that ask for it are managed
  // It must be there, held, before it can be started: not where a target is first created when it may run.
  bool needs_staging() const { return staged_ || HasBeside(); }
  // Whether something that this rule found by labels is surely another workload's. In doubt it is not.
  bool IsOfAnother(const Related& related, std::string_view name, const json::Value& found) const;
  // The object that is made beside a started workload to prove it; null: none.
  json::Value Probe(std::string_view name, std::string_view ns, int64_t seq) const;

  // ---- forms of a manifest; each carries the epoch ----
  Result<json::Value> Stamped(json::Value object, int64_t seq) const;
  Result<json::Value> Held(json::Value object, const Question& question) const;
  Result<json::Value> Stopping(json::Value object, const Question& question) const;
  Result<json::Value> Running(json::Value object, const Question& question) const;
  int64_t EpochOf(const json::Value& object) const;  // -1: none
  bool IsHeld(const json::Value& object) const;      // as `hold` would leave it
  struct Setting {
    std::string path;
    json::Value value;
  };
  // What a held one has, where that can be said by values alone; empty: only a script knows.
  std::vector<Setting> HeldBy() const;

  // ---- judging ----
  // `related`: {remains: [objects found by related()], kept: [those with keep], probe: the probe's object};
  // probeUnavailable: the cluster does not serve its kind.
  Result<Judgement> Judge(const json::Value& object, const json::Value& related, const Question& question) const;
  Result<std::vector<std::string>> Preflight(const json::Value& object) const;
  bool HasBeside() const;
  // Something must be seen in the cluster before it may be started there.
  bool prepares() const;
  Result<std::vector<json::Value>> Beside(const json::Value& object, const json::Value& related,
                                          const Question& question) const;
  // "": it may be started.
  Result<std::string> Prepared(const json::Value& object, const json::Value& related, const Question& question) const;
  // The directory of one stop: `name` is unique. "": the kind captures nothing.
  Result<std::string> StateDir(const json::Value& object, const std::string& name) const;

  uint64_t questions_missed() const;  // how many the script had to be asked, because they were new

 private:
  Result<json::Value> Form(json::Value object, const std::vector<Setting>& settings, std::string_view function,
                           const Question& question) const;
  Result<json::Value> MakeForm(json::Value object, const std::vector<Setting>& settings, std::string_view function,
                               const Question& question) const;
  bool AsksIsHeld(const json::Value& object) const;
  bool Defines(std::string_view function) const;
  json::Value Parsed(const json::Value& object) const;
  static Result<std::vector<Setting>> CompileSettings(const json::Value& list, std::string_view field);

  std::string name_;
  KindName kind_;
  std::string guarantee_;
  bool has_last_checkpoint_ = false;
  std::string epoch_;
  std::vector<std::string> parse_;
  std::vector<Related> related_;
  json::Value probe_;
  bool opt_in_ = false;
  std::vector<std::string> pass_through_;
  bool staged_ = false;
  std::vector<Setting> hold_, run_, stop_;
  std::shared_ptr<const LuaScript> script_;
  std::vector<std::string> functions_;  // that the script defines
  std::shared_ptr<LuaPool> pool_;
  std::shared_ptr<ProfileMemo> memo_;
};

// "${name}" filled in.
std::string WithName(std::string_view text, std::string_view name);

// How a list is asked for what this rule is about, in a workload of that name and spec. matchExpressions are left out:
// more is found, never less.
std::string SelectorFor(const Related& related, std::string_view name, const json::Value& object);

// The profiles that come with Baton, as objects a user could have written.
std::vector<json::Value> BuiltinProfiles();

}  // namespace baton::interpret
