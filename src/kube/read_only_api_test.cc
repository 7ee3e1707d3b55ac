#include "kube/read_only_api.h"

#include <gtest/gtest.h>

#include "kube/api_for_test.h"
#include "rt/test_support.h"
#include "rt/virtual_loop.h"

namespace baton::kube {
namespace {

const Resource kPods{.group = "", .version = "v1", .plural = "pods", .kind = "Pod"};

TEST(ReadOnlyApiTest, ReadsAndDryRunsPassAndEveryOtherWriteIsRefusedUnsent) {
  rt::VirtualLoop loop(1);
  ScriptedApi below(loop);
  below.on_do = [](Call, rt::Deadline) -> rt::Task<Result<Answer>> { co_return Answer{}; };
  ReadOnlyApi api(below);
  loop.Run(rt::Do([&]() -> rt::Task<void> {
    const json::Value pod = json::Object({{"metadata", json::Object({{"name", "web"}, {"namespace", "blue"}})}});
    EXPECT_TRUE((co_await api.Get(kPods, {"blue", "web"})).ok());
    EXPECT_TRUE((co_await api.ListAll(kPods)).ok());
    EXPECT_TRUE((co_await api.Create(kPods, pod, {.dry_run = true})).ok());
    EXPECT_EQ(below.calls, 3U);
    const Result<json::Value> results[] = {
        co_await api.Create(kPods, pod),       co_await api.Update(kPods, pod),
        co_await api.UpdateStatus(kPods, pod), co_await api.Patch(kPods, {"blue", "web"}, PatchType::kMerge, pod),
        co_await api.Apply(kPods, pod),        co_await api.Delete(kPods, {"blue", "web"})};
    for (const Result<json::Value>& result : results) {
      EXPECT_FALSE(result.ok());
      if (!result.ok()) EXPECT_EQ(result.error().kind(), ErrorKind::kForbidden);
    }
    EXPECT_EQ(below.calls, 3U);
  }));
}

}  // namespace
}  // namespace baton::kube
