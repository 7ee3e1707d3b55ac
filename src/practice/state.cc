// State in and out of its file.
#include "practice/state.h"

#include <charconv>

#include "base/hash.h"
#include "base/strings.h"
#include "practice/source.h"

namespace baton::practice {

namespace {

constexpr std::string_view kHead = "practice-state 1 ";
constexpr std::string_view kHash = "sha256 ";

template <class Number>
bool Read(std::string_view text, Number& number, int base = 10) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

bool ReadLine(std::string_view line, JobState& state) {
  const std::vector<std::string_view> words = Split(line, ' ');
  if (words[0] == "from" && words.size() == 3) {
    state.job_id = words[1];
    return Read(words[2], state.checkpoint_id);
  }
  if (words[0] == "offsets") {
    if (words.size() > kPartitionsMax + 1) return false;
    for (size_t i = 1; i < words.size(); ++i) {
      if (!Read(words[i], state.offsets.emplace_back())) return false;
    }
    state.states.resize(state.offsets.size() * state.keys);
    return true;
  }
  if (words[0] == "pending") {
    for (size_t i = 1; i < words.size(); ++i) state.pending.emplace_back(words[i]);
    return true;
  }
  uint32_t partition = 0;
  uint32_t key = 0;
  KeyState read;
  if (words.size() != 4 || !Read(words[0], partition) || !Read(words[1], key) || !Read(words[2], read.count) ||
      !Read(words[3], read.sum, 16) || partition >= state.offsets.size() || key >= state.keys) {
    return false;
  }
  state.states[(size_t{partition} * state.keys) + key] = read;
  return true;
}

}  // namespace

JobState JobState::Fresh(uint32_t partitions, uint32_t keys) {
  JobState state;
  state.keys = keys;
  state.offsets.assign(partitions, 0);
  state.states.resize(size_t{partitions} * keys);
  return state;
}

JobState JobState::AtOffsets(const std::vector<uint64_t>& offsets, uint32_t keys) {
  JobState state = Fresh(static_cast<uint32_t>(offsets.size()), keys);
  state.offsets = offsets;
  for (uint32_t partition = 0; partition < offsets.size(); ++partition) {
    for (uint64_t offset = 0; offset < offsets[partition]; ++offset) {
      const Record record = RecordAt(partition, offset, keys);
      KeyState& key = state.states[(size_t{partition} * keys) + record.key];
      ++key.count;
      key.sum += record.value;
    }
  }
  return state;
}

std::string JobState::Encode() const {
  std::string text = StrCat(kHead, keys, "\nfrom ", job_id, " ", checkpoint_id, "\noffsets");
  for (const uint64_t offset : offsets) StrAppend(text, " ", offset);
  text += "\npending";
  for (const std::string& transaction : pending) StrAppend(text, " ", transaction);
  text += '\n';
  std::array<char, 20> sum{};
  for (size_t i = 0; i < states.size(); ++i) {
    if (states[i].count == 0) continue;
    const char* end = std::to_chars(sum.data(), sum.data() + sum.size(), states[i].sum, 16).ptr;
    StrAppend(text, i / keys, " ", i % keys, " ", states[i].count, " ", std::string_view(sum.data(), end), "\n");
  }
  StrAppend(text, kHash, Sha256Hex(text), "\n");
  return text;
}

Result<JobState> JobState::Decode(std::string_view text) {
  const size_t at = text.rfind(kHash);
  if (!text.starts_with(kHead) || at == std::string_view::npos || at == 0 || text[at - 1] != '\n') {
    return CorruptError("this is no state of a practice job");
  }
  if (Trim(text.substr(at + kHash.size())) != Sha256Hex(text.substr(0, at))) {
    return CorruptError("the state is damaged: its hash does not fit");
  }
  JobState state;
  const std::vector<std::string_view> lines = Split(text.substr(0, at - 1), '\n');
  if (!Read(lines[0].substr(kHead.size()), state.keys) || state.keys == 0 || state.keys > kKeysMax) {
    return CorruptError("the state's first line is wrong");
  }
  for (size_t i = 1; i < lines.size(); ++i) {
    if (!ReadLine(lines[i], state)) return CorruptError(StrCat("the state's line ", i + 1, " is wrong"));
  }
  if (state.offsets.empty()) return CorruptError("the state has no offsets");
  return state;
}

}  // namespace baton::practice
