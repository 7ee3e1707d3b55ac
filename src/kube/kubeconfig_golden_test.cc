// Kubeconfigs held against kubectl (tests/golden/kubeconfig.json): what we merge from the files gives the same access
// as the one file that kubectl made of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/strings.h"
#include "json/parse.h"
#include "kube/kubeconfig.h"
#include "kube/kubeconfig_for_test.h"

namespace baton::kube {
namespace {

json::Value Golden() {
  const std::ifstream file(BATON_SOURCE_DIR "/tests/golden/kubeconfig.json");
  std::stringstream text;
  text << file.rdbuf();
  return json::Parse(text.str()).value();
}

Result<Kubeconfig> ParseAll(const json::Value& files) {
  Kubeconfig merged;
  for (const json::Value& file : files.items()) {
    merged.Merge(TRY(Kubeconfig::Parse(file["text"].str(), file["name"].str())));
  }
  return merged;
}

TEST(KubeconfigGoldenTest, GivesTheAccessThatKubectlsMergeGives) {
  const json::Value rows = Golden();
  ASSERT_GT(rows.size(), 20u);
  size_t compared = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    SCOPED_TRACE(StrCat("row ", i, " ", rows[i]["files"].ToString()));
    const std::string_view context = rows[i]["context"].str();
    const Result<Kubeconfig> ours = ParseAll(rows[i]["files"]);
    if (rows[i].Has("error")) {
      EXPECT_FALSE(ours.ok() && (context.empty() || ours->Access(context).ok()));
      continue;
    }
    ASSERT_TRUE(ours.ok()) << ours.error().ToString();
    const Kubeconfig theirs = Kubeconfig::Parse(rows[i]["merged"].ToString(), "/cfg/merged").value();
    std::vector<std::string> names = ours->Contexts();
    std::ranges::sort(names);
    if (context.empty()) {
      EXPECT_EQ(names, theirs.Contexts());
      EXPECT_EQ(ours->current_context(), theirs.current_context());
    }
    for (const std::string& name : theirs.Contexts()) {
      EXPECT_EQ(DescribeContext(*ours, name), DescribeContext(theirs, name)) << name;
      ++compared;
    }
  }
  EXPECT_GT(compared, 15u);
}

}  // namespace
}  // namespace baton::kube
