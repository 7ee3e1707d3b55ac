// Lives of the hub's process, and the doors to them.
#include "sim/hub_process.h"

#include <utility>

namespace baton::sim {

class HubProcess::Door final : public kube::Api {
 public:
  explicit Door(HubProcess& hub) : hub_(hub) {}

  rt::Loop& loop() override { return hub_.loop_; }
  rt::Task<Result<kube::Answer>> Do(kube::CallBox call, rt::Deadline deadline) override {
    return hub_.up() ? hub_.life_->api->Do(std::move(call), deadline) : Refused<kube::Answer>();
  }
  rt::Task<Result<std::unique_ptr<kube::Watch>>> OpenWatch(kube::WatchCall call, rt::Deadline deadline) override {
    return hub_.up() ? hub_.life_->api->OpenWatch(std::move(call), deadline) : Refused<std::unique_ptr<kube::Watch>>();
  }
  rt::Task<Result<kube::Discovered>> Discover(rt::Deadline deadline) override {
    return hub_.up() ? hub_.life_->api->Discover(deadline) : Refused<kube::Discovered>();
  }

 private:
  template <class T>
  static rt::Task<Result<T>> Refused() {
    co_return UnavailableError("connection refused: the hub is down");
  }

  HubProcess& hub_;
};

class HubProcess::PatientDoor final : public kube::Api {
 public:
  explicit PatientDoor(HubProcess& hub) : hub_(hub) {}

  rt::Loop& loop() override { return hub_.loop_; }
  rt::Task<Result<kube::Answer>> Do(kube::CallBox call, rt::Deadline deadline) override {
    while (true) {
      co_await hub_.up_.Wait();
      const Life* asked = hub_.life_.get();
      Result<kube::Answer> answer = co_await hub_.door_->Do(call, deadline);
      // Whether it was done nobody knows; what people do here can be done twice.
      if (answer.ok() || asked == hub_.life_.get()) co_return answer;
    }
  }
  rt::Task<Result<std::unique_ptr<kube::Watch>>> OpenWatch(kube::WatchCall call, rt::Deadline deadline) override {
    co_await hub_.up_.Wait();
    co_return co_await hub_.door_->OpenWatch(std::move(call), deadline);
  }
  rt::Task<Result<kube::Discovered>> Discover(rt::Deadline deadline) override {
    co_await hub_.up_.Wait();
    co_return co_await hub_.door_->Discover(deadline);
  }

 private:
  HubProcess& hub_;
};

HubProcess::HubProcess(rt::VirtualLoop& loop)
    : loop_(loop),
      disk_(loop),
      door_(std::make_unique<Door>(*this)),
      patient_(std::make_unique<PatientDoor>(*this)),
      closing_(loop) {}

HubProcess::~HubProcess() = default;

kube::Api& HubProcess::api() { return *door_; }
kube::Api& HubProcess::patient() { return *patient_; }

rt::Task<Result<void>> HubProcess::Start(Prepare prepare) {
  auto life = std::make_unique<Life>();
  life->store = CO_TRY(co_await store::Store::Open(loop_, disk_.NewEngine()));
  life->backend = CO_TRY(co_await apiserver::Backend::Start(loop_, *life->store));
  life->api = std::make_unique<kube::LocalApi>(*life->backend);
  prepare(*life->backend);
  life_ = std::move(life);
  up_.Set();
  co_return Result<void>();
}

void HubProcess::Crash() {
  if (!up()) return;
  up_.Reset();
  disk_.Crash();
  life_->backend->Halt();
  closing_.Spawn(life_->store->Close());  // ends watches, and waits for nothing: the disk is gone
  died_.push_back(std::move(life_));
}

rt::Task<void> HubProcess::Stop() {
  co_await closing_.Join();
  if (up()) died_.push_back(std::move(life_));
  up_.Reset();
  for (const std::unique_ptr<Life>& life : died_) {
    life->api.reset();
    life->backend.reset();
    co_await life->store->Close();
  }
  died_.clear();
}

}  // namespace baton::sim
