// What the auditor does about each kind of finding: damage is written straight into the store,
// found by a pass, and repaired or held.
#include "controllers/audit_follow_up.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "allocation/ledger/ledger_view.h"
#include "controllers/testing/auditor_kit.h"

namespace berth::controllers {
namespace {

using allocation::testing::Text;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

class AuditFollowUpTest : public testing::AuditorTest {
 protected:
  AuditFollowUpTest() {
    MakeService("web",
                "'type':'NodePort','clusterIP':'10.96.0.10',"
                "'ports':[{'name':'http','port':80,'nodePort':30009}]");
    MakeService("api", "'clusterIP':'10.96.0.11'");
    EXPECT_EQ(Kinds(), "");
  }
  void SetRecord(const PoolValue& value, const std::vector<std::string_view>& path,
                 const codec::Value& to) {
    Edit(RowOf(value), KeyOf(value), [&](codec::Value& record) { Set(record, path, to); });
  }
  static void Set(codec::Value& object, const std::vector<std::string_view>& path,
                  const codec::Value& to) {
    if (path.size() == 3) {
      codec::SetAt(object, {path[0], path[1], path[2]}, to);
    } else {
      codec::SetAt(object, {path[0], path[1]}, to);
    }
  }
  std::string Revisions(const std::string& name) const {
    return std::to_string(
        follower_->Current()->Find(ServiceRow().prefix + "shop/" + name)->Revision());
  }
};

TEST_F(AuditFollowUpTest, ALostRecordComesBackAndIsToldOf) {
  Lose(KeyOf(Address("10.96.0.10")));
  Lose(KeyOf(Port(30009)));
  EXPECT_EQ(Text(TryMake("thief", "'clusterIP':'10.96.0.10'")).substr(0, 7), "Service")
      << "the Service itself keeps its address";
  EXPECT_EQ(Kinds(), "NoRecord 10.96.0.10, NoRecord 30009");
  EXPECT_EQ(OwnerOf(Address("10.96.0.10")), "shop/web");
  EXPECT_EQ(OwnerOf(Port(30009)), "shop/web");
  EXPECT_EQ(RepairCount(RepairKind::kRecordMade), 2);
  EXPECT_EQ(Found(repair_metrics_.addresses, "repair"), 1);
  EXPECT_EQ(Found(repair_metrics_.ports, "repair"), 1);
  EXPECT_THAT(Events(),
              ElementsAre("ClusterIPNotAllocated of Service web: Cluster IP [IPv4]: 10.96.0.10 is "
                          "not allocated; repairing",
                          "PortNotAllocated of Service web: Port 30009 is not allocated; "
                          "repairing"));
  EXPECT_EQ(Kinds(), "");
  EXPECT_THAT(Lines(), Contains(HasSubstr("The address 10.96.0.10 of Service shop/web has no")));
}

TEST_F(AuditFollowUpTest, AServiceWrittenStraightIntoTheStoreGetsItsRecord) {
  Copy("api", "new", [](codec::Value& service) { SetAddress(service, "10.96.0.12"); });
  EXPECT_EQ(Kinds(), "NoRecord 10.96.0.12");
  EXPECT_EQ(OwnerOf(Address("10.96.0.12")), "shop/new");
  EXPECT_EQ(Kinds(), "");
}

TEST_F(AuditFollowUpTest, OfTwoOwnersNoneIsPreferred) {
  Copy("web", "web2");
  const std::string before = Revisions("web") + Revisions("web2");
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(Kinds(), "TwoOwners 10.96.0.10, TwoOwners 30009");
  }
  EXPECT_EQ(Revisions("web") + Revisions("web2"), before) << "no Service is touched";
  EXPECT_EQ(OwnerOf(Address("10.96.0.10")), "shop/web");
  EXPECT_THAT(Events(), ElementsAre(HasSubstr("of Service web2: Cluster IP [IPv4]:10.96.0.10"),
                                    HasSubstr("of Service web: Cluster IP [IPv4]:10.96.0.10"),
                                    HasSubstr("of Service web2: Port 30009"),
                                    HasSubstr("of Service web: Port 30009")));
  EXPECT_THAT(Events(), Contains(HasSubstr("Service web: Cluster IP [IPv4]:10.96.0.10 was assigned "
                                           "to multiple services; please recreate service: Service "
                                           "shop/web2 has it too")));
  EXPECT_EQ(Found(repair_metrics_.addresses, "duplicate"), 1) << "it is counted once";
  // A third one cannot have it, with the record or without.
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(Text(TryMake("third", "'clusterIP':'10.96.0.10'")),
                HasSubstr("provided IP is already allocated"));
    if (i == 0) Lose(KeyOf(Address("10.96.0.10")));
  }
  EXPECT_EQ(Kinds(), "TwoOwners 10.96.0.10, TwoOwners 30009");
  EXPECT_FALSE(HasRecord(Address("10.96.0.10"))) << "only a person can say whose it is";
  // The person decides.
  Delete(Service("web2"));
  EXPECT_EQ(Kinds(), "NoRecord 10.96.0.10");
  EXPECT_EQ(OwnerOf(Address("10.96.0.10")), "shop/web");
  EXPECT_EQ(OwnerOf(Port(30009)), "shop/web");
  EXPECT_EQ(Kinds(), "");
}

TEST_F(AuditFollowUpTest, TheEndOfOneOwnerLeavesTheRecordToTheOther) {
  Copy("api", "bpi");
  SetRecord(Address("10.96.0.11"), {"spec", "parentRef", "name"}, "bpi");
  Delete(Service("api"));
  EXPECT_EQ(OwnerOf(Address("10.96.0.11")), "shop/bpi");
  EXPECT_THAT(Text(TryMake("third", "'clusterIP':'10.96.0.11'")),
              HasSubstr("provided IP is already allocated"));
}

TEST_F(AuditFollowUpTest, ARecordWithoutItsServiceIsReleasedAfterTwoPasses) {
  Must(Create(At("namespaces", "", ""), "{'metadata':{'name':'default'}}"));
  Lose(ServiceRow().prefix + "shop/web");
  EXPECT_EQ(Kinds(), "Orphan 10.96.0.10, Orphan 30009");
  EXPECT_TRUE(HasRecord(Address("10.96.0.10")));
  EXPECT_THAT(Events("default"), IsEmpty());
  EXPECT_EQ(Kinds(), "Orphan 10.96.0.10, Orphan 30009");
  EXPECT_FALSE(HasRecord(Address("10.96.0.10")));
  EXPECT_FALSE(HasRecord(Port(30009)));
  EXPECT_THAT(Events("default"),
              ElementsAre("IPAddressNotAllocated of IPAddress 10.96.0.10: IPAddress: 10.96.0.10 "
                          "for Service shop/web appears to have leaked: cleaning up",
                          "NodePortNotAllocated of NodePort 30009: NodePort: 30009 for Service "
                          "shop/web appears to have leaked: cleaning up"));
  EXPECT_EQ(RepairCount(RepairKind::kRecordReleased), 2);
  EXPECT_EQ(Found(repair_metrics_.addresses, "leak"), 1);
  EXPECT_EQ(Kinds(), "");
}

TEST_F(AuditFollowUpTest, ARecordThatChangesBetweenTwoPassesStays) {
  PlantRecord(Address("10.96.0.11"), Address("10.96.0.99"), "gone");
  EXPECT_EQ(Kinds(), "Orphan 10.96.0.99");
  SetRecord(Address("10.96.0.99"), {"spec", "parentRef", "name"}, "other");
  EXPECT_EQ(Kinds(), "Orphan 10.96.0.99");
  EXPECT_TRUE(HasRecord(Address("10.96.0.99"))) << "this one was seen once";
  EXPECT_EQ(Kinds(), "Orphan 10.96.0.99");
  EXPECT_FALSE(HasRecord(Address("10.96.0.99")));
}

TEST_F(AuditFollowUpTest, AServiceThatComesBackKeepsItsRecord) {
  const codec::Value web = Stored(ServiceRow(), ServiceRow().prefix + "shop/web");
  Lose(ServiceRow().prefix + "shop/web");
  EXPECT_EQ(Kinds(), "Orphan 10.96.0.10, Orphan 30009");
  Plant(ServiceRow(), "shop/web", web);
  EXPECT_EQ(Kinds(), "");
  EXPECT_TRUE(HasRecord(Address("10.96.0.10")));
}

TEST_F(AuditFollowUpTest, SwappedRecordsAreRewritten) {
  SetRecord(Address("10.96.0.10"), {"spec", "parentRef", "name"}, "api");
  SetRecord(Address("10.96.0.11"), {"spec", "parentRef", "name"}, "web");
  EXPECT_EQ(Kinds(), "WrongOwner 10.96.0.10, WrongOwner 10.96.0.11");
  EXPECT_EQ(OwnerOf(Address("10.96.0.10")), "shop/web");
  EXPECT_EQ(OwnerOf(Address("10.96.0.11")), "shop/api");
  EXPECT_THAT(Events(), Contains("ClusterIPNotAllocated of Service api: the ClusterIP [IPv4]: "
                                 "10.96.0.11 for Service shop/api has a wrong reference; "
                                 "repairing"));
  EXPECT_EQ(RepairCount(RepairKind::kRecordRewritten), 2);
  EXPECT_EQ(Kinds(), "");
}

TEST_F(AuditFollowUpTest, WhatARecordSaysOfItsServiceIsCorrected) {
  const codec::Value right = Stored(RowOf(Port(30009)), KeyOf(Port(30009)));
  SetRecord(Port(30009), {"status", "service", "uid"}, "7c9f1ad0-0000-4000-8000-00000000000f");
  EXPECT_EQ(Kinds(), "WrongUid 30009");
  EXPECT_EQ(Kinds(), "");
  SetRecord(Port(30009), {"status", "purpose"}, "HealthCheck");
  EXPECT_EQ(Kinds(), "WrongPurpose 30009");
  EXPECT_EQ(Kinds(), "");
  const codec::Value now = Stored(RowOf(Port(30009)), KeyOf(Port(30009)));
  for (const char* field : {"state", "service", "purpose", "ports", "chosen"}) {
    EXPECT_EQ(*codec::FindAt(now, "status", field), *codec::FindAt(right, "status", field));
  }
  Lose(ServiceRow().prefix + "shop/web");
  Copy("api", "web", [](codec::Value& service) { SetAddress(service, "10.96.0.10"); });
  EXPECT_EQ(Kinds(), "Orphan 30009, WrongUid 10.96.0.10") << "another Service of this name";
  EXPECT_EQ(Kinds(), "Orphan 30009");
  SetRecord(Address("10.96.0.10"), {"metadata", "labels", "ipaddress.kubernetes.io/ip-family"},
            "IPv6");
  EXPECT_EQ(Kinds(), "WrongFamily 10.96.0.10");
  EXPECT_EQ(Kinds(), "");
  EXPECT_EQ(RepairCount(RepairKind::kRecordRewritten), 4);
}

TEST_F(AuditFollowUpTest, WhatNoRangeContainsIsToldAndLeftAlone) {
  Copy("api", "far", [](codec::Value& service) { SetAddress(service, "10.97.0.1"); });
  Copy("api", "net", [](codec::Value& service) { SetAddress(service, "10.96.0.0"); });
  for (int i = 0; i < 2; ++i) EXPECT_EQ(Kinds(), "OutOfRange 10.97.0.1, Unusable 10.96.0.0");
  EXPECT_THAT(Events(), ElementsAre(StartsWith("ClusterIPOutOfRange of Service far"),
                                    StartsWith("ClusterIPOutOfRange of Service net")));
  EXPECT_EQ(Found(repair_metrics_.addresses, "outOfRange"), 2);
  EXPECT_FALSE(HasRecord(Address("10.97.0.1")));
}

TEST_F(AuditFollowUpTest, ALostReservationIsLeftToItsUser) {
  const auto range = At("allocation.berth.io/ipranges", "", "");
  Must(Create(range, "{'metadata':{'name':'blue'},'spec':{'range':'10.60.0.0/24'}}"));
  Must(Create(At("allocation.berth.io/ipaddresses", "", ""),
              "{'metadata':{'name':'" + base::ToDecimal(ip::ParseAddr("10.60.0.9").value().bits()) +
                  "'},'spec':{'reservedFor':{'namespace':'shop','name':'cart'}}}"));
  EXPECT_EQ(Kinds(), "");
  Change(At("allocation.berth.io/ipranges", "", "blue"),
         [](codec::Value& blue) { codec::SetAt(blue, {"spec", "disabled"}, true); });
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Kinds(), "LostReservation 10.60.0.9");
  EXPECT_TRUE(HasRecord(Address("10.60.0.9")));
}

TEST_F(AuditFollowUpTest, AReservationForAnotherServiceIsNotRewritten) {
  Must(Create(At("allocation.berth.io/nodeports", "", ""),
              "{'metadata':{'name':'30100'},'spec':{'reservedFor':{'namespace':'shop',"
              "'name':'cart'}}}"));
  Copy("web", "new", [](codec::Value& service) {
    SetAddress(service, "10.96.0.12");
    codec::Array ports = codec::ArrayAt(service, "spec", "ports");
    ports[0].Set("nodePort", 30100);
    codec::SetAt(service, {"spec", "ports"}, ports);
  });
  EXPECT_EQ(Kinds(), "NoRecord 10.96.0.12, WrongOwner 30100");
  EXPECT_EQ(Kinds(), "WrongOwner 30100");
  EXPECT_EQ(OwnerOf(Port(30100)), "") << "it is still reserved for the other Service";
  EXPECT_THAT(Events(), ElementsAre(HasSubstr("10.96.0.12"))) << "no event speaks of a repair";
}

TEST_F(AuditFollowUpTest, TheSameIsToldAgainAfterMinutesOnly) {
  Copy("api", "bpi");
  EXPECT_EQ(Kinds(), "TwoOwners 10.96.0.11");
  store_.clock.Advance(AuditFollowUp::kTellAgain);
  EXPECT_EQ(Kinds(), "TwoOwners 10.96.0.11");
  EXPECT_EQ(Found(repair_metrics_.addresses, "duplicate"), 2);
  ASSERT_THAT(Events(), SizeIs(2)) << "the events are the same objects";
  const registry::Row& row = *kinds_.FindRow(api::kEventKind);
  for (auto at = follower_->Current()->Seek(row.prefix + "shop/"); at.Valid(); at.Next()) {
    EXPECT_EQ(codec::IntAt(registry::Registry::Decode(row, *at.Get()).value(), "series", "count"),
              2);
  }
  EXPECT_THAT(Lines(), SizeIs(1)) << "a line is for what is new";
}

TEST_F(AuditFollowUpTest, ManyFindingsAreToldInTurns) {
  constexpr size_t kMany = 150;
  for (size_t i = 0; i < kMany; ++i) {
    Copy("api", "c" + std::to_string(i),
         [i](codec::Value& service) { SetAddress(service, "10.98.0." + std::to_string(i)); });
  }
  Pass();
  EXPECT_EQ(auditor_->GetStatus().report->findings.size(), kMany);
  EXPECT_THAT(Events(), SizeIs(AuditFollowUp::kMaxEvents));
  EXPECT_EQ(Found(repair_metrics_.addresses, "outOfRange"), kMany);
  Pass();
  EXPECT_THAT(Events(), SizeIs(kMany)) << "the rest is told after the next pass";
  EXPECT_EQ(Found(repair_metrics_.addresses, "outOfRange"), kMany) << "and is counted once";
  EXPECT_THAT(Lines(), SizeIs(AuditFollowUp::kMaxLines + 1));
}

TEST_F(AuditFollowUpTest, ARepairThatFailsIsDoneAfterTheNextPass) {
  Lose(KeyOf(Address("10.96.0.10")));
  Lose(KeyOf(Address("10.96.0.11")));
  fail_repairs_ = 1;
  EXPECT_EQ(Kinds(), "NoRecord 10.96.0.10, NoRecord 10.96.0.11");
  EXPECT_FALSE(HasRecord(Address("10.96.0.10")));
  EXPECT_TRUE(HasRecord(Address("10.96.0.11"))) << "one that fails does not hold up others";
  EXPECT_EQ(repair_metrics_.addresses.failed.Value(), 1);
  EXPECT_EQ(Kinds(), "NoRecord 10.96.0.10");
  EXPECT_TRUE(HasRecord(Address("10.96.0.10")));
}

TEST_F(AuditFollowUpTest, WhileTheStoreIsAwayFewRepairsAreTried) {
  for (int i = 0; i < 20; ++i) {
    MakeService("s" + std::to_string(i), "'clusterIP':'10.96.1." + std::to_string(i) + "'");
    Lose(KeyOf(Address("10.96.1." + std::to_string(i))));
  }
  fail_repairs_ = 1000;
  Pass();
  EXPECT_EQ(1000 - fail_repairs_, AuditFollowUp::kMaxFailed);
}

class AuditBitmapsTest : public testing::AuditorTest {
 protected:
  AuditBitmapsTest() {
    BeginWithBitmaps();
    MakeService("web",
                "'type':'NodePort','clusterIP':'10.96.0.10',"
                "'ports':[{'port':80,'nodePort':30009}]");
    EXPECT_EQ(Kinds(), "");
  }
};

TEST_F(AuditBitmapsTest, LostBitsAreLeftToTheRepairOfBitmaps) {
  store_.Put(allocation::KeyOf(allocation::BitmapId::kPrimary),
             allocation::StoredBitmap({.range = "10.96.0.0/16", .data = ""}));
  EXPECT_EQ(Kinds(), "NoRecord 10.96.0.10");
  EXPECT_EQ(bitmap_repairs_, 1);
  EXPECT_FALSE(HasRecord(Address("10.96.0.10")));
  EXPECT_THAT(Events(), IsEmpty()) << "that repair raises its own";
}

TEST_F(AuditBitmapsTest, TwoOwnersAreToldAndAThirdIsRefused) {
  Copy("web", "xeb");
  EXPECT_EQ(Kinds(), "TwoOwners 10.96.0.10, TwoOwners 30009");
  EXPECT_EQ(bitmap_repairs_, 0);
  EXPECT_THAT(Events(), SizeIs(4));
  EXPECT_THAT(Text(TryMake("third", "'clusterIP':'10.96.0.10'")),
              HasSubstr("provided IP is already allocated"));
  Delete(Service("web"));
  EXPECT_THAT(Text(TryMake("third", "'clusterIP':'10.96.0.10'")),
              HasSubstr("provided IP is already allocated"));
}

}  // namespace
}  // namespace berth::controllers
