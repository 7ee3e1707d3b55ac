// INVARIANT: silent while it holds, one readable line when it does not.
#include "base/invariant.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace baton {
namespace {

TEST(InvariantTest, DoesNotEvaluateTheMessageWhileItHolds) {
  int evaluated = 0;
  const auto message = [&evaluated] {
    ++evaluated;
    return std::string("why");
  };
  INVARIANT(evaluated == 0, message());
  EXPECT_EQ(evaluated, 0);
}

TEST(InvariantDeathTest, SaysWhereWhatAndWhy) {
  const int seq = 3;
  EXPECT_DEATH(INVARIANT(seq == 4, "the seq went back"),
               "level=fatal msg=\"invariant broken\" at=.*base/invariant_test.cc:[0-9]+ condition=\"seq == 4\" "
               "why=\"the seq went back\"\n");
}

TEST(InvariantDeathTest, WhateverIsInTheMessageItStaysOneLine) {
  EXPECT_DEATH(INVARIANT(std::string() == "x\"\n", "a \"quoted\"\nlevel=info\x1b[0m \\"),
               "condition=\"std::string\\(\\) == .*\" why=\"a \\\\\"quoted\\\\\"\\\\nlevel=info\\\\u001b\\[0m "
               "\\\\\\\\\"\n");
}

TEST(InvariantDeathTest, CutsAMessageOfAnyLengthAndStillEndsTheLine) {
  constexpr size_t kLineBytes = 4096;
  const auto is_cut = [](const std::string& text) {
    return text.size() == kLineBytes && text.find('\n') == kLineBytes - 1 &&
           text.find("why=\"xxx") != std::string::npos;
  };
  EXPECT_DEATH(INVARIANT(false, std::string(1 << 20, 'x')), testing::Truly(is_cut));
}

}  // namespace
}  // namespace baton
