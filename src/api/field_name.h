// FieldName: the place of a value during a walk, as a chain on the stack. It becomes text only when there is something
// to say about the place.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/strings.h"

namespace baton::api {

class FieldName {
 public:
  enum class Step : unsigned char {
    kTop,
    kField,     // ".name"; at the top without the dot
    kDotKey,    // ".key", also at the top: how kube-openapi writes the keys of a map
    kBraceKey,  // "[key]": how the field package writes them
    kIndex,     // "[0]"
  };

  FieldName() = default;
  // `parent` and `name` must outlive this.
  FieldName(const FieldName& parent, Step step, std::string_view name) : parent_(&parent), step_(step), name_(name) {}
  FieldName(const FieldName& parent, size_t index) : parent_(&parent), step_(Step::kIndex), index_(index) {}

  std::string Text() const {
    std::vector<const FieldName*> steps;
    for (const FieldName* at = this; at->step_ != Step::kTop; at = at->parent_) steps.push_back(at);
    std::string text;
    for (; !steps.empty(); steps.pop_back()) steps.back()->AppendTo(text);
    return text;
  }

 private:
  void AppendTo(std::string& text) const {
    switch (step_) {
      case Step::kTop:
        break;
      case Step::kField:
        StrAppend(text, text.empty() ? "" : ".", name_);
        break;
      case Step::kDotKey:
        StrAppend(text, ".", name_);
        break;
      case Step::kBraceKey:
        StrAppend(text, "[", name_, "]");
        break;
      case Step::kIndex:
        StrAppend(text, "[", index_, "]");
        break;
    }
  }

  const FieldName* parent_ = nullptr;
  Step step_ = Step::kTop;
  std::string_view name_;
  size_t index_ = 0;
};

}  // namespace baton::api
