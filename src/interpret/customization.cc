// Reading customizations.
#include "interpret/customization.h"

#include "base/strings.h"
#include "interpret/fields.h"

namespace baton::interpret {

using json::Value;

Result<Customization> Customization::FromObject(const Value& object, const LuaLimits& limits) {
  if (object["apiVersion"].str() != "config.karmada.io/v1alpha1" ||
      object["kind"].str() != "ResourceInterpreterCustomization")
    return InvalidError(StrCat("expected a ResourceInterpreterCustomization of config.karmada.io/v1alpha1, got kind ",
                               Quote(object["kind"].str()), " of ", Quote(object["apiVersion"].str())));
  Customization customization;
  customization.name = TRY(StringAt(object, {"metadata", "name"}));
  customization.target.api_version = TRY(StringAt(object, {"spec", "target", "apiVersion"}));
  customization.target.kind = TRY(StringAt(object, {"spec", "target", "kind"}));
  if (customization.target.api_version.empty()) return InvalidError("spec.target.apiVersion: must be given");
  if (customization.target.kind.empty()) return InvalidError("spec.target.kind: must be given");
  for (const OperationNames& names : kOperationNames) {
    const std::string_view text = TRY(StringAt(object, {"spec", "customizations", names.block, "luaScript"}));
    if (text.empty()) continue;
    customization.scripts[names.operation] =
        TRY(LuaScript::Compile(std::string(names.block), std::string(text), limits)
                .Context(StrCat("spec.customizations.", names.block, ".luaScript")));
  }
  return customization;
}

}  // namespace baton::interpret
