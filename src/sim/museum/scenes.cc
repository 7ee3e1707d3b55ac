// Reading and playing scenes by name.
#include "sim/museum/scenes.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <utility>

#include "base/invariant.h"
#include "base/strings.h"
#include "rollout/testing/model.h"
#include "sim/bad_day.h"
#include "sim/fleet_days.h"
#include "sim/pairs.h"
#include "sim/scenario.h"
#include "sim/stories.h"
#include "sim/trials.h"

namespace baton::sim {
namespace {

constexpr size_t kWritesMax = 120;  // of a move; there are about 80
constexpr uint64_t kSeed = 1;
constexpr size_t kProblemMax = 300;
constexpr int kModelFaults = 2;
constexpr std::string_view kBeside = "karmada";  // before a scene: on the hub of another federation

std::vector<std::string> Words(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const size_t space = text.find(' ');
    if (space != 0) words.emplace_back(text.substr(0, space));
    text = space == std::string_view::npos ? std::string_view() : text.substr(space + 1);
  }
  return words;
}

Result<Way> WayOf(std::string_view word) {
  if (word == "forward") return Way::kForward;
  if (word == "abort") return Way::kAbort;
  if (word == "withdraw") return Way::kWithdraw;
  return InvalidError(StrCat("'", word, "' is no way: forward, abort, withdraw"));
}

AtWrite::Side SideOf(std::string_view word) { return word == "after" ? AtWrite::Side::kAfter : AtWrite::Side::kBefore; }

size_t Number(const std::string& word) { return std::strtoull(word.c_str(), nullptr, 10); }

Result<Played> PlayFile(const std::string& name) {
  const std::string path = StrCat(BATON_SOURCE_DIR "/tests/scenarios/", name, ".yaml");
  std::ifstream file(path);
  if (!file) return InvalidError(StrCat("there is no file ", path));
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const scenario::Scenario scenario = TRY(scenario::Scenario::Parse(name, text));
  return Played{.problems = PlayScenario(scenario)};
}

// Not the whole system, but all there is of this small one: for what takes more coincidences than seeds come to.
Result<Played> PlayModel(std::string_view hub) {
  if (hub != "own" && hub != "foreign") return InvalidError(StrCat("'", hub, "' is no hub of the model: own, foreign"));
  const rollout::model::ModelResult result = rollout::model::Explore({.own_hub = hub == "own", .faults = kModelFaults});
  Played played;
  if (!result.broken.empty()) played.problems.push_back(result.broken);
  return played;
}

DayKind OfFleets(std::string name, uint64_t percent, Result<FleetDays> days) {
  INVARIANT(days.ok(), days.error().message());
  const auto fleets = std::make_shared<const FleetDays>(*std::move(days));
  return {.name = std::move(name),
          .percent = percent,
          .row = fleets->row(),
          .play = [fleets](std::span<const uint64_t> seeds, const DayReport& report,
                           const DayDone& done) { fleets->PlayRow(seeds, report, done); },
          .play_one = [fleets](uint64_t seed, Story::Detail detail) { return fleets->Play(seed, detail); }};
}

Played Of(const Trial& trial, size_t k) { return {.problems = trial.problems, .past_the_end = trial.writes < k}; }

}  // namespace

const std::vector<DayKind>& DayKinds() {
  static const std::vector<DayKind> kAll = {
      {.name = "seed",
       .percent = 75,
       .row = kSeedsOfOneBeginning,
       .play = [](std::span<const uint64_t> seeds, const DayReport& report,
                  const DayDone& done) { PlayDays(seeds, false, report, done); },
       .play_one = [](uint64_t seed, Story::Detail detail) { return PlayDay(seed, detail); }},
      OfFleets("kinds", 15, FleetDays::OfKinds()),
      OfFleets("drains", 5, FleetDays::OfDrains()),
      OfFleets("upgrades", 5, FleetDays::OfUpgrades()),
  };
  return kAll;
}

Result<Played> PlayScene(std::string_view name) {
  std::vector<std::string> words = Words(name);
  const bool beside = !words.empty() && words[0] == kBeside;
  if (beside) words.erase(words.begin());
  const HubOf hub = beside ? HubOf::kKarmada : HubOf::kBaton;
  const std::string kind = words.empty() ? "" : words[0];
  if (kind == "story" && words.size() == 2) {
    const NamedStory* story = FindStory(words[1]);
    if (story == nullptr) return InvalidError(StrCat("there is no story '", words[1], "'"));
    return Played{.problems = Play(story->seed, story->play)};
  }
  if (kind == "file" && words.size() == 2) return PlayFile(words[1]);
  if (kind == "model" && words.size() == 2) return PlayModel(words[1]);
  for (const DayKind& days : words.size() == 2 ? DayKinds() : std::vector<DayKind>()) {
    if (kind == days.name) return Played{.problems = days.play_one(Number(words[1]), Story::Detail::kCounts).problems};
  }
  if (kind == "plot" && words.size() == 3)
    return Played{.problems = PlayDay(Number(words[2]), Story::Detail::kCounts, words[1]).problems};
  if (kind == "crash" && words.size() == 4) {
    const Way way = TRY(WayOf(words[1]));
    return Of(CrashAt(kSeed, way, Number(words[3]), SideOf(words[2]), nullptr, hub), Number(words[3]));
  }
  if (kind == "leaders" && words.size() == 4) {
    const Way way = TRY(WayOf(words[1]));
    const auto delay = milliseconds(static_cast<int64_t>(Number(words[3])));
    return Of(TwoLeadersFrom(kSeed, way, Number(words[2]), delay, nullptr, hub), Number(words[2]));
  }
  if (kind == "blow" && words.size() == 4) {
    const PairName pair = TRY(PairName::Parse(StrCat(words[1], ":", words[2], "-", words[3])));
    PairResult result = PlayPair(pair);
    return Played{.problems = std::move(result.problems), .past_the_end = result.missed};
  }
  if (kind == "wish" && words.size() == 3) {
    return Of(WishAt(kSeed, Number(words[2]), SideOf(words[1])), Number(words[2]));
  }
  if (kind == "meddle" && words.size() == 3) {
    for (const Meddling& one : Meddlings()) {
      if (words[1] == one.name) return Of(MeddleAt(kSeed, one, Number(words[2]), nullptr, hub), Number(words[2]));
    }
  }
  return InvalidError(StrCat("there is no scene '", name, "'"));
}

Result<std::string> TellDay(std::string_view name) {
  const std::vector<std::string> words = Words(name);
  const auto told = [](const Day& day) {
    std::string text = day.story;
    for (const std::string& problem : day.problems) StrAppend(text, problem, "\n");
    return text;
  };
  if (words.size() == 3 && words[0] == "plot") return told(PlayDay(Number(words[2]), Story::Detail::kWrites, words[1]));
  for (const DayKind& days : DayKinds()) {
    if (words.size() == 2 && words[0] == days.name)
      return told(days.play_one(Number(words[1]), Story::Detail::kWrites));
  }
  return InvalidError(StrCat("'", name, "' is no random day"));
}

std::vector<std::string> Family(std::string_view name) {
  std::vector<std::string> family = {std::string(name)};
  const std::vector<std::string> words = Words(name);
  if (words.size() < 3) return family;
  const size_t first = words[0] == kBeside ? 1 : 0;
  const size_t place = words[first] == "leaders" ? first + 2 : words.size() - 1;
  for (size_t k = 1; k <= kWritesMax; ++k) {
    std::string other;
    for (size_t i = 0; i < words.size(); ++i)
      StrAppend(other, i == 0 ? "" : " ", i == place ? std::to_string(k) : words[i]);
    if (other != name) family.push_back(std::move(other));
  }
  return family;
}

std::vector<std::string> AllScenes(size_t seeds) {
  std::vector<std::string> all;
  for (const NamedStory& story : Stories()) all.push_back(StrCat("story ", story.name));
  for (size_t seed = 1; seed <= seeds / 10; ++seed) all.push_back(StrCat("seed ", seed));
  for (const size_t offset : {3U, 1U, 2U, 4U, 0U}) {
    for (size_t k = 1 + offset; k < kWritesMax; k += 5) {
      for (const Meddling& one : Meddlings()) {
        all.push_back(StrCat("meddle ", one.name, " ", k));
        if (!one.ours_only) all.push_back(StrCat(kBeside, " meddle ", one.name, " ", k));
      }
      for (const char* way : {"forward", "abort", "withdraw"}) {
        for (const char* side : {"before", "after"}) all.push_back(StrCat("crash ", way, " ", side, " ", k));
        if (std::string_view(way) != "withdraw") all.push_back(StrCat("leaders ", way, " ", k, " 4000"));
      }
    }
  }
  for (size_t seed = seeds / 10 + 1; seed <= seeds; ++seed) all.push_back(StrCat("seed ", seed));
  return all;
}

std::string FirstFromOutside(const std::vector<std::string>& problems) {
  for (const std::string& problem : problems) {
    if (problem.starts_with(kOfTheRecord)) continue;
    return problem.substr(0, std::min(problem.find('\n'), kProblemMax));
  }
  return {};
}

}  // namespace baton::sim
