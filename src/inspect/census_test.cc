#include "inspect/census.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "codec/json.h"
#include "inspect/cluster_reader.h"

namespace berth::inspect {
namespace {

using alloc::State;

codec::Value Json(const std::string& text) { return codec::ParseJson(text).value(); }

codec::Value ServiceWith(const std::string& name, const std::string& address, int port = 0) {
  codec::Value service = Json(R"({"apiVersion":"v1","kind":"Service","metadata":{"namespace":"shop",
      "creationTimestamp":"2026-01-02T03:04:05Z"},"spec":{"type":"NodePort","ports":[{"port":80}]}})");
  service.Find("metadata")->Set("name", name);
  service.Find("spec")->Set("clusterIP", address);
  service.Find("spec")->Set("clusterIPs", codec::Array{codec::Value(address)});
  if (port != 0) (*service.Find("spec")->Find("ports")->AsArray())[0].Set("nodePort", port);
  return service;
}

codec::Value Cidr(const std::string& name, const std::string& cidr) {
  return Json(R"({"apiVersion":"networking.k8s.io/v1","kind":"ServiceCIDR","metadata":{"name":")" +
              name + R"("},"spec":{"cidrs":[")" + cidr + R"("]}})");
}

/// Returns the text of each range with its used and free values.
std::vector<std::string> FiguresText(const Census& census) {
  std::vector<std::string> lines;
  for (const RangeRef& range : census.ranges()) {
    const RangeFigures figures = census.FiguresOf(range);
    lines.push_back(range.row->text + " taken " + base::ToDecimal(figures.Counts()[State::kTaken]) +
                    " free " + base::ToDecimal(figures.Free()));
  }
  return lines;
}

TEST(CensusTest, CountsTheValuesOfServices) {
  ClusterReader reader({.source = "test"});
  for (const auto& [name, address, port] :
       {std::tuple{"b", "10.96.0.200", 30000}, std::tuple{"a", "10.96.0.10", 30200},
        std::tuple{"twice", "10.96.0.10", 0}, std::tuple{"outside", "10.97.0.1", 0}}) {
    EXPECT_EQ(reader.AddAny(ServiceWith(name, address, port)), 1U);
  }
  EXPECT_EQ(reader.AddAny(Cidr("kubernetes", "10.96.0.0/24")), 1U);
  const Cluster cluster = std::move(reader).Finish();
  const Census census(cluster);
  EXPECT_THAT(FiguresText(census), testing::ElementsAre("10.96.0.0/24 taken 2 free 252",
                                                        "30000-32767 taken 2 free 2766"));
  const RangeFigures figures = census.FiguresOf(census.ranges().front());
  EXPECT_EQ(figures.static_band.counts[State::kTaken], 1U);
  EXPECT_EQ(figures.static_band.Usable(), 16U);
  EXPECT_EQ(figures.dynamic_band.counts[State::kTaken], 1U);
  const auto uses = census.UsesOf({.pool = alloc::PoolId::kIpv4, .value = 0x0a60000a});
  ASSERT_EQ(uses.size(), 2U);
  EXPECT_EQ(uses[0].service->object.name, "a");
  EXPECT_EQ(uses[1].service->object.name, "twice");
}

TEST(CensusTest, RecordsWithoutServicesAreNotFree) {
  ClusterReader reader({.source = "test"});
  reader.AddAny(Cidr("kubernetes", "10.96.0.0/24"));
  reader.AddAny(ServiceWith("a", "10.96.0.10"));
  for (const char* name : {"10.96.0.10", "10.96.0.99", "10.96.0.100"}) {
    codec::Value address = Json(
        R"({"apiVersion":"networking.k8s.io/v1","kind":"IPAddress","metadata":{},
            "spec":{"parentRef":{"group":"example.com","resource":"things","name":"x"}}})");
    address.Find("metadata")->Set("name", name);
    EXPECT_EQ(reader.AddAny(address), 1U);
  }
  const Cluster cluster = std::move(reader).Finish();
  const Census census(cluster);
  const RangeFigures figures = census.FiguresOf(census.ranges().front());
  EXPECT_EQ(figures.Counts()[State::kTaken], 1U);
  EXPECT_EQ(figures.Counts()[State::kReserved], 2U);
  EXPECT_EQ(figures.Free(), 251U);
  const alloc::RangeRow& row = *census.ranges().front().row;
  const auto state = [&](base::U128 value) {
    return census.StateIn(row, {.pool = alloc::PoolId::kIpv4, .value = value});
  };
  EXPECT_EQ(state(0x0a600063), State::kReserved);
  EXPECT_EQ(state(0x0a60000a), State::kTaken);
  EXPECT_EQ(state(0x0a60000b), State::kFree);
  EXPECT_EQ(state(0x0a600000), State::kExcluded);  // The network address.
}

TEST(CensusTest, AnObjectThatIsGivenTwiceCountsOnce) {
  const auto versioned = [](codec::Value object, const char* version) {
    object.Find("metadata")->Set("resourceVersion", version);
    return object;
  };
  ClusterReader reader({.source = "test"});
  reader.AddAny(versioned(ServiceWith("a", "10.96.0.11"), "12"));
  reader.AddAny(versioned(ServiceWith("a", "10.96.0.10"), "9"));
  for (int i = 0; i < 3; ++i) {
    reader.AddAny(Cidr("kubernetes", "10.96.0.0/24"));
    reader.AddAny(ServiceWith("b", i < 2 ? "10.96.0.20" : "10.96.0.21"));
    reader.AddAny(Json(R"({"apiVersion":"networking.k8s.io/v1","kind":"IPAddress",
        "metadata":{"name":"10.96.0.11"},"spec":{"parentRef":{"resource":"services",
        "namespace":"shop","name":"a"}}})"));
  }
  const Cluster cluster = std::move(reader).Finish();
  const Census census(cluster);
  EXPECT_EQ(cluster.records.size(), 1U);
  EXPECT_EQ(census.ranges().size(), 2U);
  // The newest one counts, or the last one if the objects do not tell.
  ASSERT_EQ(cluster.services.size(), 2U);
  EXPECT_EQ(alloc::TextOf(cluster.services[0].holds[0].value), "10.96.0.11");
  EXPECT_EQ(alloc::TextOf(cluster.services[1].holds[0].value), "10.96.0.21");
  ASSERT_EQ(cluster.gaps.size(), 1U);
  EXPECT_THAT(cluster.gaps[0].what, testing::StartsWith("7 objects were given more than once"));
}

TEST(CensusTest, RangesThatAreNotShownAreAssumed) {
  ClusterReader reader({.source = "test"});
  reader.AddAny(ServiceWith("a", "10.96.0.1", 80));
  reader.AddAny(ServiceWith("b", "10.99.5.1", 40000));
  const Cluster cluster = std::move(reader).Finish();
  const Census census(cluster);
  EXPECT_THAT(FiguresText(census), testing::ElementsAre("10.96.0.0/14 taken 2 free 262140",
                                                        "80-40000 taken 2 free 39919"));
  for (const RangeRef& range : census.ranges()) {
    EXPECT_FALSE(range.range->exact);
    EXPECT_THAT(range.range->source, testing::StartsWith("assumed"));
  }
}

TEST(CensusTest, ManagedFieldsTellWhoNamedAValue) {
  ClusterReader reader({.source = "test"});
  codec::Value named = ServiceWith("named", "10.96.0.9", 30001);
  named.Find("metadata")->Set("managedFields", Json(R"([{"manager":"helm","fieldsV1":{"f:spec":{
      "f:clusterIP":{},"f:ports":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{"f:nodePort":{}}}}}}])"));
  codec::Value drawn = ServiceWith("drawn", "10.96.0.8", 30002);
  drawn.Find("metadata")
      ->Set("managedFields",
            Json(R"([{"manager":"kubectl","fieldsV1":"{\"f:spec\":{\"f:ports\":{}}}"}])"));
  reader.AddService(named);
  reader.AddService(drawn);
  reader.AddService(ServiceWith("silent", "10.96.0.7", 30003));
  const Cluster cluster = std::move(reader).Finish();
  std::vector<std::string> lines;
  for (const Service& service : cluster.services) {
    for (const Held& held : service.holds) {
      lines.push_back(service.object.name + " " + std::to_string(static_cast<int>(held.origin)) +
                      held.manager);
    }
  }
  EXPECT_THAT(lines, testing::ElementsAre("drawn 2", "drawn 2", "named 1helm", "named 1helm",
                                          "silent 0", "silent 0"));
}

}  // namespace
}  // namespace berth::inspect
