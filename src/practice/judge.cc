// Counting.
#include "practice/judge.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <utility>

#include "base/strings.h"

namespace baton::practice {

namespace {

template <class Number>
bool ReadNumber(std::string_view text, Number& number, int base = 10) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

struct SourceLog {
  uint32_t keys = 0;
  std::vector<uint64_t> ends;
};

struct Row {
  uint32_t partition = 0;
  uint64_t offset = 0;
  uint32_t key = 0;
  uint64_t count = 0;
  uint64_t sum = 0;
};

// The numbers of a record, from the format: SplitMix64 of partition * 2^40 + offset.
uint64_t NumbersOf(uint32_t partition, uint64_t offset) {
  uint64_t z = (static_cast<uint64_t>(partition) * (uint64_t{1} << 40)) + offset + 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

// "partition offset key count sum"; no row is anything else.
bool ReadRow(std::string_view line, Row& row) {
  const char* at = line.data();
  const char* const end = at + line.size();
  const auto number = [&](auto& into, int base, bool last) {
    const auto [after, error] = std::from_chars(at, end, into, base);
    if (error != std::errc() || (last ? after != end : after == end || *after != ' ')) return false;
    at = after + 1;
    return true;
  };
  return number(row.partition, 10, false) && number(row.offset, 10, false) && number(row.key, 10, false) &&
         number(row.count, 10, false) && number(row.sum, 16, true);
}

// Calls it with each line but the empty ones and what comes after the last '\n', until it gives an error.
template <class Take>
Result<void> ForEachLine(std::string_view text, const Take& take) {
  size_t begin = 0;
  for (size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n', begin)) {
    if (end > begin) TRY(take(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return {};
}

// "practice-source 1 <partitions> <keys>"
Result<void> ReadSourceHead(std::string_view line, SourceLog& log) {
  const std::vector<std::string_view> words = Split(line, ' ');
  uint32_t partitions = 0;
  if (words.size() != 4 || words[0] != "practice-source" || words[1] != "1" || !ReadNumber(words[2], partitions) ||
      !ReadNumber(words[3], log.keys) || log.keys == 0 || partitions == 0 || partitions > 4096) {
    return CorruptError("the source's log does not begin as one");
  }
  log.ends.assign(partitions, 0);
  return {};
}

// A word, and then the end of each partition.
Result<void> ReadSourceEnds(std::string_view line, SourceLog& log) {
  if (static_cast<size_t>(std::ranges::count(line, ' ')) != log.ends.size())
    return CorruptError("a line of the source's log is wrong");
  size_t at = line.find(' ');
  for (uint64_t& known : log.ends) {
    const size_t next = std::min(line.find(' ', at + 1), line.size());
    uint64_t end = 0;
    if (!ReadNumber(line.substr(at + 1, next - at - 1), end) || end < known || end > kJudgeRecordsMax) {
      return CorruptError("the source's log runs backwards");
    }
    known = end;
    at = next;
  }
  return {};
}

Result<SourceLog> ReadSource(std::string_view text) {
  SourceLog log;
  TRY(ForEachLine(text, [&log](std::string_view line) {
    return log.ends.empty() ? ReadSourceHead(line, log) : ReadSourceEnds(line, log);
  }));
  if (log.ends.empty()) return CorruptError("the source's log is empty");
  return log;
}

// Takes the sink's lines one after the other.
class Reader {
 public:
  Reader(const SourceLog& source, JudgeReport& report) : source_(source), report_(report) {
    shown_.resize(source.ends.size());
    for (size_t p = 0; p < source.ends.size(); ++p) shown_[p].resize(source.ends[p]);
    last_of_key_.resize(source.ends.size() * source.keys, 0);
  }

  void Line(std::string_view line) {
    if (line == ".") {
      if (in_block_) Commit();
      in_block_ = false;
      return;
    }
    if (in_block_) {
      Row row;
      if (ReadRow(line, row)) {
        block_.push_back(row);
      } else {
        ++report_.unreadable;
      }
      return;
    }
    const std::vector<std::string_view> words = Split(line, ' ');
    int64_t ms = 0;
    if (words.size() >= 6 && ReadNumber(words[1], ms)) {
      if (words[0] == "S") return Began(words, ms);
      if (words[0] == "E") return Ended(words, ms);
      if (words[0] == "T" && words.size() == 7) {
        in_block_ = true;
        block_.clear();
        block_ms_ = ms;
        block_writer_ = WriterOf(words);
        block_epoch_ = words[4];
        return;
      }
    }
    if (words.size() != 2 || words[0] != "practice-sink") ++report_.unreadable;
  }

  void Finish() {
    CheckStates();
    for (size_t p = 0; p < shown_.size(); ++p) {
      uint64_t reached = 0;
      uint64_t there = 0;
      for (uint64_t o = 0; o < shown_[p].size(); ++o) {
        if (!shown_[p][o].there) continue;
        reached = o + 1;
        ++there;
      }
      report_.lost += reached - there;
      report_.waiting += source_.ends[p] - reached;
      report_.in += source_.ends[p];
    }
    CountReprocessed();
    FindOverlaps();
  }

 private:
  static std::string Id(const std::vector<std::string_view>& words) { return StrCat(words[2], "/", words[3]); }

  void Began(const std::vector<std::string_view>& words, int64_t ms) {
    JudgeWriter writer{.cluster = std::string(words[2]),
                       .job_id = std::string(words[3]),
                       .epoch = std::string(words[4]),
                       .from = std::string(words[5]),
                       .begin_ms = ms,
                       .end_ms = ms};
    ReadOffsets(words, writer.from_offsets);
    writer.to_offsets = writer.from_offsets;
    latest_[Id(words)] = report_.writers.size();
    report_.writers.push_back(std::move(writer));
  }

  void Ended(const std::vector<std::string_view>& words, int64_t ms) {
    // The end of a life may be written after the next one's beginning: it is of the last that had begun by then.
    const auto at = latest_.find(Id(words));
    if (at == latest_.end()) {
      ++report_.unreadable;
      return;
    }
    size_t index = at->second;
    for (size_t i = index + 1; i-- > 0;) {
      const JudgeWriter& other = report_.writers[i];
      if (StrCat(other.cluster, "/", other.job_id) == at->first && other.end.empty() && other.begin_ms <= ms) {
        index = i;
        break;
      }
    }
    JudgeWriter& writer = report_.writers[index];
    writer.end = words[5];
    writer.end_ms = std::max(writer.end_ms, ms);
    std::vector<uint64_t> read;
    ReadOffsets(words, read);
    for (size_t p = 0; p < read.size() && p < writer.to_offsets.size(); ++p) {
      writer.to_offsets[p] = std::max(writer.to_offsets[p], read[p]);
    }
  }

  void ReadOffsets(const std::vector<std::string_view>& words, std::vector<uint64_t>& offsets) {
    for (size_t i = 6; i < words.size(); ++i) {
      uint64_t offset = 0;
      if (!ReadNumber(words[i], offset)) ++report_.unreadable;
      offsets.push_back(std::min(offset, kJudgeRecordsMax));
    }
    offsets.resize(source_.ends.size(), 0);
  }

  // A commit by someone who never began counts as a life of its own.
  size_t WriterOf(const std::vector<std::string_view>& words) {
    const auto at = latest_.find(Id(words));
    if (at != latest_.end()) return at->second;
    JudgeWriter writer{
        .cluster = std::string(words[2]), .job_id = std::string(words[3]), .epoch = std::string(words[4]), .from = "?"};
    ReadNumber(words[1], writer.begin_ms);
    writer.from_offsets.resize(source_.ends.size(), 0);
    writer.to_offsets = writer.from_offsets;
    latest_[Id(words)] = report_.writers.size();
    report_.writers.push_back(std::move(writer));
    return report_.writers.size() - 1;
  }

  void Commit() {
    JudgeWriter& writer = report_.writers[block_writer_];
    writer.end_ms = std::max(writer.end_ms, block_ms_);
    writer.rows += block_.size();
    if (block_.empty()) return;
    if (last_commit_ms_ && block_ms_ - *last_commit_ms_ > report_.longest_silence_ms) {
      report_.longest_silence_ms = block_ms_ - *last_commit_ms_;
      report_.silence_begin_ms = *last_commit_ms_;
    }
    last_commit_ms_ = std::max(block_ms_, last_commit_ms_.value_or(block_ms_));
    if (std::ranges::find(report_.epochs, block_epoch_) == report_.epochs.end()) report_.epochs.push_back(block_epoch_);
    int64_t epoch = 0;
    if (ReadNumber(std::string_view(block_epoch_), epoch)) {
      if (epoch < highest_epoch_) ++report_.epochs_back;
      highest_epoch_ = std::max(highest_epoch_, epoch);
    }
    for (const Row& row : block_) Take(row, writer);
  }

  void Take(const Row& row, JudgeWriter& writer) {
    ++report_.out;
    if (row.partition >= source_.ends.size() || row.offset >= source_.ends[row.partition] ||
        row.key != NumbersOf(row.partition, row.offset) % source_.keys) {
      ++report_.invented;
      return;
    }
    Shown& shown = shown_[row.partition][row.offset];
    uint64_t& last = last_of_key_[(size_t{row.partition} * source_.keys) + row.key];  // offset + 1
    if (shown.there) {
      ++report_.duplicated;
      again_.push_back(row);
    } else if (row.offset + 1 < last) {
      ++report_.out_of_order;
    }
    if (!shown.there) shown = {.there = true, .count = row.count, .sum = row.sum};
    last = std::max(last, row.offset + 1);
    uint64_t& read = writer.to_offsets[row.partition];
    if (writer.end.empty()) read = std::max(read, row.offset + 1);
  }

  // What each key's records add up to, record by record, against what the rows say.
  void CheckStates() {
    std::ranges::sort(again_, {}, [](const Row& row) { return std::pair(row.partition, row.offset); });
    std::vector<std::pair<uint64_t, uint64_t>> states(source_.keys);
    size_t at = 0;
    for (uint32_t p = 0; p < source_.ends.size(); ++p) {
      states.assign(source_.keys, {0, 0});
      for (uint64_t o = 0; o < source_.ends[p]; ++o) {
        const uint64_t numbers = NumbersOf(p, o);
        auto& [count, sum] = states[numbers % source_.keys];
        ++count;
        sum += numbers >> 32;
        const Shown& shown = shown_[p][o];
        if (shown.there && (shown.count != count || shown.sum != sum)) ++report_.wrong_state;
        for (; at < again_.size() && again_[at].partition == p && again_[at].offset == o; ++at) {
          if (again_[at].count != count || again_[at].sum != sum) ++report_.wrong_state;
        }
      }
    }
  }

  void CountReprocessed() {
    for (size_t p = 0; p < source_.ends.size(); ++p) {
      std::vector<std::pair<uint64_t, uint64_t>> ranges;
      uint64_t all = 0;
      for (const JudgeWriter& writer : report_.writers) {
        if (writer.from == "?" || writer.to_offsets[p] <= writer.from_offsets[p]) continue;
        ranges.emplace_back(writer.from_offsets[p], writer.to_offsets[p]);
        all += writer.to_offsets[p] - writer.from_offsets[p];
      }
      std::ranges::sort(ranges);
      uint64_t different = 0;
      uint64_t covered = 0;
      for (const auto& [from, to] : ranges) {
        const uint64_t begin = std::max(from, covered);
        if (to > begin) different += to - begin;
        covered = std::max(covered, to);
      }
      report_.reprocessed += all - different;
    }
  }

  void FindOverlaps() {
    std::vector<size_t> order(report_.writers.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::sort(order, {}, [&](size_t i) { return std::pair(report_.writers[i].begin_ms, i); });
    for (size_t i = 0; i < order.size(); ++i) {
      for (size_t j = i + 1; j < order.size(); ++j) {
        const JudgeWriter& a = report_.writers[order[i]];
        const JudgeWriter& b = report_.writers[order[j]];
        if (b.begin_ms >= a.end_ms) break;
        ++report_.overlap_count;
        if (report_.overlaps.size() < kOverlapsMax) {
          report_.overlaps.push_back({order[i], order[j], b.begin_ms, std::min(a.end_ms, b.end_ms)});
        }
      }
    }
  }

  const SourceLog& source_;
  JudgeReport& report_;
  struct Shown {
    bool there = false;
    uint64_t count = 0;
    uint64_t sum = 0;
  };
  std::vector<std::vector<Shown>> shown_;  // by partition and offset: the first row that the sink has of it
  std::vector<uint64_t> last_of_key_;
  std::vector<Row> again_;                // all others
  std::map<std::string, size_t> latest_;  // cluster/job: its last life
  bool in_block_ = false;
  std::vector<Row> block_;
  int64_t block_ms_ = 0;
  size_t block_writer_ = 0;
  std::string block_epoch_;
  std::optional<int64_t> last_commit_ms_;
  int64_t highest_epoch_ = INT64_MIN;
};

}  // namespace

rt::Task<Result<JudgeReport>> Judge(rt::Files& files, std::string root, std::string ns, std::string name) {
  JudgeReport report;
  report.ns = ns;
  report.name = name;
  // The sink first: what comes into the source meanwhile is then only waiting, and nothing in the sink is unknown to
  // it.
  const Result<std::string> sink = co_await files.ReadAll(StrCat(root, "shared/sink/", ns, "/", name, "/log"));
  if (!sink.ok() && sink.error().kind() != ErrorKind::kNotFound) co_return sink.error();
  const std::string text = CO_TRY(co_await files.ReadAll(StrCat(root, "shared/source/", ns, "/", name, "/log")));
  const SourceLog source = CO_TRY(ReadSource(text));
  Reader reader(source, report);
  if (sink.ok()) {
    const std::string_view all(*sink);
    size_t begin = 0;
    for (size_t end = all.find('\n'); end != std::string_view::npos; end = all.find('\n', begin)) {
      reader.Line(all.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  reader.Finish();
  co_return report;
}

rt::Task<Result<std::vector<JudgeReport>>> JudgeAll(rt::Files& files, std::string root) {
  std::vector<JudgeReport> reports;
  const std::string base = StrCat(root, "shared/source");
  const auto namespaces = co_await files.List(base);
  if (!namespaces.ok()) {
    if (namespaces.error().kind() == ErrorKind::kNotFound) co_return reports;
    co_return namespaces.error();
  }
  for (const rt::FileEntry& ns : *namespaces) {
    const auto names = CO_TRY(co_await files.List(StrCat(base, "/", ns.name)));
    for (const rt::FileEntry& entry : names) {
      reports.push_back(CO_TRY(co_await Judge(files, root, ns.name, entry.name)));
    }
  }
  co_return reports;
}

}  // namespace baton::practice
