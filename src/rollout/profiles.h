// The profiles that are known: those that come with Baton, and users' own, which win.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "interpret/profile.h"
#include "json/value.h"

namespace baton::rollout {

class ProfileSet {
 public:
  Result<void> Set(const json::Value& object);
  void Remove(std::string_view name);

  // Null: workloads of that kind cannot be moved.
  std::shared_ptr<const interpret::Profile> ForKind(std::string_view api_version, std::string_view kind) const;
  // The profile of a workload that is managed; null when it is not: no profile, or it opted out, or did not opt in.
  std::shared_ptr<const interpret::Profile> Managing(const json::Value& object) const;

  // The same as its template says, though it may be on its way (below).
  std::shared_ptr<const interpret::Profile> Asked(const json::Value& object) const;

  // What is being moved is managed until its move has ended, whatever its template says meanwhile: told of every
  // Writer.
  void WriterChanged(const json::Value& before, const json::Value& now);

 private:
  static std::string ClaimKey(std::string_view kind, std::string_view ns, std::string_view name);
  using ByName = std::map<std::string, std::shared_ptr<const interpret::Profile>, std::less<>>;
  static const ByName& Builtin();  // compiled once in a process: they never change

  ByName users_;
  std::set<std::string, std::less<>> claimed_;
};

}  // namespace baton::rollout
