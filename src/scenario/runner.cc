// Playing stories: the steps that need nothing but Kubernetes APIs.
#include "scenario/runner.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "json/builder.h"
#include "json/go_duration.h"
#include "json/jsonpath.h"

namespace baton::scenario {
namespace {

using json::Value;

constexpr Duration kLookEvery = milliseconds(200);
constexpr Duration kTimeMax = hours(48);
constexpr Duration kDiscoverTimeout = seconds(5);
constexpr size_t kObjectShown = 1500;  // characters of an object in a message

const std::vector<kube::Resource>& Wiped() {
  static const std::vector<kube::Resource> kAll = {
      {.group = "", .version = "v1", .plural = "configmaps", .kind = "ConfigMap"},
      {.group = "apps", .version = "v1", .plural = "deployments", .kind = "Deployment"}};
  return kAll;
}

bool IsOneOf(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

std::string MissingFields(const Step& step, const Value& object) {
  for (const Value& field : step.whole["missing"].items()) {
    const Result<json::JsonPath> path = json::JsonPath::ParseRelaxed(field.str());
    if (!path.ok()) return path.error().message();
    const Result<std::vector<Value>> found = path->Values(object);
    if (found.ok() && !found->empty()) return StrCat(field.str(), " should not be there");
  }
  return "";
}

}  // namespace

Result<Duration> TimeOf(const Value& text, Duration otherwise) {
  if (text.is_null()) return otherwise;
  const Result<Duration> time = json::ParseDuration(text.str());
  if (!text.is_string() || !time.ok())
    return InvalidError(StrCat(text.ToString(), " is no time: write it as 10s, 500ms or 2m"));
  if (*time < Duration{} || *time > kTimeMax)
    return InvalidError(StrCat(text.str(), " is no time of a story: they go up to ", kTimeMax / hours(1), "h"));
  return Duration(*time);
}

rt::Task<Result<kube::Resource>> ResourceOf(kube::Api& api, Value what) {
  const Result<kube::Discovered> all = co_await api.Discover(rt::Deadline::After(api.loop(), kDiscoverTimeout));
  if (!all.ok()) co_return all.error();
  const kube::ResourceInfo* found = nullptr;
  for (const kube::ResourceInfo& info : all->resources) {
    if (info.resource.kind != what["kind"].str()) continue;
    if (!what["apiVersion"].str().empty() && info.resource.ApiVersion() != what["apiVersion"].str()) continue;
    if (info.resource.group == "events.k8s.io") continue;
    if (found != nullptr && found->resource.group != info.resource.group)
      co_return InvalidError(StrCat("several kinds are called ", what["kind"].str(), ": say which with apiVersion, ",
                                    found->resource.ApiVersion(), " or ", info.resource.ApiVersion()));
    if (found == nullptr || info.preferred) found = &info;
  }
  if (found == nullptr) co_return NotFoundError(StrCat("no kind is called ", what["kind"].str()));
  co_return found->resource;
}

kube::Name NameOf(const kube::Resource& resource, const Value& what) {
  kube::Name name = kube::Name::FromKey(what["name"].str());
  if (resource.namespaced && name.ns.empty()) name.ns = "default";
  return name;
}

std::string Compare(const Value& object, std::string_view field, const Value& wanted, bool part) {
  const Result<json::JsonPath> path = json::JsonPath::ParseRelaxed(field);
  if (!path.ok()) return path.error().message();
  const Result<std::vector<Value>> found = path->Values(object);
  if (!found.ok()) return found.error().message();
  std::string seen;
  for (const Value& value : *found) {
    if (!part && value == wanted) return "";
    const std::string text = value.is_string() ? std::string(value.str()) : value.ToString();
    if (part && text.find(wanted.str()) != std::string::npos) return "";
    seen += StrCat(" ", text);
  }
  return StrCat(field, part ? " should contain " : " should be ", wanted.ToString(), " and is",
                seen.empty() ? " not there" : seen, "; the object: ", object.ToString().substr(0, kObjectShown));
}

rt::Task<std::string> Runner::Run(const Scenario& scenario) {
  bool settled = true;
  for (const Step& step : scenario.steps) {
    if (step.verb->expectation && !settled) co_await stage_.loop().Sleep(kSettles);
    settled = step.verb->expectation;
    stage_.Begins(step);
    const std::string wrong = co_await One(step);
    if (!wrong.empty()) co_return StrCat(step.place, ": ", wrong);  // what follows rests on it
  }
  co_return "";
}

kube::Api& Runner::ApiOf(const Value& on) {
  if (on.is_null() || on.str() == "hub") return stage_.hub();
  return *stage_.member(std::string(on.str()));
}

rt::Task<std::string> Runner::One(const Step& step) {
  const std::string_view verb = step.verb->name;
  const Value& on = step.whole["in"];
  // `runs` has more to say there than the name of one cluster.
  const bool known = on.is_string() && (on.str() == "hub" || stage_.member(std::string(on.str())) != nullptr);
  if (!on.is_null() && !known && verb != "runs") co_return StrCat("there is no cluster ", on.ToString());
  if (IsOneOf(verb, {"apply", "create", "delete", "patch", "status"})) co_return co_await Writes(step);
  if (verb == "expect") co_return co_await Expect(step, kExpectWithin);
  if (verb == "until" && step.what.is_object()) co_return co_await Expect(step, kUntilWithin);
  if (verb == "event") co_return co_await Event(step);
  if (verb == "writes") {
    const int64_t most = step.whole["atMost"].int_or(0);
    std::string list;
    const int64_t count = stage_.Writes(std::string(on.str()), list);
    co_return count <= most ? "" : StrCat("expected at most ", most, " writes, but there were ", count, ":", list);
  }
  if (verb == "wait") {
    const Result<Duration> time = TimeOf(step.what, seconds(1));
    if (!time.ok()) co_return time.error().message();
    co_await stage_.loop().Sleep(*time);
    co_return "";
  }
  if (verb == "fault") co_return stage_.AddFault(step);
  co_return co_await Clusters(step);
}

rt::Task<std::string> Runner::Clusters(const Step& step) {
  const std::string_view verb = step.verb->name;
  const std::string name(step.what.str());
  if (IsOneOf(verb, {"silent", "back", "replace", "wipe"}) && stage_.member(name) == nullptr)
    co_return StrCat("there is no cluster ", step.what.ToString());
  if (verb == "join" && name.empty() && step.what["name"].str().empty())
    co_return "what joins is a name, or {name, labels, spec}";
  if (verb == "join") co_return co_await stage_.Join(step.what);
  if (verb == "replace") co_return co_await stage_.Replace(name);
  if (verb == "wipe") co_return co_await Wipe(name);
  if (verb == "silent") {
    stage_.Silence(name);
  } else if (verb == "back") {
    stage_.Back(name);
  } else if (verb == "restart") {
    stage_.Restart();
  } else if (verb == "count") {
    stage_.CountFromHere();
  } else {
    co_return co_await stage_.Other(step);
  }
  co_return "";
}

rt::Task<std::string> Runner::Writes(const Step& step) {
  const Result<void> done = co_await Write(step);
  const Value& refused = step.whole["refused"];
  if (refused.is_null()) co_return done.ok() ? "" : StrCat(step.verb->name, " failed: ", done.error().message());
  if (done.ok()) co_return StrCat(step.verb->name, " was to be refused, and was not");
  if (done.error().message().find(refused.str()) == std::string::npos)
    co_return StrCat("refused for another reason: ", done.error().message());
  co_return "";
}

rt::Task<Result<void>> Runner::Write(const Step& step) {
  const std::string where(step.whole["in"].str_or("hub"));
  kube::Api& api = ApiOf(step.whole["in"]);
  const kube::Resource resource = CO_TRY(co_await ResourceOf(api, step.what));
  if (step.Is("apply") || step.Is("create")) {
    Value object = step.what;
    if (resource.namespaced && kube::NamespaceOf(object).empty()) object.Edit("metadata").Set("namespace", "default");
    object.Set("apiVersion", resource.ApiVersion());
    const std::string manager(step.whole["by"].str_or("user"));
    const Value now = step.Is("create")
                          ? CO_TRY(co_await api.Create(resource, object))
                          : CO_TRY(co_await api.Apply(resource, object, {.field_manager = manager, .force = true}));
    if (manager == "user") stage_.Wrote(where, resource, kube::Name::Of(now), now);
    co_return Result<void>();
  }
  const kube::Name name = NameOf(resource, step.what);
  if (step.Is("delete")) {
    CO_TRY(co_await api.Delete(resource, name));
    stage_.Wrote(where, resource, name, Value());
  } else if (step.Is("patch")) {
    const Value now = CO_TRY(
        co_await api.Patch(resource, name, kube::PatchType::kMerge, step.whole["merge"], {.field_manager = "user"}));
    stage_.Wrote(where, resource, name, now);
  } else {
    Value object = CO_TRY(co_await api.Get(resource, name));
    Value status = step.whole["set"];
    if (status["observedGeneration"].str() == "now") status.Set("observedGeneration", object["metadata"]["generation"]);
    object.Set("status", status);
    CO_TRY(co_await api.UpdateStatus(resource, object));
  }
  co_return Result<void>();
}

// Everything that was propagated there is lost; the cluster is the same.
rt::Task<std::string> Runner::Wipe(std::string cluster) {
  kube::Api& api = *stage_.member(cluster);
  for (const kube::Resource& resource : Wiped()) {
    const Result<kube::Listed> all = co_await api.ListAll(resource);
    if (!all.ok()) co_return all.error().message();
    for (const Value& object : all->items) {
      const auto gone = co_await api.Delete(resource, kube::Name::Of(object));
      if (!gone.ok()) co_return gone.error().message();
    }
  }
  co_return "";
}

rt::Task<std::string> Runner::Event(const Step& step) {
  const Result<kube::Resource> resource = co_await ResourceOf(stage_.hub(), json::Object({{"kind", "Event"}}));
  if (!resource.ok()) co_return resource.error().message();
  const Result<kube::Listed> events = co_await stage_.hub().ListAll(*resource);
  if (!events.ok()) co_return events.error().message();
  std::string seen;
  for (const Value& event : events->items) {
    const bool reason = event["reason"].str() == step.whole["reason"].str();
    const std::string_view message = event["message"].is_null() ? event["note"].str() : event["message"].str();
    if (reason && message.find(step.whole["contains"].str()) != std::string_view::npos) co_return "";
    seen += StrCat(" ", event["reason"].str());
  }
  co_return StrCat("there is no event ", step.whole["reason"].str(), "; there are:", seen);
}

rt::Task<std::string> Runner::Expect(const Step& step, Duration otherwise) {
  const Result<Duration> within = TimeOf(step.whole["within"], otherwise);
  if (!within.ok()) co_return within.error().message();
  const MonotonicTime until = stage_.loop().Now() + *within;
  std::optional<kube::Resource> known;
  while (true) {
    std::string wrong = co_await Look(step, known);
    if (wrong.empty() || stage_.loop().Now() >= until) co_return wrong;
    co_await stage_.loop().Sleep(kLookEvery);
  }
}

rt::Task<std::string> Runner::Look(const Step& step, std::optional<kube::Resource>& known) {
  kube::Api& api = ApiOf(step.whole["in"]);
  const bool absent = step.whole["absent"].bool_or(false);
  if (!known) {
    const Result<kube::Resource> resource = co_await ResourceOf(api, step.what);
    if (!resource.ok()) co_return absent ? "" : resource.error().message();
    known = *resource;
  }
  const Result<Value> object = co_await api.Get(*known, NameOf(*known, step.what));
  if (!object.ok()) {
    const bool gone = object.error().kind() == ErrorKind::kNotFound;
    co_return gone&& absent ? "" : object.error().message();
  }
  if (absent) co_return StrCat("it should not be there: ", object->ToString().substr(0, kObjectShown));
  for (const bool part : {false, true}) {
    for (const json::Member& field : step.whole[part ? "contains" : "fields"].members()) {
      const std::string wrong = Compare(*object, field.key(), field.value(), part);
      if (!wrong.empty()) co_return wrong;
    }
  }
  co_return MissingFields(step, *object);
}

}  // namespace baton::scenario
