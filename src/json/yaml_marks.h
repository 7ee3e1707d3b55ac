// Where the nodes of a YAML document stand in its text, so that an edit can leave the rest of the text alone. Private
// to json/yaml_*.cc.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/yaml_text.h"

namespace baton::json {

inline constexpr size_t kNoOffset = static_cast<size_t>(-1);

struct YamlEntry;

// Offsets are bytes of the text. A node's range holds its anchor and tag but no comment behind it; that of a block list
// or map goes from its first to its last item.
struct YamlNode {
  enum class Kind : uint8_t { kScalar, kAlias, kList, kMap };

  Kind kind = Kind::kScalar;
  bool flow = false;                    // a list in [], a map in {}
  bool block_text = false;              // a scalar that began with | or >
  bool ends_line = false;               // its range ends behind a line break: the last thing in it is a block_text
  YamlStyle style = YamlStyle::kPlain;  // of a scalar that is no block_text
  size_t begin = 0;
  size_t end = 0;  // the same as begin when nothing is written (`a:`)
  std::vector<YamlEntry> entries;

  bool written() const { return begin != end; }
  bool is_block() const { return block_text || (!flow && (kind == Kind::kList || kind == Kind::kMap)); }
};

// A member of a map or an item of a list.
struct YamlEntry {
  std::string key;           // of a map's member, as a JSON key
  bool merge = false;        // the key is <<
  bool opaque_key = false;   // an alias: which key it is only the reader knows
  size_t begin = 0;          // of the key; of the dash of a block list; of the item of a flow list
  size_t after = kNoOffset;  // behind the colon or dash; none behind "? key", in {key} and in flow lists
  size_t key_end = 0;
  YamlNode value;

  size_t end() const { return value.written() ? value.end : after == kNoOffset ? std::max(key_end, value.end) : after; }
};

// The one document of `text`, which ParseYaml takes.
Result<YamlNode> ReadYamlMarks(std::string_view text);

}  // namespace baton::json
