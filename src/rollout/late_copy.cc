// Telling a late copy by what its API server says of it.
#include "rollout/late_copy.h"

#include <algorithm>
#include <string_view>

#include "json/rfc3339.h"
#include "kube/api.h"

namespace baton::rollout {

using json::Value;

namespace {

constexpr Duration kMakingTakes = seconds(10);  // a server notes the fields before its admission, the object after it

bool MadeByUs(const Value& object) {
  const Result<WallTime> made = json::ParseTime(object["metadata"]["creationTimestamp"].str());
  if (!made.ok()) return false;
  return std::ranges::any_of(object["metadata"]["managedFields"].items(), [&](const Value& entry) {
    const Result<WallTime> since = json::ParseTime(entry["time"].str());
    return entry["manager"].str() == kube::kFieldManager && entry["operation"].str() == "Update" &&
           entry["subresource"].str().empty() && since.ok() && *since <= *made && *made - *since <= kMakingTakes;
  });
}

}  // namespace

bool NeverRan(const interpret::Profile& profile, const Value& object, int64_t seq) {
  // Only a change of the spec counts as one: a hold by annotation may have been put there later.
  Value bare = object;
  for (const std::string_view uncounted : {"annotations", "labels"}) bare.Edit("metadata").Erase(uncounted);
  const bool made_on_hold = object["metadata"]["generation"].int_or(0) == 1 && profile.IsHeld(bare);
  return made_on_hold && profile.EpochOf(object) <= seq && MadeByUs(object);
}

}  // namespace baton::rollout
