// What the statuses of pods tell of restarts.
#include "rollout/restarts.h"

#include "kube/api.h"

namespace baton::rollout {

Restarts RestartsOf(const json::Value& objects) {
  Restarts restarts;
  for (const json::Value& one : objects.items()) {
    if (one["kind"].str() != "Pod" || kube::IsDeleting(one)) continue;
    int64_t& count = restarts[std::string(kube::UidOf(one))];
    for (const json::Value& container : one["status"]["containerStatuses"].items())
      count += container["restartCount"].int_or(0);
  }
  return restarts;
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
