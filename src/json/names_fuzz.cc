// Names: the fast predicates agree with the messages, and stricter kinds of names are also looser ones.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/invariant.h"
#include "json/names.h"

using namespace baton::json;  // NOLINT(google-build-using-namespace) every name of the header is used

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  INVARIANT(IsDns1123Label(text) == CheckDns1123Label(text).empty(), text);
  INVARIANT(IsDns1123Subdomain(text) == CheckDns1123Subdomain(text).empty(), text);
  INVARIANT(IsDns1035Label(text) == CheckDns1035Label(text).empty(), text);
  INVARIANT(IsWildcardDns1123Subdomain(text) == CheckWildcardDns1123Subdomain(text).empty(), text);
  INVARIANT(IsFullyQualifiedDomainName(text) == CheckFullyQualifiedDomainName(text).empty(), text);
  INVARIANT(IsPathSegmentName(text) == CheckPathSegmentName(text).empty(), text);
  INVARIANT(IsQualifiedName(text) == CheckQualifiedName(text).empty(), text);
  INVARIANT(IsLabelValue(text) == CheckLabelValue(text).empty(), text);
  INVARIANT(IsAnnotationKey(text) == CheckAnnotationKey(text).empty(), text);
  INVARIANT(IsPortName(text) == CheckPortName(text).empty(), text);
  INVARIANT(IsConfigMapKey(text) == CheckConfigMapKey(text).empty(), text);
  INVARIANT(IsCIdentifier(text) == CheckCIdentifier(text).empty(), text);
  INVARIANT(IsEnvVarName(text) == CheckEnvVarName(text).empty(), text);
  INVARIANT(IsPercent(text) == CheckPercent(text).empty(), text);

  INVARIANT(!IsDns1035Label(text) || IsDns1123Label(text), text);
  INVARIANT(!IsDns1123Label(text) || (IsDns1123Subdomain(text) && IsQualifiedName(text) && IsLabelValue(text)), text);
  INVARIANT(!IsDns1123Subdomain(text) || (IsPathSegmentName(text) && IsConfigMapKey(text)), text);
  INVARIANT(!IsQualifiedName(text) || IsAnnotationKey(text), text);
  INVARIANT(!IsPortName(text) || IsDns1123Label(text), text);
  INVARIANT(MaskTrailingDash(text).size() <= text.size(), text);
  return 0;
}
