#include "rules/allocation_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "rules/testing/rules_kit.h"

namespace berth::rules {
namespace {

using ::testing::ElementsAre;

base::WallTime Now() { return base::WallTime(std::chrono::seconds(1'700'000'000)); }

/// Returns the names of the columns with this priority: 0 is the ordinary form, 1 the wide one.
std::vector<std::string> Names(std::string_view kind, int priority) {
  std::vector<std::string> names;
  for (const Column& column : Columns(kind)) {
    EXPECT_FALSE(column.description.empty()) << column.name;
    EXPECT_EQ(column.format, column.name == "Name" ? "name" : "") << column.name;
    if (column.priority == priority) names.emplace_back(column.name);
  }
  return names;
}

codec::Array Row(std::string_view kind, const std::string& rest, const std::string& name = "a") {
  codec::Array cells = Cells(kind,
                             Json("{'metadata':{'name':'" + name +
                                  "','creationTimestamp':'2023-11-14T22:13:15Z'}," + rest + "}"),
                             Now());
  EXPECT_EQ(cells.size(), Columns(kind).size());
  return cells;
}

constexpr std::string_view kIpRange = "IPRange.allocation.berth.io";
constexpr std::string_view kNodePortRange = "NodePortRange.allocation.berth.io";
constexpr std::string_view kNodePort = "NodePort.allocation.berth.io";
constexpr std::string_view kReplica = "Replica.allocation.berth.io";

TEST(AllocationTable, Columns) {
  EXPECT_THAT(Names(kIpRange, 0),
              ElementsAre("Name", "Range", "Primary", "Total", "Used", "Free", "Ready", "Age"));
  EXPECT_THAT(Names(kIpRange, 1),
              ElementsAre("Priority", "Reserved", "Cooling", "StaticBand", "Disabled"));
  EXPECT_THAT(Names(kNodePortRange, 0),
              ElementsAre("Name", "Range", "Total", "Used", "Free", "Ready", "Age"));
  EXPECT_EQ(Names(kNodePortRange, 1), Names(kIpRange, 1));
  EXPECT_THAT(Names(kNodePort, 0),
              ElementsAre("Name", "State", "Service", "Purpose", "Range", "Since"));
  EXPECT_THAT(Names(kNodePort, 1), ElementsAre("Ports", "Chosen", "Until", "Age"));
  EXPECT_THAT(Names(kReplica, 0), ElementsAre("Name", "Version", "Gates", "Skew", "Age"));
  EXPECT_THAT(Names(kReplica, 1), ElementsAre("Address", "Capabilities"));
}

TEST(AllocationTable, Ranges) {
  const std::string status =
      "'status':{'total':'65534','used':12,'free':65500,'reserved':2,'cooling':20,'bands':{"
      "'static':{'first':'10.96.0.1','last':'10.96.1.0'}},'conditions':[{'type':'Ready','status':"
      "'True','reason':'R'}]}";
  EXPECT_EQ(Row(kIpRange, "'spec':{'range':'10.96.0.0/16','primary':true}," + status,
                "allocator.ipv4.k8s.io"),
            (codec::Array{"allocator.ipv4.k8s.io", "10.96.0.0/16", "true", "65534", 12, 65500,
                          "True", "5s", "highest", 2, 20, "10.96.0.1-10.96.1.0", "false"}));
  EXPECT_EQ(Row(kNodePortRange,
                "'spec':{'range':'443','priority':-3,'disabled':true},"
                "'status':{'total':'1','used':1,'free':0,'reserved':0,'cooling':0}"),
            (codec::Array{"a", "443", "1", 1, 0, "<unknown>", "5s", "-3", 0, 0, "<none>", "true"}));
}

TEST(AllocationTable, ARangeThatNobodyHasCountedYet) {
  EXPECT_EQ(Row(kIpRange, "'spec':{'range':'10.0.0.0/24'}"),
            (codec::Array{"a", "10.0.0.0/24", "false", "<unknown>", "<unknown>", "<unknown>",
                          "<unknown>", "5s", "0", "<unknown>", "<unknown>", "<none>", "false"}));
}

TEST(AllocationTable, ReadyOrWhyNot) {
  const auto ready = [](const std::string& conditions) {
    return Row(kNodePortRange,
               "'spec':{'range':'443'},'status':{'conditions':[" + conditions + "]}")[5];
  };
  const std::string no = "{'type':'Ready','status':'False'}";
  EXPECT_EQ(ready(no), "False");
  EXPECT_EQ(ready("{'type':'Ready','status':'False','reason':'Disabled'}"), "Disabled");
  EXPECT_EQ(ready("{'type':'Ready','status':'True'},{'type':'Overlapping','status':'True'}"),
            "True");
  EXPECT_EQ(ready("{'type':'Draining','status':'False'}," + no), "False");
  EXPECT_EQ(ready(no + ",{'type':'Draining','status':'True'}"), "Draining");
  EXPECT_EQ(ready(no + ",{'type':'Draining','status':'True','reason':'Drained'}"), "Drained");
  EXPECT_EQ(ready("{'type':'Ready','status':'True'},{'type':'Exhausted','status':'True'}"),
            "Exhausted");
  EXPECT_EQ(ready("{'type':'Exhausted','status':'True'},{'type':'Draining','status':'True'},"
                  "{'type':'Terminating','status':'True'}"),
            "Terminating");
}

TEST(AllocationTable, NodePorts) {
  EXPECT_EQ(Row(kNodePort,
                "'spec':{'nodePortRangeRef':{'name':'low'},'reservedFor':{'namespace':'n','name':"
                "'other'}},'status':{'state':'Allocated','chosen':'Static','service':{'namespace':"
                "'shop','name':'web'},'purpose':'NodePort','ports':[{'port':53,'protocol':'TCP'},"
                "{'port':53,'protocol':'UDP'}],'since':'2023-11-14T22:13:18Z'}",
                "53"),
            (codec::Array{"53", "Allocated", "shop/web", "NodePort", "low", "2s", "53/TCP,53/UDP",
                          "Static", "<none>", "5s"}));
  EXPECT_EQ(Row(kNodePort,
                "'spec':{'reservedFor':{'namespace':'shop','name':'web'}},'status':{'state':"
                "'Pending','since':'2023-11-14T22:13:15Z','until':'2023-11-14T22:20:00Z'}"),
            (codec::Array{"a", "Pending", "shop/web", "<none>", "<none>", "5s", "<none>", "<none>",
                          "2023-11-14T22:20:00Z", "5s"}));
  EXPECT_EQ(Row(kNodePort, "'status':{'state':'Reserved'}")[2], "<none>");
}

TEST(AllocationTable, Replicas) {
  EXPECT_EQ(Row(kReplica,
                "'spec':{'version':'v1','gates':{'C':'false','B':'true','A':'false'},"
                "'capabilities':['x','y'],'address':'127.0.0.1:6443'},"
                "'status':{'skew':['A=false','B=true']}"),
            (codec::Array{"a", "v1", "A=false,C=false", "A=false,B=true", "5s", "127.0.0.1:6443",
                          "x,y"}));
  EXPECT_EQ(Row(kReplica, "'spec':{'gates':{'B':'true'}}"),
            (codec::Array{"a", "<unknown>", "all on", "<none>", "5s", "<unknown>", "<none>"}));
}

}  // namespace
}  // namespace berth::rules
