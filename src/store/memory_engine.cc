// The engine that keeps nothing: for --ephemeral servers, practice clusters and tests.
#include "store/engine.h"

namespace baton::store {
namespace {

class MemoryEngine final : public Engine {
 public:
  rt::Task<Result<Loaded>> Load(LoadEach /*each*/) override { co_return Loaded{}; }
  rt::Task<Result<void>> Write(std::vector<LogRecord> /*records*/) override { co_return Result<void>(); }
  rt::Task<Result<void>> Compact(Revision /*compacted*/, std::vector<Superseded> /*superseded*/) override {
    co_return Result<void>();
  }
  rt::Task<void> Close() override { co_return; }
};

}  // namespace

std::unique_ptr<Engine> MakeMemoryEngine() { return std::make_unique<MemoryEngine>(); }

}  // namespace baton::store
