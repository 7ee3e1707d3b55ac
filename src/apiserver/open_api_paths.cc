// Paths and operations, in both versions of OpenAPI. What clients look for: the group, version and kind of an
// operation, and whether its patch takes dryRun and fieldValidation.
#include "apiserver/open_api_paths.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/strings.h"

namespace baton::apiserver {

using api::ResourceType;
using json::ArrayBuilder;
using json::Object;
using json::ObjectBuilder;
using json::Value;

namespace {

struct Parameter {
  std::string_view name;
  std::string_view type;
  std::string_view in;
  std::string_view description;
};

constexpr auto kParameters = std::to_array<Parameter>({
    {"allowWatchBookmarks", "boolean", "query", "Let a watch also tell how far it has come."},
    {"continue", "string", "query", "Where to go on: the token of the page before."},
    {"dryRun", "string", "query", "All: do everything but store the result."},
    {"fieldManager", "string", "query", "Who makes this change; an apply must say it."},
    {"fieldSelector", "string", "query", "Only objects with these fields."},
    {"fieldValidation", "string", "query",
     "What becomes of unknown and duplicate fields: Ignore drops them, Warn also tells, Strict refuses the request."},
    {"force", "boolean", "query", "Apply only: take over fields that belong to others."},
    {"gracePeriodSeconds", "integer", "query", "How long to wait for an orderly end; 0 is at once."},
    {"labelSelector", "string", "query", "Only objects with these labels."},
    {"limit", "integer", "query", "At most so many objects; the rest comes with continue."},
    {"name", "string", "path", "The object's name."},
    {"namespace", "string", "path", "The namespace that the object is in."},
    {"orphanDependents", "boolean", "query", "Say propagationPolicy instead."},
    {"pretty", "string", "query", "Indent the answer."},
    {"propagationPolicy", "string", "query", "What becomes of dependents: Orphan, Background or Foreground."},
    {"resourceVersion", "string", "query", "The version to read at, or to watch from."},
    {"resourceVersionMatch", "string", "query", "How to read resourceVersion: Exact or NotOlderThan."},
    {"sendInitialEvents", "boolean", "query", "Let a watch begin with what is there."},
    {"timeoutSeconds", "integer", "query", "End the list or the watch after this time."},
    {"watch", "boolean", "query", "Go on with every change instead of ending."},
});

// Clients look for these in operations and do not follow references.
bool StaysInline(std::string_view parameter) { return parameter == "dryRun" || parameter == "fieldValidation"; }

Value Render(const Parameter& parameter, bool v3) {
  Value type = Object({{"type", parameter.type}, {"uniqueItems", true}});
  Value out = v3 ? Object({{"schema", std::move(type)}}) : std::move(type);
  out.Set("name", parameter.name);
  out.Set("in", parameter.in);
  out.Set("description", parameter.description);
  if (parameter.in == "path") out.Set("required", true);
  return out;
}

enum class Body : uint8_t { kNone, kObject, kPatch, kDeleteOptions };
enum class Answer : uint8_t { kObject, kList, kStatus };

constexpr std::array<std::string_view, 3> kWriteParameters = {"dryRun", "fieldManager", "fieldValidation"};
constexpr std::array<std::string_view, 4> kPatchParameters = {"dryRun", "fieldManager", "fieldValidation", "force"};
constexpr std::array<std::string_view, 4> kDeleteParameters = {"dryRun", "gracePeriodSeconds", "orphanDependents",
                                                               "propagationPolicy"};
constexpr std::array<std::string_view, 10> kListParameters = {
    "allowWatchBookmarks",  "continue",          "fieldSelector",  "labelSelector", "limit", "resourceVersion",
    "resourceVersionMatch", "sendInitialEvents", "timeoutSeconds", "watch"};
constexpr std::array<std::string_view, 12> kDeleteCollectionParameters = {"continue",          "dryRun",
                                                                          "fieldSelector",     "gracePeriodSeconds",
                                                                          "labelSelector",     "limit",
                                                                          "orphanDependents",  "propagationPolicy",
                                                                          "resourceVersion",   "resourceVersionMatch",
                                                                          "sendInitialEvents", "timeoutSeconds"};

constexpr std::array<std::string_view, 1> kOk = {"200"};
constexpr std::array<std::string_view, 2> kOkCreated = {"200", "201"};
constexpr std::array<std::string_view, 2> kOkAccepted = {"200", "202"};
constexpr std::array<std::string_view, 3> kOkCreatedAccepted = {"200", "201", "202"};

std::string_view CodeName(std::string_view code) {
  if (code == "201") return "Created";
  return code == "202" ? "Accepted" : "OK";
}

std::string Capitalised(std::string_view word) {
  std::string out(word);
  if (!out.empty() && out.front() >= 'a' && out.front() <= 'z')
    out.front() = static_cast<char>(out.front() - 'a' + 'A');
  return out;
}

// "rbacAuthorization" for "rbac.authorization.k8s.io", as Kubernetes names groups in tags.
std::string GroupTag(std::string_view group) {
  if (group.empty()) return "core";
  if (group.ends_with(".k8s.io")) group.remove_suffix(7);
  std::string out;
  for (const std::string_view part : Split(group, '.')) out += out.empty() ? std::string(part) : Capitalised(part);
  return out;
}

std::vector<std::string> VerbsOf(const ResourceType& type) {
  if (!type.verbs.empty()) return type.verbs;
  if (!type.stored) return {"create"};
  return {"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"};
}

}  // namespace

// What one path is about.
struct OpenApiPaths::Target {
  const ResourceType* type;
  std::string object;       // definitions
  std::string list;         // empty: has none
  Value kind;               // {"group", "version", "kind"}
  std::string subresource;  // "status"
  bool namespaced = false;  // in the path
  bool all_namespaces = false;
};

struct OpenApiPaths::Verb {
  std::string_view name;    // as discovery says it
  bool of_items = false;    // or of collections
  std::string_view method;  // of HTTP, in lower case
  std::string_view action;
  std::string_view id;  // how its operationId begins
  std::string_view text;
  Body body = Body::kNone;
  Answer answer = Answer::kObject;
  std::span<const std::string_view> parameters = {};
  std::span<const std::string_view> codes = kOk;
};

std::span<const OpenApiPaths::Verb> OpenApiPaths::Verbs() {
  static constexpr auto kVerbs = std::to_array<Verb>({
      {"list", false, "get", "list", "list", "list or watch objects of kind ", Body::kNone, Answer::kList,
       kListParameters, kOk},
      {"create", false, "post", "post", "create", "create an object of kind ", Body::kObject, Answer::kObject,
       kWriteParameters, kOkCreatedAccepted},
      {"deletecollection", false, "delete", "deletecollection", "delete", "delete objects of kind ",
       Body::kDeleteOptions, Answer::kStatus, kDeleteCollectionParameters, kOk},
      {"get", true, "get", "get", "read", "read an object of kind ", Body::kNone, Answer::kObject, {}, kOk},
      {"update", true, "put", "put", "replace", "replace an object of kind ", Body::kObject, Answer::kObject,
       kWriteParameters, kOkCreated},
      {"patch", true, "patch", "patch", "patch", "change an object of kind ", Body::kPatch, Answer::kObject,
       kPatchParameters, kOkCreated},
      {"delete", true, "delete", "delete", "delete", "delete an object of kind ", Body::kDeleteOptions, Answer::kStatus,
       kDeleteParameters, kOkAccepted},
  });
  return kVerbs;
}

OpenApiPaths::OpenApiPaths(bool v3, OpenApiDefinitions& definitions) : v3_(v3), definitions_(definitions) {
  for (const Parameter& parameter : kParameters) {
    const bool shared = !v3 && !StaysInline(parameter.name);
    parameters_.emplace(parameter.name,
                        shared ? Object({{"$ref", StrCat("#/parameters/", parameter.name)}}) : Render(parameter, v3));
  }
}

Value OpenApiPaths::SharedParameters() {
  ObjectBuilder out;
  for (const Parameter& parameter : kParameters) {
    if (!StaysInline(parameter.name)) out.Add(parameter.name, Render(parameter, false));
  }
  return std::move(out).Build();
}

namespace {

std::string BodyType(Body body, std::string_view object) {
  if (body == Body::kObject) return std::string(object);
  return StrCat(kMetaTypes, body == Body::kPatch ? "Patch" : "DeleteOptions");
}

std::vector<std::string_view> Consumed(Body body, const ResourceType& type) {
  if (body != Body::kPatch) return {"*/*"};
  std::vector<std::string_view> types = {"application/json-patch+json", "application/merge-patch+json"};
  if (type.patch_schema != nullptr) types.emplace_back("application/strategic-merge-patch+json");
  types.emplace_back("application/apply-patch+yaml");
  return types;
}

std::vector<std::string_view> Produced(Answer answer) {
  std::vector<std::string_view> types = {"application/json", "application/yaml"};
  if (answer == Answer::kList) types.emplace_back("application/json;stream=watch");
  return types;
}

Value Texts(const std::vector<std::string_view>& texts) {
  ArrayBuilder out;
  for (const std::string_view text : texts) out.Add(text);
  return std::move(out).Build();
}

Value ContentOf(const std::vector<std::string_view>& types, const Value& schema) {
  const Value body = Object({{"schema", schema}});
  ObjectBuilder out;
  for (const std::string_view type : types) out.Add(type, body);
  return std::move(out).Build();
}

}  // namespace

Value OpenApiPaths::Parameters(const Target& target, const Verb& verb) const {
  ArrayBuilder out;
  if (!v3_ && verb.body != Body::kNone) {
    Value body = Object(
        {{"name", "body"}, {"in", "body"}, {"schema", definitions_.Reference(BodyType(verb.body, target.object))}});
    if (verb.body != Body::kDeleteOptions) body.Set("required", true);
    out.Add(std::move(body));
  }
  for (const std::string_view name : verb.parameters) out.Add(parameters_.find(name)->second);
  return std::move(out).Build();
}

Value OpenApiPaths::RequestBody(const Target& target, const Verb& verb) const {
  if (!v3_ || verb.body == Body::kNone) return nullptr;
  const Value schema = definitions_.Reference(BodyType(verb.body, target.object));
  Value out = Object({{"content", ContentOf(Consumed(verb.body, *target.type), schema)}});
  if (verb.body != Body::kDeleteOptions) out.Set("required", true);
  return out;
}

Value OpenApiPaths::Responses(const Target& target, const Verb& verb) const {
  std::string name = target.object;
  if (verb.answer == Answer::kList) name = target.list;
  if (verb.answer == Answer::kStatus) name = StrCat(kMetaTypes, "Status");
  const Value schema = definitions_.Reference(name);
  const Value content = v3_ ? ContentOf(Produced(verb.answer), schema) : schema;
  ObjectBuilder out;
  for (const std::string_view code : verb.codes) {
    out.Add(code, Object({{"description", CodeName(code)}, {v3_ ? "content" : "schema", content}}));
  }
  out.Add("401", Object({{"description", "Unauthorized"}}));
  return std::move(out).Build();
}

Value OpenApiPaths::Operation(const Target& target, const Verb& verb) const {
  const ResourceType& type = *target.type;
  const std::string tag = GroupTag(type.group);
  ObjectBuilder out;
  out.Add("description", StrCat(verb.text, type.kind, target.subresource.empty() ? "" : ": ", target.subresource));
  out.Add("operationId",
          StrCat(verb.id, Capitalised(tag), Capitalised(type.version),
                 verb.name == "deletecollection" ? "Collection" : "", target.namespaced ? "Namespaced" : "", type.kind,
                 Capitalised(target.subresource), target.all_namespaces ? "ForAllNamespaces" : ""));
  out.Add("tags", json::Array({StrCat(tag, "_", type.version)}));
  if (!v3_) {
    out.Add("consumes", Texts(Consumed(verb.body, type)));
    out.Add("produces", Texts(Produced(verb.answer)));
    out.Add("schemes", json::Array({"https"}));
  }
  if (Value parameters = Parameters(target, verb); !parameters.empty()) out.Add("parameters", std::move(parameters));
  if (Value body = RequestBody(target, verb); !body.is_null()) out.Add("requestBody", std::move(body));
  out.Add("responses", Responses(target, verb));
  out.Add("x-kubernetes-action", verb.action);
  out.Add("x-kubernetes-group-version-kind", target.kind);
  return std::move(out).Build();
}

void OpenApiPaths::AddPath(std::string_view path, const Target& target, std::span<const std::string> verbs,
                           bool of_items) {
  ObjectBuilder item;
  for (const Verb& verb : Verbs()) {
    // What is created below an object (serviceaccounts/NAME/token) is created at that object's own path.
    const bool fits = verb.of_items == of_items || (!target.subresource.empty() && verb.name == "create");
    if (fits && std::ranges::find(verbs, verb.name) != verbs.end()) item.Add(verb.method, Operation(target, verb));
  }
  if (item.size() == 0) return;
  ArrayBuilder parameters;
  if (of_items) parameters.Add(parameters_.find("name")->second);
  if (target.namespaced) parameters.Add(parameters_.find("namespace")->second);
  parameters.Add(parameters_.find("pretty")->second);
  item.Add("parameters", std::move(parameters).Build());
  paths_.Add(path, std::move(item).Build());
}

void OpenApiPaths::Add(const ResourceType& type) {
  const std::string root =
      type.group.empty() ? StrCat("/api/", type.version) : StrCat("/apis/", type.group, "/", type.version);
  const std::string base = StrCat(root, type.namespaced ? "/namespaces/{namespace}/" : "/", type.plural);
  const std::vector<std::string> verbs = VerbsOf(type);
  const bool lists = std::ranges::find(verbs, "list") != verbs.end();
  Target own{.type = &type,
             .object = definitions_.Add(type),
             .list = lists ? definitions_.AddList(type) : "",
             .kind = Object({{"group", type.group}, {"version", type.version}, {"kind", type.kind}}),
             .subresource = {},
             .namespaced = type.namespaced,
             .all_namespaces = false};
  AddPath(base, own, verbs, false);
  const std::string item = StrCat(base, "/{name}");
  AddPath(item, own, verbs, true);
  if (type.namespaced && lists) {
    Target everywhere = own;
    everywhere.namespaced = false;
    everywhere.all_namespaces = true;
    AddPath(StrCat(root, "/", type.plural), everywhere, std::array<std::string, 1>{"list"}, false);
  }
  // Clients that look for the deletion of this group and version find its DeleteOptions.
  definitions_.AddMeta("DeleteOptions", type.group, type.version);
  definitions_.AddMeta("Status", "", "v1");
  definitions_.AddNamed(StrCat(kMetaTypes, "Patch"));

  std::vector<api::Subresource> below = type.subresources;
  const std::vector<std::string> usual = {"get", "patch", "update"};
  if (type.has_status) below.push_back({.name = "status", .verbs = usual, .kind = {}, .group = {}, .version = {}});
  if (type.scale) {
    below.push_back({.name = "scale", .verbs = usual, .kind = "Scale", .group = "autoscaling", .version = "v1"});
  }
  for (const api::Subresource& sub : below) {
    Target target = own;
    target.subresource = sub.name;
    if (!sub.kind.empty()) {
      const std::string& group = sub.version.empty() ? type.group : sub.group;
      const std::string& version = sub.version.empty() ? type.version : sub.version;
      target.object = definitions_.AddKind(group, version, sub.kind);
      target.kind = Object({{"group", group}, {"version", version}, {"kind", sub.kind}});
    }
    AddPath(StrCat(item, "/", sub.name), target, sub.verbs, true);
  }
}

Value OpenApiPaths::Build() && { return std::move(paths_).Build(); }

}  // namespace baton::apiserver
