// Scenario files (tests/scenarios): stories about the whole system that read without C++, told in steps and played in
// virtual time. tests/scenarios/README.md has the language, scenario/words.h its words.
//
//   Scenario scenario = TRY(Scenario::Parse("a.yaml", text));     // errors: "a.yaml: line 3, column 5: ..."
//   std::string wrong = co_await Runner(stage).Run(scenario);     // "": it went as told (scenario/runner.h)
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/value.h"
#include "json/yaml_marks.h"
#include "scenario/words.h"

namespace baton::scenario {

struct Step {
  const Verb* verb = nullptr;
  json::Value what;   // its argument
  json::Value whole;  // with the words beside it
  std::string place;  // "a.yaml: line 3, column 5"

  bool Is(std::string_view name) const { return verb->name == name; }
  std::string Text() const;  // for people: "migrate orders, to: green"
};

class Scenario {
 public:
  static Result<Scenario> Parse(const std::string& file, std::string_view text);

  std::string title;
  bool practice = false;  // workloads process records, and a judge counts them
  uint64_t seed = 1;
  json::Value clusters;
  json::Value options;
  std::vector<Step> steps;

 private:
  Result<void> Head(const json::Value& root);
  Result<void> Options() const;
  Result<void> Steps(const json::Value& list, const std::vector<std::string>& path, bool then);
  Result<Step> One(const json::Value& item, const std::vector<std::string>& at) const;
  std::string Place(const std::vector<std::string>& path) const;
  Error Wrong(const std::vector<std::string>& path, std::string_view what) const;

  std::string file_;
  std::string text_;
  json::YamlNode marks_;
};

}  // namespace baton::scenario
