// Diffs: one walk over both documents that writes operations, and takes them back where one `replace` is shorter.
#include "json/diff.h"

#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "json/builder.h"
#include "json/diff_align.h"
#include "json/measure.h"
#include "json/merge_patch.h"
#include "json/object_edits.h"
#include "json/parse.h"
#include "json/pointer.h"

namespace baton::json {
namespace {

enum class Arrays { kAligned, kAtomic };

class Differ {
 public:
  explicit Differ(Arrays arrays) : arrays_(arrays) {}

  // Writes the operations that make `from`, which is at path_, into `to`. True when some part of it stays as it is.
  bool Diff(const Value& from, const Value& to, size_t depth) {
    if (from.SharesStorageWith(to)) return true;
    const bool objects = from.is_object() && to.is_object();
    const bool arrays = from.is_array() && to.is_array() && arrays_ == Arrays::kAligned;
    if ((!objects && !arrays) || depth >= kMaxDepth) {
      if (from == to) return true;
      Write("replace", &to);
      return false;
    }
    const size_t first_operation = operations_.size();
    const size_t bytes_before = bytes_;
    const bool something_stays = objects ? DiffObjects(from, to, depth) : DiffArrays(from, to, depth);
    if (operations_.size() == first_operation) return true;
    if (objects && something_stays) return true;
    const size_t written = bytes_ - bytes_before;
    if (Measure(to, written).bytes + OperationBytes("replace", true) >= written) return something_stays;
    operations_.resize(first_operation);
    bytes_ = bytes_before;
    Write("replace", &to);
    return false;
  }

  Value TakePatch() { return ArrayBuilder::FromRange(operations_); }

 private:
  bool DiffObjects(const Value& from, const Value& to, size_t depth) {
    const std::span<const Member> old_members = from.members();
    const std::span<const Member> new_members = to.members();
    bool something_stays = false;
    size_t i = 0;
    size_t j = 0;
    while (i < old_members.size() || j < new_members.size()) {
      const int order = i == old_members.size()   ? 1
                        : j == new_members.size() ? -1
                                                  : old_members[i].key().compare(new_members[j].key());
      const size_t path_size = path_.size();
      AppendPointerToken(path_, order <= 0 ? old_members[i].key() : new_members[j].key());
      if (order < 0) {
        Write("remove", nullptr);
      } else if (order > 0) {
        Write("add", &new_members[j].value());
      } else {
        something_stays |= Diff(old_members[i].value(), new_members[j].value(), depth + 1);
      }
      path_.resize(path_size);
      if (order <= 0) ++i;
      if (order >= 0) ++j;
    }
    return something_stays;
  }

  bool DiffArrays(const Value& from, const Value& to, size_t depth) {
    bool something_stays = false;
    size_t at = 0;  // where the next item of `to` stands while the operations are applied
    for (const AlignStep& step : AlignArrays(from.items(), to.items(), &pairs_left_)) {
      const size_t path_size = path_.size();
      AppendPointerToken(path_, std::to_string(at));
      switch (step.what) {
        case AlignStep::What::kPair:
          something_stays |= Diff(from[step.from], to[step.to], depth + 1);
          ++at;
          break;
        case AlignStep::What::kRemove:
          Write("remove", nullptr);
          break;
        case AlignStep::What::kAdd:
          Write("add", &to[step.to]);
          ++at;
          break;
      }
      path_.resize(path_size);
    }
    return something_stays;
  }

  // Of an operation's text at path_, but for its value.
  size_t OperationBytes(std::string_view op, bool has_value) const {
    return op.size() + path_.size() + std::string_view(R"({"op":"","path":""})").size() +
           (has_value ? std::string_view(R"(,"value":)").size() : 0);
  }

  void Write(std::string_view op, const Value* value) {
    ObjectBuilder operation;
    operation.Add("op", op);
    operation.Add("path", path_);
    if (value != nullptr) operation.Add("value", *value);
    bytes_ += OperationBytes(op, value != nullptr);
    if (value != nullptr) bytes_ += Measure(*value, std::numeric_limits<size_t>::max()).bytes;
    operations_.push_back(std::move(operation).Build());
  }

  Arrays arrays_;
  size_t pairs_left_ = kMaxAlignedPairs;
  std::string path_;
  std::vector<Value> operations_;
  size_t bytes_ = 0;  // of operations_ as text, near enough to compare
};

Value MakePatch(const Value& from, const Value& to, Arrays arrays) {
  Differ differ(arrays);
  differ.Diff(from, to, 0);
  return differ.TakePatch();
}

// A merge patch that removes what `original` has and `modified` has not.
Value Deletions(const Value& original, const Value& modified, size_t depth) {
  ObjectEdits patch{Value()};
  for (const Member& member : original.members()) {
    const Value* kept = modified.Find(member.key());
    if (kept == nullptr) {
      patch.Set(member.key(), nullptr);
    } else if (kept->is_object() && member.value().is_object() && depth < kMaxDepth) {
      patch.Set(member.key(), Deletions(member.value(), *kept, depth + 1));
    }
  }
  return std::move(patch).Finish();
}

}  // namespace

Value MakeJsonPatch(const Value& from, const Value& to) { return MakePatch(from, to, Arrays::kAligned); }

Value MakeThreeWayJsonPatch(const Value& original, const Value& modified, const Value& current) {
  Value target = current;
  if (original.is_object() && modified.is_object()) target = ApplyMergePatch(target, Deletions(original, modified, 0));
  return MakePatch(current, ApplyMergePatch(target, modified), Arrays::kAtomic);
}

}  // namespace baton::json
