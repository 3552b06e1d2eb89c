#include "inspect/live_cluster.h"

#include <gtest/gtest.h>

#include <string>

#include "codec/json.h"

namespace berth::inspect {
namespace {

codec::Value LiveService(const std::string& name, const std::string& address) {
  return codec::ParseJson(
             R"({"apiVersion":"v1","kind":"Service","metadata":{"namespace":"shop","name":")" +
             name + R"("},"spec":{"clusterIP":")" + address + R"("}})")
      .value();
}

class LiveClusterTest : public testing::Test {
 protected:
  std::string Names() const {
    ClusterReader reader({});
    live_.AddTo(reader);
    std::string names;
    for (const Service& service : std::move(reader).Finish().services) {
      names += service.object.name + "=" + alloc::TextOf(service.holds.at(0).value) + " ";
    }
    return names;
  }

  LiveCluster live_{
      {[](ClusterReader& reader, const codec::Value& object) { reader.AddService(object); }}};
};

TEST_F(LiveClusterTest, FollowsChanges) {
  live_.BeginList(0);
  live_.Put(0, LiveService("b", "10.96.0.2"));
  live_.Put(0, LiveService("a", "10.96.0.1"));
  live_.EndList(0);
  EXPECT_EQ(Names(), "a=10.96.0.1 b=10.96.0.2 ");
  live_.Put(0, LiveService("b", "10.96.0.3"));
  live_.Remove(0, LiveService("a", ""));
  EXPECT_EQ(Names(), "b=10.96.0.3 ");
}

TEST_F(LiveClusterTest, AListReplacesWhatWasThereWhenItEnds) {
  live_.BeginList(0);
  live_.Put(0, LiveService("old", "10.96.0.1"));
  live_.EndList(0);
  live_.BeginList(0);
  live_.Put(0, LiveService("new", "10.96.0.2"));
  EXPECT_EQ(Names(), "new=10.96.0.2 old=10.96.0.1 ");
  live_.BeginList(0);  // The list was cut off and begins again.
  live_.Put(0, LiveService("newer", "10.96.0.3"));
  live_.EndList(0);
  EXPECT_EQ(Names(), "newer=10.96.0.3 ");
}

}  // namespace
}  // namespace berth::inspect
