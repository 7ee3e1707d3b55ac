// Probes: listed from the start, counted where they stand.
#include "base/probe.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <coroutine>
#include <string>
#include <thread>
#include <vector>

#include "base/probe_places_for_test.h"

namespace baton {
namespace {

using probe_internal::IsPlaceName;
static_assert(IsPlaceName("rollout.grant_lost_the_race2"));
static_assert(!IsPlaceName(""));
static_assert(!IsPlaceName("Rollout"));
static_assert(!IsPlaceName("a b"));
static_assert(!IsPlaceName("a\n"));

std::vector<ProbeCount> Named(std::string_view name) {
  std::vector<ProbeCount> probes = ListProbes();
  std::erase_if(probes, [name](const ProbeCount& probe) { return probe.name != name; });
  return probes;
}

uint64_t Hits(std::string_view name) {
  const std::vector<ProbeCount> probes = Named(name);
  return probes.size() == 1 ? probes.front().hits : UINT64_MAX;
}

const size_t kListedBeforeMain = ListProbes().size();

TEST(ProbeTest, ListsAPlaceThatWasNeverReached) {
  const std::vector<ProbeCount> probes = Named("probe_test.never_called");
  ASSERT_EQ(probes.size(), 1U);
  EXPECT_EQ(probes[0].hits, 0U);
  EXPECT_EQ(probes[0].file, "src/base/probe_other_test.cc");
  EXPECT_EQ(probes[0].line, probe_places::kLineOfNeverCalled);
}

TEST(ProbeTest, ListsThePlacesOfTheStaticLibrary) {
  EXPECT_EQ(Named("metrics.series_folded").size(), 1U);
  EXPECT_EQ(Named("log.line_truncated").size(), 1U);
}

TEST(ProbeTest, TheListIsCompleteBeforeMain) { EXPECT_EQ(kListedBeforeMain, ListProbes().size()); }

TEST(ProbeTest, CountsAndResets) {
  ResetProbes();
  for (int i = 0; i < 5; ++i) SOMETIMES("probe_test.loop");
  EXPECT_EQ(Hits("probe_test.loop"), 5U);
  ResetProbes();
  EXPECT_EQ(Hits("probe_test.loop"), 0U);
}

TEST(ProbeTest, AnInlineFunctionInTwoFilesIsOneProbe) {
  ResetProbes();
  probe_places::InlinePlace();
  probe_places::HitFromAnotherFile();
  EXPECT_EQ(Hits("probe_test.inline"), 2U);
}

TEST(ProbeTest, AllInstancesOfATemplateAreOneProbe) {
  ResetProbes();
  probe_places::TemplatePlace(1);
  probe_places::TemplatePlace(1.0);
  probe_places::HitFromAnotherFile();
  EXPECT_EQ(Hits("probe_test.template"), 3U);
  EXPECT_EQ(Hits("probe_test.template_in_another_file"), 1U);
}

TEST(ProbeTest, TheSameNameAtTwoPlacesIsTwoProbes) {
  ResetProbes();
  SOMETIMES("probe_test.same_name");
  SOMETIMES("probe_test.same_name");
  const std::vector<ProbeCount> probes = Named("probe_test.same_name");
  ASSERT_EQ(probes.size(), 2U);
  EXPECT_EQ(probes[0].line + 1, probes[1].line);
  EXPECT_EQ(probes[0].hits, 1U);
}

TEST(ProbeTest, TheListIsSorted) {
  const std::vector<ProbeCount> probes = ListProbes();
  EXPECT_TRUE(std::ranges::is_sorted(
      probes, {}, [](const ProbeCount& probe) { return std::tuple(probe.name, probe.file, probe.line); }));
}

struct FireAndForget {
  struct promise_type {  // NOLINT(readability-identifier-naming): the language names it
    FireAndForget get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
};

FireAndForget InACoroutine() {
  SOMETIMES("probe_test.coroutine");
  co_return;
}

TEST(ProbeTest, WorksInLambdasAndCoroutines) {
  ResetProbes();
  [](auto) { SOMETIMES("probe_test.lambda"); }(1);
  InACoroutine();
  EXPECT_EQ(Hits("probe_test.lambda"), 1U);
  EXPECT_EQ(Hits("probe_test.coroutine"), 1U);
}

TEST(ProbeTest, IsOneStatement) {
  ResetProbes();
  if (Hits("probe_test.in_an_if") > 0)
    SOMETIMES("probe_test.in_an_if");
  else
    SOMETIMES("probe_test.in_an_else");
  EXPECT_EQ(Hits("probe_test.in_an_if"), 0U);
  EXPECT_EQ(Hits("probe_test.in_an_else"), 1U);
}

TEST(ProbeTest, AHitAmongThreadsNeverShowsAsNone) {
  ResetProbes();
  {
    std::vector<std::jthread> threads;
    threads.reserve(4);
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([] {
        for (int j = 0; j < 1000; ++j) SOMETIMES("probe_test.threads");
      });
    }
  }
  EXPECT_GE(Hits("probe_test.threads"), 1U);
  EXPECT_LE(Hits("probe_test.threads"), 4000U);
}

}  // namespace
}  // namespace baton
