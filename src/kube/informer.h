// Informer: a copy of a collection that keeps itself up to date: a list, then its changes, for as long as it runs. What
// controllers read instead of asking the server again and again, and what wakes them.
//
//   Informer bindings(hub, kResourceBindings, {});
//   bindings.OnChange([&](const Value& before, const Value& now) { queue.Add(...); });
//   scope.Spawn(bindings.Run());
//   co_await bindings.WaitSynced();
//   const Value& binding = bindings.Get("blue/web-deployment");      // null when there is none
//
// A handler is called for every difference between what the informer had and what it learned: an object that came
// (before is null), changed, or went (now is null), once each, in the order in which it learned them. After a gap (410,
// a cut connection whose resume fails, a server that was restored from a backup and counts lower than before) the
// informer lists again and calls handlers for the differences only, so nothing is lost and nothing told twice. An
// object that was deleted and made anew in a gap is told as gone and then as come.
//
// What is here is old: by milliseconds as a rule, by more when the server is away (Age() tells). Nobody may take it for
// evidence of what runs where.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/metrics.h"
#include "json/value.h"
#include "kube/api.h"
#include "rt/event.h"
#include "rt/loop.h"
#include "rt/retry.h"
#include "rt/task.h"

namespace baton::kube {

struct InformerOptions {
  std::string ns;  // "": all
  std::string label_selector;
  std::string field_selector;
  bool keep_managed_fields = false;  // they are a third of an object, and controllers do not look at them
  // What else is dropped from each object before it is kept; may be null.
  std::function<void(json::Value& object)> trim;
};

// Of one list or one opening of a watch; a failure is tried again, later each time.
inline constexpr Duration kInformerRetryFirst = milliseconds(50);
inline constexpr Duration kInformerRetryMax = seconds(10);

class Informer {
 public:
  // Both are null-or-object; see above. Called on the loop, between the informer's own steps: it must not drop the
  // informer, and sees it with the change made.
  using Handler = std::function<void(const json::Value& before, const json::Value& now)>;
  using Index = std::function<std::vector<std::string>(const json::Value& object)>;

  // The api outlives this.
  Informer(Api& api, Resource resource, InformerOptions options = {});
  Informer(const Informer&) = delete;
  Informer& operator=(const Informer&) = delete;

  // Before Run(). Handlers are called in the order they were added.
  void OnChange(Handler handler) { handlers_.push_back(std::move(handler)); }
  // Before Run(). When the first list is in. Who looked at the server before that, and saw what is not in the list, is
  // told of it by nothing else: it was never here, so it does not go.
  void OnSynced(std::function<void()> handler) { on_synced_ = std::move(handler); }
  void AddIndex(std::string name, Index index);
  // A handler that comes later is told first of all that is there.
  void OnChangeFromNow(Handler handler);

  // Keeps up to date until it is dropped. Once.
  rt::Task<void> Run();

  bool synced() const { return synced_.is_set(); }
  rt::Task<void> WaitSynced();
  // Since the server was last heard of: a list, a change, a bookmark. Nothing before the first list.
  std::optional<Duration> Age() const;
  // The last failure to list or to watch, while it lasts.
  const std::optional<Error>& trouble() const { return trouble_; }

  // By "namespace/name", or "name" for what is cluster-wide. The shared null when there is none.
  const json::Value& Get(std::string_view key) const;
  std::vector<json::Value> ByIndex(std::string_view index, std::string_view value) const;  // by key
  std::vector<std::string> KeysByIndex(std::string_view index, std::string_view value) const;
  void ForEach(const std::function<void(std::string_view key, const json::Value& object)>& visit) const;  // by key
  size_t size() const { return objects_.size(); }
  const Resource& resource() const { return resource_; }
  const std::string& resource_version() const { return position_; }
  size_t lists() const { return lists_; }  // how often it had to list: once, if nothing goes wrong

  // What this process wrote, taken in before the watch brings it, so that the next look at the key sees it. Older than
  // what is there, or of a kind of version that cannot be compared: left alone.
  void Learn(const json::Value& written);

 private:
  struct IndexData {
    Index function;
    std::map<std::string, std::set<std::string, std::less<>>, std::less<>> keys;
  };
  using Objects = std::map<std::string, json::Value, std::less<>>;

  rt::Task<Result<void>> List();
  rt::Task<Error> Follow();  // watches until it ends, and says why
  void Take(Change change);
  void Put(std::string key, json::Value object);
  void Remove(const std::string& key);
  void Tell(const json::Value& before, const json::Value& now);
  void Reindex(const std::string& key, const json::Value& before, const json::Value& now);
  json::Value Trimmed(json::Value object) const;
  void Heard();

  Api& api_;
  Resource resource_;
  InformerOptions options_;
  std::vector<Handler> handlers_;
  std::map<std::string, IndexData, std::less<>> indexes_;
  Objects objects_;
  std::string position_;  // the resourceVersion up to which all is known; "": list first
  rt::Event synced_;
  std::function<void()> on_synced_;  // may be null
  std::optional<MonotonicTime> heard_;
  std::optional<Error> trouble_;
  size_t lists_ = 0;
};

}  // namespace baton::kube
