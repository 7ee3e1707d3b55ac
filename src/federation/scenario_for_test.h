// Scenario files (tests/scenarios/*.yaml): stories about the federation that read without C++, told in steps and run on
// a FederationWorld in virtual time. tests/scenarios/README.md has the whole language.
//
//   Result<Scenario> scenario = Scenario::Parse("a.yaml", text);     // errors: "a.yaml: line 3, column 5: ..."
//   std::vector<std::string> failures = RunScenario(*scenario);      // empty: it went as told
//
// Other worlds (the simulator) run the same files and add steps of their own: Runner::RunOther.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "federation/world_for_test.h"
#include "json/go_duration.h"
#include "json/jsonpath.h"
#include "json/yaml.h"
#include "json/yaml_marks.h"

namespace baton::federation {

struct Step {
  std::string verb;   // "apply"
  json::Value what;   // its argument
  json::Value whole;  // with the words beside it
  std::string place;  // "a.yaml: line 3, column 5"
  bool expectation = false;
};

// What may stand beside each verb.
inline const std::map<std::string, std::set<std::string>, std::less<>>& StepWords() {
  static const std::map<std::string, std::set<std::string>, std::less<>> kWords = {
      {"apply", {"in", "by", "refused"}},  // an object, created or changed
      {"create", {"in", "refused"}},
      {"delete", {"in", "refused"}},  // {kind, name}
      {"patch", {"in", "merge", "refused"}},
      {"status", {"in", "set"}},
      {"wait", {}},
      {"join", {}},
      {"silent", {}},
      {"back", {}},
      {"fault", {"in", "hits", "delay"}},
      {"replace", {}},
      {"wipe", {}},
      {"restart", {}},
      {"count", {}},
      {"expect", {"in", "absent", "fields", "contains", "missing", "within"}},
      {"writes", {"in", "atMost"}},
      {"event", {"reason", "contains"}},
  };
  return kWords;
}

class Scenario {
 public:
  static Result<Scenario> Parse(const std::string& file, std::string_view text) {
    Result<json::Value> parsed = json::ParseYaml(text);
    if (!parsed.ok()) return InvalidError(StrCat(file, ": ", parsed.error().message()));
    Scenario scenario;
    scenario.file_ = file;
    scenario.text_ = text;
    scenario.marks_ = TRY(json::ReadYamlMarks(text));
    const json::Value& root = *parsed;
    for (const json::Member& member : root.members()) {
      static const std::set<std::string_view> kKnown = {"title", "karmada", "clusters", "options", "given", "story"};
      if (!kKnown.contains(member.key()))
        return scenario.Wrong({std::string(member.key())}, StrCat("\"", member.key(), "\" is not known here"));
    }
    scenario.title = root["title"].str();
    if (scenario.title.empty()) return scenario.Wrong({}, "there is no title");
    scenario.clusters = root["clusters"];
    scenario.options = root["options"];
    TRY(scenario.Steps(root["given"], {"given"}, false));
    if (root["story"].empty()) return scenario.Wrong({}, "there is no story");
    for (size_t i = 0; i < root["story"].size(); ++i) {
      const json::Value& part = root["story"][i];
      const std::string at = std::to_string(i);
      for (const json::Member& member : part.members()) {
        if (member.key() != "when" && member.key() != "then" && member.key() != "why")
          return scenario.Wrong({"story", at, std::string(member.key())}, "a part has when, then and why");
      }
      TRY(scenario.Steps(part["when"], {"story", at, "when"}, false));
      TRY(scenario.Steps(part["then"], {"story", at, "then"}, true));
    }
    return scenario;
  }

  std::string title;
  json::Value clusters;
  json::Value options;
  std::vector<Step> steps;

 private:
  Result<void> Steps(const json::Value& list, const std::vector<std::string>& path, bool then) {
    for (size_t i = 0; i < list.size(); ++i) {
      std::vector<std::string> at = path;
      at.push_back(std::to_string(i));
      Step step;
      step.whole = list[i];
      for (const json::Member& member : list[i].members()) {
        if (StepWords().contains(member.key())) step.verb = member.key();
      }
      if (step.verb.empty()) return Wrong(at, "no step is known by these words: " + list[i].ToString());
      for (const json::Member& member : list[i].members()) {
        std::vector<std::string> word = at;
        word.emplace_back(member.key());
        if (member.key() != step.verb && !StepWords().at(step.verb).contains(std::string(member.key())))
          return Wrong(word, StrCat("\"", member.key(), "\" does not go with ", step.verb));
      }
      step.expectation = step.verb == "expect" || step.verb == "writes" || step.verb == "event";
      if (then && !step.expectation) return Wrong(at, "then has only expectations; what happens goes into when");
      step.what = list[i][step.verb];
      step.place = Place(at);
      steps.push_back(std::move(step));
    }
    return {};
  }
  std::string Place(const std::vector<std::string>& path) const {
    const json::YamlNode* node = &marks_;
    size_t offset = node->begin;
    for (const std::string& part : path) {
      const json::YamlEntry* next = nullptr;
      size_t number = 0;
      for (const json::YamlEntry& entry : node->entries) {
        const bool meant =
            node->kind == json::YamlNode::Kind::kMap ? entry.key == part : std::to_string(number) == part;
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
  Error Wrong(const std::vector<std::string>& path, std::string_view what) const {
    return InvalidError(StrCat(Place(path), ": ", what));
  }

  std::string file_;
  std::string text_;
  json::YamlNode marks_;
};

class Runner {
 public:
  explicit Runner(FederationWorld& world) : world_(world) {}
  virtual ~Runner() = default;
  std::vector<std::string> failures;

  rt::Task<void> Run(const Scenario& scenario) {
    bool settled = true;
    for (const Step& step : scenario.steps) {
      if (step.expectation && !settled) co_await world_.Settle();
      settled = step.expectation;
      std::string wrong = co_await One(step);
      if (wrong.empty()) continue;
      failures.push_back(StrCat(step.place, ": ", wrong));
      co_return;  // what follows rests on it
    }
  }

  rt::Task<void> JoinOne(json::Value cluster) {
    const std::string name(cluster.is_string() ? cluster.str() : cluster["name"].str());
    if (!world_.member_servers.contains(name)) co_await world_.AddServer(name);
    co_await world_.Join(name, cluster.is_object() ? cluster.ToString() : "{}");
  }

 protected:
  // Steps of other worlds; the answer says what went wrong.
  virtual rt::Task<std::string> RunOther(const Step& step) { co_return StrCat("this world has no ", step.verb); }

  kube::Api& ApiOf(const json::Value& on) {
    const std::string name(on.str());
    if (name.empty() || name == "hub") return *world_.hub_server->api;
    return *world_.member_servers.at(name)->api;
  }

  rt::Task<Result<kube::Resource>> ResourceOf(kube::Api& api, const json::Value& what) {
    const Result<kube::Discovered> all = co_await api.Discover(rt::Deadline::After(world_.loop, seconds(5)));
    if (!all.ok()) co_return all.error();
    const kube::ResourceInfo* found = nullptr;
    for (const kube::ResourceInfo& info : all->resources) {
      if (info.resource.kind != what["kind"].str()) continue;
      if (!what["apiVersion"].str().empty() && info.resource.ApiVersion() != what["apiVersion"].str()) continue;
      if (info.resource.group == "events.k8s.io") continue;
      if (found == nullptr || info.preferred) found = &info;
    }
    if (found == nullptr) co_return NotFoundError(StrCat("no kind is called ", what["kind"].str()));
    co_return found->resource;
  }

  static Duration Time(const json::Value& text, Duration otherwise) {
    const Result<Duration> time = json::ParseDuration(text.str());
    return text.is_string() && time.ok() ? Duration(*time) : otherwise;
  }

  rt::Task<std::string> One(const Step& step) {
    const json::Value& on = step.whole["in"];
    if (on.is_string() && on.str() != "hub" && !world_.member_servers.contains(std::string(on.str())))
      co_return StrCat("there is no cluster ", on.str());
    if (step.verb == "wait") {
      co_await world_.loop.Sleep(Time(step.what, seconds(1)));
      co_return "";
    }
    const std::string name(step.what.str());
    if (step.verb == "join") {
      co_await JoinOne(step.what);
      co_return "";
    }
    if (step.verb == "silent") {
      world_.faults[name].Add({.fault = kube::Fault::kSilence, .hits = 1'000'000'000});
      co_return "";
    }
    if (step.verb == "back") {
      world_.faults[name].Clear();
      co_return "";
    }
    if (step.verb == "fault") co_return AddFault(step);
    if (step.verb == "replace") {
      co_await world_.Replace(name);
      // Connections to the old one are cut.
      world_.faults[name].Add({.fault = kube::Fault::kWatchExpired, .hits = 1});
      co_return "";
    }
    if (step.verb == "restart") {
      world_.Kill();
      world_.Run();
      co_return "";
    }
    if (step.verb == "count") {
      world_.hub->writes.clear();
      for (auto& [cluster, api] : world_.members) api->writes.clear();
      co_return "";
    }
    if (step.verb == "writes") {
      const CountingApi& api =
          on.is_null() || on.str() == "hub" ? *world_.hub : *world_.members.at(std::string(on.str()));
      const int64_t most = step.whole["atMost"].int_or(0);
      if (api.Writes() <= most) co_return "";
      std::string list;
      for (const auto& [what, count] : api.writes) list += StrCat(" ", what, "=", count);
      co_return StrCat("expected at most ", most, " writes, but there were ", api.Writes(), ":", list);
    }
    if (step.verb == "event") co_return co_await Event(step);
    if (step.verb == "expect") co_return co_await Expect(step);
    if (step.verb == "wipe") co_return co_await Wipe(name);
    const std::set<std::string, std::less<>> writes = {"apply", "create", "delete", "patch", "status"};
    if (!writes.contains(step.verb)) co_return co_await RunOther(step);
    Result<void> done = co_await Write(step);
    const json::Value& refused = step.whole["refused"];
    if (refused.is_null()) co_return done.ok() ? "" : StrCat(step.verb, " failed: ", done.error().message());
    if (done.ok()) co_return StrCat(step.verb, " was to be refused, and was not");
    if (done.error().message().find(refused.str()) == std::string::npos)
      co_return StrCat("refused for another reason: ", done.error().message());
    co_return "";
  }

  std::string AddFault(const Step& step) {
    const std::optional<kube::Fault> fault = kube::FaultFromName(step.what.str());
    if (!fault) return StrCat("no fault is called ", step.what.str());
    world_.faults[std::string(step.whole["in"].str())].Add({.fault = *fault,
                                                            .delay = Time(step.whole["delay"], seconds(1)),
                                                            .hits = static_cast<size_t>(step.whole["hits"].int_or(1))});
    return "";
  }

  // Everything that was propagated there is lost; the cluster is the same.
  rt::Task<std::string> Wipe(std::string cluster) {
    kube::Api& api = *world_.member_servers.at(cluster)->api;
    for (const kube::Resource& resource : {kTestConfigMaps, kTestDeployments}) {
      const Result<kube::Listed> all = co_await api.ListAll(resource);
      if (!all.ok()) co_return all.error().message();
      for (const json::Value& object : all->items) {
        const auto gone = co_await api.Delete(resource, kube::Name::Of(object));
        if (!gone.ok()) co_return gone.error().message();
      }
    }
    co_return "";
  }

  rt::Task<Result<void>> Write(const Step& step) {
    kube::Api& api = ApiOf(step.whole["in"]);
    const kube::Resource resource = CO_TRY(co_await ResourceOf(api, step.what));
    const std::string manager(step.whole["by"].str_or("user"));
    if (step.verb == "apply") {
      json::Value object = step.what;
      if (resource.namespaced && kube::NamespaceOf(object).empty()) object.Edit("metadata").Set("namespace", "default");
      object.Set("apiVersion", resource.ApiVersion());
      CO_TRY(co_await api.Apply(resource, object, {.field_manager = manager, .force = true}));
      co_return Result<void>();
    }
    if (step.verb == "create") {
      json::Value object = step.what;
      if (resource.namespaced && kube::NamespaceOf(object).empty()) object.Edit("metadata").Set("namespace", "default");
      object.Set("apiVersion", resource.ApiVersion());
      CO_TRY(co_await api.Create(resource, object));
      co_return Result<void>();
    }
    const kube::Name name = NameOf(resource, step.what);
    if (step.verb == "delete") {
      CO_TRY(co_await api.Delete(resource, name));
    } else if (step.verb == "patch") {
      CO_TRY(
          co_await api.Patch(resource, name, kube::PatchType::kMerge, step.whole["merge"], {.field_manager = "user"}));
    } else {
      json::Value object = CO_TRY(co_await api.Get(resource, name));
      json::Value status = step.whole["set"];
      if (status["observedGeneration"].str() == "now")
        status.Set("observedGeneration", object["metadata"]["generation"]);
      object.Set("status", status);
      CO_TRY(co_await api.UpdateStatus(resource, object));
    }
    co_return Result<void>();
  }

  static kube::Name NameOf(const kube::Resource& resource, const json::Value& what) {
    kube::Name name = kube::Name::FromKey(what["name"].str());
    if (resource.namespaced && name.ns.empty()) name.ns = "default";
    return name;
  }

  rt::Task<std::string> Event(const Step& step) {
    const Result<kube::Resource> resource =
        co_await ResourceOf(*world_.hub_server->api, json::Object({{"kind", "Event"}}));
    if (!resource.ok()) co_return resource.error().message();
    const Result<kube::Listed> events = co_await world_.hub_server->api->ListAll(*resource);
    if (!events.ok()) co_return events.error().message();
    std::string seen;
    for (const json::Value& event : events->items) {
      const bool reason = event["reason"].str() == step.whole["reason"].str();
      const std::string_view message = event["message"].is_null() ? event["note"].str() : event["message"].str();
      if (reason && message.find(step.whole["contains"].str()) != std::string_view::npos) co_return "";
      seen += StrCat(" ", event["reason"].str());
    }
    co_return StrCat("there is no event ", step.whole["reason"].str(), "; there are:", seen);
  }

  rt::Task<std::string> Expect(const Step& step) {
    const MonotonicTime until = world_.loop.Now() + Time(step.whole["within"], seconds(10));
    while (true) {
      std::string wrong = co_await Look(step);
      if (wrong.empty() || world_.loop.Now() >= until) co_return wrong;
      co_await world_.loop.Sleep(milliseconds(200));
    }
  }

  rt::Task<std::string> Look(const Step& step) {
    kube::Api& api = ApiOf(step.whole["in"]);
    const bool absent = step.whole["absent"].bool_or(false);
    const Result<kube::Resource> resource = co_await ResourceOf(api, step.what);
    if (!resource.ok()) co_return absent ? "" : resource.error().message();
    const Result<json::Value> object = co_await api.Get(*resource, NameOf(*resource, step.what));
    if (!object.ok()) {
      const bool gone = object.error().kind() == ErrorKind::kNotFound;
      co_return gone&& absent ? "" : object.error().message();
    }
    if (absent) co_return StrCat("it should not be there: ", object->ToString().substr(0, 600));
    for (const json::Member& field : step.whole["fields"].members()) {
      const std::string wrong = Compare(*object, field.key(), field.value(), false);
      if (!wrong.empty()) co_return wrong;
    }
    for (const json::Member& field : step.whole["contains"].members()) {
      const std::string wrong = Compare(*object, field.key(), field.value(), true);
      if (!wrong.empty()) co_return wrong;
    }
    for (const json::Value& field : step.whole["missing"].items()) {
      const Result<json::JsonPath> path = json::JsonPath::ParseRelaxed(field.str());
      if (!path.ok()) co_return path.error().message();
      const Result<std::vector<json::Value>> found = path->Values(*object);
      if (found.ok() && !found->empty()) co_return StrCat(field.str(), " should not be there");
    }
    co_return "";
  }

  static std::string Compare(const json::Value& object, std::string_view field, const json::Value& wanted, bool part) {
    const Result<json::JsonPath> path = json::JsonPath::ParseRelaxed(field);
    if (!path.ok()) return path.error().message();
    const Result<std::vector<json::Value>> found = path->Values(object);
    if (!found.ok()) return found.error().message();
    std::string seen;
    for (const json::Value& value : *found) {
      if (!part && value == wanted) return "";
      const std::string text = value.is_string() ? std::string(value.str()) : value.ToString();
      if (part && text.find(wanted.str()) != std::string::npos) return "";
      seen += StrCat(" ", text);
    }
    return StrCat(field, part ? " should contain " : " should be ", wanted.ToString(), " and is",
                  seen.empty() ? " not there" : seen, "; the object: ", object.ToString().substr(0, 1500));
  }

  FederationWorld& world_;
};

// What did not go as told; at most one, as the rest of a story rests on it.
inline std::vector<std::string> RunScenario(const Scenario& scenario, uint64_t seed = 1) {
  std::vector<std::string> failures;
  rt::VirtualLoop loop(seed);
  loop.Run(rt::Do([&]() -> rt::Task<void> {
    FederationWorld world(loop);
    HubOptions options;
    options.claim_templates = scenario.options["claimTemplates"].bool_or(false);
    co_await world.Start({}, options);
    {
      Runner runner(world);
      for (const json::Value& cluster : scenario.clusters.items()) co_await runner.JoinOne(cluster);
      co_await world.Settle();
      co_await runner.Run(scenario);
      failures = runner.failures;
    }
    co_await world.Stop();
  }));
  return failures;
}

}  // namespace baton::federation
