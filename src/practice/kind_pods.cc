// A workload's pods: made, told ready, removed. What a kubelet and the controllers between would do.
#include <algorithm>
#include <utility>

#include "base/hash.h"
#include "base/strings.h"
#include "json/rfc3339.h"
#include "practice/job_manager.h"
#include "practice/kind_operator.h"

namespace baton::practice {

using json::Value;

namespace {
constexpr size_t kPodSuffix = 5;
constexpr size_t kHashDigits = 10;
}  // namespace

std::vector<Value> KindOperator::PodsOf(std::string_view key) const { return pods_.ByIndex("workload", key); }

std::string KindOperator::TemplateHash(const Value& object) const {
  return Sha256Hex(StrCat(spec_.Image(object), object["spec"]["template"].ToString())).substr(0, kHashDigits);
}

rt::Task<Result<void>> KindOperator::FitPods(Look& look, int64_t count) {
  std::vector<Value> pods = PodsOf(look.key);
  const std::string base(kube::NameOf(look.object));
  const auto named = [&](std::string_view name) {
    return std::ranges::any_of(pods, [&](const Value& pod) { return kube::NameOf(pod) == name; });
  };
  if (spec_.numbered) {
    const int64_t first = spec_.progress == ProgressPlace::kArchive ? 1 : 0;  // CloudNativePG counts from one
    for (int64_t i = first; i < first + count; ++i) {
      std::string name = StrCat(base, "-", i);
      if (!named(name)) CO_TRY(co_await CreatePod(look, std::move(name)));
    }
    // The last ones go first.
    for (auto pod = pods.rbegin(); pod != pods.rend(); ++pod) {
      const std::string_view name = kube::NameOf(*pod);
      bool wanted = false;
      for (int64_t i = first; i < first + count; ++i) wanted = wanted || name == StrCat(base, "-", i);
      if (wanted || kube::IsDeleting(*pod)) continue;
      const auto gone = co_await api_.Delete(Pods(), kube::Name::Of(*pod));
      if (!gone.ok() && gone.error().kind() != ErrorKind::kNotFound) co_return gone.error();
    }
    co_return Result<void>();
  }
  std::erase_if(pods, [](const Value& pod) { return kube::IsDeleting(pod); });
  for (auto i = static_cast<int64_t>(pods.size()); i < count; ++i) {
    std::string name = FilledPodName(base);
    const bool one = spec_.pod_name != "${name}" && count == 1;
    // A driver's name is always the same: while the last one goes, the next cannot come.
    if (one && !PodsOf(look.key).empty()) co_return Result<void>();
    if (!one) {
      name += '-';
      for (size_t digit = 0; digit < kPodSuffix; ++digit)
        name += "bcdfghjklmnpqrstvwxz2456789"[api_.loop().random().Below(27)];
    }
    CO_TRY(co_await CreatePod(look, std::move(name)));
  }
  for (auto i = count; i < static_cast<int64_t>(pods.size()); ++i) {
    const auto gone = co_await api_.Delete(Pods(), kube::Name::Of(pods[static_cast<size_t>(i)]));
    if (!gone.ok() && gone.error().kind() != ErrorKind::kNotFound) co_return gone.error();
  }
  co_return Result<void>();
}

std::string KindOperator::FilledPodName(std::string_view name) const {
  std::string text = spec_.pod_name;
  const size_t at = text.find("${name}");
  if (at != std::string::npos) text.replace(at, std::string_view("${name}").size(), name);
  return text;
}

// Those of an older template, or all: their process ends first.
rt::Task<Result<void>> KindOperator::RemovePods(Look& look, bool only_outdated) {
  const std::string hash = TemplateHash(look.object);
  for (const Value& pod : PodsOf(look.key)) {
    if (kube::IsDeleting(pod)) continue;
    if (only_outdated && pod["metadata"]["annotations"][kTemplateAnnotation].str() == hash) continue;
    const auto gone = co_await api_.Delete(Pods(), kube::Name::Of(pod), {.uid = std::string(kube::UidOf(pod))});
    if (!gone.ok() && gone.error().kind() != ErrorKind::kNotFound) co_return gone.error();
    // It is on its way out before its process ends, also when this operator dies meanwhile.
    KindLife& life = *look.life;
    if (life.job != nullptr && life.pod_uid == kube::UidOf(pod)) co_await EndProcess(look);
  }
  co_return Result<void>();
}

// Lets go of pods that are being deleted, or that belong to another object than `uid`; first their process ends.
rt::Task<Result<void>> KindOperator::ReleasePods(std::string key, std::string uid, KindLife* life) {
  for (const Value& pod : PodsOf(key)) {
    const bool deleting = kube::IsDeleting(pod);
    const bool foreign = pod["metadata"]["ownerReferences"][0]["uid"].str() != uid;
    if (!deleting && !foreign) continue;
    if (life->pod_uid == kube::UidOf(pod)) {
      if (life->job != nullptr) life->job->on_change = nullptr;
      life->job = nullptr;  // killed: its pod was deleted by somebody
      life->pod_uid.clear();
    }
    if (!deleting) {
      const auto gone = co_await api_.Delete(Pods(), kube::Name::Of(pod), {.uid = std::string(kube::UidOf(pod))});
      if (!gone.ok() && gone.error().kind() != ErrorKind::kNotFound) co_return gone.error();
    }
    const auto released = co_await api_.Patch(Pods(), kube::Name::Of(pod), kube::PatchType::kMerge,
                                              json::Object({{"metadata", json::Object({{"finalizers", nullptr}})}}));
    if (!released.ok() && released.error().kind() != ErrorKind::kNotFound) co_return released.error();
  }
  co_return Result<void>();
}

rt::Task<Result<void>> KindOperator::CreatePod(const Look& look, std::string name) {
  Value labels = spec_.PodLabels(look.object);
  labels.Set(kKindLabel, ToLower(spec_.resource.kind));
  const std::string image = spec_.Image(look.object);
  const Value owner = json::Object({{"apiVersion", kube::ApiVersionOf(look.object)},
                                    {"kind", spec_.resource.kind},
                                    {"name", kube::NameOf(look.object)},
                                    {"uid", kube::UidOf(look.object)},
                                    {"blockOwnerDeletion", true},
                                    {"controller", true}});
  Value metadata =
      json::Object({{"name", name},
                    {"namespace", kube::NamespaceOf(look.object)},
                    {"labels", labels},
                    {"annotations", json::Object({{"practice.baton.io/workload", kube::NameOf(look.object)},
                                                  {kTemplateAnnotation, TemplateHash(look.object)}})},
                    {"finalizers", json::Array({kPodFinalizer})},
                    {"ownerReferences", json::Array({owner})}});
  const Value container = json::Object({{"name", "main"}, {"image", image.empty() ? "practice" : image}});
  Value pod = json::Object(
      {{"apiVersion", "v1"},
       {"kind", "Pod"},
       {"metadata", std::move(metadata)},
       {"spec", json::Object({{"nodeName", StrCat(cluster_, "-node-1")}, {"containers", json::Array({container})}})}});
  Result<Value> made = co_await api_.Create(Pods(), std::move(pod));
  if (!made.ok()) {
    if (made.error().kind() == ErrorKind::kAlreadyExists) co_return Result<void>();  // it goes yet, or is known soon
    co_return made.error();
  }
  pods_.Learn(*made);
  co_return Result<void>();
}

rt::Task<Result<void>> KindOperator::SetPods(const Look& look, std::string waiting) {
  const bool ready = waiting.empty();
  const int restarts = look.life->restarts;
  for (Value pod : PodsOf(look.key)) {
    if (kube::IsDeleting(pod)) continue;
    const Value& before = pod["status"]["containerStatuses"][0];
    if (before["ready"].bool_or(false) == ready && before["restartCount"].int_or(-1) == restarts &&
        before["state"]["waiting"]["reason"].str() == waiting) {
      continue;
    }
    const std::string now = json::FormatTime(api_.loop().WallNow());
    const Value state = ready ? json::Object({{"running", json::Object({{"startedAt", now}})}})
                              : json::Object({{"waiting", json::Object({{"reason", waiting}})}});
    const Value& image = pod["spec"]["containers"][0]["image"];
    Value& status = pod.Edit("status");
    status.Set("phase", ready ? "Running" : "Pending");
    status.Set("conditions", json::Array({json::Object({{"type", "Ready"}, {"status", ready ? "True" : "False"}})}));
    status.Set("containerStatuses", json::Array({json::Object({{"name", "main"},
                                                               {"ready", ready},
                                                               {"image", image},
                                                               {"imageID", ""},
                                                               {"restartCount", restarts},
                                                               {"state", state}})}));
    const Result<Value> written = co_await api_.UpdateStatus(Pods(), std::move(pod));
    if (!written.ok() && written.error().kind() != ErrorKind::kNotFound) co_return written.error();
    if (written.ok()) pods_.Learn(*written);
  }
  co_return Result<void>();
}

}  // namespace baton::practice
