// Mutation and validation of the federation's kinds on their way into the embedded server; and deletion protection.
#include "federation/admission.h"

#include <utility>

#include "api/federation_admission.h"
#include "api/federation_types.h"
#include "api/karmada_keys.h"
#include "base/strings.h"

namespace baton::federation {
namespace {

class Admission final : public apiserver::AdmissionPlugin {
 public:
  Admission(rt::Loop& loop, const interpret::Interpreter* interpreter) : loop_(loop), interpreter_(interpreter) {}

  rt::Task<Result<void>> Mutate(apiserver::AdmissionRequest& request) override {
    if (!Ours(request)) co_return Result<void>();
    request.object = CO_TRY(api::MutateFederation(*request.type, request.object, request.old_object, Context()));
    co_return Result<void>();
  }

  rt::Task<Result<void>> Validate(const apiserver::AdmissionRequest& request) override {
    if (request.operation == apiserver::Operation::kDelete) co_return Protected(request);
    if (!Ours(request)) co_return Result<void>();
    CO_TRY(api::ValidateFederation(*request.type, request.object, request.old_object, Context()));
    if (interpreter_ != nullptr && request.type->kind == "ResourceInterpreterCustomization") {
      co_return interpreter_->CheckCustomization(request.object);
    }
    co_return Result<void>();
  }

 private:
  static bool Ours(const apiserver::AdmissionRequest& request) {
    return request.operation != apiserver::Operation::kDelete && request.subresource.empty() &&
           api::FederationType(request.type->group, request.type->kind) != nullptr;
  }

  static Result<void> Protected(const apiserver::AdmissionRequest& request) {
    const json::Value& labels = request.old_object["metadata"]["labels"];
    if (labels[api::karmada::kDeletionProtected].str() != api::karmada::kAlways) return {};
    return Error::FromStatus(
        {.code = 403, .reason = "Forbidden"},
        StrCat("This resource is protected, please make sure to remove the label: ", api::karmada::kDeletionProtected));
  }

  api::FederationContext Context() {
    api::FederationContext context;
    context.new_uid = [this] { return loop_.random().NewUid().str(); };
    context.now = loop_.WallNow();
    return context;
  }

  rt::Loop& loop_;
  const interpret::Interpreter* interpreter_;
};

}  // namespace

std::unique_ptr<apiserver::AdmissionPlugin> MakeAdmission(rt::Loop& loop, const interpret::Interpreter* interpreter) {
  return std::make_unique<Admission>(loop, interpreter);
}

}  // namespace baton::federation
