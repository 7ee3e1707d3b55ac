// What must hold for all documents, checked on many random ones (always the same).
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "json/builder.h"
#include "json/diff.h"
#include "json/json_patch.h"
#include "json/merge_patch.h"
#include "json/parse.h"
#include "json/pointer.h"
#include "json/strategic_merge.h"

namespace baton::json {
namespace {

constexpr int kRounds = 4000;

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15ULL + 1) {}

  uint64_t Below(uint64_t limit) {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_ % limit;
  }

  // Few different keys and scalars, so that documents have much in common.
  std::string Key() {
    constexpr const char* kKeys[] = {"name", "a", "b", "c/d", "e~f", "", "key", "list", "0"};
    return kKeys[Below(std::size(kKeys))];
  }

  Value Scalar(bool nulls) {
    switch (Below(nulls ? 7 : 6)) {
      case 0:
        return Below(4);
      case 1:
        return Below(2) == 0;
      case 2:
        return static_cast<double>(Below(4)) / 2;
      case 3:
        return -static_cast<int64_t>(Below(3));
      case 4:
        return "a longer string that is kept on the heap";
      case 5:
        return Key();
      default:
        return nullptr;
    }
  }

  Value Any(int depth, bool nulls) {
    const uint64_t what = Below(depth > 0 ? 4 : 1);
    if (what <= 1) return Scalar(nulls);
    if (what == 2) {
      ArrayBuilder items;
      for (uint64_t i = Below(6); i > 0; --i) items.Add(Any(depth - 1, nulls));
      return std::move(items).Build();
    }
    ObjectBuilder members;
    for (uint64_t i = Below(6); i > 0; --i) members.Add(Key(), Any(depth - 1, nulls));
    return std::move(members).Build();
  }

  // A few changes at random places.
  Value Changed(const Value& value, int depth, bool nulls) {
    if (Below(6) == 0 || depth == 0) return Any(depth, nulls);
    Value changed = value;
    if (value.is_array()) {
      if (Below(2) == 0) changed.Insert(Below(value.size() + 1), Any(depth - 1, nulls));
      if (changed.size() > 0 && Below(2) == 0) changed.EraseAt(Below(changed.size()));
      if (changed.size() > 0) {
        const size_t at = Below(changed.size());
        changed.Edit(at) = Changed(changed[at], depth - 1, nulls);
      }
    } else if (value.is_object() && value.size() > 0) {
      const std::string key(value.members()[Below(value.size())].key());
      if (Below(4) == 0) {
        changed.Erase(key);
      } else {
        changed.Set(key, Changed(value[key], depth - 1, nulls));
      }
      if (Below(4) == 0) changed.Set(Key(), Any(depth - 1, nulls));
    } else if (Below(2) == 0) {
      return Any(depth, nulls);
    }
    return changed;
  }

 private:
  uint64_t state_;
};

TEST(PatchPropertyTest, ADiffLeadsExactlyToItsGoal) {
  for (int round = 0; round < kRounds; ++round) {
    Random random(static_cast<uint64_t>(round));
    const Value from = random.Any(5, true);
    const Value to = random.Below(3) == 0 ? random.Any(5, true) : random.Changed(from, 5, true);
    const Value from_before = *Parse(from.ToString());
    const Value to_before = *Parse(to.ToString());
    const Value patch = MakeJsonPatch(from, to);
    const Result<Value> result = ApplyJsonPatch(from, patch);
    ASSERT_TRUE(result.ok()) << result.error().ToString() << "\n" << from << "\n" << to << "\n" << patch;
    ASSERT_EQ(*result, to) << from << "\n" << patch;
    ASSERT_EQ(patch.empty(), from == to) << patch;
    ASSERT_EQ(from, from_before);
    ASSERT_EQ(to, to_before);
  }
}

TEST(PatchPropertyTest, ADiffNeverMentionsUnchangedMembers) {
  for (int round = 0; round < kRounds; ++round) {
    Random random(static_cast<uint64_t>(round));
    const Value from = random.Any(4, true);
    const Value to = random.Changed(from, 4, true);
    // With arrays as atoms the paths of a patch are paths of both documents.
    for (const Value& operation : MakeThreeWayJsonPatch(nullptr, ApplyMergePatch(nullptr, to), from).items()) {
      const Pointer path = *Pointer::Parse(operation["path"].str());
      const Value* old = Find(from, path);
      if (operation["op"].str() != "replace" || old == nullptr) continue;
      EXPECT_NE(*old, operation["value"]);
      for (const Member& member : old->members()) {
        const Value* kept = operation["value"].Find(member.key());
        EXPECT_TRUE(kept == nullptr || *kept != member.value()) << from << "\n" << to << "\n" << operation;
      }
    }
  }
}

TEST(PatchPropertyTest, AMergePatchLeadsToItsGoal) {
  for (int round = 0; round < kRounds; ++round) {
    Random random(static_cast<uint64_t>(round));
    const Value from = random.Any(5, true);
    const Value to = random.Below(3) == 0 ? random.Any(5, false) : random.Changed(random.Any(5, false), 5, false);
    const Value from_before = *Parse(from.ToString());
    const Value patch = MakeMergePatch(from, to);
    ASSERT_EQ(ApplyMergePatch(from, patch), to) << from << "\n" << patch;
    ASSERT_EQ(from, from_before);
    ASSERT_EQ(ApplyMergePatch(to, patch), to) << "a merge patch is idempotent";
  }
}

TEST(PatchPropertyTest, AThreeWayPatchKeepsWhatIsWanted) {
  for (int round = 0; round < kRounds; ++round) {
    Random random(static_cast<uint64_t>(round));
    const Value original = Object({{"spec", random.Any(4, false)}});
    const Value modified = Object({{"spec", random.Changed(original["spec"], 4, false)}});
    const Value current =
        Object({{"spec", random.Changed(original["spec"], 4, false)}, {"status", random.Any(3, true)}});
    const Value patch = MakeThreeWayJsonPatch(original, modified, current);
    const Result<Value> result = ApplyJsonPatch(current, patch);
    ASSERT_TRUE(result.ok()) << result.error().ToString();
    ASSERT_EQ((*result)["status"], current["status"]);
    // Everything wanted is there, so merging it once more changes nothing, and so does applying again.
    ASSERT_EQ(ApplyMergePatch(*result, modified), *result) << original << "\n" << modified << "\n" << current;
    ASSERT_EQ(MakeThreeWayJsonPatch(modified, modified, *result), Array());
  }
}

// A pod or a patch for one: real field names, few item names, and (in a patch) directives anywhere.
class RandomPod {
 public:
  RandomPod(Random& random, bool patch) : random_(random), patch_(patch) {}

  Value Pod() {
    ObjectBuilder spec, metadata;
    if (Chance(6)) spec.Add("containers", List("name", 2));
    if (Chance(4)) spec.Add("volumes", List("name", 1));
    if (Chance(4)) spec.Add("tolerations", List("key", 1));
    if (Chance(3)) spec.Add("nodeSelector", Map(1));
    if (Chance(6)) metadata.Add("finalizers", Names());
    if (Chance(3)) metadata.Add("ownerReferences", List("uid", 0));
    if (patch_ && Chance(3)) spec.Add("$setElementOrder/containers", Order("name"));
    if (patch_ && Chance(3)) metadata.Add("$setElementOrder/finalizers", Names());
    if (patch_ && Chance(3)) metadata.Add("$deleteFromPrimitiveList/finalizers", Names());
    return Object({{"metadata", std::move(metadata).Build()}, {"spec", std::move(spec).Build()}});
  }

 private:
  bool Chance(uint64_t of_seven) { return random_.Below(7) < of_seven; }
  Value Name() { return std::string(1, static_cast<char>('a' + random_.Below(6))); }

  Value Names() {
    ArrayBuilder names;
    for (uint64_t i = random_.Below(5); i > 0; --i) names.Add(Name());
    return std::move(names).Build();
  }

  Value Order(std::string_view key) {
    ArrayBuilder items;
    for (uint64_t i = random_.Below(6); i > 0; --i) items.Add(Object({{key, Name()}}));
    return std::move(items).Build();
  }

  Value Map(int depth) {
    ObjectBuilder members;
    for (uint64_t i = random_.Below(4); i > 0; --i) members.Add(random_.Key(), random_.Any(depth, patch_));
    if (patch_ && Chance(1)) members.Add("$patch", Chance(3) ? "delete" : "replace");
    if (patch_ && Chance(1)) members.Add("$retainKeys", Array({"a", "b", "name", "env"}));
    return std::move(members).Build();
  }

  Value List(std::string_view key, int depth) {
    ArrayBuilder items;
    for (uint64_t i = random_.Below(6); i > 0; --i) {
      Value item = Map(0);
      item.Set(key, Name());
      if (depth > 1 && Chance(3)) item.Set("env", List("name", depth - 1));
      if (depth > 1 && patch_ && Chance(1)) item.Set("$setElementOrder/env", Order("name"));
      items.Add(std::move(item));
    }
    return std::move(items).Build();
  }

  Random& random_;
  bool patch_;
};

bool HasDirective(const Value& value) {
  for (const Value& item : value.items()) {
    if (HasDirective(item)) return true;
  }
  for (const Member& member : value.members()) {
    if (member.key().starts_with('$') || member.value().is_null() || HasDirective(member.value())) return true;
  }
  return false;
}

TEST(PatchPropertyTest, AStrategicMergeLeavesInputsAloneAndNoDirectives) {
  int applied = 0;
  for (int round = 0; round < kRounds; ++round) {
    Random random(static_cast<uint64_t>(round));
    const Value pod = RandomPod(random, false).Pod();
    const Value patch = RandomPod(random, true).Pod();
    const Value pod_before = *Parse(pod.ToString());
    const Value patch_before = *Parse(patch.ToString());
    const Result<Value> result = ApplyStrategicMergePatch(pod, patch, KubernetesPatchSchema("v1", "Pod"));
    ASSERT_EQ(pod, pod_before);
    ASSERT_EQ(patch, patch_before);
    if (!result.ok()) continue;
    ++applied;
    ASSERT_FALSE(HasDirective(*result)) << pod << "\n" << patch << "\n" << *result;
    ASSERT_EQ(*ApplyJsonPatch(pod, MakeJsonPatch(pod, *result)), *result);
  }
  EXPECT_GT(applied, kRounds / 4) << "most patches must apply for this test to say anything";
}

TEST(PatchPropertyTest, WithoutSchemaAndDirectivesStrategicMergeIsMergePatch) {
  for (int round = 0; round < kRounds; ++round) {
    Random random(static_cast<uint64_t>(round));
    const Value document = Object({{"x", random.Any(5, false)}});
    const Value patch = Object({{"x", random.Changed(document["x"], 5, false)}});
    const Result<Value> result = ApplyStrategicMergePatch(document, patch, nullptr);
    ASSERT_TRUE(result.ok()) << result.error().ToString();
    ASSERT_EQ(*result, ApplyMergePatch(document, patch)) << document << "\n" << patch;
  }
}

}  // namespace
}  // namespace baton::json
