// Compiling a MigrationProfile, setting what it says, asking its script.
#include "interpret/profile.h"

#include <algorithm>
#include <utility>

#include "base/invariant.h"
#include "base/strings.h"
#include "interpret/profile_memo.h"
#include "json/parse.h"

namespace baton::interpret {
namespace {

using json::Value;

constexpr std::string_view kFunctions[] = {"Hold",     "Stop",   "Run",    "Judge",   "Preflight",
                                           "StateDir", "Beside", "IsHeld", "Prepared"};

Error Wrong(std::string_view profile, std::string_view field, std::string_view why) {
  return InvalidError(StrCat("MigrationProfile ", profile, ": spec.", field, ": ", why));
}

// The parts of a JSON pointer, unescaped.
std::vector<std::string> Parts(std::string_view pointer) {
  std::vector<std::string> parts;
  while (!pointer.empty()) {
    pointer.remove_prefix(1);  // '/'
    const size_t slash = pointer.find('/');
    std::string part;
    const std::string_view raw = pointer.substr(0, slash);
    for (size_t i = 0; i < raw.size(); ++i) {
      if (raw[i] == '~' && i + 1 < raw.size()) {
        part += raw[++i] == '1' ? '/' : '~';
      } else {
        part += raw[i];
      }
    }
    parts.push_back(std::move(part));
    pointer = slash == std::string_view::npos ? std::string_view() : pointer.substr(slash);
  }
  return parts;
}

// Sets a value, making parents that are not there. Only through objects: lists belong to the user.
Result<void> SetAt(Value& object, std::string_view pointer, Value value) {
  const std::vector<std::string> parts = Parts(pointer);
  Value* at = &object;
  for (size_t i = 0; i + 1 < parts.size(); ++i) {
    at = &at->Edit(parts[i]);
    if (!at->is_null() && !at->is_object())
      return InvalidError(StrCat(pointer, " leads through something that is no object"));
  }
  if (value.is_null()) {
    at->Erase(parts.back());
  } else {
    at->Set(parts.back(), std::move(value));
  }
  return {};
}

const Value& GetAt(const Value& object, std::string_view pointer) {
  const Value* at = &object;
  for (const std::string& part : Parts(pointer)) at = &(*at)[part];
  return *at;
}

void ReplaceAll(std::string& text, std::string_view what, std::string_view by) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
}

Value Filled(const Value& value, const Question& question, std::string_view name) {
  if (!value.is_string()) return value;
  std::string text(value.str());
  ReplaceAll(text, "${name}", name);
  ReplaceAll(text, "${seq}", std::to_string(question.seq));
  ReplaceAll(text, "${ref}", question.ref);
  ReplaceAll(text, "${stateDir}", question.state_dir);
  ReplaceAll(text, "${cluster}", question.cluster.empty() ? "nowhere" : question.cluster);
  ReplaceAll(text, "${peer}", question.peer.empty() ? "elsewhere" : question.peer);
  return text;
}

Value ToLua(const Question& question) {
  return json::Object({{"seq", question.seq},
                       {"ref", question.ref},
                       {"redeploy", question.redeploy},
                       {"stateDir", question.state_dir},
                       {"anyWay", question.any_way},
                       {"lastCheckpoint", question.last_checkpoint},
                       {"stopSeq", question.stop_seq},
                       {"priorPath", question.prior_path},
                       {"beganFrom", question.began_from},
                       {"startRef", question.start_ref},
                       {"startSeq", question.start_seq},
                       {"cluster", question.cluster},
                       {"peer", question.peer}});
}

Judgement FromLua(const Value& value) {
  return {.held = value["held"].bool_or(false),
          .runs = value["runs"].bool_or(false),
          .stop_proven = value["stopProven"].bool_or(false),
          .capture = std::string(value["capture"].str()),
          .stop_missing = std::string(value["stopMissing"].str()),
          .stop_failed = std::string(value["stopFailed"].str()),
          .state_lost = std::string(value["stateLost"].str()),
          .ending = value["ending"].bool_or(false),
          .in_hand = value["inHand"].bool_or(false),
          .unsure = value["unsure"].bool_or(false),
          .start_proven = value["startProven"].bool_or(false),
          .start_missing = std::string(value["startMissing"].str()),
          .start_failed = std::string(value["startFailed"].str()),
          .probe_spent = value["probeSpent"].bool_or(false),
          .progress = std::string(value["progress"].str()),
          .prior_path = std::string(value["priorPath"].str())};
}

}  // namespace

std::string WithName(std::string_view text, std::string_view name) {
  std::string filled(text);
  ReplaceAll(filled, "${name}", name);
  return filled;
}

std::string SelectorFor(const Related& related, std::string_view name, const Value& object) {
  if (related.label_selector == "*") return "";
  if (related.selector.empty()) return WithName(related.label_selector, name);
  std::string text;
  for (const json::Member& member : GetAt(object, related.selector)["matchLabels"].members())
    StrAppend(text, text.empty() ? "" : ",", member.key(), "=", member.value().str());
  return text;
}

bool Profile::IsOfAnother(const Related& related, std::string_view name, const Value& found) const {
  if (!related.others) return false;
  const Value& metadata = found["metadata"];
  const auto owners = metadata["ownerReferences"].items();
  const auto controller =
      std::ranges::find_if(owners, [](const Value& one) { return one["controller"].bool_or(false); });
  if (controller == owners.end()) return false;
  const std::string_view kind = (*controller)["kind"].str();
  const std::string_view owner = (*controller)["name"].str();
  const bool its_own = (kind == kind_.kind && owner == name) || std::ranges::any_of(related_, [&](const Related& one) {
                         return !one.name.empty() && one.kind == kind && WithName(one.name, name) == owner;
                       });
  return !its_own && related.others->Matches(metadata["labels"]);
}

Result<std::vector<Profile::Setting>> Profile::CompileSettings(const Value& list, std::string_view field) {
  std::vector<Setting> settings;
  if (list.size() > kProfileSettingsMax)
    return TooLargeError(StrCat("spec.", field, " has more than ", kProfileSettingsMax, " items"));
  for (const Value& item : list.items()) {
    const std::string path(item["path"].str());
    if (path.size() < 2 || path[0] != '/')
      return InvalidError(StrCat("spec.", field, ": path must be a JSON pointer like /spec/suspend"));
    settings.push_back({.path = path, .value = item["value"]});
  }
  return settings;
}

Result<std::shared_ptr<const Profile>> Profile::Compile(const Value& object) {
  auto profile = std::make_shared<Profile>();
  const Value& spec = object["spec"];
  profile->name_ = object["metadata"]["name"].str();
  profile->kind_ = {.api_version = std::string(spec["target"]["apiVersion"].str()),
                    .kind = std::string(spec["target"]["kind"].str())};
  if (profile->kind_.api_version.empty() || profile->kind_.kind.empty()) {
    return Wrong(profile->name_, "target", "apiVersion and kind are needed");
  }
  profile->guarantee_ = spec["guarantee"].str_or("FencedOnly");
  if (profile->guarantee_ != "ExactlyOnce" && profile->guarantee_ != "AtLeastOnce" &&
      profile->guarantee_ != "FencedOnly") {
    return Wrong(profile->name_, "guarantee", "must be ExactlyOnce, AtLeastOnce or FencedOnly");
  }
  for (const Value& fallback : spec["captureFallbacks"].items()) {
    if (fallback.str() != "LastCheckpoint")
      return Wrong(profile->name_, "captureFallbacks", "knows LastCheckpoint only");
    profile->has_last_checkpoint_ = true;
  }
  profile->epoch_ = spec["epoch"].str();
  if (!profile->epoch_.starts_with("/spec/") && !profile->epoch_.starts_with("/metadata/annotations/")) {
    return Wrong(profile->name_, "epoch",
                 "must be a JSON pointer into /spec or /metadata/annotations, to a key that the workload ignores");
  }
  for (const Value& pointer : spec["parse"].items()) profile->parse_.emplace_back(pointer.str());
  if (spec["related"].size() > kProfileRelatedMax) return Wrong(profile->name_, "related", "too many");
  for (const Value& item : spec["related"].items()) {
    profile->related_.push_back({.api_version = std::string(item["apiVersion"].str()),
                                 .kind = std::string(item["kind"].str()),
                                 .name = std::string(item["name"].str()),
                                 .label_selector = std::string(item["labelSelector"].str()),
                                 .selector = std::string(item["selector"].str()),
                                 .keep = item["keep"].bool_or(false)});
    const Related& made = profile->related_.back();
    if (made.api_version.empty() || made.kind.empty() ||
        made.name.empty() + made.label_selector.empty() + made.selector.empty() != 2)
      return Wrong(profile->name_, "related", "each needs apiVersion, kind, and one of name, labelSelector, selector");
    if (!made.selector.empty() && made.selector[0] != '/')
      return Wrong(profile->name_, "related", "selector must be a JSON pointer like /spec/selector");
    const std::string_view others = item["others"].str();
    if (item["others"].is_null()) continue;
    Result<json::LabelSelector> labels = json::LabelSelector::Parse(others == "*" ? "" : others);
    if (others.empty() || !labels.ok())
      return Wrong(profile->name_, "related",
                   StrCat("others must be \"*\" or a label selector", labels.ok() ? "" : ": ",
                          labels.ok() ? "" : labels.error().message()));
    profile->related_.back().others = *std::move(labels);
  }
  profile->probe_ = spec["probe"];
  profile->opt_in_ = spec["optIn"].bool_or(false);
  for (const json::Value& pointer : spec["passThrough"].items()) {
    if (!pointer.str().starts_with('/'))
      return InvalidError(
          StrCat("spec.passThrough: '", pointer.str(), "' is no JSON pointer, as /spec/logConfiguration"));
    profile->pass_through_.emplace_back(pointer.str());
  }
  profile->staged_ = spec["staged"].bool_or(false);
  profile->hold_ = TRY(CompileSettings(spec["hold"], "hold"));
  profile->run_ = TRY(CompileSettings(spec["run"], "run"));
  profile->stop_ = TRY(CompileSettings(spec["stop"], "stop"));
  if (profile->hold_.empty()) return Wrong(profile->name_, "hold", "something must keep a workload from running");
  profile->pool_ = std::make_shared<LuaPool>();
  profile->memo_ = std::make_shared<ProfileMemo>();
  std::string text(spec["script"].str());
  // A call tells which functions there are, so that those that are not are not asked.
  std::string names = "\nfunction __functions()\n  local r = {}\n";
  for (const std::string_view function : kFunctions)
    names += StrCat("  if ", function, " ~= nil then r['", function, "'] = true end\n");
  names += "  return r\nend\n";
  profile->script_ = TRY(LuaScript::Compile(StrCat("profile ", profile->name_), text + names));
  const LuaOutcome outcome = TRY(profile->pool_->Call(*profile->script_, "__functions", {}, 1));
  for (const std::string_view function : kFunctions) {
    if (outcome.results[0].value.Has(function)) profile->functions_.emplace_back(function);
  }
  if (!profile->Defines("Judge")) {
    return Wrong(profile->name_, "script", "must define Judge(object, related, question)");
  }
  return std::shared_ptr<const Profile>(profile);
}

Result<Value> Profile::Form(Value object, const std::vector<Setting>& settings, std::string_view function,
                            const Question& question) const {
  ProfileMemo::Key key{.function = function, .object = std::move(object), .related = {}, .question = question};
  if (std::optional<Value> known = memo_->Find(key)) return *std::move(known);
  Value formed = TRY(MakeForm(key.object, settings, function, question));
  memo_->Keep(std::move(key), formed);
  return formed;
}

Result<Value> Profile::MakeForm(Value object, const std::vector<Setting>& settings, std::string_view function,
                                const Question& question) const {
  const Value before = object;
  const std::string name(object["metadata"]["name"].str());
  for (const Setting& setting : settings) TRY(SetAt(object, setting.path, Filled(setting.value, question, name)));
  if (Defines(function)) {
    const Value arguments[] = {before, ToLua(question)};
    const LuaOutcome outcome = TRY(pool_->Call(*script_, function, arguments, 1));
    const Result<std::vector<Setting>> more = CompileSettings(outcome.results[0].value, function);
    if (!more.ok()) return Wrong(name_, "script", StrCat(function, ": ", more.error().message()));
    for (const Setting& setting : *more) TRY(SetAt(object, setting.path, setting.value));
  }
  return Stamped(std::move(object), question.seq);
}

Result<Value> Profile::Stamped(Value object, int64_t seq) const {
  TRY(SetAt(object, epoch_, std::to_string(seq)));
  return object;
}

Value Profile::Probe(std::string_view name, std::string_view ns, int64_t seq) const {
  if (probe_.is_null()) return probe_;
  const auto fill = [&](std::string_view text) {
    std::string filled = WithName(text, name);
    ReplaceAll(filled, "${seq}", std::to_string(seq));
    return filled;
  };
  Value probe = probe_;
  probe.Edit("metadata").Set("name", fill(probe["metadata"]["name"].str()));
  if (!ns.empty()) probe.Edit("metadata").Set("namespace", ns);
  Value& reference = probe.Edit("spec").Edit("jobReference");
  if (reference.is_object()) reference.Set("name", fill(reference["name"].str()));
  return probe;
}

Result<Value> Profile::Held(Value object, const Question& question) const {
  return Form(std::move(object), hold_, "Hold", question);
}
Result<Value> Profile::Stopping(Value object, const Question& question) const {
  return Form(std::move(object), stop_, "Stop", question);
}
Result<Value> Profile::Running(Value object, const Question& question) const {
  return Form(std::move(object), run_, "Run", question);
}

int64_t Profile::EpochOf(const Value& object) const {
  const std::string text(GetAt(object, epoch_).str());
  if (text.empty() || text.size() > 18 || text.find_first_not_of("0123456789") != std::string::npos) return -1;
  return std::stoll(text);
}

bool Profile::Defines(std::string_view function) const {
  return std::ranges::find(functions_, function) != functions_.end();
}

bool Profile::AsksIsHeld(const Value& object) const {
  ProfileMemo::Key key{.function = "IsHeld", .object = object, .related = {}, .question = {}};
  if (const std::optional<Value> known = memo_->Find(key)) return known->bool_or(false);
  const Value arguments[] = {object};
  const Result<LuaOutcome> outcome = pool_->Call(*script_, "IsHeld", arguments, 1);
  if (!outcome.ok()) return false;  // what cannot be asked is not known to be held
  const bool held = outcome->results[0].value.bool_or(false);
  memo_->Keep(std::move(key), held);
  return held;
}

bool Profile::IsHeld(const Value& object) const {
  if (Defines("IsHeld")) return AsksIsHeld(object);
  return std::ranges::all_of(hold_,
                             [&](const Setting& setting) { return GetAt(object, setting.path) == setting.value; });
}

std::vector<Profile::Setting> Profile::HeldBy() const {
  const bool filled_in = std::ranges::any_of(hold_, [](const Setting& setting) {
    return setting.value.is_string() ? setting.value.str().find("${") != std::string_view::npos
                                     : !setting.value.is_bool() && !setting.value.is_number();
  });
  if (Defines("IsHeld") || filled_in) return {};
  return hold_;
}

Value Profile::Parsed(const Value& object) const {
  Value seen = object;
  seen.Edit("metadata").Erase("managedFields");
  for (const std::string& pointer : parse_) {
    const Value& text = GetAt(object, pointer);
    if (!text.is_string()) continue;
    Result<Value> parsed = json::Parse(text.str());
    const Result<void> set = SetAt(seen, pointer, parsed.ok() ? *std::move(parsed) : Value());
    INVARIANT(set.ok(), "a pointer that led to a string leads through objects");
  }
  return seen;
}

// What belongs to it, without what only servers read.
static Value Bare(Value related) {
  constexpr std::string_view kServers = "managedFields";
  for (const std::string_view list : {"remains", "kept"}) {
    for (size_t i = 0; i < related[list].size(); ++i) {
      if (related[list][i]["metadata"].Has(kServers)) related.Edit(list).Edit(i).Edit("metadata").Erase(kServers);
    }
  }
  if (related["probe"]["metadata"].Has(kServers)) related.Edit("probe").Edit("metadata").Erase(kServers);
  return related;
}

Result<Judgement> Profile::Judge(const Value& object, const Value& related, const Question& question) const {
  ProfileMemo::Key key{.function = "Judge", .object = object, .related = related, .question = question};
  std::optional<Value> said = memo_->Find(key);
  if (!said) {
    const Value arguments[] = {Parsed(object), Bare(related), ToLua(question)};
    const LuaOutcome outcome = TRY(pool_->Call(*script_, "Judge", arguments, 1));
    if (outcome.results[0].kind != LuaResult::Kind::kTable) return Wrong(name_, "script", "Judge must give a table");
    said = outcome.results[0].value;
    memo_->Keep(std::move(key), *said);
  }
  Judgement judgement = FromLua(*said);
  judgement.held = IsHeld(object);
  return judgement;
}

bool Profile::HasBeside() const { return Defines("Beside"); }
bool Profile::prepares() const { return Defines("Beside") || Defines("Prepared"); }

Result<std::vector<Value>> Profile::Beside(const Value& object, const Value& related, const Question& question) const {
  std::vector<Value> beside;
  if (!Defines("Beside")) return beside;
  const Value arguments[] = {Parsed(object), related, ToLua(question)};
  const LuaOutcome outcome = TRY(pool_->Call(*script_, "Beside", arguments, 1));
  const Value& list = outcome.results[0].value;
  if (list.size() > kProfileBesideMax)
    return TooLargeError(StrCat("MigrationProfile ", name_, ": Beside gave more than ", kProfileBesideMax, " objects"));
  for (const Value& one : list.items()) {
    if (one["apiVersion"].str().empty() || one["kind"].str().empty() || one["metadata"]["name"].str().empty())
      return Wrong(name_, "script", "Beside: each object needs apiVersion, kind and metadata.name");
    if (one["remove"].bool_or(false) && one["metadata"]["uid"].str().empty())
      return Wrong(name_, "script", "Beside: what is to be removed is named with its metadata.uid");
    beside.push_back(one);
  }
  return beside;
}

Result<std::string> Profile::Prepared(const Value& object, const Value& related, const Question& question) const {
  if (!Defines("Prepared")) return std::string();
  const Value arguments[] = {Parsed(object), related, ToLua(question)};
  const LuaOutcome outcome = TRY(pool_->Call(*script_, "Prepared", arguments, 1));
  return std::string(outcome.results[0].value.str());
}

Result<std::vector<std::string>> Profile::Preflight(const Value& object) const {
  std::vector<std::string> problems;
  if (!Defines("Preflight")) return problems;
  const Value arguments[] = {object};
  const LuaOutcome outcome = TRY(pool_->Call(*script_, "Preflight", arguments, 1));
  for (const Value& problem : outcome.results[0].value.items()) problems.emplace_back(problem.str());
  return problems;
}

Result<std::string> Profile::StateDir(const Value& object, const std::string& name) const {
  if (!Defines("StateDir")) return std::string();
  ProfileMemo::Key key{.function = "StateDir", .object = object, .related = {}, .question = {.state_dir = name}};
  if (const std::optional<Value> known = memo_->Find(key)) return std::string(known->str());
  const Value arguments[] = {object, name};
  const LuaOutcome outcome = TRY(pool_->Call(*script_, "StateDir", arguments, 1));
  memo_->Keep(std::move(key), outcome.results[0].value);
  return std::string(outcome.results[0].value.str());
}

uint64_t Profile::questions_missed() const { return memo_->missed(); }

}  // namespace baton::interpret
