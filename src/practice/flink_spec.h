// FlinkSpec: what of a FlinkDeployment's spec the operator decides by, with Flink's defaults filled in; how two specs
// differ; and what is no valid spec. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "json/value.h"

namespace baton::practice {

enum class UpgradeMode : uint8_t { kStateless, kSavepoint, kLastState };
std::string_view UpgradeModeName(UpgradeMode mode);  // "last-state"
UpgradeMode UpgradeModeFrom(std::string_view name);  // what is unknown is stateless, Flink's default

struct FlinkSpec {
  json::Value raw;  // with job.state and job.upgradeMode filled in
  bool has_job = false;
  bool suspended = false;
  UpgradeMode mode = UpgradeMode::kStateless;
  std::string initial_savepoint;
  std::optional<int64_t> redeploy_nonce;
  std::string flink_version;
  bool native = true;
  std::map<std::string, std::string, std::less<>> config;  // flinkConfiguration, flat

  static FlinkSpec From(const json::Value& spec);

  // The newer name of a key, then its older one; "" when neither is set.
  std::string_view Get(std::string_view key, std::string_view older = {}) const;
  bool Flag(std::string_view key, bool fallback) const;
  Duration Time(std::string_view key, Duration fallback) const;
  std::string_view SavepointDir() const { return Get("execution.checkpointing.savepoint-dir", "state.savepoints.dir"); }
  std::string_view CheckpointDir() const { return Get("execution.checkpointing.dir", "state.checkpoints.dir"); }
  bool HighAvailability() const;
};

// Flink's durations: "10 min", "30s", "1 d", "500" (milliseconds).
std::optional<Duration> ParseFlinkDuration(std::string_view text);

// In ascending order: the greatest difference counts.
enum class SpecDiff : uint8_t { kNone, kIgnorable, kUpgrade, kSavepointRedeploy };
SpecDiff DiffSpecs(const FlinkSpec& last, const FlinkSpec& now);

// The operator's complaint, or none. `last` is what was deployed before, if anything.
std::optional<std::string> ValidateFlink(std::string_view name, const FlinkSpec& spec,
                                         const std::optional<FlinkSpec>& last);

}  // namespace baton::practice
