// The federation's kinds on the embedded server, as custom resources: their definitions keep every rule, and what is
// served is what was described.
#include "api/federation_types.h"
#include "apiserver/backend_for_test.h"
#include "apiserver/conditions.h"
#include "apiserver/crd.h"
#include "base/strings.h"

namespace baton::apiserver {
namespace {

using json::Value;

std::vector<std::string> Lines(const std::vector<api::FieldError>& errors) {
  std::vector<std::string> lines;
  for (const api::FieldError& error : errors) lines.push_back(StrCat(error.field, ": ", error.message));
  return lines;
}

TEST(FederationCrdsTest, KeepEveryRuleForDefinitions) {
  for (const Value& crd : api::FederationCrds()) {
    EXPECT_EQ(Lines(ValidateCrd(crd, nullptr)), std::vector<std::string>()) << crd["metadata"]["name"];
    EXPECT_EQ(Lines(ValidateCrd(crd, &crd)), std::vector<std::string>()) << crd["metadata"]["name"];
  }
}

TEST(FederationCrdsTest, ServeWhatIsDescribed) {
  const std::vector<Value> crds = api::FederationCrds();
  for (size_t i = 0; i < crds.size(); ++i) {
    const CrdTypes served = TypesOfCrd(crds[i]);
    ASSERT_EQ(served.types.size(), 1U);
    EXPECT_EQ(served.cel_rules, 0U);
    const ResourceType& got = *served.types[0];
    const ResourceType& described = *api::FederationTypes()[i];
    EXPECT_EQ(got.ApiVersion(), described.ApiVersion());
    EXPECT_EQ(got.kind, described.kind);
    EXPECT_EQ(got.plural, described.plural);
    EXPECT_EQ(got.short_names, described.short_names);
    EXPECT_EQ(got.categories, described.categories);
    EXPECT_EQ(got.namespaced, described.namespaced);
    EXPECT_EQ(got.has_status, described.has_status);
    EXPECT_EQ(got.scale.has_value(), described.scale.has_value());
  }
}

}  // namespace
}  // namespace baton::apiserver
