// Every story goes well while all guards are in.
#include "sim/stories.h"

#include "sim/scene_for_test.h"

namespace baton::sim {
namespace {

class StoriesTest : public testing::TestWithParam<NamedStory> {};

TEST_P(StoriesTest, GoesWell) { Simulate(GetParam().seed, GetParam().play); }

INSTANTIATE_TEST_SUITE_P(All, StoriesTest, testing::ValuesIn(Stories().begin(), Stories().end()), [](const auto& info) {
  std::string name;
  for (const char c : info.param.name) name += c == '-' ? '_' : c;
  return name;
});

TEST(StoriesTest, HaveNamesOfTheirOwn) {
  for (const NamedStory& story : Stories()) EXPECT_EQ(FindStory(story.name), &story) << story.name;
  EXPECT_EQ(FindStory("no such"), nullptr);
}

}  // namespace
}  // namespace baton::sim
