#include "rules/table.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "rules/age.h"
#include "rules/event_rules.h"
#include "rules/testing/rules_kit.h"

namespace berth::rules {
namespace {

using std::chrono::seconds;

TEST(Age, HumanDuration) {
  constexpr int64_t kDay = 86400;
  const std::vector<std::pair<int64_t, std::string>> cases = {
      {-2, "<invalid>"},
      {-1, "0s"},
      {0, "0s"},
      {119, "119s"},
      {120, "2m"},
      {200, "3m20s"},
      {599, "9m59s"},
      {600, "10m"},
      {10799, "179m"},
      {10800, "3h"},
      {10860, "3h1m"},
      {28799, "7h59m"},
      {28800, "8h"},
      {2 * kDay - 1, "47h"},
      {2 * kDay, "2d"},
      {2 * kDay + 3 * 3600, "2d3h"},
      {8 * kDay - 1, "7d23h"},
      {8 * kDay, "8d"},
      {730 * kDay - 1, "729d"},
      {730 * kDay, "2y"},
      {731 * kDay, "2y1d"},
      {2920 * kDay - 1, "7y364d"},
      {2920 * kDay, "8y"},
  };
  for (const auto& [secs, text] : cases) EXPECT_EQ(HumanDuration(seconds(secs)), text) << secs;
}

base::WallTime TableTime() { return base::WallTime(seconds(1'700'000'000)); }

TEST(Age, OfATime) {
  EXPECT_EQ(Age("2023-11-14T22:13:15Z", TableTime()), "5s");
  EXPECT_EQ(Age("2023-11-14T22:13:15.500000Z", TableTime()), "4s");
  EXPECT_EQ(Age("", TableTime()), "<unknown>");
  EXPECT_EQ(Age("yesterday", TableTime()), "<unknown>");
  EXPECT_EQ(Age("0001-01-02T00:00:00Z", TableTime()), "292y")
      << "as far back as a duration reaches";
}

void ExpectColumns(std::string_view kind,
                   const std::vector<std::pair<std::string, int>>& expected) {
  std::vector<std::pair<std::string, int>> got;
  for (const Column& column : Columns(kind)) {
    got.emplace_back(column.name, column.priority);
    EXPECT_EQ(column.format, column.name == "Name" ? "name" : "") << column.name;
    EXPECT_FALSE(column.description.empty()) << column.name;
  }
  EXPECT_EQ(got, expected) << kind;
}

TEST(Table, Columns) {
  ExpectColumns("Service", {{"Name", 0},
                            {"Type", 0},
                            {"Cluster-IP", 0},
                            {"External-IP", 0},
                            {"Port(s)", 0},
                            {"Age", 0},
                            {"Selector", 1}});
  ExpectColumns("Namespace", {{"Name", 0}, {"Status", 0}, {"Age", 0}});
  for (const char* kind : {"Event", "Event.events.k8s.io"}) {
    ExpectColumns(kind, {{"Last Seen", 0},
                         {"Type", 0},
                         {"Reason", 0},
                         {"Object", 0},
                         {"Subobject", 1},
                         {"Source", 1},
                         {"Message", 0},
                         {"First Seen", 1},
                         {"Count", 1},
                         {"Name", 1}});
  }
  ExpectColumns("Lease.coordination.k8s.io", {{"Name", 0}, {"Holder", 0}, {"Age", 0}});
  ExpectColumns("ServiceCIDR.networking.k8s.io", {{"Name", 0}, {"CIDRs", 0}, {"Age", 0}});
  ExpectColumns("IPAddress.networking.k8s.io", {{"Name", 0}, {"ParentRef", 0}});
  ExpectColumns("Widget.example.com", {{"Name", 0}, {"Created At", 0}});
  EXPECT_EQ(Columns("Widget.example.com")[1].type, "date");
  EXPECT_EQ(Columns("Service")[0].type, "string");
}

codec::Array ServiceRow(const std::string& spec, const std::string& status = "{}") {
  return Cells("Service",
               Json("{'metadata':{'name':'a','creationTimestamp':'2023-11-14T22:13:15Z'},'spec':" +
                    spec + ",'status':" + status + "}"),
               TableTime());
}

TEST(Table, Services) {
  EXPECT_EQ(
      ServiceRow("{'type':'ClusterIP','clusterIPs':['10.0.0.1','fd00::1'],'selector':{'z':'1'"
                 ",'a':'2'},'ports':[{'port':80,'protocol':'TCP'},{'port':53,'protocol':"
                 "'UDP'}]}"),
      (codec::Array{"a", "ClusterIP", "10.0.0.1", "<none>", "80/TCP,53/UDP", "5s", "a=2,z=1"}));
  EXPECT_EQ(ServiceRow("{'type':'NodePort','clusterIPs':['10.0.0.1'],'externalIPs':['192.0.2.1',"
                       "'192.0.2.2'],'ports':[{'port':80,'protocol':'TCP','nodePort':30001}]}"),
            (codec::Array{"a", "NodePort", "10.0.0.1", "192.0.2.1,192.0.2.2", "80:30001/TCP", "5s",
                          "<none>"}));
  EXPECT_EQ(
      ServiceRow("{'type':'ExternalName','externalName':'db.example.com'}"),
      (codec::Array{"a", "ExternalName", "<none>", "db.example.com", "<none>", "5s", "<none>"}));
  EXPECT_EQ(ServiceRow("{'type':'ClusterIP','clusterIPs':['None']}")[2], "None");
  EXPECT_EQ(ServiceRow("{'type':'LoadBalancer'}")[3], "<pending>");
  EXPECT_EQ(ServiceRow("{'type':'LoadBalancer','externalIPs':['192.0.2.7']}",
                       "{'loadBalancer':{'ingress':[{'ip':'192.0.2.9'},{'hostname':"
                       "'b.example.com'},{'ip':'192.0.2.3'},{'ip':'192.0.2.3'}]}}")[3],
            "192.0.2.3,192.0.2.9,b.example.com,192.0.2.7");
  EXPECT_EQ(ServiceRow("{'type':'Other'}")[3], "<unknown>");
}

TEST(Table, Events) {
  const codec::Value old_form = Json(
      "{'metadata':{'name':'e1'},'involvedObject':{'kind':'Service','name':'web','fieldPath':'f'},"
      "'reason':'R','message':' text \\n','type':'Warning','source':{'component':'berth','host':"
      "'h'},'count':3,'firstTimestamp':'2023-11-14T22:11:20Z','lastTimestamp':"
      "'2023-11-14T22:13:15Z'}");
  const codec::Array row = {"5s",   "Warning", "R", "service/web", "f", "berth, h",
                            "text", "2m",      3,   "e1"};
  EXPECT_EQ(Cells("Event", old_form, TableTime()), row);
  EXPECT_EQ(Cells("Event.events.k8s.io", EventToNew(old_form), TableTime()), row);
  EXPECT_EQ(Cells("Event",
                  Json("{'metadata':{'name':'e5'},'involvedObject':{'kind':'Node'},'eventTime':"
                       "'2023-11-14T22:13:10.000000Z','reportingComponent':'c.io/x',"
                       "'reportingInstance':'i'}"),
                  TableTime()),
            (codec::Array{"10s", "", "", "node", "", "c.io/x, i", "", "10s", 1, "e5"}));
  const codec::Array series =
      Cells("Event",
            Json("{'series':{'count':4,'lastObservedTime':'2023-11-14T22:13:19.000000Z'},'count':1,"
                 "'lastTimestamp':'2023-11-14T22:13:10Z'}"),
            TableTime());
  EXPECT_EQ(series[0], "1s");
  EXPECT_EQ(series[8], 4);
  EXPECT_EQ(series[7], "<unknown>");
}

TEST(Table, OtherKinds) {
  const std::string meta = "'metadata':{'name':'a','creationTimestamp':'2023-11-14T22:13:15Z'}";
  EXPECT_EQ(Cells("Namespace", Json("{" + meta + ",'status':{'phase':'Active'}}"), TableTime()),
            (codec::Array{"a", "Active", "5s"}));
  EXPECT_EQ(Cells("Lease.coordination.k8s.io", Json("{" + meta + ",'spec':{'holderIdentity':'h'}}"),
                  TableTime()),
            (codec::Array{"a", "h", "5s"}));
  EXPECT_EQ(Cells("ServiceCIDR.networking.k8s.io",
                  Json("{" + meta + ",'spec':{'cidrs':['10.0.0.0/8','fd00::/64']}}"), TableTime()),
            (codec::Array{"a", "10.0.0.0/8,fd00::/64", "5s"}));
  EXPECT_EQ(Cells("IPAddress.networking.k8s.io",
                  Json("{" + meta +
                       ",'spec':{'parentRef':{'resource':'Services','namespace':'n',"
                       "'name':'w'}}}"),
                  TableTime()),
            (codec::Array{"a", "services/n/w", "5s"}));
  EXPECT_EQ(Cells("IPAddress.networking.k8s.io",
                  Json("{" + meta +
                       ",'spec':{'parentRef':{'group':'x.io','resource':'widgets',"
                       "'name':'w'}}}"),
                  TableTime())[1],
            "widgets.x.io/w");
  EXPECT_EQ(Cells("IPAddress.networking.k8s.io", Json("{" + meta + "}"), TableTime())[1], "<none>");
  EXPECT_EQ(Cells("Widget.example.com", Json("{" + meta + "}"), TableTime()),
            (codec::Array{"a", "2023-11-14T22:13:15Z"}));
}

}  // namespace
}  // namespace berth::rules
