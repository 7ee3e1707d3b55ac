// Places with probes that two test files share: an inline function and a template.
#pragma once

#include "base/probe.h"

namespace baton::probe_places {

inline void InlinePlace() { SOMETIMES("probe_test.inline"); }

template <class T>
void TemplatePlace(T) {
  SOMETIMES("probe_test.template");
}

template <class T>
void TemplateOfOneFile(T) {
  SOMETIMES("probe_test.template_in_another_file");
}

// Defined in probe_other_test.cc.
void HitFromAnotherFile();
void NeverCalled();
extern const unsigned kLineOfNeverCalled;

}  // namespace baton::probe_places
