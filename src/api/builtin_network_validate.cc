// Rules for services and endpoints.
#include <arpa/inet.h>

#include <set>
#include <utility>

#include "api/builtin_kinds.h"
#include "base/strings.h"

namespace baton::api::builtin {
namespace {

constexpr size_t kMaxSliceEndpoints = 1000;
constexpr int64_t kMaxAffinitySeconds = 86400;
constexpr std::string_view kBadIp = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";

using Names = std::set<std::string, std::less<>>;

bool IsHeadless(const Value& spec) {
  return spec["clusterIP"].str() == "None" ||
         (spec["clusterIPs"].size() == 1 && spec["clusterIPs"][size_t{0}].str() == "None");
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

}  // namespace baton::api::builtin
