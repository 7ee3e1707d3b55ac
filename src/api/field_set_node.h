// The nodes of FieldSets. Internal to api: walkers over objects make sets level by level with NodeBuilder.
//
// A Node is never empty and never changes once it is shared; a null NodePtr is the empty level.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "api/field_set.h"

namespace baton::api {

struct FieldSet::Node {
  struct Child {
    PathElement element;
    NodePtr below;  // never null
  };
  std::vector<PathElement> members;  // sorted, each once
  std::vector<Child> children;       // sorted, each once

  bool HasMember(const PathElement& element) const;
  NodePtr Below(const PathElement& element) const;  // null when there is nothing
};

using FieldNode = FieldSet::Node;
using FieldNodePtr = FieldSet::NodePtr;

// Collects one level in any order.
class NodeBuilder {
 public:
  void AddMember(PathElement element) { members_.push_back(std::move(element)); }
  // Null `below` is ignored; an element that comes twice has both.
  void AddChild(PathElement element, FieldNodePtr below) {
    if (below != nullptr) children_.push_back({std::move(element), std::move(below)});
  }
  FieldNodePtr Build() &&;

 private:
  std::vector<PathElement> members_;
  std::vector<FieldNode::Child> children_;
};

FieldNodePtr NodeUnion(const FieldNodePtr& a, const FieldNodePtr& b);
FieldNodePtr NodeIntersection(const FieldNodePtr& a, const FieldNodePtr& b);
FieldNodePtr NodeDifference(const FieldNodePtr& a, const FieldNodePtr& b);
FieldNodePtr NodeRecursiveDifference(const FieldNodePtr& a, const FieldNodePtr& b);
bool NodeEqual(const FieldNodePtr& a, const FieldNodePtr& b);

}  // namespace baton::api
