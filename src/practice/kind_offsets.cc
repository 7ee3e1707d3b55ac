// Strimzi's offsets of a connector (facts/flink.md 4.3): listed into a ConfigMap, altered from one, or reset, by the
// annotation strimzi.io/connector-offsets. It goes when that was done; when it failed it stays, and a Warning says why.
#include <utility>
#include <vector>

#include "base/strings.h"
#include "json/parse.h"
#include "json/rfc3339.h"
#include "practice/kind_operator.h"
#include "practice/state.h"

namespace baton::practice {

using json::Value;

namespace {

const kube::Resource& ConfigMaps() {
  static const kube::Resource resource{.group = "", .version = "v1", .plural = "configmaps", .kind = "ConfigMap"};
  return resource;
}

}  // namespace

rt::Task<Result<void>> KindOperator::ServeOffsets(Look& look) {
  KindLife& life = *look.life;
  const std::string asked(look.object["metadata"]["annotations"][kOffsetsAnnotation].str());
  if (asked.empty()) {
    life.warning = Value();
    co_return Result<void>();
  }
  if (look.step == KindStep::kStopping) co_return Result<void>();
  std::string reason = "AlterOffsets";
  Result<void> done = InvalidError(StrCat("the value '", asked, "' is none of list, alter and reset"));
  if (asked == "list") {
    reason = "ListOffsets";
    done = co_await ListOffsets(look);
  } else if (asked == "alter" || asked == "reset") {
    if (asked == "reset") reason = "ResetOffsets";
    const bool stopped = look.step == KindStep::kStopped && look.object["spec"]["state"].str() == "stopped";
    done = stopped ? co_await AlterOffsets(look, asked == "reset")
                   : Result<void>(InvalidError("the connector must be stopped"));
  }
  if (!done.ok()) {
    if (life.warning["message"].str() != done.error().message()) {
      life.warning = json::Object({{"type", "Warning"},
                                   {"status", "True"},
                                   {"reason", reason},
                                   {"message", done.error().message()},
                                   {"lastTransitionTime", json::FormatTime(api_.loop().WallNow())}});
    }
    co_return Result<void>();
  }
  life.warning = Value();
  Value annotations = json::Object();
  annotations.Set(kOffsetsAnnotation, nullptr);
  const Value patch = json::Object({{"metadata", json::Object({{"annotations", annotations}})}});
  const Result<Value> written =
      co_await api_.Patch(spec_.resource, kube::Name::Of(look.object), kube::PatchType::kMerge, patch);
  if (!written.ok()) co_return written.error();
  objects_.Learn(*written);
  co_return Result<void>();
}

rt::Task<Result<void>> KindOperator::ListOffsets(const Look& look) {
  const std::string name(look.object["spec"]["listOffsets"]["toConfigMap"]["name"].str());
  if (name.empty()) co_return InvalidError("spec.listOffsets.toConfigMap.name is not set");
  const Result<std::string> url = co_await commons_.storage().files().ReadAll(Pointer(look));
  Value offsets = json::Array();
  if (url.ok()) {
    const std::string path = CO_TRY(commons_.storage().PathOf(cluster_, *url));
    const JobState state =
        CO_TRY(JobState::Decode(CO_TRY(co_await commons_.storage().files().ReadAll(path + "/_metadata"))));
    for (size_t i = 0; i < state.offsets.size(); ++i) {
      offsets.Push(json::Object(
          {{"partition", json::Object({{"partition", i}})}, {"offset", json::Object({{"offset", state.offsets[i]}})}}));
    }
  }
  const Value owner = json::Object({{"apiVersion", kube::ApiVersionOf(look.object)},
                                    {"kind", spec_.resource.kind},
                                    {"name", kube::NameOf(look.object)},
                                    {"uid", kube::UidOf(look.object)}});
  const Value map =
      json::Object({{"apiVersion", "v1"},
                    {"kind", "ConfigMap"},
                    {"metadata", json::Object({{"name", name},
                                               {"namespace", kube::NamespaceOf(look.object)},
                                               {"ownerReferences", json::Array({owner})}})},
                    {"data", json::Object({{"offsets.json", json::Object({{"offsets", offsets}}).ToString()}})}});
  CO_TRY(co_await api_.Apply(ConfigMaps(), map, {.field_manager = "practice", .force = true}));
  co_return Result<void>();
}

rt::Task<Result<void>> KindOperator::AlterOffsets(const Look& look, bool reset) {
  if (reset) {
    (void)co_await commons_.storage().files().Remove(Pointer(look));
    co_return Result<void>();
  }
  const std::string name(look.object["spec"]["alterOffsets"]["fromConfigMap"]["name"].str());
  if (name.empty()) co_return InvalidError("spec.alterOffsets.fromConfigMap.name is not set");
  const Value map = CO_TRY(co_await api_.Get(ConfigMaps(), {std::string(kube::NamespaceOf(look.object)), name}));
  const Value said = CO_TRY(json::Parse(map["data"]["offsets.json"].str()));
  Source* source = commons_.FindSource(look.workload);
  if (source == nullptr || !source->ready()) co_return InvalidError("nothing was ever written to its source");
  std::vector<uint64_t> offsets(source->ends().size(), 0);
  for (const Value& item : said["offsets"].items()) {
    const auto partition = item["partition"]["partition"].as_uint64();
    const auto offset = item["offset"]["offset"].as_uint64();
    if (!partition || !offset || *partition >= offsets.size() || *offset > source->ends()[*partition])
      co_return InvalidError("offsets.json names a partition or an offset that its source does not have");
    offsets[*partition] = *offset;
  }
  JobState state = JobState::AtOffsets(offsets, source->options().keys);
  state.job_id = "altered";
  const std::string url = JoinUrl(StateDir(look), StrCat("altered-", kube::VersionOf(map)));
  const std::string path = CO_TRY(commons_.storage().PathOf(cluster_, url));
  CO_TRY(co_await commons_.storage().Write(path + "/_metadata", state.Encode()));
  CO_TRY(co_await commons_.storage().Write(Pointer(look), url));
  co_return Result<void>();
}

}  // namespace baton::practice
