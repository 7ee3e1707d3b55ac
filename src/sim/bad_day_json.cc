// A day as a line that its process prints, and back.
#include "base/strings.h"
#include "sim/bad_day.h"

namespace baton::sim {

using json::Value;

json::Value Day::Json() const {
  Value wrong = json::Array();
  for (const std::string& problem : problems) wrong.Push(problem);
  Value hits = json::Array();
  for (const size_t count : faults) hits.Push(static_cast<int64_t>(count));
  return json::Object({{"seed", static_cast<int64_t>(seed)},
                       {"problems", wrong},
                       {"end", end},
                       {"plot", plot},
                       {"events", static_cast<int64_t>(events)},
                       {"calls", static_cast<int64_t>(calls)},
                       {"faults", hits},
                       {"leaders", static_cast<int64_t>(leaders)},
                       {"replicated", static_cast<int64_t>(replicated)},
                       {"hubDeaths", static_cast<int64_t>(hub_deaths)},
                       {"hubRestores", static_cast<int64_t>(hub_restores)},
                       {"writesLost", static_cast<int64_t>(writes_lost)},
                       {"writesKept", static_cast<int64_t>(writes_kept)},
                       {"forgotten", static_cast<int64_t>(forgotten)},
                       {"lies", static_cast<int64_t>(lies)},
                       {"drifts", static_cast<int64_t>(drifts)},
                       {"syncs", static_cast<int64_t>(syncs)},
                       {"quotas", static_cast<int64_t>(quotas)},
                       {"taints", static_cast<int64_t>(taints)},
                       {"evictions", static_cast<int64_t>(evictions)},
                       {"restores", static_cast<int64_t>(restores)},
                       {"again", static_cast<int64_t>(again)},
                       {"onwards", static_cast<int64_t>(onwards)},
                       {"troubles", static_cast<int64_t>(troubles)},
                       {"partitions", static_cast<int64_t>(partitions)},
                       {"meddlings", static_cast<int64_t>(meddlings)},
                       {"newcomers", static_cast<int64_t>(newcomers)},
                       {"moves", static_cast<int64_t>(moves)},
                       {"outageMs", outage / milliseconds(1)},
                       {"directedHit", directed_hit}});
}

Day Day::FromJson(const Value& value) {
  const auto number = [&](std::string_view field) { return static_cast<uint64_t>(value[field].int_or(0)); };
  Day day{.seed = number("seed"),
          .end = std::string(value["end"].str()),
          .plot = std::string(value["plot"].str()),
          .events = number("events"),
          .calls = number("calls"),
          .leaders = number("leaders"),
          .replicated = number("replicated"),
          .hub_deaths = number("hubDeaths"),
          .hub_restores = number("hubRestores"),
          .writes_lost = number("writesLost"),
          .writes_kept = number("writesKept"),
          .forgotten = number("forgotten"),
          .lies = number("lies"),
          .drifts = number("drifts"),
          .syncs = number("syncs"),
          .quotas = number("quotas"),
          .taints = number("taints"),
          .evictions = number("evictions"),
          .restores = number("restores"),
          .again = number("again"),
          .onwards = number("onwards"),
          .troubles = number("troubles"),
          .partitions = number("partitions"),
          .meddlings = number("meddlings"),
          .newcomers = number("newcomers"),
          .moves = number("moves"),
          .outage = milliseconds(value["outageMs"].int_or(0)),
          .directed_hit = value["directedHit"].bool_or(false)};
  for (const Value& problem : value["problems"].items()) day.problems.emplace_back(problem.str());
  for (size_t i = 0; i < day.faults.size() && i < value["faults"].size(); ++i)
    day.faults.at(i) = static_cast<size_t>(value["faults"][i].int_or(0));
  return day;
}

}  // namespace baton::sim
