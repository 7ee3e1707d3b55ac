// The engine on a FakeDisk.
#include "store/testing/fake_engine.h"

#include <algorithm>
#include <utility>

namespace baton::store {
namespace {

class FakeEngine final : public Engine {
 public:
  FakeEngine(rt::Loop& loop, std::shared_ptr<FakeDisk> disk) : loop_(loop), disk_(std::move(disk)) {}
  ~FakeEngine() override {
    if (loaded_) disk_->in_use = false;
  }

  rt::Task<Result<Loaded>> Load(LoadEach each) override {
    co_await loop_.Sleep(disk_->latency());
    if (disk_->in_use) co_return AlreadyExistsError("the disk is in use");
    for (const auto& [place, entry] : disk_->log) {
      CO_TRY(each(place.revision, entry.create_revision, place.index, entry.change));
    }
    disk_->in_use = loaded_ = true;
    disk_->uncertain.reset();  // after a crash it counts
    co_return Loaded{disk_->newest, disk_->compacted};
  }

  rt::Task<Result<void>> Write(std::vector<LogRecord> records) override {
    const Call call(*this);
    INVARIANT(!records.empty(), "nothing to write");
    INVARIANT(records.front().revision == acknowledged().Next(), "revisions have no gap");
    co_await loop_.Sleep(disk_->latency());
    const FakeDisk::Fate fate = disk_->fate();
    const Revision before = acknowledged();
    if (fate == FakeDisk::Fate::kWorks || fate == FakeDisk::Fate::kFailsButIs) {
      TakeBack();
      for (const LogRecord& record : records) Put(record);
      disk_->newest = records.back().revision;
    }
    if (fate != FakeDisk::Fate::kWorks) {
      disk_->uncertain = before.Next();
      co_return fate == FakeDisk::Fate::kFailsNoSpace ? Error(ErrorKind::kNoSpace, "the disk is full")
                                                      : UnavailableError("the disk failed");
    }
    ++disk_->writes;
    co_return Result<void>();
  }

  rt::Task<Result<void>> Compact(Revision compacted, std::vector<Superseded> superseded) override {
    const Call call(*this);
    INVARIANT(compacted <= acknowledged(), "what is compacted is written");
    co_await loop_.Sleep(disk_->latency());
    const FakeDisk::Fate fate = disk_->fate();
    if (fate == FakeDisk::Fate::kWorks || fate == FakeDisk::Fate::kFailsButIs) {
      for (const Superseded& change : superseded) {
        INVARIANT(change.revision <= compacted, "only what is compacted is forgotten");
        const bool was_there = disk_->log.erase({change.revision, change.index}) == 1;
        INVARIANT(was_there || change.revision <= disk_->compacted, "each change is forgotten once");
      }
      disk_->compacted = std::max(disk_->compacted, compacted);
    }
    if (fate == FakeDisk::Fate::kWorks) co_return Result<void>();
    co_return fate == FakeDisk::Fate::kFailsNoSpace ? Error(ErrorKind::kNoSpace, "the disk is full")
                                                    : UnavailableError("the disk failed");
  }

  rt::Task<void> Close() override {
    const Call call(*this);
    if (loaded_ && disk_->uncertain) {
      disk_->newest = acknowledged();
      TakeBack();
    }
    disk_->in_use = loaded_ = false;
    co_return;
  }

 private:
  // The engine's calls do not overlap.
  class Call {
   public:
    explicit Call(FakeEngine& engine) : engine_(engine) {
      INVARIANT(!std::exchange(engine_.busy_, true), "two calls at a time");
    }
    ~Call() { engine_.busy_ = false; }

   private:
    FakeEngine& engine_;
  };

  Revision acknowledged() const { return disk_->uncertain ? Revision(disk_->uncertain->value() - 1) : disk_->newest; }
  void TakeBack() {
    if (!disk_->uncertain) return;
    for (auto* log : {&disk_->log, &disk_->ever}) log->erase(log->lower_bound({*disk_->uncertain, 0}), log->end());
    disk_->uncertain.reset();
  }
  void Put(const LogRecord& record) {
    for (size_t i = 0; i < record.changes.size(); ++i) {
      const LogPlace place{record.revision, static_cast<uint32_t>(i)};
      disk_->log[place] = disk_->ever[place] = {record.create_revisions[i], record.changes[i]};
    }
  }

  rt::Loop& loop_;
  std::shared_ptr<FakeDisk> disk_;
  bool loaded_ = false;
  bool busy_ = false;
};

}  // namespace

std::unique_ptr<Engine> MakeFakeEngine(rt::Loop& loop, std::shared_ptr<FakeDisk> disk) {
  return std::make_unique<FakeEngine>(loop, std::move(disk));
}

}  // namespace baton::store
