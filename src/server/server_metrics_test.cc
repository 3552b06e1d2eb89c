// /metrics: the counts of requests and watches, and their labels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "server/testing/server_kit.h"

namespace berth::server::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kLeases = "/apis/coordination.k8s.io/v1/namespaces/shop/leases";

class MetricsTest : public ServerTest {
 protected:
  std::string Scrape() { return Get("/metrics").body; }

  /// Returns the value of a series, written with ' for ". Returns -1 if there is no such series.
  double Value(const std::string& series) {
    const std::string text = Scrape();
    const std::string line = "\n" + Quoted(series) + " ";
    const size_t at = text.find(line);
    return at == std::string::npos ? -1 : std::stod(text.substr(at + line.size()));
  }

  /// Returns a value of apiserver_request_total.
  double Requests(const std::string& code, const std::string& of, const std::string& scope,
                  const std::string& verb, const std::string& dry_run = "",
                  const std::string& subresource = "") {
    const bool leases = of == "leases";
    return Value("apiserver_request_total{code='" + code + "',component='apiserver',dry_run='" +
                 dry_run + "',group='" + (leases ? "coordination.k8s.io" : "") + "',resource='" +
                 of + "',scope='" + scope + "',subresource='" + subresource + "',verb='" + verb +
                 "',version='" + (of.empty() ? "" : "v1") + "'}");
  }

  double Watches() {
    return Value(
        "apiserver_longrunning_requests{component='apiserver',group='coordination.k8s.io',"
        "resource='leases',scope='namespace',subresource='',verb='WATCH',version='v1'}");
  }
  double WatchCount(const std::string& name) {
    return Value(name + "{group='coordination.k8s.io',version='v1',resource='leases'}");
  }

  /// Creates a lease or sets its labels. Returns its resourceVersion.
  std::string PutLease(const std::string& name, const std::string& labels = "null") {
    const std::string body = "{'metadata':{'name':'" + name + "','labels':" + labels + "}}";
    const Reply made = Post(kLeases, body);
    if (made.code == 201) return made.Version();
    return Call("PATCH " + std::string(kLeases) + "/" + name, Quoted(body),
                {.content_type = "application/merge-patch+json"})
        .Version();
  }

  bool hold_ = false;
};

TEST_F(MetricsTest, AreTextForPrometheus) {
  const Reply reply = Get("/metrics");
  EXPECT_EQ(reply.code, 200);
  EXPECT_EQ(reply.Header("content-type"), "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_THAT(reply.body, HasSubstr("# TYPE apiserver_request_total counter\n"));
  EXPECT_EQ(Post("/metrics", "").code, 405);
  EXPECT_EQ(Get("/metrics", {.token = ""}).code, 401);
  EXPECT_EQ(Get("/metrics", {.token = "guest"}).code, 403);
  EXPECT_EQ(Get("/metrics/x").code, 404);
  EXPECT_THAT(Get("/").body, HasSubstr("\"/metrics\""));
}

TEST_F(MetricsTest, ARequestIsCountedByWhatItAskedFor) {
  const std::string lease = std::string(kLeases) + "/a";
  Post(kLeases, "{'metadata':{'name':'a'}}");
  Post(kLeases, "{'metadata':{'name':'a'}}");
  Post(std::string(kLeases) + "?dryRun=All", "{'metadata':{'name':'b'}}");
  Get(lease);
  Get(std::string(kLeases) + "/nobody");
  Get(kLeases);
  Get("/apis/coordination.k8s.io/v1/leases");
  Call("PATCH " + lease, "{}", {.content_type = "application/merge-patch+json"});
  Call("PATCH " + lease + "?fieldManager=m",
       Quoted("{'apiVersion':'coordination.k8s.io/v1','kind':'Lease'}"),
       {.content_type = "application/apply-patch+yaml"});
  Get("/api/v1/namespaces/shop/status");
  Delete(lease);
  Call("PUT " + std::string(kLeases));
  EXPECT_EQ(Requests("201", "leases", "resource", "POST"), 1);
  EXPECT_EQ(Requests("409", "leases", "resource", "POST"), 1);
  EXPECT_EQ(Requests("201", "leases", "resource", "POST", "All"), 1);
  EXPECT_EQ(Requests("200", "leases", "resource", "GET"), 1);
  EXPECT_EQ(Requests("404", "leases", "resource", "GET"), 1);
  EXPECT_EQ(Requests("200", "leases", "namespace", "LIST"), 1);
  EXPECT_EQ(Requests("200", "leases", "cluster", "LIST"), 1);
  EXPECT_EQ(Requests("200", "leases", "resource", "PATCH"), 1);
  EXPECT_EQ(Requests("200", "leases", "resource", "APPLY"), 1);
  EXPECT_EQ(Requests("200", "namespaces", "resource", "GET", "", "status"), 1);
  EXPECT_EQ(Requests("200", "leases", "resource", "DELETE"), 1);
  EXPECT_EQ(Requests("405", "leases", "namespace", "PUT"), 1);
}

TEST_F(MetricsTest, ARequestIsCountedWhoeverSentIt) {
  Get(kLeases, {.token = "guest"});
  Get(kLeases, {.token = ""});
  EXPECT_EQ(Requests("403", "leases", "namespace", "LIST"), 1);
  EXPECT_EQ(Requests("401", "leases", "namespace", "LIST"), 1);
}

TEST_F(MetricsTest, WhatAClientMakesUpIsNoLabel) {
  for (const char* path :
       {"/api/v1/namespaces/secret-name", "/secret-path", "/apis/secret.group/v1",
        "/api/v1/secrets/secret-name", "/healthz/secret-check"}) {
    Get(path);
  }
  Call("SECRET /api/v1/namespaces");
  EXPECT_THAT(Scrape(), Not(HasSubstr("ecret")));
  EXPECT_EQ(Requests("404", "", "", "GET"), 3);
  EXPECT_EQ(Requests("404", "", "", "GET", "", "/healthz"), 1);
}

TEST_F(MetricsTest, HowLongItTook) {
  Open({.fault = [this](const store::Txn&) {
    return hold_ ? store::Fault::kHold : store::Fault::kNone;
  }});
  hold_ = true;
  const uint32_t stream = Send(std::string("POST ") + kLeases, Quoted("{'metadata':{'name':'a'}}"));
  EXPECT_EQ(Answer(stream).code, 0);
  EXPECT_EQ(Value("apiserver_current_inflight_requests{request_kind='mutating'}"), 1);
  Advance(std::chrono::milliseconds(700));
  while (store_.engine->Release()) PumpAll();
  EXPECT_EQ(Answer(stream).code, 201);
  EXPECT_EQ(Value("apiserver_current_inflight_requests{request_kind='mutating'}"), 0);
  const std::string labels =
      "component='apiserver',dry_run='',group='coordination.k8s.io',resource='leases',"
      "scope='resource',subresource='',verb='POST',version='v1'";
  const std::string name = "apiserver_request_duration_seconds_";
  EXPECT_EQ(Value(name + "bucket{" + labels + ",le='0.6'}"), 0);
  EXPECT_EQ(Value(name + "bucket{" + labels + ",le='0.8'}"), 1);
  EXPECT_EQ(Value(name + "count{" + labels + "}"), 1);
  EXPECT_EQ(Value(name + "sum{" + labels + "}"), 0.7);
}

TEST_F(MetricsTest, AWatchRunsUntilItEndsAndIsCountedThen) {
  PutLease("a");
  {
    Stream watch(Get(std::string(kLeases) + "?watch=1&labelSelector=seen"));
    EXPECT_EQ(Watches(), 1);
    EXPECT_EQ(Requests("200", "leases", "namespace", "WATCH"), -1);
    PutLease("b");
    PutLease("c", "{'seen':'1'}");
    PutLease("c");
    EXPECT_EQ(watch.Lines().size(), 2U);
    EXPECT_EQ(WatchCount("apiserver_watch_events_total"), 2) << "as many as were sent";
    Advance(std::chrono::seconds(50));
    sink_->Clear();
  }
  EXPECT_EQ(Watches(), 0);
  EXPECT_EQ(Requests("200", "leases", "namespace", "WATCH"), 1);
  EXPECT_EQ(Value("apiserver_request_duration_seconds_sum{component='apiserver',dry_run='',"
                  "group='coordination.k8s.io',resource='leases',scope='namespace',subresource='',"
                  "verb='WATCH',version='v1'}"),
            50);
  EXPECT_EQ(WatchCount("berth_watch_expired_total"), 0);
}

TEST_F(MetricsTest, AWatchThatComesTooLateIsCounted) {
  const std::string old = PutLease("a");
  PutLease("b");
  Restart({});  // A new server has no events in memory.
  store_.LoseHistory();
  PumpAll();
  Stream watch(Get(std::string(kLeases) + "?watch=1&resourceVersion=" + old));
  EXPECT_THAT(watch.Lines(), ::testing::ElementsAre("ERROR 410"));
  EXPECT_EQ(WatchCount("berth_watch_expired_total"), 1);
  EXPECT_EQ(WatchCount("apiserver_watch_events_total"), 0);
}

}  // namespace
}  // namespace berth::server::testing
