// Mutation and validation of the federation's kinds on their way into the embedded server; and deletion protection.
#include "federation/admission.h"

#include <utility>
#include <vector>

#include "api/federation_admission.h"
#include "api/federation_types.h"
#include "api/karmada_keys.h"
#include "base/strings.h"
#include "federation/resources.h"
#include "interpret/lua_vm.h"

namespace baton::federation {
namespace {

Result<void> CheckScript(std::string_view script) {
  TRY(interpret::LuaScript::Compile("script", std::string(script)));
  return {};
}

class Admission final : public apiserver::AdmissionPlugin {
 public:
  Admission(rt::Loop& loop, const interpret::Interpreter* interpreter, kube::Api* hub)
      : loop_(loop), interpreter_(interpreter), hub_(hub) {}

  rt::Task<Result<void>> Mutate(apiserver::AdmissionRequest& request) override {
    if (!Ours(request)) co_return Result<void>();
    request.object = CO_TRY(api::MutateFederation(*request.type, request.object, request.old_object, Context()));
    co_return Result<void>();
  }

  rt::Task<Result<void>> Validate(const apiserver::AdmissionRequest& request) override {
    if (request.operation == apiserver::Operation::kDelete) co_return Protected(request);
    if (!Ours(request)) co_return Result<void>();
    api::FederationContext context = Context();
    if (interpreter_ == nullptr || request.type->kind != kCustomizations.kind) {
      co_return api::ValidateFederation(*request.type, request.object, request.old_object, context);
    }
    context.check_script = CheckScript;
    std::vector<json::Value> others;
    if (hub_ != nullptr) others = CO_TRY(co_await hub_->ListAll(kCustomizations)).items;
    context.customizations = others;
    CO_TRY(api::ValidateFederation(*request.type, request.object, request.old_object, context));
    co_return interpreter_->CheckCustomization(request.object);
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
  kube::Api* hub_;
};

}  // namespace

std::unique_ptr<apiserver::AdmissionPlugin> MakeAdmission(rt::Loop& loop, const interpret::Interpreter* interpreter,
                                                          kube::Api* hub) {
  return std::make_unique<Admission>(loop, interpreter, hub);
}

}  // namespace baton::federation
