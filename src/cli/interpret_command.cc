// The command line of the resource interpreter.
#include "cli/interpret_command.h"

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>

#include "base/result.h"
#include "base/strings.h"
#include "cli/flags.h"
#include "interpret/question.h"
#include "json/yaml.h"

namespace baton::cli {

namespace {

using interpret::Interpreter;
using interpret::Level;
using interpret::Operation;
using json::Value;

constexpr const char* kName = "interpret";

constexpr const char* kHelp =
    "Usage: baton interpret [-f CUSTOMIZATION] --operation OPERATION [--observed FILE] [--desired FILE]\n"
    "                       [--items FILE] [--replicas N]\n"
    "\n"
    "What Baton's resource interpreter says about an object, as YAML on standard output. With -f the scripts of a\n"
    "ResourceInterpreterCustomization are checked and asked first, as they would be on a hub; without it, or where it\n"
    "has no script for the operation, what is built in answers. What scripts print() goes to standard error.\n"
    "\n"
    "  -f FILE            the ResourceInterpreterCustomization\n"
    "  --operation NAME   InterpretReplica, InterpretComponent, ReviseReplica, Retain, InterpretStatus,\n"
    "                     AggregateStatus, InterpretHealth or InterpretDependency; the name of a script's block\n"
    "                     (healthInterpretation) or of its function (GetReplicas) will do\n"
    "  --observed FILE    the object as the member has it\n"
    "  --desired FILE     the object as the hub wants it: for Retain, and instead of --observed for all but\n"
    "                     InterpretStatus and InterpretHealth\n"
    "  --items FILE       for AggregateStatus: a binding, or the list that is its status.aggregatedStatus\n"
    "  --replicas N       for ReviseReplica\n";

Result<Value> ReadDocument(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "re");
  if (file == nullptr) return InvalidError(StrCat("'", path, "' cannot be read: ", std::strerror(errno)));
  std::string text;
  char buffer[4096];
  for (size_t got = 0; (got = std::fread(buffer, 1, sizeof buffer, file)) > 0;) {
    text.append(buffer, got);
    if (text.size() > json::kMaxYamlBytes) break;  // the parser says so
  }
  std::fclose(file);
  return json::ParseYaml(text).Context(StrCat("'", path, "'"));
}

WallTime Now() {
  return WallTime(std::chrono::duration_cast<Duration>(std::chrono::system_clock::now().time_since_epoch()));
}

void PrintToStderr(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); }

const char* LevelName(Level level) {
  switch (level) {
    case Level::kCustomization:
      return "the customization";
    case Level::kWebhook:
      return "a webhook";
    case Level::kThirdParty:
      return "what is built in for kinds of others";
    case Level::kNative:
      return "what is built in for Kubernetes' own kinds";
    case Level::kNone:
      return "nobody: this is what holds for a kind without a hook";
  }
  return "";
}

Result<Operation> OperationOf(const Flags& flags) {
  const std::string name = TRY(flags.Required("--operation"));
  const auto operation = interpret::FindOperation(name);
  if (!operation) return InvalidError(StrCat("--operation: there is no operation '", name, "'"));
  return *operation;
}

// Which files the operation needs, and what is in them.
Result<interpret::InterpretQuestion> ReadQuestion(const Flags& flags, Operation operation) {
  interpret::InterpretQuestion question;
  question.operation = operation;
  const bool of_member = operation == Operation::kHealth || operation == Operation::kReflect;
  const bool retain = operation == Operation::kRetain;
  if (retain || (!of_member && flags.Has("--desired"))) {
    question.object = TRY(ReadDocument(TRY(flags.Required("--desired"))));
  } else {
    question.object = TRY(ReadDocument(TRY(flags.Required("--observed"))));
  }
  if (retain) question.observed = TRY(ReadDocument(TRY(flags.Required("--observed"))));
  if (operation == Operation::kAggregate) {
    const Value items = TRY(ReadDocument(TRY(flags.Required("--items"))));
    question.items = items.is_object() ? items["status"]["aggregatedStatus"] : items;
  }
  if (operation == Operation::kRevise) {
    const std::string text = TRY(flags.Required("--replicas"));
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), question.replicas);
    if (error != std::errc() || end != text.data() + text.size() || question.replicas < 0)
      return InvalidError(StrCat("--replicas: '", text, "' is no number of replicas"));
  }
  return question;
}

Result<void> SetCustomization(Interpreter& interpreter, const std::string& path) {
  Value customization = TRY(ReadDocument(path));
  // One that is tried may not have a name yet.
  if (customization["metadata"]["name"].str().empty() && customization.is_object())
    customization.Edit("metadata").Set("name", "tried");
  return interpreter.SetCustomization(customization).Context(StrCat("'", path, "'"));
}

int Ask(Interpreter& interpreter, const interpret::InterpretQuestion& question) {
  const Result<Value> answer = interpret::Answer(interpreter, question);
  if (!answer.ok()) return Failure(kName, answer.error());
  const interpret::KindName kind{std::string(question.object["apiVersion"].str()),
                                 std::string(question.object["kind"].str())};
  PrintToStderr(StrCat("answered by ", LevelName(interpreter.LevelOf(kind, question.operation)), "\n"));
  const std::string text = json::PrintYaml(*answer);
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0 : kFailed;
}

}  // namespace

int InterpretCommand(std::span<const std::string_view> arguments) {
  if (AsksForHelp(arguments)) return std::fputs(kHelp, stdout) >= 0 ? 0 : kFailed;
  Flags flags({{"-f", "FILE"},
               {"--operation", "NAME"},
               {"--observed", "FILE"},
               {"--desired", "FILE"},
               {"--items", "FILE"},
               {"--replicas", "N"}});
  if (const Result<void> parsed = flags.Parse(arguments); !parsed.ok()) return UsageError(kName, parsed.error());
  const Result<Operation> operation = OperationOf(flags);
  if (!operation.ok()) return UsageError(kName, operation.error());
  Interpreter interpreter({.now = Now, .on_print = PrintToStderr});
  if (flags.Has("-f")) {
    if (const Result<void> set = SetCustomization(interpreter, flags.Get("-f")); !set.ok())
      return Failure(kName, set.error());
  }
  const Result<interpret::InterpretQuestion> question = ReadQuestion(flags, *operation);
  if (!question.ok()) return Failure(kName, question.error());
  return Ask(interpreter, *question);
}

}  // namespace baton::cli
