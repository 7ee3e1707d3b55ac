// LocalApi: the API server in this process, called directly. Answers are the very values that the server keeps decoded,
// so that nothing is printed, copied or parsed; what a caller changes is a copy (json::Value is copy-on-write).
//
// It asks as the given user, whom nothing authorizes: who has a Backend in hand may do everything. A call through here
// meets the same defaulting, admission and validation as one over HTTPS, and the same errors. Not for requests that are
// answered and not kept (reviews, tokens).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "apiserver/backend.h"
#include "kube/api.h"

namespace baton::kube {

struct LocalApiOptions {
  std::string user = "system:baton";
  std::string user_agent = "baton";
};

class LocalApi final : public Api {
 public:
  // The backend outlives this.
  explicit LocalApi(apiserver::Backend& backend, LocalApiOptions options = {});

  rt::Loop& loop() override { return backend_.core().loop(); }
  rt::Task<Result<Answer>> Do(CallBox call, rt::Deadline deadline) override;
  rt::Task<Result<std::unique_ptr<Watch>>> OpenWatch(WatchCall call, rt::Deadline deadline) override;
  rt::Task<Result<Discovered>> Discover(rt::Deadline deadline) override;

 private:
  rt::Task<Result<Answer>> Serve(CallBox call);
  rt::Task<Result<Answer>> ServeRead(const Call& call, apiserver::Target target);
  rt::Task<Result<Answer>> ServeList(const Call& call, apiserver::Target target);
  rt::Task<Result<Answer>> ServeWrite(Call& call, apiserver::Target target);
  rt::Task<Result<Answer>> ServeDelete(const Call& call, apiserver::Target target);
  Result<apiserver::Target> TargetOf(const Resource& resource, std::string ns, std::string name,
                                     std::string subresource) const;

  apiserver::Backend& backend_;
  LocalApiOptions options_;
  Discovered discovered_;  // as of this generation of the server's kinds
  std::optional<uint64_t> discovered_at_;
};

}  // namespace baton::kube
