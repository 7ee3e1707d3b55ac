// The line between a torn end and damage, on logs made by hand.
#include "store/wal_tail.h"

#include <gtest/gtest.h>

#include <bit>
#include <string>
#include <vector>

#include "rt/random.h"

namespace baton::store {
namespace {

constexpr size_t kBlock = 32768;

void AppendLittle(std::string& out, uint32_t number, int bytes) {
  for (int i = 0; i < bytes; ++i) out.push_back(static_cast<char>(number >> (8 * i)));
}

// As RocksDB's log writer does it.
void AppendBatch(std::string& log, std::string_view batch) {
  bool first = true;
  do {
    if (kBlock - log.size() % kBlock < 7) log.append(kBlock - log.size() % kBlock, '\0');
    const size_t room = kBlock - log.size() % kBlock - 7;
    const std::string_view part = batch.substr(0, room);
    batch.remove_prefix(part.size());
    const char type = batch.empty() ? (first ? 1 : 4) : (first ? 2 : 3);
    const std::string checked = std::string(1, type) + std::string(part);
    AppendLittle(log, std::rotr(Crc32c(checked), 15) + 0xa282ead8, 4);
    AppendLittle(log, static_cast<uint32_t>(part.size()), 2);
    log += checked;
    first = false;
  } while (!batch.empty());
}

std::string Noise(size_t bytes, uint64_t seed) {
  rt::SeededRandom random(seed);
  std::string noise;
  while (noise.size() < bytes) noise.push_back(static_cast<char>(1 + random.Below(255)));  // without zeros
  return noise;
}

struct Log {
  explicit Log(const std::vector<size_t>& sizes) {
    for (const size_t size : sizes) {
      AppendBatch(bytes, Noise(size, bytes.size() + 1));
      ends.push_back(bytes.size());
    }
  }
  std::string bytes;
  std::vector<size_t> ends;  // of each batch
};

TEST(WalTailTest, TheChecksumIsCastagnolis) {
  EXPECT_EQ(Crc32c("123456789"), 0xe3069283U);
  EXPECT_EQ(Crc32c(""), 0U);
  EXPECT_EQ(Crc32c("6789", Crc32c("12345")), 0xe3069283U);
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8a9136aaU);
}

TEST(WalTailTest, AWholeLogIsWhole) {
  for (const std::vector<size_t>& sizes : std::vector<std::vector<size_t>>{
           {}, {0}, {1}, {100, 200, 300}, {kBlock - 7}, {kBlock - 8, 5}, {kBlock - 14, 9}, {100'000, 3, 100'000}}) {
    const Log log(sizes);
    const WalVerdict verdict = CheckWal(log.bytes);
    EXPECT_EQ(verdict.end, WalEnd::kWhole);
    EXPECT_EQ(verdict.good_bytes, log.bytes.size());
  }
}

TEST(WalTailTest, ALogCutAnywhereIsTornAtItsLastWholeBatch) {
  const Log log({100, 40'000, 1, 70'000});
  for (size_t size = 0; size < log.bytes.size(); size += size < 300 ? 1 : 97) {
    size_t good = 0;
    for (const size_t end : log.ends) good = end <= size ? end : good;
    const WalVerdict verdict = CheckWal(log.bytes.substr(0, size));
    EXPECT_EQ(verdict.end, good == size ? WalEnd::kWhole : WalEnd::kTorn) << size;
    EXPECT_EQ(verdict.good_bytes, good) << size;
  }
}

TEST(WalTailTest, EveryFlippedByteBeforeTheLastBatchIsDamage) {
  const Log log({100, 40'000, 300, 200});
  for (size_t at = 0; at < log.ends[2]; at += at < 300 ? 1 : 61) {
    std::string bytes = log.bytes;
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    EXPECT_EQ(CheckWal(bytes).end, WalEnd::kDamaged) << at;
  }
}

TEST(WalTailTest, AFlippedByteInTheLastBatchIsDamage) {
  const Log log({100, 5000});
  for (size_t at = log.ends[0]; at < log.bytes.size(); at += 7) {
    std::string bytes = log.bytes;
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    const bool length = at == log.ends[0] + 4 || at == log.ends[0] + 5;  // then it may look cut short
    if (!length) EXPECT_EQ(CheckWal(bytes).end, WalEnd::kDamaged) << at;
  }
}

TEST(WalTailTest, SectorsOfZerosInTheLastBatchAreTornAndElsewhereDamage) {
  const Log log({1000, 100'000});
  for (size_t sector = 0; sector < log.bytes.size(); sector += 512) {
    std::string bytes = log.bytes;
    const size_t end = std::min(sector + 512, bytes.size());
    for (size_t i = sector; i < end; ++i) bytes[i] = 0;
    const bool in_first = sector < log.ends[0];
    EXPECT_EQ(CheckWal(bytes).end, in_first ? WalEnd::kDamaged : WalEnd::kTorn) << sector;
    if (!in_first) EXPECT_EQ(CheckWal(bytes).good_bytes, log.ends[0]);
  }
}

TEST(WalTailTest, RoomThatWasNeverWrittenIsDropped) {
  const Log log({1000});
  const WalVerdict verdict = CheckWal(log.bytes + std::string(100'000, '\0'));
  EXPECT_EQ(verdict.end, WalEnd::kTorn);
  EXPECT_EQ(verdict.good_bytes, log.bytes.size());
}

TEST(WalTailTest, ABatchBehindAHoleIsDamage) {
  const Log log({1000});
  std::string bytes = log.bytes + std::string(2 * kBlock - log.bytes.size(), '\0');
  AppendBatch(bytes, "later");
  EXPECT_EQ(CheckWal(bytes).end, WalEnd::kDamaged);
}

TEST(WalTailTest, GarbageNeverEndsTheProcessNorTakesForever) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    rt::SeededRandom random(seed);
    std::string bytes(random.Below(3 * kBlock), '\0');
    random.Fill(std::as_writable_bytes(std::span(bytes)));
    EXPECT_LE(CheckWal(bytes).good_bytes, bytes.size());
  }
  // Every offset looks like a record's beginning.
  EXPECT_NE(CheckWal(std::string(3 * kBlock, '\1')).end, WalEnd::kWhole);
}

}  // namespace
}  // namespace baton::store
