// Checking a chain of receipts.
#include "cli/receipts.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "rollout/records.h"

namespace baton::cli {

using json::Value;

namespace {

std::string Told(const Value& receipt) {
  return StrCat("the handoff of epoch ", receipt["seq"].int_or(0), " (", receipt["from"].str(), " to ",
                receipt["to"].str(), ")");
}

void CheckOne(CheckedReceipt& checked) {
  const Value& receipt = checked.receipt;
  if (receipt["hash"].str().empty()) {
    checked.problems.push_back("it has no hash");
  } else if (rollout::ReceiptHash(receipt) != receipt["hash"].str()) {
    checked.problems.push_back("it was changed after it was written: its hash is not that of its text");
  }
}

void CheckOrder(CheckedReceipt& checked, const Value& before) {
  const Value& receipt = checked.receipt;
  if (receipt["previousHash"].str() != before["hash"].str()) {
    checked.problems.push_back(StrCat("it does not follow ", Told(before),
                                      ": one between them is missing, or they were put in another order"));
  }
  if (receipt["seq"].int_or(0) <= before["seq"].int_or(0))
    checked.problems.push_back("its epoch is not newer than that of the one before");
  if (receipt["from"] != before["to"])
    checked.problems.push_back(StrCat("it takes the workload from ", receipt["from"].str(),
                                      ", and the one before had given it to ", before["to"].str()));
}

}  // namespace

bool CheckedChain::ok() const {
  return problems.empty() &&
         std::ranges::all_of(receipts, [](const CheckedReceipt& one) { return one.problems.empty(); });
}

CheckedChain CheckReceipts(const Value& writer) {
  CheckedChain chain;
  const Value& spec = writer["spec"];
  for (const Value& receipt : spec["receipts"].items()) chain.receipts.push_back({.receipt = receipt, .problems = {}});
  if (spec["receipt"].is_object()) {
    chain.receipts.push_back({.receipt = spec["receipt"], .problems = {}});
  } else if (!chain.receipts.empty()) {
    chain.problems.push_back("the newest receipt is missing, and older ones are there");
  }
  for (size_t i = 0; i < chain.receipts.size(); ++i) {
    CheckOne(chain.receipts[i]);
    if (i > 0) CheckOrder(chain.receipts[i], chain.receipts[i - 1].receipt);
  }
  if (chain.receipts.empty()) return chain;
  if (!chain.receipts.front().receipt["previousHash"].str().empty()) {
    chain.complete = false;
    if (spec["receipts"].size() < rollout::kReceiptsKept)
      chain.problems.push_back(StrCat("a receipt before ", Told(chain.receipts.front().receipt), " is missing"));
  }
  const Value& newest = chain.receipts.back().receipt;
  if (newest["to"] != spec["holder"]["cluster"])
    chain.problems.push_back(StrCat("the newest receipt gives the workload to ", newest["to"].str(),
                                    ", and the Writer says ", spec["holder"]["cluster"].str()));
  if (newest["seq"].int_or(0) > spec["seq"].int_or(0))
    chain.problems.push_back("the newest receipt is of an epoch that the Writer does not know");
  return chain;
}

}  // namespace baton::cli
