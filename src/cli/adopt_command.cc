// Taking over what runs in a member, without touching it, and giving it back.
#include "cli/adopt_command.h"

#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/karmada_keys.h"
#include "base/strings.h"
#include "cli/client.h"
#include "federation/adoption.h"
#include "federation/connect.h"
#include "federation/hub.h"
#include "federation/match.h"
#include "federation/resources.h"
#include "json/yaml.h"
#include "kube/mapper.h"

namespace baton::cli {
namespace {

using json::Value;

constexpr Duration kWaitDefault = minutes(1);
constexpr Duration kLookAgain = milliseconds(300);
constexpr size_t kObjectsMax = 100;  // at a time

constexpr const char* kHelp =
    "Usage: baton adopt KIND/NAME... --from CLUSTER [--policy NAME] [--dry-run] [--timeout TIME]\n"
    "       baton adopt --rollback POLICY [--dry-run] [--timeout TIME]\n"
    "\n"
    "What runs in one member already becomes templates and a policy on the hub. Nothing is stopped, made anew or "
    "changed\n"
    "there but for the hub's marks: the policy takes over what is there (conflictResolution: Overwrite) and gives it "
    "back\n"
    "when a template is deleted (preserveResourcesOnDeletion). Checked first: the objects are there and nobody's, the "
    "hub\n"
    "knows their kinds, has nothing of that name, and no other policy would get them.\n"
    "\n"
    "--rollback deletes the templates and then the policy; what is in the member stays as it is, without our marks. A\n"
    "namespace that was made on the hub stays: to delete it there would delete it in the members.\n"
    "\n"
    "Examples:\n"
    "  baton adopt deployment/web service/web -n shop --from member1 --dry-run\n"
    "  baton adopt deployment/web service/web -n shop --from member1\n"
    "  baton adopt --rollback adopted-web -n shop\n"
    "\n"
    "  --from CLUSTER         where they run\n"
    "  --policy NAME          of the policy that is made; default adopted-NAME of the first\n"
    "  --rollback POLICY      give back what that policy took over\n"
    "  --dry-run              check, and print what would be made; nothing is written\n"
    "  --timeout TIME         how long to wait for the end, 0s: not at all; default 1m\n";

struct Object {
  kube::Resource at_hub;
  Value object;  // the template
};

struct Plan {
  std::string cluster;
  std::vector<Object> objects;
  Value policy;
  bool makes_namespace = false;
};

std::string Title(const Value& object) { return StrCat(kube::KindOf(object), " ", kube::Name::Of(object).Key()); }

rt::Task<Result<std::unique_ptr<kube::Api>>> MemberOf(rt::RealLoop& loop, kube::Api& hub, std::string name) {
  const Value cluster = CO_TRY(co_await GetOrNull(hub, federation::kClusters, {"", name}));
  if (cluster.is_null())
    co_return NotFoundError(StrCat("there is no cluster '", name, "': `baton get clusters` lists them"));
  const Value& reference = cluster["spec"]["secretRef"];
  const Value secret = CO_TRY(co_await GetOrNull(
      hub, federation::kSecrets, {std::string(reference["namespace"].str()), std::string(reference["name"].str())}));
  co_return federation::ConnectOverHttps(loop)(cluster, secret);
}

// One object of the member, as its template; with why it cannot be adopted.
rt::Task<Result<Object>> Read(kube::Api& hub, kube::Api& member, std::string argument, std::string cluster,
                              std::string ns) {
  const WorkloadArgument meant = CO_TRY((co_await FindWorkload(member, argument)).Context(StrCat("cluster ", cluster)));
  const std::string where = meant.resource.namespaced ? ns : "";
  const Value live =
      CO_TRY((co_await member.Get(meant.resource, {where, meant.name})).Context(StrCat("cluster ", cluster)));
  Object one;
  one.object = CO_TRY(federation::TemplateOf(live));
  kube::Mapper mapper(hub);
  Result<kube::Resource> at_hub = co_await mapper.ForObject(one.object);
  if (!at_hub.ok() && at_hub.error().kind() == ErrorKind::kNotFound) {
    co_return NotFoundError(StrCat("the hub does not know ", meant.api_version, " ", meant.kind,
                                   ": bring its CustomResourceDefinition there first (kubectl get crd ",
                                   meant.resource.plural, ".", meant.resource.group, " -o yaml)"));
  }
  one.at_hub = CO_TRY(std::move(at_hub));
  const Value there = CO_TRY(co_await GetOrNull(hub, one.at_hub, kube::Name::Of(one.object)));
  if (!there.is_null()) {
    co_return AlreadyExistsError(StrCat("the hub has ", Title(there),
                                        " already: it would take the place of what runs. Delete or rename it, or "
                                        "propagate that one"));
  }
  co_return one;
}

// That the new policy, and no other, gets the templates.
rt::Task<Result<void>> CheckPolicies(kube::Api& hub, const Plan& plan) {
  federation::PolicySet policies;
  for (const kube::Resource& kind : {federation::kPropagationPolicies, federation::kClusterPropagationPolicies}) {
    const kube::Listed listed = CO_TRY(co_await hub.ListAll(kind));
    for (const Value& one : listed.items) {
      Result<federation::PropagationPolicy> compiled = federation::CompilePropagationPolicy(one);
      if (compiled.ok()) policies.Put(*std::move(compiled));
    }
  }
  policies.Put(CO_TRY(federation::CompilePropagationPolicy(plan.policy)));
  for (const Object& one : plan.objects) {
    const federation::Decision decision =
        federation::Match(one.object, policies, std::nullopt, {.preemption = true, .changed_by_federation = false});
    if (decision.policy != nullptr && decision.policy->key.name == kube::NameOf(plan.policy) &&
        decision.policy->key.policy_namespace == kube::NamespaceOf(plan.policy))
      continue;
    if (decision.policy == nullptr) {
      co_return ConflictError(StrCat("no policy may have ", Title(one.object),
                                     ": it is in a reserved namespace, or belongs to something else"));
    }
    co_return ConflictError(StrCat(decision.policy->key.Title(), " would get ", Title(one.object),
                                   ", and may place it elsewhere: narrow its resourceSelectors or its priority first"));
  }
  co_return Result<void>();
}

rt::Task<Result<Plan>> MakePlan(rt::RealLoop& loop, Client& client, const Flags& flags) {
  Plan plan;
  plan.cluster = flags.Get("--from");
  kube::Api& hub = client.api();
  const std::unique_ptr<kube::Api> member = CO_TRY(co_await MemberOf(loop, hub, plan.cluster));
  bool namespaced = false;
  bool clustered = false;
  std::vector<Value> templates;
  for (const std::string& argument : flags.positional()) {
    Object one = CO_TRY(co_await Read(hub, *member, argument, plan.cluster, client.ns()));
    (one.at_hub.namespaced ? namespaced : clustered) = true;
    templates.push_back(one.object);
    plan.objects.push_back(std::move(one));
  }
  if (namespaced && clustered)
    co_return InvalidError("some are in a namespace and some are not: adopt them in two steps, each with its policy");
  const std::string name = flags.Get("--policy", StrCat("adopted-", kube::NameOf(templates[0])));
  const std::string ns = namespaced ? client.ns() : "";
  plan.policy = federation::AdoptionPolicy(ns, name, plan.cluster, templates);
  const kube::Resource& kind = namespaced ? federation::kPropagationPolicies : federation::kClusterPropagationPolicies;
  if (!CO_TRY(co_await GetOrNull(hub, kind, {ns, name})).is_null())
    co_return AlreadyExistsError(StrCat("there is a policy ", name, " already: choose another with --policy"));
  CO_TRY(co_await CheckPolicies(hub, plan));
  if (namespaced) plan.makes_namespace = CO_TRY(co_await GetOrNull(hub, federation::kNamespaces, {"", ns})).is_null();
  co_return plan;
}

void Print(const Plan& plan) {
  std::printf("# would be made on the hub; nothing is written (--dry-run)\n");
  if (plan.makes_namespace) {
    std::printf("# and the namespace %s, which the hub then has in every member\n",
                std::string(kube::NamespaceOf(plan.policy)).c_str());
  }
  std::printf("%s", json::PrintYaml(plan.policy).c_str());
  for (const Object& one : plan.objects) std::printf("---\n%s", json::PrintYaml(one.object).c_str());
}

const kube::Resource& PolicyKind(const Value& policy) {
  return kube::NamespaceOf(policy).empty() ? federation::kClusterPropagationPolicies : federation::kPropagationPolicies;
}

std::string BindingKeyOf(const Value& object) { return federation::TemplateKey::Of(object).BindingKey(); }

rt::Task<Result<Value>> BindingOf(kube::Api& hub, std::string key) {
  const kube::Name name = kube::Name::FromKey(key);
  return GetOrNull(hub, federation::BindingResource(key), name);
}

// ---- adopt ----

// The policy first: at no moment is there a template that another policy, or none, has.
rt::Task<Result<void>> Write(kube::Api& hub, const Plan& plan) {
  if (plan.makes_namespace) {
    const Value wanted = json::Object({{"apiVersion", "v1"},
                                       {"kind", "Namespace"},
                                       {"metadata", json::Object({{"name", kube::NamespaceOf(plan.policy)}})}});
    const Result<Value> made = co_await hub.Create(federation::kNamespaces, wanted);
    if (!made.ok() && made.error().kind() != ErrorKind::kAlreadyExists) co_return made.error();
  }
  CO_TRY(co_await hub.Create(PolicyKind(plan.policy), plan.policy));
  std::printf("%s made\n", Title(plan.policy).c_str());
  for (const Object& one : plan.objects) {
    const Result<Value> made = co_await hub.Create(one.at_hub, one.object);
    if (!made.ok()) {
      co_return made.error().Context(StrCat("what was made so far is given back with `baton adopt --rollback ",
                                            kube::NameOf(plan.policy), "`; ", Title(one.object)));
    }
    std::printf("%s made on the hub\n", Title(one.object).c_str());
  }
  co_return Result<void>();
}

rt::Task<Result<std::string>> WaitsFor(kube::Api& hub, const Plan& plan) {
  for (const Object& one : plan.objects) {
    const Value binding = CO_TRY(co_await BindingOf(hub, BindingKeyOf(one.object)));
    if (binding.is_null()) co_return StrCat(Title(one.object), " has no binding yet: do the controllers run?");
    const Value& applied = federation::FindCondition(binding["status"], "FullyApplied");
    if (applied["status"].str() == "True") continue;
    std::string why(applied["message"].str_or("nothing is known yet"));
    for (const Value& item : binding["status"]["aggregatedStatus"].items()) {
      if (!item["appliedMessage"].str().empty()) why = item["appliedMessage"].str();
    }
    co_return StrCat(Title(one.object), ": ", why);
  }
  co_return std::string();
}

rt::Task<Result<int>> Adopt(rt::RealLoop& loop, Client& client, const Flags& flags) {
  const Plan plan = CO_TRY(co_await MakePlan(loop, client, flags));
  if (flags.Has("--dry-run")) {
    Print(plan);
    co_return 0;
  }
  CO_TRY(co_await Write(client.api(), plan));
  const Duration time = CO_TRY(flags.GetDuration("--timeout", kWaitDefault));
  if (time == Duration{}) co_return 0;
  const rt::Deadline deadline = rt::Deadline::After(loop, time);
  while (true) {
    const std::string why = CO_TRY(co_await WaitsFor(client.api(), plan));
    if (why.empty()) break;
    if (deadline.Passed(loop)) {
      co_return DeadlineExceededError(StrCat("not taken over yet: ", why, ". `baton adopt --rollback ",
                                             kube::NameOf(plan.policy), "` gives it back"));
    }
    co_await loop.Sleep(kLookAgain);
  }
  std::printf("taken over from %s; back again: baton adopt --rollback %s%s%s\n", plan.cluster.c_str(),
              std::string(kube::NameOf(plan.policy)).c_str(), kube::NamespaceOf(plan.policy).empty() ? "" : " -n ",
              std::string(kube::NamespaceOf(plan.policy)).c_str());
  co_return 0;
}

// ---- rollback ----

// Whether every Work of the binding gives back what it placed: what the policy says has reached them.
rt::Task<Result<bool>> Preserves(kube::Api& hub, std::string key) {
  const Value binding = CO_TRY(co_await BindingOf(hub, key));
  if (binding.is_null()) co_return true;
  if (!binding["spec"]["preserveResourcesOnDeletion"].bool_or(false)) co_return false;
  const kube::Name name = kube::Name::Of(binding);
  const kube::Listed works = CO_TRY(co_await hub.ListAll(federation::kWorks));
  for (const Value& work : works.items) {
    const Value& marks = work["metadata"]["annotations"];
    const bool of_it = name.ns.empty() ? marks[api::karmada::kClusterResourceBindingName].str() == name.name
                                       : marks[api::karmada::kResourceBindingName].str() == name.name &&
                                             marks[api::karmada::kResourceBindingNamespace].str() == name.ns;
    if (of_it && !work["spec"]["preserveResourcesOnDeletion"].bool_or(false)) co_return false;
  }
  co_return true;
}

rt::Task<Result<void>> GiveBack(rt::RealLoop& loop, kube::Api& hub, kube::Resource resource, Value object,
                                rt::Deadline deadline) {
  const std::string key = BindingKeyOf(object);
  while (!CO_TRY(co_await Preserves(hub, key))) {
    if (deadline.Passed(loop)) {
      co_return DeadlineExceededError(
          StrCat(Title(object), ": preserveResourcesOnDeletion has not reached its Works; nothing was deleted"));
    }
    co_await loop.Sleep(kLookAgain);
  }
  const Result<Value> gone =
      co_await hub.Delete(resource, kube::Name::Of(object), {.uid = std::string(kube::UidOf(object))});
  if (!gone.ok() && gone.error().kind() != ErrorKind::kNotFound) co_return gone.error();
  while (!CO_TRY(co_await BindingOf(hub, key)).is_null()) {
    if (deadline.Passed(loop)) {
      co_return DeadlineExceededError(
          StrCat(Title(object),
                 " is deleted on the hub, and its binding is not gone yet: do the controllers run, and "
                 "does the member answer? The policy stays until then; run this again"));
    }
    co_await loop.Sleep(kLookAgain);
  }
  std::printf("%s given back\n", Title(object).c_str());
  co_return Result<void>();
}

rt::Task<Result<int>> Rollback(rt::RealLoop& loop, Client& client, const Flags& flags) {
  kube::Api& hub = client.api();
  const std::string name = flags.Get("--rollback");
  Value policy = CO_TRY(co_await GetOrNull(hub, federation::kPropagationPolicies, {client.ns(), name}));
  if (policy.is_null()) policy = CO_TRY(co_await GetOrNull(hub, federation::kClusterPropagationPolicies, {"", name}));
  if (policy.is_null())
    co_return NotFoundError(
        StrCat("there is no policy ", name, " in namespace ", client.ns(), ", and no cluster-wide one"));
  CO_TRY(federation::CheckRollback(policy));
  kube::Mapper mapper(hub);
  std::vector<Object> objects;
  for (const Value& selector : policy["spec"]["resourceSelectors"].items()) {
    Object one;
    one.at_hub = CO_TRY(co_await mapper.ForObject(selector));
    const std::string ns(selector["namespace"].str_or(kube::NamespaceOf(policy)));
    one.object = CO_TRY(
        co_await GetOrNull(hub, one.at_hub, {one.at_hub.namespaced ? ns : "", std::string(selector["name"].str())}));
    if (!one.object.is_null()) objects.push_back(std::move(one));
  }
  if (flags.Has("--dry-run")) {
    for (const Object& one : objects) std::printf("%s would be deleted on the hub\n", Title(one.object).c_str());
    std::printf("%s would be deleted; what is in %s stays (--dry-run: nothing is done)\n", Title(policy).c_str(),
                std::string(policy["metadata"]["annotations"][federation::kAdoptedFrom].str()).c_str());
    co_return 0;
  }
  const Duration time = CO_TRY(flags.GetDuration("--timeout", kWaitDefault));
  const rt::Deadline deadline = rt::Deadline::After(loop, time);
  for (Object& one : objects) CO_TRY(co_await GiveBack(loop, hub, one.at_hub, one.object, deadline));
  CO_TRY(co_await hub.Delete(PolicyKind(policy), kube::Name::Of(policy), {.uid = std::string(kube::UidOf(policy))}));
  std::printf("%s deleted\n", Title(policy).c_str());
  co_return 0;
}

rt::Task<Result<int>> Run(rt::RealLoop& loop, Client& client, const Flags& flags) {
  return flags.Has("--rollback") ? Rollback(loop, client, flags) : Adopt(loop, client, flags);
}

Result<void> Check(const Flags& flags) {
  TRY(flags.GetDuration("--timeout", kWaitDefault));
  if (flags.Has("--rollback")) {
    if (!flags.positional().empty() || flags.Has("--from") || flags.Has("--policy"))
      return InvalidError("--rollback takes nothing but the policy's name");
    return {};
  }
  TRY(flags.Required("--from"));
  if (flags.positional().empty()) return InvalidError("what is to be adopted is missing: KIND/NAME");
  for (const std::string& one : flags.positional()) {
    const size_t slash = one.find('/');
    if (slash == std::string::npos || slash == 0 || slash + 1 == one.size())
      return InvalidError(StrCat("'", one, "' is not KIND/NAME, for example deployment/web"));
  }
  return {};
}

}  // namespace

int AdoptCommand(std::span<const std::string_view> arguments) {
  return RunClientCommand({.name = "adopt",
                           .help = kHelp,
                           .flags = {{"--from", "CLUSTER"},
                                     {"--policy", "NAME"},
                                     {"--rollback", "POLICY"},
                                     {"--dry-run"},
                                     {"--timeout", "TIME"}},
                           .positionals = kObjectsMax},
                          arguments, Run, Check);
}

}  // namespace baton::cli
