// When something is to happen.
#include "sim/bad_calls.h"

#include "rt/when.h"

namespace baton::sim {
namespace {

// The controllers' own, of a move that goes well. Those that hardly tell more than that somebody is there do not count.
constexpr uint64_t kWritesOfAMove = 80;

bool Counts(const kube::Call& call) {
  const std::string& plural = call.resource.plural;
  return call.IsWrite() && !call.dry_run && plural != "events" && plural != "clusters" && plural != "leases";
}

}  // namespace

kube::FaultDecision BadCalls::ForCall(const kube::Call& call) {
  if (!on_) return {};
  if (Counts(call)) {
    ++writes_;
    written_.Set();
    written_.Reset();
  }
  return faults_->ForCall(call);
}

rt::Task<Result<void>> BadCalls::UntilWrite(uint64_t number) {
  while (writes_ < number) co_await written_.Wait();
  co_return Result<void>();
}

rt::Task<void> BadCalls::Moment(rt::Loop& loop, int64_t ms) {
  if (OneIn(2)) co_return co_await loop.Sleep(UpTo(ms));
  const uint64_t number = writes_ + 1 + Below(kWritesOfAMove);
  // When nothing is written any more the time comes all the same.
  [[maybe_unused]] const Result<void> written =
      co_await rt::WithDeadline(rt::Deadline::After(loop, milliseconds(ms)), "a write", UntilWrite(number));
}

}  // namespace baton::sim
