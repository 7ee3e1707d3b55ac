// Credentials: what shows a server who asks, and which server is meant, kept fresh: a token, a certificate with its key
// or a certificate authority in files that somebody rewrites, a program that gives tokens or certificates
// (client.authentication.k8s.io), or what stays as it is.
//
//   std::shared_ptr<const Credential> now = credentials.Ready();
//   if (now == nullptr) now = CO_TRY(co_await credentials.Get(deadline));
//   ... the server answers 401 ...
//   if (CO_TRY(co_await credentials.Refused(*now, deadline))) ...   // there is another one: ask again
//
// A file that is not there for a moment, that holds no certificate, or a certificate that does not go with its key (one
// of the two is replaced, the other not yet) changes nothing: the last good one is shown, and the server judges it.
//
// Calls may overlap: a file is read and a program run once for all of them. Errors never hold a secret; a program's
// standard error is in them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "kube/kubeconfig.h"
#include "rt/files.h"
#include "rt/loop.h"
#include "rt/semaphore.h"
#include "rt/task.h"

namespace baton::kube {

inline constexpr Duration kFilesCheckEvery = seconds(1);  // when there are calls; a 401 or a broken call looks at once
inline constexpr Duration kExecTimeout = seconds(20);     // of one run of a credential program
inline constexpr Duration kExecPause = seconds(5);        // after a failed run, and between runs for a 401

// One state of the credentials.
struct Credential {
  std::string authorization;             // the header's value; "": none
  std::string certificate_pem, key_pem;  // both or none
  std::string ca_pem;                    // whom to trust
  uint64_t generation = 0;               // grows with every change
};

// What a program answered.
struct ExecCredential {
  std::string token;
  std::string certificate_pem, key_pem;
  std::optional<WallTime> expires;
};
Result<ExecCredential> ParseExecCredential(std::string_view text, std::string_view api_version);
// The text of KUBERNETES_EXEC_INFO.
std::string ExecInfo(const ClusterAccess& access);

class Credentials {
 public:
  struct Options {
    rt::Files* files = nullptr;            // its root is "/"; only for files that are read again; outlives this
    std::vector<std::string> environment;  // "NAME=value": what a credential program gets, PATH to find it included
  };
  Credentials(rt::Loop& loop, const ClusterAccess& access, Options options);

  // What the access asks for that cannot be done.
  Result<void> Check() const;

  std::shared_ptr<const Credential> Ready();  // null: Get() has work to do
  std::shared_ptr<const Credential> last() const { return current_; }
  rt::Task<Result<std::shared_ptr<const Credential>>> Get(rt::Deadline deadline);
  // Whether there is another one now than `used`, which the server did not take.
  rt::Task<Result<bool>> Refused(std::shared_ptr<const Credential> used, rt::Deadline deadline);
  bool renewable() const { return HasFiles() || access_.exec.has_value(); }
  // A call broke: the next one looks at the files, whenever they were last looked at.
  void LookAgain() { last_look_.reset(); }

 private:
  rt::Task<Result<void>> Renew();
  rt::Task<void> ReadFiles();
  rt::Task<void> ReadCertificateFiles(Credential& next);
  rt::Task<Result<void>> RunExec();
  rt::Task<Result<ExecCredential>> AskProgram() const;
  void Change(Credential credential);
  bool Fresh() const { return ProgramFresh() && FilesFresh(); }
  bool ProgramFresh() const;
  bool FilesFresh() const;
  bool HasFiles() const;

  rt::Loop& loop_;
  ClusterAccess access_;
  Options options_;
  std::shared_ptr<const Credential> current_;
  std::optional<WallTime> expires_;            // of a program's
  bool wanted_anew_ = true;                    // a program has not been asked yet, or its answer was refused
  std::optional<MonotonicTime> last_look_;     // at the files
  std::optional<MonotonicTime> last_run_;      // of the program
  std::optional<Error> last_failure_;          // of the program
  std::optional<MonotonicTime> last_refused_;  // when the program was last asked anew for a 401
  rt::Mutex renewing_;
};

}  // namespace baton::kube
