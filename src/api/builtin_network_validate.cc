// Rules for services, endpoints, ingresses and network policies.
#include <arpa/inet.h>

#include <set>
#include <tuple>

#include "api/builtin_kinds.h"
#include "base/strings.h"

namespace baton::api::builtin {
namespace {

constexpr size_t kMaxSliceEndpoints = 1000;
constexpr size_t kMaxControllerName = 250;
constexpr int64_t kMaxAffinitySeconds = 86400;
constexpr std::string_view kBadIp = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";

using Names = std::set<std::string, std::less<>>;

bool IsHeadless(const Value& spec) {
  return spec["clusterIP"].str() == "None" ||
         (spec["clusterIPs"].size() == 1 && spec["clusterIPs"][size_t{0}].str() == "None");
}

void CheckPortOrName(Errors& errors, const std::string& field, const Value& port) {
  if (port.is_string()) {
    AddInvalid(errors, field, port, json::CheckPortName(port.str()));
  } else {
    AddInvalid(errors, field, port.int_or(0), json::CheckPortNumber(port.int_or(0)));
  }
}

void CheckServicePort(Errors& errors, const std::string& path, const Value& port, bool need_name, bool headless,
                      Names& names) {
  const std::string name(port["name"].str());
  if (need_name && name.empty()) {
    errors.push_back(RequiredError(ChildPath(path, "name"), ""));
  } else if (!name.empty()) {
    AddInvalid(errors, ChildPath(path, "name"), name, json::CheckDns1123Label(name));
    if (!names.insert(name).second) errors.push_back(DuplicateError(ChildPath(path, "name"), name));
  }
  const int64_t number = port["port"].int_or(0);
  AddInvalid(errors, ChildPath(path, "port"), number, json::CheckPortNumber(number));
  CheckEnum(errors, ChildPath(path, "protocol"), port["protocol"], {"SCTP", "TCP", "UDP"}, true);
  const Value& target = port["targetPort"];
  if (!headless || target.is_string()) CheckPortOrName(errors, ChildPath(path, "targetPort"), target);
  if (port["appProtocol"].is_string()) {
    AddInvalid(errors, ChildPath(path, "appProtocol"), port["appProtocol"],
               json::CheckQualifiedName(port["appProtocol"].str()));
  }
}

void CheckServiceType(Errors& errors, const Value& spec) {
  const std::string_view type = spec["type"].str();
  const bool headless = IsHeadless(spec);
  if (spec["ports"].empty() && !headless && type != "ExternalName") {
    errors.push_back(RequiredError("spec.ports", ""));
  }
  if ((type == "LoadBalancer" || type == "NodePort") && headless) {
    errors.push_back(
        InvalidError("spec.clusterIPs[0]", "None", StrCat("may not be set to 'None' for ", type, " services")));
  }
  if (type != "ExternalName") return;
  for (std::string_view field : {"clusterIPs", "ipFamilies"}) {
    if (!spec[field].empty()) {
      errors.push_back(ForbiddenError(ChildPath("spec", field), "may not be set for ExternalName services"));
    }
  }
  if (!spec["ipFamilyPolicy"].is_null()) {
    errors.push_back(ForbiddenError("spec.ipFamilyPolicy", "may not be set for ExternalName services"));
  }
  std::string_view name = spec["externalName"].str();
  if (name.ends_with('.')) name.remove_suffix(1);
  if (name.empty()) {
    errors.push_back(RequiredError("spec.externalName", ""));
  } else {
    AddInvalid(errors, "spec.externalName", name, json::CheckDns1123Subdomain(name));
  }
}

void CheckServicePortsTogether(Errors& errors, const Value& spec) {
  std::set<std::pair<std::string_view, int64_t>> node_ports;
  std::set<std::pair<std::string_view, int64_t>> ports;
  const Value& list = spec["ports"];
  for (size_t i = 0; i < list.size(); ++i) {
    const int64_t node_port = list[i]["nodePort"].int_or(0);
    const std::string path = ChildPath(IndexPath("spec.ports", i), "nodePort");
    if (node_port == 0) continue;
    if (spec["type"].str() == "ClusterIP") {
      errors.push_back(ForbiddenError(path, "may not be used when `type` is 'ClusterIP'"));
    }
    if (!node_ports.emplace(list[i]["protocol"].str(), node_port).second) {
      errors.push_back(DuplicateError(path, node_port));
    }
  }
  for (size_t i = 0; i < list.size(); ++i) {
    const int64_t port = list[i]["port"].int_or(0);
    const std::string_view protocol = list[i]["protocol"].str();
    if (ports.emplace(protocol, port).second) continue;
    errors.push_back(DuplicateError(IndexPath("spec.ports", i), nullptr));
    errors.back().message = StrCat("Duplicate value: {\"Name\":\"\",\"Protocol\":", Quote(protocol),
                                   ",\"AppProtocol\":null,\"Port\":", port, ",\"TargetPort\":0,\"NodePort\":0}");
  }
}

void CheckAffinity(Errors& errors, const Value& spec) {
  const Value& seconds = spec["sessionAffinityConfig"]["clientIP"]["timeoutSeconds"];
  if (spec["sessionAffinity"].str() == "ClientIP" &&
      (seconds.int_or(0) <= 0 || seconds.int_or(0) > kMaxAffinitySeconds)) {
    errors.push_back(InvalidError("spec.sessionAffinityConfig.clientIP.timeoutSeconds", seconds,
                                  StrCat("must be greater than 0 and less than ", kMaxAffinitySeconds)));
  }
}

// The address is for as long as the service has one.
void CheckClusterIp(Errors& errors, const Value& spec, const Value& old) {
  if (spec["type"].str() == "ExternalName" || old["type"].str() == "ExternalName") return;
  const Value& now = spec["clusterIPs"];
  const Value& before = old["clusterIPs"];
  if (before.empty() || now.empty() || now[size_t{0}] == before[size_t{0}]) return;
  errors.push_back(InvalidError("spec.clusterIPs[0]", now, "may not change once set"));
}

void CheckTrafficPolicies(Errors& errors, const Value& spec) {
  const std::string_view type = spec["type"].str();
  const bool external = type == "LoadBalancer" || type == "NodePort" || !spec["externalIPs"].empty();
  if (!external && !IsUnset(spec["externalTrafficPolicy"])) {
    errors.push_back(InvalidError("spec.externalTrafficPolicy", spec["externalTrafficPolicy"],
                                  "may only be set for externally-accessible services"));
  } else {
    CheckEnum(errors, "spec.externalTrafficPolicy", spec["externalTrafficPolicy"], {"Cluster", "Local"});
  }
  CheckEnum(errors, "spec.internalTrafficPolicy", spec["internalTrafficPolicy"], {"Cluster", "Local"});
  if (type != "LoadBalancer" && !spec["loadBalancerSourceRanges"].empty()) {
    errors.push_back(ForbiddenError("spec.LoadBalancerSourceRanges", "may only be used when `type` is 'LoadBalancer'"));
  }
  if (type != "LoadBalancer" && !spec["allocateLoadBalancerNodePorts"].is_null()) {
    errors.push_back(
        ForbiddenError("spec.allocateLoadBalancerNodePorts", "may only be used when `type` is 'LoadBalancer'"));
  }
}

void CheckBackend(Errors& errors, const std::string& field, const Value& backend) {
  const Value& service = backend["service"];
  const bool resource = backend["resource"].is_object();
  if (resource && service.is_object()) {
    errors.push_back(InvalidError(field, "", "cannot set both resource and service backends"));
    return;
  }
  if (resource) return;
  if (!service.is_object()) {
    errors.push_back(InvalidError(field, "", "resource or service backend is required"));
    return;
  }
  if (IsUnset(service["name"])) {
    errors.push_back(RequiredError(ChildPath(field, "service.name"), ""));
  } else {
    AddInvalid(errors, ChildPath(field, "service.name"), service["name"],
               json::CheckDns1035Label(service["name"].str()));
  }
  const Value& port = service["port"];
  const bool named = !IsUnset(port["name"]);
  const int64_t number = port["number"].int_or(0);
  if (named && number != 0) {
    errors.push_back(InvalidError(field, "", "cannot set both port name & port number"));
  } else if (named) {
    AddInvalid(errors, ChildPath(field, "service.port.name"), port["name"], json::CheckPortName(port["name"].str()));
  } else if (number != 0) {
    AddInvalid(errors, ChildPath(field, "service.port.number"), number, json::CheckPortNumber(number));
  } else {
    errors.push_back(RequiredError(field, "port name or number is required"));
  }
}

void CheckIngressPath(Errors& errors, const std::string& field, const Value& path) {
  const std::string_view type = path["pathType"].str();
  const std::string_view text = path["path"].str();
  if (path["pathType"].is_null()) {
    errors.push_back(RequiredError(ChildPath(field, "pathType"), "pathType must be specified"));
    return;
  }
  const bool strict = type == "Exact" || type == "Prefix";
  if ((strict || !text.empty()) && !text.starts_with('/')) {
    errors.push_back(InvalidError(ChildPath(field, "path"), text, "must be an absolute path"));
  }
  if (strict) {
    for (std::string_view bad : {"//", "/./", "/../", "%2f", "%2F"}) {
      if (text.find(bad) == std::string_view::npos) continue;
      errors.push_back(InvalidError(ChildPath(field, "path"), text, StrCat("must not contain '", bad, "'")));
    }
    for (std::string_view bad : {"/..", "/."}) {
      if (!text.ends_with(bad)) continue;
      errors.push_back(InvalidError(ChildPath(field, "path"), text, StrCat("cannot end with '", bad, "'")));
    }
  }
  CheckEnum(errors, ChildPath(field, "pathType"), path["pathType"], {"Exact", "ImplementationSpecific", "Prefix"});
  CheckBackend(errors, ChildPath(field, "backend"), path["backend"]);
}

void CheckIngressRule(Errors& errors, const std::string& field, const Value& rule) {
  if (const std::string_view host = rule["host"].str(); !host.empty()) {
    const std::string path = ChildPath(field, "host");
    if (IsIpAddress(host)) errors.push_back(InvalidError(path, host, "must be a DNS name, not an IP address"));
    const bool wildcard = host.find('*') != std::string_view::npos;
    AddInvalid(errors, path, host,
               wildcard ? json::CheckWildcardDns1123Subdomain(host) : json::CheckDns1123Subdomain(host));
  }
  if (!rule["http"].is_object()) return;
  const Value& paths = rule["http"]["paths"];
  const std::string path = ChildPath(field, "http.paths");
  if (paths.empty()) errors.push_back(RequiredError(path, ""));
  for (size_t i = 0; i < paths.size(); ++i) CheckIngressPath(errors, IndexPath(path, i), paths[i]);
}

void CheckPolicyPort(Errors& errors, const std::string& field, const Value& port) {
  CheckEnum(errors, ChildPath(field, "protocol"), port["protocol"], {"TCP", "UDP", "SCTP"});
  const Value& number = port["port"];
  const Value& end = port["endPort"];
  const std::string path = ChildPath(field, "endPort");
  if (number.is_null()) {
    if (!end.is_null()) errors.push_back(InvalidError(path, end, "may not be specified when `port` is not specified"));
    return;
  }
  if (number.is_string() && !end.is_null()) {
    errors.push_back(InvalidError(path, end, "may not be specified when `port` is non-numeric"));
  }
  CheckPortOrName(errors, ChildPath(field, "port"), number);
  if (number.is_string() || end.is_null()) return;
  if (end.int_or(0) < number.int_or(0)) {
    errors.push_back(InvalidError(path, number, "must be greater than or equal to `port`"));
  }
  AddInvalid(errors, path, end, json::CheckPortNumber(end.int_or(0)));
}

void CheckPolicyPeer(Errors& errors, const std::string& field, const Value& peer) {
  const bool block = peer["ipBlock"].is_object();
  const bool selectors = peer["podSelector"].is_object() || peer["namespaceSelector"].is_object();
  if (!block && !selectors) errors.push_back(RequiredError(field, "must specify a peer"));
  if (block && selectors) {
    errors.push_back(ForbiddenError(field, "may not specify both ipBlock and another peer"));
  }
  CheckLabelSelector(errors, ChildPath(field, "podSelector"), peer["podSelector"]);
  CheckLabelSelector(errors, ChildPath(field, "namespaceSelector"), peer["namespaceSelector"]);
  if (block && IsUnset(peer["ipBlock"]["cidr"])) errors.push_back(RequiredError(ChildPath(field, "ipBlock.cidr"), ""));
}

}  // namespace

bool IsIpAddress(std::string_view text) {
  const std::string address(text);
  in_addr v4;
  in6_addr v6;
  return inet_pton(AF_INET, address.c_str(), &v4) == 1 || inet_pton(AF_INET6, address.c_str(), &v6) == 1;
}

void CheckIp(Errors& errors, const std::string& field, const Value& ip) {
  if (!IsIpAddress(ip.str())) errors.push_back(InvalidError(field, ip, kBadIp));
}

void CheckEndpointIp(Errors& errors, const std::string& field, const Value& ip) {
  const std::string_view text = ip.str();
  if (!IsIpAddress(text)) {
    errors.push_back(InvalidError(field, ip, kBadIp));
  } else if (text == "0.0.0.0" || text == "::") {
    errors.push_back(InvalidError(field, ip, StrCat("may not be unspecified (", text, ")")));
  } else if (text.starts_with("127.") || text == "::1") {
    errors.push_back(InvalidError(field, ip, "may not be in the loopback range (127.0.0.0/8, ::1/128)"));
  } else if (text.starts_with("169.254.") || ToLower(text).starts_with("fe80:")) {
    errors.push_back(InvalidError(field, ip, "may not be in the link-local range (169.254.0.0/16, fe80::/10)"));
  }
}

Errors ValidateService(const Value& object, const Value* old) {
  Errors errors;
  const Value& spec = object["spec"];
  CheckServiceType(errors, spec);
  Names names;
  const Value& ports = spec["ports"];
  for (size_t i = 0; i < ports.size(); ++i) {
    CheckServicePort(errors, IndexPath("spec.ports", i), ports[i], ports.size() > 1, IsHeadless(spec), names);
  }
  CheckLabels(errors, "spec.selector", spec["selector"]);
  CheckEnum(errors, "spec.sessionAffinity", spec["sessionAffinity"], {"ClientIP", "None"}, true);
  const Value& addresses = spec["externalIPs"];
  for (size_t i = 0; i < addresses.size(); ++i) {
    CheckEndpointIp(errors, IndexPath("spec.externalIPs", i), addresses[i]);
  }
  CheckEnum(errors, "spec.type", spec["type"], {"ClusterIP", "ExternalName", "LoadBalancer", "NodePort"}, true);
  CheckServicePortsTogether(errors, spec);
  CheckAffinity(errors, spec);
  if (old != nullptr) CheckClusterIp(errors, spec, (*old)["spec"]);
  CheckTrafficPolicies(errors, spec);
  return errors;
}

Errors ValidateEndpoints(const Value& object, const Value* /*old*/) {
  Errors errors;
  const Value& subsets = object["subsets"];
  for (size_t i = 0; i < subsets.size(); ++i) {
    const std::string path = IndexPath("subsets", i);
    const Value& ports = subsets[i]["ports"];
    if (subsets[i]["addresses"].empty() && subsets[i]["notReadyAddresses"].empty()) {
      errors.push_back(RequiredError(path, "must specify `addresses` or `notReadyAddresses`"));
    }
    for (std::string_view list : {"addresses", "notReadyAddresses"}) {
      for (size_t k = 0; k < subsets[i][list].size(); ++k) {
        const Value& ip = subsets[i][list][k]["ip"];
        const std::string field = ChildPath(IndexPath(ChildPath(path, list), k), "ip");
        CheckEndpointIp(errors, field, ip.str());
        if (!IsIpAddress(ip.str())) errors.push_back(InvalidError(field, ip.str(), "must be a valid IP address"));
      }
    }
    for (size_t k = 0; k < ports.size(); ++k) {
      const std::string port = IndexPath(ChildPath(path, "ports"), k);
      if (ports.size() > 1 && IsUnset(ports[k]["name"])) errors.push_back(RequiredError(ChildPath(port, "name"), ""));
      if (!IsUnset(ports[k]["name"])) {
        AddInvalid(errors, ChildPath(port, "name"), ports[k]["name"], json::CheckDns1123Label(ports[k]["name"].str()));
      }
      const int64_t number = ports[k]["port"].int_or(0);
      AddInvalid(errors, ChildPath(port, "port"), number, json::CheckPortNumber(number));
      CheckEnum(errors, ChildPath(port, "protocol"), ports[k]["protocol"], {"SCTP", "TCP", "UDP"}, true);
    }
  }
  return errors;
}

Errors ValidateEndpointSlice(const Value& object, const Value* old) {
  Errors errors;
  CheckEnum(errors, "addressType", object["addressType"], {"FQDN", "IPv4", "IPv6"}, true);
  const Value& endpoints = object["endpoints"];
  if (endpoints.size() > kMaxSliceEndpoints) {
    errors.push_back(TooManyError("endpoints", endpoints.size(), kMaxSliceEndpoints));
    return errors;
  }
  for (size_t i = 0; i < endpoints.size(); ++i) {
    const std::string path = ChildPath(IndexPath("endpoints", i), "addresses");
    const Value& addresses = endpoints[i]["addresses"];
    if (addresses.empty()) errors.push_back(RequiredError(path, "must contain at least 1 address"));
    for (size_t k = 0; k < addresses.size(); ++k) {
      if (object["addressType"].str() != "FQDN") CheckEndpointIp(errors, IndexPath(path, k), addresses[k]);
    }
  }
  const Value& ports = object["ports"];
  for (size_t i = 0; i < ports.size(); ++i) {
    const std::string path = IndexPath("ports", i);
    if (!IsUnset(ports[i]["name"])) {
      AddInvalid(errors, ChildPath(path, "name"), ports[i]["name"], json::CheckDns1123Label(ports[i]["name"].str()));
    }
    CheckEnum(errors, ChildPath(path, "protocol"), ports[i]["protocol"], {"SCTP", "TCP", "UDP"}, true);
  }
  if (old != nullptr) CheckImmutable(errors, "addressType", object["addressType"], (*old)["addressType"]);
  return errors;
}

Errors ValidateIngress(const Value& object, const Value* /*old*/) {
  Errors errors;
  const Value& spec = object["spec"];
  const Value& rules = spec["rules"];
  const Value& backend = spec["defaultBackend"];
  if (rules.empty() && backend.is_null()) {
    errors.push_back(
        InvalidTextError("spec", rules.ToString(), "either `defaultBackend` or `rules` must be specified"));
  }
  if (backend.is_object()) CheckBackend(errors, "spec.defaultBackend", backend);
  for (size_t i = 0; i < rules.size(); ++i) CheckIngressRule(errors, IndexPath("spec.rules", i), rules[i]);
  if (spec["ingressClassName"].is_string()) {
    AddInvalid(errors, "spec.ingressClassName", spec["ingressClassName"],
               json::CheckDns1123Subdomain(spec["ingressClassName"].str()));
  }
  return errors;
}

Errors ValidateIngressClass(const Value& object, const Value* old) {
  Errors errors;
  const Value& controller = object["spec"]["controller"];
  if (old != nullptr) CheckImmutable(errors, "spec.controller", controller, (*old)["spec"]["controller"]);
  if (controller.str().size() > kMaxControllerName) {
    errors.push_back(TooLongError("spec.controller", kMaxControllerName));
  }
  if (IsUnset(controller)) {
    errors.push_back(RequiredError("spec.controller", ""));
  } else if (controller.str().find('/') == std::string_view::npos) {
    errors.push_back(
        InvalidError("spec.controller", controller, "must be a domain-prefixed path (such as \"acme.io/foo\")"));
  }
  const Value& parameters = object["spec"]["parameters"];
  for (std::string_view key : {"kind", "name"}) {
    if (parameters.is_object() && IsUnset(parameters[key])) {
      errors.push_back(RequiredError(ChildPath("spec.parameters", key), ""));
    }
  }
  return errors;
}

Errors ValidateNetworkPolicy(const Value& object, const Value* /*old*/) {
  Errors errors;
  const Value& spec = object["spec"];
  CheckLabelSelector(errors, "spec.podSelector", spec["podSelector"]);
  for (const auto& [direction, peers] : {std::pair("ingress", "from"), std::pair("egress", "to")}) {
    const Value& rules = spec[direction];
    for (size_t i = 0; i < rules.size(); ++i) {
      const std::string path = IndexPath(ChildPath("spec", direction), i);
      const Value& ports = rules[i]["ports"];
      for (size_t k = 0; k < ports.size(); ++k) {
        CheckPolicyPort(errors, IndexPath(ChildPath(path, "ports"), k), ports[k]);
      }
      const Value& list = rules[i][peers];
      for (size_t k = 0; k < list.size(); ++k) {
        CheckPolicyPeer(errors, IndexPath(ChildPath(path, peers), k), list[k]);
      }
    }
  }
  const Value& types = spec["policyTypes"];
  if (types.size() > 2) {
    errors.push_back(InvalidError("spec.policyTypes", types, "may not specify more than two policyTypes"));
    return errors;
  }
  for (size_t i = 0; i < types.size(); ++i) {
    CheckEnum(errors, IndexPath("spec.policyTypes", i), types[i], {"Ingress", "Egress"});
  }
  return errors;
}

}  // namespace baton::api::builtin
