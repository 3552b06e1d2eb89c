#include "audit/pass.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "audit/testing/audit_world.h"

namespace berth::audit {
namespace {

using testing::Address;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::kHttp;
using testing::Port;
using ::testing::SizeIs;
using testing::SmallBitmapWorld;
using testing::SmallWorld;
using testing::World;

/// Returns "Kind: message" of each finding.
std::vector<std::string> Texts(const Report& report) {
  std::vector<std::string> texts;
  for (const Finding& finding : report.findings) {
    texts.push_back(std::string(NameOf(finding.kind)) + ": " + finding.message);
  }
  return texts;
}

TEST(PassTest, ASoundWorldIsClean) {
  const Report report = SmallWorld().Check();
  EXPECT_THAT(Texts(report), IsEmpty());
  EXPECT_TRUE(report.IsClean());
  EXPECT_EQ(report.revision, 42);
  EXPECT_EQ(report.checked.services, 3);
  EXPECT_EQ(report.checked.values, 7);
  EXPECT_EQ(report.checked.records, 7);
  EXPECT_EQ(report.checked.ranges, 3);
}

TEST(PassTest, ASoundWorldInBitmapsIsClean) {
  const Report report = SmallBitmapWorld().Check();
  EXPECT_THAT(Texts(report), IsEmpty());
  EXPECT_EQ(report.checked.bits, 7);
}

/// One row of the table of faults.
struct Fault {
  std::string name;
  std::function<void(World& world)> damage;
  FindingKind kind;
  std::string message;
  std::string advice;
};
void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.name; }

class RecordFaultTest : public ::testing::TestWithParam<Fault> {};

TEST_P(RecordFaultTest, IsFoundAndNothingElse) {
  World world = SmallWorld();
  GetParam().damage(world);
  const Report report = world.Check();
  ASSERT_THAT(report.findings, SizeIs(1)) << ::testing::PrintToString(Texts(report));
  const Finding& finding = report.findings.front();
  EXPECT_EQ(NameOf(finding.kind), NameOf(GetParam().kind));
  EXPECT_EQ(finding.message, GetParam().message);
  EXPECT_THAT(finding.advice, HasSubstr(GetParam().advice));
  EXPECT_EQ(report.counts[static_cast<size_t>(GetParam().kind)], 1);
  EXPECT_EQ(finding.may_settle, GetParam().kind == FindingKind::kWrongCount);
}

const std::vector<Fault> kRecordFaults = {
    {"TwoServicesWithOneAddress",
     [](World& w) { w.AddService("cart", {{.value = Address("10.96.0.20")}}); },
     FindingKind::kTwoOwners,
     "The address 10.96.0.20 belongs to 2 Services at once: shop/cart and shop/web; IPAddress "
     "10.96.0.20 says that Service shop/web has it",
     "kubectl delete service cart -n shop"},
    {"TwoServicesWithOnePort",
     [](World& w) { w.AddService("cart", {{.value = Port(30080), .ports = {kHttp}}}); },
     FindingKind::kTwoOwners,
     "The node port 30080 belongs to 2 Services at once: shop/cart and shop/web; NodePort 30080 "
     "says that Service shop/web has it",
     "kubectl edit service cart -n shop"},
    {"AHealthCheckPortOfAnother",
     [](World& w) { w.AddService("cart", {{.value = Port(30091), .ports = {kHttp}}}); },
     FindingKind::kTwoOwners,
     "The health check node port 30091 belongs to 2 Services at once: shop/cart and shop/edge; "
     "NodePort 30091 says that Service shop/edge has it",
     "kubectl edit service cart -n shop"},
    {"TwoServicesAndNoRecord",
     [](World& w) {
       w.AddService("cart", {{.value = Address("10.96.0.7")}});
       w.AddService("till", {{.value = Address("10.96.0.7")}});
     },
     FindingKind::kTwoOwners,
     "The address 10.96.0.7 belongs to 2 Services at once: shop/cart and shop/till; it has no "
     "record",
     "kubectl delete service till -n shop"},
    {"AnAddressWithoutARecord",
     [](World& w) { w.AddService("cart", {{.value = Address("10.96.0.7")}}); },
     FindingKind::kNoRecord, "The address 10.96.0.7 of Service shop/cart has no record",
     "A running server makes the record"},
    {"APortWithoutARecord", [](World& w) { w.AddService("cart", {{.value = Port(30007)}}); },
     FindingKind::kNoRecord, "The node port 30007 of Service shop/cart has no record",
     "A running server makes the record"},
    {"ARecordWithoutItsService",
     [](World& w) {
       w.services.erase(w.services.begin() + 1);
       w.records.erase(w.records.begin() + 3);
     },
     FindingKind::kOrphan,
     "IPAddress 10.96.0.20 says that Service shop/web has it, but there is no such Service",
     "kubectl delete ipaddresses.networking.k8s.io 10.96.0.20"},
    {"ARecordOfAServiceThatHasAnotherValue",
     [](World& w) { w.AddRecord(w.services[1], {.value = Port(30001), .ports = {kHttp}}); },
     FindingKind::kOrphan,
     "NodePort 30001 says that Service shop/web has it, but that Service does not have it",
     "kubectl delete nodeports.allocation.berth.io 30001"},
    {"ARecordOfAnEarlierService", [](World& w) { w.RecordOf(Port(30080)).service_uid = "old"; },
     FindingKind::kWrongUid,
     "NodePort 30080 was made for an earlier Service shop/web with the uid old; the Service that "
     "has the value now has the uid uid-of-web",
     "A running server corrects the record"},
    {"ARecordThatNamesAnotherService",
     [](World& w) { w.RecordOf(Address("10.96.0.10")).service_name = "web"; },
     FindingKind::kWrongOwner,
     "IPAddress 10.96.0.10 says that Service shop/web has it, but Service shop/dns has it",
     "A running server corrects the record"},
    {"AReservationForAnotherServiceOnATakenValue",
     [](World& w) {
       RecordFacts& record = w.RecordOf(Address("10.96.0.10"));
       record.state = RecordState::kReserved;
       record.service_name = record.service_namespace = record.service_uid = "";
       record.reserved_for = "shop/cart";
     },
     FindingKind::kWrongOwner,
     "IPAddress 10.96.0.10 says that it is reserved for Service shop/cart, but Service shop/dns "
     "has it",
     ""},
    {"ARecordOfAnotherFamily", [](World& w) { w.RecordOf(Address("fd00::a")).family = "IPv4"; },
     FindingKind::kWrongFamily,
     "IPAddress fd00::a says that its family is IPv4, but the address is IPv6",
     "ipaddress.kubernetes.io/ip-family=IPv6"},
    {"APortWithAnotherPurpose", [](World& w) { w.RecordOf(Port(30091)).health_check = false; },
     FindingKind::kWrongPurpose,
     "NodePort 30091 says that Service shop/edge uses it for a node port, but it uses it for the "
     "health check",
     ""},
    {"APortForAnotherPort",
     [](World& w) {
       w.RecordOf(Port(30080)).ports = {{.name = "https", .port = 443, .protocol = "TCP"}};
     },
     FindingKind::kWrongPurpose,
     "NodePort 30080 says that Service shop/web uses it for port https 443/TCP, but it uses it "
     "for port http 80/TCP",
     ""},
    {"AnAddressOutsideEveryRange",
     [](World& w) { w.Add("cart", {{.value = Address("10.97.0.1")}}); }, FindingKind::kOutOfRange,
     "The address 10.97.0.1 of Service shop/cart is in no range",
     "kubectl delete service cart -n shop"},
    {"AnAddressOutsideEveryRangeWithoutARecord",
     [](World& w) { w.AddService("cart", {{.value = Address("10.97.0.1")}}); },
     FindingKind::kOutOfRange, "The address 10.97.0.1 of Service shop/cart is in no range",
     "Add or extend a range"},
    {"APortOutsideEveryRange",
     [](World& w) { w.Add("cart", {{.value = Port(80), .ports = {kHttp}}}); },
     FindingKind::kOutOfRange, "The node port 80 of Service shop/cart is in no range",
     "kubectl edit service cart -n shop"},
    {"TheNetworkAddress", [](World& w) { w.Add("cart", {{.value = Address("10.96.0.0")}}); },
     FindingKind::kUnusable,
     "The address 10.96.0.0 of Service shop/cart cannot be used: it is the network address of the "
     "range \"allocator.ipv4.k8s.io\" (10.96.0.0/24)",
     "Delete the Service"},
    {"TheBroadcastAddress", [](World& w) { w.Add("cart", {{.value = Address("10.96.0.255")}}); },
     FindingKind::kUnusable,
     "The address 10.96.0.255 of Service shop/cart cannot be used: it is the broadcast address of "
     "the range \"allocator.ipv4.k8s.io\" (10.96.0.0/24)",
     "Delete the Service"},
    {"AReservationInADisabledRange",
     [](World& w) {
       w.AddRange("blue", "10.60.0.0/24", {{"disabled", true}});
       RecordFacts record = w.RecordOf(Address("10.96.0.10"));
       record.value = Address("10.60.0.9");
       record.object.name = "10.60.0.9";
       record.state = RecordState::kReserved;
       record.service_name = record.service_namespace = record.service_uid = "";
       record.range = "blue";
       record.reserved_for = "shop/cart";
       w.records.push_back(record);
     },
     FindingKind::kLostReservation,
     "IPAddress 10.60.0.9 says that it is reserved for Service shop/cart, but no Service can take "
     "it: the range \"blue\" is disabled",
     "kubectl delete ipaddresses.networking.k8s.io 10.60.0.9"},
    {"AReservationOfAnExcludedValue",
     [](World& w) {
       w.AddRange("blue", "10.60.0.0/24", {{"excluded", codec::Array{"10.60.0.9"}}});
       RecordFacts record = w.RecordOf(Address("10.96.0.10"));
       record.value = Address("10.60.0.9");
       record.state = RecordState::kPending;
       record.service_name = record.service_namespace = record.service_uid = "";
       record.range = "blue";
       record.reserved_for = "shop/cart";
       w.records.push_back(record);
     },
     FindingKind::kLostReservation,
     "IPAddress 10.60.0.9 says that it is held for Service shop/cart, but no Service can take it: "
     "the range \"blue\" excludes it",
     ""},
    {"AReferenceToNoRange", [](World& w) { w.RecordOf(Address("10.96.0.10")).range = "gone"; },
     FindingKind::kUnknownRange,
     "IPAddress 10.96.0.10 refers to the IPRange \"gone\", which does not exist; "
     "\"allocator.ipv4.k8s.io\" contains it",
     "A running server corrects the reference"},
    {"AReferenceToARangeWithoutTheValue",
     [](World& w) {
       w.AddRange("blue", "30100-30199");
       w.RecordOf(Port(30080)).range = "blue";
     },
     FindingKind::kRangeWithoutValue,
     "NodePort 30080 refers to the NodePortRange \"blue\", which does not contain it; "
     "\"allocator.nodeport.k8s.io\" contains it",
     ""},
    {"AnotherCount",
     [](World& w) { w.ranges[0].counts = {.used = 5, .reserved = 0, .cooling = 1}; },
     FindingKind::kWrongCount,
     "The status of IPRange allocator.ipv4.k8s.io says 5 used where 3 are counted and 1 cooling "
     "where 0 are counted",
     ""},
    {"TwoPrimaryRanges", [](World& w) { w.AddRange("blue", "10.60.0.0/24", {{"primary", true}}); },
     FindingKind::kTwoPrimaries, "2 IPRanges are primary: \"allocator.ipv4.k8s.io\" and \"blue\"",
     ""},
};

INSTANTIATE_TEST_SUITE_P(All, RecordFaultTest, ::testing::ValuesIn(kRecordFaults),
                         [](const auto& row) { return row.param.name; });

class BitmapFaultTest : public ::testing::TestWithParam<Fault> {};

TEST_P(BitmapFaultTest, IsFoundAndNothingElse) {
  World world = SmallBitmapWorld();
  GetParam().damage(world);
  const Report report = world.Check();
  EXPECT_THAT(Texts(report),
              ElementsAre(std::string(NameOf(GetParam().kind)) + ": " + GetParam().message));
}

const std::vector<Fault> kBitmapFaults = {
    {"ABitThatIsNotSet", [](World& w) { w.AddService("cart", {{.value = Address("10.96.0.7")}}); },
     FindingKind::kNoRecord,
     "The address 10.96.0.7 of Service shop/cart has no bit set in the bitmap of 10.96.0.0/24", ""},
    {"ABitWithoutAService", [](World& w) { w.bitmaps[2].values.push_back(30007); },
     FindingKind::kOrphan,
     "The bitmap of 30000-30099 says that the node port 30007 is taken, but no Service has it", ""},
    {"TwoOwners", [](World& w) { w.AddService("cart", {{.value = Address("fd00::a")}}); },
     FindingKind::kTwoOwners,
     "The address fd00::a belongs to 2 Services at once: shop/cart and shop/dns", ""},
    {"ACount", [](World& w) { w.ranges[0].counts.used = 4; }, FindingKind::kWrongCount,
     "The status of IPRange allocator.ipv4.k8s.io says 4 used where 3 are counted", ""},
};
INSTANTIATE_TEST_SUITE_P(All, BitmapFaultTest, ::testing::ValuesIn(kBitmapFaults),
                         [](const auto& row) { return row.param.name; });

TEST(PassTest, OwnersAreInOrderAndBounded) {
  World world = SmallWorld();
  for (int i = 0; i < 20; ++i) {
    world.AddService("a" + std::to_string(100 + i), {{.value = Address("10.96.0.20")}});
  }
  const Report report = world.Check();
  ASSERT_THAT(report.findings, SizeIs(1));
  EXPECT_EQ(report.findings[0].owner_count, 21);
  EXPECT_THAT(report.findings[0].owners, SizeIs(8));
  EXPECT_EQ(report.findings[0].owners[0].name, "a100");
  EXPECT_EQ(report.findings[0].owners[0].uid, "uid-of-a100");
  EXPECT_EQ(report.findings[0].owners[0].revision, 7);
  EXPECT_THAT(report.findings[0].message, HasSubstr("shop/a107 and 13 more"));
}

TEST(PassTest, AllFindingsAreCountedAndTheLowestKept) {
  World world;
  world.AddRange(std::string(rules::kIpv4RangeName), "10.96.0.0/16");
  for (int i = 1; i <= 3000; ++i) {
    world.AddService("s" + std::to_string(i),
                     {{.value = {.value = Address("10.96.0.0").value + static_cast<uint64_t>(i)}}});
  }
  const Report report = world.Check();
  EXPECT_EQ(report.counts[static_cast<size_t>(FindingKind::kNoRecord)], 3000);
  ASSERT_THAT(report.findings, SizeIs(kMaxFindings));
  EXPECT_EQ(report.findings.front().value, Address("10.96.0.1"));
  EXPECT_EQ(report.findings.back().value, Address("10.96.3.232"));
}

TEST(PassTest, TheOrderOfFactsDoesNotMatter) {
  World world = SmallWorld();
  world.RecordOf(Port(30080)).service_uid = "old";
  Pass pass({});
  for (const RecordFacts& record : world.records) pass.AddRecord(record);
  for (const ServiceFacts& service : world.services) pass.AddService(service);
  for (const RangeObjectFacts& range : world.ranges) pass.AddRange(range);
  const Report report = std::move(pass).Finish();
  ASSERT_THAT(report.findings, SizeIs(1));
  EXPECT_EQ(report.findings[0].kind, FindingKind::kWrongUid);
}

TEST(PassTest, UndecodableKeysAreFindings) {
  Pass pass({});
  pass.AddUndecodable("/registry/services/specs/shop/web", "unexpected end");
  const Report report = std::move(pass).Finish();
  EXPECT_THAT(Texts(report),
              ElementsAre("Undecodable: The value of /registry/services/specs/shop/web cannot be "
                          "decoded: unexpected end"));
  EXPECT_EQ(report.findings[0].key, "/registry/services/specs/shop/web");
  EXPECT_EQ(report.checked.undecodable, 1);
}

TEST(PassTest, AReservationThatAServiceCanRedeemIsFine) {
  World world = SmallWorld();
  for (const std::string service : {"", "shop/cart"}) {
    RecordFacts record = world.RecordOf(Address("10.96.0.10"));
    record.value = Address(service.empty() ? "10.96.0.8" : "10.96.0.9");
    record.state = RecordState::kReserved;
    record.service_name = record.service_namespace = record.service_uid = "";
    record.reserved_for = service;
    world.records.push_back(record);
  }
  world.ranges[0].counts = {.used = 3, .reserved = 2, .cooling = 0};
  EXPECT_THAT(Texts(world.Check()), IsEmpty());
}

/// The row of an IPRange applies if a ServiceCIDR has the same CIDR.
TEST(PassTest, AReservationIsLostThoughAServiceCidrHasTheSameRange) {
  World world = SmallWorld();
  world.AddRange("blue", "10.60.0.0/24", {{"disabled", true}});
  world.ranges.push_back(
      ReadRange(alloc::RangeKind::kServiceCidr,
                codec::Object{{"metadata", codec::Object{{"name", "extra"}}},
                              {"spec", codec::Object{{"cidrs", codec::Array{"10.60.0.0/24"}}}}}));
  world.ranges.back().key = "/servicecidrs/extra";
  RecordFacts record = world.RecordOf(Address("10.96.0.10"));
  record.value = Address("10.60.0.9");
  record.state = RecordState::kReserved;
  record.service_name = record.service_namespace = record.service_uid = "";
  record.range = "servicecidrs/extra";
  record.reserved_for = "shop/cart";
  world.records.push_back(record);
  const Report report = world.Check();
  ASSERT_THAT(report.findings, SizeIs(1));
  EXPECT_EQ(report.findings[0].kind, FindingKind::kLostReservation);
}

TEST(PassTest, ADefaultServiceCidrAnswersToTheNameOfItsRange) {
  World world = SmallWorld();
  world.ranges[0] =
      ReadRange(alloc::RangeKind::kServiceCidr,
                codec::Object{{"metadata", codec::Object{{"name", "kubernetes"}}},
                              {"spec", codec::Object{{"cidrs", codec::Array{"10.96.0.0/24"}}}}});
  world.ranges[0].key = "/servicecidrs/kubernetes";
  EXPECT_THAT(Texts(world.Check()), IsEmpty());
}

TEST(PassTest, OfAClusterOnlyWhatIsVisibleIsChecked) {
  World world = SmallWorld();
  world.keeps = Keeps::kAddressesOnly;
  std::erase_if(world.records, [](const RecordFacts& record) {
    return record.value.pool == alloc::PoolId::kPorts;
  });
  world.ranges.pop_back();
  EXPECT_THAT(Texts(world.Check()), IsEmpty());
  world.AddService("cart", {{.value = Port(30080)}, {.value = Address("10.96.0.7")}});
  EXPECT_THAT(Texts(world.Check()),
              ElementsAre("TwoOwners: The node port 30080 belongs to 2 Services at once: "
                          "shop/cart and shop/web",
                          "NoRecord: The address 10.96.0.7 of Service shop/cart has no record"));
}

TEST(PassTest, WhileAStoreSwitchesAValueNeedsOneOfTheForms) {
  World world = SmallBitmapWorld();
  world.keeps = Keeps::kBoth;
  world.bitmaps[0].values.pop_back();
  const ServiceFacts edge = world.services[2];
  world.AddRecord(edge, edge.holds[0]);
  EXPECT_THAT(Texts(world.Check()), IsEmpty());
  world.records.clear();
  const Report report = world.Check();
  ASSERT_THAT(report.findings, SizeIs(1));
  EXPECT_EQ(report.findings[0].kind, FindingKind::kNoRecord);
  EXPECT_TRUE(report.findings[0].may_settle);
}

TEST(PassTest, PausesAreOffered) {
  int pauses = 0;
  Pass pass({.pause = [&pauses] { ++pauses; }});
  for (int i = 0; i < 5000; ++i) {
    pass.AddService({.object = {.name_space = "shop", .name = std::to_string(i)}});
  }
  EXPECT_GE(pauses, 4);
  std::move(pass).Finish();
  EXPECT_GE(pauses, 100);
}

}  // namespace
}  // namespace berth::audit
