// SimulatedFiles: Files in memory for the virtual loop, with the accidents that real disks have.
//
//   VirtualLoop loop(seed);
//   SimulatedFiles files(loop);
//   Result<void> saved = loop.Run(files.WriteAtomically("state", "new"));
//   files.PowerCut(loop.random());
//   files.Snapshot().at("state");          // "new" if `saved` is ok, else "new" or what was there before
//
// Every call takes a turn (or a while, see Options): its effect comes before or after that by chance, so a call that
// was dropped may have happened or not. Answers are those of RealFiles. A power cut leaves what rt/files.h promises and
// of the rest a part chosen by chance: of a file the first few changes since its last Sync (with a spoilt end,
// perhaps), of the tree the first few creations, renames and removals; files and tree do not wait for each other. So a
// file that was renamed into place and never synced may be there and be empty.
//
// A SimulatedFiles stands for one disk: it lives on through crashes, and the next incarnation of the simulated process
// goes on with it. Same seed, same calls, same outcome.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "rt/files.h"
#include "rt/loop.h"
#include "rt/random.h"
#include "rt/simulated_disk.h"

namespace baton::rt {

class SimulatedFiles final : public Files {
 public:
  struct Options {
    Duration min_latency{0};  // of a call, drawn from the loop's random between the two;
    Duration max_latency{0};  // zero: one turn
    PowerCutOptions power_cut = {};
  };

  // Asked before every effect with the operation's name and its path ("from" of a rename): an error is what the call
  // answers. Then the operation has no effect, except that a failed "append" may have written a part and a failed
  // "sync" loses the bytes as File::Sync says. It may also call PowerCut or Crash: then the effect does not come.
  using Fault = std::function<std::optional<Error>(std::string_view operation, std::string_view path)>;

  explicit SimulatedFiles(Loop& loop);
  SimulatedFiles(Loop& loop, const Options& options);
  ~SimulatedFiles() override;

  Task<Result<std::unique_ptr<File>>> Open(std::string path, OpenMode mode) override;
  Task<Result<void>> MakeDirectory(std::string path) override;
  Task<Result<std::vector<FileEntry>>> List(std::string path) override;
  Task<Result<void>> Rename(std::string from, std::string to) override;
  Task<Result<void>> Remove(std::string path) override;
  Task<Result<void>> SyncDirectory(std::string path) override;

  // ---- accidents ----
  // Files that are open, and calls that are under way, answer kUnavailable from now on; new calls work.
  void PowerCut(Random& random);
  void Crash();  // the process was killed: nothing is lost

  // kNoSpace where the files together would hold more; SimulatedDisk::kNoQuota takes the limit away. May be less than
  // what is used.
  void set_quota(uint64_t bytes);

  // The names of operations: open, make_directory, list, rename, remove, sync_directory; read, append, sync, truncate,
  // size.
  void set_fault(Fault fault);
  // The next such operation (after those that earlier calls of FailNext chose) answers `error`.
  void FailNext(std::string_view operation, Error error);

  std::map<std::string, std::string> Snapshot() const;  // path -> bytes of every file, as a process sees them
  uint64_t used_bytes() const;

 private:
  struct State;
  struct OpenFile;
  class Handle;

  template <class Effect, class OnFault>
  static Task<std::invoke_result_t<Effect, State&>> Call(std::shared_ptr<State> state, std::string_view operation,
                                                         std::string path, std::optional<uint64_t> life, Effect effect,
                                                         OnFault on_fault);
  template <class Effect>
  Task<std::invoke_result_t<Effect, State&>> CallNow(std::string_view operation, std::string path, Effect effect);

  std::shared_ptr<State> state_;  // shared with open files and calls under way
};

}  // namespace baton::rt
