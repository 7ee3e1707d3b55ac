// Tables of what there is, once or as it changes.
#include "cli/get_command.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "cli/client.h"
#include "federation/resources.h"
#include "json/rfc3339.h"
#include "rollout/records.h"

namespace baton::cli {
namespace {

using json::Value;
using Row = std::vector<std::string>;

constexpr Duration kWatchAgain = milliseconds(500);

constexpr const char* kHelp =
    "Usage: baton get migrations|writers|clusters [NAME] [-A] [-o json|yaml|wide|name] [-w]\n"
    "\n"
    "  migrations   moves, under way and ended\n"
    "  writers      which cluster may write, for each managed workload\n"
    "  clusters     the members\n"
    "\n"
    "Examples:\n"
    "  baton get migrations -A -o wide\n"
    "  baton get migrations -w\n"
    "  baton get writers orders-flinkdeployment -n prod -o yaml\n"
    "\n"
    "  -A, --all-namespaces   in all namespaces\n"
    "  -o, --output FORMAT    json, yaml, name, or wide: more columns\n"
    "  -w, --watch            and then each change, until it is stopped\n";

struct Table {
  std::array<std::string_view, 3> names;
  const kube::Resource* resource;
  Row (*header)(bool wide);
  Row (*row)(const Value& object, bool wide, WallTime now);
};

std::string Or(const Value& value, std::string_view fallback = "-") {
  return value.str().empty() ? std::string(fallback) : std::string(value.str());
}

Row MigrationHeader(bool wide) {
  Row row = {"NAME", "WORKLOAD", "SOURCE", "TARGET", "PHASE", "STEP", "WRITER", "DOWNTIME", "AGE"};
  if (wide) row.insert(row.end(), {"MESSAGE"});
  return row;
}

Row MigrationRow(const Value& object, bool wide, WallTime now) {
  const Value& status = object["status"];
  const bool blocked = std::ranges::any_of(status["conditions"].items(), [](const Value& one) {
    return one["type"].str() == "Blocked" && one["status"].str() == "True";
  });
  Row row = {std::string(kube::NameOf(object)),
             KindSlashName(object["spec"]["workload"]),
             Or(status["source"], Or(object["spec"]["source"])),
             Or(object["spec"]["target"]),
             StrCat(Or(status["phase"], "Pending"), blocked ? " (blocked)" : ""),
             Or(status["step"]),
             Or(status["writer"]),
             Or(status["downtime"]),
             AgeOf(object, now)};
  if (wide) row.push_back(Or(status["message"]));
  return row;
}

Row WriterHeader(bool wide) {
  Row row = {"NAME", "WORKLOAD", "CLUSTER", "EPOCH", "MOVED BY", "LAST HANDOFF", "AGE"};
  if (wide) row.insert(row.end(), {"CLUSTER ID", "STATE"});
  return row;
}

Row WriterRow(const Value& object, bool wide, WallTime now) {
  const Value& spec = object["spec"];
  std::string handoff = "-";
  if (spec["receipt"].is_object()) {
    const Result<WallTime> at = json::ParseTime(spec["receipt"]["time"].str());
    handoff = StrCat(spec["receipt"]["from"].str(), " to ", spec["receipt"]["to"].str(),
                     at.ok() ? StrCat(", ", Short(now - *at), " ago") : "");
  }
  Row row = {std::string(kube::NameOf(object)),
             KindSlashName(spec["workload"]),
             Or(spec["holder"]["cluster"]),
             StrCat(spec["seq"].int_or(0)),
             Or(spec["claim"]["migration"]),
             handoff,
             AgeOf(object, now)};
  if (wide) {
    row.push_back(Or(spec["holder"]["clusterID"]));
    row.push_back(Or(spec["receipt"]["state"]));
  }
  return row;
}

Row ClusterHeader(bool wide) {
  Row row = {"NAME", "VERSION", "MODE", "READY", "AGE"};
  if (wide) row.insert(row.end(), {"ENDPOINT", "ID"});
  return row;
}

Row ClusterRow(const Value& object, bool wide, WallTime now) {
  std::string ready = "Unknown";
  for (const Value& condition : object["status"]["conditions"].items()) {
    if (condition["type"].str() == "Ready") ready = condition["status"].str();
  }
  Row row = {std::string(kube::NameOf(object)), Or(object["status"]["kubernetesVersion"]),
             Or(object["spec"]["syncMode"]), ready, AgeOf(object, now)};
  if (wide) {
    row.push_back(Or(object["spec"]["apiEndpoint"]));
    row.push_back(Or(object["spec"]["id"]));
  }
  return row;
}

const std::array<Table, 3>& Tables() {
  static const std::array<Table, 3> kTables = {
      Table{{"migrations", "migration", "smig"}, &rollout::kMigrations, MigrationHeader, MigrationRow},
      Table{{"writers", "writer", "wr"}, &rollout::kWriters, WriterHeader, WriterRow},
      Table{{"clusters", "cluster", "cl"}, &federation::kClusters, ClusterHeader, ClusterRow}};
  return kTables;
}

const Table* FindTable(std::string_view name) {
  for (const Table& table : Tables()) {
    if (std::ranges::find(table.names, name) != table.names.end()) return &table;
  }
  return nullptr;
}

// What to print: the format, and how wide the columns have become.
class Printer {
 public:
  Printer(const Table& table, std::string output, bool with_namespace, rt::Loop& loop)
      : table_(table), output_(std::move(output)), with_namespace_(with_namespace), loop_(loop) {}

  Result<void> All(const std::vector<Value>& objects, bool one) {
    if (output_ == "json" || output_ == "yaml") {
      Value list = json::Object({{"apiVersion", "v1"}, {"kind", "List"}, {"items", json::Array()}});
      for (const Value& object : objects) list.Edit("items").Push(object);
      std::fputs(TRY(Formatted(one ? objects[0] : list, output_)).c_str(), stdout);
      return {};
    }
    if (output_ == "name") {
      for (const Value& object : objects) TRY(One(object));
      return {};
    }
    std::vector<Row> rows = {table_.header(wide())};
    if (with_namespace_) rows[0].insert(rows[0].begin(), "NAMESPACE");
    for (const Value& object : objects) rows.push_back(RowOf(object));
    if (objects.empty()) {
      std::fprintf(stderr, "none found%s\n", with_namespace_ ? "" : "; -A looks in all namespaces");
      return {};
    }
    std::fputs(Columns(rows).c_str(), stdout);
    return {};
  }

  Result<void> One(const Value& object) {
    if (output_.empty() || wide()) {
      std::fputs(Columns({RowOf(object)}).c_str(), stdout);
    } else {
      if (output_ == "yaml") std::fputs("---\n", stdout);
      std::fputs(TRY(Formatted(object, output_)).c_str(), stdout);
    }
    std::fflush(stdout);
    return {};
  }

 private:
  bool wide() const { return output_ == "wide"; }
  Row RowOf(const Value& object) const {
    Row row = table_.row(object, wide(), loop_.WallNow());
    if (with_namespace_) row.insert(row.begin(), std::string(kube::NamespaceOf(object)));
    return row;
  }

  const Table& table_;
  std::string output_;
  bool with_namespace_;
  rt::Loop& loop_;
};

// From the list's version on; when the watch ends, on from what was seen last.
rt::Task<Result<int>> Watch(Client& client, kube::WatchCall call, Printer& printer) {
  rt::Loop& loop = client.api().loop();
  while (true) {
    Result<std::unique_ptr<kube::Watch>> watch =
        co_await client.api().OpenWatch(call, rt::Deadline::After(loop, kube::kCallTimeout));
    while (watch.ok()) {
      const Result<std::vector<kube::Change>> changes = co_await (*watch)->Next();
      if (!changes.ok()) {
        if (changes.error().kind() == ErrorKind::kGone) call.resource_version.clear();
        break;
      }
      for (const kube::Change& change : *changes) {
        call.resource_version = kube::VersionOf(change.object);
        if (change.type != kube::ChangeType::kBookmark) CO_TRY(printer.One(change.object));
      }
    }
    co_await loop.Sleep(kWatchAgain);
  }
}

rt::Task<Result<int>> Get(rt::RealLoop& loop, Client& client, const Flags& flags) {
  const Table& table = *FindTable(flags.positional()[0]);
  const bool all = flags.Has("--all-namespaces") && table.resource->namespaced;
  const bool one = flags.positional().size() > 1;
  const std::string ns = all || !table.resource->namespaced ? "" : client.ns();
  kube::ListOptions options{.ns = ns};
  if (one) options.field_selector = StrCat("metadata.name=", flags.positional()[1]);
  const kube::Listed listed = CO_TRY(co_await client.api().ListAll(*table.resource, options));
  if (one && listed.items.empty()) {
    co_return NotFoundError(StrCat("there is no ", table.names[1], " '", flags.positional()[1], "'",
                                   ns.empty() ? "" : StrCat(" in namespace ", ns)));
  }
  Printer printer(table, flags.Get("--output"), all, loop);
  CO_TRY(printer.All(listed.items, one && !all));
  std::fflush(stdout);
  if (!flags.Has("--watch")) co_return 0;
  co_return co_await Watch(client,
                           {.resource = *table.resource,
                            .ns = ns,
                            .field_selector = options.field_selector,
                            .resource_version = listed.resource_version},
                           printer);
}

Result<void> Check(const Flags& flags) {
  if (flags.positional().empty()) return InvalidError("what is missing: migrations, writers or clusters");
  if (FindTable(flags.positional()[0]) == nullptr) {
    return InvalidError(StrCat("'", flags.positional()[0],
                               "' is not known: migrations, writers or clusters; kubectl get has the rest"));
  }
  const std::string output = flags.Get("--output", "wide");
  if (output != "wide" && output != "json" && output != "yaml" && output != "name") {
    return InvalidError(StrCat("-o ", output, " is not known: json, yaml, wide or name"));
  }
  return {};
}

}  // namespace

int GetCommand(std::span<const std::string_view> arguments) {
  return RunClientCommand(
      {.name = "get",
       .help = kHelp,
       .flags = {{"--all-namespaces", "", "-A"}, {"--output", "FORMAT", "-o"}, {"--watch", "", "-w"}},
       .positionals = 2},
      arguments, Get, Check);
}

}  // namespace baton::cli
