// Backups: one file with everything that a store holds at one revision, past revisions included, under a digest.
//
//   const BackupInfo info = TRY(BackupDirectory("/var/lib/baton", "/backups/monday"));     // the server may be running
//   TRY(RestoreBackup("/backups/monday", "/var/lib/baton-new"));                           // before a server is
//   started
//
// File: "BATONBKP", format version (4), revision (8), compacted revision (8), number of records (8); the records, each
// log key (12), length (4), log record (store/log_format.h); then the SHA-256 of everything before it (32). Numbers are
// big-endian. What was written is read back before it counts; a file that is cut short or altered is refused.
//
// These calls block: for command lines, not for loops.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "store/engine.h"

namespace baton::store {

struct BackupInfo {
  Revision revision;
  Revision compacted;
  uint64_t records = 0;
  uint64_t bytes = 0;  // of the file
  std::string sha256;  // hexadecimal; what the file ends with
  friend bool operator==(const BackupInfo&, const BackupInfo&) = default;
};

// Into a new file, which appears whole or not at all (0600). Another process may have the store open and write to it:
// everything acknowledged before the call is in the backup. kNotFound: no store there; kAlreadyExists: the file is
// there already; kCorrupt: the store is damaged; kNoSpace; kUnavailable.
Result<BackupInfo> BackupDirectory(const std::string& data_directory, const std::string& file);

// Reads the whole file. kCorrupt: not a backup, cut short or altered; kUnsupported: a newer format.
Result<BackupInfo> VerifyBackup(const std::string& file);

// Into a directory that is missing or empty: the store is there whole or not at all. Errors as above, and
// kAlreadyExists: the directory is in use or holds something.
Result<BackupInfo> RestoreBackup(const std::string& file, const std::string& data_directory);

}  // namespace baton::store
