// What older versions stored and nobody can parse: text that is not UTF-8, and managedFields that are nested too deep.
// It is looked for once, when the server starts, so that everything behind it may rely on what is stored.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "rt/task.h"
#include "store/store.h"

namespace baton::apiserver {

struct Mended {
  std::string key;
  std::string what;  // was done to it, for people
};

// Writes such objects again, as they can be read: each bad byte becomes U+FFFD, managedFields that are too deep go. The
// store then forgets their older versions, so watches and lists of before begin anew (410). kCorrupt: an object that
// this does not help, which no version has written; nothing is changed then.
rt::Task<Result<std::vector<Mended>>> MendStored(store::Store& store);

}  // namespace baton::apiserver
