// The durable engine: the blocking log, in the pool.
#include "store/rocks_engine.h"

#include <utility>

#include "store/rocks_log.h"

namespace baton::store {
namespace {

// What runs in the pool owns the log, because it goes on when we are gone.
class RocksEngine final : public Engine {
 public:
  RocksEngine(rt::Loop& loop, RocksOptions options)
      : loop_(loop), log_(std::make_shared<RocksLog>(std::move(options))) {}

  rt::Task<Result<Loaded>> Load(LoadEach each) override {
    co_return co_await loop_.Offload([log = log_, each = std::move(each)] { return log->Load(each); });
  }
  rt::Task<Result<void>> Write(std::vector<LogRecord> records) override {
    co_return co_await loop_.Offload([log = log_, records = std::move(records)] { return log->Write(records); });
  }
  rt::Task<Result<void>> Compact(Revision compacted, std::vector<Superseded> superseded) override {
    co_return co_await loop_.Offload(
        [log = log_, compacted, superseded = std::move(superseded)] { return log->Compact(compacted, superseded); });
  }
  rt::Task<void> Close() override {
    co_await loop_.Offload([log = log_] { log->Close(); });
  }

 private:
  rt::Loop& loop_;
  std::shared_ptr<RocksLog> log_;
};

}  // namespace

std::unique_ptr<Engine> MakeRocksEngine(rt::Loop& loop, RocksOptions options) {
  return std::make_unique<RocksEngine>(loop, std::move(options));
}

}  // namespace baton::store
