// The bridge between the model's bytes and the real Next: builds a Writer, a Migration and an Observation from a World,
// asks Next, and gives the decision back as bytes. Equal questions are asked once.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "rollout/next.h"
#include "rollout/testing/model_world.h"

namespace baton::rollout::model {

// What the model needs to know of a Writer.
struct WriterFacts {
  Writer writer;
  int holder = kSource;
  bool claimed = false;
  bool verified = false;
  bool forward = false;  // claimed, and neither aborted nor withdrawn
  int64_t fence = 0;
  bool may_run[2] = {};        // as the RunGate answers
  int8_t run_seq = kNothing;   // and only this epoch, while there is a claim
  int8_t stop_cluster = -1;    // whom it stops
  int8_t stop_seq = kNothing;  //
  int8_t granted_state = kNothing;
  bool attested = false;
};

struct OverrideFacts {
  OverrideState state;
  Spec spec[2];
};

struct Verdict {
  Pending effect;
  bool blocked = false;
  bool has_deadline = false;
  bool waits = false;
  bool grant = false;  // the Writer that it writes has another holder
  Phase phase = Phase::kPending;
  uint32_t text = 0;  // index into messages
};

class Core {
 public:
  explicit Core(bool own_hub);

  bool own_hub() const { return own_hub_; }
  const WriterFacts& writer(Id id) const { return writers_[id]; }
  const OverrideFacts& override_facts(Id id) const { return overrides_[id]; }
  const std::string& message(uint32_t text) const { return messages_[text]; }
  Id FirstWriter() const { return 0; }

  // What the leader with this fence decides, looking now.
  const Verdict& Decide(const World& world, int64_t fence);

 private:
  // One look at one cluster, as bytes. The profile judges what its operator says; uid, deletion, spec and epoch are for
  // Next to check.
  struct Look {
    uint8_t answered, same_id, found, uid, deleting, held, runs, remains, stop_proven, stop_failed, start_proven,
        start_failed, progress;
    int8_t seq, capture;
  };
  struct Question {
    Id writer, override_id;
    uint8_t fence, phase, flags;
    int8_t attested;
    uint8_t attested_cluster, attested_abort;
    Binding binding;
    uint8_t pipe_knows;  // bits: that the template is gone, our override
    Look look[2];
  };

  Look LookAt(const World& world, int which) const;
  Question Ask(const World& world, int64_t fence) const;
  Verdict Answer(const Question& question);
  Sighting See(const Look& look, int which, const Writer& writer) const;
  Id InternWriter(Writer writer);
  Id InternOverride(const OverrideState& state);
  void PutEffect(const Decision& decision, const Question& question, Verdict& verdict);

  bool own_hub_;
  std::vector<WriterFacts> writers_;
  std::vector<OverrideFacts> overrides_;
  std::vector<std::string> messages_;
  std::map<std::string, uint32_t> message_ids_;
  std::unordered_map<std::string, Verdict> answers_;
};

}  // namespace baton::rollout::model
