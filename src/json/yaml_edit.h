// Changing YAML text that people wrote, for example one field of a config file inside a ConfigMap.
//
//   std::string edited = TRY(EditYamlText(text, [](Value config) -> Result<Value> {
//     config.Edit("server").Set("port", 8081);
//     return config;
//   }));
//
// Only what changed is written anew: comments, key order, quoting and blank lines of everything else stay byte for
// byte. A changed scalar keeps its quotes and the comment behind it; a new key comes last in its map; a removed key or
// item takes the comment lines right above it along (but not those at the beginning of the text); new lists and maps
// are printed as PrintYaml prints them. Text that was JSON stays JSON.
//
// The result is read back before it is returned. When the edited text does not mean the changed value (say, an edit
// inside an anchored part that aliases elsewhere repeat), the whole document is printed anew, and comments are lost.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "json/value.h"

namespace baton::json {

inline constexpr size_t kMaxSpliceBytes = size_t{2} << 20;  // longer texts are printed anew

// `text` with `change` made to its one document. Errors are those of ParseYaml (several documents are one) and of
// `change`. No change returns the same bytes.
Result<std::string> EditYamlText(std::string_view text, const std::function<Result<Value>(Value)>& change);

}  // namespace baton::json
