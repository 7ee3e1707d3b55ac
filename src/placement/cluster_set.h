// ClusterSet: a set of clusters of one Fleet, as bits by the cluster's number in it. Filtering 1,000 clusters is
// sixteen machine words per condition, which is why a placement is matched against a fleet once (prepared.h) and not
// per binding.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace baton::placement {

class ClusterSet {
 public:
  ClusterSet() = default;  // of a fleet without clusters
  explicit ClusterSet(size_t clusters, bool full = false) : size_(clusters), words_((clusters + 63) / 64) {
    if (full) Fill();
  }

  size_t universe() const { return size_; }  // clusters in the fleet
  bool Has(size_t cluster) const { return (words_[cluster / 64] >> (cluster % 64) & 1) != 0; }
  void Add(size_t cluster) { words_[cluster / 64] |= uint64_t{1} << (cluster % 64); }
  void Remove(size_t cluster) { words_[cluster / 64] &= ~(uint64_t{1} << (cluster % 64)); }

  // Both sides are of the same fleet.
  ClusterSet& operator&=(const ClusterSet& other) {
    for (size_t i = 0; i < words_.size(); ++i) words_[i] &= other.words_[i];
    return *this;
  }
  ClusterSet& operator|=(const ClusterSet& other) {
    for (size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
    return *this;
  }
  ClusterSet& Subtract(const ClusterSet& other) {
    for (size_t i = 0; i < words_.size(); ++i) words_[i] &= ~other.words_[i];
    return *this;
  }

  size_t Count() const {
    size_t count = 0;
    for (const uint64_t word : words_) count += static_cast<size_t>(std::popcount(word));
    return count;
  }
  bool Empty() const {
    for (const uint64_t word : words_) {
      if (word != 0) return false;
    }
    return true;
  }

  // Calls use(cluster) for each member, in the order of the fleet, which is by name.
  template <class Use>
  void ForEach(const Use& use) const {
    for (size_t i = 0; i < words_.size(); ++i) {
      for (uint64_t word = words_[i]; word != 0; word &= word - 1) {
        use(i * 64 + static_cast<size_t>(std::countr_zero(word)));
      }
    }
  }

  friend bool operator==(const ClusterSet&, const ClusterSet&) = default;

 private:
  void Fill() {
    for (uint64_t& word : words_) word = ~uint64_t{0};
    if (size_ % 64 != 0) words_.back() = (uint64_t{1} << (size_ % 64)) - 1;
  }

  size_t size_ = 0;
  std::vector<uint64_t> words_;
};

}  // namespace baton::placement
