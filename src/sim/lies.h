// An operator that lies for a while: it says that all is as the spec wants it, and that it has seen the newest one,
// whatever it has done. The state that it names stays the true one: a path is not made up. Pods, Deployments and
// snapshots are what they are.
//
// The lie is told in the door of the controllers: what the operator itself has written, and goes by, is the truth.
#pragma once

#include <memory>

#include "json/value.h"
#include "kube/api.h"
#include "rt/task.h"

namespace baton::sim {

// What is told of a FlinkDeployment then; of anything else the truth.
json::Value LieAbout(json::Value object);

// What comes through a watch, with lies for as long as `lies` says so; it outlives the watch.
std::unique_ptr<kube::Watch> LyingWatch(std::unique_ptr<kube::Watch> below, const bool& lies);

rt::Task<Result<kube::Answer>> LyingAnswer(rt::Task<Result<kube::Answer>> truth);

}  // namespace baton::sim
