// Harness: a store on one of its engines, with blocking helpers, so that tests of the contract read as a list of steps.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "rt/real_loop.h"
#include "rt/virtual_loop.h"
#include "store/rocks_engine.h"
#include "store/store.h"
#include "store/testing/fake_engine.h"
#include "store/testing/power_cut_file_system.h"
#include "store/testing/temporary_directory.h"

namespace baton::store {

enum class EngineKind : uint8_t {
  kMemory,        // on the virtual loop
  kFake,          // on the virtual loop, survives its store
  kRocks,         // on the real loop and disk
  kRocksInMemory  // on the virtual loop and a PowerCutFileSystem
};
inline std::string NameOf(EngineKind kind) {
  constexpr const char* kNames[] = {"memory", "fake", "rocks", "rocks_in_memory"};
  return kNames[static_cast<size_t>(kind)];
}
inline void PrintTo(EngineKind kind, std::ostream* out) { *out << NameOf(kind); }

class Harness {
 public:
  explicit Harness(EngineKind kind, uint64_t seed = 1) : kind_(kind), memory_disk_(seed) {
    memory_disk_.MakeDirectory("data");
    if (kind == EngineKind::kRocks) {
      loop_ = std::make_unique<rt::RealLoop>();
    } else {
      loop_ = std::make_unique<rt::VirtualLoop>(seed);
    }
  }

  rt::Loop& loop() { return *loop_; }
  Store& store() { return *store_; }
  bool durable() const { return kind_ != EngineKind::kMemory; }
  FakeDisk& fake_disk() { return *fake_disk_; }
  PowerCutFileSystem& memory_disk() { return memory_disk_; }
  const std::string& directory() const { return directory_.path(); }
  RocksOptions& rocks_options() { return rocks_options_; }
  void UseDirectory(std::string path) { rocks_directory_ = std::move(path); }

  template <class T>
  T Run(rt::Task<T> task) {
    return loop_->Run(std::move(task));
  }

  std::unique_ptr<Engine> MakeEngine() {
    switch (kind_) {
      case EngineKind::kMemory:
        return MakeMemoryEngine();
      case EngineKind::kFake:
        return MakeFakeEngine(*loop_, fake_disk_);
      case EngineKind::kRocks:
        rocks_options_.directory = rocks_directory_.empty() ? directory_.path() : rocks_directory_;
        return MakeRocksEngine(*loop_, rocks_options_);
      case EngineKind::kRocksInMemory:
        rocks_options_.directory = "data";
        rocks_options_.file_system_for_test = memory_disk_.system();
        return MakeRocksEngine(*loop_, rocks_options_);
    }
    return nullptr;
  }

  Result<void> TryOpen(StoreLimits limits = {}) {
    store_ = nullptr;
    Result<std::unique_ptr<Store>> opened = Run(Store::Open(*loop_, MakeEngine(), limits));
    if (!opened.ok()) return opened.error();
    store_ = *std::move(opened);
    return {};
  }
  void Open(StoreLimits limits = {}) { TryOpen(limits).value(); }
  void Drop() { store_ = nullptr; }

  Result<Revision> Commit(Transaction transaction) { return Run(store_->Commit(std::move(transaction))); }
  Revision Put(const std::string& key, const std::string& value) {
    return Commit(Transaction().Put(key, value)).value();
  }
  Revision Delete(const std::string& key) { return Commit(Transaction().Delete(key)).value(); }
  Result<void> Compact(Revision revision) { return Run(store_->Compact(revision)); }

  // "value" or "-"
  std::string Value(const std::string& key, Revision at = {}) {
    const std::optional<Entry> entry = store_->Get(key, at).value();
    return entry ? *entry->value : "-";
  }

  // "key=value key=value", sorted
  std::string List(const std::string& prefix = "", const ListOptions& options = {}) {
    std::string text;
    for (const Entry& entry : store_->List(prefix, options).value().entries) {
      text += (text.empty() ? "" : " ") + entry.key + "=" + *entry.value;
    }
    return text;
  }

 private:
  EngineKind kind_;
  TemporaryDirectory directory_;
  std::string rocks_directory_;  // instead of it, when set
  PowerCutFileSystem memory_disk_;
  std::shared_ptr<FakeDisk> fake_disk_ = std::make_shared<FakeDisk>();
  RocksOptions rocks_options_;
  std::unique_ptr<rt::Loop> loop_;
  std::unique_ptr<Store> store_;
};

// "5:put a=1(was -)" for each event: enough to compare whole histories.
inline std::string ToText(const Event& event) {
  std::string text = std::to_string(event.revision.value()) + (event.deleted() ? ":del " : ":put ") + event.key;
  if (!event.deleted()) text += "=" + *event.value;
  text += "@" + std::to_string(event.create_revision.value());
  return text + (event.previous != nullptr ? "(was " + *event.previous + ")" : "(new)");
}
inline std::vector<std::string> ToTexts(const std::vector<std::shared_ptr<const Event>>& events) {
  std::vector<std::string> texts;
  for (const auto& event : events) texts.push_back(ToText(*event));
  return texts;
}

}  // namespace baton::store
