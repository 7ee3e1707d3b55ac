// What must not allocate: a simple JSONPath beyond its result, and matching a selector.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "json/jsonpath.h"
#include "json/parse.h"
#include "json/selector.h"

namespace {
thread_local size_t allocations = 0;
}

// Weak, so that another test of this program may bring its own; then there is nothing to count and we skip.
__attribute__((weak)) void* operator new(size_t bytes) {
  ++allocations;
  if (void* block = std::malloc(bytes == 0 ? 1 : bytes)) return block;
  std::abort();
}
__attribute__((weak)) void operator delete(void* block) noexcept { std::free(block); }
__attribute__((weak)) void operator delete(void* block, size_t) noexcept { std::free(block); }

namespace baton::json {
namespace {

size_t AllocationsOf(auto&& work) {
  const size_t before = allocations;
  work();
  return allocations - before;
}

class AllocationsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (AllocationsOf([] { ::operator delete(::operator new(1)); }) != 1) GTEST_SKIP() << "operator new is not ours";
  }

  const Value pod_ = *Parse(R"({"metadata": {"labels": {"app": "a long enough name", "n": "17", "tier": "front"}},
      "spec": {"containers": [{"name": "a"}, {"name": "b", "image": "an image with a long name"}]}})");
};

TEST_F(AllocationsTest, ASimplePathAllocatesItsResultOnly) {
  for (const char* text : {"{.spec.containers[1].image}", "{.metadata.labels}", "{.spec.containers[-1:]['image']}",
                           "{.spec.containers[?(@.name==\"b\")].image}", "{.spec.containers[*].image}"}) {
    const JsonPath path = *JsonPath::Parse(text);
    EXPECT_EQ(AllocationsOf([&] { EXPECT_EQ(path.Values(pod_)->size(), 1U); }), 1U) << text;
  }
  const JsonPath missing = *JsonPath::Parse("{.spec.missing.deeper}");
  EXPECT_EQ(AllocationsOf([&] { EXPECT_TRUE(missing.Values(pod_)->empty()); }), 0U);
}

TEST_F(AllocationsTest, MatchingASelectorAllocatesNothing) {
  const LabelSelector labels = *LabelSelector::Parse(
      "app in (another-long-enough-name,a-long-enough-name),tier=front,n>3,!legacy,zone notin (x,y)");
  const FieldSelector fields = *FieldSelector::Parse("metadata.name=a long enough name,status.phase!=Running");
  const LabelSelector front = *LabelSelector::Parse("tier=front,n>3,!legacy,zone notin (x,y),app");
  EXPECT_EQ(AllocationsOf([&] {
              EXPECT_FALSE(labels.Matches(pod_["metadata"]["labels"]));
              EXPECT_TRUE(front.Matches(pod_["metadata"]["labels"]));
              EXPECT_TRUE(fields.Matches([&](std::string_view field) {
                return field == "metadata.name" ? pod_["metadata"]["labels"]["app"].str() : std::string_view();
              }));
            }),
            0U);
}

}  // namespace
}  // namespace baton::json
