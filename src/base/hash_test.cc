// Hashes against published vectors, and the names Karmada builds from them.
#include "base/hash.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "base/strings.h"

namespace baton {
namespace {

// From the reference test suite of FNV.
static_assert(Fnv1a32("") == 0x811c9dc5);
static_assert(Fnv1a32("a") == 0xe40c292c);
static_assert(Fnv1a32("foobar") == 0xbf9cf968);
static_assert(Fnv1a64("") == 0xcbf29ce484222325);
static_assert(Fnv1a64("a") == 0xaf63dc4c8601ec8c);
static_assert(Fnv1a64("foobar") == 0x85944171f73967e8);
static_assert(Fnv1_32("") == 0x811c9dc5);
static_assert(Fnv1_32("a") == 0x050c5d7e);
static_assert(Fnv1_32("foobar") == 0x31f0b262);

const std::vector<std::pair<std::string, std::string>> kSha256Cases = {
    // NIST's examples for SHA-256.
    {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
    {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
     "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
     "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
    {std::string(1'000'000, 'a'), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
};

TEST(HashTest, Sha256AgreesWithNist) {
  for (const auto& [text, hex] : kSha256Cases) {
    EXPECT_EQ(Sha256Hex(text), hex);
    EXPECT_EQ(HexEncode(Sha256Of(text)), hex);
  }
}

TEST(HashTest, Sha256DoesNotDependOnHowTheTextIsCut) {
  Sha256 hash;
  for (const auto& [text, hex] : kSha256Cases) {  // one object for all: Finish() starts anew
    for (size_t at = 0; at < text.size(); at += 61) hash.Update(std::string_view(text).substr(at, 61));
    EXPECT_EQ(HexEncode(hash.Finish()), hex);
  }
}

TEST(HashTest, Sha256CopiesGoOnIndependently) {
  Sha256 one;
  one.Update("a");
  Sha256 two = one;
  Sha256 three;
  three.Update("other");
  three = two;
  one.Update("bc");
  two.Update("x");
  Sha256 moved = std::move(two);
  EXPECT_EQ(HexEncode(one.Finish()), Sha256Hex("abc"));
  EXPECT_EQ(HexEncode(moved.Finish()), Sha256Hex("ax"));
  EXPECT_EQ(HexEncode(three.Finish()), Sha256Hex("a"));
}

TEST(HashTest, FnvTakesBytesAboveAsciiAsUnsigned) {
  EXPECT_EQ(Fnv1a32("\xff"), (0x811c9dc5U ^ 0xffU) * 0x01000193U);
  EXPECT_EQ(Fnv1_32("\xff"), (0x811c9dc5U * 0x01000193U) ^ 0xffU);
}

TEST(HashTest, SafeEncodeMapsEachCharacterIntoTheAlphabet) {
  EXPECT_EQ(SafeEncode(""), "");
  EXPECT_EQ(SafeEncode("0123456789"), "456789bcdf");
  for (int c = 0; c < 256; ++c) {
    EXPECT_EQ(SafeEncode(std::string(1, static_cast<char>(c))).find_first_not_of("bcdfghjklmnpqrstvwxz2456789"),
              std::string::npos);
  }
}

// "<name>-<hash>" of Karmada's Work objects; the names themselves belong to another module.
std::string WorkName(std::string_view kind, std::string_view space, std::string_view name) {
  const std::string hashed = ToLower(StrCat(space, "-", name, "-", kind));
  return StrCat(ToLower(name), "-", SafeEncode(StrCat(Fnv1a32(hashed))));
}

TEST(HashTest, GivesTheNamesOfKarmadasWorks) {
  EXPECT_EQ(WorkName("Deployment", "default", "nginx"), "nginx-687f7fb96f");
  EXPECT_EQ(WorkName("Service", "default", "nginx"), "nginx-64b7849b5");
  EXPECT_EQ(WorkName("FlinkDeployment", "test", "foo"), "foo-68b6456b8");
}

}  // namespace
}  // namespace baton
