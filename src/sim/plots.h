// Plots: what some bad days (sim/bad_day.h) have besides faults. In each, people or clusters do something particular,
// of which what must come is known: a move is refused, or goes back, or waits for a person, and nothing is lost. When
// exactly they do it, and what goes wrong meanwhile, is up to the seed: calls that fail, leaders that die, a hub that
// dies. A third of such days have no other fault, so that what comes is due to the plot alone.
//
//   if (const Plot* plot = DrawPlot(scene, seed)) co_await PlayPlot(*plot, Course(scene, chance, rare, day));
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "rt/scope.h"
#include "sim/actors.h"

namespace baton::sim {

// The faults of a day with a plot: of calls, and of those who make them. They end by themselves after a while.
class Weather {
 public:
  // `leaders`: they die, too, and the hub does.
  Weather(const Course& course, bool faults, bool leaders, Duration lasts)
      : course_(course), faults_(faults), leaders_(leaders), lasts_(lasts) {}
  Weather(const Weather&) = delete;
  Weather& operator=(const Weather&) = delete;
  ~Weather() = default;

  void Begin();
  rt::Task<void> Calm();  // they are over; there is a leader, and a hub

 private:
  rt::Task<void> Pass();
  rt::Task<void> Heal();

  Course course_;
  bool faults_;
  bool leaders_;
  Duration lasts_;
  bool over_ = false;
  std::unique_ptr<rt::Scope> actors_;
  std::unique_ptr<rt::Scope> passing_;
};

struct Plot {
  enum class Hub : uint8_t { kOurs, kOthers, kAny };
  enum class Job : uint8_t { kAny, kWithState, kOutlivesItsManager };

  const char* name;
  rt::Task<void> (*play)(Course course, Weather& weather);
  Hub hub = Hub::kOurs;
  Job job = Job::kWithState;
  bool leads = false;  // who leads, and when, is part of it: no other trouble of leaders
  bool calm = false;   // what must come is only known without faults
  bool apart = false;  // drawn by a chance of its own, so that days keep the plots that they had without it
};

std::span<const Plot> Plots();
// One of those that fit the scene, or that one, when a name is given and it fits; null: this seed has none.
const Plot* DrawPlot(const Scene& scene, uint64_t seed, std::string_view name = "");
rt::Task<void> PlayPlot(const Plot& plot, Course course);

}  // namespace baton::sim
