// Kubernetes JSONPath out: results as values, or as the text kubectl prints.
#include "json/jsonpath.h"

#include "base/strings.h"
#include "json/go_text.h"
#include "json/jsonpath_ast.h"
#include "json/jsonpath_eval.h"

namespace baton::json {
namespace {

using jsonpath_internal::About;
using jsonpath_internal::Span;

class ValueSink final : public jsonpath_internal::Sink {
 public:
  ValueSink(std::vector<Value>& out, size_t limit, std::string_view source)
      : out_(out), limit_(limit), source_(source) {}

  Result<void> Take(Span results) override {
    if (results.size() > limit_ - out_.size())
      return TooLargeError(About(source_, StrCat("more than ", limit_, " results")));
    if (out_.empty()) out_.reserve(results.size());
    for (const Value* value : results) out_.push_back(value == nullptr ? Value() : *value);
    return {};
  }

 private:
  std::vector<Value>& out_;
  size_t limit_;
  std::string_view source_;
};

class TextSink final : public jsonpath_internal::Sink {
 public:
  TextSink(std::string& out, size_t limit, std::string_view source) : out_(out), limit_(limit), source_(source) {}

  Result<void> Take(Span results) override {
    for (size_t i = 0; i < results.size(); ++i) {
      if (i > 0) out_ += ' ';
      if (results[i] == nullptr) {
        out_ += "<no value>";
      } else {
        TRY(AppendGoPlain(out_, *results[i]));
      }
      if (out_.size() > limit_) return TooLargeError(About(source_, StrCat("more than ", limit_, " bytes of text")));
    }
    return {};
  }

 private:
  std::string& out_;
  size_t limit_;
  std::string_view source_;
};

}  // namespace

Result<std::vector<Value>> JsonPath::Values(const Value& root, const JsonPathOptions& options) const {
  std::vector<Value> out;
  ValueSink sink(out, options.max_results, parsed_->source);
  TRY(jsonpath_internal::Evaluate(*parsed_, root, options, sink));
  return out;
}

Result<std::string> JsonPath::Text(const Value& root, const JsonPathOptions& options) const {
  std::string out;
  TextSink sink(out, options.max_text_bytes, parsed_->source);
  TRY(jsonpath_internal::Evaluate(*parsed_, root, options, sink));
  return out;
}

}  // namespace baton::json
