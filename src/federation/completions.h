// Completions: what each cluster gets of a divided Job. Its parallelism is divided by the schedule; its completions are
// divided in proportion to that, as Karmada does, or every cluster would do the whole work.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "json/value.h"

namespace baton::federation {

// The completions of that cluster; nothing when the template is no Job with completions, its replicas are not Divided,
// or the cluster is none of spec.clusters.
std::optional<int32_t> CompletionsFor(const json::Value& binding, const json::Value& object, std::string_view cluster);

}  // namespace baton::federation
