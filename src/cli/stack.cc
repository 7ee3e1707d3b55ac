// Starting and stopping the whole of Baton in one process.
#include "cli/stack.h"

#include <algorithm>
#include <utility>

#include "api/karmada_keys.h"
#include "base/base64.h"
#include "base/strings.h"
#include "cli/files.h"
#include "federation/admission.h"
#include "federation/connect.h"
#include "federation/resources.h"
#include "json/yaml.h"

namespace baton::cli {
namespace {

using json::Value;

}  // namespace

ControlPlane::ControlPlane(kube::Api& hub, federation::Connect connect, federation::PostToWebhook post,
                           std::function<int64_t()> fence, const Logger* log, const ControlOptions& options)
    : interpreter({.limits = {}, .now = [&hub] { return hub.loop().WallNow(); }}),
      gate(hub, profiles),
      federation(hub, interpreter, std::move(connect), {.gate = &gate, .post = std::move(post), .log = log}),
      rollout(federation, gate, profiles,
              {.fence = std::move(fence),
               .outranked = options.outranked,
               .own_hub = options.own_hub,
               .log = log,
               .metrics = options.metrics},
              options.limits),
      alongside(options.own_hub ? nullptr : std::make_unique<rollout::Alongside>(federation, gate, profiles, log)),
      scope(hub.loop()) {}

void ControlPlane::Run() {
  scope.Spawn(rollout.Run());
  scope.Spawn(RunPipe());
}

// The gate must know which workloads it is asked about.
rt::Task<void> ControlPlane::RunPipe() {
  co_await rollout.UntilManagedIsKnown();
  co_await federation.Run();
}

void ControlPlane::RunAlongside() {
  scope.Spawn(alongside->Run());
  scope.Spawn(rollout.Run());
}

Stack::Stack(rt::RealLoop& loop, StackOptions options)
    : loop_(loop),
      options_(std::move(options)),
      kubeconfig_path_(StrCat(options_.data_dir, "/kubeconfig")),
      admission_interpreter_({.limits = {}, .now = [&loop] { return loop.WallNow(); }}) {}

Stack::~Stack() = default;

rt::Task<Result<std::unique_ptr<Stack>>> Stack::Start(rt::RealLoop& loop, StackOptions options) {
  std::unique_ptr<Stack> stack(new Stack(loop, std::move(options)));
  CO_TRY(MakeDirectories(stack->options_.data_dir));
  const std::string storage = StrCat(stack->options_.data_dir, "/practice-storage");
  CO_TRY(MakeDirectories(storage));
  stack->storage_lock_ = CO_TRY(store::DirectoryLock::Take(storage));
  stack->files_ = rt::MakeRealFiles(loop, storage);
  stack->storage_ = std::make_unique<practice::Storage>(*stack->files_);
  stack->commons_ = std::make_unique<practice::Commons>(loop, *stack->storage_);
  stack->scope_ = std::make_unique<rt::Scope>(loop);
  CO_TRY(co_await stack->StartHub());
  for (const std::string& name : stack->options_.practice_clusters) CO_TRY(co_await stack->StartPractice(name));
  CO_TRY(stack->WriteKubeconfig());
  for (const auto& practice : stack->practice_) CO_TRY(co_await stack->Join(*practice));
  stack->control_ = std::make_unique<ControlPlane>(
      *stack->hub_api_, stack->ConnectMembers(), federation::PostOverHttps(loop, *stack->hub_api_),
      [] { return int64_t{1}; }, stack->options_.log, ControlOptions{.metrics = stack->metrics_.get()});
  stack->control_->Run();
  co_return stack;
}

rt::Task<Result<void>> Stack::StartHub() {
  apiserver::ApiServerOptions server;
  server.ephemeral = options_.ephemeral;
  if (!options_.ephemeral) server.data_dir = StrCat(options_.data_dir, "/hub");
  server.listen = options_.listen;
  server.context_name = "hub";
  hub_ = CO_TRY(co_await apiserver::ApiServer::Start(loop_, std::move(server)));
  for (const apiserver::Mended& one : hub_->backend().mended()) {
    if (options_.log != nullptr)
      options_.log->Warn("mended what could not be read", {{"key", one.key}, {"what", one.what}});
  }
  hub_api_ = std::make_unique<kube::LocalApi>(hub_->backend());
  hub_->backend().core().AddAdmission(federation::MakeAdmission(loop_, &admission_interpreter_, hub_api_.get()));
  metrics_ = std::make_unique<rollout::RolloutMetrics>(hub_->metrics());
  CO_TRY(co_await federation::InstallCrds(*hub_api_));
  // What practice clusters play can be propagated to them.
  if (!options_.practice_clusters.empty()) CO_TRY(co_await practice::InstallPracticeKinds(*hub_api_));
  co_return Result<void>();
}

rt::Task<Result<void>> Stack::StartPractice(std::string name) {
  auto practice = std::make_unique<Practice>();
  practice->name = name;
  apiserver::ApiServerOptions server;
  server.ephemeral = options_.ephemeral;
  if (!options_.ephemeral) server.data_dir = StrCat(options_.data_dir, "/", name);
  server.context_name = name;
  practice->server = CO_TRY(co_await apiserver::ApiServer::Start(loop_, std::move(server)));
  practice->api = std::make_unique<kube::LocalApi>(practice->server->backend());
  CO_TRY(co_await practice::InstallPracticeKinds(*practice->api));
  practice::PracticeClusterOptions settings = options_.practice;
  settings.kinds = true;
  settings.on_partition = [way = &practice->way](bool cut) { way->Cut(cut); };
  if (options_.operator_speed > 1) settings.flink = settings.flink.Faster(options_.operator_speed);
  practice->cluster = std::make_unique<practice::PracticeCluster>(*practice->api, *commons_, name, settings);
  scope_->Spawn(practice->cluster->Run());
  practice_.push_back(std::move(practice));
  co_return Result<void>();
}

namespace {

// Over a way that can be cut.
class CutApi final : public kube::Api {
 public:
  CutApi(std::unique_ptr<kube::Api> below, Way& way) : below_(std::move(below)), way_(way), faulty_(*below_, way) {}

  rt::Loop& loop() override { return below_->loop(); }
  rt::Task<Result<kube::Answer>> Do(kube::CallBox call, rt::Deadline deadline) override {
    return faulty_.Do(std::move(call), deadline);
  }
  rt::Task<Result<std::unique_ptr<kube::Watch>>> OpenWatch(kube::WatchCall call, rt::Deadline deadline) override {
    return faulty_.OpenWatch(std::move(call), deadline);
  }
  rt::Task<Result<kube::Discovered>> Discover(rt::Deadline deadline) override {
    if (way_.cut()) co_return UnavailableError("the way to the cluster is cut");
    co_return co_await below_->Discover(deadline);
  }

 private:
  std::unique_ptr<kube::Api> below_;
  Way& way_;
  kube::FaultyApi faulty_;
};

}  // namespace

federation::Connect Stack::ConnectMembers() {
  return [this, https = federation::ConnectOverHttps(loop_)](
             const Value& cluster, const Value& secret) -> Result<std::unique_ptr<kube::Api>> {
    std::unique_ptr<kube::Api> api = TRY(https(cluster, secret));
    const auto at =
        std::ranges::find_if(practice_, [&](const auto& one) { return one->name == kube::NameOf(cluster); });
    if (at == practice_.end()) return api;
    return std::unique_ptr<kube::Api>(std::make_unique<CutApi>(std::move(api), (*at)->way));
  };
}

// As `baton join` does: a Secret with the way to it, and the Cluster.
rt::Task<Result<void>> Stack::Join(const Practice& practice) {
  const std::string_view ns = api::karmada::kClusterNamespace;
  Value secret = json::Object({{"apiVersion", "v1"}, {"kind", "Secret"}});
  secret.Edit("metadata").Set("name", practice.name);
  secret.Edit("metadata").Set("namespace", ns);
  secret.Set("data", json::Object({{"kubeconfig", Base64Encode(practice.server->Kubeconfig())}}));
  CO_TRY(co_await hub_api_->Apply(federation::kSecrets, secret, {.force = true}));
  Value cluster = json::Object({{"apiVersion", "cluster.karmada.io/v1alpha1"}, {"kind", "Cluster"}});
  cluster.Edit("metadata").Set("name", practice.name);
  cluster.Edit("metadata").Set("labels", json::Object({{"practice.baton.io/cluster", "true"}}));
  cluster.Set("spec", json::Object({{"syncMode", "Push"},
                                    {"apiEndpoint", StrCat("https://", practice.server->endpoint().ToString())},
                                    {"secretRef", json::Object({{"namespace", ns}, {"name", practice.name}})}}));
  CO_TRY(co_await hub_api_->Apply(federation::kClusters, cluster, {.force = true}));
  co_return Result<void>();
}

// One file, a context for each.
Result<void> Stack::WriteKubeconfig() {
  Value merged = TRY(json::ParseYaml(hub_->Kubeconfig()));
  for (const auto& practice : practice_) {
    const Value one = TRY(json::ParseYaml(practice->server->Kubeconfig()));
    for (const std::string_view list : {"clusters", "users", "contexts"}) {
      for (const Value& item : one[list].items()) merged.Edit(list).Push(item);
    }
  }
  return WriteSecretFile(kubeconfig_path_, json::PrintYaml(merged));
}

Stack::Practice& Stack::Find(const std::string& name) {
  const auto at = std::ranges::find_if(practice_, [&](const auto& one) { return one->name == name; });
  INVARIANT(at != practice_.end(), "a practice cluster that was not started");
  return **at;
}

net::Endpoint Stack::practice_endpoint(const std::string& name) const {
  return const_cast<Stack*>(this)->Find(name).server->endpoint();
}
kube::Api& Stack::member(const std::string& name) { return *Find(name).api; }
practice::PracticeCluster& Stack::practice(const std::string& name) { return *Find(name).cluster; }

rt::Task<void> Stack::Stop(rt::Deadline deadline) {
  control_.reset();
  scope_.reset();
  for (auto& practice : practice_) {
    practice->cluster.reset();
    practice->api.reset();
  }
  commons_.reset();
  for (auto& practice : practice_) co_await practice->server->Stop(deadline);
  co_await hub_->Stop(deadline);
  hub_api_.reset();  // not before: admission of the last requests asks it
}

}  // namespace baton::cli
