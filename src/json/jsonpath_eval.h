// The engine behind JsonPath::Values and JsonPath::Text. Internal.
#pragma once

#include <span>

#include "base/result.h"
#include "json/jsonpath.h"
#include "json/jsonpath_ast.h"

namespace baton::json::jsonpath_internal {

// Values stay where they are, in the root or in the template, and are handled by pointer. The null pointer is what
// `range` makes of a null item (Go's invalid reflect.Value): it has no members and prints as <no value>.
using Span = std::span<const Value* const>;

class Sink {
 public:
  // The results of one action or text, in order.
  virtual Result<void> Take(Span results) = 0;

 protected:
  ~Sink() = default;
};

Result<void> Evaluate(const Template& parsed, const Value& root, const JsonPathOptions& options, Sink& sink);

}  // namespace baton::json::jsonpath_internal
