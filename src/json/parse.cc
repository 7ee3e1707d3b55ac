// JSON text in: Boost.JSON's SAX parser feeds two stacks, from which finished arrays and objects are built in one
// block.
#include "json/parse.h"

#include <boost/json/basic_parser_impl.hpp>
#include <charconv>
#include <limits>
#include <system_error>

#include "base/strings.h"
#include "json/builder.h"

namespace baton::json {
namespace {

namespace bj = boost::json;

// Collects the SAX events. Open containers keep only where their items begin on the stacks.
class Handler {
 public:
  static constexpr size_t max_object_size = std::numeric_limits<size_t>::max();
  static constexpr size_t max_array_size = std::numeric_limits<size_t>::max();
  static constexpr size_t max_key_size = std::numeric_limits<size_t>::max();
  static constexpr size_t max_string_size = std::numeric_limits<size_t>::max();

  explicit Handler(const ParseOptions& options) : options_(options) {
    values_.reserve(64);
    keys_.reserve(64);
  }

  const std::string& failure() const { return failure_; }
  Value TakeResult() { return std::move(values_.back()); }

  bool on_document_begin(bj::error_code&) { return true; }
  bool on_document_end(bj::error_code&) { return true; }
  bool on_array_begin(bj::error_code&) { return starts_.push_back(values_.size()), true; }
  bool on_object_begin(bj::error_code&) { return starts_.push_back(values_.size()), true; }

  bool on_array_end(size_t, bj::error_code& ec) {
    const size_t start = starts_.back();
    starts_.pop_back();
    Value array = ArrayBuilder::FromRange(std::span(values_).subspan(start));
    values_.resize(start);
    return Add(std::move(array), ec);
  }

  bool on_object_end(size_t count, bj::error_code& ec) {
    const size_t start = starts_.back();
    starts_.pop_back();
    members_.clear();
    members_.reserve(count);
    for (size_t i = 0; i < count; ++i) {
      members_.emplace_back(std::move(keys_[keys_.size() - count + i]), std::move(values_[start + i]));
    }
    values_.resize(start);
    keys_.erase(keys_.end() - static_cast<std::ptrdiff_t>(count), keys_.end());
    return Add(ObjectBuilder::FromRange(members_, options_.duplicate_keys), ec);
  }

  bool on_key_part(bj::string_view part, size_t, bj::error_code&) {
    return text_.append(part.data(), part.size()), true;
  }
  bool on_key(bj::string_view part, size_t, bj::error_code&) {
    if (text_.empty()) {
      keys_.emplace_back(std::string_view(part.data(), part.size()));
      return true;
    }
    text_.append(part.data(), part.size());
    keys_.emplace_back(text_);
    text_.clear();
    return true;
  }
  bool on_string_part(bj::string_view part, size_t, bj::error_code&) {
    return text_.append(part.data(), part.size()), true;
  }
  bool on_string(bj::string_view part, size_t, bj::error_code& ec) {
    if (text_.empty()) return Add(Value(std::string_view(part.data(), part.size())), ec);
    text_.append(part.data(), part.size());
    Value value(text_);
    text_.clear();
    return Add(std::move(value), ec);
  }
  bool on_number_part(bj::string_view part, bj::error_code&) { return text_.append(part.data(), part.size()), true; }
  bool on_int64(int64_t number, bj::string_view, bj::error_code& ec) { return text_.clear(), Add(Value(number), ec); }
  bool on_uint64(uint64_t number, bj::string_view, bj::error_code& ec) { return text_.clear(), Add(Value(number), ec); }
  // Boost.JSON rounds some doubles and takes large integers for doubles, so the text is read again, exactly.
  bool on_double(double, bj::string_view part, bj::error_code& ec) {
    text_.append(part.data(), part.size());
    const bool integer = text_.find_first_of(".eE") == std::string::npos;
    double number = 0;
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), number);
    if (integer || (error == std::errc::result_out_of_range && !RoundsToZero(text_))) {
      return Fail(StrCat("the number ", text_, " is out of range"), ec);
    }
    text_.clear();
    return Add(Value(error == std::errc() ? number : 0.0), ec);
  }
  bool on_bool(bool value, bj::error_code& ec) { return Add(Value(value), ec); }
  bool on_null(bj::error_code& ec) { return Add(Value(), ec); }
  bool on_comment_part(bj::string_view, bj::error_code&) { return true; }
  bool on_comment(bj::string_view, bj::error_code&) { return true; }

 private:
  // from_chars says "out of range" for both ends; a number too close to zero is zero, as in Go.
  static bool RoundsToZero(std::string_view number) {
    const size_t exponent = number.find_first_of("eE");
    if (exponent == std::string_view::npos) return number.find_first_not_of("-0.") > number.find('.');
    return number.substr(exponent + 1).starts_with('-');
  }

  bool Add(Value value, bj::error_code& ec) {
    if (++count_ > options_.max_values) return Fail(StrCat("more than ", options_.max_values, " values"), ec);
    values_.push_back(std::move(value));
    return true;
  }

  bool Fail(std::string why, bj::error_code& ec) {
    failure_ = std::move(why);
    ec = bj::error::exception;
    return false;
  }

  const ParseOptions& options_;
  std::vector<Value> values_;    // finished values that wait for their container
  std::vector<Key> keys_;        // keys of open objects, in step with their values
  std::vector<Member> members_;  // scratch of on_object_end
  std::vector<size_t> starts_;   // where each open container's values begin
  std::string text_;             // a key, string or number that comes in parts
  size_t count_ = 0;
  std::string failure_;
};

std::string Reason(bj::error_code code, const Handler& handler, const ParseOptions& options) {
  if (!handler.failure().empty()) return handler.failure();
  if (code == bj::error::too_deep) return StrCat("nested deeper than ", options.max_depth, " levels");
  if (code == bj::error::incomplete) return "the text ends too early";
  if (code == bj::error::extra_data) return "text after the value";
  return code.message();
}

}  // namespace

Result<Value> Parse(std::string_view text, const ParseOptions& options) {
  if (text.size() > options.max_bytes) {
    return TooLargeError(StrCat("JSON text of ", text.size(), " bytes: the limit is ", options.max_bytes));
  }
  bj::parse_options boost_options;
  boost_options.max_depth = options.max_depth;
  bj::basic_parser<Handler> parser(boost_options, options);
  bj::error_code code;
  const size_t read = parser.write_some(false, text.data(), text.size(), code);
  if (!code && read < text.size()) code = bj::error::extra_data;
  if (!code && !parser.done()) code = bj::error::incomplete;
  if (code) {
    const TextPosition at = PositionAt(text, read);
    return InvalidError(
        StrCat("line ", at.line, ", column ", at.column, ": ", Reason(code, parser.handler(), options)));
  }
  return parser.handler().TakeResult();
}

TextPosition PositionAt(std::string_view text, size_t offset) {
  TextPosition at;
  for (const char c : text.substr(0, offset)) {
    if (c == '\n') {
      ++at.line;
      at.column = 1;
    } else {
      ++at.column;
    }
  }
  return at;
}

}  // namespace baton::json
