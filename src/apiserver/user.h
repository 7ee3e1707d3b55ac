// User: who asks. Made by authentication, read by authorization, admission and the audit log.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace baton::apiserver {

struct User {
  std::string name;
  std::string uid;
  std::vector<std::string> groups;
  std::map<std::string, std::vector<std::string>> extra;

  friend bool operator==(const User&, const User&) = default;
};

inline constexpr std::string_view kMastersGroup = "system:masters";  // may do everything, whatever RBAC says
inline constexpr std::string_view kAuthenticatedGroup = "system:authenticated";
inline constexpr std::string_view kUnauthenticatedGroup = "system:unauthenticated";
inline constexpr std::string_view kAnonymousUser = "system:anonymous";

}  // namespace baton::apiserver
