// Two servers on one store, with different feature gates: which of them writes the status of
// ranges, who takes over, and how they show that they disagree.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "allocation/testing/registry_stack.h"
#include "codec/read.h"
#include "codec/timestamp.h"
#include "controllers/controllers.h"
#include "controllers/job_lease.h"
#include "controllers/replica_register.h"
#include "state/past.h"
#include "state/testing/test_store.h"
#include "watch/hub.h"

namespace berth::controllers {
namespace {

using codec::StringAt;
using codec::Value;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A server whose threads are the test's.
struct Running {
  Running(state::testing::TestStore& store, base::Logger& log, const std::string& id,
          const registry::Gates& gates, bool shared = true)
      : clock(store.clock),
        facts{.id = id, .version = "1.0", .gates = gates},
        resources(kinds.MakeResources()),
        past(*store.engine, resources),
        addresses(kinds, gates),
        hub(past, resources, {}),
        follower(*store.engine, resources, {&addresses.ledger, &hub}, {.shared_store = shared},
                 store.clock, log),
        sequencer({*store.engine, follower, resources, store.clock, follower}, {}),
        with_hooks(kinds, resources, sequencer, addresses.ledger, store.clock, seed++, gates) {
    while (follower.Pump()) {
    }
    controllers =
        std::make_unique<Controllers>(Controllers::Parts{.registry = with_hooks.registry,
                                                         .follower = follower,
                                                         .hub = hub,
                                                         .ledger = addresses.ledger,
                                                         .allocator = with_hooks.allocator,
                                                         .clock = store.clock,
                                                         .log = log,
                                                         .replica = facts},
                                      base::SeededRandom(seed++));
  }
  ~Running() { controllers.reset(); }

  registry::Target At(const api::Kind& kind, const std::string& name_space,
                      const std::string& name) const {
    const registry::Row* row = kinds.FindRow(kind);
    return {
        .served = {.row = row, .view = row->views.data()}, .name_space = name_space, .name = name};
  }
  std::optional<Value> Get(const registry::Target& target) const {
    const registry::Row& row = *target.served.row;
    const auto found =
        follower.Current()->Find(resources.Key(row.resource, target.name_space, target.name));
    if (found == nullptr) return std::nullopt;
    return *registry::Registry::Decode(row, *found);
  }

  inline static uint64_t seed = 1;
  const base::Clock& clock;
  const ReplicaFacts facts;
  const registry::Kinds kinds;
  const state::Resources resources;
  const state::Past past;
  allocation::testing::TestAddresses addresses;
  watch::Hub hub;
  state::Follower follower;
  commit::Sequencer sequencer;
  allocation::testing::TestRegistry with_hooks;
  std::unique_ptr<Controllers> controllers;
};

class ReplicasTest : public ::testing::Test {
 protected:
  ReplicasTest() {
    store_.clock.Advance(codec::ParseTime(allocation::testing::kStart)->time_since_epoch());
    store_.Open();
    allocation::testing::TestAddresses::PutRanges(store_, registry::Kinds());
  }

  Running& Start(const std::string& id, const registry::Gates& gates, bool shared = true) {
    Running& replica =
        *running_.emplace_back(std::make_unique<Running>(store_, log_, id, gates, shared));
    for (const char* name : {"default", "kube-system"}) {
      const auto target = replica.At(api::kNamespaceKind, "", name);
      if (!replica.Get(target))
        Create(replica, target, "{'metadata':{'name':'" + std::string(name) + "'}}");
    }
    Advance(seconds(1));
    return replica;
  }
  /// From now on nothing happens in this server, as if it were dead or paused.
  std::unique_ptr<Running> Freeze(const Running& replica) {
    const auto found = std::ranges::find(running_, &replica, &std::unique_ptr<Running>::get);
    std::unique_ptr<Running> frozen = std::move(*found);
    running_.erase(found);
    return frozen;
  }

  /// Runs all servers until none has anything to do.
  void Run() {
    for (int rounds = 0; rounds < 100'000; ++rounds) {
      bool any = false;
      for (const auto& replica : running_) {
        any |= replica->follower.Pump();
        any |= replica->controllers->Pump();
      }
      if (!any) return;
    }
    FAIL() << "the controllers do not come to rest";
  }
  void Advance(std::chrono::nanoseconds by) {
    store_.clock.Advance(by);
    Run();
  }

  void Create(Running& replica, const registry::Target& target, Value object) {
    std::optional<base::Result<registry::Outcome>> answer;
    replica.with_hooks.registry.Create(
        target, std::move(object), {},
        [&answer](base::Result<registry::Outcome> outcome) { answer = std::move(outcome); });
    Run();
    ASSERT_TRUE(answer);
    EXPECT_TRUE(*answer) << allocation::testing::Text(*answer);
  }
  void Create(Running& replica, const registry::Target& target, const std::string& text) {
    Value object = allocation::testing::Parse(target.served, text);
    if (!target.name_space.empty()) {
      codec::SetAt(object, {"metadata", "namespace"}, target.name_space);
    }
    Create(replica, target, std::move(object));
  }
  void MakeRange(Running& replica, const std::string& name, const std::string& range) {
    Create(replica, replica.At(api::kIpRangeKind, "", name),
           "{'metadata':{'name':'" + name + "'},'spec':{'range':'" + range + "'}}");
  }
  void Serve(Running& replica, const std::string& name, const std::string& address) {
    Create(replica, replica.At(api::kServiceKind, "default", name),
           "{'metadata':{'name':'" + name + "'},'spec':{'clusterIP':'" + address +
               "','ports':[{'port':80}]}}");
  }
  static Value Range(const Running& replica, const std::string& name) {
    return replica.Get(replica.At(api::kIpRangeKind, "", name)).value_or(codec::Object());
  }
  static int64_t Used(const Running& replica, const std::string& range) {
    return codec::IntAt(Range(replica, range), "status", "used");
  }
  static bool HasBand(const Running& replica, const std::string& range) {
    return codec::HasAt(Range(replica, range), "status", "bands", "static");
  }
  static std::string Version(const Running& replica, const std::string& range) {
    return std::string(StringAt(Range(replica, range), "metadata", "resourceVersion"));
  }
  static std::string Holder(const Running& replica) {
    const auto lease = replica.Get(replica.At(api::kLeaseKind, "kube-system", kRangeStatusJob));
    return lease ? std::string(StringAt(*lease, "spec", "holderIdentity")) : "";
  }
  /// Returns the reason and message of the condition ReplicasAgree, or an empty text if the range
  /// does not have it.
  static std::string Disagreement(const Value& range) {
    for (const Value& condition : codec::ArrayAt(range, "status", "conditions")) {
      if (StringAt(condition, "type") != "ReplicasAgree") continue;
      EXPECT_EQ(StringAt(condition, "status"), "False");
      return std::string(StringAt(condition, "reason")) + ": " +
             std::string(StringAt(condition, "message"));
    }
    return "";
  }
  static std::vector<std::string> Skew(const Running& replica, const std::string& id) {
    const auto object = replica.Get(replica.At(api::kReplicaKind, "", id));
    return object ? codec::Texts(codec::ArrayAt(*object, "status", "skew"))
                  : std::vector<std::string>{"gone"};
  }

  state::testing::TestStore store_;
  base::Logger log_{{.sink = [](std::string_view) {}}, store_.clock};
  std::vector<std::unique_ptr<Running>> running_;
};

TEST_F(ReplicasTest, OneWritesTheStatusAndTheOtherFollows) {
  Running& one = Start("one", {});
  Running& two = Start("two", {.static_ips = false});
  MakeRange(two, "a", "10.50.0.0/24");
  EXPECT_FALSE(HasBand(one, "a")) << "a change writes the status of the server that makes it";
  for (int i = 0; i < 3; ++i) Advance(seconds(1));
  EXPECT_EQ(Holder(two), "one");
  EXPECT_TRUE(HasBand(two, "a"));
  for (int round = 1; round <= 8; ++round) {
    const std::string number = std::to_string(round);
    Serve(round % 2 == 0 ? one : two, "s" + number, "10.50.0." + number);
    Advance(seconds(1));
    const std::string version = Version(two, "a");
    EXPECT_EQ(Used(two, "a"), round);
    EXPECT_TRUE(HasBand(two, "a"));
    for (int i = 0; i < 3; ++i) Advance(seconds(1));
    EXPECT_EQ(Version(two, "a"), version) << "the other server does not write its own";
  }
}

TEST_F(ReplicasTest, AnotherTakesOverWhenTheHolderDies) {
  Running& one = Start("one", {});
  Running& two = Start("two", {.static_ips = false});
  MakeRange(one, "a", "10.50.0.0/24");
  for (int i = 0; i < 30; ++i) Advance(seconds(1));
  EXPECT_EQ(Holder(two), "one") << "it renews its lease";
  auto paused = Freeze(one);
  Serve(two, "s", "10.50.0.3");
  for (int i = 0; i < 3; ++i) Advance(seconds(1));
  EXPECT_EQ(Used(two, "a"), 0) << "not yet";
  for (int i = 0; i < 5; ++i) Advance(seconds(1));
  EXPECT_EQ(Holder(two), "two");
  EXPECT_EQ(Used(two, "a"), 1);
  EXPECT_FALSE(HasBand(two, "a"));
  const std::string version = Version(two, "a");
  running_.push_back(std::move(paused));
  for (int i = 0; i < 10; ++i) Advance(seconds(1));
  EXPECT_EQ(Holder(two), "two");
  EXPECT_EQ(Version(two, "a"), version) << "the one that wakes up follows";
}

TEST_F(ReplicasTest, AHolderThatEndsIsFollowedAtOnce) {
  Running& one = Start("one", {});
  Running& two = Start("two", {});
  for (int i = 0; i < 3; ++i) Advance(seconds(1));
  EXPECT_EQ(Holder(two), "one");
  const auto ended = Freeze(one);
  store_.Delete("/registry/berth.io/replicas/one");
  Advance(seconds(1));
  EXPECT_EQ(Holder(two), "two");
}

TEST_F(ReplicasTest, ARegistrationThatWasDeletedComesBack) {
  Running& one = Start("one", {});
  store_.Delete("/registry/berth.io/replicas/one");
  Run();
  EXPECT_TRUE(one.Get(one.At(api::kReplicaKind, "", "one")));
}

TEST_F(ReplicasTest, AServerThatHasTheStoreAloneWritesNoLease) {
  Running& one = Start("one", {}, /*shared=*/false);
  MakeRange(one, "a", "10.50.0.0/24");
  Serve(one, "s", "10.50.0.3");
  for (int i = 0; i < 10; ++i) Advance(seconds(1));
  EXPECT_EQ(Used(one, "a"), 1);
  EXPECT_EQ(Holder(one), "");
}

TEST_F(ReplicasTest, WhatTheyDisagreeAboutIsSaidWhereItMatters) {
  Running& one = Start("one", {});
  MakeRange(one, "a", "10.50.0.0/24");
  MakeRange(one, "tiny", "10.51.0.0/29");
  MakeRange(one, "six", "fd00::/120");
  for (int i = 0; i < 2; ++i) Advance(seconds(1));
  EXPECT_EQ(Disagreement(Range(one, "a")), "");
  EXPECT_THAT(Skew(one, "one"), IsEmpty());

  Running& two = Start("two", {.static_ips = false, .dual_stack = false});
  for (int i = 0; i < 2; ++i) Advance(seconds(1));
  EXPECT_EQ(Disagreement(Range(two, "a")),
            "GatesDiffer: ServiceIPStaticSubrange is false on replica \"two\" and true on replica "
            "\"one\"");
  EXPECT_EQ(Disagreement(Range(two, "tiny")), "") << "it has no static band";
  EXPECT_THAT(Disagreement(Range(two, "six")),
              AllOf(HasSubstr("ServiceIPStaticSubrange is"),
                    HasSubstr("; IPv6DualStack is false on replica \"two\" and true on")));
  const auto ports = two.Get(two.At(api::kNodePortRangeKind, "", "allocator.nodeport.k8s.io"));
  EXPECT_EQ(Disagreement(ports.value_or(codec::Object())), "");
  EXPECT_THAT(Skew(two, "one"), ElementsAre("IPv6DualStack=true", "ServiceIPStaticSubrange=true"));
  EXPECT_THAT(Skew(two, "two"),
              ElementsAre("IPv6DualStack=false", "ServiceIPStaticSubrange=false"));

  MakeRange(two, "new", "10.52.0.0/24");
  EXPECT_THAT(Disagreement(Range(one, "new")), HasSubstr("ServiceIPStaticSubrange"));

  const auto ended = Freeze(two);
  store_.Delete("/registry/berth.io/replicas/two");
  for (int i = 0; i < 2; ++i) Advance(seconds(1));
  for (const char* name : {"a", "six", "new"}) EXPECT_EQ(Disagreement(Range(one, name)), "");
  EXPECT_THAT(Skew(one, "one"), IsEmpty());
}

}  // namespace
}  // namespace berth::controllers
