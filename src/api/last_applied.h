// kubectl's client-side apply annotation, where server-side apply by "kubectl" meets it. Internal to api.
#pragma once

#include <string_view>

#include "api/typed.h"
#include "json/value.h"

namespace baton::api {

inline constexpr std::string_view kKubectlManager = "kubectl";
inline constexpr std::string_view kLastAppliedAnnotation = "kubectl.kubernetes.io/last-applied-configuration";
inline constexpr size_t kAnnotationsBytesMax = size_t{256} << 10;  // all keys and values: Kubernetes' limit

// What client-side apply set last and what still has that value; empty without a usable annotation.
FieldSet LastAppliedFields(const json::Value& live, const TypeRef& type, std::string_view api_version);

// The annotation, where there is one, made to say `config`; removed when annotations would become too large.
void RefreshLastApplied(const json::Value& config, json::Value& object);

}  // namespace baton::api
