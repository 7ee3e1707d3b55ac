// Resource requests: verbs over HTTP.
#include <algorithm>
#include <array>
#include <utility>

#include "api/field_errors.h"
#include "apiserver/errors.h"
#include "apiserver/front_context.h"
#include "apiserver/scale.h"
#include "apiserver/selection.h"
#include "apiserver/table.h"
#include "base/strings.h"
#include "json/names.h"
#include "json/parse.h"

namespace baton::apiserver {

namespace {

using json::Value;

constexpr size_t kResourcePartsMax = 3;      // of a path: resource, name, subresource
constexpr size_t kShownBodyBytesMax = 1024;  // of a body that a message shows

Subject SubjectOf(const Target& target) {
  return {.group = target.type->group, .resource = target.type->plural, .name = target.name};
}

Result<size_t> ReadLimit(const Query& query) {
  const std::string_view text = query.Get("limit");
  if (text.empty()) return size_t{0};
  const bool negative = text.starts_with('-');  // the same as none
  const Result<Revision> number = ParseVersion(text.substr(negative ? 1 : 0));
  if (!number.ok()) return BadRequest(NotANumber(text));
  if (negative) return size_t{0};
  return static_cast<size_t>(number->value());
}

Result<ListOptions> ReadListOptions(const Target& target, const Query& query) {
  ListOptions options;
  options.selection = TRY(ParseSelection(*target.type, query.Get("labelSelector"), query.Get("fieldSelector")));
  options.limit = TRY(ReadLimit(query));
  options.continue_token = query.Get("continue");
  options.resource_version = query.Get("resourceVersion");
  options.resource_version_match = query.Get("resourceVersionMatch");
  return options;
}

// What only a watch may ask for, and numbers that are none.
Result<void> CheckListQuery(const Query& query) {
  const std::string_view timeout = query.Get("timeoutSeconds");
  if (!timeout.empty() && !ParseVersion(timeout.substr(timeout.starts_with('-') ? 1 : 0)).ok()) {
    return BadRequest(NotANumber(timeout));
  }
  if (!query.Has("sendInitialEvents")) return {};
  return InvalidObject("meta.k8s.io", "ListOptions", "",
                       {api::ForbiddenError("sendInitialEvents", "sendInitialEvents is forbidden for list")});
}

Value ListMetadata(const Listed& listed) {
  Value metadata = json::Object({{"resourceVersion", VersionText(listed.revision)}});
  if (!listed.continue_token.empty()) metadata.Set("continue", listed.continue_token);
  if (listed.remaining) metadata.Set("remainingItemCount", *listed.remaining);
  return metadata;
}

constexpr size_t kItemsAhead = 8;  // of a list: fetched so many before their length is asked for

// The list as pieces: the stored bytes of its items, and what stands between them.
net::Body ListBody(const ResourceType& type, Listed listed) {
  net::Body body(StrCat(R"({"kind":")", type.list_kind, R"(","apiVersion":")", type.ApiVersion(), R"(","metadata":)",
                        ListMetadata(listed).ToString(), R"(,"items":[)"));
  body.Reserve(2 * listed.items.size() + 1);
  for (size_t i = 0; i < listed.items.size(); ++i) {
    if (i + kItemsAhead < listed.items.size()) __builtin_prefetch(listed.items[i + kItemsAhead].bytes.get());
    if (i > 0) body.AddLiteral(",");
    body.Add(std::move(listed.items[i].bytes));
  }
  body.AddLiteral("]}\n");
  return body;
}

Result<void> CheckInclude(const Query& query) {
  const std::string_view include = query.Get("includeObject");
  if (include.empty() || include == "None" || include == "Metadata" || include == "Object") return {};
  return BadRequest(StrCat("Unable to convert to Table as requested: includeObject: Invalid value: ",
                           Value(include).ToString(), ": must be 'Metadata', 'Object', 'None', or empty"));
}

// kube-apiserver's jobs leave their pods behind unless they are told not to.
Propagation DefaultPropagation(const ResourceType& type, Propagation asked, std::vector<std::string>& warnings) {
  const bool job = type.group == "batch" && type.plural == "jobs";
  if (!job || asked != Propagation::kDefault) return asked;
  warnings.emplace_back(
      "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or "
      "set propagationPolicy=Orphan to suppress this warning");
  return Propagation::kOrphan;
}

// Kinds whose delete is answered with the object itself.
bool AnswersDeleteWithObject(const ResourceType& type) {
  static constexpr std::array<std::string_view, 6> kCore = {
      "services", "serviceaccounts", "resourcequotas", "persistentvolumes", "persistentvolumeclaims", "podtemplates"};
  if (type.group == "storage.k8s.io") return type.plural == "storageclasses";
  return type.group.empty() && std::ranges::find(kCore, type.plural) != kCore.end();
}

IncludeObject ReadInclude(const Query& query) {
  const std::string_view include = query.Get("includeObject");
  return include == "None" ? IncludeObject::kNone
                           : (include == "Object" ? IncludeObject::kObject : IncludeObject::kMetadata);
}

// kube-apiserver names what it was decoding.
Error BadPatch(BodyFormat format, const Error& error) {
  std::string_view why = error.message();
  why.remove_prefix(std::min(why.find(": ") + 2, why.size()));
  return BadRequest(StrCat(format == BodyFormat::kYaml ? "error decoding YAML: " : "error decoding patch: ", why));
}

// Built-in kinds are known by the path; a custom object must say what it is.
Result<void> CheckNamesItsKind(const ResourceType& type, const Value& object, std::string_view body) {
  if (!type.custom || !object.is_object()) return {};
  if (!object["kind"].str().empty() && !object["apiVersion"].str().empty()) return {};
  return BadRequest(StrCat("the object provided is unrecognized (must be of type ", type.kind, "): Object '",
                           object["kind"].str().empty() ? "Kind" : "apiVersion", "' is missing in '",
                           body.substr(0, kShownBodyBytesMax), "'"));
}

Result<PatchType> ReadPatchType(std::string_view content_type) {
  const std::string type = MediaType(content_type);
  if (type == "application/json-patch+json") return PatchType::kJson;
  if (type == "application/merge-patch+json") return PatchType::kMerge;
  if (type == "application/strategic-merge-patch+json") return PatchType::kStrategic;
  if (type == "application/apply-patch+yaml") return PatchType::kApply;
  return UnsupportedMedia("415: Unsupported Media Type");
}

}  // namespace

Answer Front::ObjectAnswer(const Context& context, const ResourceType& type, const Object& object, int status) {
  if (context.accepted.shape == Shape::kObject && !context.accepted.yaml && !context.query.Flag("pretty")) {
    Answer answer{.status = status, .headers = JsonHeaders(), .body = {}};
    answer.body.Add(object.bytes);
    return answer;
  }
  const Value value = core_.Decode(object.bytes);
  switch (context.accepted.shape) {
    case Shape::kTable: {
      const Value row =
          TableRow(type, value, ReadInclude(context.query), core_.loop().WallNow(), context.accepted.shape_version);
      const Value metadata = json::Object({{"resourceVersion", value["metadata"]["resourceVersion"]}});
      return ValueAnswer(context, MakeTable(type, context.accepted.shape_version, metadata, std::span(&row, 1), true),
                         status);
    }
    case Shape::kPartialMetadata:
      return ValueAnswer(context, PartialMetadata(value, context.accepted.shape_version), status);
    default:
      return ValueAnswer(context, value, status);
  }
}

rt::Task<Result<Answer>> Front::ServeResource(Context& context) {
  const RequestInfo& info = context.info;
  Target target{.type = core_.registry().Find(info.group, info.version, info.resource),
                .ns = info.ns,
                .name = info.name,
                .subresource = info.subresource};
  if (target.type == nullptr) co_return UnknownPath();
  const ResourceType& type = *target.type;
  if (!type.deprecation_warning.empty()) context.caller.warnings.push_back(type.deprecation_warning);
  // Who may do something in a namespace may not do it to the whole cluster, however the path is written.
  const bool own = info.names_namespace && type.group.empty() && type.plural == "namespaces";
  if (!type.namespaced && !info.ns.empty() && !own) co_return UnknownPath();
  if (info.parts.size() > kResourcePartsMax) co_return UnknownPath();
  if (!type.namespaced) target.ns.clear();
  context.accepted = CO_TRY(Negotiate(context.Header("accept"), Answerable::kResource));
  if (context.accepted.shape == Shape::kTable) CO_TRY(CheckInclude(context.query));
  const bool main = target.subresource.empty() && !type.verbs.empty();
  if (main && std::ranges::find(type.verbs, info.verb) == type.verbs.end()) co_return MethodNotAllowed();
  if (!type.stored) co_return co_await ServeReview(context, std::move(target));
  if (target.subresource == "token" && type.plural == "serviceaccounts") {
    co_return co_await ServeToken(context, std::move(target));
  }
  const bool known = target.subresource.empty() || (target.subresource == "status" && type.has_status) ||
                     (target.subresource == "scale" && type.scale) ||
                     (target.subresource == "finalize" && type.plural == "namespaces");
  if (!known) co_return UnknownPath();
  const bool named = info.parts.size() > 1;
  if (const json::Messages wrong = json::CheckPathSegmentName(target.name); named && !wrong.empty()) {
    co_return BadRequest(StrCat("Name parameter invalid: \"", target.name, "\": ", wrong.front()));
  }
  if (named && !target.ns.empty() == type.namespaced) co_return co_await ServeObject(context, std::move(target));
  if (named) co_return UnknownPath();
  co_return co_await ServeCollection(context, std::move(target));
}

rt::Task<Result<Answer>> Front::ServeObject(Context& context, Target target) {
  const std::string& verb = context.info.verb;
  const ResourceTypePtr type = target.type;
  if (verb == "watch") {
    CO_TRY(co_await ServeWatch(context, std::move(target)));
    co_return Answer();
  }
  if (verb == "get") {
    const Object object = CO_TRY(co_await core_.Get(target, std::string(context.query.Get("resourceVersion"))));
    if (target.subresource != "scale") co_return ObjectAnswer(context, *type, object, 200);
    co_return ValueAnswer(context, ScaleOf(*type, core_.Decode(object.bytes)), 200);
  }
  if (verb == "patch") co_return co_await ServePatch(context, std::move(target));
  if (verb == "delete" && target.subresource.empty()) co_return co_await ServeDelete(context, std::move(target));
  if (verb != "update") co_return MethodNotAllowed();
  WriteOptions options = CO_TRY(ReadWriteOptions(context.query, "UpdateOptions"));
  options.authorize_create = [&] { return Authorize(context, "create"); };
  ParsedBody body =
      CO_TRY(ParseBody(context.request.body, CO_TRY(ObjectFormat(context.Header("content-type"))), target.type->kind));
  options.duplicate_fields = std::move(body.duplicate_fields);
  const bool scale = target.subresource == "scale";
  if (!scale) CO_TRY(CheckNamesItsKind(*type, body.value, context.request.body));
  const std::string_view kind = body.value["kind"].str();
  if (scale && !kind.empty() && kind != "Scale") {
    const std::string_view version = body.value["apiVersion"].str();
    co_return BadRequest(
        StrCat(kind, " in version \"", version.substr(version.rfind('/') + 1), "\" cannot be handled as a Scale"));
  }
  const Written written =
      CO_TRY(co_await core_.Update(std::move(target), std::move(body.value), std::move(options), context.caller));
  if (scale) co_return ValueAnswer(context, ScaleOf(*type, written.value), 200);
  co_return ObjectAnswer(context, *type, written.object, written.created ? 201 : 200);
}

rt::Task<Result<Answer>> Front::ServePatch(Context& context, Target target) {
  const PatchType patch_type = CO_TRY(ReadPatchType(context.Header("content-type")));
  WriteOptions options = CO_TRY(ReadWriteOptions(context.query, "PatchOptions"));
  options.authorize_create = [&] { return Authorize(context, "create"); };
  const BodyFormat format = patch_type == PatchType::kApply ? BodyFormat::kYaml : BodyFormat::kJson;
  Result<ParsedBody> parsed = ParseBody(context.request.body, format, {});
  if (!parsed.ok()) co_return BadPatch(format, parsed.error());
  ParsedBody body = *std::move(parsed);
  options.duplicate_fields = std::move(body.duplicate_fields);
  if (options.force && patch_type != PatchType::kApply) {
    co_return InvalidObject("meta.k8s.io", "PatchOptions", "",
                            {{.type = api::FieldError::Type::kForbidden,
                              .field = "force",
                              .message = "Forbidden: may not be specified for non-apply patch"}});
  }
  const ResourceTypePtr type = target.type;
  const bool scale = target.subresource == "scale";
  const Written written = CO_TRY(
      co_await core_.Patch(std::move(target), patch_type, std::move(body.value), std::move(options), context.caller));
  if (scale) co_return ValueAnswer(context, ScaleOf(*type, written.value), 200);
  co_return ObjectAnswer(context, *type, written.object, written.created ? 201 : 200);
}

rt::Task<Result<Answer>> Front::ServeDelete(Context& context, Target target) {
  DeleteOptions options =
      CO_TRY(ReadDeleteOptions(context.query, context.request.body, context.Header("content-type")));
  const ResourceTypePtr type = target.type;
  options.propagation = DefaultPropagation(*type, options.propagation, context.caller.warnings);
  const Subject subject = SubjectOf(target);
  const Deleted deleted = CO_TRY(co_await core_.Delete(std::move(target), options, context.caller));
  if (!deleted.gone || AnswersDeleteWithObject(*type)) co_return ObjectAnswer(context, *type, deleted.object, 200);
  context.accepted.shape = Shape::kObject;
  co_return ValueAnswer(context, SuccessStatus(subject, deleted.value["metadata"]["uid"].str()), 200);
}

rt::Task<Result<Answer>> Front::ServeCollection(Context& context, Target target) {
  const std::string& verb = context.info.verb;
  if (verb == "list") co_return co_await ServeList(context, std::move(target));
  if (verb == "watch") {
    CO_TRY(co_await ServeWatch(context, std::move(target)));
    co_return Answer();
  }
  if (verb == "create") co_return co_await ServeCreate(context, std::move(target));
  if (verb != "deletecollection") co_return MethodNotAllowed();
  const ListOptions list = CO_TRY(ReadListOptions(target, context.query));
  DeleteOptions options =
      CO_TRY(ReadDeleteOptions(context.query, context.request.body, context.Header("content-type")));
  const ResourceTypePtr type = target.type;
  options.propagation = DefaultPropagation(*type, options.propagation, context.caller.warnings);
  Listed deleted;
  deleted.items = CO_TRY(co_await core_.DeleteCollection(std::move(target), list.selection, options, context.caller));
  deleted.revision = core_.store().revision();
  co_return Answer{.status = 200, .headers = JsonHeaders(), .body = ListBody(*type, std::move(deleted))};
}

rt::Task<Result<Answer>> Front::ServeCreate(Context& context, Target target) {
  const ResourceTypePtr type = target.type;
  if (type->namespaced && target.ns.empty()) co_return MethodNotAllowed();
  WriteOptions options = CO_TRY(ReadWriteOptions(context.query, "CreateOptions"));
  ParsedBody body =
      CO_TRY(ParseBody(context.request.body, CO_TRY(ObjectFormat(context.Header("content-type"))), target.type->kind));
  options.duplicate_fields = std::move(body.duplicate_fields);
  CO_TRY(CheckNamesItsKind(*type, body.value, context.request.body));
  if (body.value.is_null() && !type->custom) body.value = json::Object();
  const Written written =
      CO_TRY(co_await core_.Create(std::move(target), std::move(body.value), std::move(options), context.caller));
  co_return ObjectAnswer(context, *type, written.object, 201);
}

rt::Task<Result<Answer>> Front::ServeList(Context& context, Target target) {
  const ResourceTypePtr type = target.type;
  CO_TRY(CheckListQuery(context.query));
  ListOptions options = CO_TRY(ReadListOptions(target, context.query));
  Listed listed = CO_TRY(co_await core_.List(std::move(target), std::move(options)));
  if (context.accepted.shape == Shape::kObject && !context.accepted.yaml && !context.query.Flag("pretty")) {
    co_return Answer{.status = 200, .headers = JsonHeaders(), .body = ListBody(*type, std::move(listed))};
  }
  std::vector<Value> items;
  items.reserve(listed.items.size());
  const WallTime now = core_.loop().WallNow();
  for (const Object& item : listed.items) {
    Value object = core_.Decode(item.bytes);
    if (context.accepted.shape == Shape::kTable) {
      items.push_back(TableRow(*type, object, ReadInclude(context.query), now, context.accepted.shape_version));
    } else if (context.accepted.shape == Shape::kPartialMetadata) {
      items.push_back(PartialMetadata(object, context.accepted.shape_version));
    } else {
      items.push_back(std::move(object));
    }
  }
  if (context.accepted.shape == Shape::kTable) {
    co_return ValueAnswer(context, MakeTable(*type, context.accepted.shape_version, ListMetadata(listed), items, true),
                          200);
  }
  const bool partial = context.accepted.shape == Shape::kPartialMetadata;
  Value list = json::Object(
      {{"apiVersion", partial ? StrCat("meta.k8s.io/", context.accepted.shape_version) : type->ApiVersion()},
       {"kind", partial ? std::string("PartialObjectMetadataList") : type->list_kind},
       {"metadata", ListMetadata(listed)},
       {"items", json::Array()}});
  Value& array = list.Edit("items");
  for (Value& item : items) array.Push(std::move(item));
  co_return ValueAnswer(context, list, 200);
}

}  // namespace baton::apiserver
