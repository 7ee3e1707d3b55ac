// The command line of migration profiles.
#include "cli/profile_command.h"

#include <charconv>
#include <cstdio>
#include <string>
#include <utility>

#include "base/strings.h"
#include "cli/files.h"
#include "cli/flags.h"
#include "interpret/profile.h"
#include "json/yaml.h"

namespace baton::cli {
namespace {

using interpret::Judgement;
using interpret::Profile;
using interpret::Question;
using json::Value;

constexpr const char* kName = "profile";

constexpr const char* kHelp =
    "Usage: baton profile list\n"
    "       baton profile show NAME\n"
    "       baton profile test -f PROFILE --object OBJECT [--related FILE] [--stop N | --start N] [--ref STATE]\n"
    "                          [--prior STATE] [--cluster NAME] [--peer NAME]\n"
    "\n"
    "How workloads of a kind are held, stopped, started and judged in a move (docs/PROFILES.md). list and show give "
    "what\n"
    "comes with Baton; test tries a profile on an object from a file, without a cluster: is it valid, what it makes of "
    "the\n"
    "object, what it would say about it. Exit code 1 when it is not valid, or does not fit the object.\n"
    "\n"
    "  -f FILE          the MigrationProfile; a built-in one by its name: -f builtin:statefulset\n"
    "  --object FILE    the workload, as the hub or (with its status) as a member has it\n"
    "  --related FILE   a list of what is found beside it in the member: pods, claims, ConfigMaps\n"
    "  --stop N         judge it as stopped by epoch N; default: the object's own epoch, where it is held\n"
    "  --start N        judge it as started by epoch N; default: the object's own epoch, where it is not held\n"
    "  --ref STATE      the state it was, or is to be, started from\n"
    "  --prior STATE    what it called its state before the stop\n"
    "  --cluster, --peer NAME   the cluster it is in, and the other one of the move; default here and there\n"
    "\n"
    "Examples:\n"
    "  baton profile list\n"
    "  baton profile show statefulset > mine.yaml\n"
    "  baton profile test -f mine.yaml --object db.yaml\n"
    "  kubectl get sts db -o yaml > db.yaml && baton profile test -f builtin:statefulset --object db.yaml --stop 4\n";

Result<Value> ReadDocument(const std::string& path) {
  const std::string text = TRY(ReadTextFile(path));
  return json::ParseYaml(text).Context(StrCat("'", path, "'"));
}

Result<Value> ReadProfile(const std::string& path) {
  constexpr std::string_view kBuiltin = "builtin:";
  if (!path.starts_with(kBuiltin)) return ReadDocument(path);
  for (Value& profile : interpret::BuiltinProfiles()) {
    if (profile["metadata"]["name"].str() == path.substr(kBuiltin.size())) return std::move(profile);
  }
  return NotFoundError(StrCat("no built-in profile has the name '", path.substr(kBuiltin.size()), "'"));
}

int List() {
  for (const Value& object : interpret::BuiltinProfiles()) {
    const Value& spec = object["spec"];
    std::printf("%-18s %-12s %s %s%s\n", std::string(object["metadata"]["name"].str()).c_str(),
                std::string(spec["guarantee"].str()).c_str(), std::string(spec["target"]["apiVersion"].str()).c_str(),
                std::string(spec["target"]["kind"].str()).c_str(),
                spec["optIn"].bool_or(false) ? " (with rollout.karmada.io/managed: \"true\")" : "");
  }
  return 0;
}

int Show(const std::string& name) {
  const Result<Value> profile = ReadProfile(StrCat("builtin:", name));
  if (!profile.ok()) return Failure(kName, profile.error());
  std::fputs(json::PrintYaml(*profile).c_str(), stdout);
  return 0;
}

Result<int64_t> NumberOf(const Flags& flags, std::string_view name) {
  const std::string text = flags.Get(name);
  int64_t number = -1;
  if (text.empty()) return number;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0)
    return InvalidError(StrCat(name, ": '", text, "' is no epoch"));
  return number;
}

// Lists of kubectl, or a plain list; what belongs to which rule is told by the kind.
Result<Value> ReadRelated(const Flags& flags, const Profile& profile) {
  Value related = json::Object({{"remains", json::Array()}, {"kept", json::Array()}, {"probeUnavailable", true}});
  if (!flags.Has("--related")) return related;
  const Value file = TRY(ReadDocument(flags.Get("--related")));
  for (const Value& one : (file.is_array() ? file : file["items"]).items()) {
    bool known = false;
    for (const interpret::Related& rule : profile.related()) {
      if (rule.kind != one["kind"].str() || rule.api_version != one["apiVersion"].str()) continue;
      related.Edit(rule.keep ? "kept" : "remains").Push(one);
      known = true;
      break;
    }
    if (!known)
      return InvalidError(
          StrCat("--related: the profile does not look at ", one["apiVersion"].str(), " ", one["kind"].str(), "s"));
  }
  return related;
}

void PrintForm(const char* title, const Result<Value>& form) {
  if (!form.ok()) {
    std::printf("%s: %s\n\n", title, form.error().message().c_str());
    return;
  }
  Value shown = *form;
  shown.Erase("status");
  shown.Edit("metadata").Erase("managedFields");
  std::printf("%s:\n%s\n", title, json::PrintYaml(shown).c_str());
}

void Say(const char* what, bool holds, const std::string& missing, const std::string& failed) {
  std::printf("  %-14s %s\n", what, holds ? "yes" : "no");
  if (!missing.empty()) std::printf("  %-14s %s\n", "", missing.c_str());
  if (!failed.empty()) std::printf("  %-14s it cannot succeed: %s\n", "", failed.c_str());
}

void PrintJudgement(const Judgement& now, const Question& question) {
  std::printf("judged:\n");
  Say("held", now.held, "", "");
  Say("runs", now.runs, "", "");
  if (question.stop_seq >= 0) {
    Say("stop proven", now.stop_proven, now.stop_missing, now.stop_failed);
    std::printf("  %-14s %s\n", "capture", now.capture.empty() ? "none" : now.capture.c_str());
    std::printf("  %-14s %s\n", "progress", now.progress.empty() ? "unknown" : now.progress.c_str());
  }
  if (question.start_seq >= 0) Say("start proven", now.start_proven, now.start_missing, now.start_failed);
}

// Nothing that a move would stumble over later.
Result<void> CheckForms(const Profile& profile, const Value& object, const Question& question) {
  const Value held = TRY(profile.Held(object, question));
  if (!profile.IsHeld(held)) return InvalidError("what Hold makes does not count as held: IsHeld or hold is wrong");
  const Value stopping = TRY(profile.Stopping(object, question));
  if (!profile.IsHeld(stopping)) return InvalidError("what Stop makes does not count as held: stop must hold, too");
  const Value running = TRY(profile.Running(object, question));
  if (profile.IsHeld(running))
    return InvalidError("what Run makes counts as held: run does not take back what hold sets");
  if (profile.EpochOf(held) != question.seq) return InvalidError("the epoch is not where spec.epoch says");
  return {};
}

Result<int> Test(const Flags& flags) {
  const Value object = TRY(ReadProfile(TRY(flags.Required("-f"))));
  const std::shared_ptr<const Profile> profile = TRY(Profile::Compile(object));
  const Value workload = TRY(ReadDocument(TRY(flags.Required("--object"))));
  const interpret::KindName& kind = profile->kind();
  if (workload["apiVersion"].str() != kind.api_version || workload["kind"].str() != kind.kind)
    return InvalidError(StrCat("the profile is for ", kind.api_version, " ", kind.kind, ", and the object is a ",
                               workload["apiVersion"].str(), " ", workload["kind"].str()));
  Question question{.ref = flags.Get("--ref"),
                    .prior_path = flags.Get("--prior"),
                    .start_ref = flags.Get("--ref"),
                    .cluster = flags.Get("--cluster", "here"),
                    .peer = flags.Get("--peer", "there")};
  question.stop_seq = TRY(NumberOf(flags, "--stop"));
  question.start_seq = TRY(NumberOf(flags, "--start"));
  const int64_t own = profile->EpochOf(workload);
  if (question.stop_seq < 0 && question.start_seq < 0) {
    (profile->IsHeld(workload) ? question.stop_seq : question.start_seq) = std::max<int64_t>(own, 0);
  }
  question.seq = std::max<int64_t>(own, 0);
  question.state_dir = TRY(profile->StateDir(workload, StrCat("example-", question.seq)));
  std::printf("%s: valid, for %s %s, guarantee %s\n\n", profile->name().c_str(), kind.api_version.c_str(),
              kind.kind.c_str(), profile->guarantee().c_str());
  for (const std::string& problem : TRY(profile->Preflight(workload))) std::printf("preflight: %s\n", problem.c_str());
  PrintForm("held", profile->Held(workload, question));
  PrintForm("stopping", profile->Stopping(workload, question));
  PrintForm("running", profile->Running(workload, question));
  const Value related = TRY(ReadRelated(flags, *profile));
  PrintJudgement(TRY(profile->Judge(workload, related, question)), question);
  for (const Value& beside : TRY(profile->Beside(workload, related, question)))
    std::printf("\nbeside it:\n%s", json::PrintYaml(beside).c_str());
  const std::string missing = TRY(profile->Prepared(workload, related, question));
  if (!missing.empty()) std::printf("\nnot ready to be started: %s\n", missing.c_str());
  TRY(CheckForms(*profile, workload, question));
  return 0;
}

}  // namespace

int ProfileCommand(std::span<const std::string_view> arguments) {
  if (AsksForHelp(arguments)) return std::fputs(kHelp, stdout) >= 0 ? 0 : kFailed;
  Flags flags({{"-f", "FILE"},
               {"--object", "FILE"},
               {"--related", "FILE"},
               {"--stop", "N"},
               {"--start", "N"},
               {"--ref", "STATE"},
               {"--prior", "STATE"},
               {"--cluster", "NAME"},
               {"--peer", "NAME"}},
              2);
  if (const Result<void> parsed = flags.Parse(arguments); !parsed.ok()) return UsageError(kName, parsed.error());
  const std::vector<std::string>& words = flags.positional();
  if (words.size() == 1 && words[0] == "list") return List();
  if (words.size() == 2 && words[0] == "show") return Show(words[1]);
  if (words.size() != 1 || words[0] != "test")
    return UsageError(kName, InvalidError("say `list`, `show NAME`, or `test -f PROFILE --object OBJECT`"));
  const Result<int> tried = Test(flags);
  return tried.ok() ? *tried : Failure(kName, tried.error());
}

}  // namespace baton::cli
