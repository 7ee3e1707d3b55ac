// The store's state and its one writer: transactions get their revision in the order they come, go to the engine in
// batches, and become visible when the engine says that they are on disk.
#include "store/store.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "store/watch_hub.h"

namespace baton::store {

// A decided transaction on its way to the disk. Shared between the queue and the task that waits for it.
struct Store::PendingWrite {
  LogRecord record;
  size_t bytes = 0;
  Result<void> result;
  rt::Event done;
};

namespace {
constexpr size_t kBatchBytesMax = size_t{16} << 20;  // one disk sync; more waits for the next
constexpr size_t kBytesPerChange = 128;              // what a change costs beside its key and value, for the limits
constexpr Revision kNone{0};

size_t CostOf(std::string_view key, size_t value_bytes) { return kBytesPerChange + key.size() + value_bytes; }
}  // namespace

size_t Event::past_bytes() const { return CostOf(key, previous == nullptr ? 0 : previous->size()); }

// ---- Transaction ----

Transaction& Transaction::If(std::string key, Revision mod_revision) {
  conditions_.push_back({std::move(key), mod_revision});
  return *this;
}
Transaction& Transaction::Put(std::string key, Bytes value) {
  INVARIANT(value != nullptr, "a put needs a value");
  steps_.push_back({.key = std::move(key), .value = std::move(value), .make = nullptr});
  return *this;
}
Transaction& Transaction::Put(std::string key, std::string value) {
  return Put(std::move(key), std::make_shared<const std::string>(std::move(value)));
}
Transaction& Transaction::Delete(std::string key) {
  steps_.push_back({.key = std::move(key), .value = nullptr, .make = nullptr});
  return *this;
}
Transaction& Transaction::PutMade(std::string key, size_t bytes_max, std::function<std::string(Revision)> make) {
  INVARIANT(make != nullptr, "a put needs what makes its value");
  return PutMade(std::move(key), bytes_max, [make = std::move(make)](Revision revision) -> Bytes {
    return std::make_shared<const std::string>(make(revision));
  });
}
Transaction& Transaction::PutMade(std::string key, size_t bytes_max, std::function<Bytes(Revision)> make) {
  INVARIANT(make != nullptr, "a put needs what makes its value");
  steps_.push_back({.key = std::move(key), .value = nullptr, .made_bytes_max = bytes_max, .make = std::move(make)});
  return *this;
}
Bytes Transaction::Step::ValueAt(Revision revision) const {
  if (make == nullptr) return value;
  Bytes made = make(revision);
  INVARIANT(made != nullptr, "what makes a value makes one");
  INVARIANT(made->size() <= made_bytes_max, StrCat("the value made for '", key, "' has ", made->size(),
                                                   " bytes; at most ", made_bytes_max, " were announced"));
  return made;
}

// ---- opening and closing ----

Store::Store(rt::Loop& loop, std::unique_ptr<Engine> engine, StoreLimits limits)
    : loop_(loop),
      engine_(std::move(engine)),
      limits_(limits),
      shrink_above_(limits.history_bytes_max),
      hub_(std::make_shared<WatchHub>(limits.watch_backlog_max, limits.watch_backlog_bytes_max)),
      scope_(loop) {}

Store::~Store() { hub_->Close(); }

rt::Task<Result<std::unique_ptr<Store>>> Store::Open(rt::Loop& loop, std::unique_ptr<Engine> engine,
                                                     StoreLimits limits) {
  std::unique_ptr<Store> store(new Store(loop, std::move(engine), limits));
  Store& opened = *store;
  // The pool fills this, and may still do so when our task has been dropped. Built as if all of it were new; what
  // compaction had forgotten is not in the log, so history begins after it.
  const auto state = std::make_shared<State>();
  const Engine::Loaded loaded = CO_TRY(co_await opened.engine_->Load(
      [state](Revision revision, Revision create_revision, uint32_t index, const Change& change) -> Result<void> {
        TRY(state->Apply(revision, create_revision, index, change));
        return {};
      }));
  while (!state->history.empty() && state->history.front()->revision <= loaded.compacted) state->DropOldest();
  opened.state_ = std::move(*state);
  opened.committed_ = loaded.revision;
  opened.assigned_ = loaded.revision;
  opened.compacted_ = loaded.compacted;
  opened.hub_->Wake(loaded.revision);
  opened.scope_.Spawn(opened.CommitLoop());
  opened.ShrinkHistory();
  co_return store;
}

rt::Task<void> Store::Close() {
  closing_ = true;
  while (!queue_.empty() || committing_) {
    drained_.Reset();
    co_await drained_.Wait();
  }
  const rt::Mutex::Guard guard = co_await engine_mutex_.Lock();
  closed_ = true;
  co_await engine_->Close();
  hub_->Close();
}

// ---- reading ----

Result<Revision> Store::Readable(Revision at) const {
  if (at == kNone) return committed_;
  if (at < compacted_) {
    return Error(ErrorKind::kGone,
                 StrCat("revision ", at.value(), " is compacted; the oldest kept is ", compacted_.value()));
  }
  if (at > committed_) {
    return InvalidError(StrCat("revision ", at.value(), " is in the future; the newest is ", committed_.value()));
  }
  return at;
}

namespace {
// The version that was current at a revision, or null when the key did not exist then.
template <class Versions>
const typename Versions::value_type* VersionAt(const Versions& versions, Revision at) {
  using Version = typename Versions::value_type;
  // Mostly the newest is asked for.
  const auto after =
      versions.back().revision <= at ? versions.end() : std::ranges::upper_bound(versions, at, {}, &Version::revision);
  if (after == versions.begin() || std::prev(after)->value == nullptr) return nullptr;
  return &*std::prev(after);
}

constexpr size_t kValuesAhead = 8;  // a list's values are fetched so many before they are looked at

// Behind the last key with that prefix. So a walk need not look at the keys themselves.
template <class Keys>
typename Keys::const_iterator EndOf(const Keys& keys, std::string_view prefix) {
  constexpr char kLast = '\xff';
  while (prefix.ends_with(kLast)) prefix.remove_suffix(1);
  if (prefix.empty()) return keys.end();
  std::string next(prefix);
  next.back() = static_cast<char>(static_cast<unsigned char>(next.back()) + 1);
  return keys.lower_bound(next);
}
}  // namespace

Result<std::optional<Entry>> Store::Get(std::string_view key, Revision at) const {
  const Revision revision = TRY(Readable(at));
  const auto found = state_.keys.find(key);
  if (found == state_.keys.end()) return std::optional<Entry>();
  const Version* version = VersionAt(found->second, revision);
  if (version == nullptr) return std::optional<Entry>();
  return std::optional<Entry>(Entry{found->first, version->value, version->create_revision, version->revision});
}

Result<ListResult> Store::List(std::string_view prefix, const ListOptions& options) const {
  ListResult result;
  result.revision = TRY(Readable(options.at));
  const auto end = EndOf(state_.keys, prefix);
  auto at = state_.keys.lower_bound(prefix);
  if (options.start_after >= prefix) {
    at = options.start_after.starts_with(prefix) ? state_.keys.upper_bound(options.start_after) : end;
  }
  // Values are all over memory, and counting one more owner waits for it: so first which ones, then those.
  struct Found {
    const std::string* key;
    const Version* version;
  };
  std::vector<Found> found;
  for (; at != end; ++at) {
    const Version* version = VersionAt(at->second, result.revision);
    if (version == nullptr) continue;
    if (options.limit != 0 && found.size() == options.limit) {
      result.more = true;
      if (!options.count) break;
      ++result.remaining;
      continue;
    }
    found.push_back({&at->first, version});
  }
  result.entries.reserve(found.size());
  for (size_t i = 0; i < found.size(); ++i) {
    if (i + kValuesAhead < found.size()) __builtin_prefetch(found[i + kValuesAhead].version->value.get(), 1);
    const Version& version = *found[i].version;
    const bool with_key = options.keys || i + 1 == found.size();
    result.entries.push_back(
        {with_key ? *found[i].key : std::string(), version.value, version.create_revision, version.revision});
  }
  return result;
}

size_t Store::Count(std::string_view prefix) const {
  size_t count = 0;
  for (auto at = state_.keys.lower_bound(prefix); at != state_.keys.end() && at->first.starts_with(prefix); ++at) {
    if (at->second.back().value != nullptr) ++count;
  }
  return count;
}

bool Store::EveryChange(const std::function<bool(const Event&)>& holds) const {
  return std::ranges::all_of(state_.history, [&](const auto& change) { return holds(*change); });
}

// ---- writing ----

Result<void> Store::CheckLimits(const Transaction& transaction) const {
  if (closing_) return UnavailableError("the store is closing");
  const size_t count = std::max(transaction.steps_.size(), transaction.conditions_.size());
  if (count > limits_.changes_per_transaction_max) {
    return TooLargeError(
        StrCat(count, " changes or conditions in one transaction: the limit is ", limits_.changes_per_transaction_max));
  }
  size_t bytes = 0;
  for (const Transaction::Step& step : transaction.steps_) {
    if (step.key.empty()) return InvalidError("a key is empty");
    if (step.key.size() > limits_.key_bytes_max) {
      return TooLargeError(StrCat("a key of ", step.key.size(), " bytes: the limit is ", limits_.key_bytes_max));
    }
    const size_t value_bytes = step.value_bytes_max();
    if (value_bytes > limits_.value_bytes_max) {
      return TooLargeError(StrCat("the value of '", step.key, "' has ", step.make != nullptr ? "up to " : "",
                                  value_bytes, " bytes: the limit is ", limits_.value_bytes_max));
    }
    bytes += CostOf(step.key, value_bytes);
  }
  if (bytes > limits_.transaction_bytes_max) {
    return TooLargeError(StrCat("a transaction of ", bytes, " bytes: the limit is ", limits_.transaction_bytes_max));
  }
  if (pending_bytes_ + bytes > limits_.pending_bytes_max && pending_bytes_ > 0) {
    return Error(ErrorKind::kThrottled,
                 StrCat(pending_bytes_, " bytes wait for the disk, and with this one it would be more than ",
                        limits_.pending_bytes_max));
  }
  return {};
}

// What the key will be when the queue is on disk. Decisions build on it: the queue's order is the revisions' order.
Store::PendingKey Store::Expected(std::string_view key) const {
  if (const auto pending = pending_keys_.find(key); pending != pending_keys_.end()) return pending->second;
  const auto found = state_.keys.find(key);
  if (found == state_.keys.end() || found->second.back().value == nullptr) return {};
  return {found->second.back().revision, found->second.back().create_revision, nullptr};
}

// Of a transaction whose conditions hold: a key that must not exist does not.
Store::PendingKey Store::ExpectedBy(const Transaction& transaction, std::string_view key) const {
  if (transaction.conditions_.size() == 1) {
    const Transaction::Condition& condition = transaction.conditions_.front();
    if (condition.mod_revision == kNone && condition.key == key) return {};
  }
  return Expected(key);
}

// `rests_on` becomes the write under way that a conflict is with, when it is with one.
Result<void> Store::CheckConditions(const Transaction& transaction, std::shared_ptr<PendingWrite>& rests_on) const {
  for (const Transaction::Condition& condition : transaction.conditions_) {
    const PendingKey actual = Expected(condition.key);
    if (actual.mod_revision == condition.mod_revision) continue;
    rests_on = actual.last;
    if (actual.mod_revision == kNone) {
      return ConflictError(
          StrCat("'", condition.key, "' does not exist, so it is not at revision ", condition.mod_revision.value()));
    }
    if (condition.mod_revision == kNone) {
      return ConflictError(StrCat("'", condition.key, "' exists already, at revision ", actual.mod_revision.value()));
    }
    return ConflictError(StrCat("'", condition.key, "' is at revision ", actual.mod_revision.value(), ", not ",
                                condition.mod_revision.value()));
  }
  return {};
}

// Of the writes under way to keys that the transaction names, the last one. Writes succeed in order, so when that one
// does, all do.
std::shared_ptr<Store::PendingWrite> Store::NewestPending(const Transaction& transaction) const {
  std::shared_ptr<PendingWrite> newest;
  const auto look_at = [&](std::string_view key) {
    const auto pending = pending_keys_.find(key);
    if (pending == pending_keys_.end()) return;
    const std::shared_ptr<PendingWrite>& last = pending->second.last;
    if (newest == nullptr || last->record.revision > newest->record.revision) newest = last;
  };
  for (const Transaction::Condition& condition : transaction.conditions_) look_at(condition.key);
  for (const Transaction::Step& step : transaction.steps_) look_at(step.key);
  return newest;
}

// Gives the transaction its revision. Null when it changes nothing. Of two changes of one key the last one counts.
std::shared_ptr<Store::PendingWrite> Store::Enqueue(const Transaction& transaction) {
  auto write = std::make_shared<PendingWrite>();
  write->record.revision = assigned_.Next();
  const bool several = transaction.steps_.size() > 1;
  std::map<std::string_view, size_t> last;
  for (size_t i = 0; several && i < transaction.steps_.size(); ++i) last[transaction.steps_[i].key] = i;
  for (size_t i = 0; i < transaction.steps_.size(); ++i) {
    const Transaction::Step& step = transaction.steps_[i];
    if (several && last[step.key] != i) continue;
    const PendingKey before = ExpectedBy(transaction, step.key);
    const bool existed = before.mod_revision != kNone;
    if (step.deletes() && !existed) continue;
    write->bytes += CostOf(step.key, step.value_bytes_max());
    write->record.create_revisions.push_back(existed ? before.create_revision : write->record.revision);
    write->record.changes.push_back({step.key, step.ValueAt(write->record.revision)});
  }
  if (write->record.changes.empty()) return nullptr;
  for (size_t i = 0; i < write->record.changes.size(); ++i) {
    const bool deletes = write->record.changes[i].value == nullptr;
    PendingKey& pending = pending_keys_[write->record.changes[i].key];
    pending.mod_revision = deletes ? kNone : write->record.revision;
    pending.create_revision = deletes ? kNone : write->record.create_revisions[i];
    pending.last = write;
  }
  assigned_ = write->record.revision;
  pending_bytes_ += write->bytes;
  queue_.push_back(write);
  queue_changed_.Set();
  return write;
}

rt::Task<Result<Revision>> Store::Commit(Transaction transaction) {
  while (true) {
    CO_TRY(CheckLimits(transaction));
    std::shared_ptr<PendingWrite> rests_on;
    const Result<void> conditions = CheckConditions(transaction, rests_on);
    if (conditions.ok()) {
      if (const std::shared_ptr<PendingWrite> write = Enqueue(transaction)) {
        co_await write->done.Wait();
        CO_TRY(write->result);
        co_return write->record.revision;
      }
      rests_on = NewestPending(transaction);
    }
    if (rests_on != nullptr) {
      co_await rests_on->done.Wait();
      if (!rests_on->result.ok()) continue;  // what we built on never happened: decide again
    }
    CO_TRY(conditions);
    co_return committed_;
  }
}

// The one writer. While a batch is being synced the next one gathers.
rt::Task<void> Store::CommitLoop() {
  while (true) {
    while (queue_.empty()) {
      queue_changed_.Reset();
      co_await queue_changed_.Wait();
    }
    std::vector<std::shared_ptr<PendingWrite>> batch;
    std::vector<LogRecord> records;
    size_t bytes = 0;
    size_t taken = 0;
    for (; taken < queue_.size() && (taken == 0 || bytes + queue_[taken]->bytes <= kBatchBytesMax); ++taken) {
      bytes += queue_[taken]->bytes;
      records.push_back(queue_[taken]->record);
      batch.push_back(queue_[taken]);
    }
    queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(taken));
    committing_ = true;
    const rt::Mutex::Guard guard = co_await engine_mutex_.Lock();
    const Result<void> written = co_await engine_->Write(std::move(records));
    FinishBatch(batch, written);
    committing_ = false;
    if (queue_.empty()) drained_.Set();
  }
}

void Store::FinishBatch(const std::vector<std::shared_ptr<PendingWrite>>& batch, const Result<void>& written) {
  std::vector<std::shared_ptr<PendingWrite>> finished = batch;
  if (written.ok()) {
    for (const auto& write : batch) {
      for (size_t i = 0; i < write->record.changes.size(); ++i) {
        const auto event = state_.Apply(write->record.revision, write->record.create_revisions[i],
                                        static_cast<uint32_t>(i), write->record.changes[i]);
        hub_->Publish(event.value());
        const auto pending = pending_keys_.find(write->record.changes[i].key);
        if (pending->second.last == write) pending_keys_.erase(pending);
      }
      committed_ = write->record.revision;
    }
    hub_->Wake(committed_);
    ShrinkHistory();
  } else {
    // What is queued was decided on top of what failed, so it fails with it. Revisions are given out again from here.
    finished.insert(finished.end(), queue_.begin(), queue_.end());
    queue_.clear();
    pending_keys_.clear();
    assigned_ = committed_;
  }
  for (const auto& write : finished) {
    pending_bytes_ -= write->bytes;
    write->result = written;
    write->done.Set();
  }
}

// ---- state ----

Result<std::shared_ptr<const Event>> Store::State::Apply(Revision revision, Revision create_revision, uint32_t index,
                                                         const Change& change) {
  const auto at = keys.lower_bound(change.key);
  const bool known = at != keys.end() && at->first == change.key;
  const bool in_order =
      (!known || at->second.back().revision < revision) && (history.empty() || history.back()->revision <= revision);
  if (!in_order) {
    return CorruptError(StrCat("the change of '", change.key, "' at revision ", revision.value(),
                               " stands behind a later one, or behind another of the same revision"));
  }
  Versions& versions = known ? at->second : keys.emplace_hint(at, change.key, Versions())->second;
  const Bytes previous = versions.empty() ? nullptr : versions.back().value;
  if (previous == nullptr && change.value != nullptr) ++live;
  if (previous != nullptr && change.value == nullptr) --live;
  versions.push_back({revision, create_revision, index, change.value});
  history.push_back(
      std::make_shared<const Event>(Event{change.key, change.value, previous, revision, create_revision}));
  history_bytes += history.back()->past_bytes();
  return history.back();
}

void Store::State::DropOldest() {
  history_bytes -= history.front()->past_bytes();
  history.pop_front();
}

}  // namespace baton::store
