#include "controllers/namespace_terminator.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "controllers/testing/controllers_kit.h"

namespace berth::controllers {
namespace {

using registry::Door;
using registry::Propagation;
using registry::Target;
using std::chrono::milliseconds;
using std::chrono::seconds;

class NamespaceTerminatorTest : public testing::ControllersTest {
 protected:
  Target Shop() const { return At("namespaces", "", "shop"); }
  Target Lease(std::string name) const {
    return At("coordination.k8s.io/leases", "shop", std::move(name));
  }
  /// Returns the message of one of the namespace's conditions.
  std::string Condition(std::string_view type) const {
    const codec::Value shop = Get(Shop()).value_or(codec::Object());
    for (const codec::Value& each : codec::ArrayAt(shop, "status", "conditions")) {
      if (codec::StringAt(each, "type") == type) {
        return std::string(codec::StringAt(each, "message"));
      }
    }
    return "none";
  }
};

TEST_F(NamespaceTerminatorTest, AnEmptyOneGoesAtOnce) {
  Run();
  Delete(Shop());
  EXPECT_TRUE(Exists(Shop()));
  Run();
  EXPECT_FALSE(Exists(Shop()));
}

TEST_F(NamespaceTerminatorTest, WhatIsInItGoesFirst) {
  Must(Create(At("namespaces", "", ""), "{'metadata':{'name':'shop-2'}}"));
  const Target other = At("services", "shop-2", "a");
  Make(other);
  Make(Lease("l"));
  Make(At("events", "shop", "e"));
  for (int i = 0; i < 3000; ++i) Make(Service("s" + std::to_string(i)));
  Delete(Shop());
  Run();
  EXPECT_FALSE(Exists(Shop()));
  EXPECT_EQ(Services(), "");
  EXPECT_EQ(Names("events", "shop"), "");
  EXPECT_FALSE(Exists(Lease("l")));
  EXPECT_TRUE(Exists(other));
  // The name can be used for a new namespace.
  Make(Shop());
  Make(Service("a"));
  Run();
  EXPECT_EQ(Services(), "a");
}

TEST_F(NamespaceTerminatorTest, WhatIsHeldIsWaitedForAndNamed) {
  Make(Service("free"));
  Make(Service("a"), {}, {"example.com/x", "example.com/y"});
  Make(Service("b"), {}, {"example.com/x"});
  Make(Lease("l"), {}, {"example.com/x"});
  Delete(Shop());
  Run();
  EXPECT_EQ(Services(), "a b");
  EXPECT_EQ(Condition("NamespaceContentRemaining"),
            "Some resources are remaining: leases.coordination.k8s.io has 1 resource instances, "
            "services. has 2 resource instances");
  EXPECT_EQ(Condition("NamespaceFinalizersRemaining"),
            "Some content in the namespace has finalizers remaining: example.com/x in 3 resource "
            "instances, example.com/y in 1 resource instances");
  EXPECT_EQ(Condition("NamespaceDeletionContentFailure"),
            "All content successfully deleted, may be waiting on finalization");
  EXPECT_EQ(codec::StringAt(*Get(Shop()), "status", "phase"), "Terminating");

  // The conditions follow the state, though not at every moment.
  Release(Service("a"));
  Release(Lease("l"));
  Run();
  Advance(seconds(1));
  EXPECT_EQ(Condition("NamespaceContentRemaining"),
            "Some resources are remaining: services. has 1 resource instances");
  for (int i = 0; i < 3; ++i) Advance(seconds(60));  // What every cluster has is created by then.
  const int64_t before = Revision();
  for (int i = 0; i < 20; ++i) Advance(seconds(60));
  EXPECT_EQ(Revision(), before);

  // After the last object the namespace is removed at once.
  Release(Service("b"));
  Run();
  EXPECT_FALSE(Exists(Shop()));
}

TEST_F(NamespaceTerminatorTest, WhatWaitsForDependentsNeedNot) {
  Make(Service("a"));
  Make(Service("b"), {{.name = "a", .blocking = true}}, {"example.com/x"});
  Delete(Service("a"), Propagation::kForeground);
  Run();
  EXPECT_EQ(Services(), "a b");
  Delete(Shop());
  Run();
  EXPECT_EQ(Services(), "b");
}

TEST_F(NamespaceTerminatorTest, FinalizersOfOthersAreTheirs) {
  Make(At("namespaces", "", "held"), {}, {"example.com/meta"});
  const Target held = At("namespaces", "", "held");
  Change(
      held,
      [](codec::Value& object) {
        codec::SetAt(object, {"spec", "finalizers"},
                     codec::Array{"kubernetes", "example.com/spec"});
      },
      Door::kFinalize);
  Make(At("services", "held", "a"));
  Delete(held);
  Run();
  EXPECT_EQ(Names("services", "held"), "");
  ASSERT_TRUE(Exists(held));
  EXPECT_EQ(codec::Texts(codec::ArrayAt(*Get(held), "spec", "finalizers")),
            std::vector<std::string>{"example.com/spec"});
  // The condition says that this server has done its part.
  const codec::Value object = *Get(held);
  const codec::Array& conditions = codec::ArrayAt(object, "status", "conditions");
  ASSERT_EQ(conditions.size(), 5U);
  for (const codec::Value& each : conditions) EXPECT_EQ(codec::StringAt(each, "status"), "False");
  Change(
      held, [](codec::Value& value) { codec::EraseAt(value, {"spec", "finalizers"}); },
      Door::kFinalize);
  Run();
  EXPECT_TRUE(Exists(held));
  Release(held);
  Run();
  EXPECT_FALSE(Exists(held));
}

TEST_F(NamespaceTerminatorTest, WithoutFinalizersWhatIsInItGoesFirstToo) {
  Change(
      Shop(), [](codec::Value& value) { codec::EraseAt(value, {"spec", "finalizers"}); },
      Door::kFinalize);
  Make(Service("a"));
  Make(Service("held"), {}, {"example.com/x"});
  Delete(Shop());
  Run();
  EXPECT_EQ(Services(), "held");
  EXPECT_TRUE(Exists(Shop()));
  Release(Service("held"));
  Run();
  EXPECT_FALSE(Exists(Shop()));
}

TEST_F(NamespaceTerminatorTest, ItGoesOnAfterARestart) {
  for (int i = 0; i < 2000; ++i) Make(Service("s" + std::to_string(i)));
  Make(Service("held"), {}, {"example.com/x"});
  Run();
  Delete(Shop());
  for (int i = 0; i < 3; ++i) {
    controllers_->Pump();
    PumpAll();
  }
  const size_t left = follower_->Current()->Count("/registry/services/specs/");
  EXPECT_LT(left, 2001U);
  EXPECT_GT(left, 1U);
  Restart();
  Run();
  EXPECT_EQ(Services(), "held");
  Restart();
  Release(Service("held"));
  Run();
  EXPECT_FALSE(Exists(Shop()));
}

TEST_F(NamespaceTerminatorTest, WhoHasMissedChangesBeginsAnew) {
  Make(Service("held"), {}, {"example.com/x"});
  Delete(Shop());
  Run();
  Release(Service("held"));
  for (int i = 0; i < 3; ++i) {
    store_.LoseHistory();
    PumpAll();
  }
  Run();
  EXPECT_FALSE(Exists(Shop()));
}

TEST_F(NamespaceTerminatorTest, WhatCannotBeDeletedIsSaidAndTriedAgain) {
  bool refuse = true;
  int refused = 0;
  SetAdmit([&](const Target& target, const codec::Value*,
               const codec::Value* next) -> std::optional<base::Error> {
    if (!refuse || next != nullptr || target.name != "b") return std::nullopt;
    ++refused;
    return base::Error{.reason = base::Reason::kForbidden, .message = "not today"};
  });
  for (const char* name : {"a", "b", "c"}) Make(Service(name));
  Delete(Shop());
  Run();
  EXPECT_EQ(Services(), "b");
  EXPECT_EQ(Condition("NamespaceDeletionContentFailure"),
            "Failed to delete all resource types, 1 remaining: not today");
  for (int i = 0; i < 600; ++i) Advance(seconds(1));
  EXPECT_EQ(Services(), "b");
  EXPECT_GT(refused, 5);
  EXPECT_LT(refused, 30);
  refuse = false;
  Advance(seconds(70));
  EXPECT_FALSE(Exists(Shop()));
}

TEST_F(NamespaceTerminatorTest, ManyWritesAtOnceAndNoMore) {
  for (int i = 0; i < 2000; ++i) Make(Service("s" + std::to_string(i)));
  Run();
  Delete(Shop());
  // Nothing is answered while the follower does not run.
  while (controllers_->Pump()) {
  }
  EXPECT_GE(sequencer_->GetStats().waiting, 256U);
  EXPECT_LE(sequencer_->GetStats().waiting, 1024U);
  Run();
  EXPECT_FALSE(Exists(Shop()));
}

TEST_F(NamespaceTerminatorTest, SeveralEndTogether) {
  for (const char* name : {"one", "two", "three"}) {
    Make(At("namespaces", "", name));
    for (int i = 0; i < 700; ++i) Make(At("services", name, "s" + std::to_string(i)));
  }
  Make(At("services", "one", "held"), {}, {"example.com/x"});
  Run();
  for (const char* name : {"one", "two", "three"}) Delete(At("namespaces", "", name));
  Run();
  EXPECT_TRUE(Exists(At("namespaces", "", "one")));
  EXPECT_EQ(Names("services", "one"), "held");
  EXPECT_FALSE(Exists(At("namespaces", "", "two")));
  EXPECT_FALSE(Exists(At("namespaces", "", "three")));
}

}  // namespace
}  // namespace berth::controllers
