// Watches over HTTP: a stream of events until the client leaves, the time is over or the server stops.
#include <utility>

#include "apiserver/errors.h"
#include "apiserver/front_context.h"
#include "apiserver/selection.h"
#include "apiserver/table.h"
#include "base/strings.h"
#include "rt/when.h"

namespace baton::apiserver {

namespace {

using json::Value;

std::string_view TypeName(EventType type) {
  switch (type) {
    case EventType::kAdded:
      return "ADDED";
    case EventType::kModified:
      return "MODIFIED";
    case EventType::kDeleted:
      return "DELETED";
    case EventType::kBookmark:
      return "BOOKMARK";
  }
  return "ERROR";
}

Value BookmarkObject(const ResourceType& type, Revision revision, bool initial_events_end) {
  Value metadata = json::Object({{"resourceVersion", VersionText(revision)}, {"creationTimestamp", nullptr}});
  if (initial_events_end) {
    metadata.Set("annotations", json::Object({{"k8s.io/initial-events-end", "true"}}));
  }
  return json::Object({{"apiVersion", type.ApiVersion()}, {"kind", type.kind}, {"metadata", metadata}});
}

// What Next() gave, or nothing when the server stops.
using Batch = std::optional<Result<std::vector<WatchEvent>>>;

rt::Task<Batch> OfWatcher(Watcher& watcher) {
  Result<std::vector<WatchEvent>> events = co_await watcher.Next();
  co_return Batch(std::move(events));
}

rt::Task<Batch> OfShutdown(rt::Event& shutdown) {
  co_await shutdown.Wait();
  co_return std::nullopt;
}

rt::Task<Batch> NextBatch(Watcher& watcher, rt::Event& shutdown) {
  std::vector<rt::Task<Batch>> either;
  either.push_back(OfWatcher(watcher));
  either.push_back(OfShutdown(shutdown));
  rt::AnyResult<Batch> first = co_await rt::WhenAny(std::move(either));
  co_return std::move(first.value);
}

}  // namespace

// Turns events into the lines of one stream.
class EventWriter {
 public:
  EventWriter(Core& core, const ResourceType& type, Accepted accepted, IncludeObject include)
      : core_(core), type_(type), accepted_(std::move(accepted)), include_(include) {}

  void Append(net::Body& body, const WatchEvent& event) {
    if (event.object.bytes != nullptr && accepted_.shape == Shape::kObject) {
      static const auto kEnd = std::make_shared<const std::string>("}\n");
      body.Add(Start(event.type));
      body.Add(event.object.bytes);
      body.Add(kEnd);
      return;
    }
    body.Add(json::Object({{"type", TypeName(event.type)}, {"object", Shaped(event)}}).ToString() + "\n");
  }

 private:
  static std::shared_ptr<const std::string> Start(EventType type) {
    static const auto kAdded = std::make_shared<const std::string>(R"({"type":"ADDED","object":)");
    static const auto kModified = std::make_shared<const std::string>(R"({"type":"MODIFIED","object":)");
    static const auto kDeleted = std::make_shared<const std::string>(R"({"type":"DELETED","object":)");
    return type == EventType::kAdded ? kAdded : (type == EventType::kModified ? kModified : kDeleted);
  }

  Value Shaped(const WatchEvent& event) {
    Value object = event.object.bytes != nullptr
                       ? core_.Decode(event.object.bytes)
                       : BookmarkObject(type_, event.object.revision, event.initial_events_end);
    if (accepted_.shape == Shape::kPartialMetadata) return PartialMetadata(object, accepted_.shape_version);
    if (accepted_.shape != Shape::kTable) return object;
    // The columns are told once.
    const bool first = std::exchange(first_, false);
    std::vector<Value> rows;
    rows.push_back(TableRow(type_, object, include_, core_.loop().WallNow(), accepted_.shape_version));
    const Value metadata = json::Object({{"resourceVersion", object["metadata"]["resourceVersion"]}});
    return MakeTable(type_, accepted_.shape_version, metadata, rows, first);
  }

  Core& core_;
  const ResourceType& type_;
  Accepted accepted_;
  IncludeObject include_;
  bool first_ = true;
};

namespace {

Result<WatchOptions> ReadWatchOptions(const Target& target, const Query& query) {
  WatchOptions options;
  std::string fields(query.Get("fieldSelector"));
  // What was authorized is that name, whatever else is selected. It stands first: a client's text may end in a
  // backslash.
  if (!target.name.empty()) {
    fields = StrCat("metadata.name=", json::FieldSelector::Escape(target.name), fields.empty() ? "" : ",", fields);
  }
  options.selection = TRY(ParseSelection(*target.type, query.Get("labelSelector"), fields));
  options.resource_version = query.Get("resourceVersion");
  options.resource_version_match = query.Get("resourceVersionMatch");
  const std::string_view timeout = query.Get("timeoutSeconds");
  if (!ParseVersion(timeout).ok()) return BadRequest(NotANumber(timeout));
  options.bookmarks = query.Flag("allowWatchBookmarks");
  if (query.Has("sendInitialEvents")) options.send_initial_events = query.Flag("sendInitialEvents");
  return options;
}

Duration WatchLife(const Query& query, rt::Random& random) {
  const Result<Revision> wanted = ParseVersion(query.Get("timeoutSeconds"));
  constexpr int64_t kSecondsMax = int64_t{365} * 24 * 3600;
  if (wanted.ok() && wanted->value() > 0) return seconds(std::min(wanted->value(), kSecondsMax));
  return random.Between(kWatchLifeMin, 2 * kWatchLifeMin);
}

// Now and then, and shortly before the end, so that the next watch resumes from there.
rt::Deadline NextBookmark(const rt::Loop& loop, rt::Deadline end) {
  const rt::Deadline regular = rt::Deadline::After(loop, kBookmarkEvery);
  if (end.Left(loop) <= kBookmarkBeforeEnd) return regular;
  return regular.Earlier(rt::Deadline::At(end.at() - kBookmarkBeforeEnd));
}

class CountedIn {
 public:
  explicit CountedIn(Gauge gauge) : gauge_(gauge) { gauge_.Add(1); }
  CountedIn(const CountedIn&) = delete;
  CountedIn& operator=(const CountedIn&) = delete;
  ~CountedIn() { gauge_.Add(-1); }

 private:
  Gauge gauge_;
};

}  // namespace

rt::Task<Result<void>> Front::ServeWatch(Context& context, Target target) {
  const WatchOptions options = CO_TRY(ReadWatchOptions(target, context.query));
  rt::Loop& loop = core_.loop();
  const rt::Deadline end = rt::Deadline::After(loop, WatchLife(context.query, loop.random()));
  const IncludeObject include =
      context.query.Get("includeObject") == "Object" ? IncludeObject::kObject : IncludeObject::kMetadata;
  EventWriter events(core_, *target.type, context.accepted, include);
  Result<std::unique_ptr<Watcher>> opened = core_.Watch(target, options);
  if (!opened.ok() && opened.error().kind() != ErrorKind::kGone) co_return opened.error();

  // From here on every answer is an event of the stream, an error, too.
  const CountedIn counted(watches_);
  context.answered = true;
  Record(context, 200, nullptr);
  net::Headers headers = JsonHeaders();
  headers.Set("audit-id", context.audit_id);
  CO_TRY(co_await context.writer.Start(200, std::move(headers)));
  std::optional<Error> failed;
  if (!opened.ok()) failed = opened.error();
  rt::Deadline bookmark = NextBookmark(loop, end);
  while (!failed && !end.Passed(loop)) {
    net::Body chunk;
    Result<Batch> batch = co_await rt::WithDeadline(options.bookmarks ? end.Earlier(bookmark) : end, "an event",
                                                    NextBatch(**opened, context.writer.shutdown()));
    if (!batch.ok()) {  // the time is over, for this watch or for a bookmark
      if (end.Passed(loop)) break;
      bookmark = NextBookmark(loop, end);
      events.Append(chunk,
                    {.type = EventType::kBookmark, .object = {.bytes = nullptr, .revision = (*opened)->position()}});
    } else if (!*batch) {
      break;
    } else if (!(*batch)->ok()) {
      if ((*batch)->error().kind() == ErrorKind::kUnavailable) break;
      failed = (*batch)->error();
    } else {
      for (const WatchEvent& event : ***batch) events.Append(chunk, event);
    }
    if (chunk.size() > 0) CO_TRY(co_await context.writer.Write(std::move(chunk)));
  }
  if (failed) {
    const Value event = json::Object({{"type", "ERROR"}, {"object", StatusObject(*failed)}});
    CO_TRY(co_await context.writer.Write(event.ToString() + "\n"));
  }
  co_return co_await context.writer.Finish();
}

}  // namespace baton::apiserver
