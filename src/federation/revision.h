// Revisions of a template: what a cluster got, kept so that an edit does not reach it before it is released there.
//
// A template opts in with the annotation rollout.karmada.io/strategy: BlueGreen, on itself or on the policy that claims
// it (the template's own word counts more). Each version of it is then kept as an apps/v1 ControllerRevision beside it,
// and the binding records per cluster which of them is released there, in annotations of its own:
//
//   revision.rollout.karmada.io/blue: web-deployment-5d41402abc@7
//
// that is the ControllerRevision's name and the generation of the template that the cluster's object is marked with,
// which never goes down. Annotations, because Karmada's detector merges those of a binding and replaces its spec; one
// per cluster, so that two who release to different clusters do not overwrite each other. A cluster that has none gets
// the newest revision, and keeps it.
//
//   binding = WithRelease(binding, "green", revision);        // an edit: to be written by compare-and-swap
//
// The number of replicas is no part of a revision where the interpreter can set it: scaling needs no release.
// Everything here is pure; revisions.h carries it out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "interpret/interpreter.h"
#include "json/value.h"

namespace baton::federation {

inline constexpr std::string_view kStrategy = "rollout.karmada.io/strategy";
inline constexpr std::string_view kBlueGreen = "BlueGreen";
inline constexpr std::string_view kReleasedPrefix = "revision.rollout.karmada.io/";
inline constexpr std::string_view kRevisionOf = "rollout.karmada.io/revision-of";   // label: of which binding
inline constexpr std::string_view kRevisionBinding = "rollout.karmada.io/binding";  // annotation: its key
inline constexpr std::string_view kRevisionGeneration = "rollout.karmada.io/template-generation";  // annotation
inline constexpr size_t kRevisionHistory = 10;  // of each template, besides those that are released somewhere

struct Release {
  std::string revision;    // name of a ControllerRevision
  int64_t generation = 0;  // that the render carries

  friend bool operator==(const Release&, const Release&) = default;
};

// `policy`: the one that claims the template; null: none.
bool KeepsRevisions(const json::Value& object, const json::Value& policy);

// The ControllerRevision of the template as it is now; `number` is its place in the history. Equal templates give equal
// names. An error is the interpreter's.
Result<json::Value> MakeRevision(const interpret::Interpreter& interpreter, const json::Value& object,
                                 const json::Value& binding, int64_t number);

// The template as it was in that revision, with the live one's identity, replicas and marks of the federation.
Result<json::Value> TemplateAt(const interpret::Interpreter& interpreter, const json::Value& object,
                               const json::Value& revision, int64_t generation);

// What is released to that cluster; nothing when there is no record, or none that can be read.
std::optional<Release> ReleasedTo(const json::Value& binding, std::string_view cluster);
// The clusters that have a record.
std::vector<std::string> ClustersWithRelease(const json::Value& binding);
bool SameReleases(const json::Value& before, const json::Value& now);

// The binding with the revision released to that cluster, or without a record of it. The same value when it is so
// already.
json::Value WithRelease(json::Value binding, std::string_view cluster, const json::Value& revision);
json::Value WithoutRelease(json::Value binding, std::string_view cluster);

// The names of the revisions that may go: neither the newest nor released, oldest first, beyond kRevisionHistory.
std::vector<std::string> Superseded(const std::vector<json::Value>& revisions, const json::Value& binding,
                                    std::string_view newest);

}  // namespace baton::federation
