// Service, Ingress, ServiceImport.
#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include "base/strings.h"
#include "interpret/fields.h"
#include "interpret/native.h"
#include "interpret/pod.h"
#include "interpret/status.h"

namespace baton::interpret {

namespace {

using json::Value;

constexpr std::string_view kLoadBalancer = "LoadBalancer";

// What the member's API server allocated.
Result<Value> RetainService(Value desired, const Value& observed) {
  const std::optional<int64_t> port = TRY(IntAt(observed, {"spec", "healthCheckNodePort"}));
  if (port.value_or(0) > 0) TRY(SetAt(desired, {"spec", "healthCheckNodePort"}, *port));
  const std::string_view address = TRY(StringAt(observed, {"spec", "clusterIP"}));
  if (!address.empty()) TRY(SetAt(desired, {"spec", "clusterIP"}, address));
  return desired;
}

Result<Value> ReflectService(const Value& object) {
  if (At(object, {"spec", "type"}).str() != kLoadBalancer) return Value();
  const Value status = TRY(StatusOf(object));
  if (status.is_null()) return Value();
  const Value& balancer = status["loadBalancer"];
  return json::Object({{"loadBalancer", balancer.is_object() ? balancer : json::Object()}});
}

// Ports of equal addresses are joined; addresses sort by name (those with one first), then by IP, then by mode.
Value UnionOfIngress(std::span<const MemberStatus> members) {
  struct Entry {
    Value ingress;
    std::vector<Value> ports;
  };
  using Address = std::tuple<bool, std::string, std::string, std::string>;
  std::map<Address, Entry> entries;
  for (const MemberStatus& member : members) {
    if (member.status == nullptr) continue;
    for (const Value& ingress : At(*member.status, {"loadBalancer", "ingress"}).items()) {
      if (!ingress.is_object()) continue;
      const std::string name(ingress["hostname"].str());
      Entry& entry =
          entries[{name.empty(), name, std::string(ingress["ip"].str()), std::string(ingress["ipMode"].str())}];
      entry.ingress = ingress;
      for (const Value& port : ingress["ports"].items()) {
        if (std::ranges::find(entry.ports, port) == entry.ports.end()) entry.ports.push_back(port);
      }
    }
  }
  Value list = json::Array();
  for (auto& [address, entry] : entries) {
    std::ranges::sort(entry.ports, [](const Value& a, const Value& b) {
      const auto key = [](const Value& port) {
        return std::tuple(port["port"].int_or(0), port["protocol"].str(), port["error"].str());
      };
      return key(a) < key(b);
    });
    entry.ingress.Erase("ports");
    for (Value& port : entry.ports) entry.ingress.Edit("ports").Push(std::move(port));
    list.Push(std::move(entry.ingress));
  }
  return list;
}

Result<Value> AggregateIngress(Value object, const Items& items, WallTime /*now*/) {
  Value ingress = UnionOfIngress(TRY(MemberStatuses(items)));
  Value balancer = json::Object();
  if (!ingress.empty()) balancer.Set("ingress", std::move(ingress));
  object.Set("status", json::Object({{"loadBalancer", std::move(balancer)}}));
  return object;
}

Result<Value> AggregateService(Value object, const Items& items, WallTime now) {
  if (At(object, {"spec", "type"}).str() != kLoadBalancer) return object;
  return AggregateIngress(std::move(object), items, now);
}

Result<bool> HasIngress(const Value& object) {
  const Value& list = At(object, {"status", "loadBalancer", "ingress"});
  return std::ranges::any_of(list.items(), [](const Value& ingress) {
    return !ingress["hostname"].str().empty() || !ingress["ip"].str().empty();
  });
}

Result<bool> IsServiceHealthy(const Value& object) {
  if (At(object, {"spec", "type"}).str() != kLoadBalancer) return true;
  return HasIngress(object);
}

Result<std::vector<Value>> IngressDependencies(const Value& object) {
  std::vector<Value> references;
  for (const Value& tls : At(object, {"spec", "tls"}).items()) {
    const std::string_view secret = tls["secretName"].str();
    if (!secret.empty())
      references.push_back(Reference("v1", "Secret", At(object, {"metadata", "namespace"}).str(), secret));
  }
  return references;
}

Result<std::vector<Value>> ServiceImportDependencies(const Value& object) {
  const std::string derived = StrCat("derived-", At(object, {"metadata", "name"}).str());
  const std::string_view name_space = At(object, {"metadata", "namespace"}).str();
  Value slices = Reference("discovery.k8s.io/v1", "EndpointSlice", name_space, "");
  slices.Set("labelSelector", json::Object({{"matchLabels", json::Object({{"kubernetes.io/service-name", derived}})}}));
  return std::vector<Value>{Reference("v1", "Service", name_space, derived), std::move(slices)};
}

}  // namespace

void AddNativeServices(HandlerTable& table) {
  Handlers service;
  service.retain = RetainService;
  service.reflect = ReflectService;
  service.aggregate = AggregateService;
  service.health = IsServiceHealthy;
  table[{"v1", "Service"}] = std::move(service);

  Handlers ingress;
  ingress.reflect = ReflectWhole;
  ingress.aggregate = AggregateIngress;
  ingress.health = HasIngress;
  ingress.dependencies = IngressDependencies;
  table[{"networking.k8s.io/v1", "Ingress"}] = std::move(ingress);

  Handlers service_import;
  service_import.dependencies = ServiceImportDependencies;
  table[{"multicluster.x-k8s.io/v1alpha1", "ServiceImport"}] = std::move(service_import);
}

}  // namespace baton::interpret
