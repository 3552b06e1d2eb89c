#include "allocation/repairs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <string>
#include <utility>

#include "allocation/fences.h"
#include "allocation/testing/form_stack.h"
#include "allocation/testing/registry_stack.h"
#include "codec/timestamp.h"
#include "rules/record_notes.h"

namespace berth::allocation {
namespace {

using allocation::testing::Text;
using codec::StringAt;
using ::testing::Contains;
using ::testing::Not;

class RepairsTest : public allocation::testing::FormsTest {
 protected:
  /// Runs a repair, after what `meanwhile_` does between its decision and its commit. Returns what
  /// happened.
  std::string Run(commit::Write write) {
    if (meanwhile_) {
      write.transform = [this, inner = write.transform](const state::Snapshot& snapshot,
                                                        const state::ObjectPtr& current) {
        auto decided = inner(snapshot, current);
        if (meanwhile_) std::exchange(meanwhile_, nullptr)();
        return decided;
      };
    }
    std::optional<base::Result<commit::Written>> answer;
    sequencer_->Submit(std::move(write), [&answer](base::Result<commit::Written> written) {
      answer = std::move(written);
    });
    PumpAll();
    if (!answer) return "no answer";
    if (!*answer) return answer->error().message;
    static const char* const kinds[] = {"created", "updated", "deleted", "unchanged"};
    return kinds[static_cast<size_t>((*answer)->kind)];
  }
  std::string Make(const PoolValue& value, const std::string& name) {
    return Run(repairs_.MakeRecord(value, {.name_space = "shop", .name = name}));
  }
  std::string Rewrite(const PoolValue& value, const std::string& name) {
    return Run(
        repairs_.RewriteRecord(value, RevisionOf(value), {.name_space = "shop", .name = name}));
  }
  std::string Release(const PoolValue& value) {
    return Run(repairs_.ReleaseRecord(value, RevisionOf(value)));
  }

  static PoolValue Address(const std::string& text) {
    return {.pool = PoolId::kIpv4, .value = ip::ParseAddr(text).value().bits()};
  }
  static PoolValue Port(uint16_t port) { return {.pool = PoolId::kPorts, .value = port}; }
  int64_t RevisionOf(const PoolValue& value) const {
    return state::RevisionOf(follower_->Current()->Find(RecordKey(rows_, value)));
  }
  codec::Value Record(const PoolValue& value) const {
    const registry::Row& row =
        value.pool == PoolId::kPorts ? *rows_.node_ports : *rows_.ip_addresses;
    const auto found = follower_->Current()->Find(RecordKey(rows_, value));
    return found ? registry::Registry::Decode(row, *found).value() : codec::Object();
  }
  void Lose(const PoolValue& value) { Erase(RecordKey(rows_, value)); }
  void Erase(const std::string& key) {
    store_.Delete(key);
    PumpAll();
  }
  /// Writes an object straight into the store.
  void Write(const registry::Row& row, const std::string& name, const codec::Value& object) {
    store_.Put(row.prefix + name, codec::EncodeStored(object, *row.kind));
    PumpAll();
  }
  /// Writes a copy of a Service under another name, which then holds the same values.
  void Copy(const std::string& from, const std::string& to) {
    const registry::Row& row = *kinds_.FindRow(api::kServiceKind);
    auto service =
        registry::Registry::Decode(row, *follower_->Current()->Find(row.prefix + "shop/" + from))
            .value();
    codec::SetAt(service, {"metadata", "name"}, to);
    codec::SetAt(service, {"metadata", "uid"}, "7c9f1ad0-0000-4000-8000-000000000001");
    Write(row, "shop/" + to, service);
  }
  std::string ServiceKey(const std::string& name) const {
    return kinds_.FindRow(api::kServiceKind)->prefix + "shop/" + name;
  }

  std::function<void()> meanwhile_;
  Repairs repairs_{{.kinds = kinds_, .ledger = addresses_.ledger, .clock = store_.clock},
                   base::SeededRandom(3)};
};

constexpr const char* kWeb =
    "'type':'NodePort','clusterIP':'10.96.0.10','ports':[{'port':80,'nodePort':30009}]";

TEST_F(RepairsTest, ALostRecordComesBackAsItWas) {
  Made("web", kWeb);
  for (const PoolValue& value : {Address("10.96.0.10"), Port(30009)}) {
    codec::Value before = Record(value);
    Lose(value);
    EXPECT_EQ(Make(value, "web"), "created");
    codec::Value after = Record(value);
    for (codec::Value* object : {&before, &after}) {
      codec::EraseAt(*object, {"metadata", "uid"});
      codec::EraseAt(*object, {"metadata", "resourceVersion"});
    }
    EXPECT_EQ(after, before);
  }
  EXPECT_EQ(Text(Delete(Service("web"))).substr(0, 7), "deleted");
  EXPECT_EQ(Records(), Held());
}

TEST_F(RepairsTest, ARecordIsMadeOnlyForTheOneServiceThatHoldsTheValue) {
  Made("web", kWeb);
  Made("other", "'clusterIP':'10.96.0.11'");
  const PoolValue value = Address("10.96.0.10");
  EXPECT_EQ(Make(value, "web"), "unchanged") << "there is a record";
  Lose(value);
  EXPECT_EQ(Make(value, "other"), "unchanged") << "it does not hold the value";
  EXPECT_EQ(Make(value, "nobody"), "unchanged");
  Copy("web", "twin");
  EXPECT_EQ(Make(value, "web"), "unchanged") << "two Services hold it";
  EXPECT_THAT(Records(), Not(Contains("10.96.0.10")));
}

TEST_F(RepairsTest, AValueOutsideOfEveryRangeGetsNoRecord) {
  Made("web", kWeb);
  const registry::Row& row = *kinds_.FindRow(api::kServiceKind);
  auto service = registry::Registry::Decode(row, *follower_->Current()->Find(ServiceKey("web")));
  codec::SetAt(*service, {"metadata", "name"}, "far");
  codec::SetAt(*service, {"spec", "clusterIP"}, "192.0.2.1");
  codec::SetAt(*service, {"spec", "clusterIPs"}, codec::Array{"192.0.2.1"});
  Write(row, "shop/far", *service);
  EXPECT_EQ(Make(Address("192.0.2.1"), "far"), "unchanged");
}

TEST_F(RepairsTest, ARepairThatRacesWithTheServiceIsDecidedAgain) {
  Made("web", kWeb);
  const PoolValue value = Address("10.96.0.10");
  Lose(value);
  meanwhile_ = [&] { Erase(ServiceKey("web")); };
  EXPECT_EQ(Make(value, "web"), "unchanged") << "the Service is gone";
  EXPECT_THAT(Records(), Not(Contains("10.96.0.10")));

  Made("next", "'clusterIP':'10.96.0.12'");
  Lose(Address("10.96.0.12"));
  meanwhile_ = [&] {
    Must(Update(Service("next"),
                "{'metadata':{'name':'next','labels':{'a':'b'}},'spec':{'clusterIP':"
                "'10.96.0.12','ports':[{'port':80}]}}"));
  };
  EXPECT_EQ(Make(Address("10.96.0.12"), "next"), "created") << "it still holds the value";
}

TEST_F(RepairsTest, TheRepairOfAnotherReplicaWins) {
  Made("web", kWeb);
  const PoolValue value = Address("10.96.0.10");
  Lose(value);
  Repairs other({.kinds = kinds_, .ledger = addresses_.ledger, .clock = store_.clock},
                base::SeededRandom(4));
  const auto write = other.MakeRecord(value, {.name_space = "shop", .name = "web"});
  meanwhile_ = [&] {
    const auto decided = write.transform(*follower_->Current(), nullptr);
    ASSERT_TRUE(decided);
    store_.Put(write.key, decided->stored);
    PumpAll();
  };
  EXPECT_EQ(Make(value, "web"), "unchanged");
  EXPECT_THAT(Records(), Contains("10.96.0.10"));
}

TEST_F(RepairsTest, ARecordIsMadeOnTheRangesThatItWasDecidedOn) {
  Made("web", kWeb);
  const PoolValue value = Address("10.96.0.10");
  Lose(value);
  int decided = 0;
  auto write = repairs_.MakeRecord(value, {.name_space = "shop", .name = "web"});
  write.transform = [&, inner = write.transform](const state::Snapshot& snapshot,
                                                 const state::ObjectPtr& current) {
    auto out = inner(snapshot, current);
    if (++decided == 1) {
      store_.Put(FenceKey(PoolId::kIpv4),
                 FencePut(*rows_.fences, PoolId::kIpv4, nullptr, store_.clock.Now()).stored);
      PumpAll();
    }
    return out;
  };
  EXPECT_EQ(Run(std::move(write)), "created");
  EXPECT_EQ(decided, 2);
}

TEST_F(RepairsTest, WhereBitmapsCountNothingIsDone) {
  Made("web", kWeb);
  const PoolValue value = Address("10.96.0.10");
  const PoolValue orphan = Address("10.96.0.11");
  Made("gone", "'clusterIP':'10.96.0.11'");
  Lose(value);
  Erase(ServiceKey("gone"));
  BeginWith(AllocationForm::kBitmaps);
  EXPECT_EQ(Make(value, "web"), "unchanged");
  EXPECT_EQ(Rewrite(Port(30009), "web"), "unchanged");
  EXPECT_EQ(Release(orphan), "unchanged");
}

TEST_F(RepairsTest, ARecordOfAnotherServiceIsRewritten) {
  const codec::Value web = Made("web", kWeb);
  Made("other",
       "'type':'NodePort','clusterIP':'10.96.0.11','ports':[{'port':80,'nodePort':30010}]");
  auto address = Record(Address("10.96.0.10"));
  codec::SetAt(address, {"spec", "parentRef", "name"}, "other");
  codec::SetAt(address, {"metadata", "labels", "ipaddress.kubernetes.io/ip-family"}, "IPv6");
  codec::SetAt(address, {"metadata", "labels", "mine"}, "kept");
  Write(*rows_.ip_addresses, "10.96.0.10", address);
  EXPECT_EQ(Rewrite(Address("10.96.0.10"), "web"), "updated");
  const auto now = Record(Address("10.96.0.10"));
  EXPECT_EQ(StringAt(now, "spec", "parentRef", "name"), "web");
  EXPECT_EQ(StringAt(now, "metadata", "labels", "ipaddress.kubernetes.io/ip-family"), "IPv4");
  EXPECT_EQ(StringAt(now, "metadata", "labels", "mine"), "kept");

  auto port = Record(Port(30009));
  codec::SetAt(port, {"status", "service", "uid"}, "7c9f1ad0-0000-4000-8000-000000000001");
  codec::SetAt(port, {"status", "purpose"}, "HealthCheck");
  Write(*rows_.node_ports, "30009", port);
  EXPECT_EQ(Rewrite(Port(30009), "web"), "updated");
  EXPECT_EQ(StringAt(Record(Port(30009)), "status", "service", "uid"),
            StringAt(web, "metadata", "uid"));
  EXPECT_EQ(StringAt(Record(Port(30009)), "status", "purpose"), "NodePort");
  EXPECT_EQ(Text(Delete(Service("web"))).substr(0, 7), "deleted");
  EXPECT_EQ(Records(), Held());
}

TEST_F(RepairsTest, ARewrittenRecordSaysSinceWhenItsServiceHasTheValue) {
  const codec::Value web = Made("web", kWeb);
  const std::string made(StringAt(web, "metadata", "creationTimestamp"));
  const std::string uid(StringAt(web, "metadata", "uid"));
  const std::string another = "7c9f1ad0-0000-4000-8000-000000000001";
  store_.clock.Advance(std::chrono::hours(1));
  const std::string now = codec::FormatTime(store_.clock.Now());
  // The first pass finds a record of this Service, the second one of an earlier Service.
  for (const auto& [named, since] : {std::pair(uid, made), std::pair(another, now)}) {
    auto port = Record(Port(30009));
    codec::SetAt(port, {"status", "service", "uid"}, named);
    codec::SetAt(port, {"status", "purpose"}, "HealthCheck");
    Write(*rows_.node_ports, "30009", port);
    EXPECT_EQ(Rewrite(Port(30009), "web"), "updated");
    EXPECT_EQ(StringAt(Record(Port(30009)), "status", "since"), since);

    auto address = Record(Address("10.96.0.10"));
    rules::WriteNotes(address, {.state = rules::RecordState::kAllocated,
                                .service_uid = named,
                                .since = codec::ParseTime(made)});
    codec::SetAt(address, {"metadata", "labels", "ipaddress.kubernetes.io/ip-family"}, "IPv6");
    Write(*rows_.ip_addresses, "10.96.0.10", address);
    EXPECT_EQ(Rewrite(Address("10.96.0.10"), "web"), "updated");
    const auto record = follower_->Current()->Find(RecordKey(rows_, Address("10.96.0.10")));
    EXPECT_EQ(codec::FormatTime(rules::NotesOfHidden(record->Hidden()).since.value()), since);
  }
}

TEST_F(RepairsTest, ARecordIsRewrittenOnlyIfNothingHasChanged) {
  Made("web", kWeb);
  Made("other", "'clusterIP':'10.96.0.11'");
  const PoolValue value = Address("10.96.0.10");
  EXPECT_EQ(Rewrite(value, "other"), "unchanged") << "it does not hold the value";
  const int64_t old = RevisionOf(value);
  Write(*rows_.ip_addresses, "10.96.0.10", Record(value));
  EXPECT_EQ(Run(repairs_.RewriteRecord(value, old, {.name_space = "shop", .name = "web"})),
            "unchanged")
      << "the record is another one";
  meanwhile_ = [&] { Write(*rows_.ip_addresses, "10.96.0.10", Record(value)); };
  EXPECT_EQ(Rewrite(value, "web"), "unchanged") << "it has changed meanwhile";
  Copy("web", "twin");
  EXPECT_EQ(Rewrite(value, "web"), "unchanged") << "two Services hold it";
}

TEST_F(RepairsTest, AReservationForAnotherServiceStays) {
  Made("web", kWeb);
  const PoolValue value = Address("10.96.0.10");
  auto address = Record(value);
  rules::WriteNotes(address,
                    {.state = rules::RecordState::kReserved, .reserved_for = "shop/other"});
  Write(*rows_.ip_addresses, "10.96.0.10", address);
  EXPECT_EQ(Rewrite(value, "web"), "unchanged");
  rules::WriteNotes(address, {.state = rules::RecordState::kReserved, .reserved_for = "shop/web"});
  Write(*rows_.ip_addresses, "10.96.0.10", address);
  EXPECT_EQ(Rewrite(value, "web"), "updated");
  EXPECT_EQ(ReadRecord(rows_, *follower_->Current()->Find(RecordKey(rows_, value)))->reserved_for,
            "shop/web");
}

TEST_F(RepairsTest, ARecordWithoutItsServiceIsReleased) {
  Made("web", kWeb);
  Erase(ServiceKey("web"));
  EXPECT_EQ(Release(Address("10.96.0.10")), "deleted");
  EXPECT_EQ(Release(Port(30009)), "deleted");
  EXPECT_EQ(Records(), Held());
  EXPECT_EQ(StringAt(Made("next", kWeb), "spec", "clusterIP"), "10.96.0.10");
}

TEST_F(RepairsTest, ARecordIsReleasedOnlyIfNoServiceHoldsTheValue) {
  Made("web", kWeb);
  const PoolValue value = Address("10.96.0.10");
  EXPECT_EQ(Release(value), "unchanged") << "its Service holds it";
  Copy("web", "twin");
  Erase(ServiceKey("web"));
  EXPECT_EQ(Release(value), "unchanged") << "another one holds it";
  Erase(ServiceKey("twin"));
  const int64_t old = RevisionOf(value);
  Write(*rows_.ip_addresses, "10.96.0.10", Record(value));
  EXPECT_EQ(Run(repairs_.ReleaseRecord(value, old)), "unchanged") << "the record has changed";
}

TEST_F(RepairsTest, AServiceThatComesBackMeanwhileKeepsItsRecord) {
  Made("web", kWeb);
  const std::string stored = store::GetNow(*store_.engine, ServiceKey("web")).value()->value;
  Erase(ServiceKey("web"));
  meanwhile_ = [&] {
    store_.Put(ServiceKey("web"), stored);
    PumpAll();
  };
  EXPECT_EQ(Release(Address("10.96.0.10")), "unchanged");
  EXPECT_THAT(Records(), Contains("10.96.0.10"));
}

TEST_F(RepairsTest, AReservedRecordIsReservedAgain) {
  Must(Create(At("allocation.berth.io/ipaddresses", "", ""),
              "{'metadata':{'name':'10.96.0.20'},'spec':{'reservedFor':{'namespace':'shop','name':"
              "'web'}}}"));
  Made("web", "'clusterIP':'10.96.0.20'");
  Erase(ServiceKey("web"));
  EXPECT_EQ(Release(Address("10.96.0.20")), "updated");
  const auto info =
      ReadRecord(rows_, *follower_->Current()->Find(RecordKey(rows_, Address("10.96.0.20"))));
  EXPECT_EQ(info->state, RecordState::kReserved);
  EXPECT_EQ(info->reserved_for, "shop/web");
}

}  // namespace
}  // namespace berth::allocation
