// Names: what Kubernetes accepts as the name of an object, a label, a port, a key, and what it says when it does not.
//
//   if (!IsDns1123Label(name)) ...                                        // fast: no message is built
//   for (const std::string& why : CheckDns1123Label(name)) Report(why);   // the messages of Kubernetes; empty = valid
//
// Every Check function gives exactly the messages of apimachinery (util/validation and api/validation), in its order,
// and the Is function beside it is true when there are none. Lengths count bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"

namespace baton::json {

using Messages = std::vector<std::string>;

inline constexpr size_t kMaxLabelBytes = 63;       // DNS labels, names and values of labels
inline constexpr size_t kMaxSubdomainBytes = 253;  // DNS subdomains and config map keys
inline constexpr size_t kMaxPortNameBytes = 15;
inline constexpr int64_t kMaxPort = 65535;
inline constexpr size_t kMaxAnnotationsBytes = size_t{256} << 10;  // all keys and values of one object

// ---- names of objects ----

// "my-name", "123-abc": namespaces and whatever becomes part of a host name.
bool IsDns1123Label(std::string_view text);
Messages CheckDns1123Label(std::string_view text);

// Labels with dots between them; one label may be longer than kMaxLabelBytes. Most objects.
bool IsDns1123Subdomain(std::string_view text);
Messages CheckDns1123Subdomain(std::string_view text);

// A label that starts with a letter. Services.
bool IsDns1035Label(std::string_view text);
Messages CheckDns1035Label(std::string_view text);

// "*." and a subdomain.
bool IsWildcardDns1123Subdomain(std::string_view text);
Messages CheckWildcardDns1123Subdomain(std::string_view text);

// A subdomain of at least two labels, each within kMaxLabelBytes; a dot may follow.
bool IsFullyQualifiedDomainName(std::string_view text);
Messages CheckFullyQualifiedDomainName(std::string_view text);

// Any name can be a segment of a URL's path but ".", ".." and one with '/' or '%' in it. The prefix of a generated name
// may be one of the two.
bool IsPathSegmentName(std::string_view text);
Messages CheckPathSegmentName(std::string_view text);
Messages CheckPathSegmentPrefix(std::string_view text);

// What Kubernetes checks instead of a generateName, which may end in a dash: its last two characters become an 'a'
// (not only the dash; so "web.-" is fine, and that is as it is there).
std::string MaskTrailingDash(std::string_view generate_name);

// ---- labels, annotations, finalizers ----

// "name" or "example.com/name": keys of labels.
bool IsQualifiedName(std::string_view text);
Messages CheckQualifiedName(std::string_view text);

bool IsLabelValue(std::string_view text);
Messages CheckLabelValue(std::string_view text);

// A qualified name in any case.
bool IsAnnotationKey(std::string_view text);
Messages CheckAnnotationKey(std::string_view text);

// The sum of all keys and values of the object `annotations` against kMaxAnnotationsBytes.
Messages CheckAnnotationsSize(const Value& annotations);

bool IsFinalizerName(std::string_view text);
Messages CheckFinalizerName(std::string_view text);

// ---- fields ----

bool IsPortNumber(int64_t port);
Messages CheckPortNumber(int64_t port);

// "http", "web-1": at least one letter, no dash at an end or beside another.
bool IsPortName(std::string_view text);
Messages CheckPortName(std::string_view text);

// Keys of config maps and secrets.
bool IsConfigMapKey(std::string_view text);
Messages CheckConfigMapKey(std::string_view text);

bool IsCIdentifier(std::string_view text);
Messages CheckCIdentifier(std::string_view text);

// The strict rule; Kubernetes also has a relaxed one (any printable ASCII but '='), behind a feature gate.
bool IsEnvVarName(std::string_view text);
Messages CheckEnvVarName(std::string_view text);

// "25%": digits and a percent sign.
bool IsPercent(std::string_view text);
Messages CheckPercent(std::string_view text);

}  // namespace baton::json
