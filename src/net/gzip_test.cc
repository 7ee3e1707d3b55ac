// gzip: round trips in all slicings, broken and cut input, bombs.
#include "net/gzip.h"

#include <gtest/gtest.h>

#include "net/net_for_test.h"
#include "rt/random.h"

namespace baton::net {
namespace {

// Decodes in pieces of `piece` bytes.
Result<std::string> Gunzip(std::string_view zipped, size_t piece) {
  GunzipStream stream;
  std::string out;
  while (!zipped.empty()) {
    const size_t count = std::min(piece, zipped.size());
    out += TRY(stream.Feed(zipped.substr(0, count)));
    zipped.remove_prefix(count);
  }
  if (!stream.complete()) return InvalidError("cut");
  return out;
}

std::string Noise(size_t size, uint64_t seed) {
  rt::SeededRandom random(seed);
  std::string bytes(size, '\0');
  random.Fill(std::as_writable_bytes(std::span(bytes)));
  return bytes;
}

TEST(GzipTest, ComesBackInEverySlicing) {
  // Sizes around the decoder's 64 KiB step, where output is left inside zlib although all input is taken.
  for (const size_t size : {size_t{0}, size_t{1}, size_t{100}, size_t{65535}, size_t{65536}, size_t{65537},
                            size_t{131072}, size_t{1'000'000}}) {
    for (const std::string& text : {std::string(size, 'x'), Noise(size, size)}) {
      Body body;
      for (size_t at = 0; at < text.size(); at += 50'000) body.Add(text.substr(at, 50'000));
      const std::string zipped = Gzip(body);
      for (const size_t piece : {size_t{1}, size_t{1000}, zipped.size()}) {
        if (piece == 1 && size > 200'000) continue;
        EXPECT_EQ(Must(Gunzip(zipped, piece)) == text, true) << size << " in pieces of " << piece;
      }
    }
  }
}

TEST(GzipTest, SeveralMembersAreOneBody) {
  const std::string two = Gzip(Body("hello ")) + Gzip(Body("world"));
  for (size_t piece = 1; piece <= two.size(); ++piece) EXPECT_EQ(Must(Gunzip(two, piece)), "hello world");
}

TEST(GzipTest, ACutBodyIsNotComplete) {
  const std::string zipped = Gzip(Body(std::string(1000, 'a') + Noise(100, 1)));
  for (size_t length = 1; length < zipped.size(); ++length) {
    EXPECT_FALSE(Gunzip(std::string_view(zipped).substr(0, length), 64).ok()) << length;
  }
  GunzipStream nothing;
  EXPECT_TRUE(nothing.complete());
}

TEST(GzipTest, AFlippedBitIsFound) {
  const std::string text = Noise(300, 2);
  const std::string zipped = Gzip(Body(text));
  for (size_t i = 0; i < zipped.size() * 8; ++i) {
    std::string broken = zipped;
    broken[i / 8] = static_cast<char>(broken[i / 8] ^ (1 << (i % 8)));
    const Result<std::string> decoded = Gunzip(broken, 32);
    // A few bits carry nothing (the header's time and system, padding): what is not found changed nothing.
    if (decoded.ok()) EXPECT_EQ(*decoded == text, true) << i;
  }
}

TEST(GzipTest, NotGzipIsInvalidAndStaysSo) {
  GunzipStream stream;
  const Result<std::string> decoded = stream.Feed("this is not gzip");
  ASSERT_FALSE(decoded.ok());
  EXPECT_EQ(decoded.error().kind(), ErrorKind::kInvalid);
  EXPECT_FALSE(stream.Feed("more").ok());
  EXPECT_FALSE(stream.complete());
}

TEST(GzipTest, ABombGrowsBySlicesOnly) {
  const std::string bomb = Gzip(Body(std::string(size_t{64} << 20, '\0')));
  ASSERT_LT(bomb.size(), size_t{1} << 20);
  GunzipStream stream;
  const std::string slice = Must(stream.Feed(std::string_view(bomb).substr(0, size_t{16} << 10)));
  EXPECT_LT(slice.size(), (size_t{16} << 10) * 1100);
}

}  // namespace
}  // namespace baton::net
