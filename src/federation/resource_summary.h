// What a cluster's nodes offer and what its pods take: status.nodeSummary and status.resourceSummary.
#pragma once

#include "json/value.h"
#include "kube/informer.h"

namespace baton::federation {

// allocatable: the sum over nodes; allocated: what pods on nodes ask for; allocating: what pods without a node ask for.
void FillResourceSummary(const kube::Informer& nodes, const kube::Informer& pods, json::Value& status);

}  // namespace baton::federation
