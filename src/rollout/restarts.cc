// What the statuses of pods tell of restarts.
#include "rollout/restarts.h"

#include <algorithm>

#include "kube/api.h"

namespace baton::rollout {

// Its next life is to come. A life that has ended is counted as a restart only when that begins: until then it shows as
// the state, and while the next one is put off as the last state. What is done is done, as in the pods of a Job.
static bool IsBetweenLives(const json::Value& pod, const json::Value& container) {
  const std::string_view phase = pod["status"]["phase"].str();
  const std::string_view policy = pod["spec"]["restartPolicy"].str();
  if (phase == "Succeeded" || phase == "Failed" || policy == "Never") return false;
  const json::Value& state = container["state"];
  if (state.Has("waiting")) return container["lastState"].Has("terminated");
  return state.Has("terminated") && (policy != "OnFailure" || state["terminated"]["exitCode"].int_or(0) != 0);
}

Restarts RestartsOf(const json::Value& objects) {
  Restarts restarts;
  for (const json::Value& one : objects.items()) {
    if (one["kind"].str() != "Pod" || kube::IsDeleting(one)) continue;
    int64_t& count = restarts[std::string(kube::UidOf(one))];
    for (const json::Value& container : one["status"]["containerStatuses"].items())
      count += container["restartCount"].int_or(0) + (IsBetweenLives(one, container) ? 1 : 0);
  }
  return restarts;
}

bool IsBetweenLives(const json::Value& objects) {
  return std::ranges::any_of(objects.items(), [](const json::Value& one) {
    return one["kind"].str() == "Pod" && !kube::IsDeleting(one) &&
           std::ranges::any_of(one["status"]["containerStatuses"].items(),
                               [&](const json::Value& container) { return IsBetweenLives(one, container); });
  });
}

bool HasRestarted(const Restarts& before, const Restarts& now) {
  bool one_stays = before.empty();
  for (const auto& [uid, count] : before) {
    const auto at = now.find(uid);
    if (at == now.end()) continue;
    if (at->second > count) return true;
    one_stays = true;
  }
  return !one_stays;
}

}  // namespace baton::rollout
