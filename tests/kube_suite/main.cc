// The kube suite's program. Alone it runs the tests; with a word before them it is a process that a test kills, pauses
// or leaves without a server, and says on standard output what it does, a line each:
//
//   kube_suite lead NAMESPACE LEASE IDENTITY     takes part in an election: "leading FENCE", then "work FENCE" ten
//   times a second kube_suite follow NAMESPACE                  an informer of ConfigMaps: "synced", and "NAME VALUE
//   lists=N"
//                                                or "NAME gone lists=N", N being how often it listed
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <string_view>

#include "kube/election.h"
#include "kube/informer.h"
#include "rt/scope.h"
#include "tests/kube_suite/support.h"

namespace baton::kube_suite {
namespace {

// Short, so that a test does not wait for long; the proportions are those of the defaults.
constexpr Duration kLease = seconds(6);
constexpr Duration kRenew = seconds(4);
constexpr Duration kRetry = seconds(1);

void Say(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

rt::Task<void> Work(rt::Loop& loop, int64_t fence) {
  struct Term {
    ~Term() { Say("lost"); }
  };
  const Term term;
  Say(StrCat("leading ", fence));
  while (true) {
    co_await loop.Sleep(milliseconds(100));
    Say(StrCat("work ", fence));
  }
}

rt::Task<void> Lead(rt::RealLoop& loop, std::string ns, std::string name, std::string identity) {
  const std::unique_ptr<kube::RemoteApi> api = Must(kube::RemoteApi::Make(loop, co_await TheAccess(loop)));
  kube::Election election(*api, {.ns = ns,
                                 .name = name,
                                 .identity = identity,
                                 .lease_duration = kLease,
                                 .renew_deadline = kRenew,
                                 .retry_period = kRetry});
  co_await election.Run([&](int64_t fence) { return Work(loop, fence); });
}

rt::Task<void> Follow(rt::RealLoop& loop, std::string ns) {
  const std::unique_ptr<kube::RemoteApi> api = Must(kube::RemoteApi::Make(loop, co_await TheAccess(loop)));
  kube::Informer informer(*api, kConfigMaps, {.ns = ns});
  informer.OnChange([&](const json::Value& before, const json::Value& now) {
    if (now.is_null()) return Say(StrCat(kube::NameOf(before), " gone lists=", informer.lists()));
    Say(StrCat(kube::NameOf(now), " ", now["data"]["k"].str(), " lists=", informer.lists()));
  });
  rt::Scope scope(loop);
  scope.Spawn(informer.Run());
  co_await informer.WaitSynced();
  Say("synced");
  co_await scope.Join();
}

}  // namespace
}  // namespace baton::kube_suite

int main(int argc, char** argv) {
  using namespace baton;  // NOLINT(google-build-using-namespace)
  rt::RealLoop loop;
  const std::string_view word = argc > 1 ? argv[1] : "";
  if (word == "lead" && argc == 5) {
    loop.Run(kube_suite::Lead(loop, argv[2], argv[3], argv[4]));
    return 0;
  }
  if (word == "follow" && argc == 3) {
    loop.Run(kube_suite::Follow(loop, argv[2]));
    return 0;
  }
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
