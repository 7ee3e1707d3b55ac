// Prints the CustomResourceDefinitions.
#include "cli/crds_command.h"

#include <cstdio>
#include <string>
#include <vector>

#include "api/federation_types.h"
#include "base/strings.h"
#include "cli/flags.h"
#include "json/yaml.h"

namespace baton::cli {

namespace {

constexpr const char* kName = "crds";

constexpr const char* kHelp =
    "Usage: baton crds [--group GROUP]\n"
    "\n"
    "Prints the CustomResourceDefinitions that a hub needs, as YAML with several documents:\n"
    "\n"
    "  baton crds | kubectl apply --server-side -f -\n"
    "\n"
    "  --group GROUP   only those of this API group. On a hub that Karmada runs, that is rollout.karmada.io:\n"
    "                  Karmada brings the others\n";

// All, or those of one group, which must then have some.
Result<std::vector<json::Value>> Chosen(const Flags& flags) {
  std::vector<json::Value> crds = api::FederationCrds();
  if (!flags.Has("--group")) return crds;
  const std::string group = flags.Get("--group");
  std::erase_if(crds, [&](const json::Value& crd) { return crd["spec"]["group"].str() != group; });
  if (crds.empty()) return InvalidError(StrCat("no kind of ours is in the group '", group, "'"));
  return crds;
}

}  // namespace

int CrdsCommand(std::span<const std::string_view> arguments) {
  if (AsksForHelp(arguments)) return std::fputs(kHelp, stdout) >= 0 ? 0 : kFailed;
  Flags flags({{"--group", "GROUP"}});
  if (Result<void> parsed = flags.Parse(arguments); !parsed.ok()) return UsageError(kName, parsed.error());
  const Result<std::vector<json::Value>> crds = Chosen(flags);
  if (!crds.ok()) return UsageError(kName, crds.error());
  const std::string text = json::PrintYamlStream(*crds);
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    return Failure(kName, UnavailableError("standard output cannot be written"));
  }
  return 0;
}

}  // namespace baton::cli
