#include "placement/estimate.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "placement/assumed.h"
#include "placement/world_for_test.h"

namespace baton::placement {
namespace {

Capacity CapacityOf(std::string_view summary, std::string_view models = "") {
  json::Value object = Yaml("metadata: {name: a}");
  object.Edit("status").Set("resourceSummary", Yaml(summary));
  if (!models.empty()) object.Edit("spec").Set("resourceModels", Yaml(models));
  return ParseCluster(object).value().capacity;
}

Request RequestOf(std::string_view resources) { return ParseRequest(Yaml(resources), "request").value(); }

TEST(EstimateTest, TheScarcestResourceDecides) {
  constexpr std::string_view kSummary =
      "{allocatable: {cpu: '10', memory: 64Gi, pods: '110', example.com/gpu: '4'}, "
      "allocated: {cpu: '2', memory: 32Gi, pods: '20'}, allocating: {cpu: 500m, pods: '10', example.com/gpu: '1'}}";
  struct Row {
    std::string_view request;
    int32_t wanted;
  };
  const std::vector<Row> rows = {
      {"{}", 80},                                  // only pods
      {"{cpu: '1'}", 7},                           // 7.5 cores
      {"{cpu: 100m}", 75},                         // thousandths
      {"{cpu: 1m}", 80},                           // pods again
      {"{memory: 1Gi}", 32},                       //
      {"{memory: 33Gi}", 0},                       // too large
      {"{cpu: 500m, memory: 4Gi}", 8},             //
      {"{example.com/gpu: '1'}", 3},               //
      {"{example.com/fpga: '1'}", 0},              // nobody has it
      {"{example.com/fpga: '0', cpu: '0'}", 80},   // asks for nothing
      {"{cpu: '1', memory: '0'}", 7},              //
      {"{memory: 100m}", 80},                      // a tenth of a byte counts as one
      {"{cpu: '99999999999999999999999999'}", 0},  // beyond int64
  };
  for (const Row& row : rows) {
    const Request request = RequestOf(row.request);
    EXPECT_EQ(EstimateReplicas(CapacityOf(kSummary), &request), row.wanted) << row.request;
  }
  EXPECT_EQ(EstimateReplicas(CapacityOf(kSummary), nullptr), 80);
}

TEST(EstimateTest, NothingIsLeftWhereNothingIsKnownOrFree) {
  const Request request = RequestOf("{cpu: '1'}");
  EXPECT_EQ(EstimateReplicas(Capacity(), &request), 0);
  EXPECT_EQ(EstimateReplicas(CapacityOf("{}"), &request), 0);
  EXPECT_EQ(EstimateReplicas(CapacityOf("{allocatable: {cpu: '4'}}"), &request), 0);  // no pods
  EXPECT_EQ(EstimateReplicas(CapacityOf("{allocatable: {cpu: '4', pods: '5'}, allocating: {pods: '500'}}"), &request),
            0);
  EXPECT_EQ(EstimateReplicas(CapacityOf("{allocatable: {cpu: '4', pods: '5'}, allocated: {cpu: '9'}}"), &request), 0);
}

TEST(EstimateTest, CountsAsManyAsFitAnInt32) {
  const Request request = RequestOf("{cpu: 1m}");
  EXPECT_EQ(EstimateReplicas(CapacityOf("{allocatable: {cpu: 10M, pods: 10G}}"), &request), INT32_MAX);
}

// Grades: 2 nodes of 2 cores and 4Gi, 1 node of 8 cores and 16Gi, 9 nodes of nothing.
constexpr std::string_view kModels =
    "[{grade: 0, ranges: [{name: cpu, min: '0'}, {name: memory, min: '0'}]}, "
    "{grade: 1, ranges: [{name: cpu, min: '2'}, {name: memory, min: 4Gi}]}, "
    "{grade: 2, ranges: [{name: cpu, min: '8'}, {name: memory, min: 16Gi}]}]";
constexpr std::string_view kModelled =
    "{allocatable: {cpu: '40', memory: 80Gi, pods: '1000'}, "
    "allocatableModelings: [{grade: 0, count: 9}, {grade: 1, count: 2}, {grade: 2, count: 1}]}";

TEST(EstimateTest, AReplicaMustFitOnANode) {
  struct Row {
    std::string_view request;
    int32_t wanted;
  };
  const std::vector<Row> rows = {
      {"{cpu: '1'}", 12}, {"{cpu: '3'}", 2}, {"{cpu: '9'}", 0}, {"{memory: 3Gi}", 7}, {"{cpu: 1m}", 330},
  };
  for (const Row& row : rows) {
    const Request request = RequestOf(row.request);
    EXPECT_EQ(EstimateReplicas(CapacityOf(kModelled, kModels), &request), row.wanted) << row.request;
  }
  EXPECT_EQ(EstimateReplicas(CapacityOf(kModelled, kModels), nullptr), 1000);
  const Request request = RequestOf("{cpu: '9'}");
  EXPECT_EQ(EstimateReplicas(CapacityOf(kModelled), &request), 4) << "without models the summary counts";
}

TEST(EstimateTest, SetsOfComponentsAreWhole) {
  const std::vector<Component> components = {{"jobmanager", 1, RequestOf("{cpu: '1', memory: 2Gi}")},
                                             {"taskmanager", 3, RequestOf("{cpu: '2', memory: 1Gi}")}};
  EXPECT_EQ(EstimateSets(CapacityOf("{allocatable: {cpu: '15', memory: 100Gi, pods: '100'}}"), components), 2);
  EXPECT_EQ(EstimateSets(CapacityOf("{allocatable: {cpu: '15', memory: 100Gi, pods: '7'}}"), components), 1);
  EXPECT_EQ(EstimateSets(CapacityOf("{allocatable: {cpu: '6', memory: 100Gi, pods: '100'}}"), components), 0);
  EXPECT_EQ(EstimateSets(CapacityOf("{allocatable: {pods: '8'}}"), {}), 8);
}

TEST(EstimateTest, TheSmallestKnownEstimateCounts) {
  Estimates estimates = {5, kUnknownEstimate, 3, kUnknownEstimate};
  Merge(estimates, std::vector<int32_t>{7, 4, 2, kUnknownEstimate});
  EXPECT_EQ(estimates, (Estimates{5, 4, 2, kUnknownEstimate}));
}

// ---- what was just decided ----

Binding Asking(int32_t replicas, std::string_view request, const Counts& current = {}) {
  Binding binding = Deployment(replicas, current);
  binding.request = RequestOf(request);
  return binding;
}

std::shared_ptr<const Fleet> TwoWithRoom(std::string_view cpu1, std::string_view cpu2) {
  std::vector<Cluster> clusters;
  for (const auto& [name, cpu] : {std::pair("member1", cpu1), std::pair("member2", cpu2)}) {
    json::Value object = ClusterText{.name = name}.Object();
    object.Edit("status").Set("resourceSummary", Yaml(StrCat("{allocatable: {cpu: '", cpu, "', pods: '100'}}")));
    clusters.push_back(ParseCluster(object).value());
  }
  return Fleet::Make(std::move(clusters)).value();
}

TEST(AssumedTest, ABurstDoesNotHerdOntoOneCluster) {  // karmada#6518
  const auto fleet = TwoWithRoom("12", "10");
  const auto prepared = Prepare(fleet, kAggregated);
  Assumed assumed;
  Estimator estimator(fleet, &assumed);
  Counts together;
  for (int i = 0; i < 5; ++i) {
    const Binding binding = Asking(4, "{cpu: '1'}");
    const Decision decision = Schedule(binding, *prepared, estimator.For(binding, prepared->placement()));
    ASSERT_EQ(decision.action, Action::kSchedule) << decision.message;
    assumed.Decided(StrCat("binding", i), binding, decision.clusters, WallTime());
    for (const TargetCluster& target : decision.clusters) together[target.name] += target.replicas;
  }
  EXPECT_LE(together["member1"], 12);
  EXPECT_LE(together["member2"], 10);
  EXPECT_EQ(together["member1"] + together["member2"], 20);
  const Binding last = Asking(4, "{cpu: '1'}");
  const Decision decision = Schedule(last, *prepared, estimator.For(last, prepared->placement()));
  EXPECT_EQ(decision.reason, kReasonUnschedulable);
  // Without the memory every one of them would have gone to member1.
  EXPECT_EQ(AsCounts(Schedule(last, *prepared, Estimator(fleet).For(last, prepared->placement())).clusters),
            (Counts{{"member1", 4}}));
}

TEST(AssumedTest, OnlyTheGrowthIsAssumed) {
  Assumed assumed;
  const Request request = RequestOf("{cpu: '1'}");
  assumed.Decided("a", Asking(3, "{cpu: '1'}"), AsTargets({{"m", 3}}), WallTime());
  EXPECT_EQ(assumed.Of("m")->pods, 3);
  assumed.Seen("a", "m");
  EXPECT_EQ(assumed.Of("m"), nullptr);
  EXPECT_EQ(assumed.bindings(), 0U);
  // From 3, which the cluster shows, to 10.
  assumed.Decided("a", Asking(10, "{cpu: '1'}", {{"m", 3}}), AsTargets({{"m", 10}}), WallTime());
  EXPECT_EQ(assumed.Of("m")->pods, 7);
  // To 12 before anything of the 7 is seen: 9 are hidden.
  assumed.Decided("a", Asking(12, "{cpu: '1'}", {{"m", 10}}), AsTargets({{"m", 12}}), WallTime());
  EXPECT_EQ(assumed.Of("m")->pods, 9);
  EXPECT_EQ(FindAmount(assumed.Of("m")->amounts, "cpu")->value, 9000);
  // Down to 2: less than is shown, nothing is hidden.
  assumed.Decided("a", Asking(2, "{cpu: '1'}", {{"m", 12}}), AsTargets({{"m", 2}}), WallTime());
  EXPECT_EQ(assumed.Of("m"), nullptr);
}

TEST(AssumedTest, ForgetsWhatIsGoneAndWhatIsOld) {
  Assumed assumed;
  const WallTime start;
  assumed.Decided("a", Asking(3, "{cpu: '1'}"), AsTargets({{"m", 3}}), start);
  assumed.Decided("b", Asking(4, "{cpu: '1'}"), AsTargets({{"m", 2}, {"n", 2}}), start + minutes(1));
  assumed.Decided("c", Binding(), AsTargets({{"m", 0}}), start);  // a ConfigMap takes no room
  EXPECT_EQ(assumed.bindings(), 2U);
  assumed.Expire(start + minutes(5));
  EXPECT_EQ(assumed.Of("m")->pods, 2);
  assumed.Decided("b", Asking(4, "{cpu: '1'}", {{"m", 2}, {"n", 2}}), AsTargets({{"n", 4}}), start + minutes(2));
  EXPECT_EQ(assumed.Of("m"), nullptr);
  EXPECT_EQ(assumed.Of("n")->pods, 4);
  assumed.Forget("b");
  assumed.Forget("b");
  assumed.Seen("b", "n");
  EXPECT_EQ(assumed.Of("n"), nullptr);
}

TEST(AssumedTest, TheEstimatorFollowsEveryChange) {
  const auto fleet = TwoWithRoom("12", "10");
  const auto prepared = Prepare(fleet, kAggregated);
  Assumed assumed;
  Estimator estimator(fleet, &assumed);
  const Binding binding = Asking(4, "{cpu: '1'}");
  const auto now = [&] { return estimator.For(binding, prepared->placement()); };
  EXPECT_EQ(now(), (Estimates{12, 10}));
  assumed.Decided("a", binding, AsTargets({{"member1", 4}, {"unknown", 2}}), WallTime());
  EXPECT_EQ(now(), (Estimates{8, 10}));
  assumed.Decided("b", binding, AsTargets({{"member2", 4}}), WallTime());
  EXPECT_EQ(now(), (Estimates{8, 6}));
  assumed.Seen("a", "member1");
  EXPECT_EQ(now(), (Estimates{12, 6}));
  assumed.Forget("b");
  EXPECT_EQ(now(), (Estimates{12, 10}));
}

TEST(AssumedTest, ModelledNodesLoseWhatIsAssumed) {
  Load load;
  load.Add(RequestOf("{cpu: '2'}"), 2);
  const Request request = RequestOf("{cpu: '1'}");
  EXPECT_EQ(EstimateReplicas(CapacityOf(kModelled, kModels), &request, &load), 8);  // 12 without
  load.Add(RequestOf("{cpu: '2'}"), -2);
  EXPECT_TRUE(load.empty());
  EXPECT_EQ(EstimateReplicas(CapacityOf(kModelled, kModels), &request, &load), 12);
}

}  // namespace
}  // namespace baton::placement
