// Nobody hands out rights that they do not have: writes of roles and bindings are refused when they would, unless the
// verbs escalate (on roles) or bind (on what is bound) allow it.
#pragma once

#include <memory>

#include "apiserver/admission.h"
#include "apiserver/authorizer.h"
#include "apiserver/core.h"

namespace baton::apiserver {

std::unique_ptr<AdmissionPlugin> MakeEscalationCheck(Core& core, Authorizer& authorizer);

}  // namespace baton::apiserver
