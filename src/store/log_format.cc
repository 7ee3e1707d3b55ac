// The log's bytes.
#include "store/log_format.h"

#include <utility>

#include "base/strings.h"

namespace baton::store {

namespace {
constexpr char kPut = 1;
constexpr char kDelete = 2;
constexpr size_t kHeadBytes = 1 + 8 + 4;

template <class Number>
void AppendNumber(std::string& out, Number number) {
  for (int shift = 8 * (sizeof number - 1); shift >= 0; shift -= 8) out.push_back(static_cast<char>(number >> shift));
}

template <class Number>
Number ReadNumber(std::string_view bytes) {
  INVARIANT(bytes.size() >= sizeof(Number), "the caller has looked at the length");
  Number number = 0;
  for (size_t i = 0; i < sizeof number; ++i) {
    number = static_cast<Number>(number << 8) | static_cast<unsigned char>(bytes[i]);
  }
  return number;
}
}  // namespace

void AppendU32(std::string& out, uint32_t number) { AppendNumber(out, number); }
void AppendU64(std::string& out, uint64_t number) { AppendNumber(out, number); }
uint32_t ReadU32(std::string_view bytes) { return ReadNumber<uint32_t>(bytes); }
uint64_t ReadU64(std::string_view bytes) { return ReadNumber<uint64_t>(bytes); }

std::string EncodeLogKey(LogPlace place) {
  std::string bytes = EncodeRevision(place.revision);
  AppendU32(bytes, place.index);
  return bytes;
}

Result<LogPlace> DecodeLogKey(std::string_view bytes) {
  if (bytes.size() != kLogKeyBytes) return CorruptError(StrCat("a log key has ", bytes.size(), " bytes, not 12"));
  return LogPlace{TRY(DecodeRevision(bytes.substr(0, 8))), ReadU32(bytes.substr(8))};
}

std::string EncodeLogHead(Revision create_revision, const Change& change) {
  std::string bytes;
  bytes.reserve(kHeadBytes + change.key.size());
  bytes.push_back(change.value == nullptr ? kDelete : kPut);
  AppendU64(bytes, static_cast<uint64_t>(create_revision.value()));
  AppendU32(bytes, static_cast<uint32_t>(change.key.size()));
  bytes.append(change.key);
  return bytes;
}

Result<LogEntry> DecodeLogEntry(std::string_view bytes) {
  if (bytes.size() < kHeadBytes) return CorruptError(StrCat("a log record has only ", bytes.size(), " bytes"));
  const char type = bytes[0];
  if (type != kPut && type != kDelete) return CorruptError(StrCat("a log record has the unknown type ", int{type}));
  LogEntry entry;
  entry.create_revision = TRY(DecodeRevision(bytes.substr(1, 8)));
  const size_t key_bytes = ReadU32(bytes.substr(9));
  bytes.remove_prefix(kHeadBytes);
  if (key_bytes == 0 || key_bytes > bytes.size()) {
    return CorruptError(StrCat("a log record says that its key has ", key_bytes, " bytes and has ", bytes.size()));
  }
  entry.change.key = bytes.substr(0, key_bytes);
  bytes.remove_prefix(key_bytes);
  if (type == kPut) {
    entry.change.value = std::make_shared<const std::string>(bytes);
  } else if (!bytes.empty()) {
    return CorruptError(StrCat("the deletion of '", entry.change.key, "' has a value"));
  }
  return entry;
}

std::string EncodeRevision(Revision revision) {
  std::string bytes;
  AppendU64(bytes, static_cast<uint64_t>(revision.value()));
  return bytes;
}

Result<Revision> DecodeRevision(std::string_view bytes) {
  if (bytes.size() != 8) return CorruptError(StrCat("a revision has ", bytes.size(), " bytes, not 8"));
  const auto number = static_cast<int64_t>(ReadU64(bytes));
  if (number < 0) return CorruptError("a revision is negative");
  return Revision(number);
}

Result<void> LogOrder::Next(LogPlace place) {
  if (place.revision.value() <= 0) return CorruptError("the log has a record without a revision");
  if (begun_ && place <= last_) {
    return CorruptError(
        StrCat("the log's revision ", place.revision.value(), " stands behind ", last_.revision.value()));
  }
  const Revision before = std::max(last_.revision, compacted_);
  if (place.revision > compacted_) {
    const bool next_index = begun_ && place.revision == last_.revision && place.index == last_.index + 1;
    const bool next_revision = place.revision == before.Next() && place.index == 0;
    if (!next_index && !next_revision) {
      return CorruptError(StrCat("the log goes from revision ", before.value(), " to revision ", place.revision.value(),
                                 " change ", place.index, ": what stands between is missing"));
    }
  }
  last_ = place;
  begun_ = true;
  return {};
}

}  // namespace baton::store
