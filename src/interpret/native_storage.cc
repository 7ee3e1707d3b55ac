// PersistentVolume, PersistentVolumeClaim, Secret, ServiceAccount.
#include <array>
#include <set>
#include <string>

#include "base/strings.h"
#include "interpret/fields.h"
#include "interpret/native.h"
#include "interpret/status.h"

namespace baton::interpret {

namespace {

using json::Value;

Result<Value> RetainClaim(Value desired, const Value& observed) {
  const std::string_view volume = TRY(StringAt(observed, {"spec", "volumeName"}));
  if (!volume.empty()) TRY(SetAt(desired, {"spec", "volumeName"}, volume));
  return desired;
}

Result<Value> RetainVolume(Value desired, const Value& observed) {
  const Value& claim = At(observed, {"spec", "claimRef"});
  if (!claim.is_null()) TRY(SetAt(desired, {"spec", "claimRef"}, claim));
  return desired;
}

// A token that the member's controller wrote is the member's.
Result<Value> RetainToken(Value desired, const Value& observed) {
  if (desired["type"].str() != "kubernetes.io/service-account-token") return desired;
  const Value& data = observed["data"];
  if (!data.is_object() && !data.is_null())
    return InvalidError(StrCat("data: expected an object, and it is ", json::KindName(data.kind())));
  if (data.is_object()) desired.Set("data", data);
  return desired;
}

// Both sides' secrets by name, the template's first; otherwise the member's controller would make new ones forever.
Result<Value> RetainAccountSecrets(Value desired, const Value& observed) {
  for (const std::string_view field : {"secrets", "imagePullSecrets"}) {
    Value merged = json::Array();
    std::set<std::string, std::less<>> names;
    for (const Value* side : {static_cast<const Value*>(&desired), &observed}) {
      const Value& list = (*side)[field];
      if (!list.is_array() && !list.is_null())
        return InvalidError(StrCat(field, ": expected a list, and it is ", json::KindName(list.kind())));
      for (const Value& secret : list.items()) {
        if (names.emplace(secret["name"].str()).second) merged.Push(secret);
      }
    }
    if (!merged.empty()) desired.Set(field, std::move(merged));
  }
  return desired;
}

Result<Value> AggregateVolume(Value object, const Items& items, WallTime /*now*/) {
  constexpr std::array<std::string_view, 5> kWorstFirst = {"Failed", "Pending", "Available", "Bound", "Released"};
  std::set<std::string, std::less<>> phases;
  for (const MemberStatus& member : TRY(MemberStatuses(items)))
    phases.emplace(member.status == nullptr ? "Pending" : (*member.status)["phase"].str());
  Value status = json::Object();
  for (const std::string_view phase : kWorstFirst) {
    if (!phases.contains(phase)) continue;
    status.Set("phase", phase);
    break;
  }
  object.Set("status", std::move(status));
  return object;
}

// Bound only if all are: a lost claim tells most, then any other phase.
Result<Value> AggregateClaim(Value object, const Items& items, WallTime /*now*/) {
  std::string phase = "Bound";
  for (const MemberStatus& member : TRY(MemberStatuses(items))) {
    if (member.status == nullptr) continue;
    const std::string_view own = TRY(StringAt(*member.status, {"phase"}));
    if (own != "Bound") phase = own;
    if (own == "Lost") break;
  }
  Value status = json::Object();
  if (!phase.empty()) status.Set("phase", phase);
  object.Set("status", std::move(status));
  return object;
}

Result<bool> IsBound(const Value& object) { return TRY(StringAt(object, {"status", "phase"})) == "Bound"; }

}  // namespace

void AddNativeStorage(HandlerTable& table) {
  Handlers claim;
  claim.retain = RetainClaim;
  claim.reflect = ReflectWhole;
  claim.aggregate = AggregateClaim;
  claim.health = IsBound;
  table[{"v1", "PersistentVolumeClaim"}] = std::move(claim);

  Handlers volume;
  volume.retain = RetainVolume;
  volume.reflect = ReflectWhole;
  volume.aggregate = AggregateVolume;
  table[{"v1", "PersistentVolume"}] = std::move(volume);

  table[{"v1", "Secret"}].retain = RetainToken;
  table[{"v1", "ServiceAccount"}].retain = RetainAccountSecrets;
}

}  // namespace baton::interpret
