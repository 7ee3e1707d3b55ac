// UUIDs: form, version and variant.
#include "base/uuid.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace baton {
namespace {

std::array<std::byte, 16> Filled(int value) {
  std::array<std::byte, 16> bytes;
  bytes.fill(static_cast<std::byte>(value));
  return bytes;
}

TEST(UuidTest, SetsVersionAndVariantAndKeepsTheOtherBits) {
  EXPECT_EQ(UuidFromRandomBytes(Filled(0x00)), Uid("00000000-0000-4000-8000-000000000000"));
  EXPECT_EQ(UuidFromRandomBytes(Filled(0xff)), Uid("ffffffff-ffff-4fff-bfff-ffffffffffff"));
  std::array<std::byte, 16> counting;
  for (size_t i = 0; i < counting.size(); ++i) counting[i] = static_cast<std::byte>(0x11 * i);
  EXPECT_EQ(UuidFromRandomBytes(counting), Uid("00112233-4455-4677-8899-aabbccddeeff"));
}

TEST(UuidTest, EveryUuidMadeIsOne) {
  for (int value = 0; value < 256; ++value) EXPECT_TRUE(IsUuid(UuidFromRandomBytes(Filled(value)).str()));
}

TEST(UuidTest, KnowsTheFormOfAUuid) {
  const std::string good = "3f2a9c1e-7b64-4d18-9e0f-5a6b7c8d9e0f";
  EXPECT_TRUE(IsUuid(good));
  EXPECT_TRUE(IsUuid("3F2A9C1E-7B64-4D18-9E0F-5A6B7C8D9E0F"));
  EXPECT_TRUE(IsUuid("00000000-0000-0000-0000-000000000000"));
  for (size_t i = 0; i < good.size(); ++i) {  // each place matters
    for (const char wrong : {'g', 'G', '/', ':', '@', '`', ' ', '\0', '\xff', '-'}) {
      std::string bad = good;
      if (bad[i] == wrong) continue;
      bad[i] = wrong;
      EXPECT_FALSE(IsUuid(bad)) << i;
    }
  }
  for (const std::string& bad : std::vector<std::string>{"", "-", good + "0", good.substr(1), "{" + good + "}",
                                                         "3f2a9c1e7b644d189e0f5a6b7c8d9e0f"}) {
    EXPECT_FALSE(IsUuid(bad)) << bad;
  }
}

}  // namespace
}  // namespace baton
