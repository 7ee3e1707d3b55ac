// Sources and sinks, made when they are first asked for.
#include "practice/commons.h"

namespace baton::practice {

Source& Commons::SourceOf(const WorkloadName& workload, const SourceOptions& options) {
  std::unique_ptr<Source>& source = sources_[workload];
  if (source == nullptr) {
    SourceOptions wanted = options;
    wanted.append_every = append_every_.value_or(options.append_every);
    source = std::make_unique<Source>(loop_, storage_, workload, wanted);
    scope_.Spawn(source->Run());
  } else {
    source->SetRate(options.rate);
  }
  return *source;
}

Source* Commons::FindSource(const WorkloadName& workload) {
  const auto at = sources_.find(workload);
  return at == sources_.end() ? nullptr : at->second.get();
}

Sink& Commons::SinkOf(const WorkloadName& workload) {
  std::unique_ptr<Sink>& sink = sinks_[workload];
  if (sink == nullptr) sink = std::make_unique<Sink>(loop_, storage_, workload);
  return *sink;
}

}  // namespace baton::practice
