// Events of the core group and of events.k8s.io are the same objects under different names of their fields; they are
// kept in the core form. Pure.
#pragma once

#include "json/value.h"

namespace baton::api {

json::Value CoreEventFromEvent(json::Value event);  // events.k8s.io/v1 to v1
json::Value EventFromCoreEvent(json::Value event);  // and back

}  // namespace baton::api
