// Namespaces: an object needs one that is there and not on its way out; deleting one deletes its content first.
#pragma once

#include <map>
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
  // What is still there, and which finalizers hold it.
  struct Remains {
    std::map<std::string, size_t> resources;
    std::map<std::string, size_t> finalizers;
  };
  rt::Task<void> Empty(std::string name);
  void Count(const ResourceType& type, std::string_view ns, Remains& left) const;
  static json::Value AfterSweep(json::Value object, const Remains& left, std::string_view now);
  std::set<std::string> Leaving() const;

  Core& core_;
};

}  // namespace baton::apiserver
