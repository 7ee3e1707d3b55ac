// List, then watch, then watch again from where it ended; list anew when that is not possible.
#include "kube/informer.h"

#include <algorithm>
#include <utility>

#include "base/invariant.h"

namespace baton::kube {
namespace {

const json::Value kNoObject;

rt::RetryPolicy Policy() {
  rt::RetryPolicy policy;
  policy.first_delay = kInformerRetryFirst;
  policy.max_delay = kInformerRetryMax;
  return policy;
}

// Whether a watch that ended so can go on from where it was. Not when the history is gone, or the server does not know
// that revision yet: it was restored from a backup and counts lower.
bool MayResume(const Error& error) {
  if (error.status() != nullptr && error.status()->reason == "Timeout") return false;  // "too large resource version"
  return error.kind() == ErrorKind::kUnavailable || error.kind() == ErrorKind::kThrottled ||
         error.kind() == ErrorKind::kDeadlineExceeded;
}

}  // namespace

Informer::Informer(Api& api, Resource resource, InformerOptions options)
    : api_(api), resource_(std::move(resource)), options_(std::move(options)) {}

void Informer::AddIndex(std::string name, Index index) {
  IndexData& data = indexes_[std::move(name)];
  data.function = std::move(index);
  for (const auto& [key, object] : objects_) {
    for (std::string& value : data.function(object)) data.keys[std::move(value)].insert(key);
  }
}

void Informer::OnChangeFromNow(Handler handler) {
  for (const auto& [key, object] : objects_) handler(kNoObject, object);
  handlers_.push_back(std::move(handler));
}

rt::Task<void> Informer::Run() {
  std::optional<rt::Backoff> backoff;
  while (true) {
    Result<void> listed;
    if (position_.empty()) listed = co_await List();
    std::optional<Error> ended;
    const MonotonicTime begun = api_.loop().Now();
    bool news = false;
    if (listed.ok()) {
      const std::string from = position_;
      ended = co_await Follow();
      news = position_ != from;
      if (!MayResume(*ended)) position_.clear();
    } else {
      ended = listed.error();
    }
    trouble_ = ended;
    // A watch that lived for a while or brought something ended in the ordinary way: kube-apiserver ends one that it
    // cannot serve fast enough, often many in a row just when most happens. One that fails at once is not to be opened
    // in a circle.
    const bool lived = api_.loop().Now() - begun > kInformerRetryMax;
    if (listed.ok() && (lived || news || ended->kind() == ErrorKind::kGone)) backoff.reset();
    if (!backoff) backoff.emplace(Policy());
    Duration delay = backoff->Next(api_.loop().random());
    if (const auto asked = ended->retry_after_seconds()) delay = std::max<Duration>(delay, seconds(*asked));
    co_await api_.loop().Sleep(delay);
  }
}

rt::Task<Result<void>> Informer::List() {
  ListOptions options;
  options.ns = options_.ns;
  options.label_selector = options_.label_selector;
  options.field_selector = options_.field_selector;
  Listed listed = CO_TRY(co_await api_.ListAll(resource_, std::move(options)));
  ++lists_;
  std::set<std::string, std::less<>> there;
  for (json::Value& object : listed.items) {
    std::string key = Name::Of(object).Key();
    there.insert(key);
    Put(std::move(key), Trimmed(std::move(object)));
  }
  std::vector<std::string> gone;
  for (const auto& [key, object] : objects_) {
    if (!there.contains(key)) gone.push_back(key);
  }
  for (const std::string& key : gone) Remove(key);
  position_ = listed.resource_version;
  Heard();
  const bool first = !synced_.is_set();
  synced_.Set();
  if (first && on_synced_ != nullptr) on_synced_();
  co_return Result<void>();
}

rt::Task<Error> Informer::Follow() {
  WatchCall call;
  call.resource = resource_;
  call.ns = options_.ns;
  call.label_selector = options_.label_selector;
  call.field_selector = options_.field_selector;
  call.resource_version = position_;
  Result<std::unique_ptr<Watch>> watch =
      co_await api_.OpenWatch(std::move(call), rt::Deadline::After(api_.loop(), kCallTimeout));
  if (!watch.ok()) co_return std::move(watch).error();
  Heard();
  while (true) {
    Result<std::vector<Change>> changes = co_await (*watch)->Next();
    if (!changes.ok()) co_return std::move(changes).error();
    Heard();
    for (Change& change : *changes) {
      const auto at = VersionNumber(position_);
      const auto next = VersionNumber(VersionOf(change.object));
      if (at && next && *next < *at) {
        co_return Error::FromStatus({.code = 410, .reason = "Expired"},
                                    "the server's history went back: listing again");
      }
      Take(std::move(change));
    }
  }
}

void Informer::Take(Change change) {
  const std::string version(VersionOf(change.object));
  std::string key = Name::Of(change.object).Key();
  switch (change.type) {
    case ChangeType::kAdded:
    case ChangeType::kModified: {
      // What Learn() took in before may be newer than this.
      const auto have = VersionNumber(VersionOf(Get(key)));
      const auto got = VersionNumber(version);
      if (!have || !got || *have < *got || UidOf(Get(key)) != UidOf(change.object)) {
        Put(std::move(key), Trimmed(std::move(change.object)));
      }
      break;
    }
    case ChangeType::kDeleted: {
      if (UidOf(Get(key)) == UidOf(change.object)) Remove(key);
      break;
    }
    case ChangeType::kBookmark:
      break;
  }
  if (!version.empty()) position_ = version;
}

void Informer::Put(std::string key, json::Value object) {
  const auto at = objects_.find(key);
  if (at == objects_.end()) {
    const auto made = objects_.emplace(std::move(key), std::move(object)).first;
    const json::Value now = made->second;
    Reindex(made->first, kNoObject, now);
    Tell(kNoObject, now);
    return;
  }
  if (VersionOf(at->second) == VersionOf(object) && UidOf(at->second) == UidOf(object)) return;
  if (UidOf(at->second) != UidOf(object)) {  // another one of the same name: that one went, this one came
    const std::string same = at->first;
    Remove(same);
    Put(same, std::move(object));
    return;
  }
  const json::Value before = std::exchange(at->second, object);
  Reindex(at->first, before, object);
  Tell(before, object);
}

void Informer::Remove(const std::string& key) {
  const auto at = objects_.find(key);
  if (at == objects_.end()) return;
  const json::Value before = std::move(at->second);
  const std::string name = at->first;
  objects_.erase(at);
  Reindex(name, before, kNoObject);
  Tell(before, kNoObject);
}

void Informer::Tell(const json::Value& before, const json::Value& now) {
  for (const Handler& handler : handlers_) handler(before, now);
}

void Informer::Reindex(const std::string& key, const json::Value& before, const json::Value& now) {
  for (auto& [name, data] : indexes_) {
    std::vector<std::string> old = before.is_null() ? std::vector<std::string>() : data.function(before);
    std::vector<std::string> wanted = now.is_null() ? std::vector<std::string>() : data.function(now);
    if (old == wanted) continue;
    for (const std::string& value : old) {
      const auto at = data.keys.find(value);
      if (at == data.keys.end()) continue;
      at->second.erase(key);
      if (at->second.empty()) data.keys.erase(at);
    }
    for (std::string& value : wanted) data.keys[std::move(value)].insert(key);
  }
}

json::Value Informer::Trimmed(json::Value object) const {
  if (!options_.keep_managed_fields && object["metadata"].Has("managedFields")) {
    object.Edit("metadata").Erase("managedFields");
  }
  if (options_.trim) options_.trim(object);
  return object;
}

void Informer::Heard() {
  heard_ = api_.loop().Now();
  trouble_.reset();
}

rt::Task<void> Informer::WaitSynced() { co_await synced_.Wait(); }

std::optional<Duration> Informer::Age() const {
  if (!heard_) return std::nullopt;
  return api_.loop().Now() - *heard_;
}

const json::Value& Informer::Get(std::string_view key) const {
  const auto at = objects_.find(key);
  return at == objects_.end() ? kNoObject : at->second;
}

std::vector<std::string> Informer::KeysByIndex(std::string_view index, std::string_view value) const {
  const auto data = indexes_.find(index);
  INVARIANT(data != indexes_.end(), "an informer is asked for an index that nobody added");
  const auto keys = data->second.keys.find(value);
  if (keys == data->second.keys.end()) return {};
  return {keys->second.begin(), keys->second.end()};
}

std::vector<json::Value> Informer::ByIndex(std::string_view index, std::string_view value) const {
  std::vector<json::Value> found;
  for (const std::string& key : KeysByIndex(index, value)) found.push_back(Get(key));
  return found;
}

void Informer::ForEach(const std::function<void(std::string_view key, const json::Value& object)>& visit) const {
  for (const auto& [key, object] : objects_) visit(key, object);
}

void Informer::Learn(const json::Value& written) {
  std::string key = Name::Of(written).Key();
  const json::Value& have = Get(key);
  const auto known = VersionNumber(VersionOf(have));
  const auto got = VersionNumber(VersionOf(written));
  // An object that is not here may have been deleted since it was written: only the watch knows.
  if (!known || !got || *got <= *known || UidOf(have) != UidOf(written)) return;
  Put(std::move(key), Trimmed(written));
}

}  // namespace baton::kube
