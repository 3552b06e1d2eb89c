#include "server/route.h"

#include <gtest/gtest.h>

namespace berth::server {
namespace {

Route Parse(std::string_view path) {
  static const registry::Kinds kinds;
  return ParseRoute(kinds, path);
}

TEST(Route, ResourcesAreFound) {
  const Route one = Parse("/api/v1/namespaces/shop/services/web");
  EXPECT_EQ(one.kind, Route::Kind::kResource);
  EXPECT_EQ(one.name_space, "shop");
  EXPECT_EQ(one.name, "web");
  EXPECT_EQ(VerbOf(one, "GET", false), "get");
  EXPECT_EQ(VerbOf(one, "PUT", false), "update");
  EXPECT_EQ(VerbOf(one, "DELETE", false), "delete");
  EXPECT_EQ(VerbOf(one, "POST", false), "");

  const Route all = Parse("/api/v1/services");
  EXPECT_TRUE(all.IsCollection() && all.AcrossNamespaces());
  EXPECT_EQ(VerbOf(all, "GET", false), "list");
  EXPECT_EQ(VerbOf(all, "GET", true), "watch");
  EXPECT_EQ(VerbOf(all, "POST", false), "") << "the namespace is missing";
  EXPECT_EQ(VerbOf(all, "DELETE", false), "");

  const Route leases = Parse("/apis/coordination.k8s.io/v1/namespaces/kube-system/leases");
  EXPECT_EQ(leases.kind, Route::Kind::kResource);
  EXPECT_EQ(VerbOf(leases, "POST", false), "create");
  EXPECT_EQ(VerbOf(leases, "DELETE", false), "deletecollection");
}

TEST(Route, NamespacesAreBothAPlaceAndAKind) {
  const Route one = Parse("/api/v1/namespaces/shop");
  EXPECT_EQ(one.resource, "namespaces");
  EXPECT_EQ(one.name, "shop");
  EXPECT_EQ(one.name_space, "");
  const Route status = Parse("/api/v1/namespaces/shop/status");
  EXPECT_EQ(status.Door(), registry::Door::kStatus);
  EXPECT_EQ(status.name, "shop");
  const Route finalize = Parse("/api/v1/namespaces/shop/finalize");
  EXPECT_EQ(VerbOf(finalize, "PUT", false), "update");
  EXPECT_EQ(VerbOf(finalize, "GET", false), "");
  EXPECT_EQ(VerbOf(Parse("/api/v1/namespaces"), "DELETE", false), "") << "not all at once";
}

TEST(Route, EventsHaveTwoViewsOfOneStore) {
  const Route core = Parse("/api/v1/namespaces/shop/events");
  const Route fresh = Parse("/apis/events.k8s.io/v1/namespaces/shop/events");
  EXPECT_EQ(core.served.row, fresh.served.row);
  EXPECT_NE(core.served.view, fresh.served.view);
  EXPECT_FALSE(fresh.served.IsStoredForm());
}

TEST(Route, WhatIsNotThere) {
  EXPECT_EQ(Parse("/apis/nope.k8s.io/v1").kind, Route::Kind::kUnknownPath);
  for (const char* path :
       {"/api/v9", "/apis/coordination.k8s.io/v9", "/api/v1/namespaces/shop/bogus",
        "/api/v1/services/web", "/api/v1/namespaces/shop/services/web/proxy",
        "/api/v1/namespaces/shop/services/web/status/more", "/api/v1/namespaces//services"}) {
    EXPECT_EQ(Parse(path).kind, Route::Kind::kUnknownResource) << path;
  }
  for (const char* path :
       {"/", "/api", "/apis", "/apis/events.k8s.io", "/api/v1", "/version", "/x"}) {
    EXPECT_EQ(Parse(path).kind, Route::Kind::kPlain) << path;
  }
  EXPECT_EQ(Parse("/api/v1/").path, "/api/v1");
}

TEST(Route, NamesAreDecoded) {
  EXPECT_EQ(Parse("/api/v1/namespaces/shop/services/a%20b").name, "a b");
  EXPECT_EQ(Parse("/api/v1/namespaces/shop/services/a%2Fstatus").subresource, "status");
  EXPECT_EQ(Parse("/api/v1/namespaces/sh%2Fop/services").kind, Route::Kind::kUnknownResource);
  EXPECT_EQ(Parse("/%76ersion").path, "/version");
}

}  // namespace
}  // namespace berth::server
