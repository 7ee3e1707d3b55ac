// What must hold for all schemas and values, checked on many random ones (always the same).
#include <gtest/gtest.h>

#include <cstdint>

#include "api/crd_schema.h"
#include "api/schema.h"
#include "api/schema_for_test.h"
#include "base/strings.h"
#include "json/builder.h"

namespace baton::api {
namespace {

using json::Value;

constexpr int kRounds = 3000;

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15ULL + 1) {}

  uint64_t Below(uint64_t limit) {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_ % limit;
  }
  bool Maybe(uint64_t one_in) { return Below(one_in) == 0; }

  // Few keys, so that values meet what the schema knows.
  std::string Key() {
    constexpr const char* kKeys[] = {"a", "b", "c", "name", "kind", "metadata"};
    return kKeys[Below(std::size(kKeys))];
  }

  Value Any(int depth) {
    switch (Below(depth > 0 ? 8 : 5)) {
      case 0:
        return Below(5);
      case 1:
        return "a long text that is kept on the heap";
      case 2:
        return nullptr;
      case 3:
        return Maybe(2);
      case 4:
        return Key();
      case 5: {
        json::ArrayBuilder items;
        for (uint64_t i = Below(4); i > 0; --i) items.Add(Any(depth - 1));
        return std::move(items).Build();
      }
      default: {
        json::ObjectBuilder members;
        for (uint64_t i = Below(5); i > 0; --i) members.Add(Key(), Any(depth - 1));
        return std::move(members).Build();
      }
    }
  }

  // A structural schema, with a default now and then that need not be valid.
  std::shared_ptr<Schema> Structure(int depth) {
    auto schema = std::make_shared<Schema>();
    constexpr SchemaType kScalars[] = {SchemaType::kString, SchemaType::kInteger, SchemaType::kBoolean,
                                       SchemaType::kIntOrString};
    switch (Below(depth > 0 ? 6 : 2)) {
      case 0:
      case 1:
        schema->type = kScalars[Below(std::size(kScalars))];
        break;
      case 2:
        schema->type = SchemaType::kArray;
        schema->items = Structure(depth - 1);
        if (Maybe(3)) schema->min_items = Below(3);
        break;
      case 3:
        schema->type = SchemaType::kObject;
        schema->additional_properties = Structure(depth - 1);
        break;
      default:
        schema->type = SchemaType::kObject;
        for (uint64_t i = Below(4); i > 0; --i) schema->properties.emplace(Key(), Structure(depth - 1));
        for (const auto& [key, property] : schema->properties) {
          if (Maybe(5)) schema->required.push_back(key);
        }
        schema->preserve_unknown_fields = Maybe(5);
    }
    schema->nullable = Maybe(4);
    if (Maybe(4)) schema->default_value = Any(depth);
    if (schema->default_value && schema->default_value->is_null()) schema->default_value.reset();
    return schema;
  }

 private:
  uint64_t state_;
};

TEST(SchemaPropertyTest, PruningTwiceIsPruningOnceAndKeepsWhatIsValidValid) {
  size_t valid = 0;
  for (int round = 0; round < kRounds; ++round) {
    Random random(static_cast<uint64_t>(round));
    const auto schema = random.Structure(3);
    const Value input = random.Any(4);
    const std::string text = input.ToString();
    Value once = input;
    std::vector<std::string> unknown;
    Prune(once, *schema, &unknown);
    EXPECT_EQ(input.ToString(), text);
    EXPECT_EQ(unknown.empty(), once.SharesStorageWith(input)) << text;
    Value twice = once;
    Prune(twice, *schema);
    EXPECT_TRUE(twice.SharesStorageWith(once)) << text;
    if (!Validate(input, *schema).empty()) continue;
    ++valid;
    EXPECT_TRUE(Validate(once, *schema).empty()) << text << "\n" << ToCrdSchema(*schema);
  }
  EXPECT_GT(valid, 100U);
}

TEST(SchemaPropertyTest, DefaultingTwiceIsDefaultingOnce) {
  for (int round = 0; round < kRounds; ++round) {
    Random random(static_cast<uint64_t>(round));
    const auto schema = random.Structure(3);
    const Value input = random.Any(4);
    const std::string text = input.ToString();
    Value once = input;
    ApplyDefaults(once, *schema);
    EXPECT_EQ(input.ToString(), text);
    if (once == input) EXPECT_TRUE(once.SharesStorageWith(input));
    Value twice = once;
    ApplyDefaults(twice, *schema);
    EXPECT_EQ(twice, once) << text << "\n" << ToCrdSchema(*schema);
  }
}

// Something else at a random place; the rest keeps its storage.
Value Changed(Value value, Random& random) {
  Value* at = &value;
  while (true) {
    if (at->is_object() && !at->empty() && !random.Maybe(4)) {
      at = &at->Edit(std::string(at->members()[random.Below(at->size())].key()));
    } else if (at->is_array() && !at->empty() && !random.Maybe(4)) {
      at = &at->Edit(random.Below(at->size()));
    } else {
      break;
    }
  }
  if (at->is_object() && random.Maybe(2)) {
    at->Set(random.Key(), random.Any(2));
  } else {
    *at = random.Any(3);
  }
  return value;
}

TEST(SchemaPropertyTest, BesideWhatIsSettledTheSameIsFoundAsWithoutIt) {
  size_t found = 0;
  for (int round = 0; round < 3 * kRounds; ++round) {
    Random random(static_cast<uint64_t>(round));
    const auto schema = random.Structure(3);
    Value settled = random.Any(4);
    Prune(settled, *schema);
    ApplyDefaults(settled, *schema);
    Value again = settled;
    Prune(again, *schema);
    ApplyDefaults(again, *schema);
    if (again != settled || !Validate(settled, *schema).empty()) continue;  // its defaults are not valid
    const Value changed = Changed(settled, random);
    const std::string text = StrCat(settled.ToString(), " and ", changed.ToString());

    std::vector<std::string> unknown, unknown_beside;
    Value pruned = changed, pruned_beside = changed;
    Prune(pruned, *schema, &unknown);
    Prune(pruned_beside, *schema, &unknown_beside, &settled);
    EXPECT_EQ(pruned, pruned_beside) << text;
    EXPECT_EQ(unknown, unknown_beside) << text;
    Value defaulted = pruned, defaulted_beside = pruned;
    ApplyDefaults(defaulted, *schema);
    ApplyDefaults(defaulted_beside, *schema, &settled);
    EXPECT_EQ(defaulted, defaulted_beside) << text;
    const std::vector<std::string> errors = Lines(Validate(defaulted, *schema));
    EXPECT_EQ(errors, Lines(Validate(defaulted, *schema, {}, &settled))) << text;
    found += errors.empty() && unknown.empty() && defaulted == pruned ? 0 : 1;
  }
  EXPECT_GT(found, 300U) << "most changes leave nothing to do";
}

TEST(SchemaPropertyTest, SchemasSurviveTheirManifest) {
  size_t read_back = 0;
  for (int round = 0; round < kRounds; ++round) {
    Random random(static_cast<uint64_t>(round));
    auto root = std::make_shared<Schema>();
    root->type = SchemaType::kObject;
    root->properties.emplace("spec", random.Structure(3));
    const Value written = ToCrdSchema(*root);
    const CrdSchemaResult read = ReadCrdSchema(written, "s");
    EXPECT_TRUE(read.not_structural.empty()) << written;
    if (read.schema == nullptr) continue;  // a default that is not valid
    ++read_back;
    EXPECT_EQ(ToCrdSchema(*read.schema), written);
    Value a = json::Object({{"spec", random.Any(4)}});
    Value b = a;
    EXPECT_EQ(Lines(Validate(a, *root)), Lines(Validate(b, *read.schema)));
    ApplyDefaults(a, *root);
    ApplyDefaults(b, *read.schema);
    Prune(a, *root);
    Prune(b, *read.schema);
    EXPECT_EQ(a, b) << written;
  }
  EXPECT_GT(read_back, 300U);
}

}  // namespace
}  // namespace baton::api
