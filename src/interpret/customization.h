// Customization: a ResourceInterpreterCustomization that was checked and whose scripts compile.
//
//   Customization own = TRY(Customization::FromObject(ric));
//   own.target, own.scripts[Operation::kHealth]
//
// A script that does not parse is refused with its place:
//   spec.customizations.healthInterpretation.luaScript: line 3: '=' expected near 'x'
#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "interpret/handlers.h"
#include "interpret/lua_vm.h"
#include "json/value.h"

namespace baton::interpret {

struct Customization {
  std::string name;
  KindName target;
  std::map<Operation, std::shared_ptr<const LuaScript>> scripts;

  // Errors (all of kind kInvalid or kTooLarge): another kind, no target, a script that does not parse. Blocks that
  // Karmada does not know are ignored, as an API server prunes them; an empty script is none.
  static Result<Customization> FromObject(const json::Value& object, const LuaLimits& limits = {});
};

}  // namespace baton::interpret
