// Image names taken apart and put together: [registry[:port]/]repository[:tag][@digest].
//
//   Image image = TRY(ParseImage("registry.example:5000/team/web:1.2"));
//   image.registry;                       // "registry.example:5000"
//   image.repository;                     // "team/web"
//   image.tag;                            // "1.2"
//   PrintImage(image);                    // what was parsed
//
// The first component is a registry when it has a '.' or a ':' or is "localhost"; else it belongs to the repository:
// "library/nginx" and "nginx" have no registry. What is a valid name is as in the container tools (repository in lower
// case and at most 255 characters, tag at most 128, digest sha256, sha384 or sha512 in full).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace baton::overrides {

inline constexpr size_t kMaxRepositoryBytes = 255;
inline constexpr size_t kMaxTagBytes = 128;

struct Image {
  std::string registry;    // "" when absent
  std::string repository;  // without the registry
  std::string tag;         // without ':'
  std::string digest;      // without '@': "sha256:..."

  friend bool operator==(const Image&, const Image&) = default;
};

Result<Image> ParseImage(std::string_view text);

// ParseImage's inverse. Parts that no parser gave are printed as they are.
std::string PrintImage(const Image& image);

bool IsImageTag(std::string_view text);

// Of the right shape: "sha256:" and 32 hexadecimal digits or more. ParseImage asks for more.
bool LooksLikeDigest(std::string_view text);

// Sets the tag or the digest, whichever `text` is, and takes the other away. Text that is neither changes nothing.
void SetTagOrDigest(Image& image, std::string_view text);

}  // namespace baton::overrides
