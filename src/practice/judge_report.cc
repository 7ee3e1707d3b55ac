// A report as a table and as JSON.
#include <algorithm>

#include "base/strings.h"
#include "json/value.h"
#include "practice/judge.h"

namespace baton::practice {

using json::Value;

namespace {

std::string Seconds(int64_t ms) {
  const int64_t tenths = ms / 100;
  return StrCat(tenths / 10, ".", tenths % 10, " s");
}

constexpr size_t kLabelWidth = 14;
constexpr size_t kJobDigits = 8;

void Field(std::string& out, std::string_view label, std::string_view value, std::string_view note = {}) {
  StrAppend(out, "  ", label, std::string(label.size() < kLabelWidth ? kLabelWidth - label.size() : 1, ' '), value);
  if (!note.empty()) StrAppend(out, "   ", note);
  out += '\n';
}

std::string Short(const JudgeWriter& writer) {
  return StrCat(writer.cluster, " (job ", std::string_view(writer.job_id).substr(0, kJobDigits), ", epoch ",
                writer.epoch, ")");
}

}  // namespace

std::string JudgeReport::Text() const {
  std::string text =
      StrCat(ns, "/", name, ": ", clean() ? "every record once, in order, by one writer at a time" : "NOT CLEAN", "\n");
  const int64_t zero = writers.empty() ? 0 : writers.front().begin_ms;
  Field(text, "in", StrCat(in), "records of the source");
  Field(text, "out", StrCat(this->out), "rows of the sink");
  Field(text, "waiting", StrCat(waiting), waiting == 0 ? "" : "not written yet");
  Field(text, "lost", StrCat(lost), lost == 0 ? "" : "missing, though later ones are there");
  Field(text, "duplicated", StrCat(duplicated));
  Field(text, "reprocessed", StrCat(reprocessed), reprocessed == 0 ? "" : "records read more than once");
  Field(text, "out of order", StrCat(out_of_order));
  Field(text, "wrong state", StrCat(wrong_state),
        wrong_state == 0 ? "" : "rows that do not follow from all before them");
  if (invented > 0) Field(text, "invented", StrCat(invented), "rows of records that the source never had");
  if (unreadable > 0) Field(text, "unreadable", StrCat(unreadable), "lines of the sink");
  if (epochs_back > 0) Field(text, "epochs back", StrCat(epochs_back), "commits of an epoch older than one before");
  Field(text, "overlaps", StrCat(overlap_count), overlap_count == 0 ? "" : "two writers at one time");
  Field(text, "silence", Seconds(longest_silence_ms),
        longest_silence_ms == 0 ? "" : StrCat("the longest, from ", Seconds(silence_begin_ms - zero), " on"));
  for (const JudgeWriter& writer : writers) {
    Field(text, "writer", StrCat(Seconds(writer.begin_ms - zero), " to ", Seconds(writer.end_ms - zero)),
          StrCat(Short(writer), ", ", writer.rows, " rows, from ", writer.from == "-" ? "nothing" : writer.from, ", ",
                 writer.end.empty() ? "not ended" : writer.end));
  }
  for (const JudgeOverlap& overlap : overlaps) {
    Field(text, "overlap", StrCat(Seconds(overlap.begin_ms - zero), " to ", Seconds(overlap.end_ms - zero)),
          StrCat(Short(writers[overlap.a]), " and ", Short(writers[overlap.b])));
  }
  return text;
}

Value JudgeReport::Json() const {
  Value list = json::Array();
  for (const JudgeWriter& writer : writers) {
    list.Push(json::Object({{"cluster", writer.cluster},
                            {"jobId", writer.job_id},
                            {"epoch", writer.epoch},
                            {"from", writer.from},
                            {"beginMs", writer.begin_ms},
                            {"endMs", writer.end_ms},
                            {"end", writer.end},
                            {"rows", writer.rows}}));
  }
  Value pairs = json::Array();
  for (const JudgeOverlap& overlap : overlaps) {
    pairs.Push(
        json::Object({{"a", overlap.a}, {"b", overlap.b}, {"beginMs", overlap.begin_ms}, {"endMs", overlap.end_ms}}));
  }
  Value epoch_list = json::Array();
  for (const std::string& epoch : epochs) epoch_list.Push(epoch);
  return json::Object({{"namespace", ns},
                       {"name", name},
                       {"clean", clean()},
                       {"in", in},
                       {"out", out},
                       {"waiting", waiting},
                       {"lost", lost},
                       {"duplicated", duplicated},
                       {"reprocessed", reprocessed},
                       {"outOfOrder", out_of_order},
                       {"wrongState", wrong_state},
                       {"invented", invented},
                       {"unreadable", unreadable},
                       {"epochsBack", epochs_back},
                       {"overlapCount", overlap_count},
                       {"overlaps", pairs},
                       {"epochs", epoch_list},
                       {"longestSilenceMs", longest_silence_ms},
                       {"silenceBeginMs", silence_begin_ms},
                       {"writers", list}});
}

}  // namespace baton::practice
