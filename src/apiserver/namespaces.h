// Namespaces: an object needs one that is there and not on its way out; deleting one deletes its content first.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "apiserver/admission.h"
#include "apiserver/core.h"
#include "base/time.h"
#include "rt/loop.h"
#include "rt/task.h"

namespace baton::apiserver {

// Refuses new objects in namespaces that do not exist or are being deleted, and the deletion of those that the server
// needs.
std::unique_ptr<AdmissionPlugin> MakeNamespaceLifecycle(Core& core);

// A safety net's timer: whatever refused to delete something (a webhook, a full disk) may not tell when it would not.
inline constexpr Duration kSweepAgainAfter = seconds(5);

class NamespaceController {
 public:
  explicit NamespaceController(Core& core) : core_(core) {}
  rt::Task<void> Run();  // until dropped

 private:
  // What is still there, and which finalizers hold it.
  struct Remains {
    std::map<std::string, size_t> resources;
    std::map<std::string, size_t> finalizers;
    void Add(const std::string& resource, const json::Value& object);
    void Remove(const std::string& resource, const json::Value& object);
  };
  // A namespace on its way out.
  struct Emptying {
    Remains left;
    Revision counted_at;                                     // later changes are counted as they come
    bool changed = false;                                    // since it was told
    rt::Deadline sweep = rt::Deadline::At(MonotonicTime());  // when its content is to be deleted (again)
  };

  rt::Task<bool> RunFromTheList();
  void TakeNamespace(const std::string& name, const Bytes& value);
  void TakeContent(const store::Event& change);
  rt::Deadline NextTry() const;
  rt::Task<void> SweepAndTell();
  rt::Task<void> Empty(const std::string& name, Emptying& emptying);
  rt::Task<void> Tell(const std::string& name, Emptying& emptying);
  Remains Count(std::string_view ns) const;
  static json::Value AfterSweep(json::Value object, const Remains& left, std::string_view now);

  Core& core_;
  std::map<std::string, Emptying, std::less<>> emptying_;  // by name
};

}  // namespace baton::apiserver
