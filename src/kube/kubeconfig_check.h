// The shape of a kubeconfig: every known field has its type and bytes are base64, as Go would refuse to decode it
// otherwise. After this, value.str() of a known field is the field, and "" is absent.
#pragma once

#include "base/result.h"
#include "json/value.h"

namespace baton::kube {

// The error begins with the field: "users[2].user.token: a string is expected, not int".
Result<void> CheckKubeconfig(const json::Value& document);

}  // namespace baton::kube
