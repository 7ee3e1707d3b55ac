// Reads a write-ahead log as RocksDB does, and draws the line between a torn end and damage.
#include "store/wal_tail.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <optional>

namespace baton::store {

namespace {

constexpr size_t kBlockBytes = 32768;
constexpr size_t kHeaderBytes = 7;
constexpr size_t kSectorBytes = 512;
constexpr uint32_t kMaskDelta = 0xa282ead8;

enum RecordType : uint8_t { kZero = 0, kFull = 1, kFirst = 2, kMiddle = 3, kLast = 4 };

constexpr std::array<uint32_t, 256> kCrcTable = [] {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < table.size(); ++i) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78U : 0U);
    table[i] = crc;
  }
  return table;
}();

uint32_t CrcByTable(std::string_view bytes, uint32_t crc) {
  for (const char c : bytes) crc = (crc >> 8) ^ kCrcTable[(crc ^ static_cast<unsigned char>(c)) & 0xff];
  return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) uint32_t CrcByHardware(std::string_view bytes, uint32_t crc) {
  uint64_t wide = crc;
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) {
    uint64_t word;
    std::memcpy(&word, bytes.data(), sizeof word);
    wide = __builtin_ia32_crc32di(wide, word);
  }
  return CrcByTable(bytes, static_cast<uint32_t>(wide));
}
#endif

struct Record {
  RecordType type;
  size_t end;  // offset behind it
};

uint32_t Little(std::string_view bytes) {
  uint32_t number = 0;
  for (size_t i = bytes.size(); i-- > 0;) number = number << 8 | static_cast<unsigned char>(bytes[i]);
  return number;
}

// The record at an offset, when it is whole, within its block, and matches its checksum.
std::optional<Record> SoundRecordAt(std::string_view log, size_t offset) {
  const size_t block_end = std::min(log.size(), (offset / kBlockBytes + 1) * kBlockBytes);
  if (offset + kHeaderBytes > block_end) return std::nullopt;
  const size_t length = Little(log.substr(offset + 4, 2));
  const auto type = static_cast<unsigned char>(log[offset + 6]);
  if (type < kFull || type > kLast || offset + kHeaderBytes + length > block_end) return std::nullopt;
  const uint32_t crc = Crc32c(log.substr(offset + 6, 1 + length));
  if (Little(log.substr(offset, 4)) != std::rotr(crc, 15) + kMaskDelta) return std::nullopt;
  return Record{static_cast<RecordType>(type), offset + kHeaderBytes + length};
}

bool AllZero(std::string_view bytes) {
  return std::ranges::all_of(bytes, [](char c) { return c == 0; });
}

// Where the next record can stand: behind a block's trailer of zeros.
size_t SkipTrailer(size_t offset) {
  const size_t left = kBlockBytes - offset % kBlockBytes;
  return left < kHeaderBytes ? offset + left : offset;
}

// Whether the damaged record says that its batch ends with it, and something follows.
bool IsFollowed(std::string_view log, size_t damage) {
  if (log.size() - damage < kHeaderBytes) return false;
  const auto type = static_cast<unsigned char>(log[damage + 6]);
  const size_t end = SkipTrailer(damage + kHeaderBytes + Little(log.substr(damage + 4, 2)));
  return (type == kFull || type == kLast) && end < log.size() && !AllZero(log.substr(end));
}

// Whether another batch begins after the damage: then what is damaged had been followed by a sync. In the damaged block
// it is looked for at every offset, because lengths cannot be trusted there; in later ones along the records.
bool BatchBeginsAfter(std::string_view log, size_t damage) {
  const auto begins = [](const std::optional<Record>& record) {
    return record && (record->type == kFull || record->type == kFirst);
  };
  const size_t block_end = std::min(log.size(), (damage / kBlockBytes + 1) * kBlockBytes);
  for (size_t at = damage; at < block_end; ++at) {
    if (begins(SoundRecordAt(log, at))) return true;
  }
  for (size_t block = block_end; block < log.size(); block += kBlockBytes) {
    for (std::optional<Record> record = SoundRecordAt(log, block); record;
         record = SoundRecordAt(log, SkipTrailer(record->end))) {
      if (begins(record)) return true;
      if (SkipTrailer(record->end) >= block + kBlockBytes) break;
    }
  }
  return false;
}

// Whether a part of it was never written: of some sector all bytes that belong to it are zero. A sector that was begun
// by the batch before had zeros there.
bool HasUnwrittenSector(std::string_view log, size_t from) {
  for (size_t at = from; at < log.size();) {
    const size_t end = std::min(log.size(), (at / kSectorBytes + 1) * kSectorBytes);
    if (AllZero(log.substr(at, end - at))) return true;
    at = end;
  }
  return false;
}

// Whether the file ends before the record at this offset does.
bool IsCutShort(std::string_view log, size_t offset) {
  if (log.size() - offset < kHeaderBytes) return true;
  const bool last_block = offset / kBlockBytes == (log.size() - 1) / kBlockBytes;
  const size_t end = offset + kHeaderBytes + Little(log.substr(offset + 4, 2));
  return last_block && end > log.size() && end <= (offset / kBlockBytes + 1) * kBlockBytes;
}

}  // namespace

uint32_t Crc32c(std::string_view bytes, uint32_t crc) {
  crc = ~crc;
#if defined(__x86_64__)
  static const bool has_hardware = __builtin_cpu_supports("sse4.2") != 0;
  if (has_hardware) return ~CrcByHardware(bytes, crc);
#endif
  return ~CrcByTable(bytes, crc);
}

WalVerdict CheckWal(std::string_view log) {
  WalVerdict verdict;
  size_t at = 0;
  bool inside_batch = false;
  while (at < log.size()) {
    const std::optional<Record> record = SoundRecordAt(log, at);
    const bool continues = record && (record->type == kMiddle || record->type == kLast);
    if (!record || continues != inside_batch) break;
    inside_batch = record->type == kFirst || record->type == kMiddle;
    if (!inside_batch) verdict.good_bytes = record->end;
    at = SkipTrailer(record->end);
  }
  if (at >= log.size()) {  // nothing unsound; a batch without its end was cut between two records
    verdict.end = inside_batch ? WalEnd::kTorn : WalEnd::kWhole;
    return verdict;
  }
  const bool torn = IsCutShort(log, at) || HasUnwrittenSector(log, at);
  const bool last = !IsFollowed(log, at) && !BatchBeginsAfter(log, at);
  verdict.end = torn && last ? WalEnd::kTorn : WalEnd::kDamaged;
  return verdict;
}

}  // namespace baton::store
