// HubProcess: the hub's API server as a process that dies and begins again with what its disk has (sim/hub_disk.h).
//
//   HubProcess hub(loop);
//   co_await hub.Start(add_admission);
//   hub.Crash();                                     // connections are cut, watches end, calls are refused
//   co_await hub.Start(add_admission);
//
// Whoever calls it has one of two doors, which stay when the process goes: api() is for programs, who are told that it
// is down; patient() is for people and checkers, who wait and try again.
//
// A process that died is kept until Stop(), because calls that were in it when it died are still there in this program;
// they end at once, and can write nothing: their disk is gone.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "apiserver/backend.h"
#include "kube/api.h"
#include "kube/local_api.h"
#include "rt/event.h"
#include "rt/scope.h"
#include "rt/virtual_loop.h"
#include "sim/hub_disk.h"
#include "store/store.h"

namespace baton::sim {

class HubProcess {
 public:
  using Prepare = std::function<void(apiserver::Backend& backend)>;  // before it serves anything

  explicit HubProcess(rt::VirtualLoop& loop);
  HubProcess(const HubProcess&) = delete;
  HubProcess& operator=(const HubProcess&) = delete;
  ~HubProcess();

  rt::Task<Result<void>> Start(Prepare prepare);
  void Crash();
  bool up() const { return life_ != nullptr; }
  // Nobody calls any more.
  rt::Task<void> Stop();

  kube::Api& api();
  kube::Api& patient();
  HubDisk& disk() { return disk_; }

 private:
  class Door;
  class PatientDoor;
  struct Life {
    std::unique_ptr<store::Store> store;
    std::unique_ptr<apiserver::Backend> backend;
    std::unique_ptr<kube::LocalApi> api;
  };

  rt::VirtualLoop& loop_;
  HubDisk disk_;
  std::unique_ptr<Life> life_;  // null: it is down
  std::vector<std::unique_ptr<Life>> died_;
  rt::Event up_;
  std::unique_ptr<Door> door_;
  std::unique_ptr<PatientDoor> patient_;
  rt::Scope closing_;  // last, so that it goes first
};

}  // namespace baton::sim
