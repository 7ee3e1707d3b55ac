#include "overrides/image.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>
#include <string_view>

#include "base/strings.h"
#include "overrides/golden_for_test.h"

namespace baton::overrides {
namespace {

const std::string kDigest = "sha256:" + std::string(64, 'a');

TEST(ImageTest, ReadsWhatKarmadaReads) {
  size_t read = 0;
  for (const json::Value& row : Golden()["images"].items()) {
    const std::string_view text = row["image"].str();
    SCOPED_TRACE(text);
    const Result<Image> image = ParseImage(text);
    ASSERT_EQ(image.ok(), !row.Has("error"));
    if (!image.ok()) continue;
    ++read;
    EXPECT_EQ(image->registry, row["registry"].str());
    EXPECT_EQ(image->repository, row["repository"].str());
    EXPECT_EQ(image->tag, row["tag"].str());
    // Karmada forgets the digest of an image that has a tag too.
    if (image->tag.empty()) EXPECT_EQ(image->digest, row["digest"].str());
  }
  EXPECT_GT(read, 30U);
}

TEST(ImageTest, KeepsTagAndDigestWhenThereAreBoth) {
  const Image image = ParseImage("r.example:5000/a/b:1.0@" + kDigest).value();
  EXPECT_EQ(image, (Image{.registry = "r.example:5000", .repository = "a/b", .tag = "1.0", .digest = kDigest}));
  EXPECT_EQ(PrintImage(image), "r.example:5000/a/b:1.0@" + kDigest);
}

TEST(ImageTest, SaysWhatIsWrong) {
  EXPECT_EQ(ParseImage("").error().message(), "there is no image name");
  EXPECT_EQ(ParseImage("team/Web:1").error().message(),
            R"("team/Web:1" is no image name: a repository must be in lower case)");
  EXPECT_EQ(ParseImage("a:-x").error().message(), R"("a:-x" is no image name: "-x" is no tag)");
  EXPECT_EQ(ParseImage("a@sha256:12").error().message(), R"("a@sha256:12" is no image name: "sha256:12" is no digest)");
}

TEST(ImageTest, TakesANewTagOrDigestForWhatItLooksLike) {
  struct Row {
    std::string before, value, after;
  };
  const Row rows[] = {
      {"a:1", "2", "a:2"},
      {"a@" + kDigest, "2", "a:2"},
      {"a:1", kDigest, "a@" + kDigest},
      {"a", kDigest, "a@" + kDigest},
      {"a:1@" + kDigest, "2", "a:2"},
      {"a:1", "no tag", "a:1"},
      {"a:1", "", "a:1"},
      {"a:1", "md5:" + std::string(31, 'a'), "a:1"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.before + " " + row.value);
    Image image = ParseImage(row.before).value();
    SetTagOrDigest(image, row.value);
    EXPECT_EQ(PrintImage(image), row.after);
  }
}

// Names made of the grammar's pieces: what parses prints as it was.
TEST(ImageTest, PrintsWhatItParsed) {
  const std::array<std::string, 12> pieces{"a", "B", "host.example", ":",    "/", "@", "5000", "-",
                                           "_", ".", "[::1]",        kDigest};
  std::mt19937 random(7);  // NOLINT: the same names every time
  size_t parsed = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    const size_t length = 1 + random() % 7;
    for (size_t j = 0; j < length; ++j) text += pieces[random() % pieces.size()];
    const Result<Image> image = ParseImage(text);
    if (!image.ok()) continue;
    ++parsed;
    ASSERT_EQ(PrintImage(*image), text);
  }
  EXPECT_GT(parsed, 300U);
}

}  // namespace
}  // namespace baton::overrides
