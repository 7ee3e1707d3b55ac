// Compaction: what it forgets, told to the engine first and then forgotten in memory, in slices that let others run.
// The store does it when it is told to, and by itself when the past has too many bytes.
#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "store/store.h"

namespace baton::store {

// A compaction under way. Shared with the task that waits for it, which may be dropped.
struct Store::Compaction {
  Revision revision;
  Result<void> result;
  rt::Event done;
};

namespace {
constexpr size_t kEventsPerSlice = 2000;  // looked at before others get a turn: about a millisecond

// Of the bytes that history may have: so much stays when it has more, so that each event is looked at once only; and so
// much more there is before the next try, when the disk did not take one.
constexpr size_t kShrinkToFraction = 2;
constexpr size_t kShrinkAgainFraction = 4;
}  // namespace

rt::Task<Result<void>> Store::Compact(Revision revision) {
  if (revision > committed_) {
    co_return InvalidError(
        StrCat("cannot compact to ", revision.value(), ": the newest revision is ", committed_.value()));
  }
  const auto compaction = std::make_shared<Compaction>();
  compaction->revision = revision;
  scope_.Spawn(RunCompaction(compaction));
  co_await compaction->done.Wait();
  co_return compaction->result;
}

rt::Task<void> Store::RunCompaction(std::shared_ptr<Compaction> compaction) {
  compaction->result = co_await CompactUnderLock(compaction->revision);
  compaction->done.Set();
}

rt::Task<Result<void>> Store::CompactUnderLock(Revision revision) {
  const rt::Mutex::Guard guard = co_await engine_mutex_.Lock();
  co_return co_await CompactLocked(revision);
}

rt::Task<Result<void>> Store::CompactLocked(Revision revision) {
  if (closed_) co_return UnavailableError("the store is closed");
  if (revision <= compacted_) co_return Result<void>();
  std::vector<Superseded> superseded = co_await FindSuperseded(revision);
  CO_TRY(co_await engine_->Compact(revision, std::move(superseded)));
  compacted_ = revision;  // from here on nobody can ask for what is now forgotten bit by bit
  co_await Forget(revision);
  co_return Result<void>();
}

// Writers wait for it: it has the engine's lock before their next batch. So the past grows by one batch at most
// meanwhile.
void Store::ShrinkHistory() {
  if (state_.history_bytes <= shrink_above_ || std::exchange(shrinking_, true)) return;
  scope_.Spawn(RunShrink());
}

rt::Task<void> Store::RunShrink() {
  const Result<void> shrunk = co_await ShrinkUnderLock();
  shrink_above_ = limits_.history_bytes_max;
  if (!shrunk.ok()) shrink_above_ = state_.history_bytes + limits_.history_bytes_max / kShrinkAgainFraction;
  shrinking_ = false;
}

rt::Task<Result<void>> Store::ShrinkUnderLock() {
  const rt::Mutex::Guard guard = co_await engine_mutex_.Lock();
  const size_t keep = limits_.history_bytes_max / kShrinkToFraction;
  if (state_.history_bytes <= keep) co_return Result<void>();  // another compaction was faster
  const Revision revision = co_await RevisionToForget(state_.history_bytes - keep);
  co_return co_await CompactLocked(revision);
}

// The first one that, with all before it, has that many bytes of history.
rt::Task<Revision> Store::RevisionToForget(size_t bytes) {
  Revision revision = compacted_;
  size_t seen = 0;
  for (size_t i = 0; i < state_.history.size() && seen < bytes; ++i) {
    if (i % kEventsPerSlice == kEventsPerSlice - 1) co_await loop_.Yield();
    seen += state_.history[i]->past_bytes();
    revision = state_.history[i]->revision;
  }
  co_return revision;
}

// Each change up to `revision` supersedes the key's version before it, and a deletion also itself. Nothing is committed
// meanwhile: the lock is held.
rt::Task<std::vector<Superseded>> Store::FindSuperseded(Revision revision) {
  std::vector<Superseded> superseded;
  for (size_t i = 0; i < state_.history.size() && state_.history[i]->revision <= revision; ++i) {
    if (i % kEventsPerSlice == kEventsPerSlice - 1) co_await loop_.Yield();
    const Event& event = *state_.history[i];
    const Versions& versions = state_.keys.find(event.key)->second;
    const auto at = std::ranges::lower_bound(versions, event.revision, {}, &Version::revision);
    if (at != versions.begin()) superseded.push_back({std::prev(at)->revision, std::prev(at)->index});
    if (event.deleted()) superseded.push_back({at->revision, at->index});
  }
  std::ranges::sort(superseded);
  const auto repeated = std::ranges::unique(superseded);  // a deletion, when the key was created again
  superseded.erase(repeated.begin(), repeated.end());
  co_return superseded;
}

rt::Task<void> Store::Forget(Revision revision) {
  for (size_t i = 1; !state_.history.empty() && state_.history.front()->revision <= revision; ++i) {
    if (i % kEventsPerSlice == 0) co_await loop_.Yield();
    const auto found = state_.keys.find(state_.history.front()->key);
    state_.DropOldest();
    if (found == state_.keys.end()) continue;
    Versions& versions = found->second;
    // The version that is current at `revision` stays, unless it is a deletion.
    auto current = std::ranges::upper_bound(versions, revision, {}, &Version::revision);
    if (current == versions.begin()) continue;
    if (std::prev(current)->value != nullptr) --current;
    versions.erase(versions.begin(), current);
    if (versions.empty()) state_.keys.erase(found);
  }
}

}  // namespace baton::store
