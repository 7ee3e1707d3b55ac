// store_crash_writer DIRECTORY: writes to a store with several writers at once until it is killed, and says what was
// acknowledged, each line in one write(2): "open REVISION", then "ack REVISION WRITER COUNTER". Every writer goes on
// where it had come to. Now and then it compacts.
#include <unistd.h>

#include <cstdio>
#include <string>
#include <utility>

#include "rt/real_loop.h"
#include "rt/scope.h"
#include "store/rocks_engine.h"
#include "store/store.h"
#include "store/testing/crash_payload.h"

namespace baton::store {
namespace {

void Say(const std::string& line) {
  if (write(STDOUT_FILENO, line.data(), line.size()) < 0) _exit(3);
}

rt::Task<void> Write(rt::Loop& loop, Store& store, int writer) {
  const std::optional<Entry> entry = store.Get(CrashKey(writer, 0)).value();
  for (int64_t counter = entry ? CrashCounter(*entry->value) + 1 : 1;; ++counter) {
    Transaction transaction;
    if (const std::optional<Entry> last = store.Get(CrashKey(writer, 0)).value()) {
      transaction.If(CrashKey(writer, 0), last->mod_revision);
    }
    for (int which = 0; which < 2; ++which) transaction.Put(CrashKey(writer, which), CrashValue(writer, counter));
    if (counter % 5 == 0) transaction.Delete(StrCat("note/", writer, "/", counter - 5));
    transaction.Put(StrCat("note/", writer, "/", counter % 10), "x");
    const Revision revision = (co_await store.Commit(std::move(transaction))).value();
    Say(StrCat("ack ", revision.value(), " ", writer, " ", counter, "\n"));
    if (loop.random().Chance(0.01)) {
      const Revision to(loop.random().Between(store.compacted().value(), store.revision().value()));
      (co_await store.Compact(to)).value();
    }
  }
}

rt::Task<int> Run(rt::Loop& loop, std::string directory) {
  Result<std::unique_ptr<Store>> opened = co_await Store::Open(
      loop, MakeRocksEngine(loop, {.directory = std::move(directory), .memtable_bytes_for_test = 4U << 20}));
  if (!opened.ok()) {
    std::fprintf(stderr, "store_crash_writer: %s\n", opened.error().message().c_str());
    co_return 1;
  }
  Store& store = **opened;
  Say(StrCat("open ", store.revision().value(), "\n"));
  rt::Scope scope(loop);
  for (int writer = 0; writer < kCrashWriters; ++writer) scope.Spawn(Write(loop, store, writer));
  co_await scope.Join();
  co_return 0;
}

}  // namespace
}  // namespace baton::store

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: store_crash_writer DIRECTORY\n");
    return 2;
  }
  baton::rt::RealLoop loop;
  return loop.Run(baton::store::Run(loop, argv[1]));
}
