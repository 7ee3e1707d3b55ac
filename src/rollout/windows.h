// When a workload may be stopped: spec.notBefore and spec.windows of a migration. Windows allow; outside of them a move
// is prepared and waits, for as long as it takes.
#pragma once

#include <string>

#include "base/result.h"
#include "base/time.h"
#include "json/value.h"

namespace baton::rollout {

// What is waited for at that time, in words ("the cutover window, which opens at 2026-11-21T22:00:00Z"); "": nothing.
Result<std::string> WaitingForWindow(const json::Value& spec, WallTime now);

}  // namespace baton::rollout
