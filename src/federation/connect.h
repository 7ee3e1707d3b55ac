// The way to a member over HTTPS, from its Cluster object and its Secret.
//
// Two forms of Secret are read: Karmada's (`token` and `caBundle`, with spec.apiEndpoint), and ours (`kubeconfig`,
// whole, with everything embedded). A kubeconfig that names files or programs of this machine is refused: it came over
// the network.
#pragma once

#include "federation/members.h"
#include "rt/real_loop.h"

namespace baton::federation {

Connect ConnectOverHttps(rt::RealLoop& loop);

}  // namespace baton::federation
