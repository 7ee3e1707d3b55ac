// Facts of kube-apiserver 1.35's discovery documents.
#include "api/builtin_discovery.h"

namespace baton::api {

void FillBuiltinDiscovery(ResourceType& type) {
  if (type.group.empty() && type.plural == "endpoints") {
    type.deprecation_warning = "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice";
  }
  if (type.group.empty() && type.plural == "namespaces") {
    type.verbs = {"create", "delete", "get", "list", "patch", "update", "watch"};  // not all at once
    type.subresources = {{.name = "finalize", .verbs = {"update"}, .kind = {}, .group = {}, .version = {}}};
  } else if (type.group.empty() && type.plural == "serviceaccounts") {
    type.subresources = {{.name = "token",
                          .verbs = {"create"},
                          .kind = "TokenRequest",
                          .group = "authentication.k8s.io",
                          .version = "v1"}};
  } else if (type.group == "certificates.k8s.io" && type.plural == "certificatesigningrequests") {
    type.subresources = {
        {.name = "approval", .verbs = {"get", "patch", "update"}, .kind = {}, .group = {}, .version = {}}};
  } else if (type.group == "autoscaling" && type.plural == "horizontalpodautoscalers") {
    type.stored_as = "autoscaling/v2";
  } else if (type.group == "events.k8s.io" && type.plural == "events") {
    type.stored_as = "/v1";
  } else if (type.group == "apiextensions.k8s.io" && type.plural == "customresourcedefinitions") {
    type.stored_as = "apiextensions.k8s.io/v1beta1";  // what Kubernetes itself still says
  }
}

}  // namespace baton::api
