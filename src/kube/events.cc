// Recording, aggregating and writing core/v1 Events.
#include "kube/events.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/strings.h"
#include "json/rfc3339.h"

namespace baton::kube {
namespace {

// As client-go names them: the object's name and a number that no other event of it has.
std::string EventName(std::string_view about, uint64_t number) {
  constexpr size_t kHexDigits = 16;
  char digits[kHexDigits + 1];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(number));
  constexpr size_t kNameBytesMax = 253 - kHexDigits - 1;
  return StrCat(about.substr(0, kNameBytesMax), ".", std::string_view(digits, kHexDigits));
}

std::string_view CutUtf8(std::string_view text, size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0U) == 0x80U) --most;
  return text.substr(0, most);
}

}  // namespace

const Resource& EventsResource() {
  static const Resource kEvents{.group = "", .version = "v1", .plural = "events", .kind = "Event", .namespaced = true};
  return kEvents;
}

EventRecorder::EventRecorder(Api& api, std::string component, std::string instance)
    : api_(api), component_(std::move(component)), instance_(std::move(instance)) {}

void EventRecorder::Normal(const json::Value& about, std::string_view reason, std::string_view message) {
  Record(about, "Normal", reason, message);
}

void EventRecorder::Warning(const json::Value& about, std::string_view reason, std::string_view message) {
  Record(about, "Warning", reason, message);
}

bool EventRecorder::Spend(const std::string& object) {
  const MonotonicTime now = api_.loop().Now();
  if (budgets_.size() > kEventsKnownMax) {
    std::erase_if(budgets_, [&](const auto& one) {
      return one.second.tokens + static_cast<double>((now - one.second.since) / kEventsRefill) >= kEventsBurst;
    });
  }
  auto [at, made] = budgets_.try_emplace(object, Budget{.tokens = kEventsBurst, .since = now});
  Budget& budget = at->second;
  const double refilled =
      static_cast<double>((now - budget.since).count()) / static_cast<double>(kEventsRefill.count());
  budget.tokens = std::min(kEventsBurst, budget.tokens + refilled);
  budget.since = now;
  if (budget.tokens < 1) return false;
  budget.tokens -= 1;
  return true;
}

void EventRecorder::Record(const json::Value& about, std::string_view type, std::string_view reason,
                           std::string_view message) {
  const std::string object =
      StrCat(ApiVersionOf(about), "/", KindOf(about), "/", NamespaceOf(about), "/", NameOf(about), "/", UidOf(about));
  if (queue_.size() >= kEventsQueuedMax || !Spend(object)) {
    ++dropped_;
    return;
  }
  message = CutUtf8(message, kEventMessageBytesMax);
  const std::string ns = NamespaceOf(about).empty() ? "default" : std::string(NamespaceOf(about));
  const std::string now = json::FormatTime(api_.loop().WallNow());
  json::Value involved = json::Object({{"apiVersion", ApiVersionOf(about)},
                                       {"kind", KindOf(about)},
                                       {"name", NameOf(about)},
                                       {"uid", UidOf(about)},
                                       {"resourceVersion", VersionOf(about)}});
  if (!NamespaceOf(about).empty()) involved.Set("namespace", NamespaceOf(about));
  json::Value source = json::Object({{"component", component_}});
  if (!instance_.empty()) source.Set("host", instance_);
  json::Value event = json::Object(
      {{"apiVersion", "v1"},
       {"kind", "Event"},
       {"metadata", json::Object({{"name", EventName(NameOf(about), api_.loop().random().Next())}, {"namespace", ns}})},
       {"involvedObject", std::move(involved)},
       {"type", type},
       {"reason", reason},
       {"message", message},
       {"source", std::move(source)},
       {"reportingComponent", component_},
       {"reportingInstance", instance_},
       {"firstTimestamp", now},
       {"lastTimestamp", now},
       {"count", 1}});
  queue_.push_back({.identity = StrCat(object, "/", type, "/", reason, "/", message), .event = std::move(event)});
  something_.Set();
}

rt::Task<void> EventRecorder::Run() {
  while (true) {
    while (queue_.empty()) {
      something_.Reset();
      co_await something_.Wait();
    }
    const Pending pending = std::move(queue_.front());
    queue_.pop_front();
    writing_ = true;
    const Result<void> written = co_await Write(pending);
    writing_ = false;
    if (!written.ok()) ++dropped_;  // events are worth one try
  }
}

rt::Task<Result<void>> EventRecorder::Write(const Pending& pending) {
  const auto known = known_by_identity_.find(pending.identity);
  if (known != known_by_identity_.end()) {
    const json::Value& before = known->second->written;
    const json::Value patch =
        json::Object({{"count", before["count"].int_or(1) + 1}, {"lastTimestamp", pending.event["lastTimestamp"]}});
    Result<json::Value> patched = co_await api_.Patch(EventsResource(), Name::Of(before), PatchType::kMerge, patch);
    if (patched.ok()) {
      Remember(pending.identity, *std::move(patched));
      co_return Result<void>();
    }
    if (patched.error().kind() != ErrorKind::kNotFound) co_return std::move(patched).error();
  }
  Remember(pending.identity, CO_TRY(co_await api_.Create(EventsResource(), pending.event)));
  co_return Result<void>();
}

void EventRecorder::Remember(std::string identity, json::Value written) {
  const auto at = known_by_identity_.find(identity);
  if (at != known_by_identity_.end()) {
    known_.erase(at->second);
    known_by_identity_.erase(at);
  }
  known_.push_front({.identity = identity, .written = std::move(written)});
  known_by_identity_.emplace(std::move(identity), known_.begin());
  if (known_.size() <= kEventsKnownMax) return;
  known_by_identity_.erase(known_.back().identity);
  known_.pop_back();
}

}  // namespace baton::kube
