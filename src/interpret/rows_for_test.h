// Tables of questions and answers, written in YAML's flow style.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "interpret/question.h"
#include "json/print.h"
#include "json/rfc3339.h"
#include "json/yaml.h"

namespace baton::interpret {

struct Row {
  const char* api_version;
  const char* kind;
  Operation operation;
  const char* object;  // without apiVersion and kind
  const char* extra =
      "";  // kRetain: the observed object; kAggregate: the items' statuses by cluster; kRevise: a number
  const char* expected = "";  // the answer; objects without apiVersion and kind. "error: text": an error with that text
};

inline json::Value Flow(std::string_view text) {
  Result<json::Value> value = json::ParseYaml(text);
  EXPECT_TRUE(value.ok()) << text << ": " << (value.ok() ? "" : value.error().message());
  return value.ok() ? *std::move(value) : json::Value();
}

// {a: {replicas: 1}, b: null} as aggregatedStatus.
inline json::Value ItemsOf(const json::Value& statuses) {
  json::Value items = json::Array();
  for (const json::Member& member : statuses.members()) {
    json::Value item = json::Object({{"clusterName", member.key()}, {"applied", true}, {"health", "Healthy"}});
    if (!member.value().is_null()) item.Set("status", member.value());
    items.Push(std::move(item));
  }
  return items;
}

inline std::string AnswerText(const Interpreter& interpreter, const Row& row) {
  InterpretQuestion question;
  question.operation = row.operation;
  const auto identify = [&](json::Value object) {
    object.Set("apiVersion", row.api_version);
    object.Set("kind", row.kind);
    return object;
  };
  question.object = identify(Flow(row.object));
  const std::string_view extra = row.extra;
  if (row.operation == Operation::kRetain) question.observed = identify(Flow(extra));
  if (row.operation == Operation::kAggregate) question.items = ItemsOf(Flow(extra));
  if (row.operation == Operation::kRevise) question.replicas = Flow(extra).int_or(0);
  Result<json::Value> answer = Answer(interpreter, question);
  if (!answer.ok()) return "error: " + answer.error().message();
  if (answer->is_object()) {
    answer->Erase("apiVersion");
    answer->Erase("kind");
  }
  return json::Print(*answer);
}

inline void CheckRows(const Interpreter& interpreter, std::span<const Row> rows) {
  for (const Row& row : rows) {
    const std::string where =
        StrCat(row.api_version, " ", row.kind, " ", Names(row.operation).name, " ", row.object, " ", row.extra);
    const std::string got = AnswerText(interpreter, row);
    const std::string_view expected = row.expected;
    if (expected.starts_with("error: ")) {
      EXPECT_TRUE(got.starts_with("error: ") && got.find(expected.substr(7)) != std::string::npos)
          << where << "\n  got " << got;
    } else {
      EXPECT_EQ(got, json::Print(Flow(expected))) << where;
    }
  }
}

// Every kind and operation of the table has a row, and its health one of each verdict: what says the same of
// everything would pass with one.
inline void CheckCoverage(const HandlerTable& table, std::span<const Row> rows) {
  std::set<std::string> covered;
  for (const Row& row : rows) {
    const std::string key = StrCat(row.api_version, " ", row.kind, " ", Names(row.operation).name);
    covered.insert(key);
    if (row.operation == Operation::kHealth) covered.insert(StrCat(key, " ", row.expected));
  }
  for (const auto& [kind, handlers] : table) {
    for (const OperationNames& names : kOperationNames) {
      if (!handlers.Has(names.operation)) continue;
      const std::string key = StrCat(kind.api_version, " ", kind.kind, " ", names.name);
      EXPECT_TRUE(covered.contains(key)) << "no row for " << key;
      if (names.operation != Operation::kHealth) continue;
      EXPECT_TRUE(covered.contains(key + " true")) << "no row for " << key << " of a healthy one";
      EXPECT_TRUE(covered.contains(key + " false")) << "no row for " << key << " of one that is not";
    }
  }
}

// The kinds of the table have exactly these operations: letters R C V T S A H D as in facts/karmada.md 4.4.
inline std::string LettersOf(const Handlers& handlers) {
  constexpr std::pair<Operation, char> kLetters[] = {{Operation::kReplica, 'R'}, {Operation::kComponent, 'C'},
                                                     {Operation::kRevise, 'V'},  {Operation::kRetain, 'T'},
                                                     {Operation::kReflect, 'S'}, {Operation::kAggregate, 'A'},
                                                     {Operation::kHealth, 'H'},  {Operation::kDependency, 'D'}};
  std::string letters;
  for (const auto& [operation, letter] : kLetters) {
    if (handlers.Has(operation)) letters.push_back(letter);
  }
  return letters;
}

inline WallTime TestNow() { return json::ParseTime("2026-02-03T04:05:06Z").value(); }

}  // namespace baton::interpret
