// Conditions: lists of metav1.Condition in a status, each type once.
#pragma once

#include <string>
#include <string_view>

#include "json/value.h"

namespace baton::apiserver {

struct Condition {
  std::string type;
  bool status;
  std::string reason;
  std::string message;
};

// The condition of that type; null when there is none.
const json::Value& FindCondition(const json::Value& conditions, std::string_view type);
// Sets it; lastTransitionTime changes only with the status.
void SetCondition(json::Value& conditions, const Condition& condition, std::string_view now);
void RemoveCondition(json::Value& conditions, std::string_view type);

}  // namespace baton::apiserver
