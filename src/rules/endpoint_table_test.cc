#include "rules/endpoint_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>

#include "codec/read.h"
#include "rules/testing/rules_kit.h"

namespace berth::rules {
namespace {

/// Returns one cell of an object's row, by the name of its column.
std::string CellOf(std::string_view kind, std::string_view column, const std::string& rest) {
  const base::WallTime now(std::chrono::seconds(1'700'000'000));
  const codec::Array cells =
      Cells(kind, Json("{'metadata':{'name':'a'" + (rest.empty() ? "}" : "}," + rest) + "}"), now);
  const auto columns = Columns(kind);
  EXPECT_EQ(cells.size(), columns.size());
  for (size_t i = 0; i < columns.size() && i < cells.size(); ++i) {
    if (columns[i].name == column) return std::string(codec::Text(&cells[i]));
  }
  return "no such column";
}

std::string Ready(const std::string& subsets) {
  return CellOf("Endpoints", "Endpoints", "'subsets':[" + subsets + "]");
}

std::string OfSlice(std::string_view column, const std::string& rest) {
  return CellOf("EndpointSlice.discovery.k8s.io", column, rest);
}

std::string OfNode(std::string_view column, const std::string& rest) {
  return CellOf("Node", column, rest);
}

TEST(EndpointTable, ReadyAddressesWithTheirPorts) {
  EXPECT_EQ(Ready("{'addresses':[{'ip':'10.0.0.1'},{'ip':'fd00::1'}],'ports':[{'port':80}]}"),
            "10.0.0.1:80,[fd00::1]:80");
  EXPECT_EQ(Ready("{'addresses':[{'ip':'10.0.0.1'}],'notReadyAddresses':[{'ip':'10.0.0.2'}]}"),
            "10.0.0.1");
  EXPECT_EQ(Ready("{'notReadyAddresses':[{'ip':'10.0.0.2'}],'ports':[{'port':80}]}"), "");
  EXPECT_EQ(Ready(""), "<none>");
}

TEST(EndpointTable, ThreeAreShownAndTheOthersCounted) {
  const std::string three = "{'ip':'10.0.0.1'},{'ip':'10.0.0.2'},{'ip':'10.0.0.3'}";
  EXPECT_EQ(Ready("{'addresses':[" + three + "],'ports':[{'port':80}]}"),
            "10.0.0.1:80,10.0.0.2:80,10.0.0.3:80");
  EXPECT_EQ(Ready("{'addresses':[" + three + "],'ports':[{'port':80},{'port':81}]}"),
            "10.0.0.1:80,10.0.0.2:80,10.0.0.3:80 + 3 more...");
  EXPECT_EQ(Ready("{'addresses':[" + three + "]},{'addresses':[{'ip':'10.0.0.4'}]}"),
            "10.0.0.1,10.0.0.2,10.0.0.3 + 1 more...");
}

TEST(EndpointTable, Slices) {
  EXPECT_EQ(OfSlice("Endpoints",
                    "'endpoints':[{'addresses':['10.0.0.1','10.0.0.2']},"
                    "{'addresses':['10.0.0.3','10.0.0.4','10.0.0.5']}]"),
            "10.0.0.1,10.0.0.2,10.0.0.3 + 2 more...");
  EXPECT_EQ(OfSlice("Ports", "'ports':[{'port':1},{'port':2},{'port':3},{'port':4}]"),
            "1,2,3 + 1 more...");
  EXPECT_EQ(OfSlice("Ports", "'ports':[{'name':'http'}]"), "http");
  EXPECT_EQ(OfSlice("Ports", "'ports':[{'protocol':'TCP'}]"), "*");
  EXPECT_EQ(OfSlice("Ports", ""), "<unset>");
  EXPECT_EQ(OfSlice("Endpoints", ""), "<unset>");
}

TEST(EndpointTable, TheStatusOfANode) {
  const std::string ready = "'status':{'conditions':[{'type':'Ready','status':'True'}]}";
  EXPECT_EQ(OfNode("Status", ready), "Ready");
  EXPECT_EQ(OfNode("Status", "'spec':{'unschedulable':true}," + ready), "Ready,SchedulingDisabled");
  EXPECT_EQ(OfNode("Status", "'status':{'conditions':[{'type':'Ready','status':'Unknown'}]}"),
            "NotReady");
  EXPECT_EQ(OfNode("Status", ""), "Unknown");
}

TEST(EndpointTable, TheWideColumnsOfANode) {
  EXPECT_EQ(OfNode("Internal-IP",
                   "'status':{'addresses':[{'type':'Hostname','address':'h'},"
                   "{'type':'InternalIP','address':'10.0.0.1'},"
                   "{'type':'InternalIP','address':'fd00::1'}]}"),
            "10.0.0.1");
  EXPECT_EQ(OfNode("External-IP", ""), "<none>");
  EXPECT_EQ(OfNode("OS-Image", ""), "<unknown>");
  EXPECT_EQ(OfNode("Kernel-Version",
                   "'status':{'nodeInfo':{'kernelVersion':'6.1','architecture':'arm64'}}"),
            "6.1 (arm64)");
  for (const Column& column : NodeColumns()) {
    EXPECT_EQ(column.priority, column.name.find('-') == std::string_view::npos ? 0 : 1)
        << column.name;
  }
}

TEST(EndpointTable, RolesOfANode) {
  const auto roles = [](const std::string& labels) {
    const codec::Array cells =
        NodeCells(Json("{'metadata':{'name':'a','labels':{" + labels + "}}}"), base::WallTime());
    return std::string(codec::Text(&cells[2]));
  };
  EXPECT_EQ(roles("'node-role.kubernetes.io/worker':'','kubernetes.io/role':'edge'"),
            "edge,worker");
  EXPECT_EQ(roles("'node-role.kubernetes.io/':''"), "<none>");
}

}  // namespace
}  // namespace berth::rules
