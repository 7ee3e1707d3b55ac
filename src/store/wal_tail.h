// What stands at the end of a write-ahead log of RocksDB: whole, torn by a crash, or damaged.
//
// We write one batch at a time and sync it before the next, so a crash can leave only the very last batch of the newest
// log in part: cut short, or with sectors that were never written (they read as zeros). That batch was never
// acknowledged and is dropped. Everything else that does not match its checksum is damage to acknowledged data, and
// nothing may be dropped: RocksDB's own recovery modes know no such line (one drops everything after the damage, the
// other refuses sectors of zeros), so it is drawn here, before RocksDB sees the file.
//
// Format (public, as of RocksDB 2.x): blocks of 32 KiB; in them records of checksum (4), length (2), type (1), payload;
// a batch is one full record, or a first, middle ones and a last; a block's last bytes that cannot hold a header are
// zero.
#pragma once

#include <cstdint>
#include <string_view>

namespace baton::store {

enum class WalEnd : uint8_t { kWhole, kTorn, kDamaged };

struct WalVerdict {
  WalEnd end = WalEnd::kWhole;
  uint64_t good_bytes = 0;  // here the last whole batch before any damage ends
};

// `log` is the whole file.
WalVerdict CheckWal(std::string_view log);

// CRC-32C (Castagnoli), continued from `crc`.
uint32_t Crc32c(std::string_view bytes, uint32_t crc = 0);

}  // namespace baton::store
