// A scene as a test: what is wrong fails it.
//
//   Simulate(seed, [](Scene& scene) -> rt::Task<void> { ... });
#pragma once

#include <gtest/gtest.h>

#include "rt/test_support.h"
#include "sim/scene.h"

namespace baton::sim {

inline void Simulate(uint64_t seed, const ScenePlay& play, kube::FaultPlan* plan = nullptr) {
  for (const std::string& problem : Play(seed, play, plan)) ADD_FAILURE() << "seed " << seed << ": " << problem;
}

}  // namespace baton::sim
