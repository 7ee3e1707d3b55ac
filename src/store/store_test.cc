// The store's contract: the same tests on every engine.
#include "store/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "rt/scope.h"
#include "rt/when.h"
#include "store/testing/harness.h"

namespace baton::store {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class StoreContract : public testing::TestWithParam<EngineKind> {
 protected:
  Harness h{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Engines, StoreContract,
                         testing::Values(EngineKind::kMemory, EngineKind::kFake, EngineKind::kRocks,
                                         EngineKind::kRocksInMemory),
                         [](const auto& info) { return NameOf(info.param); });

std::vector<std::string> Texts(const Result<std::vector<std::shared_ptr<const Event>>>& events) {
  return ToTexts(events.value());
}

// What engines promise that keep something.
class DurableStoreContract : public StoreContract {};

INSTANTIATE_TEST_SUITE_P(Engines, DurableStoreContract,
                         testing::Values(EngineKind::kFake, EngineKind::kRocks, EngineKind::kRocksInMemory),
                         [](const auto& info) { return NameOf(info.param); });

// ---- revisions and reads ----

TEST_P(StoreContract, ANewStoreIsEmptyAtRevisionZero) {
  h.Open();
  EXPECT_EQ(h.store().revision(), Revision(0));
  EXPECT_EQ(h.store().compacted(), Revision(0));
  EXPECT_EQ(h.store().size(), 0U);
  EXPECT_EQ(h.List(), "");
  EXPECT_EQ(h.Value("a"), "-");
}

TEST_P(StoreContract, EveryTransactionIsOneRevision) {
  h.Open();
  EXPECT_EQ(h.Put("a", "1"), Revision(1));
  EXPECT_EQ(h.Commit(Transaction().Put("b", "2").Put("c", "3").Delete("a")).value(), Revision(2));
  EXPECT_EQ(h.Put("b", "4"), Revision(3));
  EXPECT_EQ(h.store().revision(), Revision(3));
  EXPECT_EQ(h.store().size(), 2U);
  EXPECT_EQ(h.List(), "b=4 c=3");
  const Entry b = h.store().Get("b").value().value();
  EXPECT_EQ(b.key, "b");
  EXPECT_EQ(b.create_revision, Revision(2));
  EXPECT_EQ(b.mod_revision, Revision(3));
}

TEST_P(StoreContract, AKeysLifeBeginsAnewWhenItIsCreatedAgain) {
  h.Open();
  h.Put("a", "1");
  h.Delete("a");
  h.Put("a", "2");
  h.Put("a", "3");
  const Entry entry = h.store().Get("a").value().value();
  EXPECT_EQ(entry.create_revision, Revision(3));
  EXPECT_EQ(entry.mod_revision, Revision(4));
}

TEST_P(StoreContract, ReadsSeeAnyRevisionThatWas) {
  h.Open();
  h.Put("a", "1");
  h.Put("b", "2");
  h.Delete("a");
  h.Put("a", "3");
  const std::vector<std::string> lists = {"", "a=1", "a=1 b=2", "b=2", "a=3 b=2"};
  for (int64_t at = 1; at <= 4; ++at) EXPECT_EQ(h.List("", {.at = Revision(at)}), lists[at]) << at;
  EXPECT_EQ(h.Value("a", Revision(2)), "1");
  EXPECT_EQ(h.Value("a", Revision(3)), "-");
  EXPECT_EQ(h.store().Get("a", Revision(4)).value()->create_revision, Revision(4));
}

TEST_P(StoreContract, TheFutureCannotBeRead) {
  h.Open();
  h.Put("a", "1");
  EXPECT_EQ(h.store().Get("a", Revision(2)).error().kind(), ErrorKind::kInvalid);
  EXPECT_EQ(h.store().List("", {.at = Revision(2)}).error().kind(), ErrorKind::kInvalid);
  EXPECT_EQ(h.store().OpenWatch("", Revision(2)).error().kind(), ErrorKind::kInvalid);
  EXPECT_THAT(h.store().Get("a", Revision(2)).error().message(), HasSubstr("the newest is 1"));
}

TEST_P(StoreContract, KeysAndValuesAreAnyBytes) {
  h.Open();
  std::string all_bytes;
  for (int i = 0; i < 256; ++i) all_bytes.push_back(static_cast<char>(i));
  const std::string zeros(5, '\0');
  h.Commit(Transaction().Put(all_bytes, zeros).Put(zeros, all_bytes).Put("empty", "")).value();
  h.Put("big", std::string(1 << 20, 'x'));
  EXPECT_EQ(h.Value(all_bytes), zeros);
  EXPECT_EQ(h.Value(zeros), all_bytes);
  EXPECT_EQ(h.Value("empty"), "");
  EXPECT_EQ(h.Value("big").size(), size_t{1} << 20);
  if (!h.durable()) return;
  h.Open();
  EXPECT_EQ(h.Value(all_bytes), zeros);
  EXPECT_EQ(h.Value(zeros), all_bytes);
  EXPECT_EQ(h.Value("empty"), "");
  EXPECT_EQ(h.Value("big").size(), size_t{1} << 20);
}

// ---- lists ----

TEST_P(StoreContract, APrefixIsTakenByteByByte) {
  h.Open();
  Transaction transaction;
  for (const char* key : {"a", "a/", "a/1", "a0", "a\xff", "a\xff\xff", "b", "\xff\xff"}) transaction.Put(key, "");
  h.Commit(std::move(transaction)).value();
  struct Row {
    std::string prefix;
    size_t count;
  };
  for (const Row& row :
       std::vector<Row>{{"", 8}, {"a", 6}, {"a/", 2}, {"a\xff", 2}, {"\xff", 1}, {"c", 0}, {"a/12", 0}}) {
    EXPECT_EQ(h.store().List(row.prefix).value().entries.size(), row.count) << row.prefix;
    EXPECT_EQ(h.store().Count(row.prefix), row.count) << row.prefix;
  }
}

TEST_P(StoreContract, PagesAreConsistentAtOneRevisionWhateverIsWrittenBetween) {
  h.Open();
  Transaction fill;
  for (int i = 0; i < 10; ++i) fill.Put("k" + std::to_string(i), "old");
  h.Commit(std::move(fill)).value();
  std::string seen;
  ListOptions page{.limit = 4};
  std::string last;
  for (size_t pages = 1;; ++pages) {
    const ListResult result = h.store().List("k", page).value();
    for (const Entry& entry : result.entries) {
      seen += entry.key + "=" + *entry.value + " ";
      last = entry.key;
    }
    EXPECT_EQ(result.revision, Revision(1));
    EXPECT_EQ(result.more, pages < 3);
    EXPECT_EQ(result.remaining, pages < 3 ? 10 - 4 * pages : 0);
    if (!result.more) break;
    page.at = result.revision;
    page.start_after = last;
    h.Commit(Transaction().Delete("k5").Put("k9", "new").Put("k40", "new")).value();
  }
  EXPECT_EQ(seen, "k0=old k1=old k2=old k3=old k4=old k5=old k6=old k7=old k8=old k9=old ");
}

TEST_P(StoreContract, AListNeedNotCountWhatIsBeyondItsLimit) {
  h.Open();
  h.Commit(Transaction().Put("a1", "").Put("a2", "").Put("a3", "")).value();
  const ListResult result = h.store().List("a", {.limit = 1, .count = false}).value();
  EXPECT_EQ(result.entries.size(), 1U);
  EXPECT_TRUE(result.more);
  EXPECT_EQ(result.remaining, 0U);
}

TEST_P(StoreContract, AListBeginsAfterAKeyThatNeedNotExist) {
  h.Open();
  h.Commit(Transaction().Put("a1", "").Put("a3", "").Put("b", "")).value();
  EXPECT_EQ(h.List("a", {.start_after = "a2"}), "a3=");
  EXPECT_EQ(h.List("a", {.start_after = "A"}), "a1= a3=");
  EXPECT_EQ(h.List("a", {.start_after = "b"}), "");
  EXPECT_EQ(h.List("a", {.start_after = "c"}), "");
}

TEST_P(StoreContract, AListEndsWithItsPrefixWhateverFollows) {
  h.Open();
  h.Commit(Transaction()
               .Put("a", "")
               .Put("a\xff", "")
               .Put("a\xff\xff", "")
               .Put("b", "")
               .Put("\xff", "")
               .Put("\xff\xff", ""))
      .value();
  EXPECT_EQ(h.store().List("a")->entries.size(), 3U);
  EXPECT_EQ(h.store().List("a\xff")->entries.size(), 2U);
  EXPECT_EQ(h.store().List("a\xff\xff")->entries.size(), 1U);
  EXPECT_EQ(h.store().List("\xff")->entries.size(), 2U);
  EXPECT_EQ(h.store().List("")->entries.size(), 6U);
  EXPECT_EQ(h.store().List("\xff", {.start_after = "\xff"})->entries.size(), 1U);
}

TEST_P(StoreContract, AListWithoutKeysHasTheLastOne) {
  h.Open();
  h.Commit(Transaction().Put("a1", "x").Put("a2", "y").Put("a3", "z")).value();
  EXPECT_EQ(h.List("a", {.keys = false}), "=x =y a3=z");
  EXPECT_EQ(h.List("a", {.limit = 2, .keys = false}), "=x a2=y");
  EXPECT_EQ(h.List("b", {.keys = false}), "");
}

// ---- conditions ----

TEST_P(StoreContract, AChangeHappensOnlyWhenItsConditionsHold) {
  h.Open();
  h.Put("a", "1");  // 1
  h.Put("b", "1");  // 2
  h.Delete("b");    // 3
  struct Row {
    std::string key;
    int64_t revision;
    bool holds;
  };
  for (const Row& row : std::vector<Row>{{"a", 1, true},
                                         {"a", 0, false},
                                         {"a", 2, false},
                                         {"a", 99, false},
                                         {"b", 0, true},
                                         {"b", 2, false},
                                         {"b", 3, false},
                                         {"c", 0, true},
                                         {"c", 1, false}}) {
    const Result<Revision> result = h.Commit(Transaction().If(row.key, Revision(row.revision)));
    EXPECT_EQ(result.ok(), row.holds) << row.key << " " << row.revision;
    if (result.ok()) {
      EXPECT_EQ(*result, Revision(3));
    } else {
      EXPECT_EQ(result.error().kind(), ErrorKind::kConflict);
      EXPECT_THAT(result.error().message(), HasSubstr("'" + row.key + "'"));
    }
  }
  EXPECT_EQ(h.store().revision(), Revision(3));
}

TEST_P(StoreContract, OneFailedConditionUndoesTheWholeTransaction) {
  h.Open();
  h.Put("a", "1");
  const Result<Revision> result =
      h.Commit(Transaction().If("a", Revision(1)).If("b", Revision(5)).Put("a", "2").Put("b", "2").Delete("c"));
  EXPECT_EQ(result.error().ToString(), "conflict: 'b' does not exist, so it is not at revision 5");
  EXPECT_EQ(h.List(), "a=1");
  EXPECT_EQ(h.store().revision(), Revision(1));
}

TEST_P(StoreContract, TheConflictSaysWhatStandsThere) {
  h.Open();
  h.Put("a", "1");
  h.Put("a", "2");
  EXPECT_EQ(h.Commit(Transaction().If("a", Revision(1)).Put("a", "3")).error().message(),
            "'a' is at revision 2, not 1");
  EXPECT_EQ(h.Commit(Transaction().If("a", Revision(0)).Put("a", "3")).error().message(),
            "'a' exists already, at revision 2");
}

TEST_P(StoreContract, AConditionAloneIsACheck) {
  h.Open();
  h.Put("a", "1");
  EXPECT_EQ(h.Commit(Transaction().If("a", Revision(1))).value(), Revision(1));
  EXPECT_FALSE(h.Commit(Transaction().If("a", Revision(0))).ok());
}

// ---- several changes ----

TEST_P(StoreContract, OfTwoChangesOfOneKeyTheLastCounts) {
  h.Open();
  h.Put("x", "0");
  h.Put("y", "0");
  const auto watch = h.store().OpenWatch("", h.store().revision()).value();
  h.Commit(Transaction()
               .Put("a", "1")
               .Put("b", "1")
               .Put("a", "2")
               .Put("x", "1")
               .Delete("x")
               .Delete("y")
               .Put("y", "1")
               .Put("new", "1")
               .Delete("new"))
      .value();
  EXPECT_EQ(h.List(), "a=2 b=1 y=1");
  EXPECT_THAT(Texts(watch->Poll()),
              ElementsAre("3:put b=1@3(new)", "3:put a=2@3(new)", "3:del x@1(was 0)", "3:put y=1@2(was 0)"));
}

TEST_P(StoreContract, DeletingWhatDoesNotExistIsNoChange) {
  h.Open();
  h.Put("a", "1");
  const auto watch = h.store().OpenWatch("", Revision(0)).value();
  EXPECT_EQ(h.Delete("b"), Revision(1));
  EXPECT_EQ(h.Commit(Transaction()).value(), Revision(1));
  EXPECT_EQ(h.store().revision(), Revision(1));
  EXPECT_THAT(Texts(watch->Poll()), ElementsAre("1:put a=1@1(new)"));
}

// ---- values that carry their revision ----

Transaction& PutOwnRevision(Transaction& transaction, const std::string& key, int* calls = nullptr) {
  return transaction.PutMade(key, 30, [key, calls](Revision revision) {
    if (calls != nullptr) ++*calls;
    return key + "@" + std::to_string(revision.value());
  });
}

// Every such value says the revision that its entry has. Answers how many there are.
size_t CheckOwnRevisions(const ListResult& list) {
  for (const Entry& entry : list.entries) {
    EXPECT_EQ(*entry.value, entry.key + "@" + std::to_string(entry.mod_revision.value()));
  }
  return list.entries.size();
}

rt::Task<std::vector<Result<Revision>>> PutOwnRevisionsAtOnce(Harness& h, int count, int* calls) {
  std::vector<rt::Task<Result<Revision>>> tasks;
  for (int i = 0; i < count; ++i) {
    Transaction transaction;
    PutOwnRevision(transaction, "k" + std::to_string(i), calls);
    if (i % 3 == 0) PutOwnRevision(transaction, "also" + std::to_string(i), calls);
    if (i % 4 == 0) PutOwnRevision(transaction, "hot", calls);
    tasks.push_back(h.store().Commit(std::move(transaction)));
  }
  co_return co_await rt::WhenAll(std::move(tasks));
}

TEST_P(StoreContract, AMadeValueMayBeKeptByWhoMadeIt) {
  h.Open();
  Bytes kept;
  const auto make = [&kept](Revision revision) {
    return kept = std::make_shared<const std::string>(std::to_string(revision.value()));
  };
  EXPECT_EQ(h.Commit(Transaction().If("a", Revision(0)).PutMade("a", 20, make)).value(), Revision(1));
  EXPECT_EQ(h.store().Get("a").value()->value, kept);
  EXPECT_EQ(*kept, "1");
}

TEST_P(StoreContract, AMadeValueCarriesTheRevisionOfItsCommit) {
  h.Open();
  h.Put("before", "before@1");
  const auto watch = h.store().OpenWatch("", Revision(1)).value();
  int calls = 0;
  const auto results = h.Run(PutOwnRevisionsAtOnce(h, 50, &calls));
  EXPECT_EQ(calls, 50 + 17 + 13) << "once for each value";
  for (size_t i = 0; i < results.size(); ++i) {
    const std::string key = "k" + std::to_string(i);
    EXPECT_EQ(h.Value(key), key + "@" + std::to_string(results[i].value().value()));
  }
  for (int round = 0; round < (h.durable() ? 2 : 1); ++round) {
    EXPECT_EQ(h.store().revision(), Revision(51));
    for (int64_t at = 1; at <= 51; ++at) CheckOwnRevisions(h.store().List("", {.at = Revision(at)}).value());
    EXPECT_EQ(CheckOwnRevisions(h.store().List("").value()), 1U + 50 + 17 + 1);
    if (h.durable()) h.Open();
  }
  for (const auto& event : watch->Poll().value()) {
    EXPECT_EQ(*event->value, event->key + "@" + std::to_string(event->revision.value()));
  }
}

TEST_P(StoreContract, NoValueIsMadeForATransactionThatDoesNotHappen) {
  h.Open({.value_bytes_max = 30, .transaction_bytes_max = 600});
  h.Put("a", "1");
  int calls = 0;
  Transaction conflict;
  PutOwnRevision(conflict.If("a", Revision(7)), "a", &calls);
  EXPECT_EQ(h.Commit(std::move(conflict)).error().kind(), ErrorKind::kConflict);
  Transaction too_large;
  for (const char* key : {"a", "b", "c", "d"}) PutOwnRevision(too_large, key, &calls);
  EXPECT_THAT(h.Commit(std::move(too_large)).error().message(), HasSubstr("a transaction of 636 bytes"));
  const auto too_long =
      h.Commit(Transaction().PutMade("a", 31, [&calls](Revision) { return std::to_string(++calls); })).error();
  EXPECT_EQ(too_long.ToString(), "too_large: the value of 'a' has up to 31 bytes: the limit is 30");
  EXPECT_EQ(h.store().revision(), Revision(1));
  EXPECT_EQ(calls, 0);

  // Of two changes of one key the last counts: the first is not made.
  Transaction last_counts;
  PutOwnRevision(PutOwnRevision(last_counts, "a", &calls), "b", &calls).Put("a", "2").Delete("b");
  EXPECT_EQ(h.Commit(std::move(last_counts)).value(), Revision(2));
  EXPECT_EQ(h.List(), "a=2");
  EXPECT_EQ(calls, 0);
}

rt::Task<std::pair<Result<Revision>, Result<Revision>>> CreateTwiceAtOnce(Harness& h, int* calls) {
  Transaction first;
  Transaction second;
  PutOwnRevision(first.If("a", Revision(0)), "a", calls);
  PutOwnRevision(second.If("a", Revision(0)), "a", calls);
  auto [one, two] = co_await rt::WhenAll(h.store().Commit(std::move(first)), h.store().Commit(std::move(second)));
  co_return {std::move(one), std::move(two)};
}

TEST_P(StoreContract, AWriterThatLosesToOneStillUnderWayMakesNoValue) {
  h.Open();
  int calls = 0;
  const auto [one, two] = h.Run(CreateTwiceAtOnce(h, &calls));
  EXPECT_EQ(one.ok() + two.ok(), 1);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(h.List(), "a=a@1");
}

TEST(StoreDeathTest, AMadeValueIsNotLongerThanAnnounced) {
  Harness h(EngineKind::kMemory);
  h.Open();
  h.Commit(Transaction().PutMade("a", 3, [](Revision) { return "123"; })).value();
  EXPECT_DEATH((void)h.Commit(Transaction().PutMade("b", 3, [](Revision) { return "1234"; })),
               "the value made for 'b' has 4 bytes; at most 3 were announced");
}

// ---- watches ----

TEST_P(StoreContract, AWatchDeliversPastAndPresentWithoutGapOrDuplicate) {
  h.Open();
  h.Put("a", "1");
  h.Put("b", "1");
  h.Put("a", "2");
  const auto watch = h.store().OpenWatch("a", Revision(1)).value();
  h.Delete("a");
  h.Put("ab", "1");
  h.Put("c", "1");
  EXPECT_THAT(Texts(h.Run(watch->Next())), ElementsAre("3:put a=2@1(was 1)", "4:del a@1(was 2)", "5:put ab=1@5(new)"));
  EXPECT_THAT(Texts(watch->Poll()), ElementsAre());
  EXPECT_EQ(watch->position(), Revision(6));
  h.Put("a", "3");
  EXPECT_THAT(Texts(h.Run(watch->Next())), ElementsAre("7:put a=3@7(new)"));
}

rt::Task<void> CommitLater(Harness& h, Transaction transaction) {
  co_await h.loop().Yield();
  (co_await h.store().Commit(std::move(transaction))).value();
}

rt::Task<std::vector<std::string>> NextWhile(Harness& h, Watch& watch, Transaction transaction) {
  auto [events, done] = co_await rt::WhenAll(watch.Next(), CommitLater(h, std::move(transaction)));
  co_return ToTexts(events.value());
}

TEST_P(StoreContract, AWatchWaitsForWhatItWatches) {
  h.Open();
  const auto watch = h.store().OpenWatch("a/", Revision(0)).value();
  EXPECT_THAT(h.Run(NextWhile(h, *watch, Transaction().Put("b", "1").Put("a/1", "1").Put("a/2", "2"))),
              ElementsAre("1:put a/1=1@1(new)", "1:put a/2=2@1(new)"));
}

TEST_P(StoreContract, ARevisionIsNeverSplitOverTwoCalls) {
  h.Open();
  constexpr int kChanges = 700;  // two of them are more than one call hands out
  constexpr int kRevisions = 5;
  const auto from_now = h.store().OpenWatch("", Revision(0)).value();
  for (int revision = 1; revision <= kRevisions; ++revision) {
    Transaction transaction;
    for (int i = 0; i < kChanges; ++i) transaction.Put("k" + std::to_string(i), "v");
    h.Commit(std::move(transaction)).value();
  }
  const auto from_past = h.store().OpenWatch("", Revision(0)).value();
  for (Watch* watch : {from_now.get(), from_past.get()}) {
    size_t total = 0;
    while (total < size_t{kChanges} * kRevisions) {
      const auto events = watch->Poll().value();
      ASSERT_FALSE(events.empty());
      total += events.size();
      EXPECT_EQ(total % kChanges, 0U) << "a revision was split";
      const bool all = total == size_t{kChanges} * kRevisions;
      EXPECT_EQ(watch->position(), all ? h.store().revision() : events.back()->revision);
      // What a reconnecting client would get from there is what this one has not got.
      const auto resumed = h.store().OpenWatch("", watch->position()).value()->Poll().value();
      EXPECT_EQ(resumed.empty(), all);
      if (!all) EXPECT_EQ(resumed.front()->revision, events.back()->revision.Next());
    }
  }
}

TEST_P(StoreContract, WatchesOfNestedPrefixesEachSeeTheirOwn) {
  h.Open();
  std::vector<std::pair<std::string, std::unique_ptr<Watch>>> watches;
  for (const char* prefix : {"", "a", "a/b", "a/b/c", "a/bb", "a0", "b", "a/b/c/d"}) {
    watches.emplace_back(prefix, h.store().OpenWatch(prefix, Revision(0)).value());
  }
  const std::vector<std::string> keys = {"a", "a/b", "a/b/c", "a/bb1", "a/ba", "b", "c", "a/b/c/d", "a/b/d", "a01"};
  for (const std::string& key : keys) h.Put(key, "v");
  for (const auto& [prefix, watch] : watches) {
    std::vector<std::string> expected;
    for (const std::string& key : keys) {
      if (key.starts_with(prefix)) expected.push_back(key);
    }
    std::vector<std::string> seen;
    for (const auto& event : watch->Poll().value()) seen.push_back(event->key);
    EXPECT_EQ(seen, expected) << prefix;
  }
}

TEST_P(StoreContract, ASlowWatcherIsCutOffAndCostsTheOthersNothing) {
  h.Open({.watch_backlog_max = 10});
  h.Put("a", "before");
  const auto slow = h.store().OpenWatch("a", Revision(0)).value();
  const auto fast = h.store().OpenWatch("a", Revision(1)).value();
  const auto elsewhere = h.store().OpenWatch("b", Revision(1)).value();
  for (int i = 0; i < 11; ++i) {
    h.Put("a", std::to_string(i));
    EXPECT_EQ(fast->Poll().value().size(), 1U);
  }
  EXPECT_THAT(Texts(slow->Poll()), ElementsAre("1:put a=before@1(new)")) << "the past was promised";
  EXPECT_EQ(slow->position(), Revision(1));
  const Result<std::vector<std::shared_ptr<const Event>>> gone = slow->Poll();
  EXPECT_EQ(gone.error().kind(), ErrorKind::kGone);
  EXPECT_EQ(gone.error().message(), "the watch of 'a' fell more than 10 events or 134217728 bytes behind: list again");
  EXPECT_EQ(h.Run(slow->Next()).error().kind(), ErrorKind::kGone);
  h.Put("b", "1");
  EXPECT_EQ(elsewhere->Poll().value().size(), 1U);
  h.Put("a", "last");
  EXPECT_EQ(fast->Poll().value().size(), 1U);
}

TEST_P(StoreContract, AWatchAtTheEdgeOfItsBacklogIsNotCutOff) {
  h.Open({.watch_backlog_max = 10});
  const auto watch = h.store().OpenWatch("", Revision(0)).value();
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 10; ++i) h.Put("a", std::to_string(i));
    EXPECT_EQ(watch->Poll().value().size(), 10U);
  }
}

TEST_P(StoreContract, AWatchMayOutliveItsStore) {
  h.Open();
  auto watch = h.store().OpenWatch("", Revision(0)).value();
  h.Put("a", "1");
  h.Drop();
  EXPECT_THAT(Texts(h.Run(watch->Next())), ElementsAre("1:put a=1@1(new)"));
  EXPECT_EQ(h.Run(watch->Next()).error().kind(), ErrorKind::kUnavailable);
  EXPECT_EQ(watch->position(), Revision(1));
}

// ---- compaction ----

TEST_P(StoreContract, CompactionForgetsThePastAndKeepsEachKeysLatest) {
  h.Open();
  h.Put("a", "1");
  h.Put("b", "1");
  h.Put("a", "2");
  h.Put("c", "1");
  h.Delete("c");
  h.Put("a", "3");
  h.Delete("b");
  h.Compact(Revision(5)).value();
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(h.store().compacted(), Revision(5));
    EXPECT_EQ(h.store().revision(), Revision(7));
    EXPECT_EQ(h.List("", {.at = Revision(5)}), "a=2 b=1");
    EXPECT_EQ(h.List("", {.at = Revision(6)}), "a=3 b=1");
    EXPECT_EQ(h.List(), "a=3");
    EXPECT_EQ(h.store().Get("a", Revision(5)).value()->create_revision, Revision(1));
    EXPECT_EQ(h.store().Get("a", Revision(4)).error().kind(), ErrorKind::kGone);
    EXPECT_EQ(h.store().List("", {.at = Revision(4)}).error().kind(), ErrorKind::kGone);
    EXPECT_EQ(h.store().OpenWatch("", Revision(4)).error().kind(), ErrorKind::kGone);
    EXPECT_EQ(h.store().OpenWatch("", Revision(4)).error().message(), "revision 4 is compacted; the oldest kept is 5");
    EXPECT_THAT(Texts(h.store().OpenWatch("", Revision(5)).value()->Poll()),
                ElementsAre("6:put a=3@1(was 2)", "7:del b@2(was 1)"));
    if (!h.durable()) return;
    h.Open();
  }
}

TEST_P(StoreContract, CompactionUpToNowLeavesNoHistoryAndTheRevisionNeverGoesBack) {
  h.Open();
  for (int i = 0; i < 50; ++i) h.Put("hot", std::to_string(i));
  h.Put("gone", "1");
  h.Delete("gone");
  h.Compact(h.store().revision()).value();
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(h.store().revision(), Revision(52));
    EXPECT_EQ(h.List(), "hot=49");
    EXPECT_EQ(h.store().size(), 1U);
    EXPECT_TRUE(h.store().OpenWatch("", Revision(52)).value()->Poll().value().empty());
    if (!h.durable()) return;
    h.Open();
  }
  h.Delete("hot");
  h.Compact(h.store().revision()).value();
  h.Open();
  EXPECT_EQ(h.store().revision(), Revision(53)) << "with not one record left";
  EXPECT_EQ(h.Put("hot", "again"), Revision(54));
  EXPECT_EQ(h.store().Get("hot").value()->create_revision, Revision(54));
}

TEST_P(StoreContract, CompactingAgainOrToTheFutureDoesNothing) {
  h.Open();
  h.Put("a", "1");
  h.Put("a", "2");
  h.Put("a", "3");
  h.Compact(Revision(2)).value();
  h.Compact(Revision(2)).value();
  h.Compact(Revision(1)).value();
  h.Compact(Revision(0)).value();
  EXPECT_EQ(h.store().compacted(), Revision(2));
  EXPECT_EQ(h.Compact(Revision(4)).error().kind(), ErrorKind::kInvalid);
  h.Compact(Revision(3)).value();
  EXPECT_EQ(h.store().compacted(), Revision(3));
}

TEST_P(StoreContract, AnOpenWatchIsNotDisturbedByCompaction) {
  h.Open();
  h.Put("a", "1");
  const auto from_past = h.store().OpenWatch("", Revision(0)).value();
  const auto from_now = h.store().OpenWatch("", Revision(1)).value();
  h.Put("a", "2");
  h.Compact(Revision(2)).value();
  h.Put("a", "3");
  EXPECT_THAT(Texts(from_past->Poll()), ElementsAre("1:put a=1@1(new)", "2:put a=2@1(was 1)", "3:put a=3@1(was 2)"));
  EXPECT_THAT(Texts(from_now->Poll()), ElementsAre("2:put a=2@1(was 1)", "3:put a=3@1(was 2)"));
}

TEST_P(StoreContract, EveryChangeIsEachThatIsNotCompacted) {
  h.Open();
  for (const char* value : {"1", "2", "3"}) h.Put("a", value);
  h.Delete("a");
  h.Compact(Revision(2)).value();
  std::vector<std::string> seen;
  const auto see = [&seen](const Event& change) {
    seen.push_back(ToText(change));
    return change.revision < Revision(4);
  };
  EXPECT_FALSE(h.store().EveryChange(see));
  EXPECT_THAT(seen, ElementsAre("3:put a=3@1(was 2)", "4:del a@1(was 3)"));
  EXPECT_TRUE(h.store().EveryChange([](const Event&) { return true; }));
}

rt::Task<void> CompactWhileWriting(Harness& h) {
  rt::Scope scope(h.loop());
  for (int i = 0; i < 20; ++i) scope.Spawn(CommitLater(h, Transaction().Put("hot", std::to_string(i))));
  for (int i = 0; i < 5; ++i) (co_await h.store().Compact(h.store().revision())).value();
  co_await scope.Join();
  (co_await h.store().Compact(h.store().revision())).value();
}

TEST_P(StoreContract, CompactionAndWritesMayRunAtOnce) {
  h.Open();
  for (int i = 0; i < 100; ++i) h.Put("k" + std::to_string(i % 7), std::to_string(i));
  h.Run(CompactWhileWriting(h));
  EXPECT_EQ(h.store().revision(), Revision(120));
  EXPECT_EQ(h.store().size(), 8U);
  if (!h.durable()) return;
  const std::string before = h.List();
  h.Open();
  EXPECT_EQ(h.List(), before);
}

// ---- limits ----

TEST_P(StoreContract, EveryLimitIsAnsweredAndNothingIsDone) {
  const StoreLimits limits{
      .key_bytes_max = 8, .value_bytes_max = 100, .changes_per_transaction_max = 3, .transaction_bytes_max = 650};
  h.Open(limits);
  Transaction many;
  Transaction many_conditions;
  for (int i = 0; i < 4; ++i) {
    many.Put(std::to_string(i), "");
    many_conditions.If(std::to_string(i), Revision(0));
  }
  Transaction large;
  for (int i = 0; i < 3; ++i) large.Put(std::to_string(i), std::string(100, 'x'));
  struct Row {
    Transaction transaction;
    ErrorKind kind;
    std::string says;
  };
  const std::vector<Row> rows = {
      {Transaction().Put("", "x"), ErrorKind::kInvalid, "empty"},
      {Transaction().Delete(""), ErrorKind::kInvalid, "empty"},
      {Transaction().Put("123456789", "x"), ErrorKind::kTooLarge, "a key of 9 bytes: the limit is 8"},
      {Transaction().Put("k", std::string(101, 'x')), ErrorKind::kTooLarge,
       "the value of 'k' has 101 bytes: the limit is 100"},
      {many, ErrorKind::kTooLarge, "4 changes or conditions in one transaction: the limit is 3"},
      {many_conditions, ErrorKind::kTooLarge, "the limit is 3"},
      {large, ErrorKind::kTooLarge, "a transaction of 687 bytes: the limit is 650"},
  };
  for (const Row& row : rows) {
    const Result<Revision> result = h.Commit(row.transaction);
    EXPECT_EQ(result.error().kind(), row.kind) << row.says;
    EXPECT_THAT(result.error().message(), HasSubstr(row.says));
  }
  EXPECT_EQ(h.store().revision(), Revision(0));
  h.Put("12345678", std::string(100, 'x'));
}

rt::Task<std::vector<Result<Revision>>> CommitAtOnce(Harness& h, int count, std::string value) {
  std::vector<rt::Task<Result<Revision>>> tasks;
  for (int i = 0; i < count; ++i) {
    tasks.push_back(h.store().Commit(Transaction().Put("k" + std::to_string(i), value)));
  }
  co_return co_await rt::WhenAll(std::move(tasks));
}

TEST_P(StoreContract, AFullQueueAnswersThrottledAndEmptiesAgain) {
  h.Open({.pending_bytes_max = 4096});
  int throttled = 0;
  for (const Result<Revision>& result : h.Run(CommitAtOnce(h, 10, std::string(1000, 'x')))) {
    if (result.ok()) continue;
    EXPECT_EQ(result.error().kind(), ErrorKind::kThrottled);
    ++throttled;
  }
  EXPECT_GE(throttled, 1);
  EXPECT_LE(throttled, 7) << "three of 1,130 bytes fit";
  EXPECT_EQ(h.store().size(), static_cast<size_t>(10 - throttled));
  for (const Result<Revision>& result : h.Run(CommitAtOnce(h, 3, std::string(1000, 'y')))) EXPECT_TRUE(result.ok());
  h.Put("larger than the queue", std::string(10'000, 'x'));
}

// ---- concurrency ----

rt::Task<void> Increment(Harness& h, int times, int& conflicts) {
  for (int done = 0; done < times;) {
    const std::optional<Entry> entry = h.store().Get("counter").value();
    const int value = entry ? std::stoi(*entry->value) : 0;
    const Result<Revision> result =
        co_await h.store().Commit(Transaction()
                                      .If("counter", entry ? entry->mod_revision : Revision(0))
                                      .Put("counter", std::to_string(value + 1)));
    if (result.ok()) {
      ++done;
    } else {
      EXPECT_EQ(result.error().kind(), ErrorKind::kConflict);
      ++conflicts;
    }
  }
}

rt::Task<void> IncrementAtOnce(Harness& h, int writers, int times, int& conflicts) {
  rt::Scope scope(h.loop());
  for (int i = 0; i < writers; ++i) scope.Spawn(Increment(h, times, conflicts));
  co_await scope.Join();
}

TEST_P(StoreContract, CompareAndSwapLosesNoIncrement) {
  h.Open();
  int conflicts = 0;
  h.Run(IncrementAtOnce(h, 8, 10, conflicts));
  EXPECT_EQ(h.Value("counter"), "80");
  EXPECT_EQ(h.store().revision(), Revision(80));
  EXPECT_GT(conflicts, 0);
}

TEST_P(StoreContract, ConditionsSeeWritesThatAreStillUnderWay) {
  h.Open();
  // All three are decided before the first is on disk.
  const auto [first, second, third] =
      h.Run(rt::WhenAll(h.store().Commit(Transaction().If("a", Revision(0)).Put("a", "1")),
                        h.store().Commit(Transaction().If("a", Revision(0)).Put("a", "2")),
                        h.store().Commit(Transaction().If("a", Revision(0)).Put("a", "3"))));
  EXPECT_EQ(first.ok() + second.ok() + third.ok(), 1) << "only one creates it";
  EXPECT_EQ(h.store().revision(), Revision(1));
}

rt::Task<void> DropACommit(Harness& h) {
  {
    rt::Scope scope(h.loop());
    scope.Spawn(CommitLater(h, Transaction().Put("a", "1")));
    co_await h.loop().Yield();
    co_await h.loop().Yield();
    for (int i = 0; i < 10; ++i) co_await h.loop().Yield();
  }
  (co_await h.store().Commit(Transaction().Put("b", "1"))).value();
}

TEST_P(StoreContract, DroppingACommitDoesNotTakeItBack) {
  h.Open();
  h.Run(DropACommit(h));
  EXPECT_EQ(h.List(), "a=1 b=1");
  if (!h.durable()) return;
  h.Open();
  EXPECT_EQ(h.List(), "a=1 b=1");
}

// ---- closing and opening again ----

rt::Task<void> CloseWhileWriting(Harness& h, std::vector<Result<Revision>>& results) {
  auto [committed, closed] = co_await rt::WhenAll(CommitAtOnce(h, 5, "x"), h.store().Close());
  results = std::move(committed);
}

TEST_P(StoreContract, CloseWaitsForWhatIsUnderWayAndRefusesTheRest) {
  h.Open();
  h.Put("k", "0");
  const auto watch = h.store().OpenWatch("", Revision(0)).value();
  std::vector<Result<Revision>> results;
  h.Run(CloseWhileWriting(h, results));
  size_t done = 0;
  for (const Result<Revision>& result : results) {
    if (result.ok()) {
      ++done;
    } else {
      EXPECT_EQ(result.error().ToString(), "unavailable: the store is closing");
    }
  }
  EXPECT_EQ(h.store().size(), 1 + done);
  EXPECT_EQ(h.Commit(Transaction().Put("late", "1")).error().kind(), ErrorKind::kUnavailable);
  EXPECT_EQ(h.Compact(Revision(1)).error().kind(), ErrorKind::kUnavailable);
  EXPECT_EQ(h.Value("k"), "0") << "reads go on";
  EXPECT_EQ(h.Run(watch->Next()).value().size(), 1 + done) << "what was written is delivered";
  EXPECT_EQ(h.Run(watch->Next()).error().ToString(), "unavailable: the store is closed");
  h.Run(h.store().Close());  // once more does no harm
}

TEST_P(DurableStoreContract, AClosedStoreLetsAnotherHaveItsData) {
  h.Open();
  h.Put("a", "1");
  h.Run(h.store().Close());
  const auto second = h.Run(Store::Open(h.loop(), h.MakeEngine())).value();
  EXPECT_EQ(second->size(), 1U);
}

TEST_P(DurableStoreContract, TheSameDataIsNotOpenedTwice) {
  h.Open();
  h.Put("a", "1");
  const auto second = h.Run(Store::Open(h.loop(), h.MakeEngine()));
  EXPECT_EQ(second.error().kind(), ErrorKind::kAlreadyExists);
  h.Put("a", "2");
}

TEST_P(DurableStoreContract, EverythingIsThereWhenItIsOpenedAgain) {
  h.Open();
  h.Put("a", "1");
  h.Commit(Transaction().Put("a", "2").Put("b", "1").Put("c", "1")).value();
  h.Delete("b");
  h.Put("b", "2");
  const auto before = ToTexts(h.store().OpenWatch("", Revision(0)).value()->Poll().value());
  for (int round = 0; round < 2; ++round) {
    h.Open();
    EXPECT_EQ(h.store().revision(), Revision(4));
    EXPECT_EQ(h.store().size(), 3U);
    EXPECT_EQ(h.List(), "a=2 b=2 c=1");
    EXPECT_EQ(h.List("", {.at = Revision(2)}), "a=2 b=1 c=1");
    EXPECT_EQ(h.store().Get("a").value()->create_revision, Revision(1));
    EXPECT_EQ(h.store().Get("b").value()->create_revision, Revision(4));
    EXPECT_EQ(ToTexts(h.store().OpenWatch("", Revision(0)).value()->Poll().value()), before);
  }
  EXPECT_EQ(h.Put("d", "1"), Revision(5));
}

}  // namespace
}  // namespace baton::store
