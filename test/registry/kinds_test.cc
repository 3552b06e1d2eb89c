#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "allocation/testing/registry_stack.h"
#include "codec/range_allocation.h"
#include "registry/kind_rows.h"
#include "registry/object_errors.h"

namespace berth::registry {
namespace {

using allocation::testing::RegistryTest;
using allocation::testing::Text;
using codec::StringAt;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Kinds, AreFoundByGroupVersionAndPlural) {
  const Kinds kinds;
  const auto core = kinds.Find("", "v1", "events");
  const auto other = kinds.Find("events.k8s.io", "v1", "events");
  ASSERT_TRUE(core && other);
  EXPECT_EQ(core->row, other->row) << "one row, two views";
  EXPECT_TRUE(core->IsStoredForm());
  EXPECT_FALSE(other->IsStoredForm());
  EXPECT_FALSE(kinds.Find("", "v2", "events"));
  EXPECT_FALSE(kinds.Find("apps", "v1", "services"));
  EXPECT_FALSE(kinds.Find("", "v1", "pods"));
  EXPECT_EQ(kinds.NamespaceRow().kind->plural, "namespaces");

  std::vector<std::string> names;
  for (const api::Kind* kind : kinds.Views()) names.push_back(QualifiedResource(*kind));
  EXPECT_THAT(names,
              ElementsAre("namespaces", "services", "events", "endpoints", "nodes",
                          "leases.coordination.k8s.io", "endpointslices.discovery.k8s.io",
                          "events.events.k8s.io", "servicecidrs.networking.k8s.io",
                          "ipaddresses.networking.k8s.io", "ipaddresses.allocation.berth.io",
                          "ipranges.allocation.berth.io", "nodeportranges.allocation.berth.io",
                          "nodeports.allocation.berth.io", "replicas.allocation.berth.io"))
      << "ours last: who asks for ipaddresses means those of Kubernetes";
  EXPECT_FALSE(kinds.Find("allocation.berth.io", "v1alpha1", "rangefences"));
}

TEST(Kinds, StoredBytesOfAnotherKindAreNotShown) {
  const Kinds kinds;
  const state::Resources resources = kinds.MakeResources();
  const auto service = kinds.Find("", "v1", "services");
  const auto& decode = resources.At(service->row->resource).decode;
  EXPECT_FALSE(decode("garbage"));
  const auto wrong = decode(R"({"kind":"Namespace","apiVersion":"v1","metadata":{"name":"a"}})");
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message, HasSubstr("Namespace"));
  const auto right = decode(R"({"kind":"Service","apiVersion":"v1","metadata":{"name":"a"}})");
  ASSERT_TRUE(right);
  EXPECT_THAT(right->text, HasSubstr(R"("kind":"Service")"));
}

TEST(Kinds, BitmapsAreKeptAsTheyAreStored) {
  const Kinds kinds;
  const state::Resources resources = kinds.MakeResources();
  const auto identity = resources.Find("/registry/ranges/serviceips");
  ASSERT_TRUE(identity);
  const std::string stored = codec::WriteRangeAllocation("10.96.0.0/12", "\x02\x01");
  const auto wire = resources.At(identity->resource).decode(stored);
  ASSERT_TRUE(wire);
  EXPECT_EQ(wire->hidden, stored);
  EXPECT_FALSE(resources.At(identity->resource).decode("garbage"));
  EXPECT_FALSE(kinds.Find("", "v1", "rangeallocations")) << "never served";
}

TEST(Kinds, ServicesOfOlderVersionsAreShownAsToday) {
  const Kinds kinds;
  const Settings settings = {.families = {ip::Family::kV6, ip::Family::kV4}};
  const state::Resources resources = kinds.MakeResources(settings);
  const auto& decode = resources.At(kinds.Find("", "v1", "services")->row->resource).decode;
  const auto text = [&decode](const std::string& spec) {
    return decode(R"({"kind":"Service","apiVersion":"v1","metadata":{"name":"a"},"spec":)" + spec +
                  "}")
        ->text;
  };
  EXPECT_THAT(text(R"({"clusterIP":"10.0.0.1"})"), HasSubstr(R"("clusterIPs":["10.0.0.1"])"));
  EXPECT_THAT(text(R"({"clusterIP":"None","selector":{"a":"b"}})"),
              HasSubstr(R"("ipFamilies":["IPv6"])"))
      << "by the families of this server";
}

TEST_F(RegistryTest, TrafficPolicyOfAnExternalNameIsNotShown) {
  const std::string body =
      "{'metadata':{'name':'a'},'spec':{'type':'ExternalName','externalName':'x.io',"
      "'internalTrafficPolicy':'Local'}}";
  Must(Create(Service(""), body));
  EXPECT_FALSE(codec::HasAt(*Get(Service("a")), "spec", "internalTrafficPolicy"));
  EXPECT_THAT(Text(Update(Service("a"), body)), HasSubstr("unchanged"));
}

class EventViews : public RegistryTest {
 protected:
  const Target core_ = At("events", "shop", "e");
  const Target new_ = At("events.k8s.io/events", "shop", "e");
};

TEST_F(EventViews, WhatIsWrittenInOneIsReadInTheOther) {
  Must(Create(
      new_,
      "{'metadata':{'name':'e'},'eventTime':'2026-11-15T04:35:00.000001Z',"
      "'type':'Warning','reason':'R','action':'A','note':'said','reportingController':"
      "'c.io/x','reportingInstance':'x-1','regarding':{'kind':'Service','namespace':'shop',"
      "'name':'web'},'series':{'count':2,'lastObservedTime':'2026-11-15T04:35:00.000001Z'}}"));
  const auto in_core = Get(core_);
  ASSERT_TRUE(in_core);
  EXPECT_EQ(StringAt(*in_core, "message"), "said");
  EXPECT_EQ(StringAt(*in_core, "involvedObject", "name"), "web");
  EXPECT_EQ(StringAt(*in_core, "reportingComponent"), "c.io/x");
  EXPECT_FALSE(codec::HasAt(*in_core, "note"));
  EXPECT_EQ(codec::IntAt(*in_core, "series", "count"), 2);

  const auto in_new = Get(new_);
  EXPECT_EQ(StringAt(*in_new, "note"), "said");
  EXPECT_EQ(StringAt(*in_new, "regarding", "name"), "web");
  EXPECT_EQ(StringAt(*in_new, "metadata", "uid"), StringAt(*in_core, "metadata", "uid"));
  EXPECT_EQ(Text(Create(core_, "{'metadata':{'name':'e'},'involvedObject':{'namespace':'shop'}}")),
            "events \"e\" already exists");
  EXPECT_THAT(Text(Delete(core_)), HasSubstr("deleted"));
  EXPECT_EQ(Text(Delete(new_)), "events.events.k8s.io \"e\" not found") << "in its own words";
}

TEST_F(EventViews, EachHasItsOwnRules) {
  const std::string old_form =
      "{'metadata':{'name':'e'},'involvedObject':{'namespace':'shop'},'count':1,'message':'m',"
      "'source':{'component':'kubelet'},'firstTimestamp':'2026-11-15T04:35:00Z'}";
  Must(Create(core_, old_form));
  EXPECT_EQ(StringAt(*Get(new_), "deprecatedSource", "component"), "kubelet");
  EXPECT_EQ(codec::IntAt(*Get(new_), "deprecatedCount"), 1);

  const auto refused =
      Create(At("events.k8s.io/events", "shop", "f"),
             "{'metadata':{'name':'f'},'regarding':{'namespace':'shop'},'deprecatedCount':1}");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("Event.events.k8s.io \"f\" is invalid: "));
  EXPECT_THAT(refused.error().message, HasSubstr("eventTime: Required value"));
  EXPECT_THAT(refused.error().message, HasSubstr("count: Invalid value: \"\": needs to be unset"));
  EXPECT_EQ(refused.error().details->group, "events.k8s.io");

  EXPECT_THAT(Text(Update(core_,
                          "{'metadata':{'name':'e'},'involvedObject':{'namespace':'shop'},"
                          "'count':2,'message':'other'}")),
              HasSubstr("updated"));
  EXPECT_THAT(Text(Update(new_,
                          "{'metadata':{'name':'e'},'regarding':{'namespace':'shop'},"
                          "'deprecatedCount':3,'note':'other'}")),
              HasSubstr("count: Invalid value: 3: field is immutable"));
}

TEST_F(EventViews, TheNamespaceMustBeThatOfItsObject) {
  const auto made =
      Create(core_, "{'metadata':{'name':'e'},'involvedObject':{'namespace':'other'}}");
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().message,
            "Event \"e\" is invalid: involvedObject.namespace: Invalid value: \"other\": does not "
            "match event.namespace");
}

}  // namespace
}  // namespace berth::registry
