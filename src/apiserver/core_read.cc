// Core's reading verbs: get and list.
#include <algorithm>
#include <utility>

#include "api/field_errors.h"
#include "apiserver/core.h"
#include "apiserver/errors.h"
#include "apiserver/selection.h"
#include "base/base64.h"
#include "base/strings.h"
#include "json/parse.h"
#include "json/print.h"
#include "rt/when.h"

namespace baton::apiserver {

namespace {

constexpr size_t kSelectPageMin = 500;  // objects that are looked at in one go when only some are selected
constexpr size_t kObjectsAhead = 8;     // a list's objects are fetched so many before they are looked at

// Where a list goes on: {"rv": 12, "start": "<the last key, below the prefix>"} in base64. Opaque to clients.
struct ContinueToken {
  Revision revision;
  std::string start;
};

std::string ToText(const ContinueToken& token) {
  return Base64UrlEncode(json::Object({{"rv", token.revision.value()}, {"start", token.start}}).ToString());
}

Result<ContinueToken> ParseContinue(std::string_view text) {
  const auto invalid = [](std::string_view why) {
    return BadRequest(StrCat("invalid continue token: continue key is not valid: ", why));
  };
  const Result<std::string> decoded = Base64UrlDecode(text);
  if (!decoded.ok()) return invalid(decoded.error().message());
  const Result<json::Value> value = json::Parse(*decoded);
  if (!value.ok()) return invalid(value.error().message());
  const int64_t revision = (*value)["rv"].int_or(-1);
  const std::string_view start = (*value)["start"].str();
  if (revision < -1 || revision == 0 || start.empty()) return invalid("incorrect encoded start resourceVersion");
  return ContinueToken{.revision = Revision(revision), .start = std::string(start)};
}

Error TooLargeVersion(Revision wanted, Revision current) {
  Status status{.code = 504, .reason = "Timeout"};
  status.causes.push_back({.reason = "ResourceVersionTooLarge", .message = "Too large resource version", .field = {}});
  status.retry_after_seconds = 1;
  return Error::FromStatus(std::move(status), StrCat("Timeout: Too large resource version: ", wanted.value(),
                                                     ", current: ", current.value()));
}

Error ExpiredContinue() {
  return Expired(
      "The provided continue parameter is too old to display a consistent list result. You must start a new list "
      "without the continue parameter.");
}

// Until the store has that revision.
rt::Task<Result<void>> UntilRevision(store::Store& store, Revision wanted) {
  std::unique_ptr<store::Watch> watch = CO_TRY(store.OpenWatch("", store.revision()));
  while (store.revision() < wanted) {
    const auto events = co_await watch->Next();
    if (!events.ok()) co_return events.error();
  }
  co_return Result<void>();
}

rt::Task<Result<void>> WaitForRevision(rt::Loop& loop, store::Store& store, Revision wanted) {
  if (store.revision() >= wanted) co_return Result<void>();
  const Result<void> seen = co_await rt::WithDeadline(rt::Deadline::After(loop, kFreshReadWait), "a resource version",
                                                      UntilRevision(store, wanted));
  if (!seen.ok()) co_return TooLargeVersion(wanted, store.revision());
  co_return Result<void>();
}

Subject SubjectOf(const Target& target) {
  return {.group = target.type->group, .resource = target.type->plural, .name = target.name};
}

// What a list must begin at: the options checked against each other, as Kubernetes does.
Result<Revision> CheckListOptions(const ListOptions& options) {
  Result<Revision> revision = ParseVersion(options.resource_version);
  const std::string_view match = options.resource_version_match;
  std::vector<api::FieldError> errors;
  const auto forbidden = [&](std::string_view why) {
    errors.push_back(api::ForbiddenError("resourceVersionMatch", why));
  };
  if (!match.empty()) {
    if (options.resource_version.empty()) {
      forbidden("resourceVersionMatch is forbidden unless resourceVersion is provided");
    }
    if (!options.continue_token.empty()) forbidden("resourceVersionMatch is forbidden when continue is provided");
    if (match != "Exact" && match != "NotOlderThan") {
      errors.push_back(
          api::NotSupportedError("resourceVersionMatch", match, std::vector<json::Value>{"Exact", "NotOlderThan", ""}));
    }
    if (match == "Exact" && options.resource_version == "0") {
      forbidden(R"(resourceVersionMatch "exact" is forbidden for resourceVersion "0")");
    }
  }
  if (!errors.empty()) return InvalidObject("meta.k8s.io", "ListOptions", "", errors);
  if (!revision.ok())
    return BadRequest(StrCat("invalid resource version: resourceVersion: ", revision.error().message()));
  return revision;
}

}  // namespace

Core::Core(rt::Loop& loop, store::Store& store, Registry& registry)
    : loop_(loop),
      store_(store),
      registry_(registry),
      labels_(store, [this](const Bytes& bytes) { return decoded_.Decode(bytes); }) {}
Core::~Core() = default;

std::optional<Object> Core::Live(const ResourceType& type, std::string_view ns, std::string_view name) const {
  const Result<std::optional<store::Entry>> entry = store_.Get(StorageKey(type, ns, name));
  if (!entry.ok() || !entry->has_value()) return std::nullopt;
  return Object{.bytes = (*entry)->value, .revision = (*entry)->mod_revision};
}

rt::Task<Result<Object>> Core::Get(Target target, std::string resource_version) {
  const Result<Revision> wanted = ParseVersion(resource_version);
  if (!wanted.ok()) co_return PlainServerError(StrCat("resourceVersion: ", wanted.error().message()));
  CO_TRY(co_await WaitForRevision(loop_, store_, *wanted));
  std::optional<Object> live = Live(*target.type, target.ns, target.name);
  if (!live) co_return NotFound(SubjectOf(target));
  live->bytes = InVersion(live->bytes, live->revision, *target.type);
  co_return *std::move(live);
}

// The list of now, read by the keys that its labels lead to.
void Core::ListByLabel(const Target& target, const Selection& selection, const std::vector<std::string>& keys,
                       Listed& listed) {
  for (const std::string& key : keys) {
    const Result<std::optional<store::Entry>> entry = store_.Get(key);
    if (!entry.ok() || !entry->has_value()) continue;
    const store::Entry& found = **entry;
    if (!Selects(selection, decoded_.Decode(found.value))) continue;
    listed.items.push_back(
        {.bytes = InVersion(found.value, found.mod_revision, *target.type), .revision = found.mod_revision});
  }
}

rt::Task<Result<Listed>> Core::List(Target target, ListOptions options) {
  Revision at;
  std::string start_after;
  std::string prefix = StoragePrefix(*target.type, target.ns);
  const Revision wanted = CO_TRY(CheckListOptions(options));
  if (!options.continue_token.empty()) {
    ContinueToken token = CO_TRY(ParseContinue(options.continue_token));
    if (wanted.value() != 0) co_return BadRequest("specifying resource version is not allowed when using continue");
    at = token.revision;
    start_after = StrCat(prefix, token.start);
  } else if (options.resource_version_match == "Exact") {
    CO_TRY(co_await WaitForRevision(loop_, store_, wanted));
    at = wanted;
  } else {
    CO_TRY(co_await WaitForRevision(loop_, store_, wanted));
  }

  const Selection& selection = options.selection;
  const bool all = selection.everything();
  const std::optional<std::string_view> name = selection.fields.ExactMatch("metadata.name");
  const std::string only = name && !target.ns.empty() ? StrCat(prefix, *name) : std::string();
  const Versioner versioner(*target.type);
  Listed listed;
  listed.revision = at.value() == 0 ? store_.revision() : at;
  if (!all && at.value() == 0) {
    const auto keys = labels_.Find(StoragePrefix(*target.type, ""), prefix, selection.labels);
    if (keys && (options.limit == 0 || keys->size() <= options.limit)) {
      ListByLabel(target, selection, *keys, listed);
      co_return listed;
    }
  }
  while (true) {
    store::ListOptions page{.at = at, .start_after = start_after, .limit = options.limit, .keys = false};
    if (options.limit > 0 && !all) {
      // Few may be selected of many: a page is not as small as what is still wanted, and its rest is of no interest.
      page.limit = std::max(options.limit - listed.items.size(), kSelectPageMin);
      page.keys = true;
      page.count = false;
    }
    Result<store::ListResult> found =
        store_.List(only.empty() ? std::string_view(prefix) : std::string_view(only), page);
    if (!found.ok()) {
      if (found.error().kind() != ErrorKind::kGone) co_return found.error();
      co_return options.continue_token.empty()
          ? Expired(StrCat("The resourceVersion for the provided list is too old: ", at.value()))
          : ExpiredContinue();
    }
    std::vector<store::Entry>& entries = found->entries;
    if (all) listed.items.reserve(entries.size());
    for (size_t i = 0; i < entries.size(); ++i) {
      if (i + kObjectsAhead < entries.size()) __builtin_prefetch(entries[i + kObjectsAhead].value->data());
      store::Entry& entry = entries[i];
      if (!all && (!MaySelect(selection, *entry.value) || !Selects(selection, decoded_.Decode(entry.value)))) continue;
      listed.items.push_back(
          {.bytes = versioner.Show(std::move(entry.value), entry.mod_revision), .revision = entry.mod_revision});
      if (listed.items.size() != options.limit || i + 1 == entries.size()) continue;
      found->more = true;  // the rest of this page
      entries.resize(i + 1);
    }
    if (!found->more) break;
    start_after = std::move(entries.back().key);
    if (at.value() == 0) at = found->revision;
    if (listed.items.size() < options.limit) continue;
    listed.continue_token = ToText({.revision = at, .start = start_after.substr(prefix.size())});
    if (all) listed.remaining = found->remaining;
    break;
  }
  co_return listed;
}

}  // namespace baton::apiserver
