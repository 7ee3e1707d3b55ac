// Namespaces: an object needs one that is there and not on its way out; deleting one deletes its content first.
#pragma once

#include <memory>
#include <set>
#include <string>

#include "apiserver/admission.h"
#include "apiserver/core.h"
#include "rt/task.h"

namespace baton::apiserver {

// Refuses new objects in namespaces that do not exist or are being deleted, and the deletion of those that the server
// needs.
std::unique_ptr<AdmissionPlugin> MakeNamespaceLifecycle(Core& core);

class NamespaceController {
 public:
  explicit NamespaceController(Core& core) : core_(core) {}
  rt::Task<void> Run();  // until dropped

 private:
  rt::Task<void> Empty(std::string name);
  std::set<std::string> Leaving() const;

  Core& core_;
};

}  // namespace baton::apiserver
