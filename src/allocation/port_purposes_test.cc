// What NodePorts say about their purpose.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "allocation/testing/registry_stack.h"
#include "codec/json.h"

namespace berth::allocation {
namespace {

using allocation::testing::Text;
using codec::StringAt;

class PortPurposesTest : public allocation::testing::RegistryTest {
 protected:
  base::Result<registry::Outcome> Put(const std::string& spec) {
    return Update(Service("web"), "{'metadata':{'name':'web'},'spec':{" + spec + "}}");
  }
  void Make(const std::string& spec) {
    Must(Create(Service(""), "{'metadata':{'name':'web'},'spec':{" + spec + "}}"));
  }
  registry::Target Port(const std::string& number) const {
    return At("allocation.berth.io/nodeports", "", number);
  }
  /// Returns "NodePort [...] of shop/web".
  std::string Purpose(const std::string& number) const {
    const auto port = Get(Port(number));
    if (!port) return "gone";
    return std::string(StringAt(*port, "status", "purpose")) + " " +
           codec::WriteJson(codec::ArrayAt(*port, "status", "ports")) + " of " +
           std::string(StringAt(*port, "status", "service", "namespace")) + "/" +
           std::string(StringAt(*port, "status", "service", "name"));
  }
};

constexpr const char* kDns =
    "'type':'NodePort','ports':[{'name':'udp','port':53,'protocol':'UDP','nodePort':30053},"
    "{'name':'tcp','port':53,'protocol':'TCP','nodePort':30053}]";

TEST_F(PortPurposesTest, WhichPortsHaveTheNumber) {
  Make(kDns);
  EXPECT_EQ(Purpose("30053"), R"(NodePort [{"name":"udp","port":53,"protocol":"UDP"},)"
                              R"({"name":"tcp","port":53,"protocol":"TCP"}] of shop/web)");
}

TEST_F(PortPurposesTest, OneWithoutANameAndTheHealthCheck) {
  Make(
      "'type':'LoadBalancer','externalTrafficPolicy':'Local','healthCheckNodePort':30099,"
      "'ports':[{'port':80,'nodePort':30080}]");
  EXPECT_EQ(Purpose("30080"), R"(NodePort [{"port":80,"protocol":"TCP"}] of shop/web)");
  EXPECT_EQ(Purpose("30099"), "HealthCheck [] of shop/web");
}

TEST_F(PortPurposesTest, ANumberThatIsKeptIsForWhatItIsForNow) {
  Make("'type':'NodePort','ports':[{'port':80,'nodePort':30080}]");
  const std::string uid(StringAt(*Get(Port("30080")), "metadata", "uid"));
  const int64_t before = Revision();
  Must(Put("'type':'NodePort','ports':[{'name':'http','port':8080,'nodePort':30080}]"));
  EXPECT_EQ(Purpose("30080"),
            R"(NodePort [{"name":"http","port":8080,"protocol":"TCP"}] of shop/web)");
  EXPECT_EQ(StringAt(*Get(Port("30080")), "metadata", "uid"), uid);
  EXPECT_EQ(StringAt(*Get(Port("30080")), "status", "chosen"), "Static");
  EXPECT_EQ(Revision(), before + 2) << "the record and the Service, in one write";
}

TEST_F(PortPurposesTest, APortThatJoinsIsNoted) {
  Make("'type':'NodePort','ports':[{'name':'udp','port':53,'protocol':'UDP','nodePort':30053}]");
  Must(
      Put("'type':'NodePort','ports':[{'name':'udp','port':53,'protocol':'UDP','nodePort':30053},"
          "{'name':'tcp','port':53,'protocol':'TCP'}]"));
  EXPECT_EQ(Purpose("30053"), R"(NodePort [{"name":"udp","port":53,"protocol":"UDP"},)"
                              R"({"name":"tcp","port":53,"protocol":"TCP"}] of shop/web)");
}

TEST_F(PortPurposesTest, AHealthCheckThatBecomesAPort) {
  Make(
      "'type':'LoadBalancer','externalTrafficPolicy':'Local','healthCheckNodePort':30099,"
      "'ports':[{'port':80,'nodePort':30080}]");
  const auto changed = Put("'type':'NodePort','ports':[{'port':80,'nodePort':30099}]");
  ASSERT_TRUE(changed) << Text(changed);
  EXPECT_EQ(Purpose("30099"), R"(NodePort [{"port":80,"protocol":"TCP"}] of shop/web)");
  EXPECT_EQ(Purpose("30080"), "gone");
}

TEST_F(PortPurposesTest, WhatDoesNotChangeIsNotWritten) {
  Make(kDns);
  const int64_t before = Revision();
  Must(Put(std::string(kDns) + ",'sessionAffinity':'ClientIP'"));
  EXPECT_EQ(Revision(), before + 1);
}

TEST_F(PortPurposesTest, ARecordThatChangedMeanwhileIsNotOverwritten) {
  Make("'type':'NodePort','ports':[{'port':80,'nodePort':30080}]");
  const std::string key = "/registry/allocation.berth.io/nodeports/30080";
  const registry::Row& row = *RecordRowsOf(kinds_).node_ports;
  codec::Value record = registry::Registry::Decode(row, *follower_->Current()->Find(key)).value();
  codec::SetAt(record, {"metadata", "labels", "a"}, "b");
  store_.Put(key, registry::ToStored(row, record));
  Must(Put("'type':'NodePort','ports':[{'port':81,'nodePort':30080}]"));
  EXPECT_EQ(Purpose("30080"), R"(NodePort [{"port":81,"protocol":"TCP"}] of shop/web)");
  EXPECT_EQ(StringAt(*Get(Port("30080")), "metadata", "labels", "a"), "b");
}

/// This happens while a store is switched from bitmaps to records.
TEST_F(PortPurposesTest, ARecordThatIsMadeMeanwhileIsSeen) {
  Make("'type':'NodePort','ports':[{'port':80,'nodePort':30080}]");
  const std::string key = "/registry/allocation.berth.io/nodeports/30080";
  const registry::Row& row = *RecordRowsOf(kinds_).node_ports;
  const codec::Value record =
      registry::Registry::Decode(row, *follower_->Current()->Find(key)).value();
  store_.Delete(key);
  PumpAll();
  store_.Put(key, registry::ToStored(row, record));
  Must(Put("'type':'NodePort','ports':[{'port':81,'nodePort':30080}]"));
  EXPECT_EQ(Purpose("30080"), R"(NodePort [{"port":81,"protocol":"TCP"}] of shop/web)");
}

}  // namespace
}  // namespace berth::allocation
