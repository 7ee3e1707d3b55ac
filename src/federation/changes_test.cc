#include "federation/changes.h"

#include <gtest/gtest.h>

#include <string_view>

#include "json/yaml.h"

namespace baton::federation {
namespace {

TEST(ChangesTest, TellWhoMadeThem) {
  struct Row {
    std::string_view why, before, after;
    bool changed, by_federation;
  };
  const Row rows[] = {
      {"nothing", "{spec: {a: 1}}", "{spec: {a: 1}}", false, true},
      {"spec", "{spec: {a: 1}}", "{spec: {a: 2}}", true, false},
      {"status", "{status: {a: 1}}", "{status: {a: 2}}", false, true},
      {"resourceVersion and managedFields", "{metadata: {resourceVersion: '1'}}",
       "{metadata: {resourceVersion: '2', managedFields: [1]}}", false, true},
      {"generation", "{metadata: {generation: 1}}", "{metadata: {generation: 2}}", true, true},
      {"a user's label", "{metadata: {labels: {a: b}}}", "{metadata: {labels: {a: c}}}", true, false},
      {"a claim", "{metadata: {name: x}}",
       "{metadata: {name: x, labels: {propagationpolicy.karmada.io/permanent-id: i}, annotations: "
       "{propagationpolicy.karmada.io/name: p}}}",
       true, true},
      {"a claim beside a user's label", "{metadata: {labels: {a: b}}}",
       "{metadata: {labels: {a: b, propagationpolicy.karmada.io/permanent-id: i}}}", true, true},
      {"a claim and a user's change", "{metadata: {labels: {a: b}}}",
       "{metadata: {labels: {a: c, propagationpolicy.karmada.io/permanent-id: i}}}", true, false},
      {"the label that users write", "{metadata: {labels: {}}}",
       "{metadata: {labels: {namespace.karmada.io/skip-auto-propagation: 'true'}}}", true, false},
      {"the same as an annotation is not a user's", "{metadata: {annotations: {}}}",
       "{metadata: {annotations: {namespace.karmada.io/skip-auto-propagation: 'true'}}}", true, true},
      {"karmada.io without a dot before it is a user's", "{metadata: {name: a}}",
       "{metadata: {name: a, labels: {karmada.io/x: z}}}", true, false},
      {"a change of both", "{spec: 1, metadata: {generation: 1}}", "{spec: 2, metadata: {generation: 2}}", true, false},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.why);
    const json::Value before = json::ParseYaml(row.before).value();
    const json::Value after = json::ParseYaml(row.after).value();
    EXPECT_EQ(SpecificationChanged(before, after), row.changed);
    EXPECT_EQ(ChangedByFederation(before, after), row.by_federation);
    EXPECT_EQ(ChangedByFederation(after, before), row.by_federation);
  }
}

}  // namespace
}  // namespace baton::federation
