// Patterns: a bounded table of compiled expressions, shared by all threads.
#include "api/patterns.h"

#include <re2/re2.h>

#include <memory>
#include <mutex>
#include <unordered_map>

namespace baton::api {
namespace {

using Compiled = std::shared_ptr<const re2::RE2>;

class Table {
 public:
  Compiled Get(const std::string& pattern) {
    {
      const std::lock_guard lock(mutex_);
      if (const auto found = compiled_.find(pattern); found != compiled_.end()) return found->second;
    }
    // Compiling may take long, so without the lock; two threads may do the same work once.
    re2::RE2::Options options;
    options.set_log_errors(false);
    auto made = std::make_shared<const re2::RE2>(pattern, options);
    const std::lock_guard lock(mutex_);
    if (compiled_.size() >= kPatternsKept) compiled_.clear();
    return compiled_.try_emplace(pattern, std::move(made)).first->second;
  }

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, Compiled> compiled_;
};

Compiled Compile(const std::string& pattern) {
  static Table* const table = new Table;  // never freed: threads may outlive static destructors
  return table->Get(pattern);
}

}  // namespace

std::optional<std::string> PatternError(const std::string& pattern) {
  const Compiled compiled = Compile(pattern);
  if (compiled->ok()) return std::nullopt;
  return compiled->error();
}

bool PatternMatches(const std::string& pattern, std::string_view text) {
  const Compiled compiled = Compile(pattern);
  return compiled->ok() && re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *compiled);
}

}  // namespace baton::api
