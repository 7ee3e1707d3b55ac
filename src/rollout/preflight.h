// Preflight: the checks before a move. No side effects, and every reason at once. The engine asks them when a move
// begins (a move with a problem is rejected), and `baton plan` when somebody wants to know what would come of one.
//
//   const Preflight found = CO_TRY(co_await CheckBefore(federation, profiles, question));
//   found.Problems()      // empty: found.proposal says who hands over to whom
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "federation/federation.h"
#include "interpret/profile.h"
#include "rollout/profiles.h"
#include "rollout/records.h"

namespace baton::rollout {

// One check and what came of it.
struct Check {
  enum class Side : uint8_t { kHub, kSource, kTarget };
  Side side = Side::kHub;
  std::string what;     // what must hold: "the policy's placement reaches member2"
  std::string problem;  // why it does not; "": it holds
};
std::string_view SideName(Check::Side side);  // "hub"

inline constexpr Duration kPolicyArrives = seconds(2);  // an edit of a policy, in its bindings

struct PreflightQuestion {
  const MigrationSpec& spec;
  const Writer& writer;
  const json::Value& workload;                               // the template; null: there is none
  const json::Value& binding;                                // null: there is none
  const std::shared_ptr<const interpret::Profile>& profile;  // null: it is not managed, or cannot be moved
  bool own_hub = true;
  int64_t fence = 1;
  // A cluster whose answer failed is asked again (an error is given) instead of being taken for one that is away.
  bool patient = false;
  // It was asked for just now: who edited the policy before that should not be refused because its binding lags.
  bool fresh = false;
};

struct Preflight {
  std::vector<Check> checks;      // in the order in which they were asked; later ones need what earlier ones found
  std::string source, target;     // as far as they are known
  std::optional<Claim> proposal;  // only without problems
  json::Value pinned;             // the specs as rendered: what the override of the move pins
  json::Value prior;              // what of the binding is restored at the end

  std::vector<std::string> Problems() const;
};

// An error: it could not be found out, and should be asked again.
rt::Task<Result<Preflight>> CheckBefore(federation::Federation& federation, const ProfileSet& profiles,
                                        PreflightQuestion question);

// Whether the target's API server would take the held object: it is asked with a dry run, so admission, schema and
// quota answer and nothing is made. "": it would; else why not. An error says nothing.
rt::Task<Result<std::string>> WouldTake(federation::Member& member, const json::Value& workload,
                                        const json::Value& target_spec, const interpret::Profile& profile,
                                        const Claim& claim, int64_t seq);

// What of a workload the profile looks at beside it, in one cluster: {remains: [...], kept: [...]}. `pinned`: the
// object whose spec says which those are. One kind after the other, as the profile lists them: owners first, so that
// what an owner had made before it was gone is still found.
enum class RelatedPart : uint8_t { kAll, kAllButLast, kLast };
rt::Task<Result<json::Value>> RelatedIn(federation::Member& member, const interpret::Profile& profile, std::string ns,
                                        std::string name, json::Value pinned, RelatedPart part = RelatedPart::kAll);

// Null when it is not there.
rt::Task<Result<json::Value>> GetOrNull(kube::Api& api, kube::Resource resource, kube::Name name);

}  // namespace baton::rollout
