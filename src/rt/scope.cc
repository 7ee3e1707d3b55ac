// Structured concurrency: who owns which fiber, and in what order they go.
#include "rt/scope.h"

namespace baton::rt {

class Scope::Child final : public Fiber, public ListHook<Scope::Child> {
 public:
  Child(Scope& scope, Task<void> task) : Fiber(scope.loop_), scope_(scope), task_(std::move(task)) {
    Start(task_.AdoptAsRoot(*this));
  }
  ~Child() override { task_.Drop(); }

 private:
  // The scope is told first: dropping the task may destroy what owns the scope.
  void OnFinished() override {
    scope_.Gone(*this);
    delete this;
  }
  Fiber* Parent() const override { return scope_.owner_.get(); }

  Scope& scope_;  // not to be touched once Gone() was called
  Task<void> task_;
};

Scope::Scope(Loop& loop) : loop_(loop), owner_(loop.running()) { idle_.Set(); }

Scope::~Scope() {
  while (Child* child = children_.front()) {
    Gone(*child);
    delete child;
  }
}

void Scope::Spawn(Task<void> task) {
  children_.PushBack(*new Child(*this, std::move(task)));
  ++active_;
  idle_.Reset();
}

Task<void> Scope::Join() {
  while (active_ > 0) co_await idle_.Wait();
}

void Scope::CancelAll() {
  while (Child* child = children_.front()) {
    Gone(*child);
    bool caller_is_inside = false;
    for (Fiber* fiber = loop_.running(); fiber != nullptr && !caller_is_inside; fiber = fiber->Parent()) {
      caller_is_inside = fiber == child;
    }
    if (caller_is_inside) {
      loop_.DestroyLater(std::unique_ptr<Fiber>(child));
    } else {
      delete child;
    }
  }
}

void Scope::Gone(Child& child) {
  child.ListHook<Child>::Unlink();
  if (--active_ == 0) idle_.Set();
}

}  // namespace baton::rt
