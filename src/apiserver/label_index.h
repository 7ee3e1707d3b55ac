// LabelIndex: which objects have a label with a value, so that a list by label need not read through its whole
// collection. Somebody who lists the pods of one workload, again and again, among those of thousands, pays for his own.
//
//   const auto keys = index.Find("/core/pods/", "/core/pods/shop/", selector, decode);
//   if (keys) ...   // every object below the second prefix that the selector selects is among them, at the store's
//                   // present revision; others may be, too: ask the selector
//
// It is no cache of answers: before each answer it takes in every change that the store has made visible. A label is
// indexed when it was asked for kUsesBeforeIndexed times; only the kLabelsMax labels that were asked for last are kept.
// Nothing is done when somebody writes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "json/selector.h"
#include "json/value.h"
#include "store/store.h"

namespace baton::apiserver {

class LabelIndex {
 public:
  static constexpr size_t kUsesBeforeIndexed = 4;
  static constexpr size_t kLabelsMax = 16;

  using Decode = std::function<json::Value(const store::Bytes&)>;

  LabelIndex(store::Store& store, Decode decode) : store_(store), decode_(std::move(decode)) {}

  // Keys below `prefix`, sorted; nothing: no label of the selector is indexed. `collection` is the prefix of all
  // objects of that kind, `prefix` the same or below it.
  std::optional<std::vector<std::string>> Find(const std::string& collection, std::string_view prefix,
                                               const json::LabelSelector& selector);

 private:
  struct Label {
    size_t uses = 0;
    uint64_t last_used = 0;
    std::optional<store::Revision> at;                                    // what it knows; nothing: not built
    std::map<std::string, std::string, std::less<>> values;               // by key, of those that have the label
    std::map<std::string, std::set<std::string_view>, std::less<>> keys;  // by value; the texts are those above
  };
  using Name = std::pair<std::string, std::string>;  // collection, label

  Label* Wanted(const std::string& collection, const std::string& label);
  bool CatchUp(const Name& name, Label& label);
  bool Build(const Name& name, Label& label);
  void Take(const Name& name, Label& label, const std::string& key, const store::Bytes& object);

  store::Store& store_;
  Decode decode_;
  uint64_t clock_ = 0;
  std::map<Name, Label> labels_;
};

}  // namespace baton::apiserver
