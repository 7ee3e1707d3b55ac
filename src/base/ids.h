// Strong ids: names and numbers that do not convert into each other, so that a wrong argument order does not compile.
//
//   void Grant(const ClusterName& target, const Uid& member_uid, Epoch seq);
//   Grant(ClusterName("green"), Uid(text), Epoch(7));
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace baton {

// A name. Empty means "none"; ask with empty().
template <class Tag>
class StrongString {
 public:
  StrongString() = default;
  explicit StrongString(std::string value) : value_(std::move(value)) {}

  const std::string& str() const { return value_; }
  bool empty() const { return value_.empty(); }
  friend auto operator<=>(const StrongString&, const StrongString&) = default;

 private:
  std::string value_;
};

// A number. Arithmetic is spelled out: Next() is the only step there is.
template <class Tag>
class StrongInt {
 public:
  constexpr StrongInt() = default;
  constexpr explicit StrongInt(int64_t value) : value_(value) {}

  constexpr int64_t value() const { return value_; }
  constexpr StrongInt Next() const { return StrongInt(value_ + 1); }
  friend constexpr auto operator<=>(StrongInt, StrongInt) = default;

 private:
  int64_t value_ = 0;
};

using ClusterName = StrongString<struct ClusterNameTag>;          // metadata.name of a Cluster
using Uid = StrongString<struct UidTag>;                          // metadata.uid: tells re-created objects apart
using ResourceVersion = StrongString<struct ResourceVersionTag>;  // opaque: compare for equality, never for order
using Generation = StrongInt<struct GenerationTag>;               // metadata.generation: the version of a spec
using Epoch = StrongInt<struct EpochTag>;                         // Writer seq: grows with every change of who may run

}  // namespace baton

template <class Tag>
struct std::hash<baton::StrongString<Tag>> {
  size_t operator()(const baton::StrongString<Tag>& id) const noexcept { return std::hash<std::string>()(id.str()); }
};
template <class Tag>
struct std::hash<baton::StrongInt<Tag>> {
  size_t operator()(baton::StrongInt<Tag> id) const noexcept { return std::hash<int64_t>()(id.value()); }
};
