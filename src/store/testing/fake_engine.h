// FakeDisk and its engine: a log that survives its store, takes (virtual) time, and fails as told. For tests of the
// store itself; it also checks that the store keeps the engine's contract.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "base/time.h"
#include "store/engine.h"
#include "store/log_format.h"

namespace baton::store {

struct FakeDisk {
  enum class Fate : uint8_t {
    kWorks,
    kFails,        // nothing is on disk
    kFailsButIs,   // all is on disk, and the caller is told that it failed
    kFailsNoSpace  // as kFails, with kNoSpace
  };
  std::function<Fate()> fate = [] { return Fate::kWorks; };
  std::function<Duration()> latency = [] { return milliseconds(1); };

  std::map<LogPlace, LogEntry> log;
  std::map<LogPlace, LogEntry> ever;  // as log, and nothing is compacted: the truth to compare with
  Revision compacted;
  Revision newest;
  std::optional<Revision> uncertain;  // see Engine::Write
  bool in_use = false;
  int writes = 0;  // calls of Write that succeeded
};

std::unique_ptr<Engine> MakeFakeEngine(rt::Loop& loop, std::shared_ptr<FakeDisk> disk);

}  // namespace baton::store
