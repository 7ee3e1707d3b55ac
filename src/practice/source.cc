// The appender.
#include "practice/source.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/strings.h"

namespace baton::practice {

namespace {

uint64_t Mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

constexpr Duration kRetryAfter = seconds(1);  // after a failed append
constexpr int kPartitionShift = 40;

int64_t MillisOf(WallTime time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

}  // namespace

Record RecordAt(uint32_t partition, uint64_t offset, uint32_t keys) {
  const uint64_t h = Mix((uint64_t{partition} << kPartitionShift) + offset);
  return {.key = static_cast<uint32_t>(h % keys), .value = h >> 32};
}

Source::Source(rt::Loop& loop, const Storage& storage, WorkloadName workload, SourceOptions options)
    : loop_(loop), storage_(storage), workload_(std::move(workload)), options_(options) {
  options_.partitions = std::clamp(options_.partitions, 1U, kPartitionsMax);
  options_.keys = std::clamp(options_.keys, 1U, kKeysMax);
  SetRate(options_.rate);
}

void Source::SetRate(double rate) { options_.rate = std::clamp(rate, 0.0, kRateMax); }

uint64_t Source::Subscribe(std::function<void()> on_append) {
  subscribers_.emplace(next_subscriber_, std::move(on_append));
  return next_subscriber_++;
}

rt::Task<void> Source::Run() {
  while (!(co_await Load()).ok()) co_await loop_.Sleep(kRetryAfter);
  last_ = loop_.Now();
  while (true) {
    co_await loop_.Sleep(options_.append_every);
    if ((co_await Append()).ok()) continue;
    // What was half written is cut off when the log is opened again.
    file_ = nullptr;
    do {
      co_await loop_.Sleep(kRetryAfter);
    } while (!(co_await Load()).ok());
  }
}

rt::Task<Result<void>> Source::Load() {
  const std::string path = storage_.SourceLog(workload_);
  auto file = CO_TRY(co_await storage_.OpenLog(path));
  std::string text = CO_TRY(co_await storage_.files().ReadAll(path));
  const size_t whole = text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n') + 1;
  if (whole < text.size()) CO_TRY(co_await file->Truncate(whole));
  text.resize(whole);
  std::vector<uint64_t> ends(options_.partitions, 0);
  if (text.empty()) {
    CO_TRY(co_await file->Append(StrCat("practice-source 1 ", options_.partitions, " ", options_.keys, "\n")));
  } else {
    // Partitions and keys are for good: states count on them.
    const std::vector<std::string_view> lines = Split(std::string_view(text).substr(0, whole - 1), '\n');
    const std::vector<std::string_view> head = Split(lines[0], ' ');
    if (head.size() != 4 || head[0] != "practice-source") co_return CorruptError(StrCat(path, " is no source log"));
    std::from_chars(head[2].data(), head[2].data() + head[2].size(), options_.partitions);
    std::from_chars(head[3].data(), head[3].data() + head[3].size(), options_.keys);
    ends.assign(options_.partitions, 0);
    const std::vector<std::string_view> last = Split(lines.back(), ' ');
    for (size_t p = 0; lines.size() > 1 && p < ends.size() && p + 1 < last.size(); ++p) {
      std::from_chars(last[p + 1].data(), last[p + 1].data() + last[p + 1].size(), ends[p]);
    }
  }
  CO_TRY(co_await file->Sync());
  file_ = std::move(file);
  ends_ = std::move(ends);
  co_return Result<void>();
}

rt::Task<Result<void>> Source::Append() {
  const MonotonicTime now = loop_.Now();
  owed_ += options_.rate * std::chrono::duration<double>(now - last_).count();
  last_ = now;
  const auto count = std::min(static_cast<uint64_t>(owed_), kAppendMax);
  if (count == 0) co_return Result<void>();
  owed_ -= static_cast<double>(static_cast<uint64_t>(owed_));
  std::vector<uint64_t> ends = ends_;
  const uint64_t each = count / ends.size();
  for (uint64_t& end : ends) end += each;
  for (uint64_t rest = count % ends.size(); rest > 0; --rest) {
    ++ends[next_partition_];
    next_partition_ = (next_partition_ + 1) % static_cast<uint32_t>(ends.size());
  }
  std::string line = StrCat(MillisOf(loop_.WallNow()));
  for (const uint64_t end : ends) StrAppend(line, " ", end);
  line += '\n';
  CO_TRY(co_await file_->Append(std::move(line)));
  CO_TRY(co_await file_->Sync());
  ends_ = std::move(ends);
  // A callback may unsubscribe itself.
  for (auto at = subscribers_.begin(); at != subscribers_.end();) (at++)->second();
  co_return Result<void>();
}

}  // namespace baton::practice
