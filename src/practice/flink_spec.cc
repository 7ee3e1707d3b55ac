// Reading, comparing and validating specs.
#include "practice/flink_spec.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/strings.h"
#include "json/parse.h"
#include "json/print.h"

namespace baton::practice {

using json::Value;

namespace {

constexpr size_t kNameMax = 45;
constexpr size_t kConfigDepthMax = 32;

// Arrays are joined with ';' and objects flattened with '.', as the operator does since 1.13.
void Flatten(const Value& value, const std::string& prefix, size_t depth,
             std::map<std::string, std::string, std::less<>>& out) {
  if (value.is_object() && depth < kConfigDepthMax) {
    for (const json::Member& member : value.members()) {
      Flatten(member.value(), prefix.empty() ? std::string(member.key()) : StrCat(prefix, ".", member.key()), depth + 1,
              out);
    }
    return;
  }
  std::string text;
  if (value.is_array()) {
    for (const Value& item : value.items()) {
      StrAppend(text, text.empty() ? "" : ";", item.is_string() ? std::string(item.str()) : json::Print(item));
    }
  } else {
    text = value.is_string() ? std::string(value.str()) : json::Print(value);
  }
  if (!value.is_null()) out[prefix] = text;
}

std::optional<int64_t> NumberOf(const Value& value) {
  return value.is_int() ? std::optional(value.int_or(0)) : std::nullopt;
}

bool IgnorableKey(std::string_view key) {
  return key.starts_with("kubernetes.operator") || key.starts_with("job.autoscaler") ||
         key.starts_with("parallelism.default");
}

// The spec without all that makes no upgrade.
Value Essence(const FlinkSpec& spec) {
  Value essence = spec.raw;
  if (spec.has_job) {
    Value& job = essence.Edit("job");
    for (const std::string_view field :
         {"upgradeMode", "initialSavepointPath", "allowNonRestoredState", "savepointTriggerNonce",
          "checkpointTriggerNonce", "autoscalerResetNonce", "savepointRedeployNonce"}) {
      job.Erase(field);
    }
  }
  essence.Erase("ingress");
  essence.Erase("restartNonce");
  Value config = json::Object();
  for (const auto& [key, value] : spec.config) {
    if (!IgnorableKey(key)) config.Set(key, value);
  }
  essence.Set("flinkConfiguration", config);
  return essence;
}

bool ValidName(std::string_view name) {
  const auto lower = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto inner = [&](char c) { return lower(c) || (c >= '0' && c <= '9'); };
  return !name.empty() && name.size() <= kNameMax && lower(name.front()) && inner(name.back()) &&
         std::ranges::all_of(name, [&](char c) { return inner(c) || c == '-'; });
}

bool SupportedVersion(std::string_view version) {
  constexpr std::array<std::string_view, 11> kVersions = {"v1_15", "v1_16", "v1_17", "v1_18", "v1_19", "v1_20",
                                                          "v2_0",  "v2_1",  "v2_2",  "v2_3",  "v2_4"};
  return std::ranges::find(kVersions, version) != kVersions.end();
}

std::optional<std::string> ValidateJob(const FlinkSpec& spec) {
  const Value& job = spec.raw["job"];
  if (job["parallelism"].is_int() && job["parallelism"].int_or(1) < 1 &&
      !spec.raw["taskManager"]["replicas"].is_int()) {
    return "Job parallelism must be larger than 0";
  }
  if (spec.mode == UpgradeMode::kLastState || spec.mode == UpgradeMode::kSavepoint) {
    if (spec.CheckpointDir().empty()) {
      return "Checkpoint directory[execution.checkpointing.dir] must be defined for last-state and savepoint upgrade "
             "modes";
    }
  }
  if (spec.mode == UpgradeMode::kSavepoint && spec.SavepointDir().empty()) {
    return "Job could not be upgraded with savepoint while config key[execution.checkpointing.savepoint-dir] is not "
           "set";
  }
  return std::nullopt;
}

std::optional<std::string> ValidateChange(const FlinkSpec& spec, const FlinkSpec& last) {
  if (last.has_job && !spec.has_job) return "Cannot switch from job to session cluster";
  if (!last.has_job && spec.has_job) return "Cannot switch from session to job cluster";
  if (last.native != spec.native) {
    return last.native ? "Cannot switch from native kubernetes to standalone kubernetes cluster"
                       : "Cannot switch from standalone kubernetes to native kubernetes cluster";
  }
  if (!spec.has_job) return std::nullopt;
  if (spec.redeploy_nonce && spec.redeploy_nonce != last.redeploy_nonce && spec.initial_savepoint.empty()) {
    return "InitialSavepointPath must not be empty for savepoint redeployment";
  }
  if (last.suspended && last.mode == UpgradeMode::kLastState && last.flink_version != spec.flink_version) {
    return "Changing flinkVersion after last-state suspend is not allowed. Restore your cluster with the current "
           "flinkVersion before upgrading.";
  }
  return std::nullopt;
}

}  // namespace

std::string_view UpgradeModeName(UpgradeMode mode) {
  switch (mode) {
    case UpgradeMode::kStateless:
      return "stateless";
    case UpgradeMode::kSavepoint:
      return "savepoint";
    case UpgradeMode::kLastState:
      return "last-state";
  }
  return "";
}

UpgradeMode UpgradeModeFrom(std::string_view name) {
  if (name == "savepoint") return UpgradeMode::kSavepoint;
  return name == "last-state" ? UpgradeMode::kLastState : UpgradeMode::kStateless;
}

FlinkSpec FlinkSpec::From(const Value& spec) {
  FlinkSpec out;
  out.raw = spec.is_object() ? spec : json::Object();
  out.has_job = spec["job"].is_object();
  if (out.has_job) {
    const Value& job = spec["job"];
    out.suspended = job["state"].str() == "suspended";
    out.mode = UpgradeModeFrom(job["upgradeMode"].str());
    out.initial_savepoint = job["initialSavepointPath"].str();
    out.redeploy_nonce = NumberOf(job["savepointRedeployNonce"]);
    Value& filled = out.raw.Edit("job");
    filled.Set("state", out.suspended ? "suspended" : "running");
    filled.Set("upgradeMode", UpgradeModeName(out.mode));
  }
  out.flink_version = spec["flinkVersion"].str();
  out.native = spec["mode"].str() != "standalone";
  Flatten(spec["flinkConfiguration"], "", 0, out.config);
  return out;
}

std::string_view FlinkSpec::Get(std::string_view key, std::string_view older) const {
  for (const std::string_view name : {key, older}) {
    if (name.empty()) continue;
    const auto at = config.find(name);
    if (at != config.end()) return at->second;
  }
  return {};
}

bool FlinkSpec::Flag(std::string_view key, bool fallback) const {
  const std::string text = ToLower(Trim(Get(key)));
  return text.empty() ? fallback : text == "true";
}

Duration FlinkSpec::Time(std::string_view key, Duration fallback) const {
  const std::string_view text = Get(key);
  return text.empty() ? fallback : ParseFlinkDuration(text).value_or(fallback);
}

bool FlinkSpec::HighAvailability() const {
  const std::string type = ToLower(Get("high-availability.type", "high-availability"));
  return !type.empty() && type != "none";
}

std::optional<Duration> ParseFlinkDuration(std::string_view text) {
  text = Trim(text);
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0) return std::nullopt;
  const std::string unit = ToLower(Trim(text.substr(static_cast<size_t>(end - text.data()))));
  struct Unit {
    std::string_view name;
    Duration length;
  };
  static constexpr auto kUnits = std::to_array<Unit>({
      {"", milliseconds(1)},
      {"ms", milliseconds(1)},
      {"milli", milliseconds(1)},
      {"millis", milliseconds(1)},
      {"millisecond", milliseconds(1)},
      {"milliseconds", milliseconds(1)},
      {"s", seconds(1)},
      {"sec", seconds(1)},
      {"secs", seconds(1)},
      {"second", seconds(1)},
      {"seconds", seconds(1)},
      {"m", minutes(1)},
      {"min", minutes(1)},
      {"minute", minutes(1)},
      {"minutes", minutes(1)},
      {"h", hours(1)},
      {"hour", hours(1)},
      {"hours", hours(1)},
      {"d", hours(24)},
      {"day", hours(24)},
      {"days", hours(24)},
      {"us", microseconds(1)},
      {"micro", microseconds(1)},
      {"micros", microseconds(1)},
      {"ns", nanoseconds(1)},
      {"nano", nanoseconds(1)},
      {"nanos", nanoseconds(1)},
  });
  for (const Unit& known : kUnits) {
    if (known.name != unit) continue;
    if (number > Duration::max().count() / known.length.count()) return std::nullopt;
    return known.length * number;
  }
  return std::nullopt;
}

SpecDiff DiffSpecs(const FlinkSpec& last, const FlinkSpec& now) {
  if (now.redeploy_nonce && now.redeploy_nonce != last.redeploy_nonce) return SpecDiff::kSavepointRedeploy;
  const Value& restart = now.raw["restartNonce"];
  if (!restart.is_null() && restart != last.raw["restartNonce"]) return SpecDiff::kUpgrade;
  if (Essence(last) != Essence(now)) return SpecDiff::kUpgrade;
  return last.raw == now.raw ? SpecDiff::kNone : SpecDiff::kIgnorable;
}

std::optional<std::string> ValidateFlink(std::string_view name, const FlinkSpec& spec,
                                         const std::optional<FlinkSpec>& last) {
  if (!ValidName(name)) {
    return StrCat("The FlinkDeployment name: ", name,
                  " is invalid, must consist of lower case alphanumeric characters or '-', start with an alphabetic "
                  "character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123'), and the length "
                  "must be no more than 45 characters.");
  }
  if (spec.flink_version.empty()) return "Flink Version must be defined.";
  if (!SupportedVersion(spec.flink_version)) return StrCat("Flink version ", spec.flink_version, " is not supported.");
  for (const std::string_view key : {"kubernetes.namespace", "kubernetes.cluster-id", "high-availability.cluster-id"}) {
    if (spec.config.contains(key)) return StrCat("Forbidden Flink config key: ", key);
  }
  const int64_t replicas = spec.raw["jobManager"]["replicas"].int_or(1);
  if (replicas < 1) return "JobManager replicas should not be configured less than one.";
  if (replicas > 1 && !spec.HighAvailability()) {
    return "High availability should be enabled when starting standby JobManagers.";
  }
  if (spec.has_job) {
    if (auto wrong = ValidateJob(spec)) return wrong;
  }
  return last ? ValidateChange(spec, *last) : std::nullopt;
}

}  // namespace baton::practice
