// Test support: a gate on a connection that slices, delays, drops, corrupts, stalls, closes or cuts what passes, by
// script or by seed. It wraps any ByteStream on any loop; FaultRelay puts it between two TCP sockets, so that it stands
// outside TLS.
//
//   auto faulty = MakeFaultGate(loop, std::move(stream), {.seed = 7, .slice = 0.5, .cut = 0.01});
//   auto scripted = MakeFaultGate(loop, std::move(stream), {.script = {{.at = 120, .fault = Fault::kCut}}});
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "net/stream.h"
#include "net/transport.h"
#include "rt/loop.h"

namespace baton::net {

enum class Fault : uint8_t {
  kCut,      // the connection breaks, both ways
  kClose,    // the peer seems to close its side cleanly; what we send is lost
  kStall,    // nothing more passes, and nobody is told
  kCorrupt,  // one bit of a byte is flipped
  kDrop,     // one byte is left out
  kDelay,    // FaultPlan::delay_max passes first
};

struct FaultPlan {
  uint64_t seed = 0;

  // Chances per read and write (0 to 1).
  double slice = 0;  // only a few bytes at a time
  double delay = 0;  // up to delay_max
  double corrupt = 0;
  double drop = 0;
  double cut = 0;
  double close = 0;
  double stall = 0;
  Duration delay_max = milliseconds(200);

  // Faults at exact places: when `at` bytes have passed in that direction, the next one meets the fault.
  struct Step {
    size_t at = 0;
    Fault fault = Fault::kCut;
    bool sent = false;  // counted in what the wrapped side sends; else in what it receives
  };
  std::vector<Step> script;

  std::string alpn;  // what the gate's alpn() says; empty: what the inner stream says
};

std::unique_ptr<ByteStream> MakeFaultGate(rt::Loop& loop, std::unique_ptr<ByteStream> inner, FaultPlan plan);

// Listens on a loopback port and relays every connection to `target`; each connection's gate has a seed of its own.
// Runs until it is dropped.
rt::Task<void> RunFaultRelay(rt::RealLoop& loop, Listener& listener, Endpoint target, FaultPlan plan);

}  // namespace baton::net
