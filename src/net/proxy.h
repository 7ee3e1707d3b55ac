// HTTP proxies for the client: whether one is used, and the CONNECT tunnel through it.
#pragma once

#include <optional>

#include "base/result.h"
#include "net/client.h"
#include "net/stream.h"
#include "rt/task.h"

namespace baton::net {

// After this the stream is a connection to `target`. Errors carry the proxy's answer.
rt::Task<Result<void>> OpenTunnel(ByteStream& stream, const ProxyOptions& options, const Endpoint& target);

}  // namespace baton::net
