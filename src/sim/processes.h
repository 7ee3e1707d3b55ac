// Work in processes of their own: what fails an invariant there ends only that process, and is told.
//
//   Processes processes(jobs);
//   TRY(processes.RunAll([](uint64_t id) -> Processes::Work { return [] { return text; }; },   // runs in a child
//                        [](uint64_t id, const ChildOutput& output) { ... }));                  // as each ends
//
// Children are forks of this program: not for a process that has threads.
//
// A Branch is a child that goes on from the middle of what this process does, while this one waits for it: many endings
// of one beginning, which is made once.
//
//   const Branch branch = TRY(Branch::Fork());
//   if (branch.in_child()) { ...; branch.End(text); }
//   branch.output()
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace baton::sim {

struct ChildOutput {
  std::string text;
  std::string died;  // "": it came to its end; else how it did not: "signal 6"
};

class Branch {
 public:
  // In this process it returns when the child has ended.
  static Result<Branch> Fork();

  bool in_child() const { return fd_ >= 0; }
  [[noreturn]] void End(const std::string& text) const;  // the child, as if it had never been
  const ChildOutput& output() const { return output_; }  // of the child, in its parent

 private:
  int fd_ = -1;  // where the child writes
  ChildOutput output_;
};

class Processes {
 public:
  explicit Processes(size_t jobs) : jobs_(jobs == 0 ? 1 : jobs) {}
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;
  ~Processes();  // children that still run are ended

  using Work = std::function<std::string()>;
  using Done = std::function<void(uint64_t id, const ChildOutput& output)>;

  // Runs all of them, `jobs` at a time, and calls done in this process as each ends. `more` is asked for number 0, 1,
  // ... and gives null when there is none; it is asked again when one has ended.
  Result<void> RunAll(const std::function<Work(uint64_t id)>& more, const Done& done);

 private:
  struct Child {
    uint64_t id = 0;
    pid_t pid = 0;
    int fd = -1;
    std::string text;
  };

  Result<void> Start(uint64_t id, const Work& work);
  Result<void> ReadSome(const Done& done);

  size_t jobs_;
  std::vector<Child> children_;
};

}  // namespace baton::sim
