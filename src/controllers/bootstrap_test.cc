#include "controllers/bootstrap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "codec/read.h"
#include "controllers/controllers.h"
#include "registry/testing.h"
#include "state/past.h"
#include "watch/hub.h"

namespace berth::controllers {
namespace {

using codec::StringAt;
using registry::Target;
using ::testing::HasSubstr;

/// A server on a store in memory, as it starts; with threads, since bootstrapping waits.
class BootstrapTest : public ::testing::Test {
 protected:
  struct Replica {
    Replica(state::testing::TestStore& store, base::Logger& the_log)
        : resources(kinds.MakeResources()),
          addresses(kinds, store.system_clock),
          follower(*store.engine, resources, {&addresses.allocations}, {.shared_store = true},
                   store.system_clock, the_log),
          sequencer(follower, {}),
          registry(kinds, resources, sequencer, addresses.addresses, {}, store.system_clock,
                   base::SeededRandom(1)),
          parts{.registry = registry,
                .follower = follower,
                .allocations = addresses.allocations,
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
    registry::testing::TestAddresses addresses;
    state::Follower follower;
    commit::Sequencer sequencer;
    registry::Registry registry;
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
  for (const char* name : {"default", "kube-system", "kube-public"}) {
    EXPECT_TRUE(replica.Get(api::kNamespaceKind, "", name)) << name;
  }
  const auto cidr = replica.Get(api::kServiceCidrKind, "", "kubernetes");
  ASSERT_TRUE(cidr);
  EXPECT_EQ(codec::ArrayAt(*cidr, "spec", "cidrs").size(), 2U);
  EXPECT_EQ(StringAt(codec::ArrayAt(*cidr, "status", "conditions")[0], "status"), "True");
  const auto service = replica.Get(api::kServiceKind, "default", "kubernetes");
  ASSERT_TRUE(service);
  EXPECT_EQ(StringAt(*service, "spec", "clusterIP"), "10.0.0.1");
  EXPECT_EQ(codec::IntAt(codec::ArrayAt(*service, "spec", "ports")[0], "targetPort"), 8443);
  EXPECT_TRUE(replica.Get(api::kIpAddressKind, "", "10.0.0.1"));
}

TEST_F(BootstrapTest, LaterTheStoreHasTheWordAndTheLogSaysSo) {
  {
    Replica first(store_, log_);
    ASSERT_TRUE(Bootstrap(first.parts, Options({"10.0.0.0/24"})));
  }
  Replica second(store_, log_);
  const int64_t before = second.follower.Current()->Revision();
  ASSERT_TRUE(Bootstrap(second.parts, Options({"10.1.0.0/16"}, "40000-40100")));
  EXPECT_EQ(second.follower.Current()->Revision(), before) << "nothing is changed";
  ASSERT_EQ(second.addresses.allocations.Ranges().size(), 2U);
  EXPECT_EQ(second.addresses.allocations.Ranges()[0].text, "10.0.0.0/24");
  BootstrapOptions unasked = Options({"10.2.0.0/16"});
  unasked.asked_for_cidrs = false;
  ASSERT_TRUE(Bootstrap(second.parts, unasked));
  const auto logged = [this] {
    base::MutexLock lock(mutex_);
    return logged_;
  };
  for (int i = 0; i < 500 && logged().find("40000") == std::string::npos; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));  // The logger has its own thread.
  }
  EXPECT_THAT(logged(), HasSubstr("10.1.0.0/16"));
  EXPECT_THAT(logged(), HasSubstr("40000-40100"));
  EXPECT_EQ(logged().find("10.2.0.0"), std::string::npos);
}

TEST_F(BootstrapTest, TwoAtOnceAgree) {
  Replica one(store_, log_);
  Replica two(store_, log_);
  std::thread other([&] { EXPECT_TRUE(Bootstrap(two.parts, Options({"10.2.0.0/24"}))); });
  EXPECT_TRUE(Bootstrap(one.parts, Options({"10.1.0.0/24"})));
  other.join();
  const auto text = [](const Replica& replica) {
    return replica.addresses.allocations.Ranges()[0].text;
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

class KeeperTest : public registry::testing::RegistryTest {
 protected:
  KeeperTest() { Must(Create(At("namespaces", "", ""), "{'metadata':{'name':'default'}}")); }

  Target Kubernetes() const { return At("services", "default", "kubernetes"); }

  const WakePtr wake_ = std::make_shared<Wake>();
};

TEST_F(KeeperTest, DefaultKubernetesComesBackAndIsNeverCorrected) {
  Writer writer(*registry_, wake_, 10);
  KubernetesServiceKeeper keeper({*registry_, *follower_, writer, wake_, store_.clock, store_.log},
                                 addresses_.allocations, 6443);
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
}

}  // namespace
}  // namespace berth::controllers
