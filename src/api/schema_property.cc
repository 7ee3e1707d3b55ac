// Schema::Property. Stands here until schema.cc has it.
#include "api/schema.h"

namespace baton::api {

const Schema* Schema::Property(std::string_view key) const {
  const auto at = properties.find(key);
  return at != properties.end() ? at->second.get() : additional_properties.get();
}

}  // namespace baton::api
