// The federation's admission rules (api/federation_admission.h) as a plugin of the embedded API server.
#pragma once

#include <memory>

#include "apiserver/admission.h"
#include "interpret/interpreter.h"
#include "kube/api.h"
#include "rt/loop.h"

namespace baton::federation {

// `interpreter` checks scripts of customizations; may be null. `hub` is the same server, asked which customizations
// there are, of which no two may define the same; may be null. All outlive the plugin.
std::unique_ptr<apiserver::AdmissionPlugin> MakeAdmission(rt::Loop& loop, const interpret::Interpreter* interpreter,
                                                          kube::Api* hub = nullptr);

}  // namespace baton::federation
