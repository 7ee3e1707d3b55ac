// Between two looks: versions of one object, judged as they come.
#include "rollout/late_start.h"

#include <utility>

#include "kube/api.h"

namespace baton::rollout {

using json::Value;

// A deletion counts as a change of the spec, which its operator need not have seen.
Value LateStart::BeforeItsDeletion(Value object) {
  if (!kube::IsDeleting(object)) return object;
  Value& metadata = object.Edit("metadata");
  metadata.Set("generation", metadata["generation"].int_or(1) - 1);
  metadata.Erase("deletionTimestamp");
  return object;
}

bool LateStart::NeverStarted(const Value& object) const {
  static const Value* const kNothingBeside =
      new Value(json::Object({{"remains", json::Array()}, {"kept", json::Array()}, {"probeUnavailable", true}}));
  const auto says_so = [this](const Value& version) {
    const Result<interpret::Judgement> judged = profile_->Judge(version, *kNothingBeside, question_);
    return judged.ok() && judged->stop_proven && judged->progress == "none";
  };
  return says_so(object) || (kube::IsDeleting(object) && says_so(BeforeItsDeletion(object)));
}

void LateStart::Judged(std::string cluster, const Value& object, std::shared_ptr<const interpret::Profile> profile,
                       interpret::Question question) {
  const std::optional<uint64_t> version = kube::VersionNumber(kube::VersionOf(object));
  const bool watched = uid_ == kube::UidOf(object);
  if (!version || (watched && *version <= version_)) return;
  profile_ = std::move(profile);
  question_ = std::move(question);
  if (!NeverStarted(object)) return;
  cluster_ = std::move(cluster);
  uid_ = kube::UidOf(object);
  version_ = *version;
  started_ = false;
  unseen_.reset();
}

void LateStart::Take(std::string_view cluster, const Value& object) {
  if (uid_.empty() || started_ || cluster != cluster_ || kube::UidOf(object) != uid_) return;
  const std::optional<uint64_t> version = kube::VersionNumber(kube::VersionOf(object));
  if (!version || *version <= version_) return;
  version_ = *version;
  started_ = !NeverStarted(object);
}

void LateStart::Looked(std::string_view uid, MonotonicTime at) {
  if (uid == uid_) looked_ = at;
}

bool LateStart::WentUnseen(std::string_view uid, MonotonicTime at) {
  if (uid_.empty() || uid != uid_) return false;
  if (!unseen_) unseen_ = started_ && at - looked_ > kLooksApart;
  return *unseen_;
}

}  // namespace baton::rollout
