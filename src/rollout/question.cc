// Which epochs, and which state, the answer must be of.
#include "rollout/question.h"

#include "rollout/records.h"

namespace baton::rollout {

using json::Value;

interpret::Question QuestionFor(const Value& writer_object, const Writer& writer, const interpret::Profile& profile,
                                bool is_target) {
  const Claim& claim = *writer.claim;
  interpret::Question question;
  question.seq = writer.seq;
  const std::string& here = is_target ? claim.target.cluster : claim.source.cluster;
  question.cluster = here;
  question.peer = is_target ? claim.source.cluster : claim.target.cluster;
  if (writer.stop && writer.stop->cluster == here) {
    question.stop_seq = writer.stop->seq;
    question.prior_path = writer.stop->prior_path;
    question.last_checkpoint = writer.stop->any_way && !is_target;
    if (!is_target && writer.receipt && writer.receipt->to == here) question.began_from = writer.receipt->capture;
    Value object = json::Object({{"spec", PinnedOf(writer_object)[is_target ? "target" : "source"]}});
    const Result<std::string> dir = profile.StateDir(object, writer.stop->state_dir);
    if (dir.ok()) question.state_dir = *dir;
  }
  const bool started = is_target ? writer.holder.cluster == claim.target.cluster && claim.intent == Intent::kForward
                                 : claim.intent != Intent::kForward;
  if (started) {
    question.start_seq = writer.seq;
    if (is_target && writer.receipt) question.start_ref = writer.receipt->capture;
    // What it is to be started from: of an abort that is its own, or what a person named when that was lost.
    if (claim.intent != Intent::kAbort && writer.receipt) question.ref = writer.receipt->capture;
    if (claim.intent == Intent::kAbort && writer.stop) question.ref = writer.stop->capture;
    // A withdrawal starts the source only when the target is gone.
    if (claim.intent == Intent::kWithdraw && writer.holder.cluster != claim.source.cluster) question.start_seq = -1;
  }
  return question;
}

}  // namespace baton::rollout
