// What the server does to an object before it is validated: a new object's status is the kind's first one whatever the
// client sent, write-only fields are folded in, and fields that the server owns are set.
//
// An update's status is not touched here: the server keeps it from the old object, but for the status subresource.
#include <algorithm>
#include <charconv>
#include <map>
#include <string>

#include "api/builtin_kinds.h"
#include "base/strings.h"
#include "json/quantity.h"

namespace baton::api::builtin {
namespace {

constexpr std::string_view kUidLabel = "batch.kubernetes.io/controller-uid";

void ResetStatus(Value& object, const Value* old, Value status) {
  if (old == nullptr && object.is_object()) object.Set("status", std::move(status));
}

// ---- quality of service ----

using Sums = std::map<std::string_view, json::Quantity>;

// Adds cpu and memory; false when an amount is missing. Amounts of 0 are as if they were not there.
bool AddCompute(Sums& sums, const Value& list) {
  size_t found = 0;
  for (std::string_view name : {"cpu", "memory"}) {
    Result<json::Quantity> quantity = json::Quantity::FromJson(list[name]);
    if (!quantity.ok() || quantity->Sign() <= 0) continue;
    ++found;
    Result<json::Quantity> sum = sums[name].Add(*quantity);
    if (sum.ok()) sums[name] = *sum;
  }
  return found == 2;
}

std::string_view QosClass(const Value& spec) {
  Sums requests;
  Sums limits;
  bool guaranteed = true;
  const auto add = [&](const Value& resources) {
    AddCompute(requests, resources["requests"]);
    if (!AddCompute(limits, resources["limits"])) guaranteed = false;
  };
  if (spec["resources"].is_object()) {
    add(spec["resources"]);
  } else {
    for (std::string_view list : {"containers", "initContainers"}) {
      for (const Value& container : spec[list].items()) add(container["resources"]);
    }
  }
  if (requests.empty() && limits.empty()) return "BestEffort";
  return guaranteed && requests == limits ? "Guaranteed" : "Burstable";
}

// ---- secrets ----

std::string Base64(std::string_view bytes) {
  static constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t count = std::min<size_t>(3, bytes.size() - i);
    uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k) group = group << 8 | (k < count ? static_cast<uint8_t>(bytes[i + k]) : 0);
    for (size_t k = 0; k < 4; ++k) out += k <= count ? kAlphabet[group >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

}  // namespace

void PreparePod(Value& object, const Value* old) {
  if (old != nullptr) return;
  Value status = json::Object({{"phase", "Pending"}, {"qosClass", QosClass(object["spec"])}});
  if (!object["spec"]["schedulingGates"].empty()) {
    status.Set("conditions", json::Array({json::Object({{"type", "PodScheduled"},
                                                        {"status", "False"},
                                                        {"lastProbeTime", nullptr},
                                                        {"lastTransitionTime", object["metadata"]["creationTimestamp"]},
                                                        {"reason", "SchedulingGated"},
                                                        {"message",
                                                         "Scheduling is blocked due to non-empty "
                                                         "scheduling gates"}})}));
  }
  ResetStatus(object, old, std::move(status));
}

void PrepareNamespace(Value& object, const Value* old) {
  static constexpr std::string_view kFinalizer = "kubernetes";
  Value* spec = EditObject(object, "spec");
  if (spec == nullptr) return;
  if (old != nullptr) {  // only the finalize subresource changes them
    const Value& before = (*old)["spec"]["finalizers"];
    if (before.is_null()) {
      spec->Erase("finalizers");
    } else {
      spec->Set("finalizers", before);
    }
    return;
  }
  ResetStatus(object, old, json::Object({{"phase", "Active"}}));
  Value& finalizers = object.Edit("spec").Edit("finalizers");
  const auto is_ours = [](const Value& one) { return one.str() == kFinalizer; };
  if (std::ranges::none_of(finalizers.items(), is_ours)) finalizers.Push(kFinalizer);
}

void PreparePersistentVolume(Value& object, const Value* old) {
  Value status = json::Object({{"phase", "Pending"}});
  const Value& created = object["metadata"]["creationTimestamp"];  // as the uid: the server has set it by now
  if (!created.is_null()) status.Set("lastPhaseTransitionTime", created);
  ResetStatus(object, old, std::move(status));
}

void PreparePersistentVolumeClaim(Value& object, const Value* old) {
  ResetStatus(object, old, json::Object({{"phase", "Pending"}}));
  Value* spec = EditObjectIfThere(object, "spec");
  if (spec == nullptr) return;
  for (std::string_view key : {"dataSource", "dataSourceRef"}) {
    if (Value* reference = EditObjectIfThere(*spec, key)) DefaultTo(*reference, "apiGroup", nullptr);
  }
  // The two names of the data source follow each other, unless the newer one is of another namespace.
  const Value source = (*spec)["dataSource"];
  const Value reference = (*spec)["dataSourceRef"];
  if (source.is_object() && reference.is_null()) spec->Set("dataSourceRef", source);
  if (reference.is_object() && source.is_null() && IsUnset(reference["namespace"])) {
    Value copy = reference;
    copy.Erase("namespace");
    spec->Set("dataSource", std::move(copy));
  }
}

void PrepareService(Value& object, const Value* old) {
  ResetStatus(object, old, json::Object({{"loadBalancer", json::Object()}}));
}

void PrepareReplicationController(Value& object, const Value* old) {
  ResetStatus(object, old, json::Object({{"replicas", 0}}));
}

void PrepareReplicaSet(Value& object, const Value* old) { ResetStatus(object, old, json::Object({{"replicas", 0}})); }

void PrepareStatefulSet(Value& object, const Value* old) {
  ResetStatus(object, old, json::Object({{"replicas", 0}, {"availableReplicas", 0}}));
}

void PrepareDaemonSet(Value& object, const Value* old) {
  ResetStatus(object, old,
              json::Object({{"currentNumberScheduled", 0},
                            {"numberMisscheduled", 0},
                            {"desiredNumberScheduled", 0},
                            {"numberReady", 0}}));
  // The template's generation is an annotation in apps/v1, and the server's.
  static constexpr std::string_view kGeneration = "deprecated.daemonset.template.generation";
  int64_t generation = 1;
  if (old != nullptr) {
    const std::string_view text = (*old)["metadata"]["annotations"][kGeneration].str();
    std::from_chars(text.data(), text.data() + text.size(), generation);
    if ((*old)["spec"]["template"] != object["spec"]["template"] && generation < INT64_MAX) ++generation;
  }
  Value* metadata = EditObject(object, "metadata");
  Value* annotations = metadata == nullptr ? nullptr : EditObject(*metadata, "annotations");
  if (annotations != nullptr) annotations->Set(kGeneration, StrCat(generation));
}

namespace {

// The selector is of the job's own uid, and the template's labels have it.
void GenerateSelector(Value& object) {
  Value* spec = EditObjectIfThere(object, "spec");
  if (spec == nullptr || (*spec)["manualSelector"].bool_or(false)) return;
  const std::string name = NameOf(object);
  const std::string uid(object["metadata"]["uid"].str());
  // What the user set stays; validation refuses what does not fit.
  Value* metadata = nullptr;
  if (Value* template_object = EditObject(*spec, "template")) metadata = EditObject(*template_object, "metadata");
  Value* labels = metadata == nullptr ? nullptr : EditObject(*metadata, "labels");
  if (labels != nullptr) {
    DefaultTo(*labels, "job-name", name);
    DefaultTo(*labels, "batch.kubernetes.io/job-name", name);
    DefaultTo(*labels, "controller-uid", uid);
    DefaultTo(*labels, kUidLabel, uid);
  }
  Value* selector = EditObject(*spec, "selector");
  Value* match = selector == nullptr ? nullptr : EditObject(*selector, "matchLabels");
  if (match != nullptr) DefaultTo(*match, kUidLabel, uid);
}

}  // namespace

void PrepareJob(Value& object, const Value* old) {
  ResetStatus(object, old, json::Object());
  if (old == nullptr) GenerateSelector(object);
  // A job without labels has those of its template, also the generated ones.
  const Value labels = object["spec"]["template"]["metadata"]["labels"];
  if (!labels.is_object() || labels.empty()) return;
  Value* metadata = EditObject(object, "metadata");
  if (metadata != nullptr && (*metadata)["labels"].empty()) metadata->Set("labels", labels);
}

void PrepareServiceAccount(Value& object, const Value* /*old*/) {
  // A reference to a secret is its name and nothing else.
  EditEach(object, "secrets", [](Value& secret) {
    const Value name = secret["name"];
    secret = name.is_null() ? json::Object() : json::Object({{"name", name}});
  });
}

void PrepareVolumeAttachment(Value& object, const Value* old) {
  ResetStatus(object, old, json::Object({{"attached", false}}));
}

void PrepareLease(Value& object, const Value* /*old*/) {
  // Fields of a feature that is not on by default.
  if (Value* spec = EditObjectIfThere(object, "spec")) {
    spec->Erase("strategy");
    spec->Erase("preferredHolder");
  }
}

void PrepareIngress(Value& object, const Value* old) {
  ResetStatus(object, old, json::Object({{"loadBalancer", json::Object()}}));
}

void PrepareDisruptionBudget(Value& object, const Value* old) {
  ResetStatus(
      object, old,
      json::Object({{"disruptionsAllowed", 0}, {"currentHealthy", 0}, {"desiredHealthy", 0}, {"expectedPods", 0}}));
}

void PrepareAutoscaler(Value& object, const Value* old) {
  ResetStatus(object, old, json::Object({{"desiredReplicas", 0}, {"currentMetrics", nullptr}}));
}

void PrepareSecret(Value& object, const Value* old) {
  if (!object.is_object()) return;
  const Value text = object.Take("stringData");
  if (text.is_object() && !text.empty()) {
    Value* data = EditObject(object, "data");
    for (const json::Member& member : text.members()) {
      if (data != nullptr) data->Set(member.key(), Base64(member.value().str()));
    }
  }
  if (old != nullptr && IsUnset(object["type"])) object.Set("type", (*old)["type"]);
}

void PrepareEmptyStatus(Value& object, const Value* old) { ResetStatus(object, old, json::Object()); }

}  // namespace baton::api::builtin
