// Breadth first through all worlds, so that the first story found is a shortest one.
#include "rollout/testing/model.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <utility>

#include "base/strings.h"
#include "rollout/testing/model_step.h"

namespace baton::rollout::model {
namespace {

constexpr int kFairSteps = 2'000;  // far more than a whole move there and back takes

struct Key {
  uint64_t high = 0, low = 0;
  friend bool operator==(const Key&, const Key&) = default;
};

uint64_t Mix(uint64_t a, uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

Key KeyOf(const World& world) {
  constexpr size_t kWords = (sizeof(World) + 7) / 8;
  uint64_t words[kWords] = {};
  std::memcpy(words, &world, sizeof world);
  Key key{0x9e3779b97f4a7c15, 0xd1b54a32d192ed03};
  for (const uint64_t word : words) {
    key.high = Mix(key.high ^ word, 0xa0761d6478bd642f);
    key.low = Mix(key.low + word, 0xe7037ed1a0b428db) ^ (key.low >> 29);
  }
  return {key.high | 1, key.low};
}

// An open hash set of keys; {0, 0} is a free place, which no key is.
class KeySet {
 public:
  KeySet() : places_(1 << 16) {}
  bool Add(const Key& key) {
    if (size_ * 10 >= places_.size() * 7) Grow();
    Key& place = Find(key);
    if (place == key) return false;
    place = key;
    ++size_;
    return true;
  }
  bool Has(const Key& key) { return Find(key) == key; }

 private:
  Key& Find(const Key& key) {
    size_t at = key.low & (places_.size() - 1);
    while (places_[at] != Key{} && places_[at] != key) at = (at + 1) & (places_.size() - 1);
    return places_[at];
  }
  void Grow() {
    std::vector<Key> old(places_.size() * 2);
    old.swap(places_);
    for (const Key& key : old) {
      if (key != Key{}) Find(key) = key;
    }
  }
  std::vector<Key> places_;
  size_t size_ = 0;
};

class Explorer {
 public:
  explicit Explorer(const ModelOptions& options)
      : options_(options), core_(options.own_hub), steps_(core_, options.faults, options.only) {}

  ModelResult Run() {
    const World first = steps_.First();
    seen_.Add(KeyOf(first));
    queue_.push_back(first);
    ways_.push_back({0, Event::kCount, 0});
    for (size_t at = 0; !queue_.empty(); ++at) {
      const World world = queue_.front();
      queue_.pop_front();
      if (!Expand(world, at) || ways_.size() > options_.max_states) break;
    }
    result_.complete = queue_.empty() && result_.broken.empty();
    result_.states = ways_.size();
    return std::move(result_);
  }

 private:
  struct Way {
    uint32_t parent;
    Event event;
    uint16_t depth;
  };

  bool Expand(const World& world, size_t at) {
    for (int i = 0; i < static_cast<int>(Event::kCount); ++i) {
      const auto event = static_cast<Event>(i);
      World next = world;
      if (!steps_.Apply(next, event)) continue;
      ++result_.steps;
      if (steps_.broken() != nullptr) return Fail(at, event, steps_.broken(), nullptr);
      if (!seen_.Add(KeyOf(next))) continue;
      const auto depth = static_cast<uint16_t>(ways_[at].depth + 1);
      result_.depth = std::max<int>(result_.depth, depth);
      ways_.push_back({static_cast<uint32_t>(at), event, depth});
      World stuck = next;
      if (const char* why = GoOn(stuck); why != nullptr) return Fail(at, event, why, &stuck);
      queue_.push_back(next);
    }
    return true;
  }

  // P3: without faults from here on it comes to an end, or asks somebody. Where one way has led there, all of its
  // worlds do.
  const char* GoOn(World& world) {
    Steps::Settle(world);
    std::vector<Key> way;
    for (int i = 0; i < kFairSteps; ++i) {
      const Key key = KeyOf(world);
      if (good_.Has(key)) break;
      way.push_back(key);
      if (steps_.Fair(world)) {
        if (steps_.broken() != nullptr) return steps_.broken();
        continue;
      }
      if (IsEnd(world.phase)) {
        if (const char* why = Steps::CheckQuietEnd(world); why != nullptr) return why;
        break;
      }
      const Verdict& verdict = core_.Decide(world, world.second_leader ? 2 : 1);
      if (verdict.blocked || world.paused) break;
      if (!verdict.has_deadline) return "P3: it waits for ever, without a deadline";
      if (world.late) return "P3: its deadline has passed, and it goes on waiting and asks nobody";
      world.late = true;
      if (i + 1 == kFairSteps) return "P3: it never comes to an end";
    }
    if (way.size() >= kFairSteps) return "P3: it never comes to an end";
    for (const Key& key : way) good_.Add(key);
    return nullptr;
  }

  bool Fail(size_t at, Event last, const char* why, const World* stuck) {
    result_.broken = why;
    std::vector<Event> events = {last};
    for (; at != 0; at = ways_[at].parent) events.push_back(ways_[at].event);
    std::reverse(events.begin(), events.end());
    World world = steps_.First();
    for (const Event event : events) {
      std::string line(EventStory(event));
      if (event == Event::kLook1 || event == Event::kLook2) line += Decides(world, event == Event::kLook1 ? 0 : 1);
      steps_.Apply(world, event);
      line += Picture(world);
      result_.story.push_back(std::move(line));
    }
    if (stuck != nullptr) {
      TellWayOn(world);
      const Verdict& verdict = core_.Decide(*stuck, stuck->second_leader ? 2 : 1);
      result_.story.push_back(StrCat("then, without more faults, it comes to: ", PhaseName(verdict.phase), ", ",
                                     core_.message(verdict.text), Picture(*stuck)));
    }
    return false;
  }

  // What this leader decides, by what it reads now or has read before.
  std::string Decides(World world, int leader) {
    if (leader == 0 && world.half_read) {
      world.writer = world.read_writer;
      world.phase = world.read_phase;
    }
    const Verdict& verdict = core_.Decide(world, leader + 1);
    return StrCat(": ", PhaseName(verdict.phase), ", ", core_.message(verdict.text));
  }

  // The decisions on the way to where it is stuck, or breaks.
  void TellWayOn(World world) {
    Steps::Settle(world);
    for (int i = 0; i < kFairSteps && steps_.broken() == nullptr; ++i) {
      const World before = world;
      if (!steps_.Fair(world)) {
        if (world.late || IsEnd(world.phase)) break;
        world.late = true;
        continue;
      }
      const int leader = world.second_leader ? 1 : 0;
      const bool decided = before.pending[leader].what == Do::kNone && world.pending[leader].what != Do::kNone;
      if (decided) result_.story.push_back(StrCat("then", Decides(before, leader), Picture(world)));
    }
  }

  std::string Picture(const World& world) const {
    static constexpr std::string_view kForms[] = {"held", "stopping", "as-is", "running", "raw"};
    static constexpr std::string_view kJobs[] = {"-", "RUNS", "finished", "failed"};
    std::string out = StrCat("  [", PhaseName(world.phase), world.late ? " late" : "", " holder ",
                             core_.writer(world.writer).writer.holder.cluster, " seq ",
                             core_.writer(world.writer).writer.seq, " newest ", static_cast<int>(world.newest));
    for (int i = 0; i < 2; ++i) {
      const Cluster& cluster = world.cluster[i];
      out += StrCat(i == 0 ? " | A " : " | B ");
      if (cluster.exists) {
        out +=
            StrCat(kForms[static_cast<int>(cluster.spec.form)], "(", static_cast<int>(cluster.spec.seq), ") uid ",
                   static_cast<int>(cluster.uid), cluster.deleting ? " deleting" : "", cluster.acting ? " acting" : "");
      } else {
        out += "absent";
      }
      out += StrCat(" job ", kJobs[static_cast<int>(cluster.job)], " state ", static_cast<int>(cluster.state),
                    cluster.job_manager ? " jm" : "");
    }
    return out + "]";
  }

  ModelOptions options_;
  Core core_;
  Steps steps_;
  KeySet seen_, good_;
  std::deque<World> queue_;
  std::vector<Way> ways_;
  ModelResult result_;
};

}  // namespace

ModelResult Explore(const ModelOptions& options) { return Explorer(options).Run(); }

}  // namespace baton::rollout::model
