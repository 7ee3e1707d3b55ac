// Two disturbances in one move.
#include "sim/pairs.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "base/strings.h"
#include "json/parse.h"
#include "rt/random.h"
#include "rt/test_support.h"
#include "sim/processes.h"
#include "sim/scene.h"
#include "sim/stories_rare.h"

namespace baton::sim {

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines): awaited by the frame that they capture, or owned by
// rt::Do
namespace {

constexpr uint64_t kSeed = 1;  // of the move: pairs are tried, not chances
constexpr uint64_t kOrder = 1;
constexpr uint64_t kStride = 7919;  // what one run does not come to another begins with
constexpr size_t kFailuresMax = 20;
constexpr std::array<std::string_view, kBlows> kBlowNames = {"before",        "after",         "deposed-soon",
                                                             "deposed-late",  "all-die-lost",  "all-die-kept",
                                                             "hub-dies-lost", "hub-dies-kept", "hub-restored"};
constexpr std::array<Duration, kBlowsOfPairs> kSlow = {Duration{}, Duration{}, milliseconds(700), milliseconds(4'000)};
constexpr std::array<std::string_view, 3> kWayNames = {"forward", "abort", "withdraw"};
constexpr std::array<Way, 3> kWays = {Way::kForward, Way::kAbort, Way::kWithdraw};
constexpr Duration kDeposedFor = seconds(60);

bool Deadly(Blow blow) { return blow == Blow::kDiesBefore || blow == Blow::kDiesAfter; }
bool OfTheHub(Blow blow) { return blow >= Blow::kAllDieLost; }
bool KeepsTheWrite(Blow blow) { return blow == Blow::kAllDieKept || blow == Blow::kHubDiesKept; }

bool Counts(const kube::Call& call) {
  return call.IsWrite() && !call.dry_run && call.resource.plural != "events" && call.resource.plural != "clusters";
}

// What happens to the calls of each leader.
class Blows {
 public:
  // Asked at each write of the newest leader while it is armed; what it gives happens there.
  std::function<std::optional<Blow>(size_t write, const std::string& which)> at_write;
  std::function<void(bool keeps)> hold_next_write;  // of the hub's disk, until it dies
  rt::Event struck;
  std::optional<Blow> last;  // that struck
  bool followed = true;      // another leader has come since
  size_t writes = 0;         // of the newest leader, since the last blow

  void Arm() { armed_ = true; }
  void Disarm() { armed_ = false; }
  bool any_deposed() const { return !slow_.empty(); }
  // Asked on behalf of each leader.
  kube::FaultPlan& PlanFor(int64_t leader) {
    plans_.push_back(std::make_unique<Plan>(*this, leader));
    newest_ = std::max(newest_, leader);
    return *plans_.back();
  }

 private:
  class Plan final : public kube::FaultPlan {
   public:
    Plan(Blows& blows, int64_t leader) : blows_(blows), leader_(leader) {}
    kube::FaultDecision ForCall(const kube::Call& call) override { return blows_.ForCall(leader_, call); }
    kube::FaultDecision ForOpen(const kube::WatchCall& /*call*/) override {
      return blows_.dead_.contains(leader_) ? kube::FaultDecision{.fault = kube::Fault::kErrorBefore}
                                            : kube::FaultDecision{};
    }
    kube::FaultDecision ForChanges(const kube::WatchCall& /*call*/) override { return {}; }

   private:
    Blows& blows_;
    int64_t leader_;
  };

  kube::FaultDecision ForCall(int64_t leader, const kube::Call& call) {
    if (dead_.contains(leader)) return {.fault = kube::Fault::kSilence};
    if (!armed_ || !Counts(call)) return {};
    if (const auto at = slow_.find(leader); at != slow_.end())
      return {.fault = kube::Fault::kDelay, .delay = at->second};
    if (leader != newest_) return {};
    ++writes;
    const std::string which =
        StrCat(kube::VerbName(call.verb), " ", call.resource.plural, call.subresource.empty() ? "" : "/",
               call.subresource, " ", call.name.empty() ? kube::NameOf(call.body) : call.name);
    const std::optional<Blow> blow = at_write ? at_write(writes, which) : std::nullopt;
    if (!blow) return {};
    writes = 0;
    last = blow;
    followed = false;
    struck.Set();
    if (OfTheHub(*blow)) {
      hold_next_write(KeepsTheWrite(*blow));
      return {};
    }
    if (!Deadly(*blow)) {
      slow_[leader] = kSlow.at(static_cast<size_t>(*blow));
      return {.fault = kube::Fault::kDelay, .delay = slow_[leader]};
    }
    dead_.insert(leader);
    return {.fault = *blow == Blow::kDiesBefore ? kube::Fault::kSilence : kube::Fault::kSilenceAfter};
  }

  bool armed_ = false;
  int64_t newest_ = 0;
  std::set<int64_t> dead_;
  std::map<int64_t, Duration> slow_;
  std::vector<std::unique_ptr<Plan>> plans_;
};

rt::Task<void> EndDeposed(Scene& scene) {
  co_await scene.world.loop().Sleep(kDeposedFor);
  scene.world.KillDeposed();
}

// What the write came to is said by the disk.
rt::Task<void> LoseHub(Scene& scene, Blow blow, const HubDisk::Backup& backup) {
  rt::VirtualLoop& loop = scene.world.loop();
  scene.Tell("fault", StrCat("the hub dies: ", BlowName(blow)));
  co_await loop.Sleep(AtWrite::kMoment);
  scene.world.CrashHub(blow != Blow::kHubDiesLost && blow != Blow::kHubDiesKept);
  if (blow == Blow::kHubRestored) scene.world.RestoreHub(backup);
  co_await loop.Sleep(milliseconds(static_cast<int64_t>(loop.random().Below(20'000))));
  co_await scene.world.ReviveHub();
}

// After a blow another leader comes.
rt::Task<void> Follow(Scene& scene, Blows& blows, rt::Scope& scope) {
  rt::VirtualLoop& loop = scene.world.loop();
  const std::shared_ptr<const HubDisk::Backup> backup = scene.world.BackUpHub();
  while (true) {
    co_await blows.struck.Wait();
    blows.struck.Reset();
    if (OfTheHub(*blows.last)) {
      co_await LoseHub(scene, *blows.last, *backup);
      blows.followed = true;
      continue;
    }
    const bool deadly = Deadly(*blows.last);
    scene.Tell("fault",
               StrCat("the leader ", deadly ? "dies" : "is slow and loses its lease", ": ", BlowName(*blows.last)));
    co_await loop.Sleep(AtWrite::kMoment);
    if (deadly) {
      scene.world.KillController();
      co_await loop.Sleep(milliseconds(static_cast<int64_t>(loop.random().Below(20'000))));
    } else {
      scene.world.DeposeController();
      scope.Spawn(EndDeposed(scene));
    }
    scene.world.StartController();
    blows.followed = true;
  }
}

// Told what was wrong when all has been looked at, while the world is still there: a child ends here, as taking the
// world down, in memory that it shares with its parent, would cost as much as a third of its play.
using Looked = std::function<void(const std::vector<std::string>& problems)>;

// The move from its beginning to its end, and what must hold then.
std::vector<std::string> PlayMove(Way way, Blows& blows, Story* story, const Looked& looked = nullptr) {
  const auto move = [&](Scene& scene) -> rt::Task<void> {
    rt::VirtualLoop& loop = scene.world.loop();
    co_await scene.Begin();
    scene.world.SetFaultPlans(
        [&](const std::string& /*whom*/, int64_t leader) -> kube::FaultPlan& { return blows.PlanFor(leader); });
    scene.world.StartController();  // a leader that goes by the plans
    co_await loop.Sleep(seconds(2));
    blows.hold_next_write = [&](bool keeps) { scene.world.HoldNextWrite(keeps); };
    blows.Arm();
    {
      rt::Scope scope(loop);
      scope.Spawn(Follow(scene, blows, scope));
      co_await AskFor(scene, way);
      co_await scene.Settled();
      if (blows.any_deposed()) co_await loop.Sleep(kDeposedFor);
      // The blow may have been at the write that told the end: whoever was struck is still there for a moment.
      co_await scene.world.Until([&]() -> rt::Task<bool> { co_return blows.followed; }, minutes(1));
      co_await scene.Settled();
      blows.Disarm();  // nobody would follow any more
      co_await scene.world.Until([&]() -> rt::Task<bool> { co_return blows.followed; }, minutes(1));
    }
    scene.world.KillDeposed();
    if (blows.last == Blow::kHubRestored) co_return co_await ExpectAfterHubRestored(scene);
    co_await ExpectEndOf(scene, way);
    co_await scene.CheckAll();
  };
  const auto play = [&](Scene& scene) -> rt::Task<void> {
    co_await move(scene);
    if (looked) looked(scene.problems);
  };
  return Play(kSeed, play, nullptr, story);
}

std::string Line(const PairName& name, const std::string& where, const std::vector<std::string>& problems) {
  Value wrong = json::Array();
  for (const std::string& problem : problems) wrong.Push(problem.substr(0, 2000));
  return json::Object({{"name", name.Text()}, {"where", where}, {"problems", wrong}}).ToString() + "\n";
}

std::vector<PairResult> ResultsOf(std::string_view text) {
  std::vector<PairResult> results;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const Result<Value> line = json::Parse(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (!line.ok()) continue;
    PairResult result{.name = std::string((*line)["name"].str()), .where = std::string((*line)["where"].str())};
    for (const Value& problem : (*line)["problems"].items()) result.problems.emplace_back(problem.str());
    results.push_back(std::move(result));
  }
  return results;
}

// A child for each second blow at this write (or first one: `singles`); gives the blow in the child.
struct Forks {
  PairName name;
  std::optional<Blow> singles = std::nullopt;
  std::string where;
  std::string lines;             // of children that have ended
  std::optional<Branch> branch;  // this process is a child

  std::optional<Blow> At(size_t write, const std::string& which) {
    for (size_t i = 0; i < (singles ? 1 : kBlowsOfPairs); ++i) {
      const BlowAt here{singles ? *singles : static_cast<Blow>(i), write};
      PairName pair = name;
      if (singles) {
        pair.first = here;
      } else {
        pair.second = here;
      }
      Result<Branch> forked = Branch::Fork();
      if (!forked.ok()) {
        lines += Line(pair, which, {std::string(forked.error().message())});
      } else if (!forked->in_child()) {
        lines += forked->output().text;
        if (!forked->output().died.empty())
          lines += Line(pair, Then(which), {StrCat("the program ended by ", forked->output().died)});
      } else {
        branch = *std::move(forked);
        name = pair;
        where = Then(which);
        lines.clear();
        return here.blow;
      }
    }
    return std::nullopt;
  }
  Looked EndsChild() {
    return [this](const std::vector<std::string>& problems) {
      if (branch) branch->End(Line(name, where, problems));
    };
  }
  std::string Then(const std::string& which) const { return where.empty() ? which : StrCat(where, ", then ", which); }
};

Result<BlowAt> ParseBlow(std::string_view text) {
  for (size_t i = 0; i < kBlows; ++i) {
    const std::string start = StrCat(kBlowNames.at(i), "-");
    if (!text.starts_with(start)) continue;
    const std::string_view number = text.substr(start.size());
    size_t write = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), write);
    if (error == std::errc() && end == number.data() + number.size() && write > 0)
      return BlowAt{static_cast<Blow>(i), write};
  }
  std::string names;
  for (const std::string_view name : kBlowNames) StrAppend(names, names.empty() ? "" : ", ", name, "-N");
  return InvalidError(StrCat("'", text, "' is no blow: ", names));
}

}  // namespace

std::string_view BlowName(Blow blow) { return kBlowNames.at(static_cast<size_t>(blow)); }

std::string PairName::Text() const {
  std::string text = StrCat(kWayNames.at(static_cast<size_t>(way)), ":", BlowName(first.blow), "-", first.write);
  if (second) StrAppend(text, ":", BlowName(second->blow), "-", second->write);
  return text;
}

Result<PairName> PairName::Parse(std::string_view text) {
  const size_t one = text.find(':');
  const auto* way = std::ranges::find(kWayNames, text.substr(0, one));
  if (one == std::string_view::npos || way == kWayNames.end())
    return InvalidError(StrCat("'", text, "' is no pair: it is like forward:before-12:deposed-soon-3"));
  PairName name;
  name.way = static_cast<Way>(way - kWayNames.begin());
  text.remove_prefix(one + 1);
  const size_t two = text.find(':');
  name.first = TRY(ParseBlow(text.substr(0, two)));
  if (two != std::string_view::npos) name.second = TRY(ParseBlow(text.substr(two + 1)));
  return name;
}

size_t WritesOf(Way way) {
  Blows blows;
  const std::vector<std::string> problems = PlayMove(way, blows, nullptr);
  return problems.empty() ? blows.writes : 0;
}

std::vector<PairResult> PlayPairsOf(Way way, BlowAt first) {
  Blows blows;
  Forks forks{.name = {.way = way, .first = first}};
  bool struck = false;
  blows.at_write = [&](size_t write, const std::string& which) -> std::optional<Blow> {
    if (struck) return forks.name.second ? std::nullopt : forks.At(write, which);
    if (write != first.write) return std::nullopt;
    struck = true;
    forks.where = which;
    return first.blow;
  };
  const std::vector<std::string> problems = PlayMove(way, blows, nullptr, forks.EndsChild());
  return ResultsOf(forks.lines + Line(forks.name, forks.where, problems));
}

namespace {

// One blow at each write of a move, in a fork each.
std::vector<PairResult> PlaySinglesOf(Way way, Blow blow) {
  Blows blows;
  Forks forks{.name = {.way = way, .first = {}}, .singles = blow};
  blows.at_write = [&](size_t write, const std::string& which) -> std::optional<Blow> {
    return forks.branch ? std::nullopt : forks.At(write, which);
  };
  (void)PlayMove(way, blows, nullptr, forks.EndsChild());  // without a blow: what it came to is no single
  return ResultsOf(forks.lines);
}

// What each process gave, added up.
template <class Played>
void Add(Played& played, const std::vector<PairResult>& results,
         const std::function<void(const PairResult& result)>& on_failure) {
  for (const PairResult& result : results) {
    if (result.problems.empty()) continue;
    ++played.failed;
    on_failure(result);
  }
}

std::string LinesOf(const std::vector<PairResult>& results) {
  std::string text;
  for (const PairResult& result : results) text += Line(*PairName::Parse(result.name), result.where, result.problems);
  return text;
}

}  // namespace

Result<SinglesPlayed> RunSingles(size_t jobs, const std::function<void(const PairResult& result)>& on_failure) {
  SinglesPlayed played;
  constexpr size_t kAll = kWays.size() * kBlows;
  const auto way_of = [](uint64_t id) { return kWays.at(id / kBlows); };
  const auto blow_of = [](uint64_t id) { return static_cast<Blow>(id % kBlows); };
  const auto more = [&](uint64_t id) -> Processes::Work {
    if (id >= kAll || played.failed >= kFailuresMax) return nullptr;
    return [way = way_of(id), blow = blow_of(id)] { return LinesOf(PlaySinglesOf(way, blow)); };
  };
  const auto done = [&](uint64_t id, const ChildOutput& output) {
    std::vector<PairResult> results = ResultsOf(output.text);
    const bool none = results.empty() && output.died.empty();
    if (!output.died.empty() || none)
      results.push_back({.name = PairName{way_of(id), {blow_of(id), 1}, std::nullopt}.Text(),
                         .problems = {none ? "the move has no write" : StrCat("the program ended by ", output.died)}});
    played.played += results.size();
    Add(played, results, on_failure);
  };
  Processes processes(jobs);
  TRY(processes.RunAll(more, done));
  return played;
}

PairResult PlayPair(const PairName& name, Story* story) {
  Blows blows;
  PairResult result{.name = name.Text()};
  bool first = false;
  bool second = false;
  blows.at_write = [&](size_t write, const std::string& which) -> std::optional<Blow> {
    if (!first && write == name.first.write) {
      first = true;
      result.where = which;
      return name.first.blow;
    }
    if (first && !second && name.second && write == name.second->write) {
      second = true;
      StrAppend(result.where, ", then ", which);
      return name.second->blow;
    }
    return std::nullopt;
  };
  result.problems = PlayMove(name.way, blows, story);
  result.missed = !first || (name.second && !second);
  if (result.missed) result.problems.emplace_back("the move has no such write");
  return result;
}

Result<PairsPlayed> RunPairs(const PairsOptions& options,
                             const std::function<void(const PairResult& result)>& on_failure) {
  struct First {
    Way way;
    BlowAt blow;
  };
  std::vector<First> firsts;
  for (const Way way : kWays) {
    const size_t writes = WritesOf(way);
    if (writes == 0)
      return InternalError(StrCat("the move does not go well alone: ", kWayNames.at(static_cast<size_t>(way))));
    for (size_t write = 1; write <= writes; ++write) {
      for (size_t i = 0; i < kBlowsOfPairs; ++i) firsts.push_back({way, {static_cast<Blow>(i), write}});
    }
  }
  PairsPlayed played{.firsts_all = firsts.size()};
  // Mixed, so that no slice has only the dear ones, but always in the same way.
  rt::SeededRandom random(kOrder);
  for (size_t i = firsts.size(); i > 1; --i) std::swap(firsts[i - 1], firsts[random.Below(i)]);
  std::vector<First> slice;
  for (size_t i = options.slice; i < firsts.size(); i += options.slices) slice.push_back(firsts[i]);
  if (!slice.empty())
    std::rotate(slice.begin(), slice.begin() + static_cast<std::ptrdiff_t>(options.seed * kStride % slice.size()),
                slice.end());
  firsts = std::move(slice);
  played.firsts_of = firsts.size();
  const auto begun = std::chrono::steady_clock::now();
  const auto more = [&](uint64_t id) -> Processes::Work {
    const bool late = options.budget > Duration{} && std::chrono::steady_clock::now() - begun > options.budget;
    if (id >= firsts.size() || late || played.failed >= kFailuresMax) return nullptr;
    return [first = firsts[id]] { return LinesOf(PlayPairsOf(first.way, first.blow)); };
  };
  const auto done = [&](uint64_t id, const ChildOutput& output) {
    ++played.firsts;
    std::vector<PairResult> results = ResultsOf(output.text);
    if (!output.died.empty())
      results.push_back({.name = PairName{firsts[id].way, firsts[id].blow, std::nullopt}.Text(),
                         .problems = {StrCat("the program ended by ", output.died)}});
    played.pairs += results.size();
    Add(played, results, on_failure);
  };
  Processes processes(options.jobs);
  TRY(processes.RunAll(more, done));
  return played;
}

// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines)

}  // namespace baton::sim
