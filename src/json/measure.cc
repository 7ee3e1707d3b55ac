// Measuring values: one bounded walk.
#include "json/measure.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace baton::json {
namespace {

class Walker {
 public:
  Walker(size_t max_bytes, size_t max_depth) : max_bytes_(max_bytes), max_depth_(max_depth) {}

  const Extent& extent() const { return extent_; }

  // `depth` containers are around the value. Recursion ends at max_depth.
  void Visit(const Value& value, size_t depth) {
    if (Done()) return;
    if (!value.is_array() && !value.is_object()) {
      extent_.bytes += ScalarBytes(value);
      return;
    }
    extent_.depth = std::max(extent_.depth, depth + 1);
    extent_.bytes += std::max<size_t>(2, value.size() + 1);  // brackets and commas
    for (const Value& item : value.items()) {
      if (Done()) return;
      Visit(item, depth + 1);
    }
    for (const Member& member : value.members()) {
      if (Done()) return;
      extent_.bytes += member.key().size() + 3;
      Visit(member.value(), depth + 1);
    }
  }

 private:
  bool Done() const { return extent_.bytes > max_bytes_ || extent_.depth > max_depth_; }

  static size_t ScalarBytes(const Value& value) {
    switch (value.kind()) {
      case Kind::kString:
        return value.str().size() + 2;
      case Kind::kBool:
        return value.bool_or(false) ? 4 : 5;
      case Kind::kInt:
      case Kind::kUint: {
        std::array<char, 24> text;
        char* const end = text.data() + text.size();
        const auto written = value.is_int() ? std::to_chars(text.data(), end, value.int_or(0))
                                            : std::to_chars(text.data(), end, value.as_uint64().value_or(0));
        return static_cast<size_t>(written.ptr - text.data());
      }
      case Kind::kDouble: {
        std::array<char, 32> text;
        const auto written = std::to_chars(text.data(), text.data() + text.size(), value.number_or(0));
        return static_cast<size_t>(written.ptr - text.data());
      }
      default:
        return 4;  // null
    }
  }

  size_t max_bytes_;
  size_t max_depth_;
  Extent extent_;
};

}  // namespace

Extent Measure(const Value& value, size_t max_bytes, size_t max_depth) {
  Walker walker(max_bytes, max_depth);
  walker.Visit(value, 0);
  return walker.extent();
}

}  // namespace baton::json
