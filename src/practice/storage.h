// Storage: the disks of the practice world, below one rt::Files. One part is shared by all clusters and stands for
// object storage, message log and sink; each cluster has a part of its own, which stands for its nodes' disks.
//
//   <root>shared/objects/<scheme>/<rest>     s3://, hdfs://, gs://, abfs://, oss:// ...: seen from everywhere
//   <root>shared/source/<ns>/<name>/log      the numbered records (practice/source.h)
//   <root>shared/sink/<ns>/<name>/log        what the jobs wrote (practice/sink.h)
//   <root>clusters/<cluster>/file/<path>     file:// and plain paths: seen from that cluster only
//   <root>clusters/<cluster>/jobmanager/<ns>/<name>   what is remembered when a JobManager ends (practice/job.h)
//
//   Storage storage(files);
//   std::string at = TRY(storage.PathOf("blue", "s3://bucket/savepoints"));   // shared/objects/s3/bucket/savepoints
#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "base/result.h"
#include "rt/files.h"
#include "rt/task.h"

namespace baton::practice {

// A workload is the same one wherever it runs: its source and sink are found by the FlinkDeployment's name.
struct WorkloadName {
  std::string ns;
  std::string name;

  std::string Key() const { return ns + "/" + name; }
  friend auto operator<=>(const WorkloadName&, const WorkloadName&) = default;
};

class Storage {
 public:
  // `files` outlives this. `root` is "" or ends in '/'.
  explicit Storage(rt::Files& files, std::string root = "") : files_(files), root_(std::move(root)) {}

  rt::Files& files() const { return files_; }

  // Where a Flink URL lies, as that cluster sees it. kInvalid: no URL a job could write to ("..", empty).
  Result<std::string> PathOf(std::string_view cluster, std::string_view url) const;
  std::string SourceLog(const WorkloadName& workload) const;
  std::string SinkDirectory(const WorkloadName& workload) const;
  std::string SinkLog(const WorkloadName& workload) const { return SinkDirectory(workload) + "/log"; }
  std::string SharedPath(std::string_view path) const;
  std::string ClusterPath(std::string_view cluster, std::string_view path) const;

  // The directory of `path` is made where it is not there.
  rt::Task<Result<void>> Write(std::string path, std::string bytes) const;
  rt::Task<Result<std::unique_ptr<rt::File>>> OpenLog(std::string path) const;

  // With all above it, and durable.
  rt::Task<Result<void>> MakeDirectory(std::string path) const;

  // True for a scheme that every cluster sees.
  static bool IsShared(std::string_view url);

 private:
  rt::Files& files_;
  std::string root_;
  std::unique_ptr<std::set<std::string>> durable_ = std::make_unique<std::set<std::string>>();  // with all above them
};

// `dir` and `name` with one '/' between them.
std::string JoinUrl(std::string_view dir, std::string_view name);

}  // namespace baton::practice
