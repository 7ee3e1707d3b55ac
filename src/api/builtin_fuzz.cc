// Fuzz: any JSON through what is particular about built-in kinds. The first byte chooses the kind. Nothing crashes,
// defaults are filled in once, a row has a cell for each column, and what is refused is refused again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "api/builtin_behaviour.h"
#include "api/cron.h"
#include "json/parse.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace baton;  // NOLINT(google-build-using-namespace)
  static constexpr std::pair<std::string_view, std::string_view> kKinds[] = {
      {"", "Pod"},
      {"apps", "Deployment"},
      {"apps", "StatefulSet"},
      {"apps", "DaemonSet"},
      {"batch", "Job"},
      {"batch", "CronJob"},
      {"", "Service"},
      {"", "Secret"},
      {"", "PersistentVolumeClaim"},
      {"", "LimitRange"},
      {"", "Event"},
      {"autoscaling", "HorizontalPodAutoscaler"},
      {"networking.k8s.io", "Ingress"},
      {"networking.k8s.io", "NetworkPolicy"},
      {"rbac.authorization.k8s.io", "RoleBinding"},
      {"admissionregistration.k8s.io", "MutatingWebhookConfiguration"}};
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  (void)api::CheckCronSchedule(text);
  Result<json::Value> parsed = json::Parse(text);
  if (!parsed.ok()) return 0;
  const auto& [group, kind] = kKinds[data[0] % std::size(kKinds)];
  const api::BuiltinBehaviour behaviour = api::BehaviourOf(group, kind);
  json::Value object = *parsed;
  if (behaviour.default_fields != nullptr) {
    behaviour.default_fields(object);
    json::Value again = object;
    behaviour.default_fields(again);
    if (!(again == object)) abort();
  }
  if (behaviour.prepare != nullptr) behaviour.prepare(object, nullptr);
  if (behaviour.validate(object, nullptr).size() != behaviour.validate(object, nullptr).size()) abort();
  (void)behaviour.validate(object, &*parsed);
  if (behaviour.cells(object, WallTime()).size() != behaviour.columns.size()) abort();
  return 0;
}
