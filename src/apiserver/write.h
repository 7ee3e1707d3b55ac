// WriteOperation: one create, update or patch on its way through Core. Inside the module.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "apiserver/core.h"
#include "apiserver/errors.h"

namespace baton::apiserver {

class WriteOperation {
 public:
  WriteOperation(Core& core, Target target, WriteOptions options, Caller& caller);

  rt::Task<Result<Written>> Create(json::Value object);
  rt::Task<Result<Written>> Update(json::Value object);
  rt::Task<Result<Written>> Patch(PatchType type, json::Value patch);

 private:
  Error Occupied() const;
  // What the client wants the object to be, from what it is (null: it does not exist); asked again after a lost race.
  // A version that the client insists on is checked here.
  struct Wish {
    json::Value object;
    bool tracked = false;  // managedFields are done (server-side apply)
  };
  using Maker = std::function<Result<Wish>(const json::Value& live)>;

  rt::Task<Result<Written>> CreateNamed(json::Value object, bool tracked);
  rt::Task<Result<Written>> Replace(Maker make, bool create_when_absent);
  rt::Task<Result<std::optional<Written>>> TryReplace(const Maker& make, const store::Entry& entry);
  rt::Task<Result<void>> Mutate(Operation operation, json::Value& object, const json::Value& live);
  rt::Task<Result<void>> Validate(Operation operation, const json::Value& object, const json::Value& live);
  AdmissionRequest Request(Operation operation, const json::Value& object, const json::Value& live) const;
  Result<json::Value> Tracked(const json::Value& live, json::Value next) const;
  // What these bytes say, when it is settled (apiserver/object.h), which is found out if need be; null: it is not.
  json::Value Settled(const Bytes& bytes);
  DecodeCache::Settled SettlesAs(const json::Value& next, bool created) const;
  const json::Value* settled() const { return settled_.is_null() ? nullptr : &settled_; }
  Result<Wish> Patched(PatchType type, const json::Value& patch, const json::Value& live);
  Result<json::Value> ScaleWish(const json::Value& live, const json::Value& scale) const;
  Result<void> CheckPlace(json::Value& object) const;
  Result<void> KeepIdentity(json::Value& object, const json::Value& before, const json::Value& live) const;
  Result<void> CheckPreconditions(const json::Value& object, const json::Value& live) const;
  std::string ManagerName() const;
  Written Answer(json::Value value, Revision revision, bool created) const;
  struct Stored {
    Revision revision;
    Bytes bytes;        // the store's
    json::Value value;  // what they say
  };
  // Of what was just stored: with the store's bytes.
  Written AnswerStored(json::Value value, Stored stored, bool created) const;
  // Nothing when somebody else was faster.
  rt::Task<Result<std::optional<Stored>>> Store(const json::Value& object, Revision expected, const Bytes& before);
  bool EndsHere(const json::Value& next) const;

  Subject subject() const;

  Core& core_;
  Target target_;
  WriteOptions options_;
  Caller& caller_;
  json::Value settled_;                               // what this write starts from, when it is known to be settled
  size_t warnings_before_ = caller_.warnings.size();  // what a retry starts from
};

}  // namespace baton::apiserver
