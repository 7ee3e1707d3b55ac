// The single plots (sim/plots.h has what they are, plots.cc the table), and what they share.
#pragma once

#include <string>

#include "sim/plots.h"

namespace baton::sim {

// ---- shared ----
Duration Between(const Course& course, int64_t from_ms, int64_t to_ms);
std::string PhaseOf(const Value& migration);
rt::Task<bool> UntilGranted(Scene& scene);
// The leader dies when the hub has stored what the rule is about, and has not heard of it; the next one comes after
// that time. Nothing happens when no such call comes within five minutes.
rt::Task<void> LeaderDiesAt(Course course, kube::ScriptedFaults::Rule rule, Duration away);
// Waits for such a call, which waits for a moment, too; false: none comes within five minutes.
rt::Task<bool> UntilCall(Course course, kube::ScriptedFaults& faults, kube::ScriptedFaults::Rule rule,
                         kube::Fault fault, Duration delay);
kube::ScriptedFaults::Rule TheGrant(const Scene& scene);
// All is calm, and the move has ended or asks a person.
rt::Task<Value> SettledInCalm(Course course, Weather& weather);
// It ended in that phase. When calls fail a cluster may seem not to be ready, and the move be refused for that.
void ExpectEnd(Scene& scene, const Value& end, std::string_view phase, std::string_view why);
rt::Task<void> PatchIn(Scene& scene, std::string cluster, std::string patch);

rt::Task<bool> UntilItRunsThere(Scene& scene);  // in its target, within a quarter of an hour
rt::Task<void> DeleteInTarget(Scene& scene);

// ---- before the move, and in the source (plots_source.cc) ----
rt::Task<void> StuckSource(Course course, Weather& weather);
rt::Task<void> Unmovable(Course course, Weather& weather);
rt::Task<void> PausedFromTheBeginning(Course course, Weather& weather);
rt::Task<void> FailedBefore(Course course, Weather& weather);
rt::Task<void> FailsWhileItStops(Course course, Weather& weather);
rt::Task<void> ManagerDiesUnheard(Course course, Weather& weather);
rt::Task<void> ResumedByHand(Course course, Weather& weather);
rt::Task<void> DeletedWhileItStops(Course course, Weather& weather);
rt::Task<void> LateWriteOfAnOldLeader(Course course, Weather& weather);
rt::Task<void> OlderTemplate(Course course, Weather& weather);
rt::Task<void> WrittenToItsSuccessor(Course course, Weather& weather);
rt::Task<void> GoneBeforeItWasListed(Course course, Weather& weather);
rt::Task<void> AttestedWithItsBeginning(Course course, Weather& weather);

// ---- in the target, and of leaders (plots_target.cc) ----
rt::Task<void> StuckTarget(Course course, Weather& weather);
rt::Task<void> KeptByAFinalizer(Course course, Weather& weather);
rt::Task<void> SwappedTarget(Course course, Weather& weather);
rt::Task<void> StartsLate(Course course, Weather& weather);
rt::Task<void> BreaksWhileItProves(Course course, Weather& weather);
rt::Task<void> BreaksAtTheEnd(Course course, Weather& weather);
rt::Task<void> AbortedAtTheEnd(Course course, Weather& weather);
rt::Task<void> MadeAnewAfterTheGrant(Course course, Weather& weather);
rt::Task<void> MissedBreak(Course course, Weather& weather);
rt::Task<void> HalfALook(Course course, Weather& weather);
rt::Task<void> RefusedWhileAnotherClaims(Course course, Weather& weather);
rt::Task<void> TakenTarget(Course course, Weather& weather);
rt::Task<void> EmptiedBesideAKarmada(Course course, Weather& weather);
rt::Task<void> EvictionUnderWay(Course course, Weather& weather);

// ---- what a target leaves (plots_left.cc) ----
rt::Task<void> ReplacedTarget(Course course, Weather& weather);
rt::Task<void> CancelledTarget(Course course, Weather& weather);

// ---- what is told, and by whom (plots_told.cc) ----
rt::Task<void> EndIsToldInARace(Course course, Weather& weather);
rt::Task<void> RefusedBeforeAnotherClaims(Course course, Weather& weather);

// ---- templates, policies, records (plots_records.cc) ----
rt::Task<void> Meddled(Course course, Weather& weather);
rt::Task<void> MeddledAtTheGrant(Course course, Weather& weather);
rt::Task<void> TemplateMadeAnew(Course course, Weather& weather);
rt::Task<void> TemplateDeletedUnheard(Course course, Weather& weather);
rt::Task<void> SuspendedPolicy(Course course, Weather& weather);
rt::Task<void> LateLockAfterTheEnd(Course course, Weather& weather);
rt::Task<void> LostRecord(Course course, Weather& weather);
rt::Task<void> LostRecords(Course course, Weather& weather);
rt::Task<void> RecordOutlivesItsWorkload(Course course, Weather& weather);
rt::Task<void> Herd(Course course, Weather& weather);

}  // namespace baton::sim
