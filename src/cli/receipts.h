// Receipts: what a Writer has on record of past handoffs, checked. Each receipt carries the hash of its own text and
// the hash of the one before, so that none can be changed, left out or put elsewhere without this being seen.
#pragma once

#include <string>
#include <vector>

#include "json/value.h"

namespace baton::cli {

struct CheckedReceipt {
  json::Value receipt;
  std::vector<std::string> problems;  // each a sentence; none: it is as it was written, and follows the one before
};

struct CheckedChain {
  std::vector<CheckedReceipt> receipts;  // the oldest first
  std::vector<std::string> problems;     // between the receipts and the rest of the Writer
  bool complete = true;                  // begins with the first handoff; else older ones are not kept any more

  bool ok() const;
};

CheckedChain CheckReceipts(const json::Value& writer);

}  // namespace baton::cli
