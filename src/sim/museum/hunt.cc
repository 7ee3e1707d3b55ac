// Playing days for the hunt.
#include "sim/museum/hunt.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <map>
#include <numeric>
#include <optional>
#include <string_view>

#include "base/guard.h"
#include "base/invariant.h"
#include "base/strings.h"
#include "sim/bad_day.h"
#include "sim/museum/scenes.h"
#include "sim/processes.h"

namespace baton::sim {
namespace {

constexpr uint64_t kFirstDays = 4;  // that are played before it is looked whether one has found it; then more
constexpr uint64_t kMostDays = 32;

// What is hunted through: some kind of days, and how many of them.
struct Days {
  const DayKind* kind;
  uint64_t count;
  std::vector<std::vector<bool>> decided;  // by seed, by guard
};

using GuardIndex = std::map<std::string, size_t, std::less<>>;

GuardIndex AllGuards() {
  GuardIndex all;
  for (const GuardCount& guard : ListGuards()) all.emplace(guard.name, 0);
  size_t next = 0;
  for (auto& [name, index] : all) index = next++;
  return all;
}

// One letter for each guard: whether it decided anything in this process.
std::string Decided(const GuardIndex& guards) {
  std::string text(guards.size(), '-');
  for (const GuardCount& guard : ListGuards()) {
    if (guard.decided > 0) text[guards.find(guard.name)->second] = 'x';
  }
  return text;
}

std::vector<uint64_t> Row(uint64_t from, uint64_t count) {
  std::vector<uint64_t> seeds(count);
  std::iota(seeds.begin(), seeds.end(), from);
  return seeds;
}

// All days once, with all guards in. What goes wrong then shows nothing of a guard.
Result<void> Survey(Days& days, const GuardIndex& guards, const HuntOptions& options) {
  days.decided.resize(days.count);
  const auto wrong = [&](const std::string& what) {
    if (options.on_wrong) options.on_wrong(what);
  };
  const uint64_t row = days.kind->row;
  const auto more = [&](uint64_t id) -> Processes::Work {
    if (id * row >= days.count) return nullptr;
    return [&, id]() -> std::string {
      std::string text;
      RestoreGuards();
      const auto report = [&](const Day& day) {
        return StrCat(day.seed, " ", Decided(guards), " ", FirstFromOutside(day.problems), "\n");
      };
      const auto done = [&](uint64_t seed, const ChildOutput& output) {
        text += output.died.empty() ? output.text : StrCat(seed, " - the program ended by ", output.died, "\n");
      };
      days.kind->play(Row(id * row, std::min(row, days.count - id * row)), report, done);
      return text;
    };
  };
  const auto done = [&](uint64_t, const ChildOutput& output) {
    std::string_view text = output.text;
    if (!output.died.empty()) wrong(StrCat("a row of days ended by ", output.died));
    while (!text.empty()) {
      const std::string_view line = text.substr(0, text.find('\n'));
      text.remove_prefix(line.size() + 1);
      uint64_t seed = 0;
      const char* at = std::from_chars(line.data(), line.data() + line.size(), seed).ptr;
      const std::string_view marks = line.substr(static_cast<size_t>(at - line.data()) + 1);
      const size_t end = marks.find(' ');
      if (end + 1 < marks.size()) {
        wrong(StrCat(days.kind->name, " ", seed, ": ", marks.substr(end + 1)));
        continue;
      }
      std::vector<bool> decided;
      for (const char mark : marks.substr(0, end)) decided.push_back(mark == 'x');
      days.decided[seed] = std::move(decided);
    }
  };
  Processes processes(options.jobs);
  return processes.RunAll(more, done);
}

void Without(std::string_view guard, std::string_view behind) {
  RestoreGuards();
  for (const std::string_view one : {guard, behind}) {
    if (one.empty()) continue;
    const Result<void> removed = RemoveGuard(one);
    INVARIANT(removed.ok(), StrCat("no guard ", one));
  }
}

// What is wrong with that day; "": nothing.
std::string PlayedWithout(const DayKind& kind, uint64_t seed, std::string_view guard, std::string_view behind) {
  Without(guard, behind);
  std::string problem;
  kind.play(
      std::vector<uint64_t>{seed}, [](const Day& day) { return FirstFromOutside(day.problems); },
      [&](uint64_t, const ChildOutput& output) { problem = output.text; });
  return problem;
}

struct Finding {
  uint64_t seed = 0;
  std::string problem;
};

// In a child. Days of one beginning are played together, few at first: many guards are missed at once.
class Hunter {
 public:
  Hunter(const Days& days, const Exhibit& exhibit) : days_(days), exhibit_(exhibit) {}

  // The first of those that goes wrong.
  std::optional<Finding> Among(const std::vector<uint64_t>& seeds) {
    uint64_t most = kFirstDays;
    for (size_t at = 0; at < seeds.size();) {
      std::vector<uint64_t> some;
      const uint64_t row = seeds[at] / days_.kind->row;
      while (at < seeds.size() && some.size() < most && seeds[at] / days_.kind->row == row) some.push_back(seeds[at++]);
      most = std::min(2 * most, kMostDays);
      played_ += some.size();
      std::optional<Finding> found = Play(some);
      if (found) return found;
    }
    return std::nullopt;
  }
  uint64_t played() const { return played_; }

 private:
  std::optional<Finding> Play(const std::vector<uint64_t>& some) {
    Without(exhibit_.guard, exhibit_.behind);
    std::vector<Finding> all;
    days_.kind->play(
        some, [](const Day& day) { return FirstFromOutside(day.problems); },
        [&](uint64_t seed, const ChildOutput& output) {
          if (output.died.empty() && !output.text.empty()) all.push_back({seed, output.text});
        });
    for (Finding& one : all) {
      // What the loss of the other one shows alone is not shown by this one.
      if (!exhibit_.behind.empty() && !PlayedWithout(*days_.kind, one.seed, exhibit_.behind, "").empty()) continue;
      return std::move(one);
    }
    return std::nullopt;
  }

  const Days& days_;
  const Exhibit& exhibit_;
  uint64_t played_ = 0;
};

std::vector<uint64_t> Candidates(const Days& days, const GuardIndex& guards, const Exhibit& exhibit) {
  std::vector<uint64_t> seeds;
  const size_t one = guards.find(exhibit.guard)->second;
  const size_t two = exhibit.behind.empty() ? one : guards.find(exhibit.behind)->second;
  for (uint64_t seed = 0; seed < days.count; ++seed) {
    if (days.decided[seed].size() == guards.size() && (days.decided[seed][one] || days.decided[seed][two]))
      seeds.push_back(seed);
  }
  return seeds;
}

// In a child: "DECIDED PLAYED ALONE KIND SEED PROBLEM", or only the first two.
std::string Hunt(const Exhibit& exhibit, const std::vector<Days>& all, const GuardIndex& guards) {
  uint64_t decided = 0;
  uint64_t played = 0;
  for (const Days& days : all) {
    const std::vector<uint64_t> seeds = Candidates(days, guards, exhibit);
    Hunter hunter(days, exhibit);
    const std::optional<Finding> found = hunter.Among(seeds);
    decided += seeds.size();
    played += hunter.played();
    if (!found) continue;
    const bool alone = exhibit.behind.empty() || !PlayedWithout(*days.kind, found->seed, exhibit.guard, "").empty();
    return StrCat(decided, " ", played, " ", alone ? 1 : 0, " ", days.kind->name, " ", found->seed, " ",
                  found->problem);
  }
  return StrCat(decided, " ", played);
}

Hunted Read(const Exhibit& exhibit, std::string_view text) {
  Hunted hunted{.exhibit = &exhibit};
  const auto word = [&] {
    const std::string one(text.substr(0, text.find(' ')));
    text.remove_prefix(std::min(text.size(), one.size() + 1));
    return one;
  };
  hunted.decided = std::strtoull(word().c_str(), nullptr, 10);
  hunted.played = std::strtoull(word().c_str(), nullptr, 10);
  if (text.empty()) return hunted;
  hunted.alone = word() == "1";
  const std::string kind = word();
  hunted.scene = StrCat(kind, " ", word());
  hunted.problem = text;
  return hunted;
}

}  // namespace

Result<void> HuntAll(const std::vector<const Exhibit*>& exhibits, const HuntOptions& options,
                     const std::function<void(const Hunted& hunted)>& on_hunted) {
  const GuardIndex guards = AllGuards();
  std::vector<Days> all;
  for (const DayKind& kind : DayKinds()) all.push_back({&kind, options.seeds * kind.percent / 100, {}});
  for (Days& days : all) TRY(Survey(days, guards, options));
  const auto more = [&](uint64_t id) -> Processes::Work {
    if (id >= exhibits.size()) return nullptr;
    return [&, id] { return Hunt(*exhibits[id], all, guards); };
  };
  const auto done = [&](uint64_t id, const ChildOutput& output) { on_hunted(Read(*exhibits[id], output.text)); };
  Processes processes(options.jobs);
  return processes.RunAll(more, done);
}

}  // namespace baton::sim
