#include "controllers/audit_events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ip/addr.h"

namespace berth::controllers {
namespace {

using alloc::PoolId;
using audit::Finding;
using audit::FindingKind;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

alloc::PoolValue AddressValue(const char* text) {
  const ip::Addr address = ip::ParseAddr(text).value();
  return {.pool = alloc::PoolOf(address.family()), .value = address.bits()};
}
alloc::PoolValue PortValue(uint16_t port) { return {.pool = PoolId::kPorts, .value = port}; }

audit::ObjectRef ServiceRef(const std::string& name) {
  return {.resource = "services", .name_space = "shop", .name = name, .uid = name + "-uid"};
}

Finding About(FindingKind kind, const alloc::PoolValue& value,
              const std::vector<std::string>& owners) {
  Finding finding{.kind = kind, .value = value, .owner_count = owners.size()};
  for (const std::string& owner : owners) finding.owners.push_back(ServiceRef(owner));
  return finding;
}

std::vector<std::string> TextsOf(const Finding& finding, const EventFacts& facts = {}) {
  std::vector<std::string> texts;
  for (const auto& event : EventsOf(finding, facts)) {
    EXPECT_EQ(event.kind, "Service");
    EXPECT_EQ(event.uid, event.name + "-uid");
    texts.push_back(event.name_space + "/" + event.name + " " + event.reason + ": " + event.note);
  }
  return texts;
}

TEST(AuditEvents, BothOwnersAreToldOfTheOther) {
  EXPECT_THAT(
      TextsOf(About(FindingKind::kTwoOwners, AddressValue("10.96.0.10"), {"a", "b"})),
      ElementsAre("shop/a ClusterIPAlreadyAllocated: Cluster IP [IPv4]:10.96.0.10 was assigned to "
                  "multiple services; please recreate service: Service shop/b has it too",
                  "shop/b ClusterIPAlreadyAllocated: Cluster IP [IPv4]:10.96.0.10 was assigned to "
                  "multiple services; please recreate service: Service shop/a has it too"));
  EXPECT_THAT(TextsOf(About(FindingKind::kTwoOwners, PortValue(30009), {"a", "b", "c"})),
              ElementsAre(::testing::EndsWith("Service shop/b and 1 more have it too"),
                          ::testing::EndsWith("Service shop/a and 1 more have it too"),
                          "shop/c PortAlreadyAllocated: Port 30009 was assigned to multiple "
                          "services; please recreate service: Service shop/a and 1 more have it "
                          "too"));
}

TEST(AuditEvents, WhatIsRepairedIsSaidAsKubernetesSaysIt) {
  EXPECT_THAT(TextsOf(About(FindingKind::kNoRecord, AddressValue("fd00::a"), {"a"})),
              ElementsAre("shop/a ClusterIPNotAllocated: Cluster IP [IPv6]: fd00::a is not "
                          "allocated; repairing"));
  EXPECT_THAT(TextsOf(About(FindingKind::kNoRecord, PortValue(30009), {"a"})),
              ElementsAre("shop/a PortNotAllocated: Port 30009 is not allocated; repairing"));
  for (const FindingKind kind : {FindingKind::kWrongOwner, FindingKind::kWrongUid,
                                 FindingKind::kWrongFamily, FindingKind::kWrongPurpose}) {
    EXPECT_THAT(TextsOf(About(kind, AddressValue("10.96.0.10"), {"a"})),
                ElementsAre("shop/a ClusterIPNotAllocated: the ClusterIP [IPv4]: 10.96.0.10 for "
                            "Service shop/a has a wrong reference; repairing"));
  }
}

TEST(AuditEvents, TheRepairOfBitmapsSpeaksForItself) {
  const EventFacts bitmaps{.records_count = false};
  const Finding lost = About(FindingKind::kNoRecord, PortValue(30009), {"a"});
  EXPECT_THAT(TextsOf(lost, bitmaps), IsEmpty());
  EXPECT_EQ(RepairLabelOf(lost.kind, bitmaps), "");
  EXPECT_EQ(RepairLabelOf(lost.kind, {}), "repair");
}

TEST(AuditEvents, AValueOutsideOfAllRangesIsNamedWithThem) {
  EXPECT_THAT(
      TextsOf(About(FindingKind::kOutOfRange, PortValue(80), {"a"}),
              {.port_ranges = "30000-32767"}),
      ElementsAre("shop/a PortOutOfRange: Port 80 is not within the port range 30000-32767; please "
                  "recreate service"));
  EXPECT_THAT(TextsOf(About(FindingKind::kUnusable, AddressValue("10.96.0.0"), {"a"})),
              ElementsAre("shop/a ClusterIPOutOfRange: Cluster IP [IPv4]: 10.96.0.0 is not within "
                          "any configured Service CIDR; please recreate service"));
}

TEST(AuditEvents, OtherKindsHaveNone) {
  EXPECT_THAT(TextsOf(About(FindingKind::kOrphan, PortValue(30009), {})), IsEmpty());
  EXPECT_THAT(TextsOf({.kind = FindingKind::kWrongCount}), IsEmpty());
}

TEST(AuditEvents, AReleasedRecordSaysWhy) {
  ReleasedRecord record{.value = AddressValue("10.96.0.10"),
                        .name = "10.96.0.10",
                        .uid = "u",
                        .service = allocation::ServiceId{.name_space = "shop", .name = "gone"}};
  EXPECT_EQ(EventOf(record).reason, "IPAddressNotAllocated");
  EXPECT_EQ(EventOf(record).note,
            "IPAddress: 10.96.0.10 for Service shop/gone appears to have leaked: cleaning up");
  record.service_exists = true;
  EXPECT_EQ(EventOf(record).reason, "IPAddressWrongReference");
  EXPECT_EQ(EventOf(record).note,
            "IPAddress: 10.96.0.10 for Service shop/gone has a wrong reference; cleaning up");
  record.service.reset();
  EXPECT_EQ(EventOf(record).note,
            "IPAddress 10.96.0.10 appears to have been modified, not referencing a Service: "
            "cleaning up");
}

}  // namespace
}  // namespace berth::controllers
