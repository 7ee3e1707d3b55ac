// Doors: keeps the ways to the members (members.h) where the clusters controller does not run, because another
// federation looks after the clusters of this hub. Reads Clusters and their Secrets, and writes nothing.
#pragma once

#include <string>

#include "federation/hub.h"
#include "kube/informer.h"

namespace baton::federation {

class Doors {
 public:
  explicit Doors(Hub& hub);
  rt::Task<void> Run();

 private:
  void Update(const json::Value& cluster);

  Hub& hub_;
  kube::Informer secrets_;
};

}  // namespace baton::federation
