// Where an answer is kept, and whether it is the one.
#include "interpret/profile_memo.h"

#include <functional>
#include <utility>

namespace baton::interpret {
namespace {

size_t SlotOf(const ProfileMemo::Key& key) {
  size_t hash = 0;
  const auto mix = [&](size_t more) { hash = (hash ^ more) * 0x9E3779B97F4A7C15U; };
  const auto text = [&](std::string_view more) { mix(std::hash<std::string_view>{}(more)); };
  const json::Value& metadata = key.object["metadata"];
  text(key.function);
  text(metadata["namespace"].str());
  text(metadata["name"].str());
  text(metadata["uid"].str());
  text(metadata["resourceVersion"].str());
  text(key.question.cluster);
  mix(static_cast<size_t>(key.question.seq));
  mix(static_cast<size_t>(key.question.stop_seq));
  mix(static_cast<size_t>(key.question.start_seq));
  // One object is judged with what is beside it, and as if there were nothing: each has a place of its own.
  mix(key.related.size());
  mix(key.related["remains"].size());
  mix(key.related["kept"].size());
  return (hash >> 32) % ProfileMemo::kSlots;
}

size_t BytesOf(const ProfileMemo::Key& key, const json::Value& answer) {
  const Question& question = key.question;
  return key.object.HeapBytes() + key.related.HeapBytes() + answer.HeapBytes() + question.ref.size() +
         question.state_dir.size() + question.prior_path.size() + question.start_ref.size();
}

}  // namespace

std::optional<json::Value> ProfileMemo::Find(const Key& key) {
  const size_t slot = SlotOf(key);
  const std::lock_guard lock(mutex_);
  const auto at = entries_.find(slot);
  if (at != entries_.end() && at->second.key == key) return at->second.answer;
  ++missed_;
  return std::nullopt;
}

void ProfileMemo::Keep(Key key, json::Value answer) {
  if (BytesOf(key, answer) > kEntryBytesMax) return;
  const size_t slot = SlotOf(key);
  const std::lock_guard lock(mutex_);
  entries_.insert_or_assign(slot, Entry{.key = std::move(key), .answer = std::move(answer)});
}

uint64_t ProfileMemo::missed() const {
  const std::lock_guard lock(mutex_);
  return missed_;
}

}  // namespace baton::interpret
