// Stage: the world that a story is played in, as the Runner sees it. Steps that need nothing but Kubernetes APIs are
// the Runner's own; the rest is asked for here. An answer of "" is that it was done, else it says what is wrong.
#pragma once

#include <cstdint>
#include <string>

#include "base/strings.h"
#include "kube/api.h"
#include "rt/loop.h"
#include "rt/task.h"
#include "scenario/scenario.h"

namespace baton::scenario {

class Stage {
 public:
  virtual ~Stage() = default;

  virtual rt::Loop& loop() = 0;
  // Without faults: as people and the members' own programs reach them.
  virtual kube::Api& hub() = 0;
  virtual kube::Api* member(const std::string& name) = 0;  // null: there is none of that name

  virtual rt::Task<std::string> Join(json::Value cluster) = 0;  // a name, or {name, labels, spec}
  virtual rt::Task<std::string> Replace(std::string name) = 0;
  virtual void Silence(const std::string& name) = 0;
  virtual void Back(const std::string& name) = 0;
  virtual std::string AddFault(const Step& step) = 0;
  virtual void Restart() = 0;

  // Writes of the control plane, from CountFromHere() on.
  virtual void CountFromHere() = 0;
  virtual int64_t Writes(const std::string& where, std::string& list) = 0;

  // Steps that only this stage knows.
  virtual rt::Task<std::string> Other(const Step& step) { co_return StrCat("this world has no ", step.verb->name); }
  // What the story itself wrote as the object's owner (not `by` another), as it is now; null: it was deleted.
  virtual void Wrote(const std::string& /*where*/, const kube::Resource& /*resource*/, const kube::Name& /*name*/,
                     const json::Value& /*object*/) {}
  virtual void Begins(const Step& /*step*/) {}
};

}  // namespace baton::scenario
