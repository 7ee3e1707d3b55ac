// When a workload may be stopped.
#include "rollout/windows.h"

#include <gtest/gtest.h>

#include "json/rfc3339.h"
#include "json/yaml.h"

namespace baton::rollout {
namespace {

struct Row {
  const char* spec;
  const char* now;
  const char* waits;  // "": open
};

// 2026-11-16 is a Monday.
const Row kRows[] = {
    {"{}", "2026-11-16T12:00:00Z", ""},
    {"{notBefore: '2026-11-16T13:00:00Z'}", "2026-11-16T12:59:59Z", "spec.notBefore, 2026-11-16T13:00:00Z"},
    {"{notBefore: '2026-11-16T13:00:00Z'}", "2026-11-16T13:00:00Z", ""},
    {"{windows: [{start: '22:00', end: '23:00'}]}", "2026-11-16T21:59:59Z",
     "the cutover window, which opens at 2026-11-16T22:00:00Z"},
    {"{windows: [{start: '22:00', end: '23:00'}]}", "2026-11-16T22:00:00Z", ""},
    {"{windows: [{start: '22:00', end: '23:00'}]}", "2026-11-16T22:59:59Z", ""},
    {"{windows: [{start: '22:00', end: '23:00'}]}", "2026-11-16T23:00:00Z",
     "the cutover window, which opens at 2026-11-17T22:00:00Z"},
    // Over midnight, it belongs to the day on which it opens.
    {"{windows: [{start: '22:00', end: '04:00', days: [Sun]}]}", "2026-11-16T03:59:00Z", ""},
    {"{windows: [{start: '22:00', end: '04:00', days: [Sun]}]}", "2026-11-16T04:00:00Z",
     "the cutover window, which opens at 2026-11-22T22:00:00Z"},
    {"{windows: [{start: '22:00', end: '04:00', days: [Mon]}]}", "2026-11-16T03:59:00Z",
     "the cutover window, which opens at 2026-11-16T22:00:00Z"},
    {"{windows: [{start: '00:00', end: '00:00', days: [Mon]}]}", "2026-11-16T23:59:59Z", ""},
    {"{windows: [{start: '00:00', end: '00:00', days: [Tue]}]}", "2026-11-16T23:59:59Z",
     "the cutover window, which opens at 2026-11-17T00:00:00Z"},
    // The first of several.
    {"{windows: [{start: '08:00', end: '09:00', days: [Wed]}, {start: '20:00', end: '21:00', days: [Tue]}]}",
     "2026-11-16T12:00:00Z", "the cutover window, which opens at 2026-11-17T20:00:00Z"},
    {"{notBefore: '2026-11-16T22:30:00Z', windows: [{start: '22:00', end: '23:00'}]}", "2026-11-16T22:10:00Z",
     "spec.notBefore, 2026-11-16T22:30:00Z"},
};

TEST(WindowsTest, AllowAndSayWhenTheyOpen) {
  for (const Row& row : kRows) {
    const Result<std::string> waits = WaitingForWindow(*json::ParseYaml(row.spec), *json::ParseTime(row.now));
    ASSERT_TRUE(waits.ok()) << row.spec << ": " << waits.error().message();
    EXPECT_EQ(*waits, row.waits) << row.spec << " at " << row.now;
  }
}

TEST(WindowsTest, RefuseWhatIsNoTime) {
  for (const char* spec : {"{windows: [{start: '24:00', end: '23:00'}]}", "{windows: [{start: '2:00', end: '23:00'}]}",
                           "{windows: [{start: '22:00', end: '23:60'}]}", "{notBefore: tomorrow}",
                           "{windows: [{start: '22:00', end: '23:00', days: [Monday]}]}"}) {
    EXPECT_FALSE(WaitingForWindow(*json::ParseYaml(spec), WallTime{}).ok()) << spec;
  }
}

}  // namespace
}  // namespace baton::rollout
