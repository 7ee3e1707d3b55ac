// Programs run to their end, or are killed.
#include "kube/program.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <string>

#include "rt/real_loop.h"
#include "rt/test_support.h"

namespace baton::kube {
namespace {

Result<ProgramResult> Shell(std::string script, Duration timeout = seconds(60)) {
  rt::RealLoop loop;
  return loop.Run(RunProgram(
      loop, {.path = "/bin/sh", .arguments = {"-c", std::move(script)}, .environment = {"A=from the caller"}},
      rt::Deadline::After(loop, timeout)));
}

TEST(ProgramTest, GivesWhatTheProgramWroteAndHowItEnded) {
  const ProgramResult done = *Shell("echo \"out $A\"; echo err >&2; exit 3");
  EXPECT_EQ(done.output, "out from the caller\n");
  EXPECT_EQ(done.errors, "err\n");
  EXPECT_EQ(done.exit_code, 3);
  EXPECT_EQ(done.signal, 0);
  const ProgramResult killed = *Shell("kill -TERM $$");
  EXPECT_EQ(killed.exit_code, -1);
  EXPECT_EQ(killed.signal, SIGTERM);
  EXPECT_EQ(Shell("cat; env | grep -c .")->output.size(), 2u);  // nothing to read; A, and what sh itself sets
}

TEST(ProgramTest, LimitsWhatIsTaken) {
  const Result<ProgramResult> much =
      Shell("while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done");
  EXPECT_EQ(much.error().kind(), ErrorKind::kTooLarge);
  const Result<ProgramResult> noisy = Shell("i=0; while [ $i -lt 2000 ]; do echo error error >&2; i=$((i+1)); done");
  EXPECT_EQ(noisy->errors.size(), kProgramErrorBytesMax);
  EXPECT_EQ(noisy->exit_code, 0);
}

// The loop's destructor waits for the pool: were the program not killed, this would take minutes.
TEST(ProgramTest, ADeadlineKillsTheProgramAndWhatItStarted) {
  const Result<ProgramResult> late = Shell("sleep 300 & exec >&- 2>&-; sleep 300", milliseconds(20));
  EXPECT_EQ(late.error().kind(), ErrorKind::kDeadlineExceeded);
  const Result<ProgramResult> holding = Shell("sleep 300", milliseconds(20));
  EXPECT_EQ(holding.error().kind(), ErrorKind::kDeadlineExceeded);
}

TEST(ProgramTest, SaysWhatCannotBeRun) {
  rt::RealLoop loop;
  const auto missing = loop.Run(RunProgram(loop, {.path = "/no/such/program"}, rt::Deadline::Never()));
  EXPECT_EQ(missing.error().message(), "/no/such/program cannot be run: No such file or directory");
}

TEST(ProgramTest, FindsProgramsInThePathOfTheGivenEnvironmentOnly) {
  EXPECT_EQ(*FindProgram("sh", {"X=1", "PATH=/nowhere:bin::/bin"}), "/bin/sh");
  EXPECT_EQ(*FindProgram("./sh", {}), "./sh");
  EXPECT_EQ(FindProgram("sh", {}).error().kind(), ErrorKind::kNotFound);
  EXPECT_EQ(FindProgram("sh", {"PATH="}).error().kind(), ErrorKind::kNotFound);
}

}  // namespace
}  // namespace baton::kube
