// Any bytes as a source's log, a sink's log and a state: reading is total, counts add up, and a state is read back.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/invariant.h"
#include "practice/judge.h"
#include "practice/state.h"
#include "practice/storage.h"
#include "rt/simulated_files.h"
#include "rt/virtual_loop.h"

namespace baton::practice {
namespace {

rt::Task<void> JudgeBytes(rt::Files& files, std::string source, std::string sink) {
  const Storage storage(files);
  INVARIANT((co_await storage.Write("shared/source/n/w/log", source)).ok(), "writing the source");
  INVARIANT((co_await storage.Write("shared/sink/n/w/log", sink)).ok(), "writing the sink");
  const auto report = co_await Judge(files, "", "n", "w");
  if (!report.ok()) co_return;
  INVARIANT(report->in >= report->lost + report->waiting, "more is missing than there was");
  INVARIANT(report->out >= report->duplicated + report->invented, "more is wrong than there is");
  INVARIANT(report->in - report->lost - report->waiting == report->out - report->duplicated - report->invented,
            "records and rows do not add up");
  INVARIANT(!report->Text().empty() && report->Json().is_object(), "no report");
}

}  // namespace
}  // namespace baton::practice

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace baton;  // NOLINT(google-build-using-namespace)
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Result<practice::JobState> state = practice::JobState::Decode(text);
  if (state.ok())
    INVARIANT(*practice::JobState::Decode(state->Encode()) == *state, "a state changes when it is written");
  // Small numbers only: a source of a billion records is real, but slow.
  size_t digits = 0;
  for (const char c : text) {
    digits = c >= '0' && c <= '9' ? digits + 1 : 0;
    if (digits > 4) return 0;
  }
  rt::VirtualLoop loop(1);
  rt::SimulatedFiles files(loop);
  const size_t half = text.find('#');
  const std::string source = "practice-source 1 2 3\n1 20 30\n";
  loop.Run(practice::JudgeBytes(files, half == std::string_view::npos ? source : std::string(text.substr(0, half)),
                                std::string(half == std::string_view::npos ? text : text.substr(half + 1))));
  return 0;
}
