// Calls with structs in place of json::Values (api/conversion.h), for kinds whose package of types is generated: which
// resource is meant follows from the struct.
//
//   #include "api/types/work_v1alpha2.h"
//
//   auto binding = CO_TRY(co_await kube::Get<ResourceBinding>(api, {"blue", "web"}));
//   binding.spec.replicas = 3;
//   binding = CO_TRY(co_await kube::Update(api, binding));          // compare-and-swap, as with values
//   auto all = CO_TRY(co_await kube::List<ResourceBinding>(api, {.ns = "blue"}));
//
// Fields that the struct does not know are written back as they were read, so an Update never loses what a newer
// program has written. An answer that does not fit the struct is kInvalid and names the object and the field; of a
// write it says that the write was done.
//
// These are functions on any Api; who includes this links baton_api_types.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "api/conversion.h"
#include "base/strings.h"
#include "kube/api.h"

namespace baton::kube {

template <api::DescribedKind T>
const Resource& ResourceOf() {
  static const Resource resource{.group = std::string(T::kGroup),
                                 .version = std::string(T::kVersion),
                                 .plural = std::string(T::kPlural),
                                 .kind = std::string(T::kKind),
                                 .namespaced = T::kNamespaced};
  return resource;
}

// An object of an informer, a watch or a list.
template <api::DescribedKind T>
Result<T> As(const json::Value& object) {
  return api::FromJson<T>(object).Context(Name::Of(object).Key());
}

template <api::DescribedKind T>
rt::Task<Result<T>> Get(Api& api, Name name) {
  co_return As<T>(CO_TRY(co_await api.Get(ResourceOf<T>(), std::move(name))));
}

template <class T>
struct ListOf {
  std::vector<T> items;
  std::string resource_version;
};

// All pages, of one revision. One object that does not fit is an error of the whole.
template <api::DescribedKind T>
rt::Task<Result<ListOf<T>>> List(Api& api, ListOptions options = {}) {
  Listed listed = CO_TRY(co_await api.ListAll(ResourceOf<T>(), std::move(options)));
  ListOf<T> made{.items = {}, .resource_version = std::move(listed.resource_version)};
  made.items.reserve(listed.items.size());
  for (const json::Value& one : listed.items) made.items.push_back(CO_TRY(As<T>(one)));
  co_return made;
}

namespace typed_internal {
template <class T>
Result<T> Written(const json::Value& answer) {
  return As<T>(answer).Context("was written, but the answer does not fit");
}
}  // namespace typed_internal

template <api::DescribedKind T>
rt::Task<Result<T>> Create(Api& api, T object, WriteOptions options = {}) {
  co_return typed_internal::Written<T>(
      CO_TRY(co_await api.Create(ResourceOf<T>(), api::ToJson(object), std::move(options))));
}

template <api::DescribedKind T>
rt::Task<Result<T>> Update(Api& api, T object, WriteOptions options = {}) {
  co_return typed_internal::Written<T>(
      CO_TRY(co_await api.Update(ResourceOf<T>(), api::ToJson(object), std::move(options))));
}

template <api::DescribedKind T>
rt::Task<Result<T>> UpdateStatus(Api& api, T object) {
  co_return typed_internal::Written<T>(CO_TRY(co_await api.UpdateStatus(ResourceOf<T>(), api::ToJson(object))));
}

}  // namespace baton::kube
