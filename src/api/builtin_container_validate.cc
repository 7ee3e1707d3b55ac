// Rules for containers: names, images, ports, environment, mounts, probes, resources.
#include <algorithm>
#include <iterator>
#include <set>

#include "api/builtin_kinds.h"
#include "base/strings.h"
#include "json/quantity.h"

namespace baton::api::builtin {
namespace {

using Names = std::set<std::string, std::less<>>;

void CheckPorts(Errors& errors, const std::string& field, const Value& ports) {
  Names names;
  for (size_t i = 0; i < ports.size(); ++i) {
    const Value& port = ports[i];
    const std::string path = IndexPath(field, i);
    if (const std::string name(port["name"].str()); !name.empty()) {
      const json::Messages wrong = json::CheckPortName(name);
      AddInvalid(errors, ChildPath(path, "name"), name, wrong);
      if (wrong.empty() && !names.insert(name).second) {
        errors.push_back(DuplicateError(ChildPath(path, "name"), name));
      }
    }
    if (const int64_t number = port["containerPort"].int_or(0); number == 0) {
      errors.push_back(RequiredError(ChildPath(path, "containerPort"), ""));
    } else {
      AddInvalid(errors, ChildPath(path, "containerPort"), number, json::CheckPortNumber(number));
    }
    if (const int64_t number = port["hostPort"].int_or(0); number != 0) {
      AddInvalid(errors, ChildPath(path, "hostPort"), number, json::CheckPortNumber(number));
    }
    CheckEnum(errors, ChildPath(path, "protocol"), port["protocol"], {"SCTP", "TCP", "UDP"}, true);
  }
}

// Any printable ASCII but '='.
bool IsRelaxedEnvName(std::string_view name) {
  for (char c : name) {
    if (c < ' ' || c > '~' || c == '=') return false;
  }
  return true;
}

// What a variable may be made of.
void CheckFieldPath(Errors& errors, const std::string& field, const Value& path) {
  static constexpr std::string_view kPaths[] = {
      "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName",
      "status.hostIP", "status.hostIPs",     "status.podIP", "status.podIPs"};
  const std::string_view text = path.str();
  if (text.empty()) {
    errors.push_back(RequiredError(field, ""));
  } else if (std::ranges::find(kPaths, text) == std::end(kPaths) && !text.starts_with("metadata.labels['") &&
             !text.starts_with("metadata.annotations['")) {
    errors.push_back(
        InvalidError(field, path, StrCat("error converting fieldPath: field label not supported: ", text)));
  }
}

void CheckResourcePath(Errors& errors, const std::string& field, const Value& resource) {
  const std::string_view text = resource.str();
  if (text.starts_with("limits.hugepages-") || text.starts_with("requests.hugepages-")) return;
  CheckEnum(errors, field, resource,
            {"limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage",
             "requests.memory"},
            true);
}

void CheckEnvSource(Errors& errors, const std::string& field, const Value& variable) {
  const Value& source = variable["valueFrom"];
  if (!source.is_object()) return;
  size_t count = 0;
  for (std::string_view kind : {"fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef"}) {
    const Value& reference = source[kind];
    if (!reference.is_object()) continue;
    ++count;
    const std::string path = ChildPath(field, kind);
    if (kind == "fieldRef") CheckFieldPath(errors, ChildPath(path, "fieldPath"), reference["fieldPath"]);
    if (kind == "resourceFieldRef") CheckResourcePath(errors, ChildPath(path, "resource"), reference["resource"]);
    if (kind == "configMapKeyRef" || kind == "secretKeyRef") {
      AddInvalid(errors, ChildPath(path, "name"), reference["name"].str(),
                 json::CheckDns1123Subdomain(reference["name"].str()));
      if (IsUnset(reference["key"])) {
        errors.push_back(RequiredError(ChildPath(path, "key"), ""));
      } else {
        AddInvalid(errors, ChildPath(path, "key"), reference["key"], json::CheckConfigMapKey(reference["key"].str()));
      }
    }
  }
  if (count == 0) {
    errors.push_back(InvalidError(
        field, "",
        "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"));
  } else if (!IsUnset(variable["value"])) {
    errors.push_back(InvalidError(field, "", "may not be specified when `value` is not empty"));
  } else if (count > 1) {
    errors.push_back(InvalidError(field, "", "may not have more than one field specified at a time"));
  }
}

void CheckEnvironment(Errors& errors, const std::string& field, const Value& container) {
  const Value& env = container["env"];
  for (size_t i = 0; i < env.size(); ++i) {
    const std::string path = IndexPath(ChildPath(field, "env"), i);
    const Value& name = env[i]["name"];
    if (IsUnset(name)) {
      errors.push_back(RequiredError(ChildPath(path, "name"), ""));
    } else if (!IsRelaxedEnvName(name.str())) {
      errors.push_back(InvalidError(
          ChildPath(path, "name"), name,
          "a valid environment variable name must consist only of printable ASCII characters other than '='"));
    }
    CheckEnvSource(errors, ChildPath(path, "valueFrom"), env[i]);
  }
  const Value& from = container["envFrom"];
  for (size_t i = 0; i < from.size(); ++i) {
    const std::string path = IndexPath(ChildPath(field, "envFrom"), i);
    size_t count = 0;
    for (std::string_view kind : {"configMapRef", "secretRef"}) {
      if (!from[i][kind].is_object()) continue;
      ++count;
      if (IsUnset(from[i][kind]["name"])) errors.push_back(RequiredError(ChildPath(ChildPath(path, kind), "name"), ""));
    }
    const std::string whole = ChildPath(field, "envFrom");  // Kubernetes does not say which one here
    if (count == 0) errors.push_back(InvalidError(whole, "", "must specify one of: `configMapRef` or `secretRef`"));
    if (count > 1) {
      errors.push_back(InvalidError(whole, "", "may not have more than one field specified at a time"));
    }
  }
}

void CheckMounts(Errors& errors, const std::string& field, const Value& mounts, const Names& volumes) {
  Names paths;
  for (size_t i = 0; i < mounts.size(); ++i) {
    const std::string path = IndexPath(field, i);
    const std::string name(mounts[i]["name"].str());
    const std::string where(mounts[i]["mountPath"].str());
    if (name.empty()) errors.push_back(RequiredError(ChildPath(path, "name"), ""));
    if (!volumes.contains(name)) errors.push_back(NotFoundError(ChildPath(path, "name"), name));
    if (where.empty()) errors.push_back(RequiredError(ChildPath(path, "mountPath"), ""));
    if (!paths.insert(where).second) {
      errors.push_back(InvalidError(ChildPath(path, "mountPath"), where, "must be unique"));
    }
    const std::string_view inside = mounts[i]["subPath"].str();
    if (inside.starts_with('/')) {
      errors.push_back(InvalidError(ChildPath(field, "subPath"), inside, "must be a relative path"));
    }
    CheckNoBackstep(errors, ChildPath(field, "subPath"), inside);
  }
}

void CheckHttpGet(Errors& errors, const std::string& field, const Value& get) {
  if (IsUnset(get["path"])) errors.push_back(RequiredError(ChildPath(field, "path"), ""));
  CheckPortOrName(errors, ChildPath(field, "port"), get["port"]);
  CheckEnum(errors, ChildPath(field, "scheme"), get["scheme"], {"HTTP", "HTTPS"});
}

void CheckHandler(Errors& errors, const std::string& field, const Value& handler) {
  size_t count = 0;
  for (std::string_view kind : {"exec", "httpGet", "tcpSocket", "grpc", "sleep"}) {
    const Value& one = handler[kind];
    if (!one.is_object()) continue;
    const std::string path = ChildPath(field, kind);
    if (count++ > 0) {
      errors.push_back(ForbiddenError(path, "may not specify more than 1 handler type"));
      continue;
    }
    if (kind == "exec" && one["command"].empty()) errors.push_back(RequiredError(ChildPath(path, "command"), ""));
    if (kind == "httpGet") CheckHttpGet(errors, path, one);
    if (kind == "tcpSocket" || kind == "grpc") CheckPortOrName(errors, ChildPath(path, "port"), one["port"]);
  }
  if (count == 0) errors.push_back(RequiredError(field, "must specify a handler type"));
}

void CheckProbe(Errors& errors, const std::string& field, const Value& probe, bool one_success) {
  if (!probe.is_object()) return;
  CheckHandler(errors, field, probe);
  for (std::string_view number :
       {"initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"}) {
    CheckNotNegative(errors, ChildPath(field, number), probe[number]);
  }
  if (probe["terminationGracePeriodSeconds"].int_or(1) <= 0) {
    errors.push_back(InvalidError(ChildPath(field, "terminationGracePeriodSeconds"),
                                  probe["terminationGracePeriodSeconds"], "must be greater than 0"));
  }
  if (one_success && probe["successThreshold"].int_or(1) != 1) {
    errors.push_back(InvalidError(ChildPath(field, "successThreshold"), probe["successThreshold"], "must be 1"));
  }
}

void CheckHooksAndProbes(Errors& errors, const std::string& field, const Value& container) {
  for (std::string_view hook : {"postStart", "preStop"}) {
    const Value& handler = container["lifecycle"][hook];
    if (handler.is_object()) CheckHandler(errors, ChildPath(ChildPath(field, "lifecycle"), hook), handler);
  }
  CheckProbe(errors, ChildPath(field, "livenessProbe"), container["livenessProbe"], true);
  CheckProbe(errors, ChildPath(field, "readinessProbe"), container["readinessProbe"], false);
  CheckProbe(errors, ChildPath(field, "startupProbe"), container["startupProbe"], true);
}

void ForbidHooksAndProbes(Errors& errors, const std::string& field, const Value& container) {
  for (std::string_view key : {"lifecycle", "livenessProbe", "readinessProbe", "startupProbe"}) {
    if (container[key].is_null()) continue;
    errors.push_back(
        ForbiddenError(ChildPath(field, key), "may not be set for init containers without restartPolicy=Always"));
  }
}

// A port of the host is for one container, and in the host's network it is the container's own.
void CheckHostPorts(Errors& errors, const std::string& field, const Value& spec) {
  Names taken;
  const bool host_network = spec["hostNetwork"].bool_or(false);
  for (size_t i = 0; i < spec["containers"].size(); ++i) {
    const Value& ports = spec["containers"][i]["ports"];
    for (size_t k = 0; k < ports.size(); ++k) {
      const int64_t number = ports[k]["hostPort"].int_or(0);
      const std::string path = ChildPath(IndexPath(ChildPath(IndexPath(field, i), "ports"), k), "hostPort");
      if (host_network && number != ports[k]["containerPort"].int_or(0)) {
        errors.push_back(InvalidError(path, number, "must match `containerPort` when `hostNetwork` is true"));
      }
      const std::string key = StrCat(ports[k]["protocol"].str(), "/", ports[k]["hostIP"].str(), "/", number);
      if (number != 0 && !taken.insert(key).second) errors.push_back(DuplicateError(path, key));
    }
  }
}

void CheckContainer(Errors& errors, const std::string& field, const Value& container, const Names& volumes) {
  if (IsUnset(container["name"])) {
    errors.push_back(RequiredError(ChildPath(field, "name"), ""));
  } else {
    AddInvalid(errors, ChildPath(field, "name"), container["name"], json::CheckDns1123Label(container["name"].str()));
  }
  if (IsUnset(container["image"])) errors.push_back(RequiredError(ChildPath(field, "image"), ""));
  CheckEnum(errors, ChildPath(field, "terminationMessagePolicy"), container["terminationMessagePolicy"],
            {"File", "FallbackToLogsOnError"}, true);
  CheckPorts(errors, ChildPath(field, "ports"), container["ports"]);
  CheckEnvironment(errors, field, container);
  CheckMounts(errors, ChildPath(field, "volumeMounts"), container["volumeMounts"], volumes);
  CheckEnum(errors, ChildPath(field, "imagePullPolicy"), container["imagePullPolicy"],
            {"Always", "IfNotPresent", "Never"}, true);
  CheckContainerResources(errors, ChildPath(field, "resources"), container["resources"]);
}

}  // namespace

void CheckContainerResources(Errors& errors, const std::string& field, const Value& resources) {
  const std::string limits = ChildPath(field, "limits");
  const std::string requests = ChildPath(field, "requests");
  for (std::string_view list : {"limits", "requests"}) {
    const std::string path = ChildPath(field, list);
    for (const json::Member& member : resources[list].members()) {
      const std::string_view name = member.key();
      const bool standard =
          name == "cpu" || name == "memory" || name == "ephemeral-storage" || name.starts_with("hugepages-");
      if (name.find('/') == std::string_view::npos && !standard && json::IsQualifiedName(name)) {
        errors.push_back(InvalidError(KeyPath(path, name), name, "must be a standard resource for containers"));
      }
    }
    CheckResourceList(errors, path, resources[list]);
  }
  for (const json::Member& request : resources["requests"].members()) {
    Result<json::Quantity> asked = json::Quantity::FromJson(request.value());
    const Value& limit = resources["limits"][request.key()];
    Result<json::Quantity> allowed = json::Quantity::FromJson(limit);
    if (!asked.ok() || !allowed.ok()) continue;
    const std::string_view name = request.key();
    const bool overcommit = name.find('/') == std::string_view::npos && !name.starts_with("hugepages-");
    if (limit.is_null()) {
      if (!overcommit) {
        errors.push_back(RequiredError(limits, "Limit must be set for non overcommitable resources"));
      }
    } else if (!overcommit && *asked != *allowed) {
      errors.push_back(InvalidError(requests, asked->ToString(),
                                    StrCat("must be equal to ", name, " limit of ", allowed->ToString())));
    } else if (*asked > *allowed) {
      errors.push_back(InvalidError(requests, asked->ToString(),
                                    StrCat("must be less than or equal to ", name, " limit of ", allowed->ToString())));
    }
  }
}

void CheckNoBackstep(Errors& errors, const std::string& field, std::string_view path) {
  for (std::string_view part : Split(path, '/')) {
    if (part != "..") continue;
    errors.push_back(InvalidError(field, path, "must not contain '..'"));
    return;
  }
}

void CheckContainers(Errors& errors, const std::string& field, const Value& spec) {
  Names volumes;
  for (const Value& volume : spec["volumes"].items()) volumes.emplace(volume["name"].str());
  Names names;
  const Value& containers = spec["containers"];
  if (containers.empty()) errors.push_back(RequiredError(ChildPath(field, "containers"), ""));
  for (size_t i = 0; i < containers.size(); ++i) {
    const std::string path = IndexPath(ChildPath(field, "containers"), i);
    CheckContainer(errors, path, containers[i], volumes);
    if (!names.emplace(containers[i]["name"].str()).second) {
      errors.push_back(DuplicateError(ChildPath(path, "name"), containers[i]["name"]));
    }
    CheckHooksAndProbes(errors, path, containers[i]);
    CheckEnum(errors, ChildPath(path, "restartPolicy"), containers[i]["restartPolicy"],
              {"Always", "Never", "OnFailure"});
  }
  CheckHostPorts(errors, ChildPath(field, "containers"), spec);
  const Value& init = spec["initContainers"];
  for (size_t i = 0; i < init.size(); ++i) {
    const std::string path = IndexPath(ChildPath(field, "initContainers"), i);
    CheckContainer(errors, path, init[i], volumes);
    if (!names.emplace(init[i]["name"].str()).second) {
      errors.push_back(DuplicateError(ChildPath(path, "name"), init[i]["name"]));
    }
    CheckEnum(errors, ChildPath(path, "restartPolicy"), init[i]["restartPolicy"], {"Always", "Never", "OnFailure"});
    if (init[i]["restartPolicy"].str() == "Always") {
      CheckHooksAndProbes(errors, path, init[i]);
    } else {
      ForbidHooksAndProbes(errors, path, init[i]);
    }
  }
}

}  // namespace baton::api::builtin
