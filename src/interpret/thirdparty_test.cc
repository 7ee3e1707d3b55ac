// Kinds of others: a row for every kind and operation that Karmada brings along.
#include <gtest/gtest.h>

#include "interpret/handlers.h"
#include "interpret/rows_for_test.h"

namespace baton::interpret {
namespace {

using enum Operation;

constexpr const char* kKruise = "apps.kruise.io/v1alpha1";
constexpr const char* kKruiseBeta = "apps.kruise.io/v1beta1";
constexpr const char* kSource = "source.toolkit.fluxcd.io/v1beta2";
constexpr const char* kTemplate =
    "{metadata: {namespace: ns}, spec: {replicas: 2, template: {spec: {containers: [{resources: {requests: {cpu: 1}}, "
    "envFrom: [{secretRef: {name: s}}]}]}}}}";
constexpr const char* kSecret = "[{apiVersion: v1, kind: Secret, namespace: ns, name: s}]";
constexpr const char* kTwoOfOneCpu = "{replicas: 2, requirements: {resourceRequest: {cpu: '1'}}}";
constexpr const char* kRolledOut =
    "{metadata: {generation: 2}, spec: {replicas: 2}, status: {observedGeneration: 2, updatedReplicas: 2, "
    "availableReplicas: 2}}";
constexpr const char* kNotRolledOut =
    "{metadata: {generation: 2}, spec: {replicas: 2}, status: {observedGeneration: 2, updatedReplicas: 2, "
    "availableReplicas: 1}}";

const Row kKruiseRows[] = {
    {kKruise, "CloneSet", kReplica, kTemplate, "", kTwoOfOneCpu},
    {kKruise, "CloneSet", kReplica, "{spec: {}}", "", "error: spec.replicas: must be given"},
    {kKruise, "CloneSet", kRevise, "{spec: {replicas: 2}}", "5", "{spec: {replicas: 5}}"},
    {kKruise, "CloneSet", kReflect,
     "{metadata: {generation: 3, annotations: {resourcetemplate.karmada.io/generation: '2'}}, status: {replicas: 2, "
     "collisionCount: 1, updateRevision: r}}",
     "", "{replicas: 2, updateRevision: r, generation: 3, resourceTemplateGeneration: 2}"},
    {kKruise, "CloneSet", kAggregate, "{metadata: {generation: 2}}",
     "{a: {replicas: 1, updateRevision: r1, resourceTemplateGeneration: 2}, b: {replicas: 2, "
     "resourceTemplateGeneration: 2}}",
     "{metadata: {generation: 2}, status: {observedGeneration: 2, replicas: 3, updatedReplicas: 0, readyReplicas: 0, "
     "availableReplicas: 0, updatedReadyReplicas: 0, expectedUpdatedReplicas: 0, updateRevision: r1}}"},
    {kKruise, "CloneSet", kAggregate, "{metadata: {generation: 2}}", "{a: {replicas: x}}",
     "error: status of cluster \"a\": replicas: expected an integer"},
    {kKruise, "CloneSet", kHealth, kRolledOut, "", "true"},
    {kKruise, "CloneSet", kHealth, kNotRolledOut, "", "false"},
    {kKruise, "CloneSet", kHealth, "{spec: {}}", "", "false"},
    {kKruise, "CloneSet", kDependency, kTemplate, "", kSecret},
    {kKruiseBeta, "StatefulSet", kReplica, kTemplate, "", kTwoOfOneCpu},
    {kKruiseBeta, "StatefulSet", kRevise, "{spec: {replicas: 2}}", "0", "{spec: {replicas: 0}}"},
    {kKruiseBeta, "StatefulSet", kReflect, "{status: {replicas: 2, currentRevision: r, other: 1}}", "",
     "{replicas: 2, currentRevision: r}"},
    {kKruiseBeta, "StatefulSet", kAggregate, "{metadata: {generation: 2}, status: {observedGeneration: 1}}",
     "{a: {replicas: 1, currentReplicas: 1, resourceTemplateGeneration: 1}}",
     "{metadata: {generation: 2}, status: {observedGeneration: 1, replicas: 1, readyReplicas: 0, currentReplicas: 1, "
     "updatedReplicas: 0, availableReplicas: 0, updatedReadyReplicas: 0}}"},
    {kKruiseBeta, "StatefulSet", kHealth, kRolledOut, "", "true"},
    {kKruiseBeta, "StatefulSet", kDependency, kTemplate, "", kSecret},
    {kKruise, "UnitedDeployment", kReplica,
     "{spec: {replicas: 2, template: {deploymentTemplate: {spec: {template: {spec: {containers: [{resources: "
     "{requests: {cpu: 1}}}]}}}}}}}",
     "", kTwoOfOneCpu},
    {kKruise, "UnitedDeployment", kRevise, "{spec: {replicas: 2}}", "3", "{spec: {replicas: 3}}"},
    {kKruise, "UnitedDeployment", kReflect, "{status: {replicas: 2, conditions: [{type: T}]}}", "",
     "{replicas: 2, conditions: [{type: T}]}"},
    {kKruise, "UnitedDeployment", kAggregate, "{metadata: {generation: 1}}",
     "{a: {replicas: 1, conditions: [{type: T, status: 'True', message: m}]}, b: {replicas: 1, conditions: [{type: T, "
     "status: 'True', message: k}]}}",
     "{metadata: {generation: 1}, status: {replicas: 2, readyReplicas: 0, updatedReplicas: 0, availableReplicas: 0, "
     "unavailableReplicas: 0, conditions: [{type: T, status: 'True', message: 'a=m, b=k'}]}}"},
    {kKruise, "UnitedDeployment", kHealth, kNotRolledOut, "", "false"},
    {kKruise, "UnitedDeployment", kDependency,
     "{metadata: {namespace: ns}, spec: {template: {statefulSetTemplate: {spec: {template: {spec: {volumes: [{secret: "
     "{secretName: s}}]}}}}}}}",
     "", kSecret},
    {kKruise, "BroadcastJob", kReplica, "{spec: {}}", "", "{replicas: 1}"},
    {kKruise, "BroadcastJob", kReplica, "{spec: {parallelism: 4}}", "", "{replicas: 4}"},
    {kKruise, "BroadcastJob", kRevise, "{spec: {}}", "3", "{spec: {parallelism: 3}}"},
    {kKruise, "BroadcastJob", kRetain, "{spec: {template: {}}}", "{spec: {template: {metadata: {labels: {u: '1'}}}}}",
     "{spec: {template: {metadata: {labels: {u: '1'}}}}}"},
    {kKruise, "BroadcastJob", kReflect, "{status: {active: 1, phase: running, x: 1}}", "",
     "{active: 1, phase: running}"},
    {kKruise, "BroadcastJob", kAggregate, "{spec: {}}",
     "{a: {active: 1, desired: 2, phase: running}, b: {failed: 1, desired: 1, phase: failed, conditions: [{type: "
     "Failed, status: 'True'}]}}",
     "{spec: {}, status: {active: 1, succeeded: 0, failed: 1, desired: 3, phase: failed, conditions: [{type: Failed, "
     "status: 'True', reason: JobFailed, message: Job failed in member clusters b}]}}"},
    {kKruise, "BroadcastJob", kHealth, "{status: {desired: 2, succeeded: 1, failed: 0}}", "", "true"},
    {kKruise, "BroadcastJob", kHealth, "{status: {desired: 2, succeeded: 1, failed: 1}}", "", "false"},
    {kKruise, "BroadcastJob", kHealth, "{status: {desired: 0}}", "", "false"},
    {kKruise, "BroadcastJob", kDependency, kTemplate, "", kSecret},
    {kKruise, "DaemonSet", kReflect, "{status: {numberReady: 0, daemonSetHash: h}}", "",
     "{numberReady: 0, daemonSetHash: h}"},
    {kKruise, "DaemonSet", kAggregate, "{metadata: {generation: 1}}",
     "{a: {numberReady: 1, daemonSetHash: h}, b: {numberReady: 2}}",
     "{metadata: {generation: 1}, status: {currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: "
     "0, numberReady: 3, updatedNumberScheduled: 0, numberAvailable: 0, numberUnavailable: 0, daemonSetHash: h}}"},
    {kKruise, "DaemonSet", kHealth,
     "{status: {desiredNumberScheduled: 1, updatedNumberScheduled: 1, numberAvailable: 1}}", "", "true"},
    {kKruise, "DaemonSet", kHealth, "{status: {desiredNumberScheduled: 1, updatedNumberScheduled: 1}}", "", "false"},
    {kKruise, "DaemonSet", kDependency, kTemplate, "", kSecret},
    {kKruise, "SidecarSet", kReplica, "{spec: {}}", "", "{replicas: 0}"},
    {kKruise, "SidecarSet", kRetain, "{spec: {a: 1}}", "{spec: {a: 2}}", "{spec: {a: 1}}"},
    {kKruise, "SidecarSet", kReflect, "{status: {matchedPods: 2, updatedPods: 1, latestRevision: r}}", "",
     "{matchedPods: 2, updatedPods: 1}"},
    {kKruise, "SidecarSet", kAggregate, "{spec: {}}", "{a: {matchedPods: 2}, b: {matchedPods: 1, readyPods: 1}}",
     "{spec: {}, status: {matchedPods: 3, updatedPods: 0, readyPods: 1}}"},
    {kKruise, "SidecarSet", kHealth, "{status: {matchedPods: 2, updatedPods: 2}}", "", "true"},
    {kKruise, "SidecarSet", kHealth, "{status: {matchedPods: 2, updatedPods: 1}}", "", "false"},
    {kKruise, "SidecarSet", kDependency, "{spec: {containers: [{envFrom: [{configMapRef: {name: c}}]}]}}", "",
     "[{apiVersion: v1, kind: ConfigMap, name: c}]"},
    {kKruise, "AdvancedCronJob", kAggregate, "{spec: {}}",
     "{a: {active: [{name: x}], type: Job, lastScheduleTime: '2026-01-01T00:00:00Z'}, b: {active: [{name: y2}]}}",
     "{spec: {}, status: {active: [{name: x}, {name: y2}], type: Job, lastScheduleTime: '2026-01-01T00:00:00Z'}}"},
    {kKruise, "AdvancedCronJob", kDependency,
     "{metadata: {namespace: ns}, spec: {template: {broadcastJobTemplate: {spec: {template: {spec: {imagePullSecrets: "
     "[{name: s}]}}}}}}}",
     "", kSecret},
};

const Row kGitOpsRows[] = {
    {"kustomize.toolkit.fluxcd.io/v1", "Kustomization", kRetain, "{spec: {path: p}}", "{spec: {suspend: true}}",
     "{spec: {path: p, suspend: true}}"},
    {"kustomize.toolkit.fluxcd.io/v1", "Kustomization", kReflect,
     "{metadata: {generation: 1}, status: {lastAppliedRevision: r, inventory: {}}}", "",
     "{lastAppliedRevision: r, generation: 1}"},
    {"kustomize.toolkit.fluxcd.io/v1", "Kustomization", kAggregate, "{metadata: {generation: 1}}",
     "{a: {lastAppliedRevision: r, conditions: [{type: Ready, status: 'True', reason: ReconciliationSucceeded, "
     "message: ok}], resourceTemplateGeneration: 1}}",
     "{metadata: {generation: 1}, status: {observedGeneration: 1, lastAppliedRevision: r, conditions: [{type: Ready, "
     "status: 'True', reason: ReconciliationSucceeded, message: a=ok}]}}"},
    {"kustomize.toolkit.fluxcd.io/v1", "Kustomization", kHealth,
     "{status: {conditions: [{type: Ready, status: 'True', reason: ReconciliationSucceeded}]}}", "", "true"},
    {"kustomize.toolkit.fluxcd.io/v1", "Kustomization", kHealth,
     "{status: {conditions: [{type: Ready, status: 'False', reason: ReconciliationSucceeded}]}}", "", "false"},
    {"kustomize.toolkit.fluxcd.io/v1", "Kustomization", kDependency,
     "{metadata: {namespace: ns}, spec: {decryption: {secretRef: {name: s}}}}", "", kSecret},
    {"helm.toolkit.fluxcd.io/v2beta1", "HelmRelease", kRetain, "{spec: {}}", "{spec: {suspend: false}}",
     "{spec: {suspend: false}}"},
    {"helm.toolkit.fluxcd.io/v2beta1", "HelmRelease", kReflect,
     "{status: {failures: 0, helmChart: c, storageNamespace: x}}", "", "{failures: 0, helmChart: c}"},
    {"helm.toolkit.fluxcd.io/v2beta1", "HelmRelease", kAggregate, "{metadata: {generation: 1}}",
     "{a: {failures: 1, helmChart: c}, b: {failures: 2}}",
     "{metadata: {generation: 1}, status: {failures: 3, installFailures: 0, upgradeFailures: 0, helmChart: c}}"},
    {"helm.toolkit.fluxcd.io/v2beta1", "HelmRelease", kHealth,
     "{status: {conditions: [{type: Ready, status: 'True', reason: ReconciliationSucceeded}]}}", "", "true"},
    {"helm.toolkit.fluxcd.io/v2beta1", "HelmRelease", kHealth, "{status: {}}", "", "false"},
    {"helm.toolkit.fluxcd.io/v2beta1", "HelmRelease", kDependency,
     "{metadata: {namespace: ns}, spec: {serviceAccountName: sa, valuesFrom: [{kind: ConfigMap, name: c}, {kind: "
     "Secret, name: s}]}}",
     "",
     "[{apiVersion: v1, kind: ConfigMap, namespace: ns, name: c}, {apiVersion: v1, kind: Secret, namespace: ns, name: "
     "s}, {apiVersion: v1, kind: ServiceAccount, namespace: ns, name: sa}]"},
    {"source.toolkit.fluxcd.io/v1", "GitRepository", kRetain, "{spec: {}}", "{spec: {suspend: true}}",
     "{spec: {suspend: true}}"},
    {"source.toolkit.fluxcd.io/v1", "GitRepository", kReflect, "{status: {artifact: {revision: r}, url: u}}", "",
     "{artifact: {revision: r}}"},
    {"source.toolkit.fluxcd.io/v1", "GitRepository", kAggregate, "{metadata: {}}",
     "{a: {artifact: {revision: r}}, b: {artifact: {revision: s}}}",
     "{metadata: {}, status: {artifact: {revision: s}}}"},
    {"source.toolkit.fluxcd.io/v1", "GitRepository", kHealth,
     "{status: {conditions: [{type: Ready, status: 'True', reason: Succeeded}]}}", "", "true"},
    {"source.toolkit.fluxcd.io/v1", "GitRepository", kDependency,
     "{metadata: {namespace: ns}, spec: {secretRef: {name: s}}}", "", kSecret},
    {kSource, "Bucket", kRetain, "{spec: {}}", "{spec: {suspend: true}}", "{spec: {suspend: true}}"},
    {kSource, "Bucket", kReflect, "{status: {url: u, x: 1}}", "", "{url: u}"},
    {kSource, "Bucket", kAggregate, "{metadata: {}}", "{a: {url: u}}", "{metadata: {}, status: {url: u}}"},
    {kSource, "Bucket", kHealth, "{status: {conditions: [{type: Ready, status: 'True', reason: Succeeded}]}}", "",
     "true"},
    {kSource, "Bucket", kDependency, "{metadata: {namespace: ns}, spec: {secretRef: {name: s}}}", "", kSecret},
    {kSource, "HelmChart", kRetain, "{spec: {}}", "{spec: {suspend: true}}", "{spec: {suspend: true}}"},
    {kSource, "HelmChart", kReflect, "{status: {observedChartName: c, x: 1}}", "", "{observedChartName: c}"},
    {kSource, "HelmChart", kAggregate, "{metadata: {}}", "{a: {observedChartName: c}}",
     "{metadata: {}, status: {observedChartName: c}}"},
    {kSource, "HelmChart", kHealth,
     "{status: {conditions: [{type: Ready, status: 'True', reason: ChartPullSucceeded}]}}", "", "true"},
    {kSource, "HelmChart", kDependency, "{metadata: {namespace: ns}, spec: {verify: {secretRef: {name: s}}}}", "",
     kSecret},
    {kSource, "HelmRepository", kRetain, "{spec: {}}", "{spec: {suspend: true}}", "{spec: {suspend: true}}"},
    {kSource, "HelmRepository", kReflect, "{status: {url: u, x: 1}}", "", "{url: u}"},
    {kSource, "HelmRepository", kAggregate, "{metadata: {}}", "{a: {url: u}}", "{metadata: {}, status: {url: u}}"},
    {kSource, "HelmRepository", kHealth, "{status: {conditions: [{type: Ready, status: 'True', reason: Other}]}}", "",
     "false"},
    {kSource, "HelmRepository", kDependency, "{metadata: {namespace: ns}, spec: {secretRef: {name: s}}}", "", kSecret},
    {kSource, "OCIRepository", kRetain, "{spec: {}}", "{spec: {suspend: true}}", "{spec: {suspend: true}}"},
    {kSource, "OCIRepository", kReflect, "{status: {url: u, observedLayerSelector: {a: b}}}", "",
     "{url: u, observedLayerSelector: {a: b}}"},
    {kSource, "OCIRepository", kAggregate, "{metadata: {}}", "{a: {url: u}}", "{metadata: {}, status: {url: u}}"},
    {kSource, "OCIRepository", kHealth, "{status: {conditions: [{type: Ready, status: 'True', reason: Succeeded}]}}",
     "", "true"},
    {kSource, "OCIRepository", kDependency, "{metadata: {namespace: ns}, spec: {certSecretRef: {name: s}}}", "",
     kSecret},
    {"kyverno.io/v1", "Policy", kReflect, "{status: {ready: true, rulecount: {validate: 1}, x: 1}}", "",
     "{ready: true, rulecount: {validate: 1}}"},
    {"kyverno.io/v1", "Policy", kAggregate, "{spec: {}}",
     "{a: {ready: true, rulecount: {validate: 1}}, b: {ready: false, rulecount: {validate: 2, mutate: 1}}}",
     "{spec: {}, status: {ready: false, rulecount: {validate: 3, mutate: 1}}}"},
    {"kyverno.io/v1", "Policy", kHealth, "{status: {ready: true}}", "", "true"},
    {"kyverno.io/v1", "Policy", kHealth, "{status: {conditions: [{type: Ready, status: 'True', reason: Succeeded}]}}",
     "", "true"},
    {"kyverno.io/v1", "ClusterPolicy", kReflect, "{status: {ready: false}}", "", "{ready: false}"},
    {"kyverno.io/v1", "ClusterPolicy", kAggregate, "{spec: {}}", "{a: {ready: true}}",
     "{spec: {}, status: {ready: true}}"},
    {"kyverno.io/v1", "ClusterPolicy", kHealth, "{status: {ready: false}}", "", "false"},
};

const Row kJobRows[] = {
    {"batch.volcano.sh/v1alpha1", "Job", kComponent,
     "{spec: {tasks: [{name: ps, minAvailable: 2, template: {spec: {containers: [{resources: {requests: {cpu: "
     "1}}}]}}}, {template: {}}]}}",
     "", "[{name: ps, replicas: 2, requirements: {resourceRequest: {cpu: '1'}}}, {name: task-1, replicas: 1}]"},
    {"batch.volcano.sh/v1alpha1", "Job", kReflect, "{status: {running: 1, state: {phase: Running}, x: 1}}", "",
     "{running: 1, state: {phase: Running}}"},
    {"batch.volcano.sh/v1alpha1", "Job", kAggregate, "{spec: {}}", "{a: {running: 1, x: 1}}",
     "{spec: {}, status: {running: 1, x: 1}}"},
    {"batch.volcano.sh/v1alpha1", "Job", kAggregate, "{spec: {}}",
     "{a: {running: 1, version: 2, state: {phase: Running}, taskStatusCount: {t: {phase: {Running: 1}}}}, b: {failed: "
     "1, version: 1, state: {phase: Failed}, taskStatusCount: {t: {phase: {Running: 1, Failed: 1}}}}}",
     "{spec: {}, status: {minAvailable: 0, pending: 0, running: 1, succeeded: 0, failed: 1, terminating: 0, unknown: "
     "0, retryCount: 0, version: 2, taskStatusCount: {t: {phase: {Running: 2, Failed: 1}}}, state: {phase: Failed}}}"},
    {"batch.volcano.sh/v1alpha1", "Job", kHealth, "{status: {state: {phase: Running}}}", "", "true"},
    {"batch.volcano.sh/v1alpha1", "Job", kHealth, "{status: {state: {phase: Failed}}}", "", "false"},
    {"kubeflow.org/v1", "PyTorchJob", kComponent,
     "{spec: {pytorchReplicaSpecs: {Worker: {replicas: 3, template: {}}, Master: {}}}}", "",
     "[{name: master, replicas: 1}, {name: worker, replicas: 3}]"},
    {"kubeflow.org/v1", "PyTorchJob", kAggregate, "{spec: {}}",
     "{a: {startTime: '2026-01-02T00:00:00Z', replicaStatuses: {Worker: {active: 1}}, conditions: [{type: Created, "
     "status: 'True'}, {type: Running, status: 'True'}]}, b: {startTime: '2026-01-01T00:00:00Z', replicaStatuses: "
     "{Worker: {active: 2}}, conditions: [{type: Succeeded, status: 'True'}]}}",
     "{spec: {}, status: {startTime: '2026-01-01T00:00:00Z', replicaStatuses: {Worker: {active: 3}}, conditions: "
     "[{type: Created, status: 'True'}, {type: Running, status: 'True'}]}}"},
    {"kubeflow.org/v1", "PyTorchJob", kHealth, "{status: {conditions: [{type: Running, status: 'True'}]}}", "", "true"},
    {"kubeflow.org/v1", "PyTorchJob", kHealth, "{status: {conditions: [{type: Failed, status: 'True'}]}}", "", "false"},
    {"kubeflow.org/v1", "PyTorchJob", kDependency,
     "{metadata: {namespace: ns}, spec: {pytorchReplicaSpecs: {Worker: {template: {spec: {imagePullSecrets: [{name: "
     "s}]}}}}}}",
     "", kSecret},
    {"kubeflow.org/v1", "TFJob", kComponent, "{spec: {tfReplicaSpecs: {PS: {replicas: 2}, Chief: {}}}}", "",
     "[{name: ps, replicas: 2}, {name: chief, replicas: 1}]"},
    {"kubeflow.org/v1", "TFJob", kComponent, "{spec: {tfReplicaSpecs: {PS: {replicas: x}}}}", "",
     "error: replicas of \"ps\""},
    {"kubeflow.org/v1", "TFJob", kAggregate, "{spec: {}}",
     "{a: {conditions: [{type: Succeeded, status: 'True'}]}, b: {conditions: [{type: Succeeded, status: 'True', "
     "lastTransitionTime: '2026-01-01T00:00:00Z'}]}}",
     "{spec: {}, status: {conditions: [{type: Succeeded, status: 'True', lastTransitionTime: "
     "'2026-01-01T00:00:00Z'}]}}"},
    {"kubeflow.org/v1", "TFJob", kHealth, "{status: {}}", "", "false"},
    {"kubeflow.org/v1", "TFJob", kDependency,
     "{metadata: {namespace: ns}, spec: {tfReplicaSpecs: {PS: {template: {spec: {imagePullSecrets: [{name: s}]}}}}}}",
     "", kSecret},
    {"kubeflow.org/v2beta1", "MPIJob", kComponent,
     "{spec: {mpiReplicaSpecs: {Launcher: {template: {spec: {}}}, Worker: {template: {spec: {}}}}}}", "",
     "[{name: Launcher, replicas: 1}, {name: Worker, replicas: 0}]"},
    {"kubeflow.org/v2beta1", "MPIJob", kReflect, "{status: {startTime: t, x: 1}}", "", "{startTime: t}"},
    {"kubeflow.org/v2beta1", "MPIJob", kAggregate, "{spec: {}}", "{a: {startTime: t}}",
     "{spec: {}, status: {startTime: t}}"},
    {"kubeflow.org/v2beta1", "MPIJob", kHealth, "{status: {conditions: [{type: Running, status: 'True'}]}}", "",
     "true"},
    {"kubeflow.org/v1", "Notebook", kReplica,
     "{spec: {template: {spec: {containers: [{resources: {requests: {cpu: 1}}}]}}}}", "",
     "{replicas: 1, requirements: {resourceRequest: {cpu: '1'}}}"},
    {"kubeflow.org/v1", "Notebook", kReflect, "{status: {readyReplicas: 1, x: 1}}", "", "{readyReplicas: 1}"},
    {"kubeflow.org/v1", "Notebook", kAggregate, "{spec: {}}",
     "{a: {readyReplicas: 1, containerState: {running: {}}}, b: {readyReplicas: 0, containerState: {waiting: {reason: "
     "X}}}}",
     "{spec: {}, status: {readyReplicas: 1, containerState: {waiting: {reason: X}}}}"},
    {"kubeflow.org/v1", "Notebook", kHealth, "{status: {containerState: {running: {startedAt: t}}}}", "", "true"},
    {"kubeflow.org/v1", "Notebook", kHealth, "{status: {containerState: {waiting: {reason: ContainerCreating}}}}", "",
     "true"},
    {"kubeflow.org/v1", "Notebook", kHealth, "{status: {containerState: {terminated: {exitCode: 1}}}}", "", "false"},
    {"argoproj.io/v1alpha1", "Workflow", kReplica, "{spec: {parallelism: 3, nodeSelector: {a: b}}}", "",
     "{replicas: 3, requirements: {nodeClaim: {nodeSelector: {a: b}}}}"},
    {"argoproj.io/v1alpha1", "Workflow", kRevise, "{spec: {}}", "2", "{spec: {parallelism: 2}}"},
    {"argoproj.io/v1alpha1", "Workflow", kRetain, "{spec: {}}", "{spec: {suspend: true}, status: {phase: Running}}",
     "{spec: {suspend: true}, status: {phase: Running}}"},
    {"argoproj.io/v1alpha1", "Workflow", kHealth, "{status: {phase: Running}}", "", "true"},
    {"argoproj.io/v1alpha1", "Workflow", kHealth, "{status: {phase: Error}}", "", "false"},
    {"argoproj.io/v1alpha1", "Workflow", kDependency,
     "{metadata: {namespace: ns}, spec: {serviceAccountName: sa, executor: {serviceAccountName: ex}, volumes: "
     "[{secret: {secretName: s}}]}}",
     "",
     "[{apiVersion: v1, kind: Secret, namespace: ns, name: s}, {apiVersion: v1, kind: ServiceAccount, namespace: ns, "
     "name: ex}, {apiVersion: v1, kind: ServiceAccount, namespace: ns, name: sa}]"},
};

constexpr const char* kRaySpec =
    "{headGroupSpec: {template: {spec: {containers: [{resources: {requests: {cpu: 1, memory: 2Gi}}}], "
    "imagePullSecrets: [{name: s}]}}}, "
    "workerGroupSpecs: [{groupName: small, replicas: 1, template: {spec: {containers: [{resources: {requests: {cpu: "
    "4}}}]}}}, {replicas: 3}]}";

std::vector<Row> RayRows() {
  static const std::string in_cluster = StrCat("{metadata: {namespace: ns}, spec: ", kRaySpec, "}");
  static const std::string in_job = StrCat("{metadata: {namespace: ns}, spec: {rayClusterSpec: ", kRaySpec, "}}");
  static const std::string in_service = StrCat("{metadata: {namespace: ns}, spec: {rayClusterConfig: ", kRaySpec, "}}");
  static constexpr const char* kComponents =
      "[{name: ray-head, replicas: 1, requirements: {resourceRequest: {cpu: '1', memory: 2Gi}}}, {name: small, "
      "replicas: 1, requirements: {resourceRequest: {cpu: '4'}}}, {name: worker-2, replicas: 3}]";
  return {
      {"ray.io/v1", "RayCluster", kComponent, in_cluster.c_str(), "", kComponents},
      {"ray.io/v1", "RayCluster", kAggregate, "{spec: {}}",
       "{a: {readyWorkerReplicas: 1, desiredCPU: '1', desiredMemory: 1Gi, state: ready}, b: {readyWorkerReplicas: 2, "
       "desiredCPU: 500m, desiredMemory: 1Gi, state: failed}}",
       "{spec: {}, status: {readyWorkerReplicas: 3, availableWorkerReplicas: 0, minWorkerReplicas: 0, "
       "maxWorkerReplicas: 0, desiredWorkerReplicas: 0, desiredCPU: 1500m, desiredGPU: '0', desiredTPU: '0', "
       "desiredMemory: 2Gi, state: ready}}"},
      {"ray.io/v1", "RayCluster", kHealth,
       "{status: {conditions: [{type: HeadPodReady, status: 'True'}, {type: RayClusterProvisioned, status: 'True'}]}}",
       "", "true"},
      {"ray.io/v1", "RayCluster", kHealth,
       "{status: {conditions: [{type: HeadPodReady, status: 'True'}, {type: RayClusterProvisioned, status: 'True'}, "
       "{type: RayClusterReplicaFailure, status: 'True'}]}}",
       "", "false"},
      {"ray.io/v1", "RayJob", kComponent, in_job.c_str(), "", kComponents},
      {"ray.io/v1", "RayJob", kAggregate, "{spec: {}}",
       "{a: {jobStatus: RUNNING, jobDeploymentStatus: Running}, b: {jobStatus: FAILED, jobDeploymentStatus: Failed, "
       "reason: r}}",
       "{spec: {}, status: {jobStatus: FAILED, jobDeploymentStatus: Failed, reason: r}}"},
      {"ray.io/v1", "RayJob", kHealth, "{status: {jobDeploymentStatus: Running}}", "", "true"},
      {"ray.io/v1", "RayJob", kHealth, "{status: {jobDeploymentStatus: Complete, jobStatus: SUCCEEDED}}", "", "true"},
      {"ray.io/v1", "RayJob", kHealth, "{status: {jobDeploymentStatus: Complete, jobStatus: FAILED}}", "", "false"},
      {"ray.io/v1", "RayJob", kDependency, in_job.c_str(), "", kSecret},
      {"ray.io/v1", "RayService", kReplica, in_service.c_str(), "",
       "{replicas: 5, requirements: {resourceRequest: {cpu: '4', memory: 2Gi}}}"},
      {"ray.io/v1", "RayService", kReplica, "{spec: {}}", "", "{replicas: 0}"},
      {"ray.io/v1", "RayService", kRevise,
       "{spec: {rayClusterConfig: {workerGroupSpecs: [{replicas: 1}, {replicas: 3}]}}}", "8",
       "{spec: {rayClusterConfig: {workerGroupSpecs: [{replicas: 2}, {replicas: 5}]}}}"},
      {"ray.io/v1", "RayService", kRevise, "{spec: {rayClusterConfig: {workerGroupSpecs: [{}, {}, {}]}}}", "5",
       "{spec: {rayClusterConfig: {workerGroupSpecs: [{replicas: 2}, {replicas: 1}, {replicas: 1}]}}}"},
      {"ray.io/v1", "RayService", kRevise, "{spec: {rayClusterConfig: {workerGroupSpecs: [{replicas: 4}]}}}", "0",
       "{spec: {rayClusterConfig: {workerGroupSpecs: [{replicas: 0}]}}}"},
      {"ray.io/v1", "RayService", kAggregate, "{spec: {}}",
       "{a: {numServeEndpoints: 1, observedGeneration: 2}, b: {numServeEndpoints: 2, observedGeneration: 1}}",
       "{spec: {}, status: {numServeEndpoints: 3, observedGeneration: 2}}"},
      {"ray.io/v1", "RayService", kHealth, "{status: {conditions: [{type: Ready, status: 'True', reason: any}]}}", "",
       "true"},
      {"ray.io/v1", "RayService", kDependency, in_service.c_str(), "", kSecret},
      {"sparkoperator.k8s.io/v1beta2", "SparkApplication", kComponent,
       "{spec: {type: Scala, driver: {cores: 2, memory: 512m, nodeSelector: {a: b}}, executor: {instances: 3, memory: "
       "10g, gpu: {name: nvidia.com/gpu, quantity: 1}}}}",
       "",
       "[{name: driver, replicas: 1, requirements: {nodeClaim: {nodeSelector: {a: b}}, resourceRequest: {cpu: '2', "
       "memory: 896Mi}}}, {name: executor, replicas: 3, requirements: {resourceRequest: {cpu: '1', memory: 11Gi, "
       "nvidia.com/gpu: '1'}}}]"},
      {"sparkoperator.k8s.io/v1beta2", "SparkApplication", kComponent, "{spec: {driver: {memory: lots}}}", "",
       "error: spec.driver: memory"},
      {"sparkoperator.k8s.io/v1beta2", "SparkApplication", kReflect,
       "{status: {applicationState: {state: RUNNING}, x: 1}}", "", "{applicationState: {state: RUNNING}}"},
      {"sparkoperator.k8s.io/v1beta2", "SparkApplication", kAggregate, "{spec: {}}",
       "{a: {applicationState: {state: RUNNING}, executorState: {e1: RUNNING}}, b: {applicationState: {state: FAILED}, "
       "executorState: {e2: FAILED}}}",
       "{spec: {}, status: {applicationState: {state: FAILED}, executionAttempts: 0, submissionAttempts: 0, "
       "executorState: {e1: RUNNING, e2: FAILED}}}"},
      {"sparkoperator.k8s.io/v1beta2", "SparkApplication", kHealth, "{status: {applicationState: {state: RUNNING}}}",
       "", "true"},
      {"sparkoperator.k8s.io/v1beta2", "SparkApplication", kHealth, "{status: {applicationState: {state: FAILED}}}", "",
       "false"},
      {"sparkoperator.k8s.io/v1beta2", "SparkApplication", kHealth, "{status: {}}", "", "false"},
  };
}

constexpr const char* kFlink = "flink.apache.org/v1beta1";
const Row kFlinkRows[] = {
    {kFlink, "FlinkDeployment", kReplica,
     "{metadata: {namespace: ns}, spec: {job: {parallelism: 5}, flinkConfiguration: {taskmanager.numberOfTaskSlots: "
     "'2'}, jobManager: {resource: {cpu: 1, memory: 2048m}}, taskManager: {resource: {cpu: 0.5, memory: 4Gi}}, "
     "podTemplate: {spec: {nodeSelector: {a: b}, priorityClassName: high}}}}",
     "",
     "{replicas: 4, requirements: {namespace: ns, nodeClaim: {nodeSelector: {a: b}}, priorityClassName: high, "
     "resourceRequest: {cpu: '1', memory: 4Gi}}}"},
    {kFlink, "FlinkDeployment", kReplica, "{spec: {taskManager: {replicas: 3}, jobManager: {replicas: 2}}}", "",
     "{replicas: 5, requirements: {}}"},
    {kFlink, "FlinkDeployment", kReplica, "{spec: {job: {parallelism: 5}}}", "", "{replicas: 2, requirements: {}}"},
    {kFlink, "FlinkDeployment", kReplica, "{spec: {jobManager: {resource: {memory: lots}}}}", "",
     "error: spec.jobManager.resource.memory"},
    {kFlink, "FlinkDeployment", kReplica, "{spec: {jobManager: {replicas: -1}}}", "",
     "error: spec.jobManager.replicas"},
    {kFlink, "FlinkDeployment", kComponent,
     "{spec: {jobManager: {resource: {cpu: 1, memory: 2g}}, taskManager: {replicas: 2, resource: {memory: '1024 "
     "mb'}}}}",
     "",
     "[{name: jobmanager, replicas: 1, requirements: {resourceRequest: {cpu: '1', memory: 2Gi}}}, {name: taskmanager, "
     "replicas: 2, requirements: {resourceRequest: {memory: 1Gi}}}]"},
    {kFlink, "FlinkDeployment", kReflect,
     "{metadata: {generation: 3, annotations: {resourcetemplate.karmada.io/generation: '2'}}, spec: {job: {state: "
     "suspended, initialSavepointPath: 's3://a'}}, status: {lifecycleState: SUSPENDED, jobStatus: {state: FINISHED, "
     "jobId: j}, conditions: []}}",
     "",
     "{lifecycleState: SUSPENDED, jobStatus: {state: FINISHED, jobId: j}, generation: 3, resourceTemplateGeneration: "
     "2, specState: suspended, specInitialSavepointPath: 's3://a'}"},
    {kFlink, "FlinkDeployment", kReflect, "{spec: {}}", "", "null"},
    {kFlink, "FlinkDeployment", kAggregate, "{spec: {}}",
     "{a: {lifecycleState: STABLE, jobStatus: {state: RUNNING}, generation: 2, specState: running}, b: "
     "{lifecycleState: CREATED}, c: null}",
     "{spec: {}, status: {lifecycleState: STABLE, jobStatus: {state: RUNNING}}}"},
    {kFlink, "FlinkDeployment", kAggregate, "{spec: {}, status: {error: old}}",
     "{a: {lifecycleState: SUSPENDED, jobStatus: {state: FINISHED}}, b: {lifecycleState: DEPLOYED, jobStatus: {state: "
     "INITIALIZING}}}",
     "{spec: {}, status: {lifecycleState: DEPLOYED, jobStatus: {state: INITIALIZING}}}"},
    {kFlink, "FlinkDeployment", kHealth, "{status: {jobStatus: {state: RUNNING}, lifecycleState: STABLE}}", "", "true"},
    {kFlink, "FlinkDeployment", kHealth, "{status: {jobStatus: {state: 5}}}", "",
     "error: jobStatus.state: expected a string"},
    {kFlink, "FlinkDeployment", kDependency,
     "{metadata: {namespace: ns}, spec: {serviceAccount: flink, podTemplate: {spec: {imagePullSecrets: [{name: s}]}}, "
     "taskManager: {podTemplate: {spec: {volumes: [{configMap: {name: c}}]}}}}}",
     "",
     "[{apiVersion: v1, kind: ConfigMap, namespace: ns, name: c}, {apiVersion: v1, kind: Secret, namespace: ns, name: "
     "s}, {apiVersion: v1, kind: ServiceAccount, namespace: ns, name: flink}]"},
};

const Row kOtherVerdicts[] = {
    {kKruiseBeta, "StatefulSet", kHealth, kNotRolledOut, "", "false"},
    {kKruise, "UnitedDeployment", kHealth, kRolledOut, "", "true"},
    {kKruise, "UnitedDeployment", kHealth,
     "{metadata: {generation: 3}, spec: {replicas: 2}, status: {observedGeneration: 2, updatedReplicas: 2, "
     "availableReplicas: 2}}",
     "", "false"},
    {"source.toolkit.fluxcd.io/v1", "GitRepository", kHealth,
     "{status: {conditions: [{type: Ready, status: 'False', reason: Succeeded}]}}", "", "false"},
    {kSource, "Bucket", kHealth, "{status: {conditions: [{type: Ready, status: 'True', reason: Other}]}}", "", "false"},
    {kSource, "HelmChart", kHealth, "{status: {conditions: [{type: Ready, status: 'True', reason: Other}]}}", "",
     "false"},
    {kSource, "HelmRepository", kHealth, "{status: {conditions: [{type: Ready, status: 'True', reason: Succeeded}]}}",
     "", "true"},
    {kSource, "OCIRepository", kHealth, "{status: {}}", "", "false"},
    {"kyverno.io/v1", "Policy", kHealth, "{status: {ready: false}}", "", "false"},
    {"kyverno.io/v1", "ClusterPolicy", kHealth, "{status: {ready: true}}", "", "true"},
    {"kubeflow.org/v1", "TFJob", kHealth, "{status: {conditions: [{type: Running, status: 'True'}]}}", "", "true"},
    {"kubeflow.org/v2beta1", "MPIJob", kHealth, "{status: {conditions: [{type: Failed, status: 'True'}]}}", "",
     "false"},
    {"ray.io/v1", "RayService", kHealth, "{status: {conditions: [{type: Ready, status: 'False', reason: any}]}}", "",
     "false"},
    {kFlink, "FlinkDeployment", kHealth, "{status: {jobStatus: {state: FAILED}, lifecycleState: STABLE}}", "", "false"},
};

TEST(ThirdPartyTest, AnswersForEveryKindAndOperation) {
  const Interpreter interpreter({.now = TestNow});
  std::vector<Row> rows = RayRows();
  rows.insert(rows.end(), std::begin(kOtherVerdicts), std::end(kOtherVerdicts));
  rows.insert(rows.end(), std::begin(kKruiseRows), std::end(kKruiseRows));
  rows.insert(rows.end(), std::begin(kGitOpsRows), std::end(kGitOpsRows));
  rows.insert(rows.end(), std::begin(kJobRows), std::end(kJobRows));
  rows.insert(rows.end(), std::begin(kFlinkRows), std::end(kFlinkRows));
  CheckRows(interpreter, rows);
  CheckCoverage(ThirdPartyHandlers(), rows);
}

TEST(ThirdPartyTest, HasTheOperationsOfKarmada) {
  const std::map<KindName, std::string> expected = {{{kFlink, "FlinkDeployment"}, "RCSAHD"},  // dependencies are ours
                                                    {{"sparkoperator.k8s.io/v1beta2", "SparkApplication"}, "CSAH"},
                                                    {{"batch.volcano.sh/v1alpha1", "Job"}, "CSAH"},
                                                    {{"ray.io/v1", "RayCluster"}, "CAH"},
                                                    {{"ray.io/v1", "RayJob"}, "CAHD"},
                                                    {{"ray.io/v1", "RayService"}, "RVAHD"},
                                                    {{"kubeflow.org/v1", "PyTorchJob"}, "CAHD"},
                                                    {{"kubeflow.org/v1", "TFJob"}, "CAHD"},
                                                    {{"kubeflow.org/v2beta1", "MPIJob"}, "CSAH"},
                                                    {{"kubeflow.org/v1", "Notebook"}, "RSAH"},
                                                    {{"argoproj.io/v1alpha1", "Workflow"}, "RVTHD"},
                                                    {{kKruiseBeta, "StatefulSet"}, "RVSAHD"},
                                                    {{kKruise, "CloneSet"}, "RVSAHD"},
                                                    {{kKruise, "UnitedDeployment"}, "RVSAHD"},
                                                    {{kKruise, "BroadcastJob"}, "RVTSAHD"},
                                                    {{kKruise, "DaemonSet"}, "SAHD"},
                                                    {{kKruise, "SidecarSet"}, "RTSAHD"},
                                                    {{kKruise, "AdvancedCronJob"}, "AD"},
                                                    {{"kyverno.io/v1", "Policy"}, "SAH"},
                                                    {{"kyverno.io/v1", "ClusterPolicy"}, "SAH"},
                                                    {{"kustomize.toolkit.fluxcd.io/v1", "Kustomization"}, "TSAHD"},
                                                    {{"helm.toolkit.fluxcd.io/v2beta1", "HelmRelease"}, "TSAHD"},
                                                    {{"source.toolkit.fluxcd.io/v1", "GitRepository"}, "TSAHD"},
                                                    {{kSource, "Bucket"}, "TSAHD"},
                                                    {{kSource, "HelmChart"}, "TSAHD"},
                                                    {{kSource, "HelmRepository"}, "TSAHD"},
                                                    {{kSource, "OCIRepository"}, "TSAHD"}};
  std::map<KindName, std::string> actual;
  for (const auto& [kind, handlers] : ThirdPartyHandlers()) actual[kind] = LettersOf(handlers);
  EXPECT_EQ(actual, expected);
}

}  // namespace
}  // namespace baton::interpret
