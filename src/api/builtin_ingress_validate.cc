// Rules for ingresses, ingress classes and network policies.
#include <string>
#include <utility>

#include "api/builtin_kinds.h"
#include "base/strings.h"

namespace baton::api::builtin {
namespace {

constexpr size_t kMaxControllerName = 250;

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
