// Objects by label, as new as the store.
#include "apiserver/label_index.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace baton::apiserver {

std::optional<std::vector<std::string>> LabelIndex::Find(const std::string& collection, std::string_view prefix,
                                                         const json::LabelSelector& selector) {
  static const std::set<std::string_view> kNone;
  const std::set<std::string_view>* fewest = nullptr;
  size_t asked = 0;
  for (const json::LabelRequirement& requirement : selector.requirements()) {
    const std::optional<std::string_view> value = selector.ExactMatch(requirement.key());
    if (!value) continue;
    // Those that were asked for just now are not forgotten for the next.
    if (++asked > kLabelsMax / 2) break;
    const Label* label = Wanted(collection, requirement.key());
    if (label == nullptr) continue;
    const auto at = label->keys.find(*value);
    const std::set<std::string_view>& found = at == label->keys.end() ? kNone : at->second;
    if (fewest == nullptr || found.size() < fewest->size()) fewest = &found;
    if (fewest->empty()) break;
  }
  if (fewest == nullptr) return std::nullopt;
  std::vector<std::string> keys;
  for (auto at = fewest->lower_bound(prefix); at != fewest->end() && at->starts_with(prefix); ++at) {
    keys.emplace_back(*at);
  }
  return keys;
}

// The label when it is indexed, and then as it is now.
LabelIndex::Label* LabelIndex::Wanted(const std::string& collection, const std::string& label) {
  Name name{collection, label};
  const auto known = labels_.find(name);
  if (known == labels_.end() && labels_.size() >= kLabelsMax) {
    labels_.erase(std::ranges::min_element(labels_, {}, [](const auto& one) { return one.second.last_used; }));
  }
  Label& one = known == labels_.end() ? labels_[name] : known->second;
  one.last_used = ++clock_;
  if (++one.uses <= kUsesBeforeIndexed) return nullptr;
  if (one.at ? CatchUp(name, one) : Build(name, one)) return &one;
  one = {.uses = 0, .last_used = clock_};
  return nullptr;
}

bool LabelIndex::Build(const Name& name, Label& label) {
  const Result<store::ListResult> all = store_.List(name.first);
  if (!all.ok()) return false;
  for (const store::Entry& entry : all->entries) Take(name, label, entry.key, entry.value);
  label.at = all->revision;
  return true;
}

// What has changed since; from the beginning when that is no longer known.
bool LabelIndex::CatchUp(const Name& name, Label& label) {
  if (*label.at == store_.revision()) return true;
  const Result<std::unique_ptr<store::Watch>> since = store_.OpenWatch(name.first, *label.at);
  if (!since.ok()) {
    label.keys.clear();
    label.values.clear();
    return Build(name, label);
  }
  while (true) {
    const auto events = (*since)->Poll();
    if (!events.ok()) return false;
    if (events->empty()) break;
    for (const auto& event : *events) Take(name, label, event->key, event->value);
  }
  label.at = store_.revision();
  return true;
}

void LabelIndex::Take(const Name& name, Label& label, const std::string& key, const store::Bytes& object) {
  const auto before = label.values.find(key);
  if (before != label.values.end()) {
    const auto at = label.keys.find(before->second);
    at->second.erase(key);
    if (at->second.empty()) label.keys.erase(at);
    label.values.erase(before);
  }
  if (object == nullptr) return;
  const json::Value now = decode_(object);
  const json::Value& value = now["metadata"]["labels"][name.second];
  if (!value.is_string()) return;
  const auto taken = label.values.emplace(key, value.str()).first;
  label.keys[taken->second].insert(taken->first);
}

}  // namespace baton::apiserver
