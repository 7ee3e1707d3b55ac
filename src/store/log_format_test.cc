// Bytes of the log: there and back, and what is refused.
#include "store/log_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace baton::store {
namespace {

using testing::HasSubstr;

TEST(LogFormatTest, KeysSortAsPlacesDo) {
  const std::vector<LogPlace> places = {{Revision(1), 0},
                                        {Revision(1), 1},
                                        {Revision(1), 256},
                                        {Revision(2), 0},
                                        {Revision(255), 7},
                                        {Revision(256), 0},
                                        {Revision(std::numeric_limits<int64_t>::max()), 0xffffffff}};
  for (size_t i = 0; i < places.size(); ++i) {
    const std::string key = EncodeLogKey(places[i]);
    EXPECT_EQ(key.size(), kLogKeyBytes);
    EXPECT_EQ(DecodeLogKey(key).value(), places[i]);
    EXPECT_LT(key, kAfterTheLog);
    if (i > 0) EXPECT_LT(EncodeLogKey(places[i - 1]), key);
  }
}

TEST(LogFormatTest, EntriesComeBackAsTheyWere) {
  for (const std::string& value : {std::string(), std::string("v"), std::string(1000, '\0')}) {
    const Change put{"key", std::make_shared<const std::string>(value)};
    const LogEntry entry = DecodeLogEntry(EncodeLogHead(Revision(7), put) + value).value();
    EXPECT_EQ(entry.create_revision, Revision(7));
    EXPECT_EQ(entry.change.key, "key");
    EXPECT_EQ(*entry.change.value, value);
  }
  const LogEntry entry = DecodeLogEntry(EncodeLogHead(Revision(7), {"key", nullptr})).value();
  EXPECT_EQ(entry.change.key, "key");
  EXPECT_EQ(entry.change.value, nullptr);
}

TEST(LogFormatTest, BytesThatAreNoEntryAreCorrupt) {
  const std::string put = EncodeLogHead(Revision(7), {"key", std::make_shared<const std::string>()});
  const std::string deletion = EncodeLogHead(Revision(7), {"key", nullptr});
  std::string long_key = put;
  long_key[9] = 1;
  std::string no_key = put;
  no_key[12] = 0;
  std::string negative = put;
  negative[1] = static_cast<char>(0x80);
  for (const std::string& bytes : {std::string(), put.substr(0, 12), put.substr(0, 14), "\x03" + put.substr(1),
                                   deletion + "v", long_key, no_key, negative}) {
    EXPECT_EQ(DecodeLogEntry(bytes).error().kind(), ErrorKind::kCorrupt);
  }
  EXPECT_FALSE(DecodeLogKey("short").ok());
  EXPECT_FALSE(DecodeRevision("1234567").ok());
}

TEST(LogFormatTest, ALogHasNoGapAfterItsCompactedRevision) {
  struct Row {
    int64_t compacted;
    std::vector<LogPlace> places;
    std::string says;  // of the last place; empty: all is well
  };
  const auto at = [](int64_t revision, uint32_t index) { return LogPlace{Revision(revision), index}; };
  for (const Row& row : std::vector<Row>{
           {0, {at(1, 0), at(2, 0), at(2, 1), at(3, 0)}, ""},
           {5, {at(1, 3), at(4, 7), at(5, 2), at(6, 0), at(6, 1), at(7, 0)}, ""},
           {5, {at(6, 0)}, ""},
           {5, {}, ""},
           {0, {at(0, 0)}, "without a revision"},
           {0, {at(2, 0)}, "from revision 0 to revision 2"},
           {0, {at(1, 1)}, "from revision 0 to revision 1 change 1"},
           {0, {at(1, 0), at(1, 2)}, "revision 1 change 2"},
           {0, {at(1, 0), at(3, 0)}, "from revision 1 to revision 3"},
           {5, {at(3, 0), at(7, 0)}, "from revision 5 to revision 7"},
           {5, {at(3, 0), at(6, 1)}, "revision 6 change 1"},
           {5, {at(3, 0), at(3, 0)}, "stands behind"},
           {5, {at(3, 0), at(2, 9)}, "stands behind"},
       }) {
    LogOrder order{Revision(row.compacted)};
    Result<void> result;
    for (const LogPlace place : row.places) result = order.Next(place);
    if (row.says.empty()) {
      EXPECT_TRUE(result.ok());
    } else {
      EXPECT_EQ(result.error().kind(), ErrorKind::kCorrupt);
      EXPECT_THAT(result.error().message(), HasSubstr(row.says));
    }
  }
}

}  // namespace
}  // namespace baton::store
