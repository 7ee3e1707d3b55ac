// Wishes: what a person wrote beside a workload for the practice job, as annotations practice.baton.io/<name>.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>

#include "base/strings.h"
#include "json/quantity.h"
#include "json/value.h"
#include "practice/flink_spec.h"
#include "practice/job.h"
#include "practice/source.h"

namespace baton::practice {

inline double NumberIn(std::string_view text, double fallback) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number >= 0 ? number : fallback;
}

class Wishes {
 public:
  explicit Wishes(const json::Value& object) : annotations_(object["metadata"]["annotations"]) {}
  std::string_view Text(std::string_view name) const { return annotations_[StrCat("practice.baton.io/", name)].str(); }
  double Number(std::string_view name, double fallback) const { return NumberIn(Text(name), fallback); }
  uint64_t Bytes(std::string_view name, uint64_t fallback) const {
    const Result<json::Quantity> quantity = json::Quantity::Parse(Text(name));
    const int64_t bytes = quantity.ok() ? quantity->Value().value_or(int64_t{-1}) : -1;
    return bytes < 0 ? fallback : static_cast<uint64_t>(bytes);
  }
  Duration Time(std::string_view name, Duration fallback) const {
    return Text(name).empty() ? fallback : ParseFlinkDuration(Text(name)).value_or(fallback);
  }
  // All that is the same for every kind of workload.
  void Fill(JobConfig& config) const {
    config.start_latest = Text("start-from") == "latest";
    if (!Text("sink").empty()) config.exactly_once = Text("sink") != "at-least-once";
    config.start_time = Time("start-time", config.start_time);
    config.stop_time = Time("stop-time", config.stop_time);
    config.state_bytes = Bytes("state-size", config.state_bytes);
    config.bytes_per_second = std::max<uint64_t>(1, Bytes("state-speed", config.bytes_per_second));
    config.source.partitions =
        static_cast<uint32_t>(std::clamp(Number("partitions", config.source.partitions), 1.0, double{kPartitionsMax}));
    config.source.keys = static_cast<uint32_t>(std::clamp(Number("keys", config.source.keys), 1.0, double{kKeysMax}));
    config.source.rate = Number("rate", config.source.rate);
  }

 private:
  const json::Value& annotations_;
};

}  // namespace baton::practice
