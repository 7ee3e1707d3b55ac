// Forking, and reading what children write until they end.
#include "sim/processes.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/strings.h"
#include "sim/heap.h"

namespace baton::sim {
namespace {

constexpr size_t kReadAtOnce = 65'536;

Error SystemError(std::string_view what) { return InternalError(StrCat(what, ": ", std::strerror(errno))); }

void WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;  // nobody listens any more
    text.remove_prefix(static_cast<size_t>(written));
  }
}

std::string HowItEnded(int status) {
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  if (WIFSIGNALED(status)) return StrCat("signal ", WTERMSIG(status));
  return StrCat("exit code ", WEXITSTATUS(status));
}

int WaitFor(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace

Result<Branch> Branch::Fork() {
  Branch branch;
  int ends[2];
  if (::pipe(ends) != 0) return SystemError("no pipe for a child");
  std::fflush(nullptr);  // or the child writes it once more
  const pid_t pid = ::fork();
  if (pid < 0) {
    const Error error = SystemError("no child process");
    ::close(ends[0]);
    ::close(ends[1]);
    return error;
  }
  if (pid == 0) {
    SimulationHeapForked();
    ::close(ends[0]);
    branch.fd_ = ends[1];
    return branch;
  }
  ::close(ends[1]);
  std::string buffer(kReadAtOnce, '\0');
  while (true) {
    const ssize_t got = ::read(ends[0], buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    branch.output_.text.append(buffer, 0, static_cast<size_t>(got));
  }
  ::close(ends[0]);
  branch.output_.died = HowItEnded(WaitFor(pid));
  return branch;
}

void Branch::End(const std::string& text) const {
  WriteAll(fd_, text);
  ::_exit(0);
}

Processes::~Processes() {
  for (const Child& child : children_) {
    ::kill(child.pid, SIGKILL);
    ::close(child.fd);
    WaitFor(child.pid);
  }
}

Result<void> Processes::Start(uint64_t id, const Work& work) {
  int ends[2];
  if (::pipe(ends) != 0) return SystemError("no pipe for a child");
  std::fflush(nullptr);  // or the child writes it once more
  const pid_t pid = ::fork();
  if (pid < 0) {
    const Error error = SystemError("no child process");
    ::close(ends[0]);
    ::close(ends[1]);
    return error;
  }
  if (pid == 0) {
    SimulationHeapForked();
    ::close(ends[0]);
    for (const Child& other : children_) ::close(other.fd);
    WriteAll(ends[1], work());
    ::_exit(0);
  }
  ::close(ends[1]);
  children_.push_back({.id = id, .pid = pid, .fd = ends[0]});
  return {};
}

Result<void> Processes::ReadSome(const Done& done) {
  std::vector<pollfd> polled;
  polled.reserve(children_.size());
  for (const Child& child : children_) polled.push_back({.fd = child.fd, .events = POLLIN, .revents = 0});
  if (::poll(polled.data(), polled.size(), -1) < 0) {
    if (errno == EINTR) return {};
    return SystemError("waiting for children");
  }
  std::string buffer(kReadAtOnce, '\0');
  for (size_t i = polled.size(); i-- > 0;) {
    if (polled[i].revents == 0) continue;
    const ssize_t got = ::read(children_[i].fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got > 0) {
      children_[i].text.append(buffer, 0, static_cast<size_t>(got));
      continue;
    }
    Child ended = std::move(children_[i]);
    children_.erase(children_.begin() + static_cast<ptrdiff_t>(i));
    ::close(ended.fd);
    done(ended.id, {.text = std::move(ended.text), .died = HowItEnded(WaitFor(ended.pid))});
  }
  return {};
}

Result<void> Processes::RunAll(const std::function<Work(uint64_t id)>& more, const Done& done) {
  uint64_t next = 0;
  while (true) {
    while (children_.size() < jobs_) {
      const Work work = more(next);
      if (work == nullptr) break;  // for now: what ends may bring more
      TRY(Start(next++, work));
    }
    if (children_.empty()) return {};
    TRY(ReadSome(done));
  }
}

}  // namespace baton::sim
