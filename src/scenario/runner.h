// Runner: plays a story on a stage, step by step, until one does not hold.
//
//   std::string wrong = co_await Runner(stage).Run(scenario);     // "a.yaml: line 7, column 9: ..."; "": all held
//
// Before expectations that follow a step, kSettles of virtual time pass, so that what holds only for a moment is seen.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "kube/api.h"
#include "scenario/scenario.h"
#include "scenario/stage.h"

namespace baton::scenario {

inline constexpr Duration kSettles = seconds(3);
inline constexpr Duration kExpectWithin = seconds(10);
inline constexpr Duration kUntilWithin = minutes(10);

class Runner {
 public:
  explicit Runner(Stage& stage) : stage_(stage) {}  // outlives this

  rt::Task<std::string> Run(const Scenario& scenario);

 private:
  rt::Task<std::string> One(const Step& step);
  rt::Task<std::string> Clusters(const Step& step);  // steps about clusters and processes
  rt::Task<std::string> Writes(const Step& step);    // steps that write
  rt::Task<Result<void>> Write(const Step& step);
  rt::Task<std::string> Wipe(std::string cluster);
  rt::Task<std::string> Event(const Step& step);
  rt::Task<std::string> Expect(const Step& step, Duration otherwise);
  rt::Task<std::string> Look(const Step& step, std::optional<kube::Resource>& known);
  kube::Api& ApiOf(const json::Value& on);

  Stage& stage_;
};

// A time of a story: "10s". `otherwise` when it is not there; an error says what is no time.
Result<Duration> TimeOf(const json::Value& text, Duration otherwise);
// The kind that is meant, as that server has it.
rt::Task<Result<kube::Resource>> ResourceOf(kube::Api& api, json::Value what);
// A name without a namespace is in default.
kube::Name NameOf(const kube::Resource& resource, const json::Value& what);
// Whether one of the values at `field` is the wanted one, or has it as a part of its text; "": it is.
std::string Compare(const json::Value& object, std::string_view field, const json::Value& wanted, bool part);

}  // namespace baton::scenario
