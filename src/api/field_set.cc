// FieldSet: set algebra over levels of sorted elements, and the fieldsV1 form.
#include "api/field_set.h"

#include "api/field_set_node.h"
#include "api/fields_memo.h"
#include "base/invariant.h"
#include "base/strings.h"
#include "json/builder.h"

namespace baton::api {
namespace {

using Node = FieldSet::Node;
using NodePtr = FieldSet::NodePtr;

NodePtr Finished(Node node) {
  if (node.members.empty() && node.children.empty()) return nullptr;
  return std::make_shared<Node>(std::move(node));
}

// Walks two sorted lists of children together: left(x), right(y), both(x, y), each in order.
template <class Left, class Right, class Both>
void Zip(const std::vector<Node::Child>& a, const std::vector<Node::Child>& b, Left left, Right right, Both both) {
  size_t i = 0;
  size_t j = 0;
  while (i < a.size() || j < b.size()) {
    const auto order = i == a.size()   ? std::strong_ordering::greater
                       : j == b.size() ? std::strong_ordering::less
                                       : a[i].element <=> b[j].element;
    if (order < 0) {
      left(a[i++]);
    } else if (order > 0) {
      right(b[j++]);
    } else {
      both(a[i++], b[j++]);
    }
  }
}

void IgnoreChild(const Node::Child& /*child*/) {}

// What is below the elements that `a` and `b` share, put together by `combine`; what only `a` has stays when `keep`.
template <class Combine, class Keep>
std::vector<Node::Child> CombineChildren(const Node& a, const Node& b, Combine combine, Keep keep) {
  std::vector<Node::Child> out;
  Zip(
      a.children, b.children,
      [&](const Node::Child& child) {
        if (keep(child)) out.push_back(child);
      },
      IgnoreChild,
      [&](const Node::Child& x, const Node::Child& y) {
        if (NodePtr below = combine(x, y); below != nullptr) out.push_back({x.element, std::move(below)});
      });
  return out;
}

// The node behind `pointer`, which nobody else may see: copied when it is shared.
Node& Own(NodePtr& pointer) {
  if (pointer == nullptr) {
    pointer = std::make_shared<Node>();
  } else if (pointer.use_count() != 1) {
    pointer = std::make_shared<Node>(*pointer);
  }
  return const_cast<Node&>(*pointer);  // NOLINT(cppcoreguidelines-pro-type-const-cast): made here, owned alone
}

struct Read {
  bool member = false;
  NodePtr below;
};

// One level of fieldsV1. `budget` counts down over the whole set.
Result<Read> ReadLevel(const json::Value& level, size_t depth, size_t& budget) {
  if (level.is_null()) return Read{.member = true, .below = nullptr};
  if (!level.is_object()) return InvalidError(StrCat("fieldsV1 is made of objects, not of ", level.ToString()));
  if (depth > kPathElementsMax) return TooLargeError(StrCat("fieldsV1 nested deeper than ", kPathElementsMax));
  if (level.size() > budget) return TooLargeError(StrCat("fieldsV1 of more than ", kFieldSetMembersMax, " fields"));
  budget -= level.size();
  Read read;
  NodeBuilder builder;
  for (const json::Member& member : level.members()) {
    if (member.key() == ".") {
      read.member = true;
      continue;
    }
    Result<PathElement> element = PathElement::FromFieldsV1(member.key());
    if (!element.ok()) {
      if (element.error().kind() == ErrorKind::kUnsupported) continue;
      return std::move(element).error();
    }
    Read child = TRY(ReadLevel(member.value(), depth + 1, budget));
    if (child.member) builder.AddMember(*element);
    builder.AddChild(*std::move(element), std::move(child.below));
  }
  read.below = std::move(builder).Build();
  if (read.below == nullptr) read.member = true;  // a leaf
  return read;
}

json::Value WriteLevel(const NodePtr& node, bool member) {
  json::ObjectBuilder out;
  if (node == nullptr) return std::move(out).Build();
  if (member) out.Add(".", json::Object());
  size_t i = 0;
  for (const PathElement& element : node->members) {
    for (; i < node->children.size() && node->children[i].element < element; ++i) {
      out.Add(node->children[i].element.ToFieldsV1(), WriteLevel(node->children[i].below, false));
    }
    const bool inner = i < node->children.size() && node->children[i].element == element;
    out.Add(element.ToFieldsV1(), inner ? WriteLevel(node->children[i].below, true) : json::Object());
    if (inner) ++i;
  }
  for (; i < node->children.size(); ++i) {
    out.Add(node->children[i].element.ToFieldsV1(), WriteLevel(node->children[i].below, false));
  }
  return std::move(out).Build();
}

void CollectPaths(const NodePtr& node, FieldPath& prefix, std::vector<FieldPath>& out) {
  if (node == nullptr) return;
  for (const PathElement& element : node->members) {
    out.push_back(prefix);
    out.back().push_back(element);
  }
  for (const Node::Child& child : node->children) {
    prefix.push_back(child.element);
    CollectPaths(child.below, prefix, out);
    prefix.pop_back();
  }
}

}  // namespace

bool FieldSet::Node::HasMember(const PathElement& element) const {
  return std::binary_search(members.begin(), members.end(), element);
}

NodePtr FieldSet::Node::Below(const PathElement& element) const {
  const auto at = std::lower_bound(children.begin(), children.end(), element,
                                   [](const Child& child, const PathElement& e) { return child.element < e; });
  return at != children.end() && at->element == element ? at->below : nullptr;
}

FieldNodePtr NodeBuilder::Build() && {
  Node node;
  node.members = std::move(members_);
  if (!std::is_sorted(node.members.begin(), node.members.end())) std::sort(node.members.begin(), node.members.end());
  node.members.erase(std::unique(node.members.begin(), node.members.end()), node.members.end());
  const auto by_element = [](const Node::Child& a, const Node::Child& b) { return a.element < b.element; };
  if (!std::is_sorted(children_.begin(), children_.end(), by_element)) {
    std::sort(children_.begin(), children_.end(), by_element);
  }
  for (Node::Child& child : children_) {
    if (!node.children.empty() && node.children.back().element == child.element) {
      node.children.back().below = NodeUnion(node.children.back().below, child.below);
    } else {
      node.children.push_back(std::move(child));
    }
  }
  return Finished(std::move(node));
}

// The algebra gives back the very node that it was given where nothing changes: then nothing is copied, and whoever
// knows that node knows the result.

namespace {

struct United {
  NodePtr node;
  bool is_a;  // the same set as that
  bool is_b;
};

United Unite(const NodePtr& a, const NodePtr& b) {
  if (a == b) return {b, true, true};
  if (a == nullptr) return {b, false, true};
  if (b == nullptr) return {a, true, false};
  Node out;
  bool is_a = a->members.size() >= b->members.size() && std::ranges::includes(a->members, b->members);
  bool is_b = b->members.size() >= a->members.size() && std::ranges::includes(b->members, a->members);
  Zip(
      a->children, b->children,
      [&](const Node::Child& child) {
        is_b = false;
        out.children.push_back(child);
      },
      [&](const Node::Child& child) {
        is_a = false;
        out.children.push_back(child);
      },
      [&](const Node::Child& x, const Node::Child& y) {
        United below = Unite(x.below, y.below);
        is_a = is_a && below.is_a;
        is_b = is_b && below.is_b;
        out.children.push_back({x.element, std::move(below.node)});
      });
  if (is_b) return {b, is_a, true};
  if (is_a) return {a, true, false};
  std::ranges::set_union(a->members, b->members, std::back_inserter(out.members));
  return {Finished(std::move(out)), false, false};
}

}  // namespace

NodePtr NodeUnion(const NodePtr& a, const NodePtr& b) { return Unite(a, b).node; }

NodePtr NodeIntersection(const NodePtr& a, const NodePtr& b) {
  if (a == nullptr || b == nullptr) return nullptr;
  if (a == b) return a;
  Node out;
  std::ranges::set_intersection(a->members, b->members, std::back_inserter(out.members));
  out.children = CombineChildren(
      *a, *b, [](const auto& x, const auto& y) { return NodeIntersection(x.below, y.below); },
      [](const Node::Child&) { return false; });
  return Finished(std::move(out));
}

namespace {

// `a` without `members`, and with these children; `a` itself when that is the same.
NodePtr Without(const NodePtr& a, const std::vector<PathElement>& members, std::vector<Node::Child> children) {
  Node out;
  std::ranges::set_difference(a->members, members, std::back_inserter(out.members));
  const bool same = out.members.size() == a->members.size() &&
                    std::ranges::equal(children, a->children, [](const Node::Child& x, const Node::Child& y) {
                      return x.below == y.below && x.element == y.element;
                    });
  if (same) return a;
  out.children = std::move(children);
  return Finished(std::move(out));
}

}  // namespace

NodePtr NodeDifference(const NodePtr& a, const NodePtr& b) {
  if (a == nullptr || b == nullptr) return a;
  if (a == b) return nullptr;
  return Without(a, b->members,
                 CombineChildren(
                     *a, *b, [](const auto& x, const auto& y) { return NodeDifference(x.below, y.below); },
                     [](const Node::Child&) { return true; }));
}

NodePtr NodeRecursiveDifference(const NodePtr& a, const NodePtr& b) {
  if (a == nullptr || b == nullptr) return a;
  if (a == b) return nullptr;
  return Without(a, b->members,
                 CombineChildren(
                     *a, *b,
                     [&](const auto& x, const auto& y) -> NodePtr {
                       return b->HasMember(x.element) ? nullptr : NodeRecursiveDifference(x.below, y.below);
                     },
                     [&](const Node::Child& child) { return !b->HasMember(child.element); }));
}

bool NodeEqual(const NodePtr& a, const NodePtr& b) {
  if (a == b) return true;
  if (a == nullptr || b == nullptr) return false;
  return a->members == b->members && std::equal(a->children.begin(), a->children.end(), b->children.begin(),
                                                b->children.end(), [](const Node::Child& x, const Node::Child& y) {
                                                  return x.element == y.element && NodeEqual(x.below, y.below);
                                                });
}

Result<FieldSet> FieldSet::FromFieldsV1(const json::Value& fields) {
  FieldsMemo& memo = FieldsMemo::OfThisThread();
  if (const FieldSet* known = memo.Read(fields)) return *known;
  size_t budget = kFieldSetMembersMax;
  FieldSet set(TRY(ReadLevel(fields, 1, budget)).below);
  memo.KeepRead(fields, set.root());
  return set;
}

json::Value FieldSet::ToFieldsV1() const {
  FieldsMemo& memo = FieldsMemo::OfThisThread();
  if (const json::Value* known = memo.Written(root_)) return *known;
  json::Value fields = WriteLevel(root_, false);
  memo.KeepWritten(root_, fields);
  return fields;
}

void FieldSet::Insert(const FieldPath& path) {
  INVARIANT(path.size() <= kPathElementsMax, "a field path longer than a document is deep");
  if (path.empty() || Has(path)) return;
  NodePtr* at = &root_;
  for (size_t i = 0; i + 1 < path.size(); ++i) {
    Node& node = Own(*at);
    auto child = std::lower_bound(node.children.begin(), node.children.end(), path[i],
                                  [](const Node::Child& c, const PathElement& e) { return c.element < e; });
    if (child == node.children.end() || child->element != path[i]) {
      child = node.children.insert(child, Node::Child{path[i], nullptr});
    }
    at = &child->below;
  }
  Node& node = Own(*at);
  node.members.insert(std::lower_bound(node.members.begin(), node.members.end(), path.back()), path.back());
}

bool FieldSet::Has(const FieldPath& path) const {
  if (path.empty()) return false;
  NodePtr at = root_;
  for (size_t i = 0; i + 1 < path.size() && at != nullptr; ++i) at = at->Below(path[i]);
  return at != nullptr && at->HasMember(path.back());
}

FieldSet FieldSet::Union(const FieldSet& other) const { return FieldSet(NodeUnion(root_, other.root_)); }
FieldSet FieldSet::Intersection(const FieldSet& other) const { return FieldSet(NodeIntersection(root_, other.root_)); }
FieldSet FieldSet::Difference(const FieldSet& other) const { return FieldSet(NodeDifference(root_, other.root_)); }
FieldSet FieldSet::RecursiveDifference(const FieldSet& other) const {
  return FieldSet(NodeRecursiveDifference(root_, other.root_));
}

std::vector<FieldPath> FieldSet::Paths() const {
  std::vector<FieldPath> out;
  FieldPath prefix;
  CollectPaths(root_, prefix, out);
  return out;
}

bool operator==(const FieldSet& a, const FieldSet& b) { return NodeEqual(a.root_, b.root_); }

}  // namespace baton::api
