// PropertyMap: the named fields of an object's schema, by name. Every walk through an object asks it for every field,
// so it is made for that: digests of all names stand side by side, and of the names that differ few are looked at.
//
// Used as a std::map: in the order of names, and what is in it stays where it is while others are added.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/invariant.h"

namespace baton::api {

struct Schema;
using SchemaPtr = std::shared_ptr<const Schema>;

class PropertyMap {
 public:
  using value_type = std::pair<const std::string, SchemaPtr>;

  template <class Value>
  class Iterator {
   public:
    using value_type = PropertyMap::value_type;
    using difference_type = std::ptrdiff_t;
    Iterator() = default;
    explicit Iterator(const std::unique_ptr<value_type>* at) : at_(at) {}
    Value& operator*() const { return **at_; }
    Value* operator->() const { return at_->get(); }
    Iterator& operator++() { return ++at_, *this; }
    Iterator operator++(int) { return Iterator(at_++); }
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    const std::unique_ptr<value_type>* at_ = nullptr;
  };
  using iterator = Iterator<value_type>;
  using const_iterator = Iterator<const value_type>;

  PropertyMap() = default;
  PropertyMap(std::initializer_list<value_type> entries) {
    for (const value_type& entry : entries) emplace(entry.first, entry.second);
  }
  PropertyMap(const PropertyMap& other) : digests_(other.digests_) {
    entries_.reserve(other.entries_.size());
    for (const auto& entry : other.entries_) entries_.push_back(std::make_unique<value_type>(*entry));
  }
  PropertyMap(PropertyMap&&) = default;
  PropertyMap& operator=(PropertyMap other) noexcept {
    digests_.swap(other.digests_);
    entries_.swap(other.entries_);
    return *this;
  }
  ~PropertyMap() = default;

  void clear() { *this = PropertyMap(); }
  bool empty() const { return entries_.empty(); }
  size_t size() const { return entries_.size(); }
  const_iterator begin() const { return const_iterator(entries_.data()); }
  const_iterator end() const { return const_iterator(entries_.data() + entries_.size()); }

  const_iterator find(std::string_view name) const {
    if (entries_.size() > kScanMax) {
      const auto at = LowerBound(name);
      return at != entries_.end() && (*at)->first == name ? const_iterator(&*at) : end();
    }
    const uint16_t digest = DigestOf(name);
    for (size_t i = 0; i < digests_.size(); ++i) {
      if (digests_[i] == digest && entries_[i]->first == name) return const_iterator(entries_.data() + i);
    }
    return end();
  }
  const SchemaPtr& at(std::string_view name) const {
    const const_iterator found = find(name);
    INVARIANT(found != end(), "a schema is asked for a field that it does not name");
    return found->second;
  }
  bool contains(std::string_view name) const { return find(name) != end(); }

  std::pair<iterator, bool> emplace(std::string_view name, SchemaPtr schema) {
    const auto at = LowerBound(name);
    const auto index = at - entries_.begin();
    const bool added = at == entries_.end() || (*at)->first != name;
    if (added) {
      entries_.insert(at, std::make_unique<value_type>(std::string(name), std::move(schema)));
      digests_.insert(digests_.begin() + index, DigestOf(name));
    }
    return {iterator(entries_.data() + index), added};
  }
  std::pair<iterator, bool> try_emplace(std::string_view name) { return emplace(name, nullptr); }
  SchemaPtr& operator[](std::string_view name) { return emplace(name, nullptr).first->second; }

 private:
  static constexpr size_t kScanMax = 64;  // of more names half are ruled out at a time

  std::vector<std::unique_ptr<value_type>>::const_iterator LowerBound(std::string_view name) const {
    return std::ranges::lower_bound(entries_, name, {},
                                    [](const auto& entry) -> std::string_view { return entry->first; });
  }
  static uint16_t DigestOf(std::string_view name) {
    if (name.empty()) return 0;
    const auto at = [&](size_t index) { return size_t{static_cast<unsigned char>(name[index])}; };
    return static_cast<uint16_t>(name.size() * 37 + at(0) * 5 + at(name.size() / 2) * 131 + at(name.size() - 1) * 1031);
  }

  std::vector<uint16_t> digests_;                     // of entries_, one each
  std::vector<std::unique_ptr<value_type>> entries_;  // by name
};

}  // namespace baton::api
