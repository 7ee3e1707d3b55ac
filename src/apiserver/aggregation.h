// Aggregated ClusterRoles: their rules are those of the roles that they select, and are written into them so that
// people see them.
#pragma once

#include "apiserver/core.h"
#include "json/value.h"
#include "rt/task.h"

namespace baton::apiserver {

// The rules that a role gives now: its own, or for one with an aggregationRule the union of those it selects.
json::Value EffectiveRules(Core& core, const json::Value& role);

// Keeps the stored rules of aggregated roles what they are. Until dropped.
rt::Task<void> KeepAggregatedRoles(Core& core);

}  // namespace baton::apiserver
