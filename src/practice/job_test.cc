// One job on its own: what it reads, writes and remembers, and what is left when it ends in the middle.
#include "practice/job.h"

#include <gtest/gtest.h>

#include <memory>

#include "practice/judge.h"
#include "practice/world_for_test.h"

namespace baton::practice {
namespace {

class Bench {
 public:
  Bench(rt::VirtualLoop& loop, rt::SimulatedFiles& files) : loop(loop), files(files) {}

  std::unique_ptr<Job> Start(std::string restore_from, std::function<void(JobConfig&)> change = nullptr) {
    JobConfig config;
    config.cluster = "blue";
    config.workload = {"default", "orders"};
    config.job_id = StrCat("job", ++jobs);
    config.restore_from = std::move(restore_from);
    config.checkpoint_dir = "s3://b/c";
    config.checkpoint_every = seconds(5);
    if (change) change(config);
    auto job = std::make_unique<Job>(*commons, config, faults);
    job->Start();
    return job;
  }
  rt::Task<JudgeReport> Judged() {
    const auto report = co_await Judge(files, "", "default", "orders");
    EXPECT_TRUE(report.ok()) << report.error().ToString();
    co_return report.ok() ? *report : JudgeReport();
  }

  rt::VirtualLoop& loop;
  rt::SimulatedFiles& files;
  Storage storage{files};
  std::unique_ptr<Commons> commons = std::make_unique<Commons>(loop, storage);
  Faults faults;
  int jobs = 0;
};

template <class Test>
void OnBench(uint64_t seed, Test test) {
  rt::VirtualLoop loop(seed);
  rt::SimulatedFiles files(loop);
  loop.Run(rt::Do([&]() -> rt::Task<void> {
    Bench bench(loop, files);
    co_await test(bench);
  }));
}

TEST(JobTest, WritesEveryRecordOnceThroughStopsAndStarts) {
  OnBench(1, [](Bench& bench) -> rt::Task<void> {
    std::string from;
    for (int i = 0; i < 4; ++i) {
      auto job = bench.Start(from);
      co_await bench.loop.Sleep(seconds(17));
      const Result<std::string> url = co_await job->Snapshot(SnapshotKind::kStopWithSavepoint, "s3://b/s");
      EXPECT_TRUE(url.ok()) << url.error().ToString();
      EXPECT_EQ(job->phase(), JobPhase::kFinished);
      from = *url;
      co_await bench.loop.Sleep(seconds(3));
    }
    const JudgeReport report = co_await bench.Judged();
    EXPECT_TRUE(report.clean()) << report.Text();
    EXPECT_EQ(report.reprocessed, 0U) << report.Text();
    EXPECT_EQ(report.writers.size(), 4U);
  });
}

// Wherever it is killed, going on from its last state gives every record once; only plain sinks repeat some.
TEST(JobTest, GoesOnFromItsLastStateWhereverItWasKilled) {
  uint64_t duplicated = 0;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    const bool exactly_once = seed % 2 == 0;
    OnBench(seed, [&](Bench& bench) -> rt::Task<void> {
      std::string from;
      rt::SeededRandom random(seed);
      for (int i = 0; i < 5; ++i) {
        auto job = bench.Start(from, [&](JobConfig& config) { config.exactly_once = exactly_once; });
        co_await bench.loop.Sleep(Duration(random.Between(seconds(1), seconds(8))));
        if (random.Chance(0.5)) {
          rt::Scope scope(bench.loop);
          scope.Spawn(rt::Do(
              [&]() -> rt::Task<void> { (void)co_await job->Snapshot(SnapshotKind::kStopWithSavepoint, "s3://b/s"); }));
          co_await bench.loop.Sleep(Duration(random.Between(Duration{0}, milliseconds(300))));
          job->End(JobPhase::kFailed, "KILLED");
        } else {
          job->End(JobPhase::kFailed, "KILLED");
        }
        if (job->Newest()) from = job->Newest()->url;
      }
      auto last = bench.Start(from, [&](JobConfig& config) { config.exactly_once = exactly_once; });
      co_await bench.loop.Sleep(seconds(12));
      last = nullptr;
      co_await bench.commons->SinkOf({"default", "orders"}).Settle();
      const JudgeReport report = co_await bench.Judged();
      duplicated += report.duplicated;
      if (exactly_once) {
        EXPECT_TRUE(report.clean()) << "seed " << seed << "\n" << report.Text();
      } else {
        EXPECT_EQ(report.lost + report.overlap_count + report.wrong_state, 0U) << "seed " << seed << "\n"
                                                                               << report.Text();
      }
    });
  }
  EXPECT_GT(duplicated, 0U);
}

TEST(JobTest, CommitsWhatItsStateNamesBeforeItGoesOn) {
  // The commit is lost between the state and the sink: whoever restores the state makes up for it.
  OnBench(3, [](Bench& bench) -> rt::Task<void> {
    auto job = bench.Start("");
    co_await bench.loop.Sleep(seconds(4));
    bench.files.set_fault([&](std::string_view operation, std::string_view path) -> std::optional<Error> {
      if (operation == "append" && path.find("sink") != std::string_view::npos && path.ends_with("/log")) {
        return UnavailableError("the sink is away");
      }
      return std::nullopt;
    });
    co_await bench.loop.Sleep(seconds(3));
    EXPECT_TRUE(job->Newest().has_value());
    const std::string from = job->Newest()->url;
    job->End(JobPhase::kFailed, "KILLED");
    bench.files.set_fault(nullptr);
    EXPECT_EQ((co_await bench.Judged()).out, 0U);
    auto next = bench.Start(from);
    co_await bench.loop.Sleep(seconds(1) + milliseconds(200));
    EXPECT_GT((co_await bench.Judged()).out, 0U);
    co_await bench.loop.Sleep(seconds(10));
    const JudgeReport report = co_await bench.Judged();
    EXPECT_TRUE(report.clean()) << report.Text();
  });
}

TEST(JobTest, LosesNothingWhenThePowerIsCut) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    OnBench(seed, [&](Bench& bench) -> rt::Task<void> {
      std::string from;
      rt::SeededRandom random(seed);
      for (int i = 0; i < 3; ++i) {
        auto job = bench.Start(from);
        co_await bench.loop.Sleep(Duration(random.Between(seconds(4), seconds(12))));
        bench.files.PowerCut(bench.loop.random());
        // What the dying process still believes does not count: the last state that was told of does.
        if (job->Newest()) from = job->Newest()->url;
        job = nullptr;
        bench.commons = nullptr;
        bench.commons = std::make_unique<Commons>(bench.loop, bench.storage);
      }
      auto last = bench.Start(from);
      co_await bench.loop.Sleep(seconds(12));
      const JudgeReport report = co_await bench.Judged();
      EXPECT_EQ(report.lost + report.duplicated + report.out_of_order + report.wrong_state + report.unreadable, 0U)
          << "seed " << seed << "\n"
          << report.Text();
      EXPECT_GT(report.out, 0U) << "seed " << seed;
    });
  }
}

TEST(JobTest, KeepsLocalStateInItsOwnCluster) {
  OnBench(1, [](Bench& bench) -> rt::Task<void> {
    auto job = bench.Start("");
    co_await bench.loop.Sleep(seconds(5));
    const Result<std::string> url = co_await job->Snapshot(SnapshotKind::kStopWithSavepoint, "file:///data/s");
    EXPECT_TRUE(url.ok());
    auto elsewhere = bench.Start(*url, [](JobConfig& config) { config.cluster = "green"; });
    co_await bench.loop.Sleep(seconds(5));
    EXPECT_EQ(elsewhere->phase(), JobPhase::kFailed);
    EXPECT_EQ(elsewhere->error(), StrCat("Cannot find checkpoint or savepoint file/directory '", *url, "'"));
    auto here = bench.Start(*url);
    co_await bench.loop.Sleep(seconds(5));
    EXPECT_EQ(here->phase(), JobPhase::kRunning);
  });
}

TEST(JobTest, CatchesUpWithAnyBacklog) {
  OnBench(1, [](Bench& bench) -> rt::Task<void> {
    bench.commons->SourceOf({"default", "orders"}, {.rate = 5000});
    co_await bench.loop.Sleep(seconds(60));
    auto job = bench.Start("", [](JobConfig& config) { config.source.rate = 5000; });
    co_await bench.loop.Sleep(seconds(20));
    const JudgeReport report = co_await bench.Judged();
    EXPECT_TRUE(report.clean()) << report.Text();
    EXPECT_GT(report.out, 340'000U) << report.Text();
  });
}

TEST(JobStateTest, IsReadBackAsItWasWritten) {
  JobState state = JobState::Fresh(3, 5);
  state.job_id = "abc";
  state.checkpoint_id = 7;
  state.offsets = {1, 0, UINT64_MAX};
  state.states[7] = {.count = 3, .sum = UINT64_MAX};
  state.pending = {"abc-1", "abc-2"};
  const Result<JobState> read = JobState::Decode(state.Encode());
  EXPECT_TRUE(read.ok()) << read.error().ToString();
  EXPECT_EQ(*read, state);
  std::string text = state.Encode();
  text[text.find("offsets 1") + 8] = '2';
  EXPECT_EQ(JobState::Decode(text).error().kind(), ErrorKind::kCorrupt);
  EXPECT_EQ(JobState::Decode("").error().kind(), ErrorKind::kCorrupt);
}

TEST(StorageTest, MapsUrlsToPlaces) {
  rt::VirtualLoop loop(1);
  rt::SimulatedFiles files(loop);
  const Storage storage(files, "root/");
  const struct {
    const char* url;
    const char* wanted;
  } rows[] = {
      {"s3://bucket/a/b", "root/shared/objects/s3/bucket/a/b"},
      {"hdfs:///a//b/", "root/shared/objects/hdfs/a/b"},
      {"file:///a/b", "root/clusters/blue/file/a/b"},
      {"/a/b", "root/clusters/blue/file/a/b"},
      {"s3://bucket/../../etc", ""},
      {"s3://", ""},
      {"", ""},
  };
  for (const auto& row : rows) EXPECT_EQ(storage.PathOf("blue", row.url).value_or(""), row.wanted) << row.url;
  EXPECT_TRUE(Storage::IsShared("s3://b"));
  EXPECT_FALSE(Storage::IsShared("file:///b"));
}

}  // namespace
}  // namespace baton::practice
