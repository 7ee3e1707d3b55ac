// Create, update and patch: from a client's wish to a committed object.
#include "apiserver/write.h"

#include <utility>

#include "api/managed_fields.h"
#include "apiserver/decode.h"
#include "apiserver/metadata.h"
#include "apiserver/scale.h"
#include "apiserver/strategy.h"
#include "base/strings.h"
#include "base/utf8.h"

namespace baton::apiserver {

namespace {

using json::Value;

constexpr size_t kObjectBytesSlack = kVersionDigitsMax;

// What a write puts into the store, from when its revision is known.
struct Making {
  Value object;
  Bytes bytes;
  DecodeCache* known;  // null: whoever asked for the write has gone
  api::SchemaPtr schema;
  DecodeCache::Settled settled;
};

// In the frame of whoever asked.
struct Parting {
  Making& making;
  explicit Parting(Making& of) : making(of) {}
  Parting(const Parting&) = delete;
  Parting& operator=(const Parting&) = delete;
  ~Parting() { making.known = nullptr; }
};

// Kinds of which kube-apiserver makes what an update does not find.
bool CreatesOnUpdate(const ResourceType& type) {
  if (type.group == "rbac.authorization.k8s.io") return true;
  if (type.group == "coordination.k8s.io") return type.plural == "leases";
  return type.group.empty() &&
         (type.plural == "services" || type.plural == "endpoints" || type.plural == "limitranges");
}

}  // namespace

WriteOperation::WriteOperation(Core& core, Target target, WriteOptions options, Caller& caller)
    : core_(core), target_(std::move(target)), options_(std::move(options)), caller_(caller) {}

Subject WriteOperation::subject() const {
  return {.group = target_.type->group, .resource = target_.type->plural, .name = target_.name};
}

std::string WriteOperation::ManagerName() const {
  if (!options_.field_manager.empty()) return options_.field_manager;
  const std::string_view agent = caller_.user_agent;
  const std::string name = ReplaceInvalidUtf8(Utf8Prefix(agent.substr(0, agent.find('/')), kManagerNameMax));
  return std::string(Utf8Prefix(name, kManagerNameMax));
}

AdmissionRequest WriteOperation::Request(Operation operation, const Value& object, const Value& live) const {
  return {.operation = operation,
          .type = target_.type,
          .ns = target_.ns,
          .name = target_.name,
          .subresource = target_.subresource,
          .user = caller_.user,
          .dry_run = options_.dry_run,
          .object = object,
          .old_object = live,
          .options = {},
          .warnings = caller_.warnings};
}

rt::Task<Result<void>> WriteOperation::Mutate(Operation operation, Value& object, const Value& live) {
  AdmissionRequest request = Request(operation, object, live);
  for (const auto& plugin : core_.admission_) CO_TRY(co_await plugin->Mutate(request));
  if (!request.object.SharesStorageWith(object)) {
    const Value before = std::exchange(object, std::move(request.object));
    for (const char* field : {"apiVersion", "kind"}) {
      if (object.is_object()) object.Set(field, before[field]);
    }
    // Decoded like a client's: what a plugin made of it may be of any type.
    Result<Value> decoded = DecodeObject(*target_.type, std::move(object),
                                         {.field_validation = FieldValidation::kIgnore}, caller_.warnings, settled());
    if (!decoded.ok()) co_return InternalServerError(std::string(decoded.error().message()));
    object = *std::move(decoded);
    CO_TRY(KeepIdentity(object, before, live));
  }
  co_return Result<void>();
}

// A plugin may change what a client may, no more: not which object it is, nor what the server says about it.
Result<void> WriteOperation::KeepIdentity(Value& object, const Value& before, const Value& live) const {
  const ResourceType& type = *target_.type;
  TRY(CheckPlace(object));
  if (!live.is_null()) {
    PrepareForUpdate(type, target_.subresource, object, live);
    return {};
  }
  KeepServerMetadata(object, before);
  if (type.has_status && type.custom) object.Erase("status");
  if (type.prepare != nullptr) type.prepare(object, nullptr);
  return {};
}

rt::Task<Result<void>> WriteOperation::Validate(Operation operation, const Value& object, const Value& live) {
  CO_TRY(ValidateObject(*target_.type, object, live.is_null() ? nullptr : &live, settled()));
  const AdmissionRequest request = Request(operation, object, live);
  for (const auto& plugin : core_.admission_) CO_TRY(co_await plugin->Validate(request));
  co_return Result<void>();
}

Result<Value> WriteOperation::Tracked(const Value& live, Value next) const {
  if (target_.type->schema == nullptr) return next;
  api::FieldManager manager{.name = ManagerName(),
                            .api_version = target_.type->ApiVersion(),
                            .subresource = target_.subresource,
                            .now = core_.loop_.WallNow()};
  if (target_.type->has_status) manager.reset_fields = api::ResetFields(target_.subresource);
  if (live.is_null()) {
    return core_.creations_.Track(target_.type->custom ? live : ZeroObject(*target_.type), std::move(next),
                                  target_.type->schema, manager);
  }
  Value tracked = TRY(api::TrackUpdate(live, std::move(next), *target_.type->schema, manager, settled() != nullptr));
  if (target_.subresource != "scale") return tracked;
  // kube-apiserver loses the time on the way through a Scale.
  Value& entries = tracked.Edit("metadata").Edit("managedFields");
  for (size_t i = 0; i < entries.size(); ++i) {
    if (entries[i]["subresource"].str() == "scale") entries.Edit(i).Erase("time");
  }
  return tracked;
}

Value WriteOperation::Settled(const Bytes& bytes) {
  const ResourceType& type = *target_.type;
  if (type.schema == nullptr || type.from_storage != nullptr || type.to_storage != nullptr) return {};
  Value object = core_.Decode(bytes);
  DecodeCache::Settled settled = core_.decoded_.IsSettled(bytes, type.schema);
  if (settled == DecodeCache::Settled::kUnknown) {
    settled = IsSettled(type, object) ? DecodeCache::Settled::kYes : DecodeCache::Settled::kNo;
    core_.decoded_.SetSettled(bytes, type.schema, settled);
  }
  return settled == DecodeCache::Settled::kYes ? object : Value();
}

// What was settled and has been through a write is settled, if it could be tracked: then it fits its type.
DecodeCache::Settled WriteOperation::SettlesAs(const Value& next, bool created) const {
  const bool fits = next["metadata"].Has("managedFields");
  return fits && (created || settled() != nullptr) ? DecodeCache::Settled::kYes : DecodeCache::Settled::kNo;
}

// The object is the one that the path names.
Result<void> WriteOperation::CheckPlace(Value& object) const {
  const ResourceType& type = *target_.type;
  if (!object["metadata"].is_object()) object.Set("metadata", json::Object());
  const std::string ns(object["metadata"]["namespace"].str());
  if (type.namespaced) {
    if (!ns.empty() && ns != target_.ns) {
      return BadRequest("the namespace of the provided object does not match the namespace sent on the request");
    }
    object.Edit("metadata").Set("namespace", target_.ns);
  } else if (ns.empty()) {
    object.Edit("metadata").Erase("namespace");
  }
  const std::string_view name = object["metadata"]["name"].str();
  if (target_.name.empty() || name == target_.name) return {};
  if (name.empty()) {
    return BadRequest(
        StrCat("the name of the object (", target_.name, " based on URL) was undeterminable: name must be provided"));
  }
  return BadRequest(
      StrCat("the name of the object (", name, ") does not match the name on the URL (", target_.name, ")"));
}

Result<void> WriteOperation::CheckPreconditions(const Value& object, const Value& live) const {
  const std::string_view uid = object["metadata"]["uid"].str();
  const std::string_view live_uid = live["metadata"]["uid"].str();
  if (!uid.empty() && uid != live_uid) {
    return Conflict(subject(),
                    StrCat("Precondition failed: UID in precondition: ", uid, ", UID in object meta: ", live_uid));
  }
  const std::string_view version = object["metadata"]["resourceVersion"].str();
  if (const Result<Revision> number = ParseVersion(version); !number.ok()) {
    return PlainServerError(StrCat("strconv.ParseUint: parsing \"", version, "\": invalid syntax"));
  }
  if (!version.empty() && version != "0" && version != live["metadata"]["resourceVersion"].str()) {
    return Conflict(subject(), kObjectModified);
  }
  return {};
}

Written WriteOperation::Answer(Value value, Revision revision, bool created) const {
  value.Set("apiVersion", target_.type->ApiVersion());
  Bytes bytes;
  if (revision.value() > 0) {
    value.Edit("metadata").Set("resourceVersion", VersionText(revision));
  }
  bytes = std::make_shared<const std::string>(value.ToString());
  return {.object = {.bytes = std::move(bytes), .revision = revision}, .value = std::move(value), .created = created};
}

Written WriteOperation::AnswerStored(Value value, Stored stored, bool created) const {
  const ResourceType& type = *target_.type;
  Value& kept = stored.value;
  if (type.from_storage != nullptr || kept["apiVersion"].str() != type.ApiVersion()) {
    return Answer(std::move(value), stored.revision, created);
  }
  return {.object = {.bytes = std::move(stored.bytes), .revision = stored.revision},
          .value = std::move(kept),
          .created = created};
}

rt::Task<Result<std::optional<WriteOperation::Stored>>> WriteOperation::Store(const Value& object, Revision expected,
                                                                              const Bytes& before) {
  Value kept = ToStorage(*target_.type, object);
  const std::optional<Printed> printed = before == nullptr ? std::nullopt : core_.decoded_.FindPrinted(before);
  Encoded encoded = Encode(kept, printed ? &*printed : nullptr);
  if (encoded.depth > kObjectDepthMax)
    co_return EntityTooLarge(StrCat("nested deeper than ", kObjectDepthMax, " levels"));
  CO_TRY(CheckStorable(encoded));
  const size_t bytes_max = encoded.bytes.size() + kObjectBytesSlack;
  const std::string key = StorageKey(*target_.type, target_.ns, object["metadata"]["name"].str());
  store::Transaction transaction;
  // The write may outlive us, and the core with us.
  const auto making = std::make_shared<Making>(Making{.object = std::move(kept),
                                                      .bytes = {},
                                                      .known = &core_.decoded_,
                                                      .schema = target_.type->schema,
                                                      .settled = SettlesAs(object, expected == Revision(0))});
  const Parting parting{*making};
  transaction.If(key, expected).PutMade(key, bytes_max, [encoded = std::move(encoded), making](Revision revision) {
    making->bytes = std::make_shared<const std::string>(encoded.WithVersion(revision));
    making->object.Edit("metadata").Set("resourceVersion", VersionText(revision));
    // Watchers see it before we do, and need not parse it.
    if (making->known != nullptr) {
      making->known->Remember(making->bytes, making->object, encoded.LayoutWithVersion(revision));
      making->known->SetSettled(making->bytes, making->schema, making->settled);
    }
    return making->bytes;
  });
  Result<Revision> committed = co_await core_.store_.Commit(std::move(transaction));
  if (committed.ok()) {
    co_return std::optional(
        Stored{.revision = *committed, .bytes = std::move(making->bytes), .value = std::move(making->object)});
  }
  if (committed.error().kind() == ErrorKind::kConflict) co_return std::optional<Stored>();
  if (committed.error().kind() == ErrorKind::kTooLarge) {
    co_return EntityTooLarge(std::string(committed.error().message()));
  }
  co_return committed.error();
}

rt::Task<Result<Written>> WriteOperation::Create(Value object) {
  if (!object.is_object()) co_return DecodeObject(*target_.type, object, options_, caller_.warnings).error();
  if (!object["metadata"]["resourceVersion"].str().empty()) {
    co_return PlainServerError("resourceVersion should not be set on objects to be created");
  }
  object = CO_TRY(DecodeObject(*target_.type, std::move(object), options_, caller_.warnings));
  CO_TRY(CheckPlace(object));
  const std::string prefix(object["metadata"]["generateName"].str());
  if (!object["metadata"]["name"].str().empty() || prefix.empty()) {
    target_.name = object["metadata"]["name"].str();
    co_return co_await CreateNamed(std::move(object), false);
  }
  for (size_t tries = 1;; ++tries) {
    object.Edit("metadata").Set("name", GeneratedName(prefix, core_.loop_.random()));
    target_.name = object["metadata"]["name"].str();
    Result<Written> written = co_await CreateNamed(object, false);
    if (written.ok() || written.error().kind() != ErrorKind::kAlreadyExists || tries == kGenerateNameTriesMax) {
      co_return written;
    }
  }
}

rt::Task<Result<Written>> WriteOperation::CreateNamed(Value object, bool tracked) {
  const Value nothing;
  PrepareForCreate(*target_.type, object, core_.loop_.random(), core_.loop_.WallNow());
  CO_TRY(co_await Mutate(Operation::kCreate, object, nothing));
  if (!tracked) {
    // A namespace's finalizer is the server's doing, nobody's field.
    const bool is_namespace = target_.type->group.empty() && target_.type->plural == "namespaces";
    const Value spec = object["spec"];
    if (is_namespace) object.Erase("spec");
    object = CO_TRY(Tracked(nothing, std::move(object)));
    if (is_namespace && !spec.is_null()) object.Set("spec", spec);
  }
  CO_TRY(co_await Validate(Operation::kCreate, object, nothing));
  if (options_.dry_run) {
    if (core_.Live(*target_.type, target_.ns, target_.name)) co_return AlreadyExists(subject());
    co_return Answer(std::move(object), Revision(0), true);
  }
  std::optional<Stored> stored = CO_TRY(co_await Store(object, Revision(0), nullptr));
  if (!stored) co_return Occupied();
  co_return AnswerStored(std::move(object), *std::move(stored), true);
}

// Somebody has the name, perhaps not for long.
Error WriteOperation::Occupied() const {
  Error error = AlreadyExists(subject());
  const std::optional<Object> live = core_.Live(*target_.type, target_.ns, target_.name);
  if (!live || !IsBeingDeleted(core_.Decode(live->bytes))) return error;
  return Error::FromStatus(error.ToStatus(), StrCat("object is being deleted: ", error.message()));
}

rt::Task<Result<Written>> WriteOperation::Update(Value object) {
  if (target_.subresource == "scale") {
    co_return co_await Replace(
        [this, object](const Value& live) -> Result<Wish> {
          TRY(CheckPreconditions(object, live));
          return Wish{.object = TRY(ScaleWish(live, object))};
        },
        false);
  }
  const std::optional<store::Entry> stored =
      CO_TRY(core_.store_.Get(StorageKey(*target_.type, target_.ns, target_.name)));
  if (stored) settled_ = Settled(stored->value);
  object = CO_TRY(DecodeObject(*target_.type, std::move(object), options_, caller_.warnings, settled()));
  CO_TRY(CheckPlace(object));
  if (target_.type->custom && object["metadata"]["resourceVersion"].str().empty()) {
    co_return InvalidObject(target_.type->group, target_.type->plural, target_.name,
                            {{.type = api::FieldError::Type::kInvalid,
                              .field = "metadata.resourceVersion",
                              .message = "Invalid value: 0: must be specified for an update"}});
  }
  // Who names a version or a uid means an object that was there.
  const bool creates = target_.subresource.empty() && CreatesOnUpdate(*target_.type) &&
                       object["metadata"]["resourceVersion"].str().empty() && object["metadata"]["uid"].str().empty();
  co_return co_await Replace(
      [this, object](const Value& live) -> Result<Wish> {
        TRY(CheckPreconditions(object, live));
        return Wish{.object = object};
      },
      creates);
}

rt::Task<Result<Written>> WriteOperation::Patch(PatchType type, Value patch) {
  co_return co_await Replace(
      [this, type, patch](const Value& live) -> Result<Wish> { return Patched(type, patch, live); },
      type == PatchType::kApply && target_.subresource.empty());
}

rt::Task<Result<Written>> WriteOperation::Replace(Maker make, bool create_when_absent) {
  const std::string key = StorageKey(*target_.type, target_.ns, target_.name);
  for (size_t tries = 0; tries < kConflictRetriesMax; ++tries) {
    const std::optional<store::Entry> entry = CO_TRY(core_.store_.Get(key));
    if (!entry) {
      if (!create_when_absent) co_return NotFound(subject());
      if (options_.authorize_create != nullptr) CO_TRY(options_.authorize_create());
      Wish wish = CO_TRY(make(Value()));
      CO_TRY(CheckPlace(wish.object));
      Result<Written> created = co_await CreateNamed(std::move(wish.object), wish.tracked);
      if (!created.ok() && created.error().kind() == ErrorKind::kAlreadyExists) continue;
      co_return created;
    }
    std::optional<Written> written = CO_TRY(co_await TryReplace(make, *entry));
    if (written) co_return *std::move(written);
  }
  co_return Conflict(subject(), kObjectModified);
}

bool WriteOperation::EndsHere(const Value& next) const {
  if (!IsBeingDeleted(next) || HasFinalizers(next)) return false;
  return target_.type->plural != "namespaces" || !target_.type->group.empty() || next["spec"]["finalizers"].empty();
}

// One try on what is stored now; nothing when somebody else changed it meanwhile.
rt::Task<Result<std::optional<Written>>> WriteOperation::TryReplace(const Maker& make, const store::Entry& entry) {
  Value live = FromStorage(*target_.type, core_.Decode(entry.value), entry.mod_revision);
  settled_ = Settled(entry.value);
  Wish wish = CO_TRY(make(live));
  Value next = std::move(wish.object);
  PrepareForUpdate(*target_.type, target_.subresource, next, live);
  CO_TRY(co_await Mutate(Operation::kUpdate, next, live));
  if (!wish.tracked) next = CO_TRY(Tracked(live, std::move(next)));
  CO_TRY(co_await Validate(Operation::kUpdate, next, live));
  if (SameButForTimes(next, live)) co_return std::optional(Answer(std::move(live), entry.mod_revision, false));
  const bool ends = EndsHere(next);
  if (options_.dry_run) co_return std::optional(Answer(std::move(next), entry.mod_revision, false));
  if (ends) {
    store::Transaction transaction;
    transaction.If(entry.key, entry.mod_revision).Delete(entry.key);
    const Result<Revision> gone = co_await core_.store_.Commit(std::move(transaction));
    if (!gone.ok() && gone.error().kind() == ErrorKind::kConflict) co_return std::optional<Written>();
    if (!gone.ok()) co_return gone.error();
    Written last = Answer(std::move(next), *gone, false);
    last.deleted = true;
    co_return std::optional(std::move(last));
  }
  std::optional<Stored> stored = CO_TRY(co_await Store(next, entry.mod_revision, entry.value));
  if (!stored) co_return std::optional<Written>();
  co_return std::optional(AnswerStored(std::move(next), *std::move(stored), false));
}

rt::Task<Result<Written>> Core::Create(Target target, Value object, WriteOptions options, Caller& caller) {
  WriteOperation operation(*this, std::move(target), std::move(options), caller);
  co_return co_await operation.Create(std::move(object));
}

rt::Task<Result<Written>> Core::Update(Target target, Value object, WriteOptions options, Caller& caller) {
  WriteOperation operation(*this, std::move(target), std::move(options), caller);
  co_return co_await operation.Update(std::move(object));
}

rt::Task<Result<Written>> Core::Patch(Target target, PatchType type, Value patch, WriteOptions options,
                                      Caller& caller) {
  WriteOperation operation(*this, std::move(target), std::move(options), caller);
  co_return co_await operation.Patch(type, std::move(patch));
}

}  // namespace baton::apiserver
