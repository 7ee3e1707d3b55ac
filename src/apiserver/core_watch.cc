// Core's watch: the store's events as the caller selects them, with initial events where they are asked for.
#include <deque>
#include <utility>

#include "apiserver/core.h"
#include "apiserver/errors.h"
#include "apiserver/selection.h"
#include "base/strings.h"

namespace baton::apiserver {

namespace {

using StoreEvent = std::shared_ptr<const store::Event>;

Error WatchExpired(const Error& error) {
  return error.kind() == ErrorKind::kGone ? Expired(StrCat("too old resource version: ", error.message())) : error;
}

Error BadWatchOption(std::string_view field, std::string_view message) {
  return InvalidObject(
      "meta.k8s.io", "ListOptions", "",
      {{.type = api::FieldError::Type::kForbidden, .field = std::string(field), .message = std::string(message)}});
}

Result<void> CheckWatchOptions(const WatchOptions& options) {
  const std::string_view match = options.resource_version_match;
  if (!options.send_initial_events) {
    if (match.empty()) return {};
    return BadWatchOption("resourceVersionMatch",
                          "Forbidden: resourceVersionMatch is forbidden for watch unless "
                          "sendInitialEvents is provided");
  }
  if (match == "NotOlderThan") return {};
  if (match.empty()) {
    return BadWatchOption("resourceVersionMatch",
                          "Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
  }
  return BadWatchOption("resourceVersionMatch",
                        StrCat("Unsupported value: \"", match, R"(": supported values: "NotOlderThan")"));
}

}  // namespace

// The bytes of an object that is told as deleted: what it was, with the revision of its end. All watchers of an event
// share them.
Bytes Core::LastState(const StoreEvent& event) {
  for (const auto& [known, bytes] : last_states_) {
    if (known == event) return bytes;
  }
  auto bytes =
      std::make_shared<const std::string>(Encode(decoded_.Decode(event->previous)).WithVersion(event->revision));
  last_states_.emplace_front(event, bytes);
  if (last_states_.size() > kLastStatesMax) last_states_.pop_back();
  return bytes;
}

class CollectionWatcher final : public Watcher {
 public:
  CollectionWatcher(Core& core, ResourceTypePtr type, Selection selection, std::string only_key,
                    std::unique_ptr<store::Watch> watch)
      : core_(core),
        type_(std::move(type)),
        selection_(std::move(selection)),
        all_(selection_.everything()),
        only_key_(std::move(only_key)),
        watch_(std::move(watch)) {}

  void AddInitial(WatchEvent event) { initial_.push_back(std::move(event)); }

  rt::Task<Result<std::vector<WatchEvent>>> Next() override {
    if (!initial_.empty()) co_return std::exchange(initial_, {});
    std::vector<WatchEvent> events;
    while (events.empty()) {
      const Result<std::vector<StoreEvent>> changes = co_await watch_->Next();
      if (!changes.ok()) co_return WatchExpired(changes.error());
      for (const StoreEvent& change : *changes) Select(change, events);
    }
    co_return events;
  }

  Revision position() const override { return watch_->position(); }

 private:
  void Select(const StoreEvent& change, std::vector<WatchEvent>& events) {
    if (!only_key_.empty() && change->key != only_key_) return;
    const bool is = change->value != nullptr && Matches(change->value);
    const bool was = change->previous != nullptr && Matches(change->previous);
    if (!is && !was) return;
    const EventType type = !is ? EventType::kDeleted : was ? EventType::kModified : EventType::kAdded;
    const Bytes& bytes = is ? change->value : core_.LastState(change);
    events.push_back(
        {.type = type, .object = {.bytes = InVersion(bytes, change->revision, *type_), .revision = change->revision}});
  }

  bool Matches(const Bytes& bytes) const {
    return all_ || (MaySelect(selection_, *bytes) && Selects(selection_, core_.Decode(bytes)));
  }

  Core& core_;
  ResourceTypePtr type_;
  Selection selection_;
  bool all_;
  std::string only_key_;
  std::unique_ptr<store::Watch> watch_;
  std::vector<WatchEvent> initial_;
};

Result<std::unique_ptr<Watcher>> Core::Watch(const Target& target, const WatchOptions& options) {
  TRY(CheckWatchOptions(options));
  Result<Revision> from = ParseVersion(options.resource_version);
  if (!from.ok()) return PlainServerError(StrCat("resourceVersion: ", from.error().message()));
  // Without a version, or with "0", a watch begins with what there is, unless it asks not to.
  const bool initial = options.send_initial_events.value_or(from->value() == 0);
  const std::string prefix = StoragePrefix(*target.type, target.ns);
  const std::optional<std::string_view> name = options.selection.fields.ExactMatch("metadata.name");
  const std::string only = name && (!target.ns.empty() || !target.type->namespaced) ? StrCat(prefix, *name) : "";

  const Revision after = initial || from->value() == 0 ? store_.revision() : *from;
  if (after > store_.revision()) {
    return Error::FromStatus(
        {.code = 504, .reason = "Timeout", .retry_after_seconds = 1},
        StrCat("Timeout: Too large resource version: ", after.value(), ", current: ", store_.revision().value()));
  }
  Result<std::unique_ptr<store::Watch>> opened = store_.OpenWatch(only.empty() ? prefix : only, after);
  if (!opened.ok()) {
    if (opened.error().kind() != ErrorKind::kGone) return opened.error();
    return Expired(StrCat("too old resource version: ", after.value(), " (", store_.compacted().value(), ")"));
  }
  auto watcher = std::make_unique<CollectionWatcher>(*this, target.type, options.selection, only, *std::move(opened));
  if (initial) {
    const store::ListResult found = TRY(store_.List(prefix));
    for (const store::Entry& entry : found.entries) {
      if (!options.selection.everything() && !Selects(options.selection, decoded_.Decode(entry.value))) continue;
      watcher->AddInitial({.type = EventType::kAdded,
                           .object = {.bytes = InVersion(entry.value, entry.mod_revision, *target.type),
                                      .revision = entry.mod_revision}});
    }
    if (options.send_initial_events.value_or(false) && options.bookmarks) {
      watcher->AddInitial(
          {.type = EventType::kBookmark, .object = {.bytes = nullptr, .revision = after}, .initial_events_end = true});
    }
  }
  return std::unique_ptr<Watcher>(std::move(watcher));
}

}  // namespace baton::apiserver
