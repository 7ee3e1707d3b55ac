// Scenes for single probes.
#include "sim/reach.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "base/probe.h"
#include "sim/reach_texts.h"
#include "sim/scenario.h"
#include "sim/stories.h"
#include "sim/trials.h"

namespace baton::sim {
namespace {

constexpr size_t kTriesMax = 80;  // as many writes as a move has
constexpr Duration kLate = milliseconds(4'000);
constexpr Duration kSoon = milliseconds(700);

uint64_t HitsOf(std::string_view name) {
  uint64_t hits = 0;
  for (const ProbeCount& probe : ListProbes()) hits += probe.name == name ? probe.hits : 0;
  return hits;
}

void PlayStory(std::string_view name) {
  const NamedStory* story = FindStory(name);
  if (story != nullptr) Play(story->seed, story->play);
}

void PlayFile(std::string_view name) {
  for (const EmbeddedText& file : ReachTexts()) {
    if (file.name != name) continue;
    const Result<scenario::Scenario> scenario = scenario::Scenario::Parse(std::string(name), file.text);
    if (scenario.ok()) PlayScenario(*scenario);
  }
}

// Both ways, both delays, then the next write.
void TwoLeaders(size_t attempt) {
  const size_t which = attempt - 1;
  TwoLeadersFrom(1, which % 2 == 0 ? Way::kForward : Way::kAbort, which / 4 + 1, (which / 2) % 2 == 0 ? kLate : kSoon);
}

struct Reach {
  std::string_view probe;
  void (*play)(size_t attempt);  // from 1
  size_t tries;
};

constexpr Reach kReaches[] = {
    {"federation.binding_went_with_its_template", [](size_t) { PlayStory("deleted-while-its-watch-lags"); }, 1},
    {"federation.late_create_taken_back", TwoLeaders, 4 * kTriesMax},
    {"federation.older_epoch_refused", TwoLeaders, 4 * kTriesMax},
    {"rollout.attested", [](size_t) { PlayStory("attested-source"); }, 1},
    {"rollout.both_clusters_are_lost", [](size_t) { PlayFile("template_deleted_both_lost.yaml"); }, 1},
    {"rollout.contested", [](size_t) { PlayStory("contested-binding"); }, 1},
    {"rollout.deleted_before_its_finalizer", [](size_t) { PlayStory("deleted-before-it-began"); }, 1},
    {"rollout.first_placement_finds_it_elsewhere", [](size_t) { PlayStory("hub-lost"); }, 1},
    {"rollout.gate_holds_another_object", [](size_t) { PlayStory("deleted-by-hand"); }, 1},
    {"rollout.held_copy_found", [](size_t) { PlayStory("held-copy"); }, 1},
    {"rollout.late_copy_removed", [](size_t) { PlayFile("late_copy_of_a_dead_leader.yaml"); }, 1},
    {"rollout.late_lock_removed", [](size_t) { PlayStory("late-lock"); }, 1},
    {"rollout.late_override_removed", TwoLeaders, 4 * kTriesMax},
    {"rollout.late_probe_taken_back", TwoLeaders, 4 * kTriesMax},
    {"rollout.late_start_is_kept", [](size_t) { PlayFile("started_late_and_nobody_looked.yaml"); }, 1},
    {"rollout.record_is_older_than_the_member", [](size_t) { PlayStory("hub-restored-after-an-abort"); }, 1},
    {"rollout.restarted_between_two_looks", [](size_t) { PlayFile("restarts_while_nobody_looks.yaml"); }, 1},
    {"rollout.source_is_newer_than_the_word", [](size_t) { PlayFile("target_lost_when_the_source_ran_again.yaml"); },
     1},
    {"rollout.stray_found", [](size_t) { PlayStory("member-restored"); }, 1},
    {"rollout.target_is_lost", [](size_t) { PlayStory("lost-target"); }, 1},
};

struct NotHere {
  std::string_view probe;
  std::string_view why;
};

constexpr NotHere kNotHere[] = {
    {"rollout.target_appeared_late", "beside another federation, and left to chance there: rollout_model_test has it"},
    {"log.line_truncated", "not of the engine: base_test"},
    {"metrics.series_folded", "not of the engine: base_test"},
};

const Reach* FindReach(std::string_view probe) {
  const auto* found = std::ranges::find(kReaches, probe, &Reach::probe);
  return found == std::end(kReaches) ? nullptr : found;
}

}  // namespace

bool HasReach(std::string_view probe) { return FindReach(probe) != nullptr; }

uint64_t PlayReach(std::string_view probe) {
  const Reach* reach = FindReach(probe);
  if (reach == nullptr) return 0;
  ResetProbes();
  for (size_t attempt = 1; attempt <= reach->tries && HitsOf(probe) == 0; ++attempt) reach->play(attempt);
  return HitsOf(probe);
}

std::string_view WhyNotReached(std::string_view probe) {
  const auto* found = std::ranges::find(kNotHere, probe, &NotHere::probe);
  return found == std::end(kNotHere) ? std::string_view() : found->why;
}

}  // namespace baton::sim
