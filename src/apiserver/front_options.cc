// Options of requests, from queries and bodies.
#include <string>

#include "api/field_errors.h"
#include "apiserver/errors.h"
#include "apiserver/front_context.h"
#include "apiserver/metadata.h"
#include "base/strings.h"

namespace baton::apiserver {

namespace {

using json::Value;

Result<bool> ReadDryRun(std::string_view kind, const std::vector<std::string_view>& values) {
  for (const std::string_view value : values) {
    if (value == "All" || value.empty()) continue;
    return InvalidObject("meta.k8s.io", kind, "",
                         {api::NotSupportedError("dryRun", json::Array({Value(value)}), std::vector<Value>{"All"})});
  }
  return !values.empty() && !values.front().empty();
}

Result<void> CheckNumber(const Query& query, std::string_view name) {
  const std::string_view text = query.Get(name);
  if (text.empty() || ParseVersion(text.substr(text.starts_with('-') ? 1 : 0)).ok()) return {};
  return BadRequest(NotANumber(text));
}

Result<Propagation> ReadPropagation(std::string_view policy) {
  if (policy.empty()) return Propagation::kDefault;
  if (policy == "Background") return Propagation::kBackground;
  if (policy == "Foreground") return Propagation::kForeground;
  if (policy == "Orphan") return Propagation::kOrphan;
  return InvalidObject("meta.k8s.io", "DeleteOptions", "",
                       {api::NotSupportedError("propagationPolicy", Value(policy),
                                               std::vector<Value>{"Foreground", "Background", "Orphan", "nil"})});
}

}  // namespace

Result<WriteOptions> ReadWriteOptions(const Query& query, std::string_view kind) {
  WriteOptions options;
  options.dry_run = TRY(ReadDryRun(kind, query.All("dryRun")));
  options.field_manager = query.Get("fieldManager");
  const std::vector<api::FieldError> wrong = ValidateManagerName("fieldManager", options.field_manager);
  if (!wrong.empty()) return InvalidObject("meta.k8s.io", kind, "", wrong);
  const std::string_view validation = query.Get("fieldValidation");
  if (validation == "Strict") {
    options.field_validation = FieldValidation::kStrict;
  } else if (validation == "Ignore") {
    options.field_validation = FieldValidation::kIgnore;
  } else if (!validation.empty() && validation != "Warn") {
    return InvalidObject("meta.k8s.io", kind, "",
                         {api::NotSupportedError("fieldValidation", Value(validation),
                                                 std::vector<Value>{"", "Ignore", "Strict", "Warn"})});
  }
  options.force = query.Flag("force");
  return options;
}

Result<DeleteOptions> ReadDeleteOptions(const Query& asked, std::string_view body, std::string_view content_type) {
  static const Query kNothing;
  const Query& query = body.empty() ? asked : kNothing;  // a body counts alone
  Value given;
  if (!body.empty()) {
    ParsedBody parsed = TRY(ParseBody(body, TRY(ObjectFormat(content_type)), "DeleteOptions"));
    given = std::move(parsed.value);
    const std::string_view kind = given["kind"].str();
    if (!given.is_object() || (!kind.empty() && kind != "DeleteOptions")) {
      return BadRequest(StrCat("the body of a DELETE is a DeleteOptions, not ", given.is_object() ? kind : "that"));
    }
  }
  TRY(CheckNumber(query, "gracePeriodSeconds"));
  DeleteOptions options;
  std::vector<std::string_view> dry_run = query.All("dryRun");
  for (const Value& value : given["dryRun"].items()) dry_run.push_back(value.str());
  options.dry_run = TRY(ReadDryRun("DeleteOptions", dry_run));
  options.uid = given["preconditions"]["uid"].str();
  options.resource_version = given["preconditions"]["resourceVersion"].str();
  std::string_view policy = query.Get("propagationPolicy");
  if (policy.empty()) policy = given["propagationPolicy"].str();
  const bool orphan_named = query.Has("orphanDependents") || given.Has("orphanDependents");
  if (!policy.empty() && orphan_named) {
    return InvalidObject("meta.k8s.io", "DeleteOptions", "",
                         {api::InvalidError("propagationPolicy", Value(policy),
                                            "orphanDependents and deletionPropagation cannot be both set")});
  }
  if (policy.empty() && orphan_named) {
    const bool orphan = query.Flag("orphanDependents") || given["orphanDependents"].bool_or(false);
    policy = orphan ? "Orphan" : "Background";
  }
  options.propagation = TRY(ReadPropagation(policy));
  return options;
}

}  // namespace baton::apiserver
