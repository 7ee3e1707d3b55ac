// JSON Patch: one function per operation over the edits of json/pointer.h, with limits on amplification.
#include "json/json_patch.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/strings.h"
#include "json/measure.h"
#include "json/parse.h"
#include "json/pointer.h"

namespace baton::json {
namespace {

constexpr std::string_view kTestFailedReason = "JSONPatchTestFailed";  // of the cause in the error's Status

Status Unprocessable() {
  Status status;
  status.code = 422;
  status.reason = "Invalid";
  return status;
}

Error DoesNotApply(std::string message) { return Error::FromStatus(Unprocessable(), std::move(message)); }

Error TestFailed(std::string_view path, std::string_view why) {
  std::string message = StrCat("testing value ", path, " failed: test failed: ", why);
  Status status = Unprocessable();
  status.causes.push_back({.reason = std::string(kTestFailedReason), .message = message, .field = std::string(path)});
  return Error::FromStatus(std::move(status), std::move(message));
}

// int64, uint64 and double compared by value, without rounding.
bool SameNumber(const Value& a, const Value& b) {
  if (a.kind() == b.kind()) return a == b;
  if (a.kind() == Kind::kDouble) return SameNumber(b, a);
  if (b.kind() != Kind::kDouble) return false;  // an int and a uint: their ranges do not meet
  constexpr double kTwoTo63 = 9223372036854775808.0;
  const double number = b.number_or(0);
  if (a.is_int()) {
    return number >= -kTwoTo63 && number < kTwoTo63 && static_cast<double>(static_cast<int64_t>(number)) == number &&
           static_cast<int64_t>(number) == a.int_or(0);
  }
  return number >= 0 && number < 2 * kTwoTo63 && static_cast<double>(static_cast<uint64_t>(number)) == number &&
         static_cast<uint64_t>(number) == *a.as_uint64();
}

// Equal in the sense of RFC 6902 section 4.6: Value's equality, but for numbers of different kinds.
bool SameJson(const Value& a, const Value& b, size_t depth = 0) {
  if (a.SharesStorageWith(b)) return true;
  if (a.is_number() && b.is_number()) return SameNumber(a, b);
  if (a.kind() != b.kind() || a.size() != b.size()) return false;
  if (depth > kMaxDepth) return a == b;
  if (a.is_array()) {
    for (size_t i = 0; i < a.size(); ++i) {
      if (!SameJson(a[i], b[i], depth + 1)) return false;
    }
    return true;
  }
  if (a.is_object()) {
    const std::span<const Member> x = a.members();
    const std::span<const Member> y = b.members();
    for (size_t i = 0; i < x.size(); ++i) {
      if (x[i].shared_key() != y[i].shared_key() || !SameJson(x[i].value(), y[i].value(), depth + 1)) return false;
    }
    return true;
  }
  return a == b;
}

// The document while operations are applied to it, and what has been spent of the limits.
class Patcher {
 public:
  explicit Patcher(const Value& document) : document_(document) {}

  Result<void> Apply(const Value& operation) {
    const std::string_view op = operation["op"].str();
    const Pointer path = TRY(PointerOf(operation, "path"));
    if (op == "remove") return Remove(path);
    if (op == "move") return Move(TRY(PointerOf(operation, "from")), path);
    if (op == "copy") return Copy(TRY(PointerOf(operation, "from")), path);
    const Value* value = operation.Find("value");
    if (op == "test" || op == "add" || op == "replace") {
      if (value == nullptr) return InvalidError("it has no \"value\"");
      if (op == "test") return Test(path, *value);
      TRY(CheckDepth(path, Measure(*value, kUnlimited).depth));
      return op == "add" ? Add(path, *value) : ReplaceAt(document_, path, *value);
    }
    if (!operation.Has("op")) return InvalidError("it has no \"op\"");
    return InvalidError("\"op\" must be add, remove, replace, move, copy or test");
  }

  Value TakeDocument() { return std::move(document_); }

 private:
  static constexpr size_t kUnlimited = std::numeric_limits<size_t>::max();

  static Result<Pointer> PointerOf(const Value& operation, std::string_view member) {
    const Value* text = operation.Find(member);
    if (text == nullptr) return InvalidError(StrCat("it has no ", Quote(member)));
    if (!text->is_string()) return InvalidError(StrCat(Quote(member), " must be a string"));
    return Pointer::Parse(text->str());
  }

  Result<void> Test(const Pointer& path, const Value& expected) {
    const Result<const Value*> found = FindOrExplain(document_, path);
    if (!found.ok()) return TestFailed(path.ToString(), found.error().message());
    if (!SameJson(**found, expected)) return TestFailed(path.ToString(), "the value is another one");
    return {};
  }

  Result<void> Add(const Pointer& path, Value value) {
    TRY(ChargeShift(ShiftedByAdd(document_, path)));
    return AddAt(document_, path, std::move(value));
  }

  Result<void> Remove(const Pointer& path) {
    TRY(ChargeShift(ShiftedByRemove(document_, path)));
    TRY(RemoveAt(document_, path));
    return {};
  }

  // Thousands of operations at the front of a long list would keep everybody waiting.
  Result<void> ChargeShift(size_t count) {
    shifted_ += count;
    if (shifted_ <= kMaxPatchShifts) return {};
    return TooLargeError(StrCat("the operations so far shift more than the limit of ", kMaxPatchShifts,
                                " items in one patch: begin at the end of the list, or replace it as a whole"));
  }

  Result<void> Move(const Pointer& from, const Pointer& path) {
    if (from == path) {
      TRY(FindOrExplain(document_, from));
      return {};
    }
    if (from.IsPrefixOf(path)) return InvalidError(StrCat("cannot move ", from.ToString(), " into itself"));
    Value moved = *TRY(FindOrExplain(document_, from));
    TRY(CheckMoveDepth(from, path, moved));
    TRY(Remove(from));
    return Add(path, std::move(moved));
  }

  Result<void> Copy(const Pointer& from, const Pointer& path) {
    Value copied = *TRY(FindOrExplain(document_, from));
    const Extent extent = TRY(Charge(copied));
    TRY(CheckDepth(path, extent.depth));
    return Add(path, std::move(copied));
  }

  // Copies are free in memory but not in the text that is made of them later.
  Result<Extent> Charge(const Value& value) {
    const Extent extent = Measure(value, kMaxPatchCopyBytes - copied_bytes_);
    copied_bytes_ += extent.bytes;
    if (copied_bytes_ > kMaxPatchCopyBytes) {
      return TooLargeError(StrCat("unable to copy: the values copied so far come to more than the limit of ",
                                  kMaxPatchCopyBytes, " bytes in one patch"));
    }
    return extent;
  }

  // A value of that depth at that path must not nest the document deeper than a parser would accept it.
  Result<void> CheckDepth(const Pointer& path, size_t depth) {
    if (path.size() + depth > kMaxDepth) {
      return TooLargeError(StrCat("the document would be nested deeper than ", kMaxDepth, " levels"));
    }
    if (depth_bound_ && *depth_bound_ < path.size() + depth) depth_bound_ = path.size() + depth;
    return {};
  }

  // A move deeper into the document can deepen it at most by the difference of the two paths, so the moved value
  // itself is measured only when that bound does not settle it, and then it counts like a copy.
  Result<void> CheckMoveDepth(const Pointer& from, const Pointer& path, const Value& moved) {
    if (path.size() <= from.size()) return {};
    if (!depth_bound_) depth_bound_ = Measure(document_, kUnlimited).depth;
    const size_t grown = *depth_bound_ + (path.size() - from.size());
    if (grown > kMaxDepth) return CheckDepth(path, TRY(Charge(moved)).depth);
    depth_bound_ = grown;
    return {};
  }

  Value document_;
  size_t copied_bytes_ = 0;
  size_t shifted_ = 0;
  std::optional<size_t> depth_bound_;  // the document is at most this deep; unknown until a move needs it
};

// "operation 2 (move /a to /b)"
std::string Describe(size_t index, const Value& operation) {
  std::string text = StrCat("operation ", index, " (", operation["op"].str_or("?"), " ");
  const std::string_view path = operation["path"].str_or("?");
  if (operation["from"].is_string()) StrAppend(text, operation["from"].str(), " to ");
  StrAppend(text, path.empty() ? "the whole document" : path, ")");
  return text;
}

}  // namespace

Result<Value> ApplyJsonPatch(const Value& document, const Value& patch) {
  if (!patch.is_array()) {
    return InvalidError(StrCat("a JSON Patch is an array of operations, not of kind ", KindName(patch.kind())));
  }
  if (patch.size() > kMaxPatchOperations) {
    return TooLargeError(
        StrCat("The allowed maximum operations in a JSON patch is ", kMaxPatchOperations, ", got ", patch.size()));
  }
  Patcher patcher(document);
  for (size_t i = 0; i < patch.size(); ++i) {
    if (!patch[i].is_object()) {
      return InvalidError(
          StrCat("operation ", i, " of the JSON Patch is no object but of kind ", KindName(patch[i].kind())));
    }
    const Result<void> done = patcher.Apply(patch[i]);
    if (done.ok()) continue;
    const Error error = done.error().Context(Describe(i, patch[i]));
    if (error.kind() == ErrorKind::kTooLarge || error.status() != nullptr) return error;
    return DoesNotApply(error.message());
  }
  return patcher.TakeDocument();
}

bool IsTestFailure(const Error& error) {
  const Status* status = error.status();
  return status != nullptr && !status->causes.empty() && status->causes.front().reason == kTestFailedReason;
}

}  // namespace baton::json
