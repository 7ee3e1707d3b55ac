// The table of words.
#include "scenario/words.h"

#include <algorithm>

namespace baton::scenario {

std::span<const Verb> Verbs() {
  static const std::vector<std::string_view> kObject = {"kind", "name", "apiVersion"};
  static const std::vector<Verb> kVerbs = {
      // What people and other programs do.
      {.name = "apply", .beside = {"in", "by", "refused"}},
      {.name = "create", .beside = {"in", "refused"}},
      {.name = "delete", .beside = {"in", "refused"}, .within = kObject},
      {.name = "patch", .beside = {"in", "merge", "refused"}, .within = kObject},
      {.name = "status", .beside = {"in", "set"}, .within = kObject},
      {.name = "start", .beside = {"in", "spec", "annotations", "clusters"}, .within = kObject, .practice = true},
      {.name = "migrate", .beside = {"to", "as", "with", "refused"}, .within = kObject, .practice = true},
      {.name = "abort", .practice = true},
      {.name = "pause", .practice = true},
      {.name = "resume", .practice = true},
      {.name = "approve", .beside = {"step", "by"}, .practice = true},
      {.name = "drain", .beside = {"max"}, .practice = true},
      {.name = "uncordon", .practice = true},
      {.name = "undrain", .beside = {"max"}, .practice = true},
      // Time, clusters, processes.
      {.name = "wait"},
      {.name = "until", .beside = {"of", "in", "absent", "fields", "contains", "missing", "within"}, .within = kObject},
      {.name = "join", .within = {"name", "labels", "spec"}},
      {.name = "silent"},
      {.name = "back"},
      {.name = "replace"},
      {.name = "wipe"},
      {.name = "restart"},
      {.name = "count"},
      // What goes wrong. The words after `delay` pick calls.
      {.name = "fault",
       .beside = {"in", "by", "hits", "of", "delay", "at", "verb", "resource", "name", "subresource", "saying"}},
      {.name = "crash",
       .beside = {"side", "for", "alone", "in", "at", "verb", "resource", "name", "subresource", "saying"},
       .practice = true},
      {.name = "backup", .practice = true},
      {.name = "restore", .beside = {"for"}, .practice = true},
      {.name = "leader",
       .beside = {"for", "in", "at", "verb", "resource", "name", "subresource", "saying"},
       .practice = true},
      // What is expected.
      {.name = "expect",
       .beside = {"in", "absent", "fields", "contains", "missing", "within"},
       .within = kObject,
       .expectation = true},
      {.name = "writes", .beside = {"in", "atMost"}, .expectation = true},
      {.name = "event", .beside = {"reason", "contains"}, .expectation = true},
      {.name = "phase", .beside = {"of", "within", "contains"}, .expectation = true, .practice = true},
      {.name = "blocked", .beside = {"within", "contains"}, .expectation = true, .practice = true},
      {.name = "runs", .beside = {"in", "within"}, .within = kObject, .expectation = true, .practice = true},
      {.name = "writer", .beside = {"cluster", "within"}, .within = kObject, .expectation = true, .practice = true},
      {.name = "receipts", .beside = {"count", "last"}, .within = kObject, .expectation = true, .practice = true},
      {.name = "judge",
       .beside = {"of"},
       .within = {"lost", "duplicated", "overlapping", "outOfOrder", "wrongState", "writers", "atLeast"},
       .expectation = true,
       .practice = true},
      {.name = "moves", .expectation = true, .practice = true},
      {.name = "down", .expectation = true, .practice = true},
  };
  return kVerbs;
}

const Verb* FindVerb(std::string_view name) {
  const auto found = std::ranges::find(Verbs(), name, &Verb::name);
  return found == Verbs().end() ? nullptr : &*found;
}

}  // namespace baton::scenario
