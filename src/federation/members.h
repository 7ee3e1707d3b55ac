// Members: the door to every member cluster, and a copy of what was propagated there. One Member per Cluster object
// that has credentials; it comes and goes with the object, and is made anew when its credentials change.
//
//   std::shared_ptr<Member> blue = members.Find("blue");     // null: not joined, or its credentials cannot be read
//   Result<Value> live = co_await blue->api().Get(...);
//   blue->Watch(kDeployments);                               // from now on its objects are told to OnObject handlers
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/value.h"
#include "kube/api.h"
#include "kube/informer.h"
#include "kube/mapper.h"
#include "rt/scope.h"

namespace baton::federation {

// Makes the Api of a member from its Cluster object and its Secret (null when there is none).
using Connect =
    std::function<Result<std::unique_ptr<kube::Api>>(const json::Value& cluster, const json::Value& secret)>;

class Member {
 public:
  using Handler = std::function<void(const std::string& cluster, const json::Value& before, const json::Value& now)>;

  // A copy of its objects is complete for the first time.
  using SyncedHandler = std::function<void(const std::string& cluster, const kube::Informer& copy)>;

  Member(std::string name, std::unique_ptr<kube::Api> api, Handler handler, SyncedHandler on_synced);
  ~Member();

  const std::string& name() const { return name_; }
  kube::Api& api() { return *api_; }
  kube::Mapper& mapper() { return mapper_; }

  // Why nothing may be written or deleted there, as long as it is so; "": it may.
  const std::string& closed() const { return closed_; }
  void Close(std::string why) { closed_ = std::move(why); }

  // An informer of objects that carry karmada.io/managed, started when it is first asked for.
  kube::Informer& Watch(const kube::Resource& resource);
  // The copy, when it is there and complete; null pointer: ask live.
  const kube::Informer* Find(const kube::Resource& resource) const;

 private:
  std::string name_;
  std::unique_ptr<kube::Api> api_;
  std::string closed_;
  kube::Mapper mapper_;
  Handler handler_;
  SyncedHandler on_synced_;
  std::map<kube::Resource, std::unique_ptr<kube::Informer>> informers_;
  rt::Scope scope_;  // last, so that it goes first
};

// What is said of a cluster that answers with another id than it joined with.
std::string AnotherCluster(std::string_view cluster, std::string_view joined, std::string_view answers);

class Members {
 public:
  Members(Connect connect, Member::Handler on_object)
      : connect_(std::move(connect)), on_object_(std::move(on_object)) {}

  // Held by whoever waits for an answer of it: it may be replaced meanwhile (new credentials), or leave.
  std::shared_ptr<Member> Find(std::string_view cluster) const;
  // Why there is none, for messages.
  std::string WhyNot(std::string_view cluster) const;

  // The Cluster object or its Secret changed (or is gone: null). Returns whether the member is another one now.
  bool Update(const std::string& cluster, const json::Value& object, const json::Value& secret);
  void Remove(const std::string& cluster);
  std::vector<std::string> Names() const;
  bool Known(std::string_view cluster) const { return entries_.contains(cluster); }  // with or without a way to it
  // Told of every member that came, or is another one now.
  void OnUpdate(std::function<void(const std::string& cluster)> handler) { on_update_.push_back(std::move(handler)); }
  // Told when a copy of a member's objects is complete for the first time.
  void OnSynced(Member::SyncedHandler handler) { on_synced_.push_back(std::move(handler)); }

 private:
  struct Entry {
    json::Value made_from;  // what of Cluster and Secret decides how it is reached
    std::shared_ptr<Member> member;
    std::string why_not;
  };
  Connect connect_;
  Member::Handler on_object_;
  std::vector<std::function<void(const std::string& cluster)>> on_update_;
  std::vector<Member::SyncedHandler> on_synced_;
  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace baton::federation
