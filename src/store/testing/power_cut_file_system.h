// PowerCutFileSystem: a disk in memory for RocksDB that can lose its power, fill up and fail. For tests.
//
//   PowerCutFileSystem disk(seed);
//   options.file_system_for_test = disk.system();
//   disk.CutAfter(random.Below(1000));      // ... run until everything fails
//   disk.Restart();                         // what a real disk would have; everything that used the old one is closed
//
// What a power cut leaves: of each file the bytes that were synced, then a beginning of the others, in which sectors
// may be zero that were never written; of each directory the entries as of its last sync, and a beginning of the
// changes since. So a file that was synced and never entered in a synced directory may be gone. From any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace rocksdb {
class FileSystem;
}

namespace baton::store {

class PowerCutFileSystem {
 public:
  explicit PowerCutFileSystem(uint64_t seed);
  ~PowerCutFileSystem();

  std::shared_ptr<rocksdb::FileSystem> system() const;
  void MakeDirectory(const std::string& name);  // as if it had always been there

  // The power goes: now, or before the n-th change to the disk from now. From then on everything fails.
  void PowerCut();
  void CutAfter(uint64_t changes);
  bool is_off() const;
  void Restart();

  uint64_t changes() const;  // so far: appends, syncs, creations, renames, ...

  // More than this is kNoSpace; a file then gets a beginning of what was to be appended.
  void SetCapacity(uint64_t bytes);
  uint64_t UsedBytes() const;

  // So many syncs of files, from now on, fail with an I/O error; the bytes are there or not, as after a power cut.
  void FailSyncs(int count);

  // For looking at and damaging what is there. Paths of all files, sorted.
  std::vector<std::string> Paths() const;
  std::string Content(const std::string& path) const;
  void Overwrite(const std::string& path, std::string content);
  void Remove(const std::string& path);

 private:
  class Disk;
  class System;
  std::shared_ptr<Disk> disk_;
  std::shared_ptr<rocksdb::FileSystem> system_;
};

}  // namespace baton::store
