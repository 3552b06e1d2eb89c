#include "controllers/facts.h"

#include <gtest/gtest.h>

#include <string>

#include "controllers/testing/controllers_kit.h"

namespace berth::controllers {
namespace {

using testing::Owner;

class FactsTest : public testing::ControllersTest {
 protected:
  state::ObjectPtr Find(const registry::Target& target) const {
    return follower_->Current()->Find(
        resources_.Key(target.served.row->resource, target.name_space, target.name));
  }
  std::optional<Facts> Read(const registry::Target& target) const {
    return reader_.Read(*Find(target));
  }
  OwnerState StateOf(const registry::Target& target, size_t place = 0) const {
    return reader_.StateOf(Read(target)->owners[place], *follower_->Current());
  }

  std::string undecodable_ = {};
  const FactReader reader_{kinds_, resources_,
                           [this](std::string_view key) { return key == undecodable_; }};
};

TEST_F(FactsTest, OfAnObject) {
  Make(Service("a"));
  EXPECT_EQ(Read(Service("a")), std::nullopt);
  EXPECT_EQ(controllers::UidOf(*Find(Service("a"))), UidOf(Service("a")));
  Make(Service("b"), {{.name = "a", .blocking = true}, {.name = "a", .uid = "other"}});
  const Facts expected{.uid = UidOf(Service("b")),
                       .owners = {{.owner = "/registry/services/specs/shop/a",
                                   .uid = UidOf(Service("a")),
                                   .blocking = true},
                                  {.owner = "/registry/services/specs/shop/a", .uid = "other"}}};
  EXPECT_EQ(Read(Service("b")), expected);
  EXPECT_EQ(controllers::UidOf(*Find(Service("b"))), UidOf(Service("b")));
  EXPECT_EQ(reader_.TargetOf(*Find(Service("b"))).name_space, "shop");
}

TEST_F(FactsTest, LabelsThatLookLikeFieldsAreNone) {
  Make(Service("a"));
  Change(Service("a"), [](codec::Value& object) {
    for (const char* key : {"uid", "ownerReferences", "deletionTimestamp", "orphan"}) {
      codec::SetAt(object, {"metadata", "labels", key}, "x");
    }
  });
  EXPECT_EQ(Read(Service("a")), std::nullopt);
  EXPECT_EQ(controllers::UidOf(*Find(Service("a"))), UidOf(Service("a")));
  Make(Service("b"), {{.name = "a"}});
  EXPECT_EQ(StateOf(Service("b")), OwnerState::kSolid);
}

TEST_F(FactsTest, WhatItWaitsFor) {
  using registry::Propagation;
  Make(Service("a"), {}, {"example.com/x"});
  Delete(Service("a"));
  EXPECT_EQ(Read(Service("a")), (Facts{.uid = UidOf(Service("a")), .deleted = true}));
  for (const auto& [propagation, waits, state] :
       {std::tuple(Propagation::kForeground, Waits::kForeground, OwnerState::kWaiting),
        std::tuple(Propagation::kOrphan, Waits::kOrphan, OwnerState::kOrphaning)}) {
    const std::string name = waits == Waits::kOrphan ? "orphan" : "foreground";
    Make(Service(name), {}, {"example.com/x"});
    Make(Service(name + "-2"), {{.name = name}});
    EXPECT_EQ(StateOf(Service(name + "-2")), OwnerState::kSolid);
    Delete(Service(name), propagation);
    EXPECT_EQ(Read(Service(name))->waits, waits);
    EXPECT_EQ(StateOf(Service(name + "-2")), state);
  }
  // A finalizer alone is not a request.
  Make(Service("kept"), {}, {"orphan"});
  EXPECT_EQ(Read(Service("kept")), std::nullopt);
}

TEST_F(FactsTest, Owners) {
  Make(Service("a"));
  const registry::Target lease = At("coordination.k8s.io/leases", "shop", "l");
  Make(lease);
  const std::string shop = UidOf(At("namespaces", "", "shop"));
  Make(
      Service("b"),
      {{.name = "a"},
       {.name = "a", .uid = "old"},
       {.name = "none", .uid = "x"},
       {.name = "a", .uid = "x", .kind = "Deployment", .api_version = "apps/v1"},
       {.name = "a", .uid = "x", .kind = "Service", .api_version = "v2"},
       {.name = "e", .uid = "x", .kind = "Event", .api_version = "events.k8s.io/v1"},
       {.name = "shop", .uid = shop, .kind = "Namespace"},
       {.name = "l", .uid = UidOf(lease), .kind = "Lease", .api_version = "coordination.k8s.io/v1"},
       {.name = "../../namespaces/shop", .uid = shop}});
  const OwnerState expected[] = {OwnerState::kSolid,   OwnerState::kAbsent,  OwnerState::kAbsent,
                                 OwnerState::kUnknown, OwnerState::kUnknown, OwnerState::kUnknown,
                                 OwnerState::kSolid,   OwnerState::kSolid,   OwnerState::kAbsent};
  for (size_t i = 0; i < std::size(expected); ++i) {
    EXPECT_EQ(StateOf(Service("b"), i), expected[i]) << i;
  }
  // An object that cannot be decoded may exist.
  undecodable_ = "/registry/services/specs/shop/none";
  EXPECT_EQ(StateOf(Service("b"), 2), OwnerState::kUnknown);
}

TEST_F(FactsTest, OwnersByTheNameOfAView) {
  const registry::Target address = At("networking.k8s.io/ipaddresses", "", "192.0.2.1");
  Must(Create(address,
              "{'metadata':{'name':'192.0.2.1'},'spec':{'parentRef':{'resource':'routers',"
              "'group':'corp.io','name':'r'}}}"));
  const auto owner = [&](const char* name, const std::string& uid) {
    return Owner{.name = name,
                 .uid = uid,
                 .kind = "IPAddress",
                 .api_version = "allocation.berth.io/v1alpha1"};
  };
  Make(Service("b"), {owner("3221225985", UidOf(address)), owner("3221225985", "x"),
                      owner("3221225986", "x"), owner("192.0.2.1", UidOf(address))});
  EXPECT_EQ(StateOf(Service("b"), 0), OwnerState::kSolid);
  EXPECT_EQ(StateOf(Service("b"), 1), OwnerState::kAbsent);
  EXPECT_EQ(StateOf(Service("b"), 2), OwnerState::kAbsent);
  EXPECT_EQ(StateOf(Service("b"), 3), OwnerState::kUnknown);
}

TEST_F(FactsTest, AcrossScopes) {
  Make(Service("a"));
  Must(Create(At("namespaces", "", ""), "{'metadata':{'name':'other'}}"));
  const registry::Target elsewhere = At("services", "other", "b");
  Make(elsewhere, {{.name = "a"}});
  EXPECT_EQ(StateOf(elsewhere), OwnerState::kAbsent);  // The owner is looked up in the dependent's
                                                       // namespace.
  const registry::Target cluster = At("namespaces", "", "owned");
  Make(cluster, {{.name = "a"}, {.name = "shop", .uid = "x", .kind = "Namespace"}});
  EXPECT_EQ(StateOf(cluster, 0), OwnerState::kUnknown);
  EXPECT_EQ(StateOf(cluster, 1), OwnerState::kAbsent);
}

TEST_F(FactsTest, EventsAreExempt) {
  const registry::Target event = At("events", "shop", "e");
  Make(event, {{.name = "gone", .uid = "x"}});
  EXPECT_EQ(Read(event), std::nullopt);
}

}  // namespace
}  // namespace berth::controllers
