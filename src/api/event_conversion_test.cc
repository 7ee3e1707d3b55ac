// Events in their two forms.
#include "api/event_conversion.h"

#include <gtest/gtest.h>

#include "json/parse.h"

namespace baton::api {
namespace {

TEST(EventConversionTest, GoesBothWaysWithoutLoss) {
  const json::Value core = json::Parse(R"({"apiVersion":"v1","kind":"Event","metadata":{"name":"e"},
      "involvedObject":{"kind":"Pod","name":"p"},"message":"m","reason":"r","type":"Normal","count":3,
      "source":{"component":"c"},"firstTimestamp":"2030-01-01T00:00:00Z","lastTimestamp":"2030-01-01T00:00:01Z",
      "reportingComponent":"rc","reportingInstance":"ri","action":"a"})")
                               .value();
  const json::Value event = EventFromCoreEvent(core);
  EXPECT_EQ(event["apiVersion"].str(), "events.k8s.io/v1");
  EXPECT_EQ(event["note"].str(), "m");
  EXPECT_EQ(event["regarding"]["name"].str(), "p");
  EXPECT_EQ(event["deprecatedCount"].int_or(0), 3);
  EXPECT_EQ(event["reportingController"].str(), "rc");
  EXPECT_FALSE(event.Has("message"));
  EXPECT_EQ(CoreEventFromEvent(event), core);
}

}  // namespace
}  // namespace baton::api
