#include "controllers/bootstrap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "allocation/allocation_forms.h"
#include "allocation/bitmaps/stored_bitmaps.h"
#include "allocation/fences.h"
#include "allocation/forms/bitmap_repairer.h"
#include "allocation/ledger/ledger_view.h"
#include "allocation/testing/registry_stack.h"
#include "codec/read.h"
#include "controllers/controllers.h"
#include "state/past.h"
#include "watch/hub.h"

namespace berth::controllers {
namespace {

using codec::StringAt;
using registry::Target;
using ::testing::AllOf;
using ::testing::HasSubstr;

/// A server on a store in memory, as it starts. It has threads, because bootstrapping waits.
class BootstrapTest : public ::testing::Test {
 protected:
  struct Replica {
    Replica(state::testing::TestStore& store, base::Logger& the_log, bool shared = true)
        : resources(kinds.MakeResources()),
          addresses(kinds),
          follower(*store.engine, resources, {&addresses.ledger}, {.shared_store = shared},
                   store.system_clock, the_log),
          sequencer({*store.engine, follower, resources, store.system_clock, follower}, {}),
          registry_with_hooks(kinds, resources, sequencer, addresses.ledger, store.system_clock),
          registry(registry_with_hooks.registry),
          parts{.registry = registry,
                .follower = follower,
                .ledger = addresses.ledger,
                .allocator = registry_with_hooks.allocator,
                .clock = store.system_clock,
                .log = the_log} {
      follower.Start();
      EXPECT_TRUE(follower.WaitReady(std::chrono::seconds(60)));
    }
    ~Replica() {
      sequencer.Close();
      follower.Stop();
    }
    std::optional<codec::Value> Get(const api::Kind& kind, const std::string& name_space,
                                    const std::string& name) const {
      const registry::Row& row = *kinds.FindRow(kind);
      const auto found = follower.Current()->Find(resources.Key(row.resource, name_space, name));
      if (found == nullptr) return std::nullopt;
      return *registry::Registry::Decode(row, *found);
    }

    const registry::Kinds kinds;
    const state::Resources resources;
    allocation::testing::TestAddresses addresses;
    state::Follower follower;
    commit::Sequencer sequencer;
    allocation::testing::TestRegistry registry_with_hooks;
    registry::Registry& registry;
    const BootstrapParts parts;
  };

  BootstrapTest() { store_.OpenForThreads(); }

  static BootstrapOptions Options(const std::vector<std::string>& cidrs,
                                  const std::string& ports = "30000-32767") {
    BootstrapOptions options;
    for (const std::string& cidr : cidrs) options.cidrs.push_back(ip::ParseCidr(cidr).value());
    options.node_ports = ip::ParsePortRange(ports).value();
    options.secure_port = 8443;
    options.asked_for_cidrs = true;
    options.asked_for_ports = true;
    return options;
  }

  state::testing::TestStore store_;
  base::Mutex mutex_;
  std::string logged_ GUARDED_BY(mutex_);
  base::Logger log_{{.sink =
                         [this](std::string_view line) {
                           base::MutexLock lock(mutex_);
                           logged_ += line;
                         }},
                    store_.system_clock};
};

TEST_F(BootstrapTest, AnEmptyStoreGetsWhatEveryClusterHas) {
  Replica replica(store_, log_);
  ASSERT_TRUE(Bootstrap(replica.parts, Options({"10.0.0.0/24", "fd00::/108"})));
  for (const char* name : {"default", "kube-system", "kube-public", "kube-node-lease"}) {
    EXPECT_TRUE(replica.Get(api::kNamespaceKind, "", name)) << name;
  }
  const auto cidr = replica.Get(api::kServiceCidrKind, "", "kubernetes");
  ASSERT_TRUE(cidr);
  EXPECT_EQ(codec::ArrayAt(*cidr, "spec", "cidrs").size(), 2U);
  const auto service = replica.Get(api::kServiceKind, "default", "kubernetes");
  ASSERT_TRUE(service);
  EXPECT_EQ(StringAt(*service, "spec", "clusterIP"), "10.0.0.1");
  EXPECT_EQ(codec::IntAt(codec::ArrayAt(*service, "spec", "ports")[0], "targetPort"), 8443);
  EXPECT_TRUE(replica.Get(api::kIpAddressKind, "", "10.0.0.1"));
}

TEST_F(BootstrapTest, ANewStoreTakesTheFormThatTheGateSaysAndKeepsIt) {
  const auto form = [](const Replica& replica) {
    return allocation::FormIn(allocation::RecordRowsOf(replica.kinds), *replica.follower.Current())
        .form;
  };
  const auto start = [](Replica& replica, bool bitmaps) {
    allocation::BitmapRepairer repairer(
        {.registry = replica.registry,
         .follower = replica.follower,
         .ledger = replica.addresses.ledger,
         .clock = replica.parts.clock,
         .log = replica.parts.log,
         .run = allocation::WaitFor(replica.sequencer, replica.parts.clock)},
        base::SeededRandom(1));
    BootstrapParts parts = replica.parts;
    parts.repair = [&repairer] { return repairer.Pass(); };
    BootstrapOptions options = Options({"fd00::/108", "10.0.0.0/24"});
    options.bitmaps = bitmaps;
    options.asked_for_form = true;
    return Bootstrap(parts, options);
  };
  Replica first(store_, log_);
  const auto made = start(first, true);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(form(first), allocation::AllocationForm::kBitmaps);
  const auto service = first.Get(api::kServiceKind, "default", "kubernetes");
  ASSERT_TRUE(service);
  EXPECT_EQ(StringAt(*service, "spec", "clusterIP"), "fd00::1");
  const auto range = [&first](const char* key) {
    const auto found = first.follower.Current()->Find(std::string("/registry/ranges/") + key);
    return found ? std::string(allocation::ViewOf(*found).range) : std::string();
  };
  EXPECT_EQ(range("serviceips"), "fd00::/108");
  EXPECT_EQ(range("secondaryserviceips"), "10.0.0.0/24");
  EXPECT_EQ(range("servicenodeports"), "30000-32767");
  EXPECT_FALSE(first.Get(api::kIpAddressKind, "", "fd00::1"));

  Replica second(store_, log_);
  ASSERT_TRUE(start(second, false));
  EXPECT_EQ(form(second), allocation::AllocationForm::kBitmaps);
  std::string events;
  const auto snapshot = second.follower.Current();
  for (auto at = snapshot->Seek("/registry/events/default/"); at.Valid(); at.Next()) {
    std::string room;
    events += at.Get()->TextWithoutManagedFields(room);
  }
  EXPECT_THAT(events, HasSubstr("--feature-gates asks for ClusterIPAllocatorAPI=true, but "
                                "ClusterIPAllocatorAPI=false is in force: berth "
                                "migrate-allocations changes it"));
}

TEST_F(BootstrapTest, AStoreOfBeforeKeepsRecords) {
  {
    Replica first(store_, log_);
    ASSERT_TRUE(Bootstrap(first.parts, Options({"10.0.0.0/24"})));
  }
  store_.Delete(allocation::kFormKey);
  Replica second(store_, log_);
  BootstrapOptions options = Options({"10.0.0.0/24"});
  options.bitmaps = true;
  ASSERT_TRUE(Bootstrap(second.parts, options));
  EXPECT_EQ(second.addresses.ledger.Form().form, allocation::AllocationForm::kRecords);
  EXPECT_TRUE(second.Get(api::kIpAddressKind, "", "10.0.0.1"));
}

TEST_F(BootstrapTest, LaterTheStoreHasTheWordAndTheLogSaysSo) {
  {
    Replica first(store_, log_);
    ASSERT_TRUE(Bootstrap(first.parts, Options({"10.0.0.0/24"})));
  }
  Replica second(store_, log_);
  ASSERT_TRUE(Bootstrap(second.parts, Options({"10.1.0.0/16"}, "40000-40100")));
  std::vector<std::string> events;
  const auto snapshot = second.follower.Current();
  for (auto at = snapshot->Seek("/registry/events/default/"); at.Valid(); at.Next()) {
    std::string room;
    events.emplace_back(at.Get()->TextWithoutManagedFields(room));
  }
  ASSERT_EQ(events.size(), 2U) << "one for each flag";
  EXPECT_THAT(events[0] + events[1],
              AllOf(HasSubstr("--service-cluster-ip-range asks for 10.1.0.0/16, but 10.0.0.0/24 is "
                              "in force"),
                    HasSubstr("--service-node-port-range asks for 40000-40100, but 30000-32767 is "
                              "in force")));
  ASSERT_EQ(allocation::LedgerView(second.addresses.ledger).Ranges().size(), 2U);
  EXPECT_EQ(allocation::LedgerView(second.addresses.ledger).Ranges()[0].text, "10.0.0.0/24");
  BootstrapOptions unasked = Options({"10.2.0.0/16"});
  unasked.asked_for_cidrs = false;
  ASSERT_TRUE(Bootstrap(second.parts, unasked));
  const auto logged = [this] {
    base::MutexLock lock(mutex_);
    return logged_;
  };
  for (int i = 0; i < 500 && logged().find("10.1.0.0") == std::string::npos; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));  // The logger has its own thread.
  }
  EXPECT_THAT(logged(), HasSubstr("10.1.0.0/16"));
  EXPECT_THAT(logged(), HasSubstr("40000-40100"));
  EXPECT_EQ(logged().find("10.2.0.0"), std::string::npos);
}

TEST_F(BootstrapTest, AServiceCidrThatIsMissingFollowsTheStoredRanges) {
  {
    Replica first(store_, log_);
    ASSERT_TRUE(Bootstrap(first.parts, Options({"10.0.0.0/24"})));
  }
  store_.Delete("/registry/servicecidrs/kubernetes");
  Replica second(store_, log_);
  ASSERT_TRUE(Bootstrap(second.parts, Options({"10.1.0.0/16"})));
  EXPECT_EQ(codec::Texts(codec::ArrayAt(*second.Get(api::kServiceCidrKind, "", "kubernetes"),
                                        "spec", "cidrs")),
            std::vector<std::string>{"10.0.0.0/24"});
}

TEST_F(BootstrapTest, FlagsTakeOverFromARangeThatIsOnItsWayOut) {
  {
    Replica first(store_, log_);
    ASSERT_TRUE(Bootstrap(first.parts, Options({"10.0.0.0/24"})));
    std::promise<bool> deleted;
    const registry::Row* row = first.kinds.FindRow(api::kServiceCidrKind);
    first.registry.Delete({.served = {.row = row, .view = row->views.data()}, .name = "kubernetes"},
                          {}, {}, [&deleted](const base::Result<registry::Outcome>& outcome) {
                            deleted.set_value(outcome.has_value());
                          });
    ASSERT_TRUE(deleted.get_future().get());
  }
  Replica second(store_, log_);
  ASSERT_TRUE(Bootstrap(second.parts, Options({"10.1.0.0/16", "fd00::/108"})));
  const auto cidr = second.Get(api::kServiceCidrKind, "", "kubernetes");
  EXPECT_EQ(codec::Texts(codec::ArrayAt(*cidr, "spec", "cidrs")),
            (std::vector<std::string>{"10.1.0.0/16", "fd00::/108"}));
  EXPECT_FALSE(codec::HasAt(*cidr, "metadata", "deletionTimestamp"));
  EXPECT_EQ(StringAt(*second.Get(api::kServiceKind, "default", "kubernetes"), "spec", "clusterIP"),
            "10.1.0.1");
  EXPECT_EQ(second.addresses.ledger.Families().size(), 2U);
  EXPECT_FALSE(second.follower.Current()->Seek("/registry/events/").Valid()) << "no warning";
}

TEST_F(BootstrapTest, ASecondFamilyThatCannotBeIsNoReasonNotToServe) {
  BootstrapOptions options = Options({"10.0.0.0/24"});
  options.replica = {.id = "old", .gates = {.dual_stack = false}};
  {
    Replica first(store_, log_);
    ASSERT_TRUE(Bootstrap(first.parts, options));
  }
  options = Options({"10.0.0.0/24", "fd00::/108"});
  options.replica.id = "new";
  {
    Replica beside(store_, log_);
    ASSERT_TRUE(Bootstrap(beside.parts, options));
    EXPECT_EQ(beside.addresses.ledger.Families().size(), 1U);
    auto at = beside.follower.Current()->Seek("/registry/events/default/");
    ASSERT_TRUE(at.Valid());
    std::string room;
    EXPECT_THAT(std::string(at.Get()->TextWithoutManagedFields(room)),
                AllOf(HasSubstr("KubernetesDefaultServiceCIDRError"),
                      HasSubstr("replica \\\"old\\\" runs with IPv6DualStack=false")));
    at.Next();
    EXPECT_FALSE(at.Valid() && at.Get()->Key().starts_with("/registry/events/")) << "one is enough";
  }
  Replica alone(store_, log_, /*shared=*/false);
  ASSERT_TRUE(Bootstrap(alone.parts, options));
  EXPECT_FALSE(alone.Get(api::kReplicaKind, "", "old")) << "nobody else uses the store";
  EXPECT_EQ(alone.addresses.ledger.Families().size(), 2U);
}

TEST_F(BootstrapTest, WithoutDualStackTheFirstOfTwoCidrsIsServed) {
  BootstrapOptions options = Options({"fd00::/108", "10.0.0.0/24"});
  options.replica = {.id = "one", .gates = {.dual_stack = false}};
  std::vector<std::string> told;
  Replica first(store_, log_);
  BootstrapParts parts = first.parts;
  parts.tell = [&told](std::string note) { told.push_back(std::move(note)); };
  for (int start = 0; start < 2; ++start) {
    const auto made = Bootstrap(parts, options);
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_EQ(codec::ArrayAt(*first.Get(api::kServiceCidrKind, "", "kubernetes"), "spec", "cidrs"),
              codec::Array{"fd00::/108"});
  }
  EXPECT_THAT(told, ::testing::Each("IPv6DualStack=false: Services get addresses of fd00::/108; "
                                    "10.0.0.0/24 is ignored."));
  EXPECT_EQ(told.size(), 2U);
  EXPECT_EQ(first.addresses.ledger.Families(), std::vector{ip::Family::kV6});

  // Another one that could give out both begins with what is there.
  options.replica = {.id = "two"};
  Replica second(store_, log_);
  ASSERT_TRUE(Bootstrap(second.parts, options));
  EXPECT_EQ(second.addresses.ledger.Families().size(), 1U);
}

TEST_F(BootstrapTest, AReplicaWithoutDualStackIsNoReasonNotToStart) {
  Replica one(store_, log_);
  const registry::Row& row = *one.kinds.FindRow(api::kReplicaKind);
  store_.Put(row.prefix + "other",
             codec::EncodeStored(ReplicaOf({.id = "other", .gates = {.dual_stack = false}},
                                           store_.system_clock.Now()),
                                 *row.kind));
  BootstrapOptions options = Options({"10.0.0.0/24", "fd00::/108"});
  options.replica.id = "one";
  const auto made = Bootstrap(one.parts, options);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(one.addresses.ledger.Families(), std::vector{ip::Family::kV4});
}

/// A server may end while it makes a range smaller. The next server has the range as it is stored,
/// and the fence is still closed.
TEST_F(BootstrapTest, AStatusIsRightThoughAFenceWasLeftClosed) {
  const BootstrapOptions options = Options({"10.0.0.0/24"});
  const std::string name(rules::kIpv4RangeName);
  {
    Replica first(store_, log_);
    ASSERT_TRUE(Bootstrap(first.parts, options));
    const allocation::RecordRows rows = allocation::RecordRowsOf(first.kinds);
    codec::Value old = *first.Get(api::kIpRangeKind, "", name);
    codec::SetAt(old, {"status", "used"}, 77);
    store_.Put(rows.ip_ranges->prefix + name, codec::EncodeStored(old, api::kIpRangeKind));
    allocation::ClosedFence closed{.operation = "gone", .since = store_.system_clock.Now()};
    closed.objects[rows.ip_ranges->prefix + name] =
        R"({"metadata":{"name":"allocator.ipv4.k8s.io"},"spec":{"range":"10.0.0.0/28"}})";
    const auto put = allocation::FencePut(*rows.fences, alloc::PoolId::kIpv4, &closed,
                                          store_.system_clock.Now());
    store_.Put(put.key, put.stored);
  }
  Replica second(store_, log_);
  ASSERT_TRUE(Bootstrap(second.parts, options));
  const auto range = second.Get(api::kIpRangeKind, "", name);
  ASSERT_TRUE(range);
  EXPECT_EQ(StringAt(*range, "status", "total"), "254");
  EXPECT_EQ(codec::IntAt(*range, "status", "used"), 1);
}

TEST_F(BootstrapTest, TheStatusIsLeftToAReplicaThatWritesItByOtherGates) {
  const std::string name(rules::kIpv4RangeName);
  const auto used_after = [&](const std::string& id, const registry::Gates& gates) {
    BootstrapOptions options = Options({"10.0.0.0/24"});
    options.replica = {.id = id, .gates = gates};
    Replica replica(store_, log_);
    EXPECT_TRUE(Bootstrap(replica.parts, options));
    const auto range = replica.Get(api::kIpRangeKind, "", name);
    return range ? codec::IntAt(*range, "status", "used") : -1;
  };
  EXPECT_EQ(used_after("one", {}), 1);
  const registry::Kinds kinds;
  const auto put = [&](const api::Kind& kind, const std::string& key, const codec::Value& object) {
    store_.Put(kinds.FindRow(kind)->prefix + key, codec::EncodeStored(object, kind));
  };
  put(api::kLeaseKind, "kube-system/berth-range-status",
      codec::Object{
          {"metadata", codec::Object{{"name", "berth-range-status"}, {"namespace", "kube-system"}}},
          {"spec", codec::Object{{"holderIdentity", "one"}}}});
  {
    Replica any(store_, log_);
    codec::Value wrong = *any.Get(api::kIpRangeKind, "", name);
    codec::SetAt(wrong, {"status", "used"}, 77);
    put(api::kIpRangeKind, name, wrong);
  }
  EXPECT_EQ(used_after("two", {.static_ips = false}), 77);
  store_.Delete(kinds.FindRow(api::kReplicaKind)->prefix + "two");
  EXPECT_EQ(used_after("three", {}), 1) << "it has the same gates, and writes the same";
}

TEST_F(BootstrapTest, TwoAtOnceAgree) {
  Replica one(store_, log_);
  Replica two(store_, log_);
  std::thread other([&] { EXPECT_TRUE(Bootstrap(two.parts, Options({"10.2.0.0/24"}))); });
  EXPECT_TRUE(Bootstrap(one.parts, Options({"10.1.0.0/24"})));
  other.join();
  const auto text = [](const Replica& replica) {
    return allocation::LedgerView(replica.addresses.ledger).Ranges()[0].text;
  };
  EXPECT_EQ(text(one), text(two));
}

TEST_F(BootstrapTest, WhenItsAddressIsSomebodyElsesTheRestWorks) {
  Replica replica(store_, log_);
  const registry::Row& row = *replica.kinds.FindRow(api::kIpAddressKind);
  store_.Put(row.prefix + "10.0.0.1",
             codec::EncodeStored(codec::Object{{"metadata", codec::Object{{"name", "10.0.0.1"}}}},
                                 *row.kind));
  ASSERT_TRUE(Bootstrap(replica.parts, Options({"10.0.0.0/24"})));
  EXPECT_FALSE(replica.Get(api::kServiceKind, "default", "kubernetes"));
}

class KeeperTest : public allocation::testing::RegistryTest {
 protected:
  KeeperTest() { Must(Create(At("namespaces", "", ""), "{'metadata':{'name':'default'}}")); }

  Target Kubernetes() const { return At("services", "default", "kubernetes"); }

  const WakePtr wake_ = std::make_shared<Wake>();
};

TEST_F(KeeperTest, DefaultKubernetesComesBackAndIsNeverCorrected) {
  Writer writer(*registry_, wake_, 10);
  KubernetesServiceKeeper keeper({*registry_, *follower_, writer, wake_, store_.clock, store_.log},
                                 addresses_.ledger, 6443);
  const auto run = [&] {
    store_.clock.Advance(std::chrono::seconds(11));
    const bool worked = keeper.Work();
    PumpAll();
    wake_->RunPosted();
    return worked;
  };
  EXPECT_FALSE(keeper.Work()) << "not yet";
  EXPECT_TRUE(run());
  ASSERT_TRUE(Get(Kubernetes()));
  EXPECT_EQ(StringAt(*Get(Kubernetes()), "spec", "clusterIP"), "10.96.0.1");
  EXPECT_FALSE(run()) << "it is there";
  Must(Delete(Kubernetes()));
  EXPECT_TRUE(run());
  EXPECT_TRUE(Get(Kubernetes()));

  const registry::Target ranges = At("allocation.berth.io/ipranges", "", "");
  Must(Create(ranges,
              "{'metadata':{'name':'allocator.ipv4.k8s.io'},'spec':{'range':"
              "'10.96.0.0/16','primary':true,'disabled':true}}"));
  Must(Create(ranges, "{'metadata':{'name':'next'},'spec':{'range':'10.97.0.0/30'}}"));
  Must(Delete(Kubernetes()));
  EXPECT_TRUE(run());
  EXPECT_THAT(StringAt(*Get(Kubernetes()), "spec", "clusterIP"), ::testing::StartsWith("10.97."))
      << "nothing new is taken from the first range";
}

}  // namespace
}  // namespace berth::controllers
