// ProfileMemo: what a profile's script has answered, so that it is not asked the same again. A move is looked at far
// more often than anything changes, and what a script says depends on nothing but what it is given.
//
//   if (const std::optional<Value> known = memo.Find(key)) return *known;
//   memo.Keep(std::move(key), answer);
//
// Holds at most kSlots answers; a new one takes the place of an older one. Whoever asks gets an answer only to exactly
// that question: everything is compared, not only a hash. May be used by many threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "interpret/profile.h"
#include "json/value.h"

namespace baton::interpret {

class ProfileMemo {
 public:
  static constexpr size_t kSlots = 512;
  static constexpr size_t kEntryBytesMax = size_t{64} << 10;  // what is larger is asked every time

  struct Key {
    std::string_view function;  // of those that profiles may define: lives forever
    json::Value object;
    json::Value related;
    Question question;

    bool operator==(const Key&) const = default;
  };

  std::optional<json::Value> Find(const Key& key);
  void Keep(Key key, json::Value answer);

  uint64_t missed() const;  // how often Find() knew nothing

 private:
  struct Entry {
    Key key;
    json::Value answer;
  };

  mutable std::mutex mutex_;
  std::unordered_map<size_t, Entry> entries_;  // by slot; guarded by mutex_
  uint64_t missed_ = 0;                        // guarded by mutex_
};

}  // namespace baton::interpret
