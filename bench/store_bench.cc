// The store against etcd, on one disk and in one run: durable writes, and what it costs to hold 100,000 objects.
//
// Ours runs in process, as our API server uses it; etcd runs as a child process and is driven over its gRPC API on
// loopback by its own Go client (bench/etcd_load), as an API server uses it. Both create objects by a transaction that
// checks that the key is new. Rounds alternate, so that a disk with moods treats both alike; of the rounds the best
// counts. Without `etcd` or `go` there are our figures only.
//
//   store_bench                everything; files are made beside the program and removed
//   store_bench --seconds=1    shorter rounds
//   store_bench --ours         without etcd, for profiling
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "rt/random.h"
#include "rt/real_loop.h"
#include "rt/scope.h"
#include "store/rocks_engine.h"
#include "store/store.h"

namespace {

using baton::StrCat;
using baton::rt::RealLoop;
using baton::rt::Scope;
using baton::rt::Task;
using baton::store::MakeRocksEngine;
using baton::store::Revision;
using baton::store::Store;
using baton::store::Transaction;
using Clock = std::chrono::steady_clock;

constexpr int kWriters[] = {1, 8, 64, 512};
constexpr int kRounds = 3;
constexpr int64_t kObjects = 100'000;
constexpr size_t kValueBytes = 1024;
constexpr int kFillWriters = 256;
constexpr double kGoal = 5;  // times etcd's writes, with 64 writers

double Microseconds(Clock::duration duration) { return std::chrono::duration<double, std::micro>(duration).count(); }

// ---- what the system says about a process ----

double ReadNumber(const std::string& path, const std::string& name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(name)) return std::atof(line.c_str() + name.size());
  }
  return 0;
}
double WrittenBytes(pid_t process) { return ReadNumber(StrCat("/proc/", process, "/io"), "write_bytes:"); }
double ResidentMib(pid_t process) { return ReadNumber(StrCat("/proc/", process, "/status"), "VmRSS:") / 1024; }

// ---- child processes ----

// Starts a program; its output goes to the pipe when there is one, else nowhere.
pid_t Start(const std::vector<std::string>& command, int output = -1) {
  const pid_t child = fork();
  if (child != 0) return child;
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // nothing is left running behind us
  const int nowhere = open("/dev/null", O_RDWR);
  dup2(nowhere, STDIN_FILENO);
  dup2(output >= 0 ? output : nowhere, STDOUT_FILENO);
  dup2(nowhere, STDERR_FILENO);
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  _exit(127);
}

// The numbers of the line "result a=1 b=2" that it prints; empty when it failed.
std::map<std::string, double> RunForResult(const std::vector<std::string>& command) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {};
  const pid_t child = Start(command, ends[1]);
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t got = 0; (got = read(ends[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<size_t>(got));
  close(ends[0]);
  waitpid(child, nullptr, 0);
  std::map<std::string, double> numbers;
  const size_t at = text.rfind("result ");
  if (at == std::string::npos) return numbers;
  std::istringstream words(text.substr(at + 7));
  for (std::string word; words >> word;) {
    const size_t equals = word.find('=');
    if (equals != std::string::npos) numbers[word.substr(0, equals)] = std::atof(word.c_str() + equals + 1);
  }
  return numbers;
}

bool Runs(const std::vector<std::string>& command) {
  int status = 0;
  waitpid(Start(command), &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// ---- ours ----

struct Load {
  std::string prefix;
  Clock::time_point until = Clock::time_point::max();
  int64_t objects = INT64_MAX;
  int64_t next = 0;
  std::vector<double> latencies;  // microseconds
};

// Values are cut out of this, on both sides: making each anew would cost more than storing it.
constexpr size_t kLettersBytes = size_t{1} << 20;
const std::string& RandomLetters() {
  static const std::string letters = [] {
    static constexpr char kLetters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789{}";
    baton::rt::SeededRandom random(1);
    std::string text(kLettersBytes, '\0');
    for (char& c : text) c = kLetters[random.Next() % 64];
    return text;
  }();
  return letters;
}

Task<void> WriteOurs(Store& store, Load& load, uint64_t seed) {
  baton::rt::SeededRandom random(seed);
  while (load.next < load.objects && Clock::now() < load.until) {
    char number[16];
    std::snprintf(number, sizeof number, "%010lld", static_cast<long long>(++load.next));
    std::string key = StrCat(load.prefix, number);
    std::string value = RandomLetters().substr(random.Below(kLettersBytes - kValueBytes), kValueBytes);
    const Clock::time_point start = Clock::now();
    Transaction transaction;
    transaction.If(key, Revision(0)).Put(key, std::move(value));
    (co_await store.Commit(std::move(transaction))).value();
    load.latencies.push_back(Microseconds(Clock::now() - start));
  }
}

Task<void> RunWriters(RealLoop& loop, Store& store, Load& load, int writers) {
  Scope scope(loop);
  for (int i = 0; i < writers; ++i) scope.Spawn(WriteOurs(store, load, static_cast<uint64_t>(i) + 1));
  co_await scope.Join();
}

std::unique_ptr<Store> OpenOurs(RealLoop& loop, const std::string& directory) {
  return loop.Run(Store::Open(loop, MakeRocksEngine(loop, {.directory = directory}))).value();
}

struct Figures {
  double writes_per_second = 0;
  double p50 = 0;  // microseconds
  double p99 = 0;
};

Figures MeasureOurs(RealLoop& loop, Store& store, int writers, double seconds) {
  RandomLetters();
  Load load;
  const Clock::time_point start = Clock::now();
  load.prefix = StrCat("/bench/", start.time_since_epoch().count(), "/");
  load.until = start + std::chrono::microseconds(static_cast<int64_t>(seconds * 1e6));
  loop.Run(RunWriters(loop, store, load, writers));
  const double elapsed = Microseconds(Clock::now() - start);
  std::ranges::sort(load.latencies);
  const size_t count = load.latencies.size();
  return {static_cast<double>(count) / elapsed * 1e6, load.latencies[count / 2], load.latencies[count * 99 / 100]};
}

// As a process of its own, which then dies as one that is killed does.
int FillAndDie(const std::string& directory) {
  RealLoop loop;
  const std::unique_ptr<Store> store = OpenOurs(loop, directory);
  const double before = WrittenBytes(getpid());
  RandomLetters();
  Load load;
  load.prefix = "/bench/";
  load.objects = kObjects;
  const Clock::time_point start = Clock::now();
  loop.Run(RunWriters(loop, *store, load, kFillWriters));
  std::printf("result written=%.0f elapsed=%.0f\n", WrittenBytes(getpid()) - before,
              Microseconds(Clock::now() - start));
  std::fflush(stdout);
  kill(getpid(), SIGKILL);
  return 1;
}

int OpenAndScan(const std::string& directory) {
  RealLoop loop;
  const Clock::time_point start = Clock::now();
  const std::unique_ptr<Store> store = OpenOurs(loop, directory);
  const double open = Microseconds(Clock::now() - start);
  double scan = 1e18;
  for (int i = 0; i < 3; ++i) {
    const Clock::time_point before = Clock::now();
    if (store->List("/bench/").value().entries.size() != kObjects) return 1;
    scan = std::min(scan, Microseconds(Clock::now() - before));
  }
  std::printf("result open=%.0f scan=%.0f resident=%.1f\n", open, scan, ResidentMib(getpid()));
  return 0;
}

// ---- etcd ----

// The one that scripts/build-kube made, or the system's.
std::string EtcdProgram() {
  const std::string built = StrCat(BATON_SOURCE_DIR, "/build/kube/etcd");
  return ::access(built.c_str(), X_OK) == 0 ? built : "etcd";
}

// A port of loopback that nobody has.
int FreePort() {
  const int socket_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  if (bind(socket_fd, reinterpret_cast<sockaddr*>(&address), length) != 0 ||
      getsockname(socket_fd, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    std::perror("store_bench: a port for etcd");
    std::exit(2);
  }
  close(socket_fd);
  return ntohs(address.sin_port);
}

class Etcd {
 public:
  Etcd(std::string directory, std::string load) : directory_(std::move(directory)), load_(std::move(load)) {}
  ~Etcd() { Kill(); }

  void StartServer() {
    const std::string client = StrCat("http://", client_);
    const std::string peer = StrCat("http://", peer_);
    process_ =
        Start({EtcdProgram(), "--data-dir", directory_, "--listen-client-urls", client, "--advertise-client-urls",
               client, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster",
               StrCat("default=", peer), "--quota-backend-bytes", StrCat(int64_t{8} << 30), "--log-level", "error"});
  }
  void Kill() {
    if (process_ > 0) {
      kill(process_, SIGKILL);
      waitpid(process_, nullptr, 0);
    }
    process_ = -1;
  }
  pid_t process() const { return process_; }
  std::map<std::string, double> Drive(std::vector<std::string> options) const {
    std::vector<std::string> command = {load_, "-endpoint", client_};
    command.insert(command.end(), options.begin(), options.end());
    return RunForResult(command);
  }

 private:
  std::string client_ = StrCat("127.0.0.1:", FreePort());
  std::string peer_ = StrCat("127.0.0.1:", FreePort());
  std::string directory_;
  std::string load_;
  pid_t process_ = -1;
};

// The load generator's path, or empty when there is no comparison to be had.
std::string PrepareEtcd(const std::string& directory) {
  if (!Runs({EtcdProgram(), "--version"})) {
    std::printf("no etcd here (scripts/build-kube, or Debian: etcd-server): our figures only\n\n");
    return "";
  }
  std::string program = directory + "/etcd_load";
  const std::string source = StrCat(BATON_SOURCE_DIR, "/bench/etcd_load");
  if (!Runs({"go", "build", "-C", source, "-o", program, "."})) {
    std::printf("bench/etcd_load cannot be built (go, and its module proxy): our figures only\n\n");
    return "";
  }
  return program;
}

void Row(const std::string& what, const std::string& unit, double ours, double other, bool more_is_better,
         double goal) {
  std::printf("%-34s %14.1f ", StrCat(what, ", ", unit).c_str(), ours);
  if (other == 0) {
    std::printf("%14s\n", "-");
    return;
  }
  const double ratio = more_is_better ? ours / other : other / ours;
  std::printf("%14.1f %9.2fx", other, ratio);
  if (goal > 0) std::printf(" %9.2fx %s", goal, ratio >= goal ? "reached" : "MISSED");
  std::printf("\n");
}

bool CompareWrites(const std::string& directory, const std::string& etcd_load, double seconds) {
  RealLoop loop;
  const std::unique_ptr<Store> store = OpenOurs(loop, directory + "/ours");
  Etcd etcd(directory + "/etcd", etcd_load);
  if (!etcd_load.empty()) {
    etcd.StartServer();
    etcd.Drive({"-mode", "write", "-writers", "1", "-seconds", "0.1"});  // until it is up
  }
  bool reached = true;
  for (const int writers : kWriters) {
    Figures ours;
    Figures other;
    for (int round = 0; round < kRounds; ++round) {
      const Figures figures = MeasureOurs(loop, *store, writers, seconds);
      if (figures.writes_per_second > ours.writes_per_second) ours = figures;
      if (etcd_load.empty()) continue;
      auto result = etcd.Drive({"-mode", "write", "-writers", StrCat(writers), "-seconds", StrCat(seconds)});
      const double rate = result["elapsed"] > 0 ? result["writes"] / result["elapsed"] * 1e6 : 0;
      if (rate > other.writes_per_second) other = {rate, result["p50"], result["p99"]};
    }
    const double goal = writers == 64 ? kGoal : 0;
    Row(StrCat("writes, ", writers, " at once"), "1/s", ours.writes_per_second, other.writes_per_second, true, goal);
    Row("  half of them within", "us", ours.p50, other.p50, false, 0);
    Row("  99 of 100 within", "us", ours.p99, other.p99, false, 0);
    if (goal > 0 && other.writes_per_second > 0) {
      reached = ours.writes_per_second >= goal * other.writes_per_second;
    }
  }
  return reached;
}

void CompareHolding(const std::string& self, const std::string& directory, const std::string& etcd_load) {
  auto filled = RunForResult({self, "--fill", directory + "/ours"});
  auto opened = RunForResult({self, "--open", directory + "/ours"});
  const double stored = static_cast<double>(kObjects * kValueBytes);
  std::map<std::string, double> etcd_filled;
  std::map<std::string, double> etcd_scanned;
  double etcd_written = 0;
  double etcd_open = 0;
  double etcd_resident = 0;
  if (!etcd_load.empty()) {
    Etcd etcd(directory + "/etcd", etcd_load);
    etcd.StartServer();
    etcd.Drive({"-mode", "scan", "-keys", "0", "-prefix", "/none/"});  // until it is up
    const double before = WrittenBytes(etcd.process());
    etcd_filled = etcd.Drive({"-mode", "fill", "-writers", StrCat(kFillWriters), "-keys", StrCat(kObjects)});
    etcd_written = WrittenBytes(etcd.process()) - before;
    etcd.Kill();
    const Clock::time_point start = Clock::now();
    etcd.StartServer();
    // Answers a read as soon as it is up; the client asks again and again.
    etcd.Drive({"-mode", "scan", "-keys", "0", "-prefix", "/none/"});
    etcd_open = Microseconds(Clock::now() - start);
    etcd_scanned = etcd.Drive({"-mode", "scan", "-keys", StrCat(kObjects)});
    etcd_resident = ResidentMib(etcd.process());
  }
  Row("100,000 objects: fill", "ms", filled["elapsed"] / 1000, etcd_filled["elapsed"] / 1000, false, 0);
  Row("  written to disk per byte stored", "", filled["written"] / stored, etcd_written / stored, false, 0);
  Row("  open after a crash", "ms", opened["open"] / 1000, etcd_open / 1000, false, 0);
  Row("  list them all", "ms", opened["scan"] / 1000, etcd_scanned["elapsed"] / 1000, false, 0);
  Row("  resident memory", "MiB", opened["resident"], etcd_resident, false, 0);
}

}  // namespace

int main(int argc, char** argv) {
  double seconds = 3;
  bool with_etcd = true;
  if (argc == 3 && std::strcmp(argv[1], "--fill") == 0) return FillAndDie(argv[2]);
  if (argc == 3 && std::strcmp(argv[1], "--open") == 0) return OpenAndScan(argv[2]);
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--ours") == 0) {
      with_etcd = false;
    } else if (std::sscanf(argv[i], "--seconds=%lf", &seconds) != 1) {
      std::fprintf(stderr, "usage: store_bench [--seconds=N] [--ours]\n");
      return 2;
    }
  }
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe");
  std::string directory = self.parent_path() / "store_bench_XXXXXX";
  if (mkdtemp(directory.data()) == nullptr) {
    std::perror("store_bench: a directory for its files");
    return 2;
  }
  const std::string etcd_load = with_etcd ? PrepareEtcd(directory) : "";
  std::printf("%-34s %14s %14s %10s %10s\n", "store, values of 1 KiB, on disk", "ours", "etcd", "ratio", "goal");
  const bool reached = CompareWrites(directory + "/writes", etcd_load, seconds);
  CompareHolding(self.string(), directory + "/holding", etcd_load);
  std::filesystem::remove_all(directory);
  return reached ? 0 : 1;
}
