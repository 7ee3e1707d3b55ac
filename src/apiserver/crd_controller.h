// CrdController: keeps the registry what the stored CustomResourceDefinitions say, their status up to date, and their
// objects away when one is deleted. Also the admission rules of CRDs.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "apiserver/admission.h"
#include "apiserver/core.h"
#include "apiserver/crd.h"
#include "rt/scope.h"
#include "rt/task.h"

namespace baton::apiserver {

class CrdController {
 public:
  explicit CrdController(Core& core) : core_(core), cleaners_(core.loop()) {}

  // Serves every established CRD that is stored: before the first request.
  void LoadAll();
  // Until dropped.
  rt::Task<void> Run();

 private:
  rt::Task<void> Reconcile(std::string name);
  rt::Task<void> CleanUp(std::string name, json::Value crd);
  void Serve(const std::string& name, const json::Value& crd);

  Core& core_;
  std::map<std::string, std::string> served_;  // by CRD: uid and generation that the registry shows
  std::set<std::string> cleaning_;             // CRDs whose objects are being deleted
  rt::Scope cleaners_;                         // last, so that it goes first
};

// Refuses CRDs that break the rules.
std::unique_ptr<AdmissionPlugin> MakeCrdAdmission();

}  // namespace baton::apiserver
