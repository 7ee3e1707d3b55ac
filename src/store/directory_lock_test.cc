// The lock of a data directory.
#include "store/directory_lock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <string>

#include "store/testing/temporary_directory.h"

namespace baton::store {
namespace {

using testing::HasSubstr;

TEST(DirectoryLockTest, OneHoldsItUntilItIsDropped) {
  const TemporaryDirectory directory;
  {
    const DirectoryLock lock = DirectoryLock::Take(directory.path()).value();
    EXPECT_TRUE(lock.held());
    const Result<DirectoryLock> second = DirectoryLock::Take(directory.path());
    EXPECT_EQ(second.error().kind(), ErrorKind::kAlreadyExists);
    EXPECT_THAT(second.error().message(), HasSubstr("in use by process " + std::to_string(getpid()) + " ("));
    EXPECT_THAT(second.error().message(), HasSubstr("store_test"));
  }
  EXPECT_TRUE(DirectoryLock::Take(directory.path()).ok());
}

TEST(DirectoryLockTest, AnotherProcessIsNamedAndItsDeathLetsGo) {
  const TemporaryDirectory directory;
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    const Result<DirectoryLock> lock = DirectoryLock::Take(directory.path());
    const char done = lock.ok() ? '+' : '-';
    if (write(ready[1], &done, 1) != 1) _exit(1);
    pause();
    _exit(0);
  }
  char done = 0;
  ASSERT_EQ(read(ready[0], &done, 1), 1);
  ASSERT_EQ(done, '+');
  const Result<DirectoryLock> second = DirectoryLock::Take(directory.path());
  EXPECT_THAT(second.error().message(), HasSubstr("process " + std::to_string(child) + " ("));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(DirectoryLock::Take(directory.path()).ok());
  close(ready[0]);
  close(ready[1]);
}

TEST(DirectoryLockTest, AHolderThatSaysNothingIsStillRespected) {
  const TemporaryDirectory directory;
  const DirectoryLock lock = DirectoryLock::Take(directory.path()).value();
  std::ofstream(directory.path() + "/" + kLockFileName, std::ios::trunc) << "";
  EXPECT_THAT(DirectoryLock::Take(directory.path()).error().message(), HasSubstr("in use by another process"));
}

TEST(DirectoryLockTest, WhatIsMadeIsPrivateAndWhatIsThereIsLeftAlone) {
  const TemporaryDirectory directory;
  const std::string open_to_all = directory.path() + "/open";
  ASSERT_EQ(mkdir(open_to_all.c_str(), 0755), 0);
  const std::string deep = open_to_all + "/a/b";
  ASSERT_TRUE(MakePrivateDirectory(deep).ok());
  ASSERT_TRUE(MakePrivateDirectory(deep).ok());
  const auto mode = [](const std::string& path) {
    struct stat found;
    return stat(path.c_str(), &found) == 0 ? found.st_mode & 0777 : 0;
  };
  EXPECT_EQ(mode(open_to_all), 0755U);
  EXPECT_EQ(mode(open_to_all + "/a"), 0700U);
  EXPECT_EQ(mode(deep), 0700U);
}

TEST(DirectoryLockTest, SystemErrorsKeepTheirMeaning) {
  EXPECT_EQ(SystemError("writing 'x'", ENOSPC).ToString(), "no_space: writing 'x': No space left on device");
  EXPECT_EQ(SystemError("x", EDQUOT).kind(), ErrorKind::kNoSpace);
  EXPECT_EQ(SystemError("x", EACCES).kind(), ErrorKind::kForbidden);
  EXPECT_EQ(SystemError("x", ENOENT).kind(), ErrorKind::kNotFound);
  EXPECT_EQ(SystemError("x", ENOTDIR).kind(), ErrorKind::kInvalid);
  EXPECT_EQ(SystemError("x", EIO).kind(), ErrorKind::kUnavailable);
}

}  // namespace
}  // namespace baton::store
