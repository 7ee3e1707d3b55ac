// Wire: what is between a simulated process and a server. A request that was sent goes on when its sender is paused or
// killed: it arrives, is done, and nobody hears of it. So what answers (and what goes wrong on the way) works in fibers
// of the world, and only the waiting is the sender's.
//
//   Wire hub(faulty_hub, network);       // network: a scope of the world, which outlives every request
//
// Watches are the sender's own: what came while it was paused it finds when it goes on.
#pragma once

#include <memory>
#include <utility>

#include "kube/api.h"
#include "rt/event.h"
#include "rt/scope.h"
#include "rt/when.h"

namespace baton::sim {

class Wire final : public kube::Api {
 public:
  // `below` and `network` outlive this and all that was sent through it.
  Wire(kube::Api& below, rt::Scope& network) : below_(below), network_(network) {}

  rt::Loop& loop() override { return below_.loop(); }

  rt::Task<Result<kube::Answer>> Do(kube::CallBox call, rt::Deadline deadline) override {
    const auto sent = std::make_shared<Sent>();
    network_.Spawn(Serve(below_, std::move(call), deadline, sent));
    return rt::WithDeadline(deadline, "the server's answer", AnswerTo(sent));
  }
  rt::Task<Result<std::unique_ptr<kube::Watch>>> OpenWatch(kube::WatchCall call, rt::Deadline deadline) override {
    return below_.OpenWatch(std::move(call), deadline);
  }
  rt::Task<Result<kube::Discovered>> Discover(rt::Deadline deadline) override { return below_.Discover(deadline); }

 private:
  struct Sent {
    Result<kube::Answer> answer = InternalError("no answer yet");
    rt::Event answered;
  };

  static rt::Task<void> Serve(kube::Api& below, kube::CallBox call, rt::Deadline deadline, std::shared_ptr<Sent> sent) {
    sent->answer = co_await below.Do(std::move(call), deadline);
    sent->answered.Set();
  }
  static rt::Task<Result<kube::Answer>> AnswerTo(std::shared_ptr<Sent> sent) {
    co_await sent->answered.Wait();
    co_return std::move(sent->answer);
  }

  kube::Api& below_;
  rt::Scope& network_;
};

}  // namespace baton::sim
