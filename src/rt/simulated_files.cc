// Turns, faults and crashes around a SimulatedDisk.
#include "rt/simulated_files.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <deque>
#include <utility>

#include "base/invariant.h"
#include "base/strings.h"
#include "rt/files_internal.h"

namespace baton::rt {

using files_internal::CheckDirectoryPath;
using files_internal::CheckPath;

namespace {

constexpr std::array<std::string_view, 11> kOperations = {"open",   "make_directory", "list", "rename",
                                                          "remove", "sync_directory", "read", "append",
                                                          "sync",   "truncate",       "size"};

}  // namespace

struct SimulatedFiles::State {
  State(Loop& on_loop, const Options& with_options) : loop(on_loop), options(with_options) {}

  std::optional<Error> NextFault(std::string_view operation, std::string_view path) {
    if (const Fault hook = fault) {  // a copy: it may replace itself
      if (std::optional<Error> error = hook(operation, path)) return error;
    }
    const auto planned = fail_next.find(operation);
    if (planned == fail_next.end()) return std::nullopt;
    Error error = std::move(planned->second.front());
    planned->second.pop_front();
    if (planned->second.empty()) fail_next.erase(planned);
    return error;
  }

  Loop& loop;
  const Options options;
  SimulatedDisk disk;
  uint64_t life = 0;  // of the process: counts its deaths
  Fault fault;
  std::map<std::string, std::deque<Error>, std::less<>> fail_next;
};

// What a handle and its calls under way share.
struct SimulatedFiles::OpenFile {
  OpenFile(std::shared_ptr<State> of, SimulatedDisk::InodeId id, std::string opened_path, bool may_write)
      : state(std::move(of)), inode(id), path(std::move(opened_path)), writable(may_write), life(state->life) {}
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() {
    if (life == state->life) state->disk.Close(inode);  // a crash has closed it already
  }

  Result<void> CheckWritable(std::string_view what) const {
    if (!writable) return files_internal::OpenedForReading(what, path);
    if (sync_error) return files_internal::AfterFailedSync(what, path, *sync_error);
    return {};
  }

  const std::shared_ptr<State> state;
  const SimulatedDisk::InodeId inode;
  const std::string path;
  const bool writable;
  const uint64_t life;
  std::optional<Error> sync_error;
};

// One call: its effect and its turn, in either order. `life` is when the file was opened, or nothing for now. Owns all
// it touches, so that handle and Files may go while it waits.
template <class Effect, class OnFault>
Task<std::invoke_result_t<Effect, SimulatedFiles::State&>> SimulatedFiles::Call(std::shared_ptr<State> state,
                                                                                std::string_view operation,
                                                                                std::string path,
                                                                                std::optional<uint64_t> life,
                                                                                Effect effect, OnFault on_fault) {
  using Answer = std::invoke_result_t<Effect, State&>;
  const uint64_t born = life.value_or(state->life);
  const auto went_away = [&] {
    return UnavailableError(StrCat("cannot ", operation, " '", path, "': the file system went away"));
  };
  const auto take_effect = [&]() -> Answer {
    if (state->life != born) return went_away();
    const std::optional<Error> fault = state->NextFault(operation, path);
    if (state->life != born) return went_away();
    if (!fault) return effect(*state);
    on_fault(*fault);
    return *fault;
  };

  Loop& loop = state->loop;
  std::optional<Answer> answer;
  if (loop.random().Chance(0.5)) answer.emplace(take_effect());
  if (state->options.max_latency > Duration::zero()) {
    co_await loop.Sleep(loop.random().Between(state->options.min_latency, state->options.max_latency));
  } else {
    co_await loop.Yield();
  }
  if (state->life != born) co_return went_away();
  if (!answer) answer.emplace(take_effect());
  co_return *std::move(answer);
}

// ---- one file ----

class SimulatedFiles::Handle final : public File {
 public:
  explicit Handle(std::shared_ptr<OpenFile> file) : file_(std::move(file)) {}

  Task<Result<std::string>> ReadAt(uint64_t offset, size_t length) override {
    return CallOn("read", [file = file_, offset, length](State& state) -> Result<std::string> {
      const std::string& content = state.disk.Content(file->inode);
      return content.substr(std::min<uint64_t>(offset, content.size()), length);
    });
  }

  Task<Result<void>> Append(std::string bytes) override {
    const auto text = std::make_shared<const std::string>(std::move(bytes));
    return CallOn(
        "append",
        [file = file_, text](State& state) -> Result<void> {
          constexpr std::string_view kWhat = "append to";
          TRY(file->CheckWritable(kWhat));
          if (state.disk.Append(file->inode, *text)) return {};
          return files_internal::SystemError(kWhat, file->path, ENOSPC);
        },
        [file = file_, text](const Error&) {
          if (!file->CheckWritable("append to").ok()) return;
          const uint64_t part = file->state->loop.random().Below(text->size() + 1);
          file->state->disk.Append(file->inode, std::string_view(*text).substr(0, part));
        });
  }

  Task<Result<void>> Sync() override {
    return CallOn(
        "sync",
        [file = file_](State& state) -> Result<void> {
          if (file->sync_error) return files_internal::AfterFailedSync("sync", file->path, *file->sync_error);
          state.disk.Sync(file->inode);
          return {};
        },
        [file = file_](const Error& error) {
          file->sync_error = error;
          file->state->disk.FailSync(file->inode);
        });
  }

  Task<Result<void>> Truncate(uint64_t size) override {
    return CallOn("truncate", [file = file_, size](State& state) -> Result<void> {
      TRY(file->CheckWritable("truncate"));
      const uint64_t had = state.disk.Content(file->inode).size();
      if (size > had) return files_internal::CannotGrow(file->path, had, size);
      state.disk.Truncate(file->inode, size);
      return {};
    });
  }

  Task<Result<uint64_t>> Size() override {
    return CallOn("size",
                  [file = file_](State& state) -> Result<uint64_t> { return state.disk.Content(file->inode).size(); });
  }

 private:
  template <class Effect, class OnFault = void (*)(const Error&)>
  Task<std::invoke_result_t<Effect, State&>> CallOn(
      std::string_view operation, Effect effect, OnFault on_fault = [](const Error&) {}) {
    return Call(file_->state, operation, file_->path, file_->life, std::move(effect), std::move(on_fault));
  }

  std::shared_ptr<OpenFile> file_;
};

// ---- the tree ----

SimulatedFiles::SimulatedFiles(Loop& loop) : SimulatedFiles(loop, Options{}) {}

SimulatedFiles::SimulatedFiles(Loop& loop, const Options& options) : state_(std::make_shared<State>(loop, options)) {
  INVARIANT(options.min_latency >= Duration::zero() && options.min_latency <= options.max_latency,
            "latencies are a range");
}

SimulatedFiles::~SimulatedFiles() = default;

template <class Effect>
Task<std::invoke_result_t<Effect, SimulatedFiles::State&>> SimulatedFiles::CallNow(std::string_view operation,
                                                                                   std::string path, Effect effect) {
  return Call(state_, operation, std::move(path), std::nullopt, std::move(effect), [](const Error&) {});
}

Task<Result<std::unique_ptr<File>>> SimulatedFiles::Open(std::string path, OpenMode mode) {
  return CallNow("open", path, [owner = state_, path, mode](State& state) -> Result<std::unique_ptr<File>> {
    TRY(CheckPath(path));
    const SimulatedDisk::InodeId inode = TRY(state.disk.Open(path, mode));
    return std::make_unique<Handle>(std::make_shared<OpenFile>(owner, inode, path, mode != OpenMode::kRead));
  });
}

Task<Result<void>> SimulatedFiles::MakeDirectory(std::string path) {
  return CallNow("make_directory", path, [path](State& state) -> Result<void> {
    TRY(CheckDirectoryPath(path));
    return state.disk.MakeDirectory(path);
  });
}

Task<Result<std::vector<FileEntry>>> SimulatedFiles::List(std::string path) {
  return CallNow("list", path, [path](State& state) -> Result<std::vector<FileEntry>> {
    TRY(CheckDirectoryPath(path));
    return state.disk.List(path);
  });
}

Task<Result<void>> SimulatedFiles::Rename(std::string from, std::string to) {
  return CallNow("rename", from, [from, to = std::move(to)](State& state) -> Result<void> {
    TRY(CheckPath(from));
    TRY(CheckPath(to));
    return state.disk.Rename(from, to);
  });
}

Task<Result<void>> SimulatedFiles::Remove(std::string path) {
  return CallNow("remove", path, [path](State& state) -> Result<void> {
    TRY(CheckPath(path));
    return state.disk.Remove(path);
  });
}

Task<Result<void>> SimulatedFiles::SyncDirectory(std::string path) {
  return CallNow("sync_directory", path, [path](State& state) -> Result<void> {
    TRY(CheckDirectoryPath(path));
    return state.disk.SyncDirectory(path);
  });
}

// ---- accidents ----

void SimulatedFiles::PowerCut(Random& random) {
  ++state_->life;
  state_->disk.PowerCut(random, state_->options.power_cut);
}

void SimulatedFiles::Crash() {
  ++state_->life;
  state_->disk.CloseAll();
}

void SimulatedFiles::set_quota(uint64_t bytes) { state_->disk.set_quota(bytes); }

void SimulatedFiles::set_fault(Fault fault) { state_->fault = std::move(fault); }

void SimulatedFiles::FailNext(std::string_view operation, Error error) {
  INVARIANT(std::find(kOperations.begin(), kOperations.end(), operation) != kOperations.end(),
            StrCat("no operation is called '", operation, "'"));
  state_->fail_next[std::string(operation)].push_back(std::move(error));
}

std::map<std::string, std::string> SimulatedFiles::Snapshot() const { return state_->disk.Snapshot(); }

uint64_t SimulatedFiles::used_bytes() const { return state_->disk.used_bytes(); }

}  // namespace baton::rt
