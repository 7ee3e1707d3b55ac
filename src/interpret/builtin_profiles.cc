// The profiles that come with Baton: the files of src/interpret/profiles, as a user would write them.
#include "base/invariant.h"
#include "base/strings.h"
#include "interpret/profile.h"
#include "interpret/profile_texts.h"
#include "json/yaml.h"

namespace baton::interpret {

std::vector<json::Value> BuiltinProfiles() {
  std::vector<json::Value> profiles;
  for (const EmbeddedText& file : ProfileTexts()) {
    Result<json::Value> object = json::ParseYaml(file.text);
    INVARIANT(object.ok(), StrCat("a built-in profile is YAML: ", file.name));
    profiles.push_back(*std::move(object));
  }
  return profiles;
}

}  // namespace baton::interpret
