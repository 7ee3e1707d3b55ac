// Programs, by posix_spawn. A pool thread waits for them; the loop tells it to stop through a pipe.
#include "kube/program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

#include "base/strings.h"
#include "rt/when.h"

namespace baton::kube {
namespace {

constexpr int kExitCheckMilliseconds = 5;  // after both pipes were closed, a program has little left to do

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    Close();
    fd_ = std::exchange(other.fd_, -1);
    return *this;
  }
  ~Descriptor() { Close(); }
  int get() const { return fd_; }
  bool open() const { return fd_ >= 0; }
  void Close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

 private:
  int fd_;
};

struct Pipe {
  Descriptor read, write;
};

Error SystemError(std::string_view what) { return UnavailableError(StrCat(what, ": ", std::strerror(errno))); }

Result<Pipe> MakePipe() {
  std::array<int, 2> fds{};
  if (::pipe2(fds.data(), O_CLOEXEC) != 0) return SystemError("no pipe");
  return Pipe{.read = Descriptor(fds[0]), .write = Descriptor(fds[1])};
}

// Tells a pool thread that nobody waits for it any more.
class StopSignal {
 public:
  StopSignal() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  int fd() const { return fd_.get(); }
  void Set() const {
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(fd_.get(), &one, sizeof one);
  }

 private:
  Descriptor fd_;
};

class StopAtExit {
 public:
  explicit StopAtExit(std::shared_ptr<StopSignal> signal) : signal_(std::move(signal)) {}
  StopAtExit(const StopAtExit&) = delete;
  StopAtExit& operator=(const StopAtExit&) = delete;
  ~StopAtExit() { signal_->Set(); }

 private:
  std::shared_ptr<StopSignal> signal_;
};

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// A group of its own, so that all it starts can be killed; no signal blocked or ignored, whatever we do with ours.
Result<pid_t> Spawn(ProgramCall& call, int output, int errors) {
  std::vector<std::string> words = {call.path};
  words.insert(words.end(), call.arguments.begin(), call.arguments.end());
  const std::vector<char*> arguments = Pointers(words);
  const std::vector<char*> environment = Pointers(call.environment);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setsigdefault(&attributes, &all);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t pid = 0;
  const int failed =
      ::posix_spawn(&pid, call.path.c_str(), &actions, &attributes, arguments.data(), environment.data());
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return UnavailableError(StrCat(call.path, " cannot be run: ", std::strerror(failed)));
  return pid;
}

// Reads what is there; closes the descriptor at its end.
void ReadSome(Descriptor& from, std::string& into, size_t bytes_max) {
  std::array<char, 4096> buffer;
  const ssize_t got = ::read(from.get(), buffer.data(), buffer.size());
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (got <= 0) return from.Close();
  into.append(buffer.data(), std::min(static_cast<size_t>(got), bytes_max - std::min(bytes_max, into.size())));
}

class Running {
 public:
  explicit Running(pid_t pid) : pid_(pid) {}
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running() {
    if (!ended_) Kill();
  }

  bool Ended() {
    const pid_t got = ::waitpid(pid_, &state_, WNOHANG);
    ended_ = got == pid_ || (got < 0 && errno != EINTR);
    return ended_;
  }
  void Kill() {
    ::kill(-pid_, SIGKILL);
    while (::waitpid(pid_, &state_, 0) < 0 && errno == EINTR) {
    }
    ended_ = true;
  }
  int state() const { return state_; }

 private:
  pid_t pid_;
  int state_ = 0;
  bool ended_ = false;
};

Result<ProgramResult> RunHere(ProgramCall call, const StopSignal& stop) {
  Pipe output = TRY(MakePipe());
  Pipe errors = TRY(MakePipe());
  Running running(TRY(Spawn(call, output.write.get(), errors.write.get())));
  output.write.Close();
  errors.write.Close();
  ProgramResult result;
  // One byte more than the limit, to see that there is more.
  while (output.read.open() || errors.read.open()) {
    std::array<pollfd, 3> waits = {{{.fd = output.read.get(), .events = POLLIN, .revents = 0},
                                    {.fd = errors.read.get(), .events = POLLIN, .revents = 0},
                                    {.fd = stop.fd(), .events = POLLIN, .revents = 0}}};
    if (::poll(waits.data(), waits.size(), -1) < 0 && errno != EINTR) return SystemError(call.path);
    if (waits[2].revents != 0) return CancelledError(StrCat(call.path, " was stopped"));
    if (waits[0].revents != 0) ReadSome(output.read, result.output, kProgramOutputBytesMax + 1);
    if (waits[1].revents != 0) ReadSome(errors.read, result.errors, kProgramErrorBytesMax);
    if (result.output.size() > kProgramOutputBytesMax) {
      return TooLargeError(StrCat(call.path, " wrote more than ", kProgramOutputBytesMax, " bytes"));
    }
  }
  while (!running.Ended()) {
    pollfd wait = {.fd = stop.fd(), .events = POLLIN, .revents = 0};
    if (::poll(&wait, 1, kExitCheckMilliseconds) > 0) return CancelledError(StrCat(call.path, " was stopped"));
  }
  result.exit_code = WIFEXITED(running.state()) ? WEXITSTATUS(running.state()) : -1;
  result.signal = WIFSIGNALED(running.state()) ? WTERMSIG(running.state()) : 0;
  return result;
}

rt::Task<Result<ProgramResult>> RunUntilDropped(rt::Loop& loop, ProgramCall call) {
  auto stop = std::make_shared<StopSignal>();
  if (stop->fd() < 0) co_return SystemError("no event descriptor");
  const StopAtExit at_exit(stop);
  co_return co_await loop.Offload([call = std::move(call), stop]() mutable { return RunHere(std::move(call), *stop); });
}

}  // namespace

rt::Task<Result<ProgramResult>> RunProgram(rt::Loop& loop, ProgramCall call, rt::Deadline deadline) {
  const std::string what = StrCat(call.path, " to end");
  return rt::WithDeadline(deadline, what, RunUntilDropped(loop, std::move(call)));
}

Result<std::string> FindProgram(std::string_view command, const std::vector<std::string>& environment) {
  if (command.find('/') != std::string_view::npos) return std::string(command);
  for (const std::string& variable : environment) {
    if (!variable.starts_with("PATH=")) continue;
    for (const std::string_view directory : Split(std::string_view(variable).substr(5), ':')) {
      // A relative directory, or an empty one for the current, would run what lies around there.
      if (!directory.starts_with('/')) continue;
      std::string path = StrCat(directory, "/", command);
      if (::access(path.c_str(), X_OK) == 0) return path;
    }
  }
  return NotFoundError(StrCat("no program ", Quote(command), " in PATH"));
}

}  // namespace baton::kube
