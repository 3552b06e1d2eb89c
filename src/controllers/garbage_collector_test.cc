#include "controllers/garbage_collector.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "codec/storage.h"
#include "controllers/testing/controllers_kit.h"

namespace berth::controllers {
namespace {

using registry::Propagation;
using registry::Target;
using std::chrono::seconds;
using testing::Owner;

class GarbageCollectorTest : public testing::ControllersTest {
 protected:
  Target Lease(std::string name) const {
    return At("coordination.k8s.io/leases", "shop", std::move(name));
  }
};

TEST_F(GarbageCollectorTest, DependentsOfWhatIsGoneGo) {
  Make(Service("a"));
  Make(Service("b"), {{.name = "a"}});
  Make(Service("c"), {{.name = "b"}});
  Make(Lease("l"), {{.name = "c"}});
  Make(Service("free"));
  Run();
  EXPECT_EQ(Services(), "a b c free");
  Delete(Service("a"));
  Run();
  EXPECT_EQ(Services(), "free");
  EXPECT_FALSE(Exists(Lease("l")));
}

TEST_F(GarbageCollectorTest, WhoHasAnOwnerLeftLosesTheOthers) {
  Make(Service("a"));
  Make(Service("b"));
  Make(Service("c"), {{.name = "a"}, {.name = "gone", .uid = "x"}, {.name = "b"}});
  Run();
  EXPECT_EQ(OwnersOf(Service("c")), "a b");
  Delete(Service("a"));
  Run();
  EXPECT_EQ(OwnersOf(Service("c")), "b");
  Delete(Service("b"));
  Run();
  EXPECT_EQ(Services(), "");
}

TEST_F(GarbageCollectorTest, AnotherObjectOfTheSameNameIsNotTheOwner) {
  Make(Service("a"));
  Make(Service("b"), {{.name = "a"}});
  Make(Service("c"), {{.name = "a", .uid = "another"}});
  Run();
  EXPECT_EQ(Services(), "a b");
  Delete(Service("a"));
  Make(Service("a"));  // Before the first pass.
  Run();
  EXPECT_EQ(Services(), "a");
}

TEST_F(GarbageCollectorTest, AnOwnerThatIsHeldIsThere) {
  Make(Service("a"), {}, {"example.com/x"});
  Make(Service("b"), {{.name = "a", .blocking = true}});
  Delete(Service("a"), Propagation::kBackground);
  Run();
  EXPECT_EQ(Services(), "a b");
  Release(Service("a"));
  Run();
  EXPECT_EQ(Services(), "");
}

TEST_F(GarbageCollectorTest, WhatNobodyCanLookUpIsNotTakenForAbsent) {
  const Owner deployment{.name = "d", .uid = "x", .kind = "Deployment", .api_version = "apps/v1"};
  Make(Service("a"), {deployment});
  Make(Service("b"), {deployment, {.name = "gone", .uid = "y"}});
  Run();
  Advance(seconds(100));
  EXPECT_EQ(Services(), "a b");
  EXPECT_EQ(OwnersOf(Service("b")), "d gone");
  // But it does not hold up an owner that waits for it.
  Make(Service("owner"));
  Make(Service("c"), {deployment, {.name = "owner", .blocking = true}});
  Delete(Service("owner"), Propagation::kForeground);
  Run();
  EXPECT_EQ(Services(), "a b c");
  EXPECT_EQ(OwnersOf(Service("c")), "d");
}

TEST_F(GarbageCollectorTest, AcrossScopes) {
  Make(Service("a"));
  Must(Create(At("namespaces", "", ""), "{'metadata':{'name':'other'}}"));
  const Target elsewhere = At("services", "other", "b");
  const Target cluster = At("namespaces", "", "owned");
  const std::string uid = UidOf(At("namespaces", "", "other"));
  Make(elsewhere, {{.name = "a"}});  // No such owner exists in its namespace.
  Make(cluster, {{.name = "none", .uid = "x"}});
  Make(Service("c"), {{.name = "other", .uid = uid, .kind = "Namespace"}});
  Run();
  EXPECT_FALSE(Exists(elsewhere));
  EXPECT_TRUE(Exists(cluster));
  EXPECT_EQ(Services(), "a c");
  Delete(At("namespaces", "", "other"));
  Run();
  EXPECT_EQ(Services(), "a");
}

TEST_F(GarbageCollectorTest, NamespacesCanBeOwned) {
  const Target owner = At("namespaces", "", "owner");
  const Target owned = At("namespaces", "", "owned");
  Make(owner);
  Make(owned, {{.name = "owner", .uid = UidOf(owner), .blocking = true, .kind = "Namespace"}});
  Make(At("services", "owned", "a"));
  Delete(owner, Propagation::kForeground);
  Run();
  EXPECT_FALSE(Exists(owned));
  EXPECT_FALSE(Exists(owner));
  EXPECT_EQ(Names("services", "owned"), "");
}

TEST_F(GarbageCollectorTest, EventsAreExempt) {
  const Target event = At("events", "shop", "e");
  Make(Service("a"));
  Make(event, {{.name = "a", .blocking = true}});
  Make(Service("b"),
       {{.name = "e", .uid = UidOf(event), .kind = "Event", .api_version = "events.k8s.io/v1"}});
  Delete(Service("a"), Propagation::kForeground);
  Delete(event);
  Run();
  EXPECT_EQ(Services(), "b");
  Make(event, {{.name = "gone", .uid = "x"}});
  Run();
  EXPECT_TRUE(Exists(event));
}

TEST_F(GarbageCollectorTest, TheForegroundWaitsForThoseThatBlock) {
  Make(Service("a"));
  Make(Service("b"), {{.name = "a", .blocking = true}}, {"example.com/x"});
  Make(Service("c"), {{.name = "a", .blocking = true}});
  Make(Service("d"), {{.name = "a"}}, {"example.com/x"});
  Delete(Service("a"), Propagation::kForeground);
  Run();
  EXPECT_EQ(Services(), "a b d");
  EXPECT_TRUE(codec::HasAt(*Get(Service("d")), "metadata", "deletionTimestamp"));
  Release(Service("b"));
  Run();
  EXPECT_EQ(Services(), "d");
  Release(Service("d"));
  Run();
  EXPECT_EQ(Services(), "");
}

TEST_F(GarbageCollectorTest, TheForegroundGoesDownAllLevels) {
  Make(Service("a"));
  Make(Service("b"), {{.name = "a", .blocking = true}});
  Make(Service("c"), {{.name = "b", .blocking = true}}, {"example.com/x"});
  Delete(Service("a"), Propagation::kForeground);
  Run();
  EXPECT_EQ(Services(), "a b c");
  EXPECT_EQ(codec::Texts(codec::ArrayAt(*Get(Service("b")), "metadata", "finalizers")),
            std::vector<std::string>{"foregroundDeletion"});
  Release(Service("c"));
  Run();
  EXPECT_EQ(Services(), "");
}

TEST_F(GarbageCollectorTest, TheForegroundLeavesWhatHasAnotherOwner) {
  Make(Service("a"));
  Make(Service("other"));
  Make(Service("b"), {{.name = "a", .blocking = true}, {.name = "other", .blocking = true}});
  Delete(Service("a"), Propagation::kForeground);
  Run();
  EXPECT_EQ(Services(), "b other");
  EXPECT_EQ(OwnersOf(Service("b")), "other");
}

TEST_F(GarbageCollectorTest, WithoutDependentsTheForegroundEndsAtOnce) {
  Make(Service("a"));
  Delete(Service("a"), Propagation::kForeground);
  Make(Service("b"), {}, {"example.com/x"});
  Delete(Service("b"), Propagation::kForeground);
  Run();
  EXPECT_EQ(Services(), "b");
  EXPECT_EQ(codec::Texts(codec::ArrayAt(*Get(Service("b")), "metadata", "finalizers")),
            std::vector<std::string>{"example.com/x"});
}

TEST_F(GarbageCollectorTest, OrphansLoseTheirOwner) {
  Make(Service("a"));
  Make(Service("b"), {{.name = "a", .blocking = true}});
  Make(Lease("l"), {{.name = "a"}});
  Make(Service("c"), {{.name = "b"}});
  Delete(Service("a"), Propagation::kOrphan);
  Run();
  EXPECT_EQ(Services(), "b c");
  EXPECT_EQ(OwnersOf(Service("b")), "");
  EXPECT_EQ(OwnersOf(Lease("l")), "");
  EXPECT_EQ(OwnersOf(Service("c")), "b");
  Advance(seconds(100));
  EXPECT_EQ(Services(), "b c");
}

TEST_F(GarbageCollectorTest, AnObjectsOwnWordOnItsDependentsIsHonoured) {
  Make(Service("a"));
  Make(Service("b"), {{.name = "a"}}, {"orphan"});
  Make(Service("c"), {{.name = "b"}});
  Delete(Service("a"));
  Run();
  EXPECT_EQ(Services(), "c");
  EXPECT_EQ(OwnersOf(Service("c")), "");
}

TEST_F(GarbageCollectorTest, CirclesDoNotHoldThemselves) {
  Make(Service("a"));
  Make(Service("b"), {{.name = "a", .blocking = true}});
  Make(Service("c"), {{.name = "b", .blocking = true}});
  Change(Service("a"), [&](codec::Value& object) {
    codec::SetAt(object, {"metadata", "ownerReferences"},
                 References({{.name = "c", .blocking = true}}));
  });
  Run();
  EXPECT_EQ(Services(), "a b c");
  Delete(Service("a"), Propagation::kForeground);
  Run();
  EXPECT_EQ(Services(), "");
}

TEST_F(GarbageCollectorTest, CirclesDeletedAllAtOnce) {
  Make(Service("a"));
  Make(Service("b"), {{.name = "a", .blocking = true}});
  for (const char* name : {"a", "self"}) {
    if (name != std::string("a")) Make(Service(name));
    Change(Service(name), [&](codec::Value& object) {
      codec::SetAt(object, {"metadata", "ownerReferences"},
                   References({{.name = name == std::string("a") ? "b" : name, .blocking = true}}));
    });
  }
  for (const char* name : {"a", "b", "self"}) Delete(Service(name), Propagation::kForeground);
  Run();
  EXPECT_EQ(Services(), "");
}

TEST_F(GarbageCollectorTest, WhoIsLetGoIsNotHeldByWhoWaitsForIt) {
  Make(Service("a"));
  Make(Service("b"), {{.name = "a", .blocking = true}});
  Change(Service("a"), [&](codec::Value& object) {
    codec::SetAt(object, {"metadata", "ownerReferences"},
                 References({{.name = "b", .blocking = true}}));
  });
  Delete(Service("a"), Propagation::kOrphan);
  Delete(Service("b"), Propagation::kForeground);
  Run();
  EXPECT_EQ(Services(), "");
}

TEST_F(GarbageCollectorTest, WhatWasThereBeforeTheStart) {
  Make(Service("a"));
  Make(Service("b"), {{.name = "a", .blocking = true}});
  Make(Service("c"), {{.name = "gone", .uid = "x"}});
  Make(Service("d"));
  Make(Service("e"), {{.name = "d"}});
  Delete(Service("a"), Propagation::kForeground);
  Delete(Service("d"), Propagation::kOrphan);
  Restart();
  Run();
  EXPECT_EQ(Services(), "e");
}

TEST_F(GarbageCollectorTest, WhoHasMissedChangesBeginsAnew) {
  Make(Service("a"));
  Make(Service("b"), {{.name = "a"}});
  Run();
  Delete(Service("a"));
  for (int i = 0; i < 3; ++i) {
    store_.LoseHistory();
    PumpAll();
  }
  Run();
  EXPECT_EQ(Services(), "");
}

TEST_F(GarbageCollectorTest, AnErrorHoldsUpNobodyElseAndIsTriedAgain) {
  for (const base::Reason reason : {base::Reason::kForbidden, base::Reason::kConflict}) {
    bool refuse = true;
    int refused = 0;
    SetAdmit([&](const Target& target, const codec::Value*,
                 const codec::Value* next) -> std::optional<base::Error> {
      if (!refuse || next != nullptr || target.name != "b") return std::nullopt;
      ++refused;
      return base::Error{.reason = reason, .message = "not today"};
    });
    for (const char* name : {"a", "b", "c"}) Make(Service(name), {{.name = "gone", .uid = "x"}});
    Run();
    EXPECT_EQ(Services(), "b");
    for (int i = 0; i < 20; ++i) Advance(seconds(60));
    EXPECT_EQ(Services(), "b");
    EXPECT_LT(refused, 40);  // It is tried again with pauses in between.
    refuse = false;
    Advance(seconds(60));
    EXPECT_EQ(Services(), "");
  }
}

TEST_F(GarbageCollectorTest, WhoIsAdoptedInTimeStays) {
  // A delete is decided, and before it is committed a client gives the object an owner.
  Make(Service("a"));
  Make(Service("b"), {{.name = "gone", .uid = "x"}});
  bool adopted = false;
  SetAdmit([&](const Target& target, const codec::Value*,
               const codec::Value* next) -> std::optional<base::Error> {
    if (next != nullptr || target.name != "b" || adopted) return std::nullopt;
    adopted = true;
    const state::ObjectPtr now =
        follower_->Current()->Find(resources_.Key(target.served.row->resource, "shop", "b"));
    auto object = registry::Registry::Decode(*target.served.row, *now);
    codec::SetAt(*object, {"metadata", "ownerReferences"}, References({{.name = "a"}}));
    store_.Put(now->Key(), codec::EncodeStored(*object, *target.served.row->kind));
    return std::nullopt;
  });
  Run();
  EXPECT_TRUE(adopted);
  EXPECT_EQ(Services(), "a b");
}

TEST_F(GarbageCollectorTest, WhoTakesAnothersPlaceIsLookedAtToo) {
  // While an object's references are being written, another object replaces it under the same name.
  // The owners of that one no longer exist either.
  Make(Service("a"));
  Make(Service("b"), {{.name = "a"}, {.name = "gone", .uid = "x"}});
  controllers_.reset();
  registry_with_hooks_.reset();
  std::vector<std::function<void()>> second_tries;
  sequencer_ = std::make_unique<commit::Sequencer>(
      commit::SequencerParts{*store_.engine, *follower_, resources_, store_.clock, *follower_},
      commit::SequencerOptions{
          .run = [&](const std::function<void()>& work) { second_tries.push_back(work); }});
  MakeRegistry(2);
  Restart();
  bool replaced = false;
  SetAdmit([&](const Target& target, const codec::Value* old,
               const codec::Value* next) -> std::optional<base::Error> {
    if (next == nullptr || target.name != "b" || replaced) return std::nullopt;
    replaced = true;
    codec::Value object = *old;
    codec::SetAt(object, {"metadata", "uid"}, "another");
    codec::SetAt(object, {"metadata", "ownerReferences"},
                 References({{.name = "gone", .uid = "x"}}));
    store_.Put(resources_.Key(target.served.row->resource, "shop", "b"),
               codec::EncodeStored(object, *target.served.row->kind));
    return std::nullopt;
  });
  Run();  // The new object is seen, and the write has no answer yet.
  ASSERT_TRUE(replaced);
  ASSERT_EQ(Services(), "a b");
  ASSERT_EQ(second_tries.size(), 1U);
  second_tries.front()();
  Run();
  EXPECT_EQ(Services(), "a");
}

TEST_F(GarbageCollectorTest, ManyDependents) {
  Make(Service("a"));
  Make(Service("b"));
  for (int i = 0; i < 1000; ++i) {
    Make(Service("d" + std::to_string(i)), {{.name = i % 2 == 0 ? "a" : "b", .blocking = true}});
  }
  Run();
  Delete(Service("a"), Propagation::kForeground);
  Delete(Service("b"), Propagation::kOrphan);
  Run();
  EXPECT_FALSE(Exists(Service("a")));
  EXPECT_FALSE(Exists(Service("b")));
  EXPECT_EQ(follower_->Current()->Count("/registry/services/specs/"), 500U);
}

}  // namespace
}  // namespace berth::controllers
