// The names of an Event's fields in its two groups.
#include "api/event_conversion.h"

#include <array>
#include <string_view>
#include <utility>

namespace baton::api {

namespace {

struct Names {
  std::string_view core;
  std::string_view events;
};

constexpr std::array<Names, 7> kNames = {{{"message", "note"},
                                          {"involvedObject", "regarding"},
                                          {"source", "deprecatedSource"},
                                          {"firstTimestamp", "deprecatedFirstTimestamp"},
                                          {"lastTimestamp", "deprecatedLastTimestamp"},
                                          {"count", "deprecatedCount"},
                                          {"reportingComponent", "reportingController"}}};

void Rename(json::Value& object, std::string_view from, std::string_view to) {
  if (object.Has(from)) object.Set(to, object.Take(from));
}

}  // namespace

json::Value CoreEventFromEvent(json::Value event) {
  for (const Names& names : kNames) Rename(event, names.events, names.core);
  event.Set("apiVersion", "v1");
  return event;
}

json::Value EventFromCoreEvent(json::Value event) {
  for (const Names& names : kNames) Rename(event, names.core, names.events);
  event.Set("apiVersion", "events.k8s.io/v1");
  return event;
}

}  // namespace baton::api
