// Rows of services, ingresses, endpoints and network policies.
#include <set>

#include "api/builtin_kinds.h"
#include "base/strings.h"

namespace baton::api::builtin {
namespace {

constexpr size_t kShown = 3;  // of a list, then "+ 2 more..."

// The addresses of a load balancer, sorted, each once.
std::string BalancerText(const Value& balancer) {
  std::set<std::string_view> addresses;
  for (const Value& ingress : balancer["ingress"].items()) {
    const Value& address = IsUnset(ingress["ip"]) ? ingress["hostname"] : ingress["ip"];
    if (!IsUnset(address)) addresses.insert(address.str());
  }
  std::string text;
  for (std::string_view address : addresses) StrAppend(text, text.empty() ? "" : ",", address);
  return text;
}

std::string ExternalIp(const Value& service) {
  const Value& spec = service["spec"];
  const std::string_view type = spec["type"].str();
  const std::string own = JoinText(spec["externalIPs"]);
  if (type == "ClusterIP" || type == "NodePort") return own.empty() ? "<none>" : own;
  if (type == "ExternalName") return std::string(spec["externalName"].str());
  if (type != "LoadBalancer") return "<unknown>";
  const std::string balancer = BalancerText(service["status"]["loadBalancer"]);
  if (own.empty()) return balancer.empty() ? "<pending>" : balancer;
  return balancer.empty() ? own : StrCat(balancer, ",", own);
}

std::string ServicePorts(const Value& ports) {
  std::string text;
  for (const Value& port : ports.items()) {
    const int64_t node_port = port["nodePort"].int_or(0);
    StrAppend(text, text.empty() ? "" : ",", port["port"].int_or(0), node_port > 0 ? StrCat(":", node_port) : "", "/",
              port["protocol"].str());
  }
  return text.empty() ? "<none>" : text;
}

std::string Hosts(const Value& rules) {
  std::string text;
  size_t shown = 0;
  bool more = false;
  for (const Value& rule : rules.items()) {
    if (shown == kShown) {
      more = true;
      break;
    }
    if (IsUnset(rule["host"])) continue;
    StrAppend(text, shown++ == 0 ? "" : ",", rule["host"].str());
  }
  if (shown == 0) return "*";
  return more ? StrCat(text, " + ", rules.size() - kShown, " more...") : text;
}

// The first of a list, and how many there are besides.
class ShortList {
 public:
  void Add(std::string_view item) {
    if (count_++ < kShown) StrAppend(text_, count_ == 1 ? "" : ",", item);
  }
  std::string Text(std::string_view when_empty) const {
    if (count_ > kShown) return StrCat(text_, " + ", count_ - kShown, " more...");
    return text_.empty() ? std::string(when_empty) : text_;
  }

 private:
  size_t count_ = 0;
  std::string text_;
};

std::string HostPort(std::string_view ip, int64_t port) {
  return ip.find(':') == std::string_view::npos ? StrCat(ip, ":", port) : StrCat("[", ip, "]:", port);
}

}  // namespace

Cells ServiceCells(const Value& object, WallTime now) {
  const Value& spec = object["spec"];
  return {NameOf(object),
          spec["type"].str(),
          TextOr(spec["clusterIPs"][size_t{0}], TextOr(spec["clusterIP"], "<none>")),
          ExternalIp(object),
          ServicePorts(spec["ports"]),
          Age(object, now),
          FormatLabels(spec["selector"])};
}

Cells IngressCells(const Value& object, WallTime now) {
  const Value& spec = object["spec"];
  return {NameOf(object),
          spec["ingressClassName"].str_or("<none>"),
          Hosts(spec["rules"]),
          BalancerText(object["status"]["loadBalancer"]),
          spec["tls"].empty() ? "80" : "80, 443",
          Age(object, now)};
}

Cells IngressClassCells(const Value& object, WallTime now) {
  const Value& parameters = object["spec"]["parameters"];
  std::string text = "<none>";
  if (parameters.is_object()) {
    const Value& group = parameters["apiGroup"];
    text = StrCat(parameters["kind"].str(), group.is_string() ? StrCat(".", group.str()) : "", "/",
                  parameters["name"].str());
  }
  return {NameOf(object), object["spec"]["controller"].str(), text, Age(object, now)};
}

Cells NetworkPolicyCells(const Value& object, WallTime now) {
  const Value& selector = object["spec"]["podSelector"];
  return {NameOf(object), FormatSelector(selector.is_null() ? json::Object() : selector), Age(object, now)};
}

Cells EndpointsCells(const Value& object, WallTime now) {
  ShortList list;
  for (const Value& subset : object["subsets"].items()) {
    for (const Value& port : subset["ports"].items()) {
      for (const Value& address : subset["addresses"].items()) {
        list.Add(HostPort(address["ip"].str(), port["port"].int_or(0)));
      }
    }
    if (!subset["ports"].empty()) continue;
    for (const Value& address : subset["addresses"].items()) list.Add(address["ip"].str());
  }
  return {NameOf(object), list.Text(object["subsets"].empty() ? "<none>" : ""), Age(object, now)};
}

Cells EndpointSliceCells(const Value& object, WallTime now) {
  ShortList ports;
  for (const Value& port : object["ports"].items()) {
    ports.Add(port["port"].is_int()      ? StrCat(port["port"].int_or(0))
              : port["name"].is_string() ? std::string(port["name"].str())
                                         : "*");
  }
  ShortList addresses;
  for (const Value& endpoint : object["endpoints"].items()) {
    for (const Value& address : endpoint["addresses"].items()) addresses.Add(address.str());
  }
  return {NameOf(object), object["addressType"].str(), ports.Text("<unset>"), addresses.Text("<unset>"),
          Age(object, now)};
}

}  // namespace baton::api::builtin
