// Names: hand-written matchers for the regular expressions of Kubernetes, and its messages.
#include "json/names.h"

#include <algorithm>
#include <array>

#include "base/strings.h"

namespace baton::json {
namespace {

// ---- matchers ----

constexpr bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }
constexpr bool IsLetter(char c) { return IsLower(c) || (c >= 'A' && c <= 'Z'); }
constexpr bool IsLowerOrDigit(char c) { return IsLower(c) || IsDigit(c); }
constexpr bool IsLetterOrDigit(char c) { return IsLetter(c) || IsDigit(c); }
constexpr bool IsInLabel(char c) { return IsLowerOrDigit(c) || c == '-'; }
constexpr bool IsInName(char c) { return IsLetterOrDigit(c) || c == '-' || c == '_' || c == '.'; }

using CharTest = bool (*)(char);

// first, then any number of inner, and an end that is `last`; one character must be both first and last.
template <CharTest kFirst, CharTest kInner, CharTest kLast>
bool Matches(std::string_view text) {
  return !text.empty() && kFirst(text.front()) && kLast(text.back()) && std::all_of(text.begin(), text.end(), kInner);
}

bool MatchesDns1123Label(std::string_view text) { return Matches<IsLowerOrDigit, IsInLabel, IsLowerOrDigit>(text); }
bool MatchesDns1035Label(std::string_view text) { return Matches<IsLower, IsInLabel, IsLowerOrDigit>(text); }
bool MatchesName(std::string_view text) { return Matches<IsLetterOrDigit, IsInName, IsLetterOrDigit>(text); }
bool MatchesConfigMapKey(std::string_view text) { return Matches<IsInName, IsInName, IsInName>(text); }
bool MatchesEnvVarName(std::string_view text) { return MatchesConfigMapKey(text) && !IsDigit(text[0]); }
bool MatchesPercent(std::string_view text) {
  return text.ends_with('%') && Matches<IsDigit, IsDigit, IsDigit>(text.substr(0, text.size() - 1));
}

template <class Test>
bool EachLabel(std::string_view text, Test test) {
  while (true) {
    const size_t dot = text.find('.');
    if (!test(text.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

bool MatchesDns1123Subdomain(std::string_view text) { return EachLabel(text, MatchesDns1123Label); }

bool MatchesWildcard(std::string_view text) {
  return text.starts_with("*.") && MatchesDns1123Subdomain(text.substr(2));
}

// "." and whatever starts with ".." would leave the folder that a key becomes a file of.
bool LeavesFolder(std::string_view text) { return text == "." || text.starts_with(".."); }

// ---- messages ----

// A rule in words, its regular expression, and names that follow it (empty ones are none).
struct Rule {
  std::string_view words;
  std::string_view regex;
  std::array<std::string_view, 3> examples;

  std::string Message() const {
    std::string out = StrCat(words, " (e.g. ");
    for (size_t i = 0; i < examples.size() && !examples[i].empty(); ++i) {
      StrAppend(out, i == 0 ? "" : " or ", "'", examples[i], "', ");
    }
    StrAppend(out, "regex used for validation is '", regex, "')");
    return out;
  }
};

constexpr Rule kDns1123LabelRule = {
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    "an alphanumeric character",
    "[a-z0-9]([-a-z0-9]*[a-z0-9])?",
    {"my-name", "123-abc"}};
constexpr Rule kDns1123SubdomainRule = {
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character",
    "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*",
    {"example.com"}};
constexpr Rule kDns1035LabelRule = {
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, "
    "and end with an alphanumeric character",
    "[a-z]([-a-z0-9]*[a-z0-9])?",
    {"my-name", "abc-123"}};
constexpr Rule kWildcardRule = {
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of "
    "lower "
    "case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
    "\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*",
    {"*.example.com"}};
constexpr Rule kQualifiedNameRule = {
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
    "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]",
    {"MyName", "my.name", "123-abc"}};
constexpr Rule kLabelValueRule = {
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character",
    "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?",
    {"MyValue", "my_value", "12345"}};
constexpr Rule kConfigMapKeyRule = {"a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
                                    "[-._a-zA-Z0-9]+",
                                    {"key.name", "KEY_NAME", "key-name"}};
constexpr Rule kCIdentifierRule = {
    "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters "
    "or '_'",
    "[A-Za-z_][A-Za-z0-9_]*",
    {"my_name", "MY_NAME", "MyName"}};
constexpr Rule kEnvVarNameRule = {
    "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', and must not "
    "start with a digit",
    "[-._a-zA-Z][-._a-zA-Z0-9]*",
    {"my.env-name", "MY_ENV.NAME", "MyEnvName1"}};
constexpr Rule kPercentRule = {
    "a valid percent string must be a numeric string followed by an ending '%'", "[0-9]+%", {"1%", "93%"}};

std::string MaxLength(size_t bytes) { return StrCat("must be no more than ", bytes, " characters"); }

// The messages of a rule with a limit.
Messages CheckRule(std::string_view text, size_t max_bytes, bool matches, const Rule& rule) {
  Messages messages;
  if (text.size() > max_bytes) messages.push_back(MaxLength(max_bytes));
  if (!matches) messages.push_back(rule.Message());
  return messages;
}

constexpr size_t kNoLimit = SIZE_MAX;

void AppendLeavesFolder(std::string_view text, Messages& messages) {
  if (!LeavesFolder(text)) return;
  messages.push_back(text.size() <= 2 ? StrCat("must not be '", text, "'") : "must not start with '..'");
}

constexpr std::string_view kKelvinSign = "\u212a";
constexpr std::string_view kDottedI = "\u0130";

// Lower case as Go's strings.ToLower gives it, as far as a qualified name can tell: outside of ASCII only the Kelvin
// sign and the dotted capital I have a lower case within it.
std::string GoToLower(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    if (text.starts_with(kKelvinSign)) {
      out += 'k';
      text.remove_prefix(kKelvinSign.size());
    } else if (text.starts_with(kDottedI)) {
      out += 'i';
      text.remove_prefix(kDottedI.size());
    } else {
      const char c = text.front();
      out += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
      text.remove_prefix(1);
    }
  }
  return out;
}

// "a/b" in two; a text without '/' has no prefix. Valid only with at most one '/'.
struct NameParts {
  bool has_prefix = false;
  std::string_view prefix;
  std::string_view name;
};
NameParts SplitName(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return {.has_prefix = false, .prefix = {}, .name = text};
  return {.has_prefix = true, .prefix = text.substr(0, slash), .name = text.substr(slash + 1)};
}

}  // namespace

bool IsDns1123Label(std::string_view text) { return text.size() <= kMaxLabelBytes && MatchesDns1123Label(text); }

Messages CheckDns1123Label(std::string_view text) {
  Messages messages;
  if (text.size() > kMaxLabelBytes) messages.push_back(MaxLength(kMaxLabelBytes));
  if (MatchesDns1123Label(text)) return messages;
  if (MatchesDns1123Subdomain(text)) {
    messages.emplace_back("must not contain dots");
  } else {
    messages.push_back(kDns1123LabelRule.Message());
  }
  return messages;
}

bool IsDns1123Subdomain(std::string_view text) {
  return text.size() <= kMaxSubdomainBytes && MatchesDns1123Subdomain(text);
}

Messages CheckDns1123Subdomain(std::string_view text) {
  return CheckRule(text, kMaxSubdomainBytes, MatchesDns1123Subdomain(text), kDns1123SubdomainRule);
}

bool IsDns1035Label(std::string_view text) { return text.size() <= kMaxLabelBytes && MatchesDns1035Label(text); }

Messages CheckDns1035Label(std::string_view text) {
  return CheckRule(text, kMaxLabelBytes, MatchesDns1035Label(text), kDns1035LabelRule);
}

bool IsWildcardDns1123Subdomain(std::string_view text) {
  return text.size() <= kMaxSubdomainBytes && MatchesWildcard(text);
}

Messages CheckWildcardDns1123Subdomain(std::string_view text) {
  return CheckRule(text, kMaxSubdomainBytes, MatchesWildcard(text), kWildcardRule);
}

bool IsFullyQualifiedDomainName(std::string_view text) {
  if (text.ends_with('.')) text.remove_suffix(1);
  return IsDns1123Subdomain(text) && text.find('.') != std::string_view::npos && EachLabel(text, IsDns1123Label);
}

Messages CheckFullyQualifiedDomainName(std::string_view text) {
  if (text.empty()) return {"Required value"};
  if (text.ends_with('.')) text.remove_suffix(1);
  if (const Messages messages = CheckDns1123Subdomain(text); !messages.empty()) return {Join(messages, ",")};
  if (text.find('.') == std::string_view::npos) {
    return {"should be a domain with at least two segments separated by dots"};
  }
  Messages messages;
  EachLabel(text, [&](std::string_view label) {
    const Messages wrong = CheckDns1123Label(label);
    if (!wrong.empty()) messages.push_back(Join(wrong, ","));
    return wrong.empty();
  });
  return messages;
}

bool IsPathSegmentName(std::string_view text) {
  return text != "." && text != ".." && text.find_first_of("/%") == std::string_view::npos;
}

Messages CheckPathSegmentName(std::string_view text) {
  if (text == "." || text == "..") return {StrCat("may not be '", text, "'")};
  return CheckPathSegmentPrefix(text);
}

Messages CheckPathSegmentPrefix(std::string_view text) {
  Messages messages;
  for (const char c : {'/', '%'}) {
    if (text.find(c) != std::string_view::npos) messages.push_back(StrCat("may not contain '", c, "'"));
  }
  return messages;
}

std::string MaskTrailingDash(std::string_view generate_name) {
  if (generate_name.size() < 2 || !generate_name.ends_with('-')) return std::string(generate_name);
  return StrCat(generate_name.substr(0, generate_name.size() - 2), "a");
}

bool IsQualifiedName(std::string_view text) {
  const NameParts parts = SplitName(text);
  return (!parts.has_prefix || IsDns1123Subdomain(parts.prefix)) && parts.name.size() <= kMaxLabelBytes &&
         MatchesName(parts.name);
}

Messages CheckQualifiedName(std::string_view text) {
  if (std::count(text.begin(), text.end(), '/') > 1) {
    return {StrCat("a qualified name ", kQualifiedNameRule.Message(),
                   " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')")};
  }
  const NameParts parts = SplitName(text);
  Messages messages;
  if (parts.has_prefix && parts.prefix.empty()) {
    messages.emplace_back("prefix part must be non-empty");
  } else if (parts.has_prefix) {
    for (const std::string& message : CheckDns1123Subdomain(parts.prefix)) {
      messages.push_back(StrCat("prefix part ", message));
    }
  }
  if (parts.name.empty()) messages.emplace_back("name part must be non-empty");
  for (const std::string& message :
       CheckRule(parts.name, kMaxLabelBytes, MatchesName(parts.name), kQualifiedNameRule)) {
    messages.push_back(StrCat("name part ", message));
  }
  return messages;
}

bool IsLabelValue(std::string_view text) {
  return text.size() <= kMaxLabelBytes && (text.empty() || MatchesName(text));
}

Messages CheckLabelValue(std::string_view text) {
  return CheckRule(text, kMaxLabelBytes, text.empty() || MatchesName(text), kLabelValueRule);
}

bool IsAnnotationKey(std::string_view text) { return IsQualifiedName(text) || IsQualifiedName(GoToLower(text)); }

Messages CheckAnnotationKey(std::string_view text) { return CheckQualifiedName(GoToLower(text)); }

Messages CheckAnnotationsSize(const Value& annotations) {
  size_t bytes = 0;
  for (const Member& member : annotations.members()) bytes += member.key().size() + member.value().str().size();
  if (bytes <= kMaxAnnotationsBytes) return {};
  return {StrCat("annotations size ", bytes, " is larger than limit ", kMaxAnnotationsBytes)};
}

bool IsFinalizerName(std::string_view text) { return IsQualifiedName(text); }
Messages CheckFinalizerName(std::string_view text) { return CheckQualifiedName(text); }

bool IsPortNumber(int64_t port) { return port >= 1 && port <= kMaxPort; }

Messages CheckPortNumber(int64_t port) {
  if (IsPortNumber(port)) return {};
  return {StrCat("must be between 1 and ", kMaxPort, ", inclusive")};
}

bool IsPortName(std::string_view text) {
  return text.size() <= kMaxPortNameBytes && MatchesDns1123Label(text) && text.find("--") == std::string_view::npos &&
         std::any_of(text.begin(), text.end(), IsLower);
}

Messages CheckPortName(std::string_view text) {
  Messages messages;
  if (text.size() > kMaxPortNameBytes) messages.push_back(MaxLength(kMaxPortNameBytes));
  if (!Matches<IsInLabel, IsInLabel, IsInLabel>(text)) {
    messages.emplace_back("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  }
  if (!std::any_of(text.begin(), text.end(), IsLower)) {
    messages.emplace_back("must contain at least one letter (a-z)");
  }
  if (text.find("--") != std::string_view::npos) messages.emplace_back("must not contain consecutive hyphens");
  if (text.starts_with('-') || text.ends_with('-')) messages.emplace_back("must not begin or end with a hyphen");
  return messages;
}

bool IsConfigMapKey(std::string_view text) {
  return text.size() <= kMaxSubdomainBytes && MatchesConfigMapKey(text) && !LeavesFolder(text);
}

Messages CheckConfigMapKey(std::string_view text) {
  Messages messages = CheckRule(text, kMaxSubdomainBytes, MatchesConfigMapKey(text), kConfigMapKeyRule);
  AppendLeavesFolder(text, messages);
  return messages;
}

bool IsCIdentifier(std::string_view text) {
  return !text.empty() && !IsDigit(text[0]) &&
         std::all_of(text.begin(), text.end(), [](char c) { return IsLetterOrDigit(c) || c == '_'; });
}

Messages CheckCIdentifier(std::string_view text) {
  return CheckRule(text, kNoLimit, IsCIdentifier(text), kCIdentifierRule);
}

bool IsEnvVarName(std::string_view text) { return MatchesEnvVarName(text) && !LeavesFolder(text); }

Messages CheckEnvVarName(std::string_view text) {
  Messages messages = CheckRule(text, kNoLimit, MatchesEnvVarName(text), kEnvVarNameRule);
  AppendLeavesFolder(text, messages);
  return messages;
}

bool IsPercent(std::string_view text) { return MatchesPercent(text); }

Messages CheckPercent(std::string_view text) { return CheckRule(text, kNoLimit, MatchesPercent(text), kPercentRule); }

}  // namespace baton::json
