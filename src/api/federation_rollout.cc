// Rules of the rollout's kinds.
#include <string>

#include "api/federation_kinds.h"

namespace baton::api::federation {

using builtin::CheckImmutable;

void CheckStatefulMigration(Errors& errors, const Value& object, const Admitted& admitted) {
  const Value& spec = object["spec"];
  if (!spec["source"].str().empty() && spec["source"].str() == spec["target"].str()) {
    errors.push_back(InvalidError("spec.target", spec["target"], "must not be the source"));
  }
  if (!admitted.creating()) CheckImmutable(errors, "spec.workload", spec["workload"], admitted.old["spec"]["workload"]);
}

// The number only grows: an instance that was fenced off must stay so.
void CheckWriter(Errors& errors, const Value& object, const Admitted& admitted) {
  if (admitted.creating()) return;
  const Value& before = admitted.old["spec"];
  const Value& seq = object["spec"]["seq"];
  // Deleted and made anew it is another one, and begins with a number of its own.
  Value was = before["workload"];
  const bool another = seq.int_or(0) > before["seq"].int_or(0) && was.is_object();
  if (another && object["spec"]["workload"].Has("uid")) was.Set("uid", object["spec"]["workload"]["uid"]);
  CheckImmutable(errors, "spec.workload", object["spec"]["workload"], was);
  if (seq.int_or(0) < before["seq"].int_or(0)) {
    errors.push_back(InvalidError("spec.seq", seq, "must not become smaller"));
  }
}

}  // namespace baton::api::federation
