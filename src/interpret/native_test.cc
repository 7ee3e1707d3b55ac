// Kubernetes' own kinds: a row for every kind and operation of Karmada's native interpreter.
#include <gtest/gtest.h>

#include "interpret/handlers.h"
#include "interpret/rows_for_test.h"

namespace baton::interpret {
namespace {

using enum Operation;

constexpr const char* kPodSpec =
    "{spec: {template: {spec: {serviceAccountName: sa, containers: [{name: c, resources: {requests: {cpu: 500m}}, "
    "env: [{valueFrom: {configMapKeyRef: {name: cm}}}]}], volumes: [{persistentVolumeClaim: {claimName: data}}]}}}, "
    "metadata: {namespace: ns}}";
constexpr const char* kPodReferences =
    "[{apiVersion: v1, kind: ConfigMap, namespace: ns, name: cm}, "
    "{apiVersion: v1, kind: PersistentVolumeClaim, namespace: ns, name: data}, "
    "{apiVersion: v1, kind: ServiceAccount, namespace: ns, name: sa}]";

const Row kRows[] = {
    // Deployment
    {"apps/v1", "Deployment", kReplica,
     "{spec: {replicas: 3, template: {spec: {nodeSelector: {a: b}, containers: [{resources: {requests: {cpu: 500m, "
     "memory: 1Gi}}}]}}}}",
     "", "{replicas: 3, requirements: {nodeClaim: {nodeSelector: {a: b}}, resourceRequest: {cpu: 500m, memory: 1Gi}}}"},
    {"apps/v1", "Deployment", kReplica, "{spec: {}}", "", "{replicas: 0}"},
    {"apps/v1", "Deployment", kReplica, "{spec: {replicas: many}}", "",
     "error: spec.replicas: expected an integer, and it is string"},
    {"apps/v1", "Deployment", kReplica,
     "{spec: {template: {spec: {containers: [{resources: {requests: {cpu: lots}}}]}}}}", "", "error: cpu: "},
    {"apps/v1", "Deployment", kRevise, "{spec: {replicas: 3}}", "5", "{spec: {replicas: 5}}"},
    {"apps/v1", "Deployment", kRevise, "{spec: {paused: true}}", "5", "{spec: {paused: true}}"},
    {"apps/v1", "Deployment", kRetain,
     "{metadata: {labels: {resourcetemplate.karmada.io/retain-replicas: 'true'}}, spec: {replicas: 1}}",
     "{spec: {replicas: 7}}",
     "{metadata: {labels: {resourcetemplate.karmada.io/retain-replicas: 'true'}}, spec: {replicas: 7}}"},
    {"apps/v1", "Deployment", kRetain, "{spec: {replicas: 1}}", "{spec: {replicas: 7}}", "{spec: {replicas: 1}}"},
    {"apps/v1", "Deployment", kRetain, "{metadata: {labels: {resourcetemplate.karmada.io/retain-replicas: 'true'}}}",
     "{spec: {}}", "error: spec.replicas"},
    {"apps/v1", "Deployment", kReflect,
     "{metadata: {generation: 4, annotations: {resourcetemplate.karmada.io/generation: '3'}}, status: {replicas: 2, "
     "readyReplicas: 2, unavailableReplicas: 0, observedGeneration: 4, conditions: [{type: Available}]}}",
     "", "{replicas: 2, readyReplicas: 2, observedGeneration: 4, generation: 4, resourceTemplateGeneration: 3}"},
    {"apps/v1", "Deployment", kReflect,
     "{metadata: {annotations: {resourcetemplate.karmada.io/generation: x}}, status: {replicas: 2}}", "",
     "error: \"x\" is no number"},
    {"apps/v1", "Deployment", kReflect, "{metadata: {name: d}}", "", "null"},
    {"apps/v1", "Deployment", kReflect, "{status: {}}", "", "null"},
    {"apps/v1", "Deployment", kReflect, "{status: text}", "", "error: status: expected an object"},
    {"apps/v1", "Deployment", kAggregate,
     "{metadata: {generation: 2}, status: {observedGeneration: 1, conditions: [{type: A}]}}",
     "{a: {replicas: 1, readyReplicas: 1, generation: 5, observedGeneration: 5, resourceTemplateGeneration: 2}, b: "
     "{replicas: 2, generation: 1, observedGeneration: 1, resourceTemplateGeneration: 2}}",
     "{metadata: {generation: 2}, status: {observedGeneration: 2, replicas: 3, readyReplicas: 1, conditions: [{type: "
     "A}]}}"},
    {"apps/v1", "Deployment", kAggregate, "{metadata: {generation: 2}, status: {observedGeneration: 1, replicas: 9}}",
     "{a: {replicas: 1, generation: 5, observedGeneration: 4, resourceTemplateGeneration: 2}, b: null}",
     "{metadata: {generation: 2}, status: {observedGeneration: 1, replicas: 1}}"},
    {"apps/v1", "Deployment", kAggregate, "{metadata: {generation: 2}}", "{}",
     "{metadata: {generation: 2}, status: {observedGeneration: 2}}"},
    {"apps/v1", "Deployment", kAggregate, "{metadata: {generation: 2}}", "{a: {replicas: x}}",
     "error: replicas: expected an integer"},
    {"apps/v1", "Deployment", kHealth,
     "{metadata: {generation: 2}, spec: {replicas: 2}, status: {observedGeneration: 2, updatedReplicas: 2, "
     "availableReplicas: 2}}",
     "", "true"},
    {"apps/v1", "Deployment", kHealth,
     "{metadata: {generation: 3}, spec: {replicas: 2}, status: {observedGeneration: 2, updatedReplicas: 2, "
     "availableReplicas: 2}}",
     "", "false"},
    {"apps/v1", "Deployment", kHealth, "{spec: {replicas: 2}, status: {updatedReplicas: 1, availableReplicas: 1}}", "",
     "false"},
    {"apps/v1", "Deployment", kHealth, "{spec: {replicas: 2}, status: {updatedReplicas: 2, availableReplicas: 1}}", "",
     "false"},
    {"apps/v1", "Deployment", kDependency, kPodSpec, "", kPodReferences},
    // ReplicaSet
    {"apps/v1", "ReplicaSet", kReplica, "{spec: {replicas: 3}}", "", "{replicas: 3}"},
    {"apps/v1", "ReplicaSet", kRevise, "{spec: {replicas: 3}}", "0", "{spec: {replicas: 0}}"},
    {"apps/v1", "ReplicaSet", kReflect, "{status: {replicas: 0, availableReplicas: 1, fullyLabeledReplicas: 1}}", "",
     "{replicas: 0, availableReplicas: 1}"},
    {"apps/v1", "ReplicaSet", kAggregate, "{metadata: {generation: 1}}",
     "{a: {replicas: 1, readyReplicas: 1, resourceTemplateGeneration: 1}, b: {replicas: 1, resourceTemplateGeneration: "
     "1}}",
     "{metadata: {generation: 1}, status: {observedGeneration: 1, replicas: 2, readyReplicas: 1}}"},
    {"apps/v1", "ReplicaSet", kHealth, "{spec: {replicas: 2}, status: {availableReplicas: 2}}", "", "true"},
    {"apps/v1", "ReplicaSet", kHealth, "{spec: {replicas: 2}, status: {availableReplicas: 1}}", "", "false"},
    {"apps/v1", "ReplicaSet", kDependency, kPodSpec, "", kPodReferences},
    // StatefulSet
    {"apps/v1", "StatefulSet", kReplica, "{spec: {replicas: 3}}", "", "{replicas: 3}"},
    {"apps/v1", "StatefulSet", kRevise, "{spec: {replicas: 3}}", "1", "{spec: {replicas: 1}}"},
    {"apps/v1", "StatefulSet", kReflect,
     "{metadata: {generation: 4}, status: {replicas: 1, currentReplicas: 1, observedGeneration: 4, updateRevision: r}}",
     "", "{replicas: 1, currentReplicas: 1, availableReplicas: 0, observedGeneration: 4, generation: 4}"},
    {"apps/v1", "StatefulSet", kAggregate, "{metadata: {generation: 1}}",
     "{a: {replicas: 1, availableReplicas: 1, resourceTemplateGeneration: 1}}",
     "{metadata: {generation: 1}, status: {observedGeneration: 1, replicas: 1, availableReplicas: 1}}"},
    {"apps/v1", "StatefulSet", kHealth, "{spec: {replicas: 1}, status: {updatedReplicas: 1, availableReplicas: 1}}", "",
     "true"},
    {"apps/v1", "StatefulSet", kHealth, "{spec: {replicas: 1}, status: {updatedReplicas: 1}}", "", "false"},
    {"apps/v1", "StatefulSet", kHealth,
     "{metadata: {generation: 3}, spec: {replicas: 1}, status: {observedGeneration: 2, updatedReplicas: 1, "
     "availableReplicas: 1}}",
     "", "false"},
    {"apps/v1", "StatefulSet", kDependency,
     "{metadata: {namespace: ns}, spec: {volumeClaimTemplates: [{metadata: {name: data}}], template: {spec: {volumes: "
     "[{persistentVolumeClaim: {claimName: data}}, {persistentVolumeClaim: {claimName: other}}]}}}}",
     "", "[{apiVersion: v1, kind: PersistentVolumeClaim, namespace: ns, name: other}]"},
    // DaemonSet
    {"apps/v1", "DaemonSet", kReflect, "{status: {desiredNumberScheduled: 2, numberReady: 1}}", "",
     "{currentNumberScheduled: 0, desiredNumberScheduled: 2, numberMisscheduled: 0, numberReady: 1}"},
    {"apps/v1", "DaemonSet", kAggregate, "{metadata: {generation: 1}}",
     "{a: {desiredNumberScheduled: 2, numberReady: 1, resourceTemplateGeneration: 1}, b: {desiredNumberScheduled: 1, "
     "resourceTemplateGeneration: 1}}",
     "{metadata: {generation: 1}, status: {currentNumberScheduled: 0, desiredNumberScheduled: 3, numberMisscheduled: "
     "0, numberReady: 1, observedGeneration: 1}}"},
    {"apps/v1", "DaemonSet", kHealth,
     "{status: {desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 2}}", "", "true"},
    {"apps/v1", "DaemonSet", kHealth,
     "{status: {desiredNumberScheduled: 2, updatedNumberScheduled: 1, numberAvailable: 2}}", "", "false"},
    {"apps/v1", "DaemonSet", kHealth,
     "{status: {desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 1}}", "", "false"},
    {"apps/v1", "DaemonSet", kHealth,
     "{metadata: {generation: 3}, status: {observedGeneration: 2, desiredNumberScheduled: 1, updatedNumberScheduled: "
     "1, numberAvailable: 1}}",
     "", "false"},
    {"apps/v1", "DaemonSet", kDependency, kPodSpec, "", kPodReferences},
    // Job
    {"batch/v1", "Job", kReplica, "{spec: {parallelism: 5, completions: 3}}", "", "{replicas: 3}"},
    {"batch/v1", "Job", kReplica, "{spec: {parallelism: 5}}", "", "{replicas: 5}"},
    {"batch/v1", "Job", kRevise, "{spec: {parallelism: 5}}", "2", "{spec: {parallelism: 2}}"},
    {"batch/v1", "Job", kRetain, "{spec: {template: {}}}",
     "{spec: {selector: {matchLabels: {u: '1'}}, template: {metadata: {labels: {u: '1'}}}}}",
     "{spec: {selector: {matchLabels: {u: '1'}}, template: {metadata: {labels: {u: '1'}}}}}"},
    {"batch/v1", "Job", kReflect, "{status: {active: 1, ready: 1, startTime: '2026-01-01T00:00:00Z', conditions: []}}",
     "", "{active: 1, startTime: '2026-01-01T00:00:00Z'}"},
    {"batch/v1", "Job", kAggregate, "{spec: {}}",
     "{a: {succeeded: 1, startTime: '2026-01-01T00:00:00Z', completionTime: '2026-01-01T00:01:00Z', conditions: "
     "[{type: Complete, status: 'True'}]}, b: {succeeded: 1, startTime: '2026-01-01T00:00:01Z', completionTime: "
     "'2026-01-01T00:02:00Z', conditions: [{type: Complete, status: 'True'}]}}",
     "{spec: {}, status: {succeeded: 2, startTime: '2026-01-01T00:00:00Z', completionTime: '2026-01-01T00:02:00Z', "
     "conditions: [{type: Complete, status: 'True', reason: Completed, message: Job completed, lastProbeTime: "
     "'2026-02-03T04:05:06Z', lastTransitionTime: '2026-02-03T04:05:06Z'}]}}"},
    {"batch/v1", "Job", kAggregate, "{spec: {}}",
     "{a: {failed: 1, conditions: [{type: Failed, status: 'True'}]}, b: {active: 1}}",
     "{spec: {}, status: {active: 1, failed: 1, conditions: [{type: Failed, status: 'True', reason: JobFailed, "
     "message: Job executed failed in member clusters a, lastProbeTime: '2026-02-03T04:05:06Z', lastTransitionTime: "
     "'2026-02-03T04:05:06Z'}]}}"},
    {"batch/v1", "Job", kAggregate, "{status: {succeeded: 9, conditions: [{type: Complete, status: 'True'}]}}",
     "{a: {active: 1}}", "{status: {succeeded: 9, conditions: [{type: Complete, status: 'True'}]}}"},
    {"batch/v1", "Job", kAggregate, "{spec: {}}", "{}", "{spec: {}, status: {}}"},
    {"batch/v1", "Job", kAggregate, "{spec: {}}", "{a: {startTime: soon}}", "error: startTime of a"},
    {"batch/v1", "Job", kDependency, kPodSpec, "", kPodReferences},
    // CronJob
    {"batch/v1", "CronJob", kReflect, "{status: {active: [{name: j}], lastScheduleTime: '2026-01-01T00:00:00Z'}}", "",
     "{active: [{name: j}], lastScheduleTime: '2026-01-01T00:00:00Z'}"},
    {"batch/v1", "CronJob", kAggregate, "{spec: {}}",
     "{a: {active: [{name: j}], lastScheduleTime: '2026-01-01T00:00:00Z'}, b: {active: [{name: k}], lastScheduleTime: "
     "'2026-01-02T00:00:00Z', lastSuccessfulTime: '2026-01-02T00:00:00Z'}}",
     "{spec: {}, status: {active: [{name: j}, {name: k}], lastScheduleTime: '2026-01-02T00:00:00Z', "
     "lastSuccessfulTime: '2026-01-02T00:00:00Z'}}"},
    {"batch/v1", "CronJob", kDependency,
     "{metadata: {namespace: ns}, spec: {jobTemplate: {spec: {template: {spec: {volumes: [{secret: {secretName: "
     "s}}]}}}}}}",
     "", "[{apiVersion: v1, kind: Secret, namespace: ns, name: s}]"},
    // Pod
    {"v1", "Pod", kReplica, "{spec: {containers: [{resources: {limits: {cpu: 1}}}]}}", "",
     "{replicas: 1, requirements: {resourceRequest: {cpu: '1'}}}"},
    {"v1", "Pod", kRetain, "{spec: {containers: [{name: c, image: i}], initContainers: [{name: x}]}}",
     "{spec: {nodeName: n1, serviceAccountName: default, volumes: [{name: token}], containers: [{name: c, image: old, "
     "volumeMounts: [{name: token}]}], initContainers: [{name: x, volumeMounts: [{name: t}]}]}}",
     "{spec: {nodeName: n1, serviceAccountName: default, volumes: [{name: token}], containers: [{name: c, image: i, "
     "volumeMounts: [{name: token}]}], initContainers: [{name: x, volumeMounts: [{name: t}]}]}}"},
    {"v1", "Pod", kReflect, "{status: {phase: Running, podIP: 1.2.3.4}}", "", "{phase: Running, podIP: 1.2.3.4}"},
    {"v1", "Pod", kAggregate, "{spec: {}}",
     "{a: {phase: Running, containerStatuses: [{name: c, ready: true, state: {running: {}}}]}, b: null}",
     "{spec: {}, status: {phase: Pending, containerStatuses: [{name: '', image: '', imageID: '', restartCount: 0, "
     "lastState: {}, ready: true, state: {running: {}}}]}}"},
    {"v1", "Pod", kAggregate, "{spec: {}}", "{a: {phase: Running}, b: {phase: Failed}}",
     "{spec: {}, status: {phase: Failed}}"},
    {"v1", "Pod", kHealth, "{status: {phase: Succeeded}}", "", "true"},
    {"v1", "Pod", kHealth, "{status: {phase: Running, conditions: [{type: Ready, status: 'True'}]}}", "", "true"},
    {"v1", "Pod", kHealth, "{status: {phase: Running, conditions: [{type: Ready, status: 'False'}]}}", "", "false"},
    {"v1", "Pod", kHealth, "{status: {phase: Pending}}", "", "false"},
    {"v1", "Pod", kDependency,
     "{metadata: {namespace: ns}, spec: {imagePullSecrets: [{name: pull}], serviceAccountName: default}}", "",
     "[{apiVersion: v1, kind: Secret, namespace: ns, name: pull}]"},
    // Service
    {"v1", "Service", kRetain, "{spec: {ports: []}}", "{spec: {clusterIP: 10.0.0.1, healthCheckNodePort: 30000}}",
     "{spec: {ports: [], clusterIP: 10.0.0.1, healthCheckNodePort: 30000}}"},
    {"v1", "Service", kRetain, "{spec: {clusterIP: None}}", "{spec: {}}", "{spec: {clusterIP: None}}"},
    {"v1", "Service", kReflect,
     "{spec: {type: LoadBalancer}, status: {loadBalancer: {ingress: [{ip: 1.1.1.1}]}, conditions: []}}", "",
     "{loadBalancer: {ingress: [{ip: 1.1.1.1}]}}"},
    {"v1", "Service", kReflect, "{spec: {type: ClusterIP}, status: {loadBalancer: {}}}", "", "null"},
    {"v1", "Service", kAggregate, "{spec: {type: LoadBalancer}}",
     "{a: {loadBalancer: {ingress: [{ip: 2.2.2.2}, {hostname: z}]}}, b: {loadBalancer: {ingress: [{ip: 1.1.1.1}, {ip: "
     "2.2.2.2, ports: [{port: 80, protocol: TCP}]}]}}}",
     "{spec: {type: LoadBalancer}, status: {loadBalancer: {ingress: [{hostname: z}, {ip: 1.1.1.1}, {ip: 2.2.2.2, "
     "ports: [{port: 80, protocol: TCP}]}]}}}"},
    {"v1", "Service", kAggregate, "{spec: {type: ClusterIP}}", "{a: {loadBalancer: {}}}", "{spec: {type: ClusterIP}}"},
    {"v1", "Service", kHealth, "{spec: {type: ClusterIP}}", "", "true"},
    {"v1", "Service", kHealth, "{spec: {type: LoadBalancer}, status: {loadBalancer: {}}}", "", "false"},
    {"v1", "Service", kHealth, "{spec: {type: LoadBalancer}, status: {loadBalancer: {ingress: [{hostname: h}]}}}", "",
     "true"},
    // Ingress
    {"networking.k8s.io/v1", "Ingress", kReflect, "{status: {loadBalancer: {ingress: [{ip: 1.1.1.1}]}}}", "",
     "{loadBalancer: {ingress: [{ip: 1.1.1.1}]}}"},
    {"networking.k8s.io/v1", "Ingress", kAggregate, "{spec: {}}",
     "{a: {loadBalancer: {ingress: [{ip: 1.1.1.1}]}}, b: {loadBalancer: {ingress: [{ip: 1.1.1.1}]}}}",
     "{spec: {}, status: {loadBalancer: {ingress: [{ip: 1.1.1.1}]}}}"},
    {"networking.k8s.io/v1", "Ingress", kHealth, "{status: {loadBalancer: {ingress: [{ip: 1.1.1.1}]}}}", "", "true"},
    {"networking.k8s.io/v1", "Ingress", kHealth, "{status: {loadBalancer: {ingress: [{}]}}}", "", "false"},
    {"networking.k8s.io/v1", "Ingress", kDependency,
     "{metadata: {namespace: ns}, spec: {tls: [{secretName: t}, {hosts: [h]}]}}", "",
     "[{apiVersion: v1, kind: Secret, namespace: ns, name: t}]"},
    // ServiceImport
    {"multicluster.x-k8s.io/v1alpha1", "ServiceImport", kDependency, "{metadata: {namespace: ns, name: web}}", "",
     "[{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, namespace: ns, labelSelector: {matchLabels: "
     "{kubernetes.io/service-name: derived-web}}}, {apiVersion: v1, kind: Service, namespace: ns, name: derived-web}]"},
    // storage
    {"v1", "PersistentVolumeClaim", kRetain, "{spec: {}}", "{spec: {volumeName: pv-1}}", "{spec: {volumeName: pv-1}}"},
    {"v1", "PersistentVolumeClaim", kReflect, "{status: {phase: Bound}}", "", "{phase: Bound}"},
    {"v1", "PersistentVolumeClaim", kAggregate, "{spec: {}}", "{a: {phase: Bound}, b: {phase: Pending}}",
     "{spec: {}, status: {phase: Pending}}"},
    {"v1", "PersistentVolumeClaim", kAggregate, "{spec: {}}", "{a: {phase: Lost}, b: {phase: Pending}}",
     "{spec: {}, status: {phase: Lost}}"},
    {"v1", "PersistentVolumeClaim", kHealth, "{status: {phase: Bound}}", "", "true"},
    {"v1", "PersistentVolumeClaim", kHealth, "{status: {phase: Pending}}", "", "false"},
    {"v1", "PersistentVolume", kRetain, "{spec: {}}", "{spec: {claimRef: {name: c}}}", "{spec: {claimRef: {name: c}}}"},
    {"v1", "PersistentVolume", kReflect, "{status: {phase: Bound}}", "", "{phase: Bound}"},
    {"v1", "PersistentVolume", kAggregate, "{spec: {}}", "{a: {phase: Bound}, b: {phase: Available}}",
     "{spec: {}, status: {phase: Available}}"},
    {"v1", "PersistentVolume", kAggregate, "{spec: {}}", "{a: {phase: Bound}, b: null}",
     "{spec: {}, status: {phase: Pending}}"},
    {"v1", "Secret", kRetain, "{type: kubernetes.io/service-account-token}", "{data: {token: dA==}}",
     "{type: kubernetes.io/service-account-token, data: {token: dA==}}"},
    {"v1", "Secret", kRetain, "{type: Opaque, data: {a: Yg==}}", "{data: {token: dA==}}",
     "{type: Opaque, data: {a: Yg==}}"},
    {"v1", "ServiceAccount", kRetain, "{secrets: [{name: a}]}",
     "{secrets: [{name: a}, {name: token-1}], imagePullSecrets: [{name: p}]}",
     "{secrets: [{name: a}, {name: token-1}], imagePullSecrets: [{name: p}]}"},
    {"v1", "ServiceAccount", kRetain, "{secrets: 1}", "{}", "error: secrets: expected a list"},
    // policy
    {"policy/v1", "PodDisruptionBudget", kReflect,
     "{status: {currentHealthy: 2, desiredHealthy: 1, observedGeneration: 1}}", "",
     "{currentHealthy: 2, desiredHealthy: 1, disruptionsAllowed: 0, expectedPods: 0}"},
    {"policy/v1", "PodDisruptionBudget", kAggregate, "{spec: {}}",
     "{a: {currentHealthy: 1, expectedPods: 2, disruptedPods: {p: '2026-01-01T00:00:00Z'}}, b: {currentHealthy: 1}}",
     "{spec: {}, status: {currentHealthy: 2, desiredHealthy: 0, disruptionsAllowed: 0, expectedPods: 2, disruptedPods: "
     "{a/p: '2026-01-01T00:00:00Z'}}}"},
    {"policy/v1", "PodDisruptionBudget", kHealth, "{status: {currentHealthy: 1, desiredHealthy: 1}}", "", "true"},
    {"policy/v1", "PodDisruptionBudget", kHealth, "{status: {currentHealthy: 0, desiredHealthy: 1}}", "", "false"},
    {"autoscaling/v2", "HorizontalPodAutoscaler", kReflect,
     "{status: {currentReplicas: 2, desiredReplicas: 3, conditions: []}}", "",
     "{currentReplicas: 2, desiredReplicas: 3}"},
    {"autoscaling/v2", "HorizontalPodAutoscaler", kAggregate, "{spec: {}}",
     "{a: {currentReplicas: 2, desiredReplicas: 3}, b: {currentReplicas: 1, desiredReplicas: 1}}",
     "{spec: {}, status: {currentReplicas: 3, desiredReplicas: 4}}"},
};

TEST(NativeTest, AnswersForEveryKindAndOperation) {
  const Interpreter interpreter({.now = TestNow});
  CheckRows(interpreter, kRows);
  CheckCoverage(NativeHandlers(), kRows);
}

TEST(NativeTest, HasTheOperationsOfKarmada) {
  const std::map<KindName, std::string> expected = {{{"apps/v1", "Deployment"}, "RVTSAHD"},
                                                    {{"apps/v1", "ReplicaSet"}, "RVSAHD"},
                                                    {{"apps/v1", "StatefulSet"}, "RVSAHD"},
                                                    {{"apps/v1", "DaemonSet"}, "SAHD"},
                                                    {{"batch/v1", "Job"}, "RVTSAD"},
                                                    {{"batch/v1", "CronJob"}, "SAD"},
                                                    {{"v1", "Pod"}, "RTSAHD"},
                                                    {{"v1", "Service"}, "TSAH"},
                                                    {{"networking.k8s.io/v1", "Ingress"}, "SAHD"},
                                                    {{"v1", "PersistentVolumeClaim"}, "TSAH"},
                                                    {{"v1", "PersistentVolume"}, "TSA"},
                                                    {{"v1", "Secret"}, "T"},
                                                    {{"v1", "ServiceAccount"}, "T"},
                                                    {{"policy/v1", "PodDisruptionBudget"}, "SAH"},
                                                    {{"autoscaling/v2", "HorizontalPodAutoscaler"}, "SA"},
                                                    {{"multicluster.x-k8s.io/v1alpha1", "ServiceImport"}, "D"}};
  std::map<KindName, std::string> actual;
  for (const auto& [kind, handlers] : NativeHandlers()) actual[kind] = LettersOf(handlers);
  EXPECT_EQ(actual, expected);
}

TEST(NativeTest, CountsPodsAsTheSchedulerDoes) {
  const Interpreter interpreter;
  const Row rows[] = {
      // The largest init container, the sum of the others, and the overhead; what nobody counts is left out.
      {"v1", "Pod", kReplica,
       "{spec: {overhead: {cpu: 10m}, priorityClassName: high, tolerations: [{key: k}], initContainers: [{resources: "
       "{requests: {cpu: 2}}}, {resources: {limits: {memory: 10Mi}}}], containers: [{resources: {requests: {cpu: 1, "
       "memory: 1Gi, nvidia.com/gpu: 1, hugepages-2Mi: 4Mi, weird: 1}, limits: {cpu: 4, ephemeral-storage: 1Gi}}}, "
       "{resources: {requests: {cpu: 500m, nvidia.com/gpu: 1}}}]}}",
       "",
       "{replicas: 1, requirements: {nodeClaim: {tolerations: [{key: k}]}, priorityClassName: high, resourceRequest: "
       "{cpu: 2010m, memory: 1Gi, ephemeral-storage: 1Gi, nvidia.com/gpu: '2', hugepages-2Mi: 4Mi}}}"},
      {"v1", "Pod", kReplica,
       "{spec: {affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: []}}}}}",
       "", "{replicas: 1, requirements: {nodeClaim: {hardNodeAffinity: {nodeSelectorTerms: []}}}}"},
  };
  CheckRows(interpreter, rows);
}

}  // namespace
}  // namespace baton::interpret
