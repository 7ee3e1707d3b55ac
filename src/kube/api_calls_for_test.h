// For tests only: a table of calls that any kube::Api answers in the same way, be it LocalApi, RemoteApi or a real
// kube-apiserver behind that. The calls are made in their order, in a namespace of their own; a call may use what
// earlier ones answered.
//
//   for (const ApiCallRow& row : ApiCallTable()) seen[row.name] = co_await api.Do(row.call(seen), deadline);
//
// Masked() is an answer as text without what differs from run to run.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/invariant.h"
#include "base/strings.h"
#include "json/yaml.h"
#include "kube/api.h"

namespace baton::kube {

inline const Resource kConfigMaps{.group = "", .version = "v1", .plural = "configmaps", .kind = "ConfigMap"};
inline const Resource kSecrets{.group = "", .version = "v1", .plural = "secrets", .kind = "Secret"};
inline const Resource kDeployments{.group = "apps", .version = "v1", .plural = "deployments", .kind = "Deployment"};
inline const Resource kNamespaces{
    .group = "", .version = "v1", .plural = "namespaces", .kind = "Namespace", .namespaced = false};
inline const Resource kNoSuchKind{.group = "nope.example.com", .version = "v1", .plural = "nopes", .kind = "Nope"};

using SeenAnswers = std::map<std::string, Result<Answer>, std::less<>>;

struct ApiCallRow {
  std::string name;
  std::function<Call(const SeenAnswers& seen)> call;
};

// Letters stand for what changes; the rest is compared byte by byte.
inline void MaskObject(json::Value& object) {
  if (!object.is_object()) return;
  if (object["details"].Has("uid")) object.Edit("details").Set("uid", "U");
  if (!object.Has("metadata")) return;
  json::Value& metadata = object.Edit("metadata");
  for (const std::string_view field : {"uid", "resourceVersion", "creationTimestamp", "deletionTimestamp"}) {
    if (metadata.Has(field) && !metadata[field].is_null()) metadata.Set(field, "X");
  }
  if (metadata.Has("generateName")) metadata.Set("name", "N");
  if (!metadata.Has("managedFields")) return;
  json::Value& managed = metadata.Edit("managedFields");
  for (size_t i = 0; i < managed.size(); ++i) managed.Edit(i).Set("time", "T");
}

// Every uid, and every version in brackets, that stands in the text of a message.
inline std::string MaskMessage(std::string message, const SeenAnswers& seen) {
  const auto mask = [&message](const std::string& secret, std::string_view by) {
    for (size_t at = message.find(secret); at != std::string::npos; at = message.find(secret, at + by.size())) {
      message.replace(at, secret.size(), by);
    }
  };
  for (const auto& [name, answer] : seen) {
    if (!answer.ok()) continue;
    if (!UidOf(answer->object).empty()) mask(std::string(UidOf(answer->object)), "X");
    if (!VersionOf(answer->object).empty()) mask(StrCat("(", VersionOf(answer->object), ")"), "(X)");
  }
  return message;
}

inline std::string Masked(const Result<Answer>& result, const SeenAnswers& seen) {
  if (!result.ok()) {
    const Error& error = result.error();
    std::string text = StrCat("error ", ErrorKindName(error.kind()), ": ", MaskMessage(error.message(), seen));
    const Status status = error.ToStatus();  // as a server sends it
    StrAppend(text, "\n  ", status.code, " ", status.reason, " name=", status.name, " group=", status.group,
              " kind=", status.kind, status.uid.empty() ? "" : " uid",
              " retry=", status.retry_after_seconds.value_or(-1));
    for (const StatusCause& cause : status.causes) {
      StrAppend(text, "\n  cause ", cause.reason, " ", cause.field, ": ", MaskMessage(cause.message, seen));
    }
    return text;
  }
  json::Value object = result->object;
  MaskObject(object);
  std::string text = object.ToString();
  for (json::Value item : result->items) {
    MaskObject(item);
    StrAppend(text, "\n  item ", item.ToString());
  }
  if (!result->resource_version.empty()) StrAppend(text, "\n  at a version");
  if (!result->continue_token.empty()) StrAppend(text, "\n  and more");
  for (const std::string& warning : result->warnings) StrAppend(text, "\n  warning ", warning);
  return text;
}

namespace calls_internal {

inline constexpr std::string_view kNs = "baton-api-calls";

inline json::Value Yaml(std::string_view text) {
  Result<json::Value> value = json::ParseYaml(text);
  INVARIANT(value.ok(), StrCat("a test's YAML: ", text));
  return *value;
}

// What an earlier row answered; null when that was an error.
inline json::Value Object(const SeenAnswers& seen, std::string_view row) {
  const auto found = seen.find(row);
  INVARIANT(found != seen.end(), StrCat("no row ", row, " so far"));
  return found->second.ok() ? found->second->object : json::Value();
}

class Table {
 public:
  using Change = std::function<void(Call&, const SeenAnswers&)>;

  void Add(std::string name, Call call, Change change = nullptr) {
    rows_.push_back({std::move(name), [call = std::move(call), change = std::move(change)](const SeenAnswers& seen) {
                       Call changed = call;
                       if (change != nullptr) change(changed, seen);
                       return changed;
                     }});
  }
  std::vector<ApiCallRow> Take() { return std::move(rows_); }

 private:
  std::vector<ApiCallRow> rows_;
};

inline Call Of(Verb verb, const Resource& resource, std::string_view name = {}, std::string_view body = {}) {
  Call call;
  call.verb = verb;
  call.resource = resource;
  if (resource.namespaced) call.ns = kNs;
  call.name = name;
  if (!body.empty()) call.body = Yaml(body);
  return call;
}

inline Call PatchOf(const Resource& resource, std::string_view name, PatchType type, std::string_view body) {
  Call call = Of(Verb::kPatch, resource, name, body);
  call.patch_type = type;
  return call;
}

template <class Function>
Call With(Call call, Function change) {
  change(call);
  return call;
}

inline void AddCreates(Table& t) {
  t.Add("make the namespace",
        Of(Verb::kCreate, kNamespaces, "", StrCat("{apiVersion: v1, kind: Namespace, metadata: {name: ", kNs, "}}")));
  const std::string_view a = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {app: x}}, data: {k: v}}";
  t.Add("create", Of(Verb::kCreate, kConfigMaps, "", a));
  t.Add("create what is there", Of(Verb::kCreate, kConfigMaps, "", a));
  t.Add("create with a generated name",
        Of(Verb::kCreate, kConfigMaps, "", "{apiVersion: v1, kind: ConfigMap, metadata: {generateName: g-}}"));
  t.Add("create in a namespace that is not there",
        With(Of(Verb::kCreate, kConfigMaps, "", a), [](Call& c) { c.ns = "baton-no-such-namespace"; }));
  t.Add("create with a name that is none",
        Of(Verb::kCreate, kConfigMaps, "", "{apiVersion: v1, kind: ConfigMap, metadata: {name: A_b}}"));
  t.Add("create without a name", Of(Verb::kCreate, kConfigMaps, "", "{apiVersion: v1, kind: ConfigMap}"));
  t.Add("create in another namespace than the object's",
        Of(Verb::kCreate, kConfigMaps, "", "{apiVersion: v1, kind: ConfigMap, metadata: {name: q, namespace: other}}"));
  t.Add("create a kind that is another",
        Of(Verb::kCreate, kConfigMaps, "", "{apiVersion: v1, kind: Secret, metadata: {name: q}}"));
  t.Add("create without a namespace", With(Of(Verb::kCreate, kConfigMaps, "", a), [](Call& c) { c.ns.clear(); }));
  t.Add("create as a dry run",
        With(Of(Verb::kCreate, kConfigMaps, "", "{apiVersion: v1, kind: ConfigMap, metadata: {name: dry}}"),
             [](Call& c) { c.dry_run = true; }));
  t.Add("get what was dry", Of(Verb::kGet, kConfigMaps, "dry"));
  t.Add("create with an unknown field",
        Of(Verb::kCreate, kConfigMaps, "", "{apiVersion: v1, kind: ConfigMap, metadata: {name: w1}, dataa: {k: v}}"));
  t.Add(
      "create strictly with an unknown field",
      With(Of(Verb::kCreate, kConfigMaps, "", "{apiVersion: v1, kind: ConfigMap, metadata: {name: w2}, dataa: {k: v}}"),
           [](Call& c) { c.field_validation = "Strict"; }));
  t.Add(
      "create with an unknown field, ignored",
      With(Of(Verb::kCreate, kConfigMaps, "", "{apiVersion: v1, kind: ConfigMap, metadata: {name: w3}, dataa: {k: v}}"),
           [](Call& c) { c.field_validation = "Ignore"; }));
  t.Add("create with a field of a wrong type",
        Of(Verb::kCreate, kConfigMaps, "", "{apiVersion: v1, kind: ConfigMap, metadata: {name: w4}, data: [1]}"));
  t.Add("create a secret", Of(Verb::kCreate, kSecrets, "",
                              "{apiVersion: v1, kind: Secret, metadata: {name: s}, stringData: {p: secret}}"));
  t.Add("create a deployment", Of(Verb::kCreate, kDeployments, "", R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: "nginx:1.27", env: [{name: A, value: "1"}]}]}
)"));
  t.Add("create a deployment that is wrong in many places", Of(Verb::kCreate, kDeployments, "", R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: wrong}
spec:
  replicas: -1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: other}}
    spec: {containers: [{name: Main}]}
)"));
}

inline void AddGets(Table& t) {
  t.Add("get", Of(Verb::kGet, kConfigMaps, "a"));
  t.Add("get from a cache", With(Of(Verb::kGet, kConfigMaps, "a"), [](Call& c) { c.resource_version = "0"; }));
  t.Add("get at a version that is none",
        With(Of(Verb::kGet, kConfigMaps, "a"), [](Call& c) { c.resource_version = "x"; }));
  t.Add("get what is not there", Of(Verb::kGet, kConfigMaps, "missing"));
  t.Add("get of a group that is not served", Of(Verb::kGet, kNoSuchKind, "x"));
  t.Add("get of a resource that is not served",
        With(Of(Verb::kGet, kConfigMaps, "x"), [](Call& c) { c.resource.plural = "nopes"; }));
  t.Add("get of a version that is not served",
        With(Of(Verb::kGet, kDeployments, "x"), [](Call& c) { c.resource.version = "v9"; }));
  t.Add("get a subresource that is not served",
        With(Of(Verb::kGet, kConfigMaps, "a"), [](Call& c) { c.subresource = "nope"; }));
  t.Add("get without its namespace", With(Of(Verb::kGet, kConfigMaps, "a"), [](Call& c) { c.ns.clear(); }));
  t.Add("get what has no namespace", Of(Verb::kGet, kNamespaces, kNs));
  t.Add("get the scale", With(Of(Verb::kGet, kDeployments, "web"), [](Call& c) { c.subresource = "scale"; }));
}

inline void AddUpdates(Table& t) {
  const auto changed = [](std::string_view value) {
    return [value](Call& c, const SeenAnswers& seen) {
      c.body = Object(seen, "create");
      c.body.Edit("data").Set("k", value);
    };
  };
  t.Add("update", Of(Verb::kUpdate, kConfigMaps, "a"), changed("2"));
  t.Add("update what has changed", Of(Verb::kUpdate, kConfigMaps, "a"), changed("3"));
  t.Add("update without a version", Of(Verb::kUpdate, kConfigMaps, "a"), [](Call& c, const SeenAnswers& seen) {
    c.body = Object(seen, "update");
    c.body.Edit("metadata").Erase("resourceVersion");
    c.body.Edit("data").Set("k", "4");
  });
  t.Add("update another uid", Of(Verb::kUpdate, kConfigMaps, "a"), [](Call& c, const SeenAnswers& seen) {
    c.body = Object(seen, "update without a version");
    c.body.Edit("metadata").Set("uid", "00000000-0000-0000-0000-000000000000");
  });
  t.Add("update under another name", Of(Verb::kUpdate, kConfigMaps, "b"), changed("5"));
  t.Add("update what is not there",
        Of(Verb::kUpdate, kConfigMaps, "missing", "{apiVersion: v1, kind: ConfigMap, metadata: {name: missing}}"));
  t.Add("update what may not change", Of(Verb::kUpdate, kDeployments, "web"), [](Call& c, const SeenAnswers& seen) {
    c.body = Object(seen, "create a deployment");
    c.body.Edit("spec").Edit("selector").Edit("matchLabels").Set("app", "other");
  });
  t.Add("update the status", With(Of(Verb::kUpdate, kDeployments, "web"), [](Call& c) { c.subresource = "status"; }),
        [](Call& c, const SeenAnswers& seen) {
          c.body = Object(seen, "create a deployment");
          c.body.Set("status", Yaml("{observedGeneration: 1, replicas: 2}"));
          c.body.Edit("spec").Set("replicas", 9);  // not taken from here
        });
  t.Add("update the scale", With(Of(Verb::kUpdate, kDeployments, "web"), [](Call& c) { c.subresource = "scale"; }),
        [](Call& c, const SeenAnswers& seen) {
          c.body = Object(seen, "get the scale");
          c.body.Edit("metadata").Erase("resourceVersion");
          c.body.Edit("spec").Set("replicas", 3);
        });
}

inline void AddPatches(Table& t) {
  t.Add("merge patch", PatchOf(kConfigMaps, "a", PatchType::kMerge, "{data: {k: null, m: one}}"));
  t.Add("merge patch of what is not there", PatchOf(kConfigMaps, "missing", PatchType::kMerge, "{data: {m: one}}"));
  t.Add("merge patch with a wrong version",
        PatchOf(kConfigMaps, "a", PatchType::kMerge, "{metadata: {resourceVersion: '1'}, data: {m: two}}"));
  t.Add("merge patch as a dry run",
        With(PatchOf(kConfigMaps, "a", PatchType::kMerge, "{data: {f: f}}"), [](Call& c) { c.dry_run = true; }));
  t.Add("json patch", PatchOf(kConfigMaps, "a", PatchType::kJson,
                              "[{op: test, path: /data/m, value: one}, {op: add, path: /data/j, value: '1'}]"));
  t.Add("json patch whose test fails",
        PatchOf(kConfigMaps, "a", PatchType::kJson, "[{op: test, path: /data/m, value: other}]"));
  t.Add("json patch of a path that is not there",
        PatchOf(kConfigMaps, "a", PatchType::kJson, "[{op: remove, path: /data/zzz}]"));
  t.Add("json patch that is none", PatchOf(kConfigMaps, "a", PatchType::kJson, "{op: remove}"));
  t.Add("strategic patch",
        PatchOf(kDeployments, "web", PatchType::kStrategic,
                "{spec: {template: {spec: {containers: [{name: main, env: [{name: B, value: '2'}]}]}}}}"));
  t.Add("strategic patch to something wrong",
        PatchOf(kDeployments, "web", PatchType::kStrategic, "{spec: {replicas: -5}}"));
  t.Add("patch the status",
        With(PatchOf(kDeployments, "web", PatchType::kMerge, "{status: {observedGeneration: 2}, spec: {replicas: 7}}"),
             [](Call& c) { c.subresource = "status"; }));
  t.Add("patch the scale", With(PatchOf(kDeployments, "web", PatchType::kMerge, "{spec: {replicas: 4}}"),
                                [](Call& c) { c.subresource = "scale"; }));
}

inline void AddApplies(Table& t) {
  const auto apply = [](std::string_view manager, std::string_view value) {
    return With(
        PatchOf(kConfigMaps, "applied", PatchType::kApply,
                StrCat("{apiVersion: v1, kind: ConfigMap, metadata: {name: applied}, data: {k: '", value, "'}}")),
        [&](Call& c) { c.field_manager = manager; });
  };
  t.Add("apply creates", apply("one", "1"));
  t.Add("apply again", apply("one", "1"));
  t.Add("apply against another manager", apply("two", "2"));
  t.Add("apply against another manager with force", With(apply("two", "2"), [](Call& c) { c.force = true; }));
  t.Add("apply without a manager", apply("", "1"));
  t.Add("apply another name",
        PatchOf(kConfigMaps, "applied", PatchType::kApply, "{apiVersion: v1, kind: ConfigMap, metadata: {name: b}}"));
  t.Add("apply without a kind", PatchOf(kConfigMaps, "applied", PatchType::kApply, "{metadata: {name: applied}}"));
  t.Add("apply managed fields", PatchOf(kConfigMaps, "applied", PatchType::kApply,
                                        "{apiVersion: v1, kind: ConfigMap, metadata: {name: applied, managedFields: "
                                        "[{manager: x, operation: Apply, apiVersion: v1}]}}"));
}

inline void AddLists(Table& t) {
  const Call list = Of(Verb::kList, kConfigMaps);
  t.Add("list by name", With(list, [](Call& c) { c.field_selector = "metadata.name=a"; }));
  t.Add("list by label", With(list, [](Call& c) { c.label_selector = "app in (x, y),!nope"; }));
  t.Add("list nothing", With(list, [](Call& c) { c.label_selector = "app=nobody"; }));
  t.Add("list deployments", Of(Verb::kList, kDeployments));
  t.Add("list by a label selector that is none", With(list, [](Call& c) { c.label_selector = "a in b"; }));
  t.Add("list by a field that cannot be asked for", With(list, [](Call& c) { c.field_selector = "data.k=1"; }));
  t.Add("list a first page", With(list, [](Call& c) {
          c.limit = 1;
          c.field_selector = "metadata.name!=kube-root-ca.crt";
        }));
  t.Add("list the next page",
        With(list,
             [](Call& c) {
               c.limit = 1;
               c.field_selector = "metadata.name!=kube-root-ca.crt";
             }),
        [](Call& c, const SeenAnswers& seen) {
          const Result<Answer>& first = seen.find("list a first page")->second;
          if (first.ok()) c.continue_token = first->continue_token;
        });
  t.Add("list on from a token that is none", With(list, [](Call& c) { c.continue_token = "bogus"; }));
  t.Add("list from a cache", With(list, [](Call& c) {
          c.resource_version = "0";
          c.field_selector = "metadata.name=a";
        }));
  t.Add("list with a match but no version", With(list, [](Call& c) { c.resource_version_match = "Exact"; }));
  t.Add("list with a match that is none", With(list, [](Call& c) {
          c.resource_version = "1";
          c.resource_version_match = "Somehow";
        }));
  t.Add("list in all namespaces", With(list, [](Call& c) {
          c.ns.clear();
          c.label_selector = "app=x";
        }));
  t.Add("list in a namespace that is not there", With(list, [](Call& c) { c.ns = "baton-no-such-namespace"; }));
  t.Add("list of a group that is not served", Of(Verb::kList, kNoSuchKind));
  t.Add("list what has no namespace",
        With(Of(Verb::kList, kNamespaces), [](Call& c) { c.field_selector = StrCat("metadata.name=", kNs); }));
}

inline void AddDeletes(Table& t) {
  t.Add("delete another uid", With(Of(Verb::kDelete, kConfigMaps, "a"),
                                   [](Call& c) { c.precondition_uid = "00000000-0000-0000-0000-000000000000"; }));
  t.Add("delete another version",
        With(Of(Verb::kDelete, kConfigMaps, "a"), [](Call& c) { c.precondition_version = "1"; }));
  t.Add("delete as a dry run", With(Of(Verb::kDelete, kConfigMaps, "a"), [](Call& c) { c.dry_run = true; }));
  t.Add("delete its uid", Of(Verb::kDelete, kConfigMaps, "a"),
        [](Call& c, const SeenAnswers& seen) { c.precondition_uid = UidOf(Object(seen, "create")); });
  t.Add("delete what is gone", Of(Verb::kDelete, kConfigMaps, "a"));
  t.Add("get what is gone", Of(Verb::kGet, kConfigMaps, "a"));
  t.Add("create what a finalizer holds",
        Of(Verb::kCreate, kConfigMaps, "",
           "{apiVersion: v1, kind: ConfigMap, metadata: {name: held, finalizers: [example.com/hold]}}"));
  t.Add("delete what a finalizer holds", Of(Verb::kDelete, kConfigMaps, "held"));
  t.Add("let it go", PatchOf(kConfigMaps, "held", PatchType::kMerge, "{metadata: {finalizers: null}}"));
  t.Add("delete in the background",
        With(Of(Verb::kDelete, kSecrets, "s"), [](Call& c) { c.propagation = Propagation::kBackground; }));
  t.Add("delete in the foreground",
        With(Of(Verb::kDelete, kDeployments, "web"), [](Call& c) { c.propagation = Propagation::kForeground; }));
  t.Add("delete a collection",
        With(Of(Verb::kDeleteCollection, kConfigMaps), [](Call& c) { c.field_selector = "metadata.name=applied"; }));
  t.Add("delete a collection by a selector that is none",
        With(Of(Verb::kDeleteCollection, kConfigMaps), [](Call& c) { c.label_selector = "a in b"; }));
  t.Add("list what is left",
        With(Of(Verb::kList, kConfigMaps), [](Call& c) { c.field_selector = "metadata.name!=kube-root-ca.crt"; }));
  t.Add("delete the namespace", Of(Verb::kDelete, kNamespaces, kNs));
}

}  // namespace calls_internal

inline std::vector<ApiCallRow> ApiCallTable() {
  calls_internal::Table table;
  calls_internal::AddCreates(table);
  calls_internal::AddGets(table);
  calls_internal::AddUpdates(table);
  calls_internal::AddPatches(table);
  calls_internal::AddApplies(table);
  calls_internal::AddLists(table);
  calls_internal::AddDeletes(table);
  return table.Take();
}

}  // namespace baton::kube
