// The tag of a container image's name, which decides whether the image is always pulled.
#pragma once

#include <string>
#include <string_view>

namespace baton::api::builtin {

// "latest" when there is neither a tag nor a digest; "" when there is a digest only, or when this is no image name.
std::string_view ImageTag(std::string_view image);

// What Kubernetes pulls by default: "Always" for the tag latest, else "IfNotPresent".
std::string_view DefaultPullPolicy(std::string_view image);

}  // namespace baton::api::builtin
