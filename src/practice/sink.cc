// The sink's log and its two phases.
#include "practice/sink.h"

#include <array>
#include <charconv>
#include <utility>

#include "base/strings.h"

namespace baton::practice {

namespace {

constexpr std::string_view kHead = "practice-sink 1\n";
constexpr size_t kReadBytes = size_t{1} << 20;

int64_t MillisOf(WallTime time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

std::string NoSpaces(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == ' ' || c == '\n') {
      out += "%20";
    } else {
      out += c;
    }
  }
  return out.empty() ? "-" : out;
}

void AppendOffsets(std::string& line, const std::vector<uint64_t>& offsets) {
  for (const uint64_t offset : offsets) StrAppend(line, " ", offset);
  line += '\n';
}

// Follows a log line by line: which transactions are in it, and where its last whole block ends.
class Scanner {
 public:
  explicit Scanner(std::set<std::string, std::less<>>& committed) : committed_(committed) {}
  void Line(std::string_view line, uint64_t end) {
    if (line == ".") {
      if (transaction_ != "-" && !transaction_.empty()) committed_.insert(transaction_);
      open_ = false;
    } else if (!open_ && line.starts_with("T ")) {
      const std::vector<std::string_view> words = Split(line, ' ');
      transaction_ = words.size() > 5 ? words[5] : "";
      open_ = true;
    }
    if (!open_) whole_ = end;
  }
  uint64_t whole() const { return whole_; }

 private:
  std::set<std::string, std::less<>>& committed_;
  std::string transaction_;
  bool open_ = false;
  uint64_t whole_ = 0;
};

}  // namespace

struct Sink::Asked {
  Work work;
  Result<void> result;
  rt::Event done;
};

void SinkRows::Add(uint32_t partition, uint64_t offset, uint32_t key, uint64_t key_count, uint64_t key_sum) {
  std::array<char, 128> line{};
  char* at = line.data();
  char* const end = line.data() + line.size();
  for (const uint64_t number : {uint64_t{partition}, offset, uint64_t{key}, key_count}) {
    at = std::to_chars(at, end, number).ptr;
    *at++ = ' ';
  }
  at = std::to_chars(at, end, key_sum, 16).ptr;
  *at++ = '\n';
  text.append(line.data(), at);
  ++count;
}

Sink::Sink(rt::Loop& loop, const Storage& storage, WorkloadName workload)
    : loop_(loop), storage_(storage), workload_(std::move(workload)), scope_(loop) {}

std::string Sink::PendingPath(std::string_view transaction) const {
  return StrCat(storage_.SinkDirectory(workload_), "/prepared/", transaction);
}

std::string Sink::Line(std::string_view kind, const SinkWriter& writer) const {
  return StrCat(kind, " ", MillisOf(loop_.WallNow()), " ", NoSpaces(writer.cluster), " ", NoSpaces(writer.job_id), " ",
                NoSpaces(writer.epoch));
}

rt::Task<Result<void>> Sink::Prepare(std::string transaction, SinkRows rows) {
  std::string path = PendingPath(transaction);
  return storage_.Write(std::move(path), StrCat(rows.count, "\n", rows.text));
}

rt::Task<Result<void>> Sink::Commit(SinkWriter writer, std::string transaction) {
  return Ask([this, writer = std::move(writer), transaction = std::move(transaction)] {
    return CommitNow(writer, transaction);
  });
}

rt::Task<Result<void>> Sink::Append(SinkWriter writer, SinkRows rows) {
  std::string block = Line("T", writer);
  StrAppend(block, " - ", rows.count, "\n", rows.text, ".\n");
  return Ask([this, block = std::move(block)] { return Write(block); });
}

rt::Task<Result<void>> Sink::Started(SinkWriter writer, std::string from, std::vector<uint64_t> offsets) {
  std::string line = StrCat(Line("S", writer), " ", NoSpaces(from));
  AppendOffsets(line, offsets);
  return Ask([this, line = std::move(line)] { return Write(line); });
}

void Sink::Ended(const SinkWriter& writer, std::string_view how, const std::vector<uint64_t>& offsets) {
  std::string line = StrCat(Line("E", writer), " ", how);
  AppendOffsets(line, offsets);
  scope_.Spawn(Do(std::make_shared<Asked>([this, line = std::move(line)] { return Write(line); })));
}

rt::Task<void> Sink::Settle() { return scope_.Join(); }

rt::Task<Result<void>> Sink::Ask(Work work) {
  auto asked = std::make_shared<Asked>(std::move(work));
  scope_.Spawn(Do(asked));
  co_await asked->done.Wait();
  co_return asked->result;
}

rt::Task<void> Sink::Do(std::shared_ptr<Asked> asked) {
  const rt::Mutex::Guard guard = co_await one_at_a_time_.Lock();
  if (file_ == nullptr) asked->result = co_await Load();
  if (asked->result.ok()) asked->result = co_await asked->work();
  asked->done.Set();
}

rt::Task<Result<void>> Sink::Write(std::string block) {
  Result<void> written = co_await file_->Append(std::move(block));
  if (written.ok()) written = co_await file_->Sync();
  if (!written.ok()) file_ = nullptr;  // opened again, and a part of a block is cut off
  co_return written;
}

rt::Task<Result<void>> Sink::CommitNow(SinkWriter writer, std::string transaction) {
  if (committed_.contains(transaction)) co_return Result<void>();
  const std::string path = PendingPath(transaction);
  const Result<std::string> prepared = co_await storage_.files().ReadAll(path);
  if (!prepared.ok()) co_return prepared.error().Context(StrCat("committing transaction ", transaction));
  const size_t line = prepared->find('\n');
  if (line == std::string::npos) co_return CorruptError(StrCat("transaction ", transaction, " is damaged"));
  const std::string_view rows = std::string_view(*prepared).substr(line + 1);
  if (!rows.empty()) {
    std::string block = Line("T", writer);
    StrAppend(block, " ", transaction, " ", std::string_view(*prepared).substr(0, line), "\n", rows, ".\n");
    CO_TRY(co_await Write(std::move(block)));
  }
  committed_.insert(transaction);
  if (!rows.empty()) (void)co_await storage_.files().Remove(path);  // only room is lost when that fails
  co_return Result<void>();
}

rt::Task<Result<void>> Sink::Load() {
  auto file = CO_TRY(co_await storage_.OpenLog(storage_.SinkLog(workload_)));
  committed_.clear();
  Scanner scanner(committed_);
  std::string part;
  uint64_t at = 0;  // of the part's beginning
  uint64_t read_to = 0;
  while (true) {
    std::string more = CO_TRY(co_await file->ReadAt(read_to, kReadBytes));
    if (more.empty()) break;
    read_to += more.size();
    part += more;
    size_t begin = 0;
    for (size_t end = part.find('\n'); end != std::string::npos; end = part.find('\n', begin)) {
      scanner.Line(std::string_view(part).substr(begin, end - begin), at + end + 1);
      begin = end + 1;
    }
    at += begin;
    part.erase(0, begin);
  }
  if (scanner.whole() < read_to) CO_TRY(co_await file->Truncate(scanner.whole()));
  if (scanner.whole() == 0) {
    CO_TRY(co_await file->Append(std::string(kHead)));
    CO_TRY(co_await file->Sync());
  }
  file_ = std::move(file);
  co_return Result<void>();
}

}  // namespace baton::practice
