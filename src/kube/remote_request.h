// Internal to kube: a Call as the HTTP request that kube-apiserver wants: path, query, content type, body. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "kube/api.h"
#include "net/http.h"

namespace baton::kube {

// "/apis/apps/v1/namespaces/blue/deployments/web/status". kInvalid for a part that no path can carry ("..", "a/b"), and
// for what would ask for more than was meant: a delete without a name would be one of the whole collection.
Result<std::string> PathOf(const Call& call);

// `prefix` is the path of the server's URL, "" for most. Credentials are not in it yet.
Result<net::Request> RequestOf(const Call& call, std::string_view prefix);
Result<net::Request> RequestOf(const WatchCall& call, seconds timeout, std::string_view prefix);

}  // namespace baton::kube
