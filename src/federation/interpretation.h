// Interpretation: asks the interpreter, and where a webhook answers for a kind, that webhook. What the controllers of
// the pipe use in place of interpret::Interpreter.
//
//   Replicas replicas = CO_TRY(co_await hub.interpretation().GetReplicas(object));
//
// A webhook that cannot be reached, is late, or answers nonsense is an error of kind kUnavailable that names it: the
// caller tells it where users look, and tries again.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "interpret/interpreter.h"
#include "interpret/question.h"
#include "interpret/webhook.h"
#include "json/value.h"
#include "kube/api.h"
#include "rt/loop.h"
#include "rt/task.h"

namespace baton::rt {
class RealLoop;
}

namespace baton::federation {

// One POST; the body of a 200. `place` says where.
using PostToWebhook = std::function<rt::Task<Result<std::string>>(interpret::WebhookPlace place, std::string body,
                                                                  rt::Deadline deadline)>;

// Over HTTPS. A Service is looked up on the hub (its cluster IP or external name); one that is not there is called by
// its name. All outlive the function.
PostToWebhook PostOverHttps(rt::RealLoop& loop, kube::Api& hub);

class Interpretation {
 public:
  // A null `post`: webhooks cannot be called from here, and each says so.
  Interpretation(const interpret::Interpreter& interpreter, rt::Loop& loop, PostToWebhook post)
      : interpreter_(interpreter), loop_(loop), post_(std::move(post)) {}

  bool Has(const json::Value& object, interpret::Operation operation) const;

  rt::Task<Result<interpret::Replicas>> GetReplicas(json::Value object) const;
  rt::Task<Result<json::Value>> ReviseReplica(json::Value object, int64_t replicas) const;
  rt::Task<Result<json::Value>> Retain(json::Value desired, json::Value observed) const;
  rt::Task<Result<json::Value>> AggregateStatus(json::Value object, json::Value items) const;
  rt::Task<Result<json::Value>> ReflectStatus(json::Value observed) const;
  rt::Task<Result<bool>> InterpretHealth(json::Value observed) const;
  rt::Task<Result<std::vector<json::Value>>> GetDependencies(json::Value object) const;

 private:
  rt::Task<Result<json::Value>> Ask(std::shared_ptr<const interpret::Webhook> webhook,
                                    interpret::InterpretQuestion question) const;

  const interpret::Interpreter& interpreter_;
  rt::Loop& loop_;
  PostToWebhook post_;
};

}  // namespace baton::federation
