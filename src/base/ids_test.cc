// Strong ids: they compare and hash, and they do not convert.
#include "base/ids.h"

#include <gtest/gtest.h>

#include <map>
#include <type_traits>
#include <unordered_set>

namespace baton {
namespace {

template <class A, class B>
concept Comparable = requires(const A& a, const B& b) { a == b; };
template <class A>
concept CanAdd = requires(const A& a) { a + a; };

static_assert(!std::is_convertible_v<ClusterName, Uid>);
static_assert(!std::is_constructible_v<ClusterName, Uid>);
static_assert(!std::is_convertible_v<std::string, ClusterName>);
static_assert(!std::is_convertible_v<const char*, ClusterName>);
static_assert(!std::is_convertible_v<ClusterName, std::string>);
static_assert(!std::is_convertible_v<ClusterName, std::string_view>);
static_assert(!std::is_convertible_v<Uid, ResourceVersion>);
static_assert(!std::is_constructible_v<Generation, Epoch>);
static_assert(!std::is_constructible_v<Epoch, Generation>);
static_assert(!std::is_convertible_v<int, Epoch>);
static_assert(!std::is_convertible_v<Epoch, int64_t>);
static_assert(!Comparable<ClusterName, Uid>);
static_assert(!Comparable<ClusterName, std::string>);
static_assert(!Comparable<Epoch, Generation>);
static_assert(!Comparable<Epoch, int>);
static_assert(Comparable<Epoch, Epoch>);
static_assert(!CanAdd<Epoch>);
static_assert(!CanAdd<ClusterName>);

static_assert(Epoch().value() == 0);
static_assert(Epoch(7).Next() == Epoch(8));
static_assert(Epoch(7) < Epoch(8));

TEST(IdsTest, AnEmptyNameIsNone) {
  EXPECT_TRUE(ClusterName().empty());
  EXPECT_TRUE(ClusterName("").empty());
  EXPECT_FALSE(ClusterName("green").empty());
  EXPECT_EQ(ClusterName("green").str(), "green");
}

TEST(IdsTest, NamesCompareByTheirText) {
  EXPECT_EQ(ClusterName("green"), ClusterName("green"));
  EXPECT_NE(ClusterName("green"), ClusterName("blue"));
  EXPECT_LT(ClusterName("blue"), ClusterName("green"));
}

TEST(IdsTest, ServeAsKeys) {
  const std::unordered_set<Uid> uids = {Uid("a"), Uid("b"), Uid("a")};
  EXPECT_EQ(uids.size(), 2U);
  const std::unordered_set<Epoch> epochs = {Epoch(1), Epoch(1)};
  EXPECT_EQ(epochs.size(), 1U);
  const std::map<ClusterName, int> clusters = {{ClusterName("b"), 2}, {ClusterName("a"), 1}};
  EXPECT_EQ(clusters.begin()->first, ClusterName("a"));
}

}  // namespace
}  // namespace baton
