// Following a migration by a watch, and showing it.
#include "cli/follow.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>

#include "base/strings.h"
#include "cli/client.h"
#include "json/rfc3339.h"
#include "rollout/records.h"
#include "rt/scope.h"
#include "rt/when.h"

namespace baton::cli {
namespace {

using json::Value;

constexpr Duration kWatchAgain = milliseconds(500);
constexpr Duration kTick = milliseconds(500);
constexpr size_t kPhaseWidth = 12;
constexpr size_t kNarrow = 40;  // a terminal that says it is narrower is not believed

size_t TerminalWidth() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < kNarrow) return 2 * kNarrow;
  return size.ws_col;
}

std::string Padded(std::string_view text, size_t width) {
  std::string padded(text);
  padded.append(text.size() < width ? width - text.size() : 1, ' ');
  return padded;
}

std::string Tenths(Duration duration) {
  const int64_t tenths = std::max<int64_t>(0, duration / milliseconds(100));
  return StrCat(tenths / 10, ".", tenths % 10, "s");
}

bool IsBlocked(const Value& migration) {
  return std::ranges::any_of(migration["status"]["conditions"].items(), [](const Value& condition) {
    return condition["type"].str() == "Blocked" && condition["status"].str() == "True";
  });
}

// What has been said already, and saying the rest.
class View {
 public:
  View(rt::Loop& loop, bool live) : loop_(loop), live_(live) {}

  const Value& migration() const { return now_; }

  void Show(const Value& migration) {
    now_ = migration;
    if (!named_) Name();
    const Value& timeline = migration["status"]["timeline"];
    for (; told_ < timeline.size(); ++told_) Line(timeline[told_]);
    const std::string message(migration["status"]["message"].str());
    if (message == message_ || message.empty()) return;
    message_ = message;
    if (!live_) Print(StrCat(Padded("", kTimeWidth), Padded("", kPhaseWidth), message));
    Tick();
  }

  // The living line: what it waits for, and for how long.
  void Tick() {
    if (!live_ || now_.is_null() || EndCode(now_)) return;
    const WallTime now = loop_.WallNow();
    std::string line =
        StrCat("  ", Tenths(now - rollout::PhaseSince(now_, now)), " in ", now_["status"]["phase"].str_or("Pending"),
               ", writer ", now_["status"]["writer"].str_or("-"), ": ", now_["status"]["message"].str());
    if (line.size() >= TerminalWidth()) line.resize(TerminalWidth() - 1);
    std::printf("\r\033[K%s", line.c_str());
    std::fflush(stdout);
  }

  void Print(const std::string& line) {
    std::printf(live_ ? "\r\033[K%s\n" : "%s\n", line.c_str());
    std::fflush(stdout);
  }

  void End() {
    const Value& status = now_["status"];
    Print(StrCat(status["phase"].str(), ": ", status["message"].str()));
    const std::string workload =
        StrCat(ToLower(now_["spec"]["workload"]["kind"].str()), "/", now_["spec"]["workload"]["name"].str());
    if (status["phase"].str() != "Succeeded") return;
    if (!status["downtime"].str().empty()) Print(StrCat("nobody wrote for at most ", status["downtime"].str()));
    Print(StrCat("to go back: baton undo ", workload, " -n ", kube::NamespaceOf(now_)));
  }

 private:
  static constexpr size_t kTimeWidth = 9;

  void Name() {
    named_ = true;
    Print(StrCat("statefulmigration/", kube::NameOf(now_), ": ", KindSlashName(now_["spec"]["workload"]), " to ",
                 now_["spec"]["target"].str(), "; to take it back: baton abort ", kube::NameOf(now_), " -n ",
                 kube::NamespaceOf(now_)));
  }

  void Line(const Value& entry) {
    const Result<WallTime> at = json::ParseTime(entry["time"].str());
    if (!began_ && at.ok()) began_ = *at;
    const std::string since = at.ok() && began_ ? Tenths(*at - *began_) : "";
    message_ = entry["message"].str();
    Print(StrCat(Padded(since, kTimeWidth), Padded(entry["phase"].str(), kPhaseWidth), "writer ",
                 now_["status"]["writer"].str_or("-"), ": ", message_));
  }

  rt::Loop& loop_;
  bool live_;
  Value now_;
  bool named_ = false;
  size_t told_ = 0;
  std::string message_;
  std::optional<WallTime> began_;
};

rt::Task<void> Ticks(rt::RealLoop& loop, View& view) {
  while (true) {
    co_await loop.Sleep(kTick);
    view.Tick();
  }
}

rt::Task<Result<int>> UntilEnd(rt::RealLoop& loop, kube::Api& api, kube::Name name, View& view) {
  while (true) {
    Result<std::unique_ptr<kube::Watch>> watch = co_await api.OpenWatch(
        {.resource = rollout::kMigrations, .ns = name.ns, .field_selector = StrCat("metadata.name=", name.name)},
        rt::Deadline::After(loop, kube::kCallTimeout));
    while (watch.ok()) {
      const Result<std::vector<kube::Change>> changes = co_await (*watch)->Next();
      if (!changes.ok()) break;  // it ended: again, from what is there then
      for (const kube::Change& change : *changes) {
        if (change.type == kube::ChangeType::kBookmark) continue;
        if (change.type == kube::ChangeType::kDeleted)
          co_return NotFoundError(StrCat("migration ", name.name, " was deleted"));
        view.Show(change.object);
        if (const std::optional<int> code = EndCode(change.object)) co_return *code;
      }
    }
    // The hub may be restarting: the move goes on with it, and so do we.
    co_await loop.Sleep(kWatchAgain);
  }
}

}  // namespace

std::optional<int> EndCode(const Value& migration) {
  const std::optional<rollout::Phase> phase = rollout::PhaseFromName(migration["status"]["phase"].str());
  if (!phase || !rollout::IsEnd(*phase)) return std::nullopt;
  if (*phase == rollout::Phase::kSucceeded) return 0;
  return *phase == rollout::Phase::kRejected ? kMoveRejected : kMoveTakenBack;
}

rt::Task<Result<int>> Follow(rt::RealLoop& loop, kube::Api& api, kube::Name name, Duration timeout) {
  const bool live = ::isatty(STDOUT_FILENO) == 1;
  View view(loop, live);
  rt::Scope scope(loop);
  if (live) scope.Spawn(Ticks(loop, view));
  const Result<int> code =
      co_await rt::WithDeadline(rt::Deadline::After(loop, timeout), "the move's end", UntilEnd(loop, api, name, view));
  if (code.ok()) {
    view.End();
    co_return *code;
  }
  if (code.error().kind() != ErrorKind::kDeadlineExceeded) co_return code.error();
  const bool blocked = IsBlocked(view.migration());
  view.Print(StrCat(blocked ? "it waits for a person: " : "not over yet, and it goes on: ",
                    view.migration()["status"]["message"].str_or("nothing is known of it")));
  co_return blocked ? kMoveBlocked : kMoveTimedOut;
}

}  // namespace baton::cli
