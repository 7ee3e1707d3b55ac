// The second object file of the probe tests.
#include "base/probe_places_for_test.h"

namespace baton::probe_places {

void HitFromAnotherFile() {
  InlinePlace();
  TemplatePlace(1L);
  TemplateOfOneFile("text");
}

const unsigned kLineOfNeverCalled = __LINE__ + 1;
void NeverCalled() { SOMETIMES("probe_test.never_called"); }

}  // namespace baton::probe_places
