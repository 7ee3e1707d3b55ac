// The same random calls on a real disk and on the simulated one must be answered alike: the simulation is only worth as
// much as it resembles.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "rt/files.h"
#include "rt/files_testing.h"
#include "rt/random.h"

namespace baton::rt {
namespace {

constexpr int kSeeds = 40;
constexpr int kStepsPerSeed = 150;
constexpr size_t kHandles = 3;
constexpr std::array<const char*, 9> kPaths = {"a", "b", "d", "d/a", "d/e", "d/e/a", "d/e/f", "c", "."};
constexpr std::array<OpenMode, 4> kModes = {OpenMode::kRead, OpenMode::kAppend, OpenMode::kCreate,
                                            OpenMode::kOpenOrCreate};

struct Step {
  enum Kind {
    kOpen,
    kMakeDirectory,
    kList,
    kRename,
    kRemove,
    kSyncDirectory,
    kReadAll,
    kWriteAtomically,
    kRead,
    kAppend,
    kSync,
    kTruncate,
    kSize,
    kClose,
    kKinds
  };
  Kind kind;
  std::string path;
  std::string other_path;
  OpenMode mode;
  size_t handle;
  uint64_t number;
  std::string bytes;

  std::string ToString() const {
    return StrCat("step kind ", static_cast<int>(kind), " path '", path, "' other '", other_path, "' mode ",
                  static_cast<int>(mode), " handle ", handle, " number ", number, " bytes '", bytes, "'");
  }
};

Step RandomStep(Random& random) {
  return {.kind = static_cast<Step::Kind>(random.Below(Step::kKinds)),
          .path = kPaths[random.Below(kPaths.size())],
          .other_path = kPaths[random.Below(kPaths.size())],
          .mode = kModes[random.Below(kModes.size())],
          .handle = random.Below(kHandles),
          .number = random.Below(12),
          .bytes = std::string(random.Below(6), static_cast<char>('a' + random.Below(26)))};
}

std::string Show(const std::string& value) { return value; }
std::string Show(uint64_t value) { return StrCat(value); }
std::string Show(const std::vector<FileEntry>& entries) {
  std::string text;
  for (const FileEntry& entry : entries) StrAppend(text, entry.name, entry.is_directory ? "/ " : " ");
  return text;
}

std::string Show(const Result<void>& result) {
  return std::string(result.ok() ? "done" : ErrorKindName(result.error().kind()));
}
template <class T>
std::string Show(const Result<T>& result) {
  return result.ok() ? StrCat("= ", Show(*result)) : std::string(ErrorKindName(result.error().kind()));
}

// Plays steps in one world and tells what each was answered.
class Player {
 public:
  explicit Player(FilesWorld& world) : world_(world) {}

  std::string Play(const Step& step) {
    Files& files = world_.files();
    switch (step.kind) {
      case Step::kOpen: {
        Result<std::unique_ptr<File>> opened = Run(files.Open(step.path, step.mode));
        if (!opened.ok()) return std::string(ErrorKindName(opened.error().kind()));
        handles_[step.handle] = *std::move(opened);
        return "opened";
      }
      case Step::kMakeDirectory:
        return Show(Run(files.MakeDirectory(step.path)));
      case Step::kList:
        return Show(Run(files.List(step.path)));
      case Step::kRename:
        return Show(Run(files.Rename(step.path, step.other_path)));
      case Step::kRemove:
        return Show(Run(files.Remove(step.path)));
      case Step::kSyncDirectory:
        return Show(Run(files.SyncDirectory(step.path)));
      case Step::kReadAll:
        return Show(Run(files.ReadAll(step.path)));
      case Step::kWriteAtomically:
        return Show(Run(files.WriteAtomically(step.path, step.bytes)));
      default:
        return handles_[step.handle] == nullptr ? "not open" : PlayOn(handles_[step.handle], step);
    }
  }

 private:
  std::string PlayOn(std::unique_ptr<File>& file, const Step& step) {
    switch (step.kind) {
      case Step::kRead:
        return Show(Run(file->ReadAt(step.number, step.bytes.size())));
      case Step::kAppend:
        return Show(Run(file->Append(step.bytes)));
      case Step::kSync:
        return Show(Run(file->Sync()));
      case Step::kTruncate:
        return Show(Run(file->Truncate(step.number)));
      case Step::kSize:
        return Show(Run(file->Size()));
      default:
        file.reset();
        return "closed";
    }
  }
  template <class T>
  T Run(Task<T> task) {
    return world_.loop().Run(std::move(task));
  }

  FilesWorld& world_;
  std::map<size_t, std::unique_ptr<File>> handles_;
};

TEST(FilesDifferentialTest, RandomCallsAreAnsweredAlikeOnBoth) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    RealFilesWorld real;
    SimulatedFilesWorld simulated(seed);
    Player on_disk(real);
    Player in_memory(simulated);
    SeededRandom random(seed);
    for (int i = 0; i < kStepsPerSeed; ++i) {
      const Step step = RandomStep(random);
      ASSERT_EQ(on_disk.Play(step), in_memory.Play(step))
          << "seed " << seed << ", step " << i << ": " << step.ToString();
    }
  }
}

}  // namespace
}  // namespace baton::rt
