// What store_crash_writer writes, so that the test which kills it knows what must be there.
#pragma once

#include <cstdint>
#include <string>

#include "base/strings.h"
#include "rt/random.h"

namespace baton::store {

inline constexpr int kCrashWriters = 8;

// A transaction of a writer puts the same value under its two keys: "<counter>:<bytes that follow from both numbers>".
inline std::string CrashKey(int writer, int which) { return StrCat("writer/", writer, "/", which); }
inline std::string CrashValue(int writer, int64_t counter) {
  rt::SeededRandom random(static_cast<uint64_t>(counter) * 1000 + static_cast<uint64_t>(writer));
  std::string value = StrCat(counter, ":");
  for (uint64_t bytes = random.Below(3000); bytes > 0; --bytes)
    value.push_back(static_cast<char>('a' + random.Below(26)));
  return value;
}
inline int64_t CrashCounter(const std::string& value) { return std::stoll(value); }

}  // namespace baton::store
