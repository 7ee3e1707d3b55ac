// A log in memory that outlives who writes it.
#include "sim/hub_disk.h"

#include "base/invariant.h"

namespace baton::sim {

class HubDisk::LogEngine final : public store::Engine {
 public:
  explicit LogEngine(HubDisk& disk) : disk_(disk), process_(disk.process_) {}

  rt::Task<Result<Loaded>> Load(LoadEach each) override {
    for (const auto& [place, kept] : disk_.content_.log)
      CO_TRY(each(place.first, kept.create_revision, place.second, kept.change));
    co_return Loaded{.revision = disk_.content_.newest, .compacted = disk_.content_.compacted};
  }

  rt::Task<Result<void>> Write(std::vector<store::LogRecord> records) override {
    if (dead()) co_return Gone();
    if (disk_.hold_) {
      disk_.under_way_ = records;
      disk_.begun_.Set();
      co_await disk_.died_.Wait();
      co_return Gone();
    }
    if (disk_.slowest_sync_ > Duration{}) {
      disk_.under_way_ = records;
      disk_.begun_.Set();
      const auto longest = static_cast<uint64_t>(disk_.slowest_sync_ / microseconds(1));
      co_await disk_.loop_.Sleep(microseconds(static_cast<int64_t>(disk_.loop_.random().Below(longest + 1))));
      if (dead()) co_return Gone();
      disk_.under_way_.clear();
      disk_.begun_.Reset();
    }
    disk_.Append(records);
    co_return Result<void>();
  }

  rt::Task<Result<void>> Compact(store::Revision compacted, std::vector<store::Superseded> superseded) override {
    if (dead()) co_return Gone();
    for (const store::Superseded& one : superseded) disk_.content_.log.erase({one.revision, one.index});
    disk_.content_.compacted = std::max(disk_.content_.compacted, compacted);
    co_return Result<void>();
  }

  rt::Task<void> Close() override { co_return; }

 private:
  bool dead() const { return process_ != disk_.process_; }
  static Error Gone() { return UnavailableError("the process has died"); }

  HubDisk& disk_;
  uint64_t process_;
};

std::unique_ptr<store::Engine> HubDisk::NewEngine() {
  died_.Reset();
  return std::make_unique<LogEngine>(*this);
}

void HubDisk::Append(const std::vector<store::LogRecord>& records) {
  for (const store::LogRecord& record : records) {
    INVARIANT(record.revision > content_.newest, "revisions grow");
    for (uint32_t i = 0; i < record.changes.size(); ++i)
      content_.log.emplace_hint(content_.log.end(), Place{record.revision, i},
                                Kept{record.create_revisions[i], record.changes[i]});
    content_.newest = record.revision;
  }
}

std::shared_ptr<const HubDisk::Backup> HubDisk::BackUp() const {
  return std::make_shared<const Backup>(Backup{.content = content_});
}

void HubDisk::Restore(const Backup& backup) { content_ = backup.content; }

rt::Task<void> HubDisk::WriteUnderWay() { co_await begun_.Wait(); }

void HubDisk::Crash() {
  ++process_;
  begun_.Reset();
  died_.Set();
  const std::optional<bool> held = std::exchange(hold_, std::nullopt);
  if (under_way_.empty()) return;
  const bool keeps = held ? *held : loop_.random().Below(2) == 0;
  if (keeps) Append(under_way_);
  (keeps ? kept_ : lost_) += under_way_.size();
  under_way_.clear();
}

}  // namespace baton::sim
