// From the record of past moves.
#include "rollout/forecast.h"

#include <algorithm>
#include <optional>

#include "base/strings.h"
#include "json/go_duration.h"
#include "json/rfc3339.h"
#include "kube/api.h"

namespace baton::rollout {
namespace {

using json::Value;

struct Sample {
  Duration downtime;
  Duration whole;
};

std::optional<Sample> SampleOf(const Value& migration) {
  const Value& status = migration["status"];
  if (status["phase"].str() != "Succeeded") return std::nullopt;
  const Result<Duration> downtime = json::ParseDuration(status["downtime"].str());
  const auto timeline = status["timeline"].items();
  if (!downtime.ok() || timeline.size() < 2) return std::nullopt;
  const Result<WallTime> began = json::ParseTime(timeline.front()["time"].str());
  const Result<WallTime> ended = json::ParseTime(timeline.back()["time"].str());
  if (!began.ok() || !ended.ok()) return std::nullopt;
  return Sample{.downtime = *downtime, .whole = *ended - *began};
}

Duration Median(std::vector<Duration> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

Forecast Of(const std::vector<const Value*>& moves, Forecast::Basis basis) {
  Forecast forecast;
  std::vector<Duration> downtimes;
  std::vector<Duration> wholes;
  for (const Value* move : moves) {
    const std::string_view phase = (*move)["status"]["phase"].str();
    if (phase == "Aborted" || phase == "RolledBack") ++forecast.taken_back;
    if (const std::optional<Sample> sample = SampleOf(*move)) {
      downtimes.push_back(sample->downtime);
      wholes.push_back(sample->whole);
    }
  }
  forecast.moves = downtimes.size();
  if (downtimes.empty()) return forecast;
  forecast.basis = basis;
  forecast.downtime_worst = *std::ranges::max_element(downtimes);
  forecast.whole_worst = *std::ranges::max_element(wholes);
  forecast.downtime = Median(std::move(downtimes));
  forecast.whole = Median(std::move(wholes));
  return forecast;
}

double InSeconds(Duration duration) { return static_cast<double>(duration / milliseconds(100)) / 10; }

}  // namespace

std::string Spoken(Duration duration) {
  const int64_t tenths = std::max<int64_t>(0, duration / milliseconds(100));
  if (tenths < 600) return StrCat(tenths / 10, ".", tenths % 10, "s");
  return StrCat(tenths / 600, "m", (tenths / 10) % 60, "s");
}

Forecast MakeForecast(const std::vector<Value>& migrations, std::string_view kind, std::string_view ns,
                      std::string_view name) {
  std::vector<const Value*> own;
  std::vector<const Value*> like;
  for (const Value& migration : migrations) {
    const Value& workload = migration["spec"]["workload"];
    if (workload["kind"].str() != kind) continue;
    like.push_back(&migration);
    if (workload["name"].str() == name && kube::NamespaceOf(migration) == ns) own.push_back(&migration);
  }
  const Forecast of_own = Of(own, Forecast::Basis::kWorkload);
  if (of_own.basis != Forecast::Basis::kNone) return of_own;
  return Of(like, Forecast::Basis::kKind);
}

std::string Forecast::Text() const {
  if (basis == Basis::kNone) {
    return StrCat("no history: no move of this workload or of its kind has succeeded on this hub yet",
                  taken_back == 0 ? "" : StrCat(" (", taken_back, " were taken back)"));
  }
  const std::string_view whose = basis == Basis::kWorkload ? "of this workload" : "of its kind, none of it";
  return StrCat("nobody writes for about ", Spoken(downtime), " (at most ", Spoken(downtime_worst),
                "), the whole takes ", Spoken(whole), " (at most ", Spoken(whole_worst), "): from ", moves,
                moves == 1 ? " move " : " moves ", whose,
                taken_back == 0 ? "" : StrCat("; ", taken_back, " more were taken back"));
}

Value Forecast::Json() const {
  Value value =
      json::Object({{"basis", basis == Basis::kNone ? "None" : (basis == Basis::kWorkload ? "Workload" : "Kind")},
                    {"moves", static_cast<int64_t>(moves)},
                    {"takenBack", static_cast<int64_t>(taken_back)}});
  if (basis == Basis::kNone) return value;
  value.Set("downtimeSeconds", InSeconds(downtime));
  value.Set("worstDowntimeSeconds", InSeconds(downtime_worst));
  value.Set("wholeSeconds", InSeconds(whole));
  value.Set("worstWholeSeconds", InSeconds(whole_worst));
  return value;
}

}  // namespace baton::rollout
