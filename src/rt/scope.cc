// Structured concurrency: who owns which fiber, and in what order they go.
#include "rt/scope.h"

namespace baton::rt {

class Scope::Child final : public TaskFiber<void>, public ListHook<Scope::Child> {
 public:
  Child(Scope& scope, Task<void> task)
      : TaskFiber<void>(scope.loop_, scope.owner_.get(), std::move(task)), scope_(scope) {}
  // Off the scope's lists first: destroying the frames may destroy the scope.
  ~Child() override { ListHook<Child>::Unlink(); }

 private:
  void OnFinished() override {
    scope_.Gone(*this);
    delete this;
  }

  Scope& scope_;  // not to be touched once Gone() was called
};

Scope::Scope(Loop& loop) : loop_(loop), owner_(loop.running()) { idle_.Set(); }

Scope::~Scope() {
  INVARIANT(joining_ == 0, "a scope was destroyed while a fiber waits in its Join()");
  while (Child* child = children_.front()) {
    Gone(*child);
    delete child;
  }
  while (const Child* child = cancelled_from_inside_.front()) delete child;
}

void Scope::Spawn(Task<void> task) {
  children_.PushBack(*new Child(*this, std::move(task)));
  ++active_;
  idle_.Reset();
}

Task<void> Scope::Join() {
  ++joining_;
  struct Leave {
    size_t& joining;
    ~Leave() { --joining; }
  } const leave{joining_};
  while (active_ > 0) co_await idle_.Wait();
}

void Scope::CancelAll() {
  while (Child* child = children_.front()) {
    Gone(*child);
    if (loop_.CallerIsIn(*child)) {
      cancelled_from_inside_.PushBack(*child);
      loop_.DestroyLater(*child);
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
