// Stories for places in the code that random days hardly ever come to (sim/reach.h). Listed in stories.cc.
#pragma once

#include "sim/scene.h"

namespace baton::sim {

// The source falls silent while it stops, and a person who saw that nothing runs there attests it.
rt::Task<void> AttestedSource(Scene& scene);
// The same, and the state that the person names is the one that the source itself began from.
rt::Task<void> AttestedBeginning(Scene& scene);
// What follows when the job runs from that state: another move, in which the source falls silent, and that state is
// named.
rt::Task<void> AttestTheBeginning(Scene& scene, std::string beginning);
rt::Task<void> LostTarget(Scene& scene);
// A source that may be stopped without a capture is cancelled while its JobManager restarts, and leaves no state.
rt::Task<void> NoStateLeft(Scene& scene);
rt::Task<void> OnlyTheBeginningLeft(Scene& scene);
rt::Task<void> TargetEndedWhileItIsRestored(Scene& scene);
rt::Task<void> TargetCancelledWhileItIsRestored(Scene& scene);
bool IsToBeCancelled(const Value& spec);  // it may be stopped without a capture
// The newest state of the job in scene.from, as a person finds it in the storage; "": it has none yet.
std::string NewestStateIn(Scene& scene, const std::string& cluster);
// When the move asks what its source goes on from, a person names that state, and it must go on from there.
rt::Task<void> NameTheStateThatIsAskedFor(Scene& scene, std::string state);
// Somebody else writes the binding back as fast as we write it.
rt::Task<void> ContestedBinding(Scene& scene);

// A migration that somebody else keeps by a finalizer is deleted before any leader has seen it.
rt::Task<void> DeletedBeforeItBegan(Scene& scene);

// The source's operator says that it has stopped while its job runs, and the target's that it runs when it does not.
rt::Task<void> LyingOperators(Scene& scene);
// A lock of the binding comes when its move has ended.
rt::Task<void> LateLock(Scene& scene);
rt::Task<void> DeletedWhileItsWatchLags(Scene& scene);
// A cluster that the workload has left is restored from a backup.
rt::Task<void> MemberRestored(Scene& scene);
// The hub is restored from a backup of before a move that has only prepared its target.
rt::Task<void> HeldCopy(Scene& scene);
// What ran in scene.from comes back there, and must be put on hold.
rt::Task<void> RestoreMember(Scene& scene, json::Value before);
// What must hold when the hub was restored from a backup of before the move that is meant.
rt::Task<void> ExpectAfterHubRestored(Scene& scene);

}  // namespace baton::sim
