// LateStart: what the copy of a cluster tells, between two looks, of a target that goes back and was taken for one that
// never started. Its operator may have an older order in hand, start it, and clean it up while the engine waits for an
// answer that does not come; then no look ever sees that it ran.
//
//   late.Judged(cluster, object, profile, question);    // a look: it never started, by what it says of itself alone
//   late.Take(cluster, object);                         // our copy has changed
//   late.Looked(uid, now);                              // a look found it
//   if (late.WentUnseen(uid, now)) ...                  // a look found it gone: ask what it left
//
// Looks have its pods, too, and tell better: what they came to see in time is left to them. What is seen here is of one
// leader: the next one has looks only. An object whose state cannot be told without what is beside it is not watched.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "interpret/profile.h"
#include "json/value.h"

namespace baton::rollout {

inline constexpr Duration kLooksApart = seconds(3);  // between two that saw all that mattered

class LateStart {
 public:
  // A look at the object, and what its profile was asked. Of one that says, by itself, that it never started, later
  // versions count from here on; what had been told of earlier ones is void.
  void Judged(std::string cluster, const json::Value& object, std::shared_ptr<const interpret::Profile> profile,
              interpret::Question question);
  void Take(std::string_view cluster, const json::Value& object);

  void Looked(std::string_view uid, MonotonicTime at);
  // Decided when it is first found gone.
  bool WentUnseen(std::string_view uid, MonotonicTime at);

 private:
  static json::Value BeforeItsDeletion(json::Value object);
  bool NeverStarted(const json::Value& object) const;

  std::string cluster_;
  std::string uid_;  // "": nothing is watched
  uint64_t version_ = 0;
  std::shared_ptr<const interpret::Profile> profile_;
  interpret::Question question_;
  bool started_ = false;
  MonotonicTime looked_{};
  std::optional<bool> unseen_;  // nothing: it is there
};

}  // namespace baton::rollout
