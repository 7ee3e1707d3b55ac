// The heap of simulations: they make and free small blocks all day, in one thread, and a general allocator was a tenth
// of it. Programs that call UseSimulationHeap() take what `new` wants from a SmallHeap (base/small_heap.h) from then
// on; all others, servers above all, from malloc as ever. Compiled out under sanitizers, which must see every block.
//
//   UseSimulationHeap();      // at the beginning of `baton simulate`
//   ...fork...
//   SimulationHeapForked();   // in the child
//
// While a process has a second thread `new` is malloc again, and blocks of the SmallHeap that are deleted stay taken.
#pragma once

namespace baton::sim {

void UseSimulationHeap();
void SimulationHeapForked();
bool IsOfSimulationHeap(const void* block);

}  // namespace baton::sim
