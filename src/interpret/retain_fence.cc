// The customization's script, from what a profile says.
#include "interpret/retain_fence.h"

#include <vector>

#include "base/invariant.h"
#include "base/strings.h"
#include "json/pointer.h"

namespace baton::interpret {
namespace {

using json::Value;

// The functions are Karmada's own names and the language that both interpreters have.
constexpr std::string_view kScript = R"(local function at(object, path)
  for _, key in ipairs(path) do
    if type(object) ~= "table" then return nil end
    object = object[key]
  end
  return object
end

local function epoch(object)
  return tonumber(at(object, {$EPOCH}) or "") or -1
end

local function held(object)
  return $HELD
end

function Retain(desiredObj, observedObj)
  local wanted = epoch(desiredObj)
  local there = epoch(observedObj)
  if there <= wanted then return desiredObj end
  if wanted < 0 and not held(observedObj) then return desiredObj end
  desiredObj.spec = observedObj.spec
$ANNOTATION  return desiredObj
end
)";

// Lua's strings take the escapes that JSON's do, but for \u and \/, which it does not need.
std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

std::string PathOf(const std::string& pointer) {
  std::string path;
  const Result<json::Pointer> parsed = json::Pointer::Parse(pointer);
  INVARIANT(parsed.ok(), "profiles are compiled only with pointers that can be read");
  for (const std::string& token : parsed->tokens()) StrAppend(path, path.empty() ? "" : ", ", Quoted(token));
  return path;
}

void Fill(std::string& text, std::string_view what, std::string_view with) {
  const size_t at = text.find(what);
  if (at != std::string::npos) text.replace(at, what.size(), with);
}

// The groups of its workloads have no dot: apps, batch.
bool IsOfKubernetes(std::string_view api_version) {
  return api_version.substr(0, api_version.find('/')).find('.') == std::string_view::npos;
}

}  // namespace

std::string RetainFenceName(const Profile& profile) { return StrCat("baton-fence-", profile.name()); }

std::optional<Value> RetainFence(const Profile& profile) {
  const std::vector<Profile::Setting> held_by = profile.HeldBy();
  if (held_by.empty() || IsOfKubernetes(profile.kind().api_version)) return std::nullopt;
  std::string held;
  for (const Profile::Setting& setting : held_by) {
    const std::string value = setting.value.is_string() ? Quoted(setting.value.str()) : setting.value.ToString();
    StrAppend(held, held.empty() ? "" : " and ", "at(object, {", PathOf(setting.path), "}) == ", value);
  }
  std::string script(kScript);
  Fill(script, "$EPOCH", PathOf(profile.epoch_pointer()));
  Fill(script, "$HELD", held);
  constexpr std::string_view kAnnotations = "/metadata/annotations/";
  const bool annotated = profile.epoch_pointer().starts_with(kAnnotations);
  Fill(script, "$ANNOTATION",
       annotated ? StrCat("  desiredObj.metadata.annotations = desiredObj.metadata.annotations or {}\n",
                          "  desiredObj.metadata.annotations[",
                          PathOf(profile.epoch_pointer().substr(kAnnotations.size() - 1)), "] = tostring(there)\n")
                 : std::string());
  Value fence = json::Object({{"apiVersion", "config.karmada.io/v1alpha1"},
                              {"kind", "ResourceInterpreterCustomization"},
                              {"metadata", json::Object({{"name", RetainFenceName(profile)}})}});
  fence.Edit("spec").Set("target",
                         json::Object({{"apiVersion", profile.kind().api_version}, {"kind", profile.kind().kind}}));
  fence.Edit("spec").Edit("customizations").Edit("retention").Set("luaScript", script);
  return fence;
}

}  // namespace baton::interpret
