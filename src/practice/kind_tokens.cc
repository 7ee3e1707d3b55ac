// CloudNativePG's distributed topology: demotion and promotion tokens (facts/flink.md 4.5).
//
// A primary archives its log outside of its cluster. Demoting it (spec.replica.primary names another) ends its process
// at a checkpoint and puts a token into the status: base64 of JSON that names system, timeline and the log's last file.
// Promoting a replica with that token (spec.replica.promotionToken, in the same change) goes on from exactly there;
// without it is a failover, from whatever was archived last. A token of another system leaves it a replica.
#include <utility>

#include "base/base64.h"
#include "base/strings.h"
#include "json/parse.h"
#include "json/rfc3339.h"
#include "practice/kind_operator.h"

namespace baton::practice {

using json::Value;

namespace {

constexpr size_t kSystemDigits = 19;

std::string_view SelfOf(const Value& object) { return object["spec"]["replica"]["self"].str_or(kube::NameOf(object)); }

std::string LastPart(std::string_view url) { return std::string(url.substr(url.rfind('/') + 1)); }

}  // namespace

bool KindOperator::IsReplica(const Value& object) {
  const Value& replica = object["spec"]["replica"];
  if (!replica.is_object()) return false;
  if (replica.Has("primary")) return replica["primary"].str() != SelfOf(object);
  return replica["enabled"].bool_or(false);
}

// A replica has its primary's system; a database that is its own primary from the first makes one.
rt::Task<Result<void>> KindOperator::AdoptSystem(Look& look) {
  KindLife& life = *look.life;
  if (!life.kept.is_object()) life.kept = json::Object();
  if (!life.kept["systemID"].str().empty()) co_return Result<void>();
  const std::string path = commons_.storage().SharedPath(StrCat("wal/", look.workload.Key(), "/system"));
  std::string system;
  if (IsReplica(look.object)) {
    const Result<std::string> known = co_await commons_.storage().files().ReadAll(path);
    if (!known.ok()) co_return Result<void>();  // nothing to replicate yet
    system = *known;
  } else {
    for (size_t i = 0; i < kSystemDigits; ++i) system += static_cast<char>('1' + api_.loop().random().Below(9));
    // One that was to be promoted and never was a replica is another database, and the archive is not its own.
    const bool promoted = !look.object["spec"]["replica"]["promotionToken"].str().empty();
    if (!promoted) CO_TRY(co_await commons_.storage().Write(path, system));
  }
  life.kept.Set("systemID", system);
  life.kept.Set("timelineID", 1);
  co_return Result<void>();
}

// What it goes on from, as a primary. kInvalid: the token is none for it, and it stays a replica.
rt::Task<Result<std::string>> KindOperator::Promote(Look& look) {
  KindLife& life = *look.life;
  const std::string_view token = look.object["spec"]["replica"]["promotionToken"].str();
  const bool used = life.kept["lastPromotionToken"].str() == token;
  if (!token.empty() && !used) {
    const Result<std::string> text = Base64Decode(token);
    const Result<Value> said = text.ok() ? json::Parse(*text) : Result<Value>(text.error());
    if (!said.ok()) co_return InvalidError("Promotion token is not valid: it is no base64 of JSON");
    if ((*said)["databaseSystemIdentifier"].str() != life.kept["systemID"].str())
      co_return InvalidError("Promotion token is not valid: mismatching system identifiers");
    // It has replayed the log up to there, and goes on from that whenever it is started again.
    std::string state = StrCat(StateDir(look), "/", (*said)["latestCheckpointREDOWALFile"].str());
    CO_TRY(co_await commons_.storage().Write(Pointer(look), state));
    life.kept.Set("lastPromotionToken", token);
    life.kept.Set("timelineID", (*said)["latestCheckpointTimelineID"].int_or(0) + 1);
    life.kept.Erase("demotionToken");
    co_return state;
  }
  if (life.kept.Has("demotionToken")) life.kept.Set("timelineID", life.kept["timelineID"].int_or(0) + 1);
  life.kept.Erase("demotionToken");
  std::string own = CO_TRY(co_await RestoreFrom(look));
  if (!own.empty()) co_return own;
  const Result<std::string> archived = co_await commons_.storage().files().ReadAll(
      commons_.storage().SharedPath(StrCat("wal/", look.workload.Key(), "/last")));
  const bool of_this_system = archived.ok() && archived->find(life.kept["systemID"].str()) != std::string::npos;
  if (!of_this_system) co_return std::string();  // initdb
  life.kept.Set("timelineID", life.kept["timelineID"].int_or(0) + 1);
  co_return *archived;
}

void KindOperator::Demoted(Look& look, std::string_view url) const {
  KindLife& life = *look.life;
  const Value token = json::Object({{"databaseSystemIdentifier", life.kept["systemID"]},
                                    {"latestCheckpointTimelineID", life.kept["timelineID"]},
                                    {"latestCheckpointREDOLocation", StrCat("0/", LastPart(url))},
                                    {"latestCheckpointREDOWALFile", LastPart(url)},
                                    {"timeOfLatestCheckpoint", json::FormatTime(api_.loop().WallNow())},
                                    {"operatorVersion", "practice"}});
  life.kept.Set("demotionToken", Base64Encode(token.ToString()));
}

void KindOperator::ReportInstances(Look& look, Value& status) const {
  const KindLife& life = *look.life;
  for (const std::string_view field : {"systemID", "timelineID", "demotionToken", "lastPromotionToken"}) {
    if (life.kept.Has(field)) status.Set(field, life.kept[field]);
  }
  const bool writes = life.job != nullptr && life.job->phase() == JobPhase::kRunning;
  bool first = true;
  for (const Value& pod : PodsOf(look.key)) {
    const bool primary = std::exchange(first, false) && writes;
    status.Edit("instancesReportedState")
        .Set(kube::NameOf(pod), json::Object({{"isPrimary", primary}, {"timeLineID", life.kept["timelineID"]}}));
    status.Edit("instanceNames").Push(kube::NameOf(pod));
  }
}

}  // namespace baton::practice
