// What is expected of moves, processes and records.
#include <algorithm>
#include <optional>

#include "base/strings.h"
#include "rollout/records.h"
#include "sim/scene.h"
#include "sim/stage.h"

namespace baton::sim {

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines): awaited by the frame that they capture
namespace {

constexpr Duration kRunsWithin = minutes(5);

std::string Joined(const std::vector<std::string>& words, std::string_view none) {
  std::string text;
  for (const std::string& word : words) StrAppend(text, text.empty() ? "" : " and ", word);
  return text.empty() ? std::string(none) : text;
}

bool HasBeen(const Value& migration, std::string_view phase) {
  return std::ranges::any_of(migration["status"]["timeline"].items(),
                             [&](const Value& one) { return one["phase"].str() == phase; });
}

std::string WithoutText(const Value& migration, const Value& wanted) {
  if (wanted.is_null() || migration["status"]["message"].str().find(wanted.str()) != std::string_view::npos) return "";
  return StrCat("its message should contain ", wanted.ToString(), " and is: ", migration["status"]["message"].str());
}

// One number of the judge's table, by its name in a story.
std::optional<uint64_t> NumberOf(const practice::JudgeReport& report, std::string_view name) {
  if (name == "lost") return report.lost;
  if (name == "duplicated") return report.duplicated;
  if (name == "overlapping") return report.overlap_count;
  if (name == "outOfOrder") return report.out_of_order;
  if (name == "wrongState") return report.wrong_state;
  if (name == "writers") return report.writers.size();
  return std::nullopt;
}

std::string CompareReport(const practice::JudgeReport& report, const Value& wanted) {
  for (const json::Member& one : wanted.members()) {
    if (!one.value().is_int()) return StrCat(one.key(), " is a number, and not ", one.value().ToString());
    const auto number = static_cast<uint64_t>(one.value().int_or(0));
    if (one.key() == "atLeast" && report.out < number)
      return StrCat("at least ", number, " records should have come out; the judge says:\n", report.Text());
    const std::optional<uint64_t> is = NumberOf(report, one.key());
    if (is && *is != number)
      return StrCat(one.key(), " should be ", number, " and is ", *is, "; the judge says:\n", report.Text());
  }
  return "";
}

}  // namespace

rt::Task<std::string> SimStage::Expectation(const Step& step) {
  if (step.Is("phase")) co_return co_await Phase(step);
  if (step.Is("blocked")) co_return co_await Blocked(step);
  if (step.Is("runs")) co_return co_await Runs(step);
  if (step.Is("writer")) co_return co_await Writer(step);
  if (step.Is("receipts")) co_return co_await Receipts(step);
  if (step.Is("judge")) co_return co_await Judge(step);
  if (step.Is("moves")) co_return co_await Moves(step);
  if (step.Is("down")) co_return Down(step);
  co_return StrCat("this world has no ", step.verb->name);
}

rt::Task<Result<Value>> SimStage::MoveOf(Value of) {
  const std::string name(of.str_or("move"));
  Value found;
  const auto moves = CO_TRY(co_await world_.hub().ListAll(kMigrations));
  for (const Value& move : moves.items) {
    const Value& workload = move["spec"]["workload"];
    const bool its =
        of.is_object() ? workload["kind"] == of["kind"] && workload["name"] == of["name"] : kube::NameOf(move) == name;
    const auto made = [](const Value& one) { return one["metadata"]["creationTimestamp"].str(); };
    if (its && (found.is_null() || made(found) <= made(move))) found = move;
  }
  if (found.is_null() && of.is_object())
    co_return NotFoundError(StrCat("there is no move of ", of["kind"].str(), "/", of["name"].str()));
  if (found.is_null()) co_return NotFoundError(StrCat("there is no move ", name));
  co_return found;
}

// ---- moves ----

// It is in that phase, or has been.
rt::Task<std::string> SimStage::UntilPhase(const Step& step) {
  const std::string phase(step.what.str());
  if (!rollout::PhaseFromName(phase)) co_return StrCat("no phase is called ", step.what.ToString());
  const Result<Duration> within = scenario::TimeOf(step.whole["within"], scenario::kUntilWithin);
  if (!within.ok()) co_return within.error().message();
  std::string last;
  const bool came = co_await world_.Until(
      [&]() -> rt::Task<bool> {
        const Result<Value> move = co_await MoveOf(step.whole["of"]);
        last = move.ok() ? StrCat("it is ", Scene::Said(*move)) : move.error().message();
        co_return move.ok() && HasBeen(*move, phase);
      },
      *within);
  co_return came ? "" : StrCat("it never was ", phase, "; ", last);
}

rt::Task<std::string> SimStage::Phase(const Step& step) {
  const std::string phase(step.what.str());
  if (!rollout::PhaseFromName(phase)) co_return StrCat("no phase is called ", step.what.ToString());
  const Result<Duration> within = scenario::TimeOf(step.whole["within"], kWithin);
  if (!within.ok()) co_return within.error().message();
  Result<Value> move = NotFoundError("");
  co_await world_.Until(
      [&]() -> rt::Task<bool> {
        move = co_await MoveOf(step.whole["of"]);
        co_return move.ok() && ((*move)["status"]["phase"].str() == phase || Scene::IsOver(*move));
      },
      *within);
  if (!move.ok()) co_return move.error().message();
  if ((*move)["status"]["phase"].str() != phase)
    co_return StrCat("it should be ", phase, " and is ", Scene::Said(*move));
  co_return WithoutText(*move, step.whole["contains"]);
}

rt::Task<std::string> SimStage::Blocked(const Step& step) {
  const Result<Duration> within = scenario::TimeOf(step.whole["within"], kWithin);
  if (!within.ok()) co_return within.error().message();
  Result<Value> move = NotFoundError("");
  co_await world_.Until(
      [&]() -> rt::Task<bool> {
        move = co_await MoveOf(step.what);
        co_return move.ok() && (Scene::IsBlocked(*move) || Scene::IsOver(*move));
      },
      *within);
  if (!move.ok()) co_return move.error().message();
  if (!Scene::IsBlocked(*move)) co_return StrCat("no person is asked; it is ", Scene::Said(*move));
  co_return WithoutText(*move, step.whole["contains"]);
}

rt::Task<std::string> SimStage::Moves(const Step& step) {
  const auto moves = co_await world_.hub().ListAll(kMigrations);
  if (!moves.ok()) co_return moves.error().message();
  if (!step.what.is_int()) co_return StrCat("moves is a number, and not ", step.what.ToString());
  if (static_cast<int64_t>(moves->items.size()) == step.what.int_or(-1)) co_return "";
  std::string all;
  for (const Value& move : moves->items) StrAppend(all, " ", kube::NameOf(move), " (", Scene::Said(move), ")");
  co_return StrCat("there should be ", step.what.ToString(), " moves and there are ", moves->items.size(), ":", all);
}

// ---- processes, and who may write ----

std::string SimStage::Down(const Step& step) {
  const Result<Duration> most = scenario::TimeOf(step.what, {});
  if (!most.ok() || *most <= Duration{}) return StrCat("down is a time, and not ", step.what.ToString());
  const Duration longest = checkers_.longest_outage();
  if (longest <= *most) return "";
  return StrCat("a workload should run nowhere for ", step.what.str(), " at most, and one did for ",
                longest / milliseconds(1), " ms");
}

rt::Task<std::string> SimStage::Runs(const Step& step) {
  const Result<Workload> workload = Workload::Of(step.what["kind"].str(), step.what["name"].str());
  if (!workload.ok()) co_return workload.error().message();
  const Result<Duration> within = scenario::TimeOf(step.whole["within"], kRunsWithin);
  if (!within.ok()) co_return within.error().message();
  const Value& in = step.whole["in"];
  std::vector<std::string> allowed;
  if (in.is_string() && in.str() != "nowhere") allowed.emplace_back(in.str());
  for (const Value& one : in.items()) allowed.emplace_back(one.str());
  for (const std::string& name : allowed) {
    if (!world_.has_member(name)) co_return StrCat("there is no cluster ", name);
  }
  const auto holds = [&]() -> rt::Task<bool> {
    const std::vector<std::string> where = RunningIn(world_, *workload);
    if (in.str() == "nowhere") co_return where.empty();
    co_return where.size() == 1 && (allowed.empty() || std::ranges::find(allowed, where[0]) != allowed.end());
  };
  if (co_await world_.Until(holds, *within)) co_return "";
  co_return StrCat(workload->Text(), " should run in ", in.is_null() ? "one cluster" : in.ToString(), " and runs ",
                   RunningIn(world_, *workload).empty() ? "" : "in ", Joined(RunningIn(world_, *workload), "nowhere"));
}

rt::Task<std::string> SimStage::Writer(const Step& step) {
  const Result<Workload> workload = Workload::Of(step.what["kind"].str(), step.what["name"].str());
  if (!workload.ok()) co_return workload.error().message();
  const Result<Duration> within = scenario::TimeOf(step.whole["within"], scenario::kExpectWithin);
  if (!within.ok()) co_return within.error().message();
  Value writer;
  const bool is = co_await world_.Until(
      [&]() -> rt::Task<bool> {
        writer = co_await world_.OnHub(kWriters, StrCat(workload->name.ns, "/", workload->BindingName()));
        co_return writer["spec"]["holder"]["cluster"] == step.whole["cluster"];
      },
      *within);
  if (is) co_return "";
  if (writer.is_null()) co_return StrCat(workload->Text(), " has no Writer");
  co_return StrCat("the writer of ", workload->Text(), " should be ", step.whole["cluster"].ToString(), " and is ",
                   writer["spec"]["holder"]["cluster"].ToString());
}

rt::Task<std::string> SimStage::Receipts(const Step& step) {
  const Result<Workload> workload = Workload::Of(step.what["kind"].str(), step.what["name"].str());
  if (!workload.ok()) co_return workload.error().message();
  const Value spec = (co_await world_.OnHub(kWriters, StrCat(workload->name.ns, "/", workload->BindingName())))["spec"];
  const auto count = static_cast<int64_t>(spec["receipts"].size()) + (spec["receipt"].is_object() ? 1 : 0);
  if (step.whole.Has("count") && count != step.whole["count"].int_or(-1))
    co_return StrCat("there should be ", step.whole["count"].ToString(), " receipts and there are ", count,
                     "; the last: ", spec["receipt"].ToString());
  for (const json::Member& one : step.whole["last"].members()) {
    if (spec["receipt"][one.key()] != one.value())
      co_return StrCat(one.key(), " of the last receipt should be ", one.value().ToString(),
                       "; it is: ", spec["receipt"].ToString());
  }
  co_return "";
}

// ---- records ----

rt::Task<std::string> SimStage::Judge(const Step& step) {
  std::vector<Workload> all = checkers_.workloads();
  if (step.whole.Has("of")) {
    const Value& of = step.whole["of"];
    const Result<Workload> workload = Workload::Of(of["kind"].str(), of["name"].str());
    if (!workload.ok()) co_return workload.error().message();
    all = {*workload};
  }
  if (all.empty()) co_return "there is nothing to judge: no workload was started";
  for (const Workload& workload : all) {
    const auto report = co_await world_.Judge(workload.name.ns, workload.JudgeName());
    if (!report.ok()) co_return StrCat("the judge could not read ", workload.Text(), ": ", report.error().message());
    const std::string wrong = CompareReport(*report, step.what);
    if (!wrong.empty()) co_return StrCat(workload.Text(), ": ", wrong);
  }
  co_return "";
}

// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines)

}  // namespace baton::sim
