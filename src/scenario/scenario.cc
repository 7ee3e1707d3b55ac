// Reading story files, and telling where a mistake stands.
#include "scenario/scenario.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/strings.h"
#include "json/yaml.h"
#include "scenario/runner.h"

namespace baton::scenario {
namespace {

using json::Value;

constexpr std::string_view kOptions[] = {"claimTemplates", "foreignHub"};
constexpr std::string_view kKnown[] = {"title", "karmada", "practice", "seed", "clusters", "options", "given", "story"};
constexpr size_t kClustersMax = 32;
constexpr size_t kShown = 200;  // characters of a value in a message

std::vector<std::string> Inside(std::vector<std::string> path, std::string_view key) {
  path.emplace_back(key);
  return path;
}

bool Contains(std::span<const std::string_view> words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

std::string Listed(const std::vector<std::string_view>& words) {
  std::string text;
  for (const std::string_view word : words) StrAppend(text, text.empty() ? "" : ", ", word);
  return text;
}

std::string Plain(const Value& value) {
  std::string text = value.is_string() ? std::string(value.str()) : value.ToString();
  if (value.is_object() && value["name"].is_string())
    text = StrCat(value["kind"].str(), value["kind"].is_null() ? "" : "/", value["name"].str());
  if (value.is_object() && value["metadata"]["name"].is_string())
    text = StrCat(value["kind"].str(), "/", value["metadata"]["name"].str());
  return text.substr(0, kShown);
}

}  // namespace

std::string Step::Text() const {
  std::string text = StrCat(verb->name, " ", Plain(what));
  for (const json::Member& word : whole.members()) {
    if (word.key() != verb->name) StrAppend(text, ", ", word.key(), ": ", Plain(word.value()));
  }
  return text;
}

Result<Scenario> Scenario::Parse(const std::string& file, std::string_view text) {
  Result<Value> parsed = json::ParseYaml(text);
  if (!parsed.ok()) return InvalidError(StrCat(file, ": ", parsed.error().message()));
  Scenario scenario;
  scenario.file_ = file;
  scenario.text_ = text;
  scenario.marks_ = TRY(json::ReadYamlMarks(text));
  const Value& root = *parsed;
  TRY(scenario.Head(root));
  TRY(scenario.Steps(root["given"], {"given"}, false));
  if (!root["story"].is_array() || root["story"].empty()) return scenario.Wrong({}, "there is no story");
  for (size_t i = 0; i < root["story"].size(); ++i) {
    const Value& part = root["story"][i];
    const std::vector<std::string> at = {"story", std::to_string(i)};
    if (!part.is_object()) return scenario.Wrong(at, "a part has when, then and why");
    for (const json::Member& member : part.members()) {
      if (member.key() != "when" && member.key() != "then" && member.key() != "why")
        return scenario.Wrong(Inside(at, member.key()), "a part has when, then and why");
    }
    TRY(scenario.Steps(part["when"], Inside(at, "when"), false));
    TRY(scenario.Steps(part["then"], Inside(at, "then"), true));
  }
  return scenario;
}

Result<void> Scenario::Head(const Value& root) {
  if (!root.is_object()) return Wrong({}, "this is no story: it has title, clusters, given and story");
  for (const json::Member& member : root.members()) {
    if (!Contains(kKnown, member.key()))
      return Wrong({std::string(member.key())}, StrCat("\"", member.key(), "\" is not known here"));
  }
  title = root["title"].str();
  if (title.empty()) return Wrong({}, "there is no title");
  if (root.Has("practice") && !root["practice"].is_bool()) return Wrong({"practice"}, "practice is true or false");
  practice = root["practice"].bool_or(false);
  if (root.Has("seed") && root["seed"].int_or(-1) < 0) return Wrong({"seed"}, "seed is a whole number from 0 on");
  seed = static_cast<uint64_t>(root["seed"].int_or(1));
  if (root.Has("clusters") && !root["clusters"].is_array()) return Wrong({"clusters"}, "clusters is a list");
  if (root["clusters"].size() > kClustersMax)
    return Wrong({"clusters"}, StrCat("a story has at most ", kClustersMax, " clusters"));
  for (size_t i = 0; i < root["clusters"].size(); ++i) {
    const Value& cluster = root["clusters"][i];
    if (cluster.str().empty() && cluster["name"].str().empty())
      return Wrong({"clusters", std::to_string(i)}, "a cluster is a name, or {name, labels, spec}");
  }
  clusters = root["clusters"];
  options = root["options"];
  return Options();
}

Result<void> Scenario::Options() const {
  if (!options.is_null() && !options.is_object()) return Wrong({"options"}, "options has names and values");
  for (const json::Member& option : options.members()) {
    const std::vector<std::string> at = {"options", std::string(option.key())};
    if (option.key() == "karmadaFailsOverAfter") {
      const Result<Duration> time = TimeOf(option.value(), {});
      if (!time.ok()) return Wrong(at, time.error().message());
      if (!options["foreignHub"].bool_or(false)) return Wrong(at, "only with foreignHub: true is there a Karmada");
      continue;
    }
    if (!Contains(kOptions, option.key()))
      return Wrong(
          at, StrCat("there is no option '", option.key(), "': claimTemplates, foreignHub, karmadaFailsOverAfter"));
    if (!option.value().is_bool()) return Wrong(at, StrCat(option.key(), " is true or false"));
  }
  return {};
}

Result<void> Scenario::Steps(const Value& list, const std::vector<std::string>& path, bool then) {
  if (!list.is_array() && !list.is_null()) return Wrong(path, "a list of steps is wanted here");
  for (size_t i = 0; i < list.size(); ++i) {
    const std::vector<std::string> at = Inside(path, std::to_string(i));
    Step step = TRY(One(list[i], at));
    if (then && !step.verb->expectation) return Wrong(at, "then has only expectations; what happens goes into when");
    steps.push_back(std::move(step));
  }
  return {};
}

Result<Step> Scenario::One(const Value& item, const std::vector<std::string>& at) const {
  Step step;
  step.whole = item;
  // `name`, `status` and others are a verb here and a word beside one there: the verb is the one that the rest goes
  // with.
  for (const json::Member& member : item.members()) {
    const Verb* verb = FindVerb(member.key());
    if (verb == nullptr) continue;
    const bool fits = std::ranges::all_of(item.members(), [&](const json::Member& other) {
      return other.key() == verb->name || Contains(verb->beside, other.key());
    });
    if (step.verb == nullptr || fits) step.verb = verb;
  }
  if (step.verb == nullptr) return Wrong(at, "no step is known by these words: " + item.ToString().substr(0, kShown));
  const Verb& verb = *step.verb;
  for (const json::Member& member : item.members()) {
    if (member.key() != verb.name && !Contains(verb.beside, member.key()))
      return Wrong(Inside(at, member.key()), StrCat("\"", member.key(), "\" does not go with ", verb.name));
  }
  step.what = item[verb.name];
  for (const json::Member& member : step.what.members()) {
    if (!verb.within.empty() && !Contains(verb.within, member.key()))
      return Wrong(Inside(Inside(at, verb.name), member.key()),
                   StrCat("\"", member.key(), "\" is not known in ", verb.name, ": it has ", Listed(verb.within)));
  }
  if (verb.practice && !practice)
    return Wrong(Inside(at, verb.name),
                 StrCat(verb.name, " needs workloads that process: put \"practice: true\" at the top of the file"));
  step.place = Place(at);
  return step;
}

std::string Scenario::Place(const std::vector<std::string>& path) const {
  const json::YamlNode* node = &marks_;
  size_t offset = node->begin;
  for (const std::string& part : path) {
    const json::YamlEntry* next = nullptr;
    size_t number = 0;
    for (const json::YamlEntry& entry : node->entries) {
      const bool meant = node->kind == json::YamlNode::Kind::kMap ? entry.key == part : std::to_string(number) == part;
      if (meant) next = &entry;
      ++number;
    }
    if (next == nullptr) break;
    offset = node->kind == json::YamlNode::Kind::kMap ? next->begin : next->value.begin;
    node = &next->value;
  }
  const std::string_view before = std::string_view(text_).substr(0, offset);
  const size_t line = static_cast<size_t>(std::ranges::count(before, '\n')) + 1;
  const size_t start = before.rfind('\n');
  const size_t column = start == std::string_view::npos ? offset + 1 : offset - start;
  return StrCat(file_, ": line ", line, ", column ", column);
}

Error Scenario::Wrong(const std::vector<std::string>& path, std::string_view what) const {
  return InvalidError(StrCat(Place(path), ": ", what));
}

}  // namespace baton::scenario
