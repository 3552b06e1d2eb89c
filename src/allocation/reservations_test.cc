// The states of records: reserved, held, taken, released, cooling.
#include "allocation/reservations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "allocation/testing/registry_stack.h"

namespace berth::allocation {
namespace {

using allocation::testing::Text;
using codec::StringAt;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kTen = "174063626";     // 10.96.0.10
constexpr const char* kEleven = "174063627";  // 10.96.0.11
constexpr const char* kKeptForWeb = "'reservedFor':{'namespace':'shop','name':'web'}";

class ReservationsTest : public allocation::testing::RegistryTest {
 protected:
  ReservationsTest() {
    Must(Create(Range(""),
                "{'metadata':{'name':'allocator.ipv4.k8s.io'},"
                "'spec':{'range':'10.96.0.0/16','primary':true}}"));
  }

  registry::Target Range(std::string name) const {
    return At("allocation.berth.io/ipranges", "", name);
  }
  registry::Target PortRange(std::string name) const {
    return At("allocation.berth.io/nodeportranges", "", name);
  }
  registry::Target Address(std::string name) const {
    return At("allocation.berth.io/ipaddresses", "", name);
  }
  registry::Target Stored(std::string name) const {
    return At("networking.k8s.io/ipaddresses", "", name);
  }
  registry::Target Port(std::string name) const {
    return At("allocation.berth.io/nodeports", "", name);
  }

  base::Result<registry::Outcome> Reserve(const std::string& name, const std::string& spec = "",
                                          registry::CommonOptions options = {}) {
    return Create(Address(""), Body(name, spec), options);
  }
  base::Result<registry::Outcome> ReservePort(const std::string& name,
                                              const std::string& spec = "") {
    return Create(Port(""), Body(name, spec));
  }
  static std::string Body(const std::string& name, const std::string& spec) {
    return "{'metadata':{'name':'" + name + "','labels':{'mine':'yes'}},'spec':{" + spec + "}}";
  }
  /// Creates a Service and returns its address and node port, or the error.
  std::string Serve(const std::string& name, const std::string& spec = "",
                    const std::string& port = "'port':80", registry::CommonOptions options = {}) {
    const auto made = Create(Service(""),
                             "{'metadata':{'name':'" + name + "'},'spec':{" + spec +
                                 (spec.empty() ? "" : ",") + "'ports':[{" + port + "}]}}",
                             options);
    if (!made) return made.error().message;
    const codec::Value service = Show(Service(name), *made->written.object);
    const int64_t number = codec::IntAt(codec::ArrayAt(service, "spec", "ports")[0], "nodePort");
    return std::string(StringAt(service, "spec", "clusterIP")) +
           (number == 0 ? "" : " " + std::to_string(number));
  }
  std::string State(const registry::Target& target) const {
    const auto object = Get(target);
    if (!object) return "gone";
    std::string text(StringAt(*object, "status", "state"));
    if (const auto until = StringAt(*object, "status", "until"); !until.empty()) {
      text += " until " + std::string(until);
    }
    if (const auto service = StringAt(*object, "status", "service", "name"); !service.empty()) {
      text += " of " + std::string(service);
    }
    return text;
  }
  std::string Uid(const registry::Target& target) const {
    const auto object = Get(target);
    return object ? std::string(StringAt(*object, "metadata", "uid")) : "gone";
  }
  /// Returns the seconds after which the store removes the key, or 0 if it never does.
  int64_t Ttl(const std::string& key) const { return store_.TtlOf(key).count(); }
  void Pass(int seconds) {
    store_.clock.Advance(std::chrono::seconds(seconds));
    store_.Put("/registry/other/tick", "x");  // The next write removes everything that is due.
    PumpAll();
  }
  void CoolDown(int seconds) {
    Must(Update(Range("allocator.ipv4.k8s.io"),
                "{'metadata':{'name':'allocator.ipv4.k8s.io'},'spec':{'range':'10.96.0.0/16',"
                "'primary':true,'coolDownSeconds':" +
                    std::to_string(seconds) + "}}"));
    Must(Update(PortRange("allocator.nodeport.k8s.io"),
                "{'metadata':{'name':'allocator.nodeport.k8s.io'},'spec':{'range':'30000-32767',"
                "'coolDownSeconds':" +
                    std::to_string(seconds) + "}}"));
  }
};

// Creating a reservation.

TEST_F(ReservationsTest, GetsTheSmallestRangeThatHasIt) {
  Must(Create(Range(""), "{'metadata':{'name':'small'},'spec':{'range':'10.96.0.0/24'}}"));
  Must(Reserve(kTen));
  EXPECT_EQ(StringAt(*Get(Address(kTen)), "spec", "ipRangeRef", "name"), "small");
  EXPECT_EQ(StringAt(*Get(Stored("10.96.0.10")), "spec", "parentRef", "name"), "small");
  EXPECT_EQ(State(Address(kTen)), "Reserved");
  Must(Reserve(kEleven, "'ipRangeRef':{'name':'allocator.ipv4.k8s.io'}"));
  EXPECT_EQ(StringAt(*Get(Address(kEleven)), "spec", "ipRangeRef", "name"),
            "allocator.ipv4.k8s.io");
}

TEST_F(ReservationsTest, ARangeThatDoesNotHaveItIsRefused) {
  Must(Create(Range(""), "{'metadata':{'name':'other'},'spec':{'range':'10.97.0.0/24'}}"));
  EXPECT_EQ(Text(Reserve(kTen, "'ipRangeRef':{'name':'other'}")),
            "IPAddress.allocation.berth.io \"174063626\" is invalid: spec.ipRangeRef.name: Invalid "
            "value: \"other\": it is the range 10.97.0.0/24, which does not have 10.96.0.10");
  EXPECT_THAT(Text(Reserve(kTen, "'ipRangeRef':{'name':'nowhere'}")),
              HasSubstr("spec.ipRangeRef.name: Invalid value: \"nowhere\": there is no such "
                        "IPRange of IPv4 addresses"));
  EXPECT_THAT(Text(Reserve("1", "")),
              HasSubstr("spec.address: Invalid value: \"0.0.0.1\": no range has this address"));
  EXPECT_EQ(State(Address(kTen)), "gone");
}

TEST_F(ReservationsTest, OfAServiceCidrThatNoIpRangeSpeaksFor) {
  Must(Create(At("networking.k8s.io/servicecidrs", "", ""),
              "{'metadata':{'name':'extra'},'spec':{'cidrs':['10.200.0.0/24']}}"));
  const std::string name = "180879365";  // 10.200.0.5
  Must(Reserve(name));
  EXPECT_EQ(StringAt(*Get(Address(name)), "spec", "ipRangeRef", "kind"), "ServiceCIDR");
  EXPECT_EQ(StringAt(*Get(Address(name)), "spec", "ipRangeRef", "name"), "extra");
  EXPECT_EQ(StringAt(*Get(Stored("10.200.0.5")), "spec", "parentRef", "resource"), "servicecidrs");
}

TEST_F(ReservationsTest, AServiceCidrMayBeNamed) {
  Must(Create(At("networking.k8s.io/servicecidrs", "", ""),
              "{'metadata':{'name':'extra'},'spec':{'cidrs':['10.200.0.0/24']}}"));
  const std::string name = "180879365";  // 10.200.0.5
  Must(Reserve(name,
               "'ipRangeRef':{'apiGroup':'networking.k8s.io','kind':'ServiceCIDR',"
               "'name':'extra'}"));
  EXPECT_EQ(StringAt(*Get(Address(name)), "spec", "ipRangeRef", "kind"), "ServiceCIDR");
  EXPECT_EQ(StringAt(*Get(Address(name)), "spec", "ipRangeRef", "name"), "extra");
  EXPECT_THAT(
      Text(Reserve(kTen, "'ipRangeRef':{'kind':'ServiceCIDR','name':'extra'}")),
      HasSubstr("\"extra\": it is the range 10.200.0.0/24, which does not have 10.96.0.10"));
  EXPECT_THAT(Text(Reserve(kTen, "'ipRangeRef':{'kind':'ServiceCIDR','name':'nowhere'}")),
              HasSubstr("\"nowhere\": there is no such ServiceCIDR of IPv4 addresses"));
  Must(Create(Range(""), "{'metadata':{'name':'extra'},'spec':{'range':'10.201.0.0/24'}}"));
  Must(Reserve("180879366", "'ipRangeRef':{'kind':'ServiceCIDR','name':'extra'}"));
  Must(Reserve(kTen, "'ipRangeRef':{'kind':'ServiceCIDR','name':'kubernetes'}"));
  EXPECT_EQ(StringAt(*Get(Address(kTen)), "spec", "ipRangeRef", "name"), "allocator.ipv4.k8s.io");
}

TEST_F(ReservationsTest, WhatIsTakenIsThereAlready) {
  ASSERT_EQ(Serve("a", "'clusterIP':'10.96.0.10'"), "10.96.0.10");
  EXPECT_EQ(Text(Reserve(kTen)), "ipaddresses.allocation.berth.io \"174063626\" already exists");
}

TEST_F(ReservationsTest, ExcludedOnesMayBeReserved) {
  Must(Update(Range("allocator.ipv4.k8s.io"),
              "{'metadata':{'name':'allocator.ipv4.k8s.io'},'spec':{'range':'10.96.0.0/16',"
              "'primary':true,'excluded':['10.96.0.10']}}"));
  EXPECT_THAT(Text(Reserve(kTen)), StartsWith("created"));
}

TEST_F(ReservationsTest, APersonsThroughNetworkingIsReservedWhereverItIs) {
  const auto keep = [this](const std::string& name, const std::string& parent) {
    return Create(Stored(""),
                  "{'metadata':{'name':'" + name + "'},'spec':{'parentRef':{" + parent + "}}}");
  };
  Must(keep("192.0.2.1", "'resource':'devices','name':'printer'"));
  Must(keep("10.96.0.10", "'resource':'services','namespace':'shop','name':'web'"));
  EXPECT_EQ(State(Address("3221225985")), "Reserved");
  EXPECT_FALSE(codec::HasAt(*Get(Address("3221225985")), "spec", "ipRangeRef"));
  EXPECT_EQ(State(Address(kTen)), "Reserved");
  EXPECT_THAT(Serve("web", "'clusterIP':'10.96.0.10'"), HasSubstr("IP is already allocated"))
      << "in upstream's words, which has the case";
}

// Taking and releasing a reserved value.

TEST_F(ReservationsTest, TheServiceItIsForGetsItWithoutAskingAndItReturns) {
  Must(Reserve(kTen, kKeptForWeb));
  const std::string uid = Uid(Address(kTen));
  EXPECT_THAT(Serve("other", "'clusterIP':'10.96.0.10'"),
              HasSubstr("failed to allocate IP 10.96.0.10: provided IP is reserved for the Service "
                        "shop/web"));
  store_.clock.Advance(std::chrono::minutes(1));
  ASSERT_EQ(Serve("web"), "10.96.0.10");
  EXPECT_EQ(State(Address(kTen)), "Allocated of web");
  EXPECT_EQ(Uid(Address(kTen)), uid) << "it is the same object";
  EXPECT_EQ(StringAt(*Get(Stored("10.96.0.10")), "metadata", "labels", "mine"), "yes");
  EXPECT_EQ(StringAt(*Get(Stored("10.96.0.10")), "spec", "parentRef", "resource"), "services");
  EXPECT_EQ(StringAt(*Get(Address(kTen)), "spec", "reservedFor", "name"), "web");
  EXPECT_EQ(StringAt(*Get(Address(kTen)), "status", "since"), "2026-11-15T04:36:00Z");
  EXPECT_THAT(Text(Delete(Address(kTen))), HasSubstr("shop/web"));

  Must(Delete(Service("web")));
  EXPECT_EQ(State(Address(kTen)), "Reserved");
  EXPECT_EQ(Uid(Address(kTen)), uid);
  EXPECT_EQ(StringAt(*Get(Stored("10.96.0.10")), "metadata", "labels", "mine"), "yes");
  EXPECT_EQ(StringAt(*Get(Stored("10.96.0.10")), "spec", "parentRef", "resource"), "ipranges");
  EXPECT_THAT(Serve("other", "'clusterIP':'10.96.0.10'"), HasSubstr("reserved for"));
  ASSERT_EQ(Serve("web", "'clusterIP':'10.96.0.10'"), "10.96.0.10");
  EXPECT_EQ(StringAt(*Get(Address(kTen)), "status", "chosen"), "Static");
  Must(Delete(Service("web")));
  Must(Delete(Address(kTen)));
  EXPECT_EQ(Serve("other", "'clusterIP':'10.96.0.10'"), "10.96.0.10");
}

TEST_F(ReservationsTest, AReservedPortReturnsToo) {
  Must(ReservePort("30080", kKeptForWeb));
  EXPECT_EQ(State(Port("30080")), "Reserved");
  EXPECT_EQ(StringAt(*Get(Port("30080")), "spec", "nodePortRangeRef", "name"),
            "allocator.nodeport.k8s.io");
  const std::string uid = Uid(Port("30080"));
  EXPECT_THAT(Serve("other", "'type':'NodePort'", "'port':80,'nodePort':30080"),
              HasSubstr("spec.ports[0].nodePort: Invalid value: 30080: provided port is reserved "
                        "for the Service shop/web"));
  EXPECT_EQ(StringAt(*Get(Port("30080")), "status", "since"), "2026-11-15T04:35:00Z");
  store_.clock.Advance(std::chrono::minutes(1));
  ASSERT_THAT(Serve("web", "'type':'NodePort'"), HasSubstr(" 30080"));
  EXPECT_EQ(State(Port("30080")), "Allocated of web");
  EXPECT_EQ(StringAt(*Get(Port("30080")), "status", "since"), "2026-11-15T04:36:00Z");
  EXPECT_EQ(Uid(Port("30080")), uid);
  EXPECT_EQ(StringAt(*Get(Port("30080")), "metadata", "labels", "mine"), "yes");
  Must(Update(Service("web"), "{'metadata':{'name':'web'},'spec':{'ports':[{'port':80}]}}"));
  EXPECT_EQ(State(Port("30080")), "Reserved");
  EXPECT_FALSE(codec::HasAt(*Get(Port("30080")), "status", "service"));
  EXPECT_EQ(Uid(Port("30080")), uid);
}

TEST_F(ReservationsTest, APortOfAnOlderVersionSaysSinceWhenToo) {
  ASSERT_THAT(Serve("web", "'type':'NodePort'", "'port':80,'nodePort':30081"), HasSubstr(" 30081"));
  codec::Value port = *Get(Port("30081"));
  codec::EraseAt(port, {"status", "since"});
  const registry::Row& row = *kinds_.FindRow(api::kNodePortKind);
  store_.Put(row.prefix + "30081", codec::EncodeStored(port, *row.kind));
  PumpAll();
  EXPECT_EQ(StringAt(*Get(Port("30081")), "status", "since"), "2026-11-15T04:35:00Z");
}

TEST_F(ReservationsTest, NobodysIsNobodys) {
  Must(Reserve(kTen));
  Must(ReservePort("30080"));
  EXPECT_THAT(Serve("a", "'clusterIP':'10.96.0.10'"),
              HasSubstr("10.96.0.10: provided IP is reserved"));
  EXPECT_THAT(Serve("a", "'type':'NodePort'", "'port':80,'nodePort':30080"),
              HasSubstr("30080: provided port is reserved"));
}

TEST_F(ReservationsTest, ADryRunTakesNoReservation) {
  Must(Reserve(kTen, kKeptForWeb));
  EXPECT_EQ(Serve("web", "", "'port':80", {.dry_run = true}), "10.96.0.10");
  EXPECT_EQ(State(Address(kTen)), "Reserved");
  EXPECT_EQ(Serve("web"), "10.96.0.10");
}

TEST_F(ReservationsTest, WhoChangesItMeanwhileIsNotOverwritten) {
  Must(Reserve(kTen, kKeptForWeb));
  const std::string key = "/registry/ipaddresses/10.96.0.10";
  const auto change = [&](const char* label) {
    const auto record = follower_->Current()->Find(key);
    const registry::Row& row = *RecordRowsOf(kinds_).ip_addresses;
    codec::Value object = registry::Registry::Decode(row, *record).value();
    codec::SetAt(object, {"metadata", "labels", "mine"}, label);
    store_.Put(key, registry::ToStored(row, object, record->Hidden()));
  };
  // Both times the write is decided on the old record, and again on the changed one.
  change("no");
  ASSERT_EQ(Serve("web"), "10.96.0.10");
  EXPECT_EQ(StringAt(*Get(Stored("10.96.0.10")), "metadata", "labels", "mine"), "no");
  change("never");
  Must(Delete(Service("web")));
  EXPECT_EQ(State(Address(kTen)), "Reserved");
  EXPECT_EQ(StringAt(*Get(Stored("10.96.0.10")), "metadata", "labels", "mine"), "never");
}

TEST_F(ReservationsTest, ARecordThatIsNotTheServicesStaysWhenItGoes) {
  ASSERT_EQ(Serve("a", "'clusterIP':'10.96.0.10'"), "10.96.0.10");
  store_.Delete("/registry/ipaddresses/10.96.0.10");
  PumpAll();
  Must(Reserve(kTen));
  Must(Delete(Service("a")));
  EXPECT_EQ(State(Address(kTen)), "Reserved");
}

// Holds.

TEST_F(ReservationsTest, AHoldIsRedeemed) {
  Must(Reserve(kTen, std::string(kKeptForWeb) + ",'holdSeconds':60"));
  Must(ReservePort("30080", std::string(kKeptForWeb) + ",'holdSeconds':60"));
  EXPECT_EQ(State(Address(kTen)), "Pending until 2026-11-15T04:36:00Z");
  EXPECT_EQ(State(Port("30080")), "Pending until 2026-11-15T04:36:00Z");
  EXPECT_EQ(Ttl("/registry/ipaddresses/10.96.0.10"), 60);
  EXPECT_EQ(Ttl("/registry/allocation.berth.io/nodeports/30080"), 60);
  const std::string uid = Uid(Address(kTen));
  Pass(30);
  ASSERT_EQ(Serve("web", "'type':'NodePort'"), "10.96.0.10 30080");
  Pass(90);
  EXPECT_EQ(State(Address(kTen)), "Allocated of web") << "it does not end any more";
  EXPECT_EQ(State(Port("30080")), "Allocated of web");
  EXPECT_EQ(Uid(Address(kTen)), uid);
  EXPECT_FALSE(codec::HasAt(*Get(Port("30080")), "spec", "holdSeconds"));
  Must(Delete(Service("web")));
  EXPECT_EQ(State(Address(kTen)), "gone") << "a hold does not come back";
  EXPECT_EQ(State(Port("30080")), "gone");
}

TEST_F(ReservationsTest, AHoldExpires) {
  Must(Reserve(kTen, std::string(kKeptForWeb) + ",'holdSeconds':60"));
  EXPECT_THAT(Serve("other", "'clusterIP':'10.96.0.10'"), HasSubstr("reserved for"));
  Pass(61);
  EXPECT_EQ(State(Address(kTen)), "gone");
  EXPECT_EQ(Serve("other", "'clusterIP':'10.96.0.10'"), "10.96.0.10");
}

TEST_F(ReservationsTest, WhatHasEndedIsNotChangedAnyMore) {
  Must(ReservePort("30080", std::string(kKeptForWeb) + ",'holdSeconds':60"));
  store_.clock.Advance(std::chrono::seconds(60));  // The store has not removed it yet.
  EXPECT_EQ(State(Port("30080")), "Pending until 2026-11-15T04:36:00Z");
  const std::string labelled = "{'metadata':{'name':'30080','labels':{'a':'b'}},'spec':{" +
                               std::string(kKeptForWeb) + ",'holdSeconds':60}}";
  EXPECT_EQ(Text(Update(Port("30080"), labelled)),
            "nodeports.allocation.berth.io \"30080\" not found");
  EXPECT_THAT(Text(ReservePort("30080")), StartsWith("created")) << "anybody may have it";
}

TEST_F(ReservationsTest, ALabelDoesNotMakeAHoldLast) {
  Must(Reserve(kTen, std::string(kKeptForWeb) + ",'holdSeconds':60"));
  Must(ReservePort("30080", std::string(kKeptForWeb) + ",'holdSeconds':60"));
  Pass(20);
  Must(Update(Stored("10.96.0.10"),
              "{'metadata':{'name':'10.96.0.10','labels':{'a':'b'}},'spec':{'parentRef':{'group':"
              "'allocation.berth.io','resource':'ipranges','name':'allocator.ipv4.k8s.io'}}}"));
  EXPECT_EQ(Ttl("/registry/ipaddresses/10.96.0.10"), 40);
  const auto label = [](codec::Value object) {
    codec::SetAt(object, {"metadata", "labels", "a"}, "b");
    return object;
  };
  Must(Wait([&](registry::Done done) {
    registry_->Update(Port("30080"), {}, Always(label(*Get(Port("30080")))), {}, std::move(done));
  }));
  EXPECT_EQ(Ttl("/registry/allocation.berth.io/nodeports/30080"), 40);
}

// Cooling.

TEST_F(ReservationsTest, WhatIsGivenBackCoolsDown) {
  CoolDown(60);
  ASSERT_EQ(Serve("a", "'type':'NodePort','clusterIP':'10.96.0.10'", "'port':80,'nodePort':30080"),
            "10.96.0.10 30080");
  const std::string uid = Uid(Address(kTen));
  Must(Delete(Service("a")));
  EXPECT_EQ(State(Address(kTen)), "Free until 2026-11-15T04:36:00Z");
  EXPECT_EQ(State(Port("30080")), "Free until 2026-11-15T04:36:00Z");
  EXPECT_EQ(StringAt(*Get(Address(kTen)), "spec", "ipRangeRef", "name"), "allocator.ipv4.k8s.io");
  EXPECT_EQ(StringAt(*Get(Stored("10.96.0.10")), "spec", "parentRef", "resource"), "ipranges");
  EXPECT_EQ(Ttl("/registry/ipaddresses/10.96.0.10"), 60);
  EXPECT_EQ(Ttl("/registry/allocation.berth.io/nodeports/30080"), 60);
  // A Service that asks for the value gets it, and then the record stays.
  Pass(30);
  ASSERT_EQ(Serve("b", "'type':'NodePort','clusterIP':'10.96.0.10'", "'port':80,'nodePort':30080"),
            "10.96.0.10 30080");
  EXPECT_NE(Uid(Address(kTen)), uid) << "it is a new one";
  EXPECT_EQ(Ttl("/registry/ipaddresses/10.96.0.10"), 0);
  Pass(90);
  EXPECT_EQ(State(Address(kTen)), "Allocated of b");
  EXPECT_EQ(State(Port("30080")), "Allocated of b");
}

TEST_F(ReservationsTest, WhatHasCooledDownIsGone) {
  CoolDown(60);
  ASSERT_EQ(Serve("a", "'clusterIP':'10.96.0.10'"), "10.96.0.10");
  Must(Delete(Service("a")));
  Pass(61);
  EXPECT_EQ(State(Address(kTen)), "gone");
}

TEST_F(ReservationsTest, AReservationDoesNotCoolDown) {
  CoolDown(60);
  Must(Reserve(kTen, kKeptForWeb));
  ASSERT_EQ(Serve("web"), "10.96.0.10");
  Must(Delete(Service("web")));
  EXPECT_EQ(State(Address(kTen)), "Reserved");
  EXPECT_EQ(Ttl("/registry/ipaddresses/10.96.0.10"), 0);
}

TEST_F(ReservationsTest, WhatCoolsDownCanBeReserved) {
  CoolDown(60);
  ASSERT_EQ(Serve("a", "'type':'NodePort','clusterIP':'10.96.0.10'", "'port':80,'nodePort':30080"),
            "10.96.0.10 30080");
  const std::string uid = Uid(Address(kTen));
  Must(Delete(Service("a")));
  EXPECT_THAT(Text(Reserve(kTen, kKeptForWeb)), StartsWith("created"));
  EXPECT_THAT(Text(ReservePort("30080", kKeptForWeb)), StartsWith("created"));
  EXPECT_NE(Uid(Address(kTen)), uid);
  EXPECT_EQ(State(Address(kTen)), "Reserved");
  EXPECT_EQ(State(Port("30080")), "Reserved");
  EXPECT_EQ(Ttl("/registry/ipaddresses/10.96.0.10"), 0);
  EXPECT_EQ(Ttl("/registry/allocation.berth.io/nodeports/30080"), 0);
}

TEST_F(ReservationsTest, APortOfSeveralRanges) {
  Must(Create(PortRange(""), "{'metadata':{'name':'web'},'spec':{'range':'80-90'}}"));
  Must(ReservePort("80"));
  EXPECT_EQ(StringAt(*Get(Port("80")), "spec", "nodePortRangeRef", "name"), "web");
  EXPECT_EQ(StringAt(*Get(Port("80")), "spec", "nodePortRangeRef", "kind"), "NodePortRange");
  EXPECT_EQ(Text(ReservePort("79")),
            "NodePort.allocation.berth.io \"79\" is invalid: metadata.name: Invalid value: \"79\": "
            "no range has this port");
  EXPECT_THAT(Text(ReservePort("81", "'nodePortRangeRef':{'name':'allocator.nodeport.k8s.io'}")),
              HasSubstr("it is the range 30000-32767, which does not have 81"));
}

TEST_F(ReservationsTest, AnApplyReservesAPort) {
  auto applied = Wait([&](registry::Done done) {
    registry_->Update(Port("30080"), {.way = registry::Way::kApply},
                      Always(ParseFor(Port("30080"), Body("30080", kKeptForWeb))), {},
                      std::move(done));
  });
  EXPECT_THAT(Text(applied), StartsWith("created"));
  EXPECT_EQ(State(Port("30080")), "Reserved");
  EXPECT_EQ(StringAt(*Get(Port("30080")), "spec", "nodePortRangeRef", "name"),
            "allocator.nodeport.k8s.io");
}

TEST_F(ReservationsTest, NobodyIsRefusedBecauseARangeIsClosing) {
  ClosedFence closed{.operation = "of-one-that-died", .since = store_.clock.Now()};
  closed.objects["/registry/allocation.berth.io/ipranges/allocator.ipv4.k8s.io"] = std::nullopt;
  closed.objects["/registry/servicecidrs/kubernetes"] = std::nullopt;
  const commit::ExtraPut put =
      FencePut(*RecordRowsOf(kinds_).fences, alloc::PoolId::kIpv4, &closed, store_.clock.Now());
  store_.Put(put.key, put.stored);
  PumpAll();
  std::optional<base::Result<registry::Outcome>> answer;
  registry_->Create(Address(""), ParseFor(Address(""), Body(kTen, "")), {},
                    [&](base::Result<registry::Outcome> outcome) { answer = std::move(outcome); });
  PumpAll();
  EXPECT_FALSE(answer);
  Ranges().OpenIfStale(alloc::PoolId::kIpv4, *follower_->Current());
  store_.clock.Advance(std::chrono::seconds(11));
  Ranges().OpenIfStale(alloc::PoolId::kIpv4, *follower_->Current());
  PumpAll();
  ASSERT_TRUE(answer);
  EXPECT_TRUE(*answer) << Text(*answer);
}

}  // namespace
}  // namespace berth::allocation
