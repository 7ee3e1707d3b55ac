// The profiles that come with Baton: FlinkDeployment with a full proof of stop, start and capture; Deployment and Job,
// which are only fenced. Written as a user would write them.
#include "interpret/profile.h"
#include "json/yaml.h"

namespace baton::interpret {
namespace {

// Facts: docs/ROLLOUT.md, "What Flink's operator tells".
constexpr std::string_view kFlink = R"yaml(
apiVersion: rollout.karmada.io/v1alpha1
kind: MigrationProfile
metadata: {name: flinkdeployment}
spec:
  target: {apiVersion: flink.apache.org/v1beta1, kind: FlinkDeployment}
  guarantee: ExactlyOnce
  epoch: /spec/flinkConfiguration/kubernetes.operator.baton.seq
  parse: [/status/reconciliationStatus/lastReconciledSpec]
  related:
    - {apiVersion: apps/v1, kind: Deployment, name: "${name}"}
    - {apiVersion: v1, kind: Pod, labelSelector: "app=${name}"}
  # Made in the target once it runs, and removed at the end: its completion is a checkpoint of the restored job.
  probe:
    apiVersion: flink.apache.org/v1beta1
    kind: FlinkStateSnapshot
    metadata: {name: "${name}-baton-${seq}"}
    spec:
      backoffLimit: 1
      checkpoint: {checkpointType: FULL}
      jobReference: {kind: FlinkDeployment, name: "${name}"}
  hold:
    - {path: /spec/job/state, value: suspended}
  stop:
    - {path: /spec/job/state, value: suspended}
    - {path: /spec/job/upgradeMode, value: savepoint}
    - {path: /spec/flinkConfiguration/kubernetes.operator.job.upgrade.last-state-fallback.enabled, value: "false"}
    - {path: /spec/flinkConfiguration/kubernetes.operator.jm-deployment.shutdown-ttl, value: "0 s"}
    - {path: /spec/flinkConfiguration/kubernetes.operator.job.drain-on-savepoint-deletion, value: "false"}
    - {path: /spec/flinkConfiguration/kubernetes.operator.savepoint.cleanup.enabled, value: "false"}
  run:
    - {path: /spec/job/state, value: running}
    - {path: /spec/job/upgradeMode, value: savepoint}
  script: |
    local seqKey = "kubernetes.operator.baton.seq"

    local function conf(object)
      return object.spec.flinkConfiguration or {}
    end

    local function savepointKey(object)
      if conf(object)["execution.checkpointing.savepoint-dir"] ~= nil then return "execution.checkpointing.savepoint-dir" end
      return "state.savepoints.dir"
    end

    local function trimmed(path)
      if path:sub(-1) == "/" then return path:sub(1, -2) end
      return path
    end

    function StateDir(object, name)
      local dir = conf(object)[savepointKey(object)]
      if dir == nil then return "" end
      return trimmed(dir) .. "/" .. name
    end

    function Stop(object, q)
      local set = {{path = "/spec/flinkConfiguration/" .. savepointKey(object), value = q.stateDir}}
      -- Without the fallback the operator waits for ever for a job that does not run to make a savepoint. A source is not
      -- stopped like that; a target that goes back is, and whether it wrote is decided by the state it leaves.
      if q.anyWay then
        set[2] = {path = "/spec/flinkConfiguration/kubernetes.operator.job.upgrade.last-state-fallback.enabled", value = "true"}
        set[3] = {path = "/spec/flinkConfiguration/kubernetes.operator.job.upgrade.last-state.job-cancel.enabled", value = "true"}
      end
      return set
    end

    function Run(object, q)
      if q.ref == "" then return {} end
      local set = {{path = "/spec/job/initialSavepointPath", value = q.ref}}
      -- An object that was deployed before takes the path only with a new nonce; to a new one it means nothing.
      if q.redeploy then set[2] = {path = "/spec/job/savepointRedeployNonce", value = q.seq} end
      return set
    end

    function Preflight(object)
      local problems = {}
      local function add(text) problems[#problems + 1] = text end
      if object.spec.job == nil then
        add("it is a session cluster: it has no job to move")
        return problems
      end
      if conf(object)[savepointKey(object)] == nil then
        add("it has no savepoint directory: set state.savepoints.dir to storage that both clusters reach")
      else
        local dir = conf(object)[savepointKey(object)]
        if dir:sub(1, 5) == "file:" then add("its savepoint directory is local to a cluster: " .. dir) end
      end
      local claim = conf(object)["execution.state-recovery.claim-mode"] or conf(object)["execution.savepoint-restore-mode"]
      if claim == "CLAIM" then add("claim mode CLAIM lets the target delete the state that the source would need") end
      -- A way back sets a nonce of its own; taking that away again would redeploy from the path that the template names.
      if object.spec.job.savepointRedeployNonce ~= nil then
        add("its spec.job.savepointRedeployNonce would make Flink's operator redeploy from an old state: remove it")
      end
      if conf(object)["$internal.pipeline.job-id"] ~= nil then add("a fixed job id lets two clusters write one checkpoint directory") end
      return problems
    end

    local terminal = {FINISHED = true, FAILED = true, CANCELED = true}

    local function inside(path, dir)
      return dir ~= "" and path:sub(1, #dir + 1) == dir .. "/"
    end

    -- The stop proof: everything from this one look, or it is none.
    local function stopProof(object, related, q, r)
      local status = object.status or {}
      local job = status.jobStatus or {}
      local recon = status.reconciliationStatus or {}
      local recorded = recon.lastReconciledSpec
      local path = job.upgradeSavepointPath or ""
      if recorded == nil or recorded.spec == nil then
        -- Never deployed: nothing ran as far as the operator recorded; it counts once it is deleted and seen gone.
        if #related.remains == 0 and job.state == nil and object.spec.job.state == "suspended" then
          r.stopProven = true
          r.progress = "none"
          return ""
        end
        return "the operator has not recorded a deployment"
      end
      if status.observedGeneration ~= object.metadata.generation then return "the operator has not seen the newest spec" end
      if recorded.spec.job.state ~= "suspended" then return "the operator has not recorded the stop" end
      local recordedConf = recorded.spec.flinkConfiguration or {}
      if recordedConf[seqKey] ~= tostring(q.stopSeq) then return "the recorded stop is not of this epoch" end
      if not terminal[job.state or ""] then return "the job is " .. (job.state or "unknown") end
      if status.jobManagerDeploymentStatus ~= "MISSING" then return "the JobManager is still there" end
      if #related.remains > 0 then return "pods or the JobManager's Deployment are still there" end
      if recon.state ~= "DEPLOYED" and not (job.state == "CANCELED") then return "the operator is still at work" end
      r.stopProven = true
      if path ~= "" and path ~= "KUBERNETES_OPERATOR_LAST_STATE" then
        if inside(path, q.stateDir) and recorded.spec.job.upgradeMode == "savepoint" and job.state == "FINISHED" then
          r.capture = path
          r.progress = "some"
        elseif path == q.priorPath then
          r.progress = "none"
        end
      end
      if r.capture == nil and r.progress ~= "none" then
        r.stopFailed = "it stopped without a savepoint of this stop (its state is " .. (path == "" and "not named" or path) .. ")"
      end
      return ""
    end

    local function startProof(object, related, q, r)
      local status = object.status or {}
      local job = status.jobStatus or {}
      local recon = status.reconciliationStatus or {}
      local recorded = recon.lastReconciledSpec
      if status.error ~= nil and status.error ~= "" and status.jobManagerDeploymentStatus == "ERROR" then
        r.startFailed = "the JobManager does not start: " .. status.error
        return r.startFailed
      end
      if status.lifecycleState == "FAILED" then
        r.startFailed = "Flink's operator says FAILED: " .. (status.error or "no reason given")
        return r.startFailed
      end
      if status.observedGeneration ~= object.metadata.generation then return "the operator has not seen the newest spec" end
      if recorded == nil or recorded.spec == nil or recorded.spec.job.state ~= "running" then return "the operator has not recorded the start" end
      if status.lifecycleState ~= "STABLE" then return "its lifecycle is " .. (status.lifecycleState or "unknown") end
      if job.state ~= "RUNNING" then return "the job is " .. (job.state or "unknown") end
      if q.startRef ~= "" and job.upgradeSavepointPath ~= q.startRef then
        return "it was restored from " .. (job.upgradeSavepointPath or "nothing") .. " and not from " .. q.startRef
      end
      -- Where the operator has no snapshot objects, RUNNING and STABLE for the stabilization time must do.
      if related.probe ~= nil then
        local probed = related.probe.status or {}
        if probed.state == "FAILED" then return "the checkpoint that was asked for failed: " .. (probed.error or "no reason given") end
        if probed.state ~= "COMPLETED" then return "no checkpoint is complete yet" end
      elseif not related.probeUnavailable then
        return "no checkpoint is complete yet"
      end
      r.startProven = true
      return ""
    end

    function Judge(object, related, q)
      local status = object.status or {}
      local job = status.jobStatus or {}
      local recon = status.reconciliationStatus or {}
      local recorded = recon.lastReconciledSpec
      local r = {priorPath = job.upgradeSavepointPath or ""}
      -- It runs, its spec says so, and the operator has seen this very spec.
      r.runs = job.state == "RUNNING" and recorded ~= nil and recorded.spec ~= nil and recorded.spec.job.state == "running"
        and object.spec.job.state ~= "suspended" and status.observedGeneration == object.metadata.generation
      if q.stopSeq >= 0 then r.stopMissing = stopProof(object, related, q, r) end
      if q.startSeq >= 0 then r.startMissing = startProof(object, related, q, r) end
      return r
    end
)yaml";

constexpr std::string_view kDeployment = R"yaml(
apiVersion: rollout.karmada.io/v1alpha1
kind: MigrationProfile
metadata: {name: deployment}
spec:
  target: {apiVersion: apps/v1, kind: Deployment}
  guarantee: FencedOnly
  optIn: true
  epoch: /metadata/annotations/rollout.karmada.io~1seq
  related:
    - {apiVersion: v1, kind: Pod, labelSelector: "app=${name}"}
  hold:
    - {path: /spec/replicas, value: 0}
  stop:
    - {path: /spec/replicas, value: 0}
  script: |
    function Judge(object, related, q)
      local status = object.status or {}
      local r = {capture = ""}
      local seen = status.observedGeneration == object.metadata.generation
      local replicas = object.spec.replicas
      r.runs = replicas > 0 and seen and (status.availableReplicas or 0) > 0
      if q.stopSeq >= 0 then
        if not seen then r.stopMissing = "its controller has not seen the newest spec"
        elseif (status.replicas or 0) > 0 or #related.remains > 0 then r.stopMissing = "pods are still there"
        else
          r.stopProven = true
          r.capture = "stopped"   -- nothing is captured: only the fence is handed over
          r.progress = "none"
        end
      end
      if q.startSeq >= 0 then
        if not seen then r.startMissing = "its controller has not seen the newest spec"
        elseif (status.availableReplicas or 0) < replicas then r.startMissing = "not all replicas are available"
        else r.startProven = true end
      end
      return r
    end
)yaml";

constexpr std::string_view kJob = R"yaml(
apiVersion: rollout.karmada.io/v1alpha1
kind: MigrationProfile
metadata: {name: job}
spec:
  target: {apiVersion: batch/v1, kind: Job}
  guarantee: FencedOnly
  optIn: true
  epoch: /metadata/annotations/rollout.karmada.io~1seq
  related:
    - {apiVersion: v1, kind: Pod, labelSelector: "job-name=${name}"}
  hold:
    - {path: /spec/suspend, value: true}
  stop:
    - {path: /spec/suspend, value: true}
  run:
    - {path: /spec/suspend, value: false}
  script: |
    local function condition(object, kind)
      for _, c in ipairs((object.status or {}).conditions or {}) do
        if c.type == kind then return c.status == "True" end
      end
      return false
    end

    function Judge(object, related, q)
      local status = object.status or {}
      local r = {capture = ""}
      r.runs = (status.active or 0) > 0
      if q.stopSeq >= 0 then
        if not condition(object, "Suspended") then r.stopMissing = "it is not suspended yet"
        elseif (status.active or 0) > 0 or (status.terminating or 0) > 0 or #related.remains > 0 then r.stopMissing = "pods are still there"
        else
          r.stopProven = true
          r.capture = "stopped"
          r.progress = "none"
        end
      end
      if q.startSeq >= 0 then
        if (status.active or 0) > 0 or condition(object, "Complete") then r.startProven = true
        else r.startMissing = "no pod is active" end
      end
      return r
    end
)yaml";

}  // namespace

std::vector<json::Value> BuiltinProfiles() {
  std::vector<json::Value> profiles;
  for (const std::string_view text : {kFlink, kDeployment, kJob}) {
    Result<json::Value> object = json::ParseYaml(text);
    INVARIANT(object.ok(), "a built-in profile is YAML");
    profiles.push_back(*std::move(object));
  }
  return profiles;
}

}  // namespace baton::interpret
