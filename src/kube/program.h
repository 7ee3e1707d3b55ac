// Runs another program to its end and takes what it wrote: how credential plugins are asked. Dropping the task, or the
// deadline, kills it and all it started.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "rt/loop.h"
#include "rt/task.h"

namespace baton::kube {

inline constexpr size_t kProgramOutputBytesMax = size_t{1} << 20;  // a program that writes more is killed
inline constexpr size_t kProgramErrorBytesMax = size_t{4} << 10;   // the rest of its standard error is thrown away

struct ProgramCall {
  std::string path;                      // with a '/' in it
  std::vector<std::string> arguments;    // without the program's own name
  std::vector<std::string> environment;  // "NAME=value", all of it
};

struct ProgramResult {
  int exit_code = 0;   // -1 when a signal ended it
  int signal = 0;      // 0 when it exited by itself
  std::string output;  // standard output
  std::string errors;  // standard error, its first bytes
};

// Standard input is empty. An error only when it could not be run, wrote too much or took too long; what it exited with
// is the caller's to judge.
rt::Task<Result<ProgramResult>> RunProgram(rt::Loop& loop, ProgramCall call, rt::Deadline deadline);

// The path of an executable file: `command` itself when it has a '/', else the first in the PATH of `environment`.
Result<std::string> FindProgram(std::string_view command, const std::vector<std::string>& environment);

}  // namespace baton::kube
