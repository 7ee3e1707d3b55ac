// Selecting objects by labels and fields without looking closer at those that cannot match.
#pragma once

#include <string>
#include <string_view>

#include "apiserver/core.h"
#include "base/result.h"
#include "json/value.h"

namespace baton::apiserver {

// From a request's labelSelector and fieldSelector. A field that the type cannot be selected by is a bad request.
Result<Selection> ParseSelection(const ResourceType& type, std::string_view label_selector,
                                 std::string_view field_selector);

bool Selects(const Selection& selection, const json::Value& object);

// False when the object's text alone shows that it cannot match, so that it need not be parsed.
bool MaySelect(const Selection& selection, std::string_view text);

}  // namespace baton::apiserver
