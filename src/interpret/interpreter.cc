// The levels and their order.
#include "interpret/interpreter.h"

#include <utility>

#include "base/strings.h"
#include "interpret/fields.h"
#include "interpret/lua_operations.h"
#include "interpret/status.h"

namespace baton::interpret {

using json::Value;

namespace {

// The tables live forever: a pointer that owns nothing.
std::shared_ptr<const Handlers> FindBuiltIn(const HandlerTable& table, const KindName& kind, Operation operation) {
  const auto at = table.find(kind);
  if (at == table.end() || !at->second.Has(operation)) return nullptr;
  return {std::shared_ptr<const Handlers>(), &at->second};
}

// For callers that cannot wait for a webhook: told so, rather than given another level's answer.
std::shared_ptr<const Handlers> AsksWebhook(const std::string& id) {
  const Error error = UnsupportedError(StrCat("webhook ", id, " answers for this kind, and cannot be asked from here"));
  auto handlers = std::make_shared<Handlers>();
  handlers->replicas = [error](const Value&) -> Result<Replicas> { return error; };
  handlers->components = [error](const Value&) -> Result<std::vector<Component>> { return error; };
  handlers->revise = [error](const Value&, int64_t) -> Result<Value> { return error; };
  handlers->retain = [error](const Value&, const Value&) -> Result<Value> { return error; };
  handlers->reflect = [error](const Value&) -> Result<Value> { return error; };
  handlers->aggregate = [error](const Value&, const Items&, WallTime) -> Result<Value> { return error; };
  handlers->health = [error](const Value&) -> Result<bool> { return error; };
  handlers->dependencies = [error](const Value&) -> Result<std::vector<Value>> { return error; };
  return handlers;
}

}  // namespace

Interpreter::Interpreter(InterpreterOptions options)
    : options_(std::move(options)), pool_(options_.limits, options_.now, options_.on_print) {}

Result<void> Interpreter::CheckCustomization(const Value& object) const {
  const Customization checked = TRY(Customization::FromObject(object, options_.limits));
  const std::lock_guard lock(mutex_);
  for (const auto& [name, other] : customizations_) {
    if (name == checked.name || other.target != checked.target) continue;
    for (const auto& [operation, script] : checked.scripts) {
      if (operation == Operation::kDependency || !other.scripts.contains(operation)) continue;
      return InvalidError(StrCat("spec.customizations.", Names(operation).block, ": customization ", Quote(name),
                                 " already defines it for ", checked.target.api_version, " ", checked.target.kind));
    }
  }
  return {};
}

Result<void> Interpreter::SetCustomization(const Value& object) {
  Customization customization = TRY(Customization::FromObject(object, options_.limits));
  if (customization.name.empty()) return InvalidError("metadata.name: must be given");
  const std::lock_guard lock(mutex_);
  std::string name = customization.name;
  customizations_.insert_or_assign(std::move(name), std::move(customization));
  Rebuild();
  return {};
}

void Interpreter::RemoveCustomization(std::string_view name) {
  const std::lock_guard lock(mutex_);
  const auto at = customizations_.find(name);
  if (at == customizations_.end()) return;
  customizations_.erase(at);
  Rebuild();
}

void Interpreter::Rebuild() {
  using Scripts = std::map<Operation, std::vector<std::shared_ptr<const LuaScript>>>;
  std::map<KindName, Scripts> by_kind;
  for (const auto& [name, customization] : customizations_) {
    for (const auto& [operation, script] : customization.scripts) {
      auto& scripts = by_kind[customization.target][operation];
      if (scripts.empty() || operation == Operation::kDependency) scripts.push_back(script);
    }
  }
  customized_.clear();
  for (auto& [kind, operations] : by_kind) {
    auto handlers = std::make_shared<Handlers>();
    for (auto& [operation, scripts] : operations) AddScript(*handlers, operation, std::move(scripts), pool_);
    customized_[kind] = std::move(handlers);
  }
}

Interpreter::Hook Interpreter::Find(const KindName& kind, Operation operation) const {
  {
    const std::lock_guard lock(mutex_);
    const auto at = customized_.find(kind);
    if (at != customized_.end() && at->second->Has(operation)) return {Level::kCustomization, at->second};
    if (!webhooks_.empty()) {
      const std::shared_ptr<const Webhook> webhook = webhooks_.Find(kind, operation);
      if (webhook != nullptr) return {Level::kWebhook, AsksWebhook(webhook->id)};
    }
  }
  if (auto hook = FindBuiltIn(ThirdPartyHandlers(), kind, operation)) return {Level::kThirdParty, std::move(hook)};
  if (auto hook = FindBuiltIn(NativeHandlers(), kind, operation)) return {Level::kNative, std::move(hook)};
  return {};
}

Result<Interpreter::Hook> Interpreter::FindFor(const Value& object, Operation operation) const {
  const KindName kind{std::string(object["apiVersion"].str()), std::string(object["kind"].str())};
  if (kind.api_version.empty() || kind.kind.empty())
    return InvalidError(StrCat(Names(operation).name, ": the object has no apiVersion or no kind"));
  return Find(kind, operation);
}

Result<void> Interpreter::SetWebhooks(const Value& configuration) {
  const std::lock_guard lock(mutex_);
  return webhooks_.Set(configuration);
}

void Interpreter::RemoveWebhooks(std::string_view name) {
  const std::lock_guard lock(mutex_);
  webhooks_.Remove(name);
}

std::shared_ptr<const Webhook> Interpreter::WebhookFor(const Value& object, Operation operation) const {
  const std::lock_guard lock(mutex_);
  if (webhooks_.empty()) return nullptr;
  const KindName kind{std::string(object["apiVersion"].str()), std::string(object["kind"].str())};
  const auto at = customized_.find(kind);
  if (at != customized_.end() && at->second->Has(operation)) return nullptr;
  return webhooks_.Find(kind, operation);
}

Level Interpreter::LevelOf(const KindName& kind, Operation operation) const { return Find(kind, operation).level; }

Result<Replicas> Interpreter::GetReplicas(const Value& object) const {
  const Hook hook = TRY(FindFor(object, Operation::kReplica));
  if (hook.level == Level::kNone) return Replicas{};
  return hook.handlers->replicas(object);
}

Result<std::vector<Component>> Interpreter::GetComponents(const Value& object) const {
  const Hook hook = TRY(FindFor(object, Operation::kComponent));
  if (hook.level == Level::kNone) return std::vector<Component>();
  return hook.handlers->components(object);
}

Result<Value> Interpreter::ReviseReplica(const Value& object, int64_t replicas) const {
  const Hook hook = TRY(FindFor(object, Operation::kRevise));
  if (hook.level == Level::kNone) return object;
  return hook.handlers->revise(object, replicas);
}

Result<Value> Interpreter::Retain(const Value& desired, const Value& observed) const {
  const Hook hook = TRY(FindFor(desired, Operation::kRetain));
  if (hook.level == Level::kNone) return desired;
  return hook.handlers->retain(desired, observed);
}

Result<Value> Interpreter::AggregateStatus(const Value& object, const Items& items) const {
  const Hook hook = TRY(FindFor(object, Operation::kAggregate));
  if (hook.level == Level::kNone) return object;
  return hook.handlers->aggregate(object, items, options_.now ? options_.now() : WallTime());
}

Result<Value> Interpreter::ReflectStatus(const Value& observed) const {
  const Hook hook = TRY(FindFor(observed, Operation::kReflect));
  if (hook.level == Level::kNone) return StatusOf(observed);
  return hook.handlers->reflect(observed);
}

Result<bool> Interpreter::InterpretHealth(const Value& observed) const {
  const Hook hook = TRY(FindFor(observed, Operation::kHealth));
  if (hook.level == Level::kNone) return true;
  return hook.handlers->health(observed);
}

Result<std::vector<Value>> Interpreter::GetDependencies(const Value& object) const {
  const Hook hook = TRY(FindFor(object, Operation::kDependency));
  if (hook.level == Level::kNone) return std::vector<Value>();
  return SortedDependencies(TRY(hook.handlers->dependencies(object)));
}

}  // namespace baton::interpret
