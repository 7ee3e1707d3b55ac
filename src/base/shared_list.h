// SharedList: a list that is copied by reference count and made anew only by who changes it, for what is made once and
// asked for by many.
//
//   SharedList<ResourceInfo> all;
//   all.push_back(info);                     // while it is made
//   const SharedList<ResourceInfo> mine = all;   // free
//   for (const ResourceInfo& one : mine) ...
//
// One loop: the lists that share may be on several threads only if none of them is changed.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

namespace baton {

template <class T>
class SharedList {
 public:
  SharedList() = default;
  SharedList(std::initializer_list<T> items) : items_(std::make_shared<std::vector<T>>(items)) {}

  const T* begin() const { return items_ == nullptr ? nullptr : items_->data(); }
  const T* end() const { return begin() + size(); }
  size_t size() const { return items_ == nullptr ? 0 : items_->size(); }
  bool empty() const { return size() == 0; }
  const T& operator[](size_t index) const { return (*items_)[index]; }

  void push_back(T item) { Own().push_back(std::move(item)); }
  // To be changed as a whole: sorted, say.
  std::vector<T>& Own() {
    if (items_ == nullptr) {
      items_ = std::make_shared<std::vector<T>>();
    } else if (items_.use_count() > 1) {
      items_ = std::make_shared<std::vector<T>>(*items_);
    }
    return *items_;
  }

 private:
  std::shared_ptr<std::vector<T>> items_;
};

}  // namespace baton
