#include "sim/heap.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>

#include "sim/processes.h"

namespace baton::sim {
namespace {

#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kIsThere = false;
#else
constexpr bool kIsThere = true;
#endif

// What a child process says: "" when all was well. The tests' own process goes on with malloc.
std::string InAChild(const Processes::Work& work) {
  std::string said = "nothing";
  Processes processes(1);
  const Result<void> ran =
      processes.RunAll([&](uint64_t id) { return id == 0 ? work : nullptr; },
                       [&](uint64_t, const ChildOutput& output) { said = output.text + output.died; });
  return ran.ok() ? said : ran.error().ToString();
}

bool NewIsOfTheHeap() { return IsOfSimulationHeap(std::make_unique<int>(1).get()); }

TEST(SimulationHeapTest, AProgramThatDoesNotAskForItHasMalloc) { EXPECT_FALSE(NewIsOfTheHeap()); }

TEST(SimulationHeapTest, SmallBlocksComeFromItAndWhatWasThereBeforeIsFreedAsItWasMade) {
  EXPECT_EQ(InAChild([]() -> std::string {
              auto before = std::make_unique<std::string>(100, 'a');
              UseSimulationHeap();
              before->append(5000, 'b');  // gives back malloc's
              before = nullptr;
              if (NewIsOfTheHeap() != kIsThere) return "a small block";
              if (IsOfSimulationHeap(std::make_unique<char[]>(100'000).get())) return "a large block";
              return "";
            }),
            "");
}

TEST(SimulationHeapTest, WithASecondThreadItIsMallocAgain) {
  EXPECT_EQ(InAChild([]() -> std::string {
              UseSimulationHeap();
              auto before = std::make_unique<int>(1);
              bool used = true;
              std::thread([&] {
                used = NewIsOfTheHeap();
                before = nullptr;
              }).join();
              return used ? "a block of another thread's" : "";
            }),
            "");
}

TEST(SimulationHeapTest, AForkUsesItsParentsBlocksAndDeletesThem) {
  EXPECT_EQ(InAChild([]() -> std::string {
              UseSimulationHeap();
              auto text = std::make_unique<std::string>("a text that is too long to be kept in place");
              const Result<Branch> branch = Branch::Fork();
              if (!branch.ok()) return branch.error().ToString();
              if (branch->in_child()) {
                const std::string copy = *text + ".";
                text = nullptr;
                branch->End(copy);
              }
              return branch->output().text == *text + "." ? branch->output().died : "another text";
            }),
            "");
}

}  // namespace
}  // namespace baton::sim
