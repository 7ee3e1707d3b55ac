// The museum: takes each guard away and shows that the simulator notices.
//
//   museum check [-j N] [TEXT]   every exhibit (whose guard has TEXT in it); fails when one is not found
//   museum table [-j N] [SEEDS]  the same, and which of so many random days (10,000) finds each, as docs/MUSEUM.md
//   museum search GUARD [SEEDS]  all scenes until one finds the loss of GUARD
//   museum hunt [-j N] [SEEDS [TEXT]]   random days, until one finds the loss; tells the seed for each guard, and fails
//                                when one is not found that is not for the model alone
//   museum play SCENE [GUARD [GUARD]]   one scene, with or without guards; says how often they mattered
//   museum tell DAY [GUARD [GUARD]]     the story of a random day ('seed 17'), with or without guards
//
// Built with guard switches (base/guard.h), apart from the shipped program, which has none.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/guard.h"
#include "base/strings.h"
#include "sim/heap.h"
#include "sim/museum/exhibits.h"
#include "sim/museum/hunt.h"
#include "sim/museum/scenes.h"
#include "sim/processes.h"

namespace baton::sim {
namespace {

constexpr uint64_t kHuntSeeds = 10'000;  // within which each is to be found

struct Finding {
  std::string scene;  // "": not found
  std::string problem;
};

void Without(std::initializer_list<std::string_view> guards) {
  RestoreGuards();
  for (const std::string_view guard : guards) {
    if (guard.empty()) continue;
    const Result<void> removed = RemoveGuard(guard);
    if (removed.ok()) continue;
    std::fprintf(stderr, "museum: %s\n", removed.error().ToString().c_str());
    std::exit(2);
  }
}

std::string Played1(const std::string& scene, bool& past_the_end) {
  const Result<Played> played = PlayScene(scene);
  if (!played.ok()) {
    std::fprintf(stderr, "museum: %s\n", played.error().ToString().c_str());
    std::exit(2);
  }
  past_the_end = played->past_the_end;
  return FirstFromOutside(played->problems);
}

// In a child. The scene, a newline, and what was seen.
std::string Find(const Exhibit& exhibit) {
  Without({exhibit.guard, exhibit.behind});
  bool first = true;
  for (const std::string& scene : Family(exhibit.scene)) {
    bool past_the_end = false;
    const std::string problem = Played1(scene, past_the_end);
    if (!problem.empty()) return StrCat(scene, "\n", problem);
    if (past_the_end && !first) break;
    first = false;
  }
  return {};
}

// With all guards in, the same scene must go well: else it finds nothing. So it must with one of a pair.
std::string Control(const std::string& scene, std::string_view guard = "", std::string_view behind = "") {
  bool past_the_end = false;
  Without({});
  const std::string wrong = Played1(scene, past_the_end);
  if (!wrong.empty()) return StrCat("with all guards in: ", wrong);
  if (behind.empty()) return {};
  for (const std::string_view one : {guard, behind}) {
    Without({one});
    const std::string alone = Played1(scene, past_the_end);
    if (!alone.empty()) return StrCat("without ", one, " alone: ", alone);
  }
  return {};
}

struct Result1 {
  Finding found;
  std::string died;
  std::string control;  // what went wrong with all guards in; "": nothing
};

std::vector<Result1> Check(size_t jobs, const std::vector<const Exhibit*>& exhibits) {
  std::vector<Result1> results(exhibits.size());
  Processes processes(jobs);
  const auto more = [&](uint64_t id) -> Processes::Work {
    if (id >= exhibits.size()) return nullptr;
    return [exhibit = exhibits[id]]() -> std::string {
      if (exhibit->scene.empty()) return {};
      const std::string found = Find(*exhibit);
      if (found.empty()) return {};
      return StrCat(found, "\n", Control(found.substr(0, found.find('\n')), exhibit->guard, exhibit->behind));
    };
  };
  const auto done = [&](uint64_t id, const ChildOutput& output) {
    Result1& result = results[id];
    result.died = output.died;
    const size_t one = output.text.find('\n');
    if (one == std::string::npos) return;
    const size_t two = output.text.find('\n', one + 1);
    result.found = {output.text.substr(0, one), output.text.substr(one + 1, two - one - 1)};
    if (two != std::string::npos) result.control = output.text.substr(two + 1);
  };
  const Result<void> ran = processes.RunAll(more, done);
  if (!ran.ok()) std::fprintf(stderr, "museum: %s\n", ran.error().ToString().c_str());
  return results;
}

std::vector<const Exhibit*> Chosen(std::string_view text) {
  std::vector<const Exhibit*> chosen;
  for (const Exhibit& exhibit : Exhibits()) {
    if (exhibit.guard.find(text) != std::string_view::npos || text.empty()) chosen.push_back(&exhibit);
  }
  return chosen;
}

std::map<std::string, std::string> Files() {
  std::map<std::string, std::string> files;
  for (const GuardCount& guard : ListGuards()) files.emplace(guard.name, guard.file);
  return files;
}

// Whether each guard of the program is shown.
bool Complete() {
  std::set<std::string_view> shown;
  for (const Exhibit& exhibit : Exhibits()) shown.insert(exhibit.guard);
  bool complete = true;
  for (const auto& [name, file] : Files()) {
    if (shown.contains(name)) continue;
    std::printf("MISSING   %-44s of %s is no exhibit\n", name.c_str(), file.c_str());
    complete = false;
  }
  return complete;
}

// It takes more coincidences than seeds come to.
bool OnlyInTheModel(const Exhibit& exhibit) { return exhibit.scene.starts_with("model "); }

bool Right(const Exhibit& exhibit, const Result1& result) {
  return exhibit.scene.empty() ? !exhibit.note.empty() : !result.found.scene.empty() && result.control.empty();
}

int CheckAll(size_t jobs, std::string_view text) {
  const std::vector<const Exhibit*> exhibits = Chosen(text);
  if (exhibits.empty()) {
    std::fprintf(stderr, "museum: no guard has '%s' in its name\n", std::string(text).c_str());
    return 2;
  }
  const std::vector<Result1> results = Check(jobs, exhibits);
  bool right = !text.empty() || Complete();
  size_t found = 0;
  for (size_t i = 0; i < exhibits.size(); ++i) {
    const Exhibit& exhibit = *exhibits[i];
    const Result1& result = results[i];
    const std::string guard(exhibit.guard.empty() ? exhibit.where : exhibit.guard);
    if (exhibit.scene.empty()) {
      std::printf("%-9s %-44s %s\n", exhibit.note.empty() ? "NO SCENE" : "-", guard.c_str(),
                  std::string(exhibit.note).c_str());
    } else if (!result.control.empty()) {
      std::printf("WRONG     %-44s %s goes wrong %s\n", guard.c_str(), result.found.scene.c_str(),
                  result.control.c_str());
    } else if (result.found.scene.empty()) {
      std::printf("NOT FOUND %-44s by %s%s%s\n", guard.c_str(), std::string(exhibit.scene).c_str(),
                  result.died.empty() ? "" : "; ended by ", result.died.c_str());
    } else {
      ++found;
      std::printf("found     %-44s %s%s: %s\n", guard.c_str(), result.found.scene.c_str(),
                  result.found.scene == exhibit.scene ? "" : " (not where the list says)",
                  result.found.problem.substr(0, 110).c_str());
    }
    right = right && Right(exhibit, result);
  }
  std::printf("%zu of %zu found\n", found, exhibits.size());
  return right ? 0 : 1;
}

std::string Cell(std::string_view text) {
  std::string cell;
  for (const char c : text) {
    if (c == '|') cell += '\\';
    cell += c == '\n' ? ' ' : c;
  }
  return cell;
}

// By guard, and what stands behind it.
using Hunts = std::map<std::pair<std::string_view, std::string_view>, Hunted>;

// Gives whether all days went well with all guards in.
Result<bool> HuntFor(const std::vector<const Exhibit*>& exhibits, HuntOptions options, Hunts& hunts,
                     const std::function<void(const Hunted& hunted)>& on_hunted = nullptr) {
  std::vector<const Exhibit*> once;
  for (const Exhibit* one : exhibits) {
    if (one->guard.empty() || OnlyInTheModel(*one)) continue;
    if (hunts.emplace(std::pair(one->guard, one->behind), Hunted{}).second) once.push_back(one);
  }
  const auto done = [&](const Hunted& hunted) {
    hunts[{hunted.exhibit->guard, hunted.exhibit->behind}] = hunted;
    if (on_hunted) on_hunted(hunted);
  };
  bool well = true;
  options.on_wrong = [&well](const std::string& what) {
    std::fprintf(stderr, "museum: with all guards in, %s\n", what.c_str());
    well = false;
  };
  TRY(HuntAll(once, options, done));
  return well;
}

std::string SeedCell(const Exhibit& exhibit, const Hunts& hunts) {
  const auto hunted = hunts.find({exhibit.guard, exhibit.behind});
  if (hunted == hunts.end()) return "only in the model";
  if (hunted->second.scene.empty()) return "none";
  return StrCat("`", hunted->second.scene, "`");
}

int Table(size_t jobs, uint64_t seeds) {
  const std::vector<const Exhibit*> exhibits = Chosen("");
  const std::vector<Result1> results = Check(jobs, exhibits);
  Hunts hunts;
  const Result<bool> well = HuntFor(exhibits, {.jobs = jobs, .seeds = seeds}, hunts);
  if (!well.ok()) {
    std::fprintf(stderr, "museum: %s\n", well.error().ToString().c_str());
    return 1;
  }
  const std::map<std::string, std::string> files = Files();
  std::printf(
      "# The bug museum\n\n"
      "Generated by `make museum`; do not edit (the list is `src/sim/museum/exhibits.cc`).\n\n"
      "Real bugs of systems that do a part of Baton's job, attacks on Baton's first design (`attack N`), and what "
      "else\n"
      "Baton guards against (`ours`). Each guard is a line of production code with a name. In the museum's build, and\n"
      "only there, a guard can be taken away by its name; the scene then goes wrong, seen from outside: by the "
      "practice\n"
      "clusters' jobs, their source and sink, the members' objects and what a user sees on the hub, never by an\n"
      "assertion of the engine. With all guards in, the same scene goes well. Where another guard always stands behind "
      "one,\n"
      "both are taken away (`a` with `b`), and the scene goes well without either of them alone. `museum play 'SCENE' "
      "GUARD\n"
      "[GUARD]` plays one; `file` scenes are in `tests/scenarios`; `model` is the exhaustive\n"
      "model of the protocol (`src/rollout/testing/model.h`), all of it.\n\n"
      "The seed is that of the first random day that goes wrong without the guard, of %llu that are played for it: "
      "`seed "
      "17` is\n"
      "`baton simulate --seed 17`, `kinds 17` is `baton simulate --kinds --seed 17`, with that guard taken away "
      "(`museum "
      "tell 'seed\n"
      "17' GUARD` tells it); with all guards in, all of these days go well. What only the model finds needs more "
      "coincidences.\n\n"
      "| seen in | bug | guard | seed | found by | what was seen |\n|---|---|---|---|---|---|\n",
      static_cast<unsigned long long>(seeds));
  bool right = *well;
  size_t by_seed = 0;
  size_t found = 0;
  for (size_t i = 0; i < exhibits.size(); ++i) {
    const Exhibit& exhibit = *exhibits[i];
    const Result1& result = results[i];
    const auto file = files.find(std::string(exhibit.guard));
    const std::string guard = exhibit.guard.empty()
                                  ? "none"
                                  : StrCat("`", exhibit.guard, "` (", file == files.end() ? "?" : file->second, ")",
                                           exhibit.behind.empty() ? "" : StrCat(" with `", exhibit.behind, "`"));
    std::string seen = Cell(result.found.problem);
    if (!exhibit.note.empty()) seen += StrCat(seen.empty() ? "" : "; ", Cell(exhibit.note));
    const std::string scene = result.found.scene.empty() ? "-" : StrCat("`", result.found.scene, "`");
    const std::string seed = SeedCell(exhibit, hunts);
    by_seed += seed.starts_with("`") ? 1 : 0;
    std::printf("| %s | %s | %s | %s | %s | %s |\n", Cell(exhibit.where).c_str(), Cell(exhibit.bug).c_str(),
                guard.c_str(), seed.c_str(), scene.c_str(), seen.c_str());
    found += result.found.scene.empty() ? 0 : 1;
    right = right && Right(exhibit, result);
  }
  std::printf("\n%zu of %zu rows are mutants that were found; %zu of them by a seed.\n", found, exhibits.size(),
              by_seed);
  return right ? 0 : 1;
}

int Search(std::string_view guard, size_t seeds) {
  const std::vector<std::string> scenes = AllScenes(seeds);
  for (const std::string& scene : scenes) {
    bool past_the_end = false;
    Without({guard});
    const std::string problem = Played1(scene, past_the_end);
    if (problem.empty()) continue;
    const std::string control = Control(scene);
    std::printf("%s: %s: %s%s%s\n", std::string(guard).c_str(), scene.c_str(), problem.c_str(),
                control.empty() ? "" : " BUT ALSO ", control.c_str());
    std::fflush(stdout);
    if (control.empty()) return 0;
  }
  std::printf("%s: not found in %zu scenes\n", std::string(guard).c_str(), scenes.size());
  return 1;
}

int Hunt(size_t jobs, uint64_t seeds, std::string_view text) {
  size_t found = 0;
  const auto on_hunted = [&](const Hunted& hunted) {
    const Exhibit& exhibit = *hunted.exhibit;
    const std::string with = hunted.alone || exhibit.behind.empty() ? "" : StrCat(" with ", exhibit.behind);
    found += hunted.scene.empty() ? 0 : 1;
    std::printf("%-9s %s%s: %s (it decided in %llu days, %llu were played without it)\n",
                hunted.scene.empty() ? "NOT FOUND" : "found", std::string(exhibit.guard).c_str(), with.c_str(),
                hunted.scene.empty() ? "-" : StrCat(hunted.scene, ": ", hunted.problem).c_str(),
                static_cast<unsigned long long>(hunted.decided), static_cast<unsigned long long>(hunted.played));
    std::fflush(stdout);
  };
  Hunts hunts;
  const Result<bool> well = HuntFor(Chosen(text), {.jobs = jobs, .seeds = seeds}, hunts, on_hunted);
  if (!well.ok()) {
    std::fprintf(stderr, "museum: %s\n", well.error().ToString().c_str());
    return 1;
  }
  std::printf("%zu of %zu guards found by the days of %llu seeds\n", found, hunts.size(),
              static_cast<unsigned long long>(seeds));
  return *well && found == hunts.size() ? 0 : 1;
}

int PlayOne(const std::string& scene, std::string_view guard, std::string_view behind) {
  Without({guard, behind});
  const Result<Played> played = PlayScene(scene);
  if (!played.ok()) {
    std::fprintf(stderr, "museum: %s\n", played.error().ToString().c_str());
    return 2;
  }
  for (const std::string& problem : played->problems) std::printf("%s\n", problem.c_str());
  if (guard.empty()) return played->problems.empty() ? 0 : 1;
  for (const GuardCount& one : ListGuards()) {
    if (one.name == guard || one.name == behind)
      std::printf("%s:%u: passed %llu times, mattered %llu times\n", std::string(one.file).c_str(), one.line,
                  static_cast<unsigned long long>(one.passes), static_cast<unsigned long long>(one.mattered));
  }
  return played->problems.empty() ? 0 : 1;
}

int TellOne(const std::string& day, std::string_view guard, std::string_view behind) {
  Without({guard, behind});
  const Result<std::string> story = TellDay(day);
  std::printf("%s", story.ok() ? story->c_str() : StrCat("museum: ", story.error().ToString(), "\n").c_str());
  return story.ok() ? 0 : 2;
}

int Main(std::vector<std::string> arguments) {
  size_t jobs = 1;
  if (arguments.size() >= 3 && arguments[1] == "-j") {
    jobs = std::strtoull(arguments[2].c_str(), nullptr, 10);
    arguments.erase(arguments.begin() + 1, arguments.begin() + 3);
  }
  const std::string command = arguments.empty() ? "" : arguments[0];
  const std::string one = arguments.size() > 1 ? arguments[1] : "";
  const std::string two = arguments.size() > 2 ? arguments[2] : "";
  if (command == "check") return CheckAll(jobs, one);
  if (command == "table") return Table(jobs, one.empty() ? kHuntSeeds : std::strtoull(one.c_str(), nullptr, 10));
  if (command == "search" && !one.empty())
    return Search(one, two.empty() ? 1000 : std::strtoull(two.c_str(), nullptr, 10));
  if (command == "hunt") return Hunt(jobs, one.empty() ? kHuntSeeds : std::strtoull(one.c_str(), nullptr, 10), two);
  if (command == "play" && !one.empty()) return PlayOne(one, two, arguments.size() > 3 ? arguments[3] : "");
  if (command == "tell" && !one.empty()) return TellOne(one, two, arguments.size() > 3 ? arguments[3] : "");
  std::fprintf(
      stderr,
      "usage: museum check [-j N] [TEXT] | table [-j N] [SEEDS] | search GUARD [SEEDS] | hunt [-j N] [SEEDS [TEXT]] | "
      "play SCENE [GUARD [GUARD]] | tell DAY [GUARD [GUARD]]\n");
  return 2;
}

}  // namespace
}  // namespace baton::sim

int main(int argc, char** argv) {
  baton::sim::UseSimulationHeap();
  return baton::sim::Main(std::vector<std::string>(argv + 1, argv + argc));
}
