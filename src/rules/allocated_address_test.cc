#include "rules/allocated_address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "codec/timestamp.h"
#include "rules/record_notes.h"
#include "rules/testing/rules_kit.h"

namespace berth::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kMade = "2026-11-15T04:35:00Z";

codec::Value Shown(const std::string& name, const std::string& spec = {}) {
  return Json("{'metadata':{'name':'" + name + "'},'spec':{" + spec + "}}");
}

std::vector<std::string> CreateAddress(const std::string& name, const std::string& spec = {}) {
  return Lines(ValidateAllocatedAddress(Shown(name, spec)));
}

/// Returns a record as the snapshot has it, with its notes put back.
codec::Value Stored(const std::string& parent, const std::string& hidden,
                    const std::string& more = {}) {
  codec::Value stored = Json(
      "{'metadata':{'name':'10.96.0.10','uid':'u','resourceVersion':'7',"
      "'creationTimestamp':'2026-11-15T04:35:00Z'" +
      more + "},'spec':{'parentRef':{" + parent + "}}}");
  PutInternalAnnotations(stored, hidden);
  return stored;
}
constexpr const char* kOfWeb = "'resource':'services','namespace':'shop','name':'web'";
constexpr const char* kOfRange =
    "'group':'allocation.berth.io','resource':'ipranges','name':'blue'";

TEST(AllocatedAddress, NamesAreNumbers) {
  const std::vector<std::pair<std::string, std::string>> pairs = {
      {"0", "0.0.0.0"},
      {"174063626", "10.96.0.10"},
      {"4294967295", "255.255.255.255"},
      {"4294967296", "::1:0:0"},
      {"42540766411282592856903984951653826561", "2001:db8::1"},
      {"340282366920938463463374607431768211455", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"}};
  for (const auto& [name, address] : pairs) {
    EXPECT_EQ(AddressOfName(name), address);
    EXPECT_EQ(NameOfAddress(address), name);
  }
}

TEST(AllocatedAddress, OtherNamesAreNone) {
  for (const char* name :
       {"", "01", "00", "+1", "-1", " 1", "1 ", "1e3", "x", "10.96.0.10", "2001:db8::1", "1/2",
        "340282366920938463463374607431768211456", "99999999999999999999999999999999999999999999",
        // ::ffff:a60:a
        "281470855806986"}) {
    EXPECT_EQ(AddressOfName(name), std::nullopt) << name;
  }
  for (const char* address : {"", "::", "::1", "::ffff:10.96.0.10", "::ffff:a60:a", "::a60:a",
                              "10.96.0.010", "2001:DB8::1", "x", "174063626"}) {
    EXPECT_EQ(NameOfAddress(address), std::nullopt) << address;
  }
}

TEST(AllocatedAddress, NameMustBeANumber) {
  EXPECT_THAT(CreateAddress("174063626"), IsEmpty());
  EXPECT_THAT(CreateAddress("10.96.0.10"),
              ElementsAre("metadata.name: Invalid value: \"10.96.0.10\": must be the address as a "
                          "decimal number, which is \"174063626\""));
  EXPECT_THAT(
      CreateAddress("0174063626"),
      ElementsAre("metadata.name: Invalid value: \"0174063626\": must not have leading 0s"));
  EXPECT_THAT(CreateAddress("web"),
              ElementsAre("metadata.name: Invalid value: \"web\": must be an IP "
                          "address written as a decimal number, with digits only"));
  EXPECT_THAT(CreateAddress("340282366920938463463374607431768211456"),
              ElementsAre(HasSubstr("must not be greater than "
                                    "340282366920938463463374607431768211455")));
  EXPECT_THAT(CreateAddress("281470855806986"),
              ElementsAre(HasSubstr("must not be the number of an address of ::ffff:0:0/96")));
  EXPECT_THAT(CreateAddress(""),
              ElementsAre("metadata.name: Required value: it is the address as a "
                          "decimal number"));
  EXPECT_THAT(CreateAddress("", "'address':'10.96.0.10'"),
              ElementsAre("metadata.name: Required value: it is the address as a decimal number, "
                          "\"174063626\""));
  EXPECT_THAT(Lines(ValidateAllocatedAddress(Json("{'metadata':{'name':'1','generateName':'1'}}"))),
              ElementsAre(HasSubstr("metadata.generateName: Forbidden")));
}

TEST(AllocatedAddress, NameAndAddressMustMatch) {
  EXPECT_THAT(CreateAddress("174063626", "'address':'10.96.0.10'"), IsEmpty());
  EXPECT_THAT(CreateAddress("174063626", "'address':'10.96.0.11'"),
              ElementsAre("spec.address: Invalid value: \"10.96.0.11\": must be \"10.96.0.10\", "
                          "which the name \"174063626\" stands for; the name of this address is "
                          "\"174063627\""));
  EXPECT_THAT(CreateAddress("174063626", "'address':'::a60:a'"),
              ElementsAre(HasSubstr("this address has no name here, since it is one of ::/96")));
  EXPECT_THAT(CreateAddress("174063626", "'address':'10.96.0.010'"),
              ElementsAre("spec.address: Invalid value: \"10.96.0.010\": must not have leading "
                          "0s"));
  EXPECT_THAT(CreateAddress("42540766411282592856903984951653826561", "'address':'2001:DB8::1'"),
              ElementsAre(HasSubstr("must be in canonical form (\"2001:db8::1\")")));
  EXPECT_THAT(CreateAddress("x", "'address':'10.96.0.10'"), ElementsAre(HasSubstr("metadata.name")))
      << "one error is enough";
}

TEST(AllocatedAddress, RangeReference) {
  EXPECT_THAT(CreateAddress("1", "'ipRangeRef':{'name':'blue'}"), IsEmpty());
  EXPECT_THAT(CreateAddress("1",
                            "'ipRangeRef':{'apiGroup':'allocation.berth.io','kind':'IPRange',"
                            "'name':'allocator.ipv4.k8s.io'}"),
              IsEmpty());
  EXPECT_THAT(CreateAddress("1", "'ipRangeRef':{'kind':'ServiceCIDR','name':'more'}"), IsEmpty());
  EXPECT_THAT(CreateAddress("1",
                            "'ipRangeRef':{'apiGroup':'networking.k8s.io','kind':'ServiceCIDR',"
                            "'name':'more'}"),
              IsEmpty());
  EXPECT_THAT(CreateAddress("1", "'ipRangeRef':{'apiGroup':'networking.k8s.io','kind':'Ingress'}"),
              ElementsAre("spec.ipRangeRef.apiGroup: Unsupported value: \"networking.k8s.io\": "
                          "supported values: \"allocation.berth.io\"",
                          "spec.ipRangeRef.kind: Unsupported value: \"Ingress\": supported "
                          "values: \"IPRange\"",
                          "spec.ipRangeRef.name: Required value"));
  EXPECT_THAT(
      CreateAddress(
          "1", "'ipRangeRef':{'apiGroup':'allocation.berth.io','kind':'ServiceCIDR','name':'a'}"),
      ElementsAre("spec.ipRangeRef.apiGroup: Unsupported value: \"allocation.berth.io\": "
                  "supported values: \"networking.k8s.io\""));
  EXPECT_THAT(CreateAddress("1", "'ipRangeRef':{'name':'a/b'}"),
              ElementsAre(HasSubstr("spec.ipRangeRef.name: Invalid value: \"a/b\"")));
}

TEST(AllocatedAddress, Reservation) {
  EXPECT_THAT(CreateAddress("1", "'reservedFor':{'namespace':'shop','name':'web'}"), IsEmpty());
  EXPECT_THAT(CreateAddress("1", "'reservedFor':{}"),
              ElementsAre(HasSubstr("spec.reservedFor.namespace: Required value"),
                          HasSubstr("spec.reservedFor.name: Required value")));
  EXPECT_THAT(CreateAddress("1", "'reservedFor':{'namespace':'a/b','name':'Web'}"),
              ElementsAre(HasSubstr("spec.reservedFor.namespace: Invalid value: \"a/b\""),
                          HasSubstr("spec.reservedFor.name: Invalid value: \"Web\"")));
}

TEST(AllocatedAddress, Hold) {
  const std::string owner = "'reservedFor':{'namespace':'shop','name':'web'},";
  EXPECT_THAT(CreateAddress("1", owner + "'holdSeconds':1"), IsEmpty());
  EXPECT_THAT(CreateAddress("1", owner + "'holdSeconds':86400"), IsEmpty());
  for (const char* seconds : {"0", "-1", "86401"}) {
    EXPECT_THAT(CreateAddress("1", owner + "'holdSeconds':" + seconds),
                ElementsAre(std::string("spec.holdSeconds: Invalid value: ") + seconds +
                            ": must be between 1 and 86400, inclusive"));
  }
  EXPECT_THAT(CreateAddress("1", "'holdSeconds':60"),
              ElementsAre(HasSubstr("spec.reservedFor: Required value: a hold is for a Service")));
}

TEST(AllocatedAddress, ReservationsAreStoredAsAddresses) {
  codec::Value stored = AllocatedAddressToStored(
      Json("{'metadata':{'name':'174063626','labels':{'a':'b'},'annotations':{'c':'d',"
           "'internal.allocation.berth.io/chosen':'static'}},"
           "'spec':{'ipRangeRef':{'name':'blue'}},'status':{'state':'Allocated'}}"));
  EXPECT_EQ(ReadNotes(stored), (RecordNotes{.state = RecordState::kReserved, .range = "blue"}));
  TakeInternalAnnotations(stored);
  EXPECT_EQ(stored, Json("{'metadata':{'name':'10.96.0.10','labels':{'a':'b'},"
                         "'annotations':{'c':'d'}},'spec':{'parentRef':{"
                         "'group':'allocation.berth.io','resource':'ipranges','name':'blue'}}}"));
}

TEST(AllocatedAddress, HoldsAreStoredAsPending) {
  EXPECT_EQ(ReadNotes(AllocatedAddressToStored(
                Shown("1", "'reservedFor':{'namespace':'shop','name':'web'},'holdSeconds':60"))),
            (RecordNotes{
                .state = RecordState::kPending, .reserved_for = "shop/web", .hold_seconds = 60}));
}

TEST(AllocatedAddress, ShowsWhoHasIt) {
  EXPECT_EQ(AllocatedAddressFromStored(
                Stored(kOfWeb, "dynamic", ",'labels':{'a':'b'},'annotations':{'c':'d'}")),
            Json("{'metadata':{'name':'174063626','uid':'u','resourceVersion':'7',"
                 "'creationTimestamp':'2026-11-15T04:35:00Z','labels':{'a':'b'},"
                 "'annotations':{'c':'d'}},'spec':{'address':'10.96.0.10','ipRangeRef':{"
                 "'apiGroup':'allocation.berth.io','kind':'IPRange',"
                 "'name':'allocator.ipv4.k8s.io'}},'status':{"
                 "'state':'Allocated','chosen':'Dynamic',"
                 "'service':{'namespace':'shop','name':'web'},'since':'2026-11-15T04:35:00Z'}}"));
}

TEST(AllocatedAddress, ShowsThatItReturnsToItsOwner) {
  const codec::Value shown = AllocatedAddressFromStored(
      Stored(kOfWeb, "static\nrange=blue\nreserved-for=shop/web\nsince=2026-11-15T05:00:00Z"));
  EXPECT_EQ(*shown.Find("spec"),
            Json("{'address':'10.96.0.10','ipRangeRef':{'apiGroup':'allocation.berth.io',"
                 "'kind':'IPRange','name':'blue'},'reservedFor':{'namespace':'shop',"
                 "'name':'web'}}"));
  EXPECT_EQ(*shown.Find("status"),
            Json("{'state':'Allocated','chosen':'Static','service':{'namespace':'shop',"
                 "'name':'web'},'since':'2026-11-15T05:00:00Z'}"));
}

TEST(AllocatedAddress, ShowsAServiceCidrThatItIsOf) {
  const codec::Value shown =
      AllocatedAddressFromStored(Stored(kOfWeb, "dynamic\nrange=servicecidrs/more"));
  EXPECT_EQ(*shown.Find("spec")->Find("ipRangeRef"),
            Json("{'apiGroup':'networking.k8s.io','kind':'ServiceCIDR','name':'more'}"));
  EXPECT_EQ(ParentRange("servicecidrs/more"),
            Json("{'group':'networking.k8s.io','resource':'servicecidrs','name':'more'}"));
  EXPECT_EQ(ParentRange("blue"),
            Json("{'group':'allocation.berth.io','resource':'ipranges','name':'blue'}"));
}

TEST(AllocatedAddress, ShowsWhatNobodyHas) {
  EXPECT_EQ(*AllocatedAddressFromStored(Stored(kOfWeb, "")).Find("status"),
            Json("{'state':'Reserved','since':'2026-11-15T04:35:00Z'}"))
      << "a person made it, whatever they say whose it is";
  const codec::Value held = AllocatedAddressFromStored(
      Stored(kOfRange,
             "state=Pending\nrange=blue\nreserved-for=shop/web\nhold-seconds=60\n"
             "until=2026-11-15T04:36:00Z"));
  EXPECT_EQ(*held.Find("status"), Json("{'state':'Pending','since':'2026-11-15T04:35:00Z',"
                                       "'until':'2026-11-15T04:36:00Z'}"));
  EXPECT_EQ(held.Find("spec")->Find("holdSeconds")->AsInt(), 60);
  EXPECT_EQ(
      *AllocatedAddressFromStored(Stored(kOfWeb, "state=Free\nstatic\nuntil=2026-11-15T04:36:00Z"))
           .Find("status"),
      Json("{'state':'Free','since':'2026-11-15T04:35:00Z',"
           "'until':'2026-11-15T04:36:00Z'}"));
}

TEST(AllocatedAddress, RowOfATable) {
  const base::WallTime now = *codec::ParseTime(kMade) + std::chrono::minutes(3);
  const auto cells = [&](const codec::Value& stored) {
    return codec::Value(AllocatedAddressCells(AllocatedAddressFromStored(stored), now));
  };
  EXPECT_EQ(AllocatedAddressColumns().size(), 9U);
  EXPECT_EQ(cells(Stored(kOfWeb, "dynamic")),
            Json("['174063626','10.96.0.10','Allocated','shop/web','allocator.ipv4.k8s.io','3m',"
                 "'Dynamic','<none>','3m']"));
  EXPECT_EQ(cells(Stored(kOfWeb, "dynamic\nsince=2026-11-15T04:37:00Z")),
            Json("['174063626','10.96.0.10','Allocated','shop/web','allocator.ipv4.k8s.io','60s',"
                 "'Dynamic','<none>','3m']"))
      << "the object is older than the state";
  EXPECT_EQ(cells(Stored(kOfRange,
                         "state=Pending\nrange=blue\nreserved-for=shop/db\n"
                         "until=2026-11-15T04:36:00Z")),
            Json("['174063626','10.96.0.10','Pending','shop/db','blue','3m','<none>',"
                 "'2026-11-15T04:36:00Z','3m']"));
  EXPECT_EQ(cells(Stored(kOfRange, "")),
            Json("['174063626','10.96.0.10','Reserved','<none>','<none>','3m','<none>',"
                 "'<none>','3m']"));
}

}  // namespace
}  // namespace berth::rules
