// Is a text a date or a time to go-yaml? Such strings are printed quoted, and !!timestamp wants one. Private to
// json/yaml_*.cc.
#pragma once

#include <string_view>

namespace baton::json {

// 2001-1-2, 2001-01-02T03:04:05.6Z, 2001-1-2t3:4:5+01:00, 2001-1-2 3:4:5; the calendar is checked.
bool IsYamlTimestamp(std::string_view text);

}  // namespace baton::json
