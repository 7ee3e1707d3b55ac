// The parts of the native table; each adds the kinds of its file. For native.cc.
#pragma once

#include "interpret/handlers.h"

namespace baton::interpret {

void AddNativeWorkloads(HandlerTable& table);  // Deployment, ReplicaSet, StatefulSet, DaemonSet
void AddNativeBatch(HandlerTable& table);      // Job, CronJob
void AddNativePods(HandlerTable& table);       // Pod
void AddNativeServices(HandlerTable& table);   // Service, Ingress, ServiceImport
void AddNativeStorage(HandlerTable& table);    // PersistentVolume(Claim), Secret, ServiceAccount
void AddNativePolicy(HandlerTable& table);     // PodDisruptionBudget, HorizontalPodAutoscaler

// spec.<field> set to the number, but only where the object has that field: Karmada leaves other objects as they are.
Result<json::Value> ReviseSpecField(json::Value object, std::string_view field, int64_t replicas);

// The whole status, null when there is none.
Result<json::Value> ReflectWhole(const json::Value& object);

// The dependencies of the pod template at spec.template.
Result<std::vector<json::Value>> TemplateDependencies(const json::Value& object);

}  // namespace baton::interpret
