#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "allocation/testing/registry_stack.h"

namespace berth::registry {
namespace {

using allocation::testing::kStart;
using allocation::testing::RegistryTest;
using allocation::testing::Text;
using base::Reason;
using codec::StringAt;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class DeleteTest : public RegistryTest {
 protected:
  void MakeService(const std::string& metadata) { Must(Create(Service(""), Body(metadata))); }
  static std::string Body(const std::string& metadata) {
    return "{'metadata':{" + metadata + "},'spec':{'ports':[{'port':80}]}}";
  }
  std::vector<std::string> Finalizers(const Target& target) const {
    std::vector<std::string> texts;
    const codec::Value object = Get(target).value_or(codec::Object());
    for (const codec::Value& each : codec::ArrayAt(object, "metadata", "finalizers")) {
      texts.push_back(*each.AsString());
    }
    return texts;
  }
};

TEST_F(DeleteTest, WithoutFinalizersItIsGone) {
  MakeService("'name':'a'");
  const Outcome gone = Must(Delete(Service("a")));
  EXPECT_EQ(gone.written.kind, commit::Written::Kind::kDeleted);
  EXPECT_EQ(gone.written.object->Name(), "a") << "the answer shows what was there";
  EXPECT_GT(gone.written.revision, gone.written.object->Revision()) << "a revision of its own";
  const auto again = Delete(Service("a"));
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().reason, Reason::kNotFound);
  EXPECT_EQ(again.error().message, "services \"a\" not found");
}

TEST_F(DeleteTest, FinalizersHoldItUntilTheLastIsGone) {
  MakeService("'name':'a','finalizers':['ex.io/a','ex.io/b'],'generation':3");
  store_.clock.Advance(std::chrono::seconds(10));
  ASSERT_THAT(Text(Delete(Service("a"))), StartsWith("updated"));
  const codec::Value held = *Get(Service("a"));
  EXPECT_EQ(StringAt(held, "metadata", "deletionTimestamp"), "2026-11-15T04:35:10Z");
  EXPECT_EQ(codec::IntAt(held, "metadata", "deletionGracePeriodSeconds"), 0);
  EXPECT_TRUE(codec::HasAt(held, "metadata", "deletionGracePeriodSeconds"));
  EXPECT_EQ(codec::IntAt(held, "metadata", "generation"), 4) << "counted once more";

  store_.clock.Advance(std::chrono::seconds(10));
  EXPECT_THAT(Text(Delete(Service("a"))), StartsWith("unchanged")) << "it is being deleted";
  EXPECT_THAT(Text(Update(Service("a"), Body("'name':'a','finalizers':['ex.io/a','ex.io/c']"))),
              HasSubstr("no new finalizers can be added if the object is being deleted"));
  EXPECT_THAT(Text(Update(Service("a"), Body("'name':'a','finalizers':['ex.io/b']"))),
              StartsWith("updated"));
  EXPECT_EQ(StringAt(*Get(Service("a")), "metadata", "deletionTimestamp"), "2026-11-15T04:35:10Z");

  const int64_t before = Revision();
  const auto last = Update(Service("a"), Body("'name':'a','labels':{'last':'word'}"));
  ASSERT_THAT(Text(last), StartsWith("deleted"));
  const codec::Value shown = Show(Service("a"), *last->written.object);
  EXPECT_EQ(StringAt(shown, "metadata", "labels", "last"), "word");
  EXPECT_FALSE(codec::HasAt(shown, "metadata", "finalizers"));
  EXPECT_EQ(StringAt(shown, "metadata", "resourceVersion"), std::to_string(before))
      << "the version before the end";
  EXPECT_FALSE(Get(Service("a")));
}

TEST_F(DeleteTest, RemovingFinalizersOfWhatIsNotBeingDeletedDeletesNothing) {
  MakeService("'name':'a','finalizers':['ex.io/a']");
  EXPECT_THAT(Text(Update(Service("a"), Body("'name':'a'"))), StartsWith("updated"));
  EXPECT_TRUE(Get(Service("a")));
}

TEST_F(DeleteTest, PreconditionsMustHold) {
  MakeService("'name':'a'");
  const std::string uid(StringAt(*Get(Service("a")), "metadata", "uid"));
  const std::string version(StringAt(*Get(Service("a")), "metadata", "resourceVersion"));
  const auto other = Delete(Service("a"), {.uid = "other"});
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().reason, Reason::kConflict);
  EXPECT_EQ(other.error().message,
            "Operation cannot be fulfilled on Service \"a\": the UID in the precondition (other) "
            "does not match the UID in record (" +
                uid + "). The object might have been deleted and then recreated");
  EXPECT_EQ(other.error().details->kind, "Service");
  EXPECT_EQ(Text(Delete(Service("a"), {.uid = uid, .resource_version = "1"})),
            "Operation cannot be fulfilled on Service \"a\": the ResourceVersion in the "
            "precondition (1) does not match the ResourceVersion in record (" +
                version + "). The object might have been modified");
  EXPECT_TRUE(Get(Service("a")));
  EXPECT_THAT(Text(Delete(Service("a"), {.uid = uid, .resource_version = version})),
              StartsWith("deleted"));
}

TEST_F(DeleteTest, PreconditionsNameTheKindAsItIsStored) {
  const Target lease = At("coordination.k8s.io/leases", "shop", "l");
  Must(Create(lease, "{'metadata':{'name':'l'}}"));
  const auto other = Delete(lease, {.uid = "other"});
  ASSERT_FALSE(other);
  EXPECT_THAT(
      other.error().message,
      StartsWith("Operation cannot be fulfilled on Lease.coordination.k8s.io \"l\": the UID"));
  EXPECT_EQ(other.error().details->kind, "Lease");
  EXPECT_EQ(other.error().details->group, "coordination.k8s.io");

  Must(Create(At("events", "shop", "e"),
              "{'metadata':{'name':'e'},'involvedObject':{'namespace':'shop'}}"));
  const auto event = Delete(At("events.k8s.io/events", "shop", "e"), {.uid = "other"});
  ASSERT_FALSE(event);
  EXPECT_THAT(event.error().message, StartsWith("Operation cannot be fulfilled on Event \"e\": "));
}

TEST_F(DeleteTest, PreconditionsOfNamespacesHaveTheirOwnWords) {
  const Target shop = At("namespaces", "", "shop");
  const std::string uid(StringAt(*Get(shop), "metadata", "uid"));
  const std::string version(StringAt(*Get(shop), "metadata", "resourceVersion"));
  EXPECT_EQ(Text(Delete(shop, {.uid = "other"})),
            "Operation cannot be fulfilled on namespaces \"shop\": Precondition failed: UID in "
            "precondition: other, UID in object meta: " +
                uid);
  EXPECT_EQ(Text(Delete(shop, {.resource_version = "7777"})),
            "Operation cannot be fulfilled on namespaces \"shop\": Precondition failed: "
            "ResourceVersion in precondition: 7777, ResourceVersion in object meta: " +
                version);
}

TEST_F(DeleteTest, ADryRunDeletesNothing) {
  MakeService("'name':'a'");
  MakeService("'name':'held','finalizers':['ex.io/a']");
  const int64_t before = Revision();
  EXPECT_THAT(Text(Delete(Service("a"), {}, {.dry_run = true})), StartsWith("deleted"));
  const auto held = Delete(Service("held"), {}, {.dry_run = true});
  EXPECT_THAT(Text(held), StartsWith("updated"));
  EXPECT_TRUE(
      codec::HasAt(Show(Service("held"), *held->written.object), "metadata", "deletionTimestamp"));
  EXPECT_FALSE(codec::HasAt(*Get(Service("held")), "metadata", "deletionTimestamp"));
  EXPECT_TRUE(Get(Service("a")));
  EXPECT_EQ(Revision(), before);
  EXPECT_EQ(Text(Delete(Service("no"), {}, {.dry_run = true})), "services \"no\" not found");
}

TEST_F(DeleteTest, ForegroundAndOrphanLeaveAFinalizer) {
  MakeService("'name':'f','finalizers':['ex.io/a']");
  MakeService("'name':'o'");
  Must(Delete(Service("f"), {.propagation = Propagation::kForeground}));
  Must(Delete(Service("o"), {.propagation = Propagation::kOrphan}));
  EXPECT_THAT(Finalizers(Service("f")), ElementsAre("ex.io/a", "foregroundDeletion"));
  EXPECT_THAT(Finalizers(Service("o")), ElementsAre("orphan"));
  EXPECT_TRUE(codec::HasAt(*Get(Service("o")), "metadata", "deletionTimestamp"));

  EXPECT_THAT(Text(Delete(Service("o"))), StartsWith("unchanged")) << "as was said before";
  EXPECT_THAT(Text(Delete(Service("f"), {.propagation = Propagation::kForeground})),
              StartsWith("unchanged"));
  Must(Delete(Service("f"), {.propagation = Propagation::kOrphan}));
  EXPECT_THAT(Finalizers(Service("f")), ElementsAre("ex.io/a", "orphan")) << "the last word counts";
  Must(Delete(Service("f"), {.propagation = Propagation::kBackground}));
  EXPECT_THAT(Finalizers(Service("f")), ElementsAre("ex.io/a"));
  EXPECT_THAT(Text(Delete(Service("o"), {.propagation = Propagation::kBackground})),
              StartsWith("deleted"))
      << "nothing holds it any longer";
}

TEST_F(DeleteTest, EventsOwnNothing) {
  const Target event = At("events", "shop", "e");
  for (const Propagation propagation : {Propagation::kForeground, Propagation::kOrphan}) {
    Must(Create(event, "{'metadata':{'name':'e'},'involvedObject':{'namespace':'shop'}}"));
    EXPECT_THAT(Text(Delete(event, {.propagation = propagation})), StartsWith("deleted"));
  }
}

TEST_F(DeleteTest, FinalizersAboutDependentsDoNotHoldEvents) {
  const Target event = At("events", "shop", "e");
  const std::string body = "{'metadata':{'name':'e','finalizers':['orphan'";
  Must(Create(event, body + "]},'involvedObject':{'namespace':'shop'}}"));
  EXPECT_THAT(Text(Delete(event)), StartsWith("deleted"));
  Must(Create(event, body + ",'ex.io/a']},'involvedObject':{'namespace':'shop'}}"));
  EXPECT_THAT(Text(Delete(event)), StartsWith("updated"));
  EXPECT_THAT(Finalizers(event), ElementsAre("ex.io/a"));
}

TEST_F(DeleteTest, ANamespaceNeverGoesAtOnce) {
  const Target target = At("namespaces", "", "shop");
  Must(Update(target, "{'metadata':{'name':'shop'},'spec':{}}", Door::kFinalize));
  ASSERT_THAT(Text(Delete(target)), StartsWith("updated"));
  EXPECT_EQ(StringAt(*Get(target), "status", "phase"), "Terminating");
  EXPECT_THAT(Text(Delete(target)), StartsWith("deleted")) << "nothing holds it";
}

TEST_F(DeleteTest, HowANamespaceGoesIsSaidOnce) {
  const Target target = At("namespaces", "", "shop");
  Must(Delete(target, {.propagation = Propagation::kOrphan}));
  EXPECT_THAT(Finalizers(target), ElementsAre("orphan"));
  EXPECT_THAT(Text(Delete(target, {.propagation = Propagation::kForeground})),
              StartsWith("unchanged"));
  EXPECT_THAT(Finalizers(target), ElementsAre("orphan"));
}

TEST_F(DeleteTest, ANamespaceTerminatesUntilItIsFinalized) {
  const Target target = At("namespaces", "", "shop");
  ASSERT_THAT(Text(Delete(target)), StartsWith("updated"));
  const codec::Value held = *Get(target);
  EXPECT_EQ(StringAt(held, "status", "phase"), "Terminating");
  EXPECT_EQ(StringAt(held, "metadata", "deletionTimestamp"), kStart);
  EXPECT_FALSE(codec::HasAt(held, "metadata", "deletionGracePeriodSeconds"));
  EXPECT_EQ(codec::ArrayAt(held, "spec", "finalizers"), codec::Array{codec::Value("kubernetes")});
  EXPECT_THAT(Text(Delete(target)), StartsWith("unchanged"));

  EXPECT_THAT(Text(Update(target, "{'metadata':{'name':'shop'},'status':{'phase':'Active'}}",
                          Door::kStatus)),
              HasSubstr("may only be 'Terminating' if `deletionTimestamp` is not empty"));
  EXPECT_THAT(Text(Update(target, "{'metadata':{'name':'shop'},'spec':{}}")),
              StartsWith("unchanged"))
      << "the main door does not finalize";
  EXPECT_THAT(Text(Update(target, "{'metadata':{'name':'shop'},'spec':{}}", Door::kFinalize)),
              StartsWith("deleted"));
  EXPECT_FALSE(Get(target));
}

TEST_F(DeleteTest, ANamespaceWaitsForBothKindsOfFinalizers) {
  const Target target = At("namespaces", "", "x");
  Must(Create(target, "{'metadata':{'name':'x','finalizers':['ex.io/a']}}"));
  Must(Delete(target));
  const std::string held = "{'metadata':{'name':'x','finalizers':['ex.io/a']},'spec':{}}";
  EXPECT_THAT(Text(Update(target, held, Door::kFinalize)), StartsWith("updated"));
  EXPECT_TRUE(Get(target));
  EXPECT_THAT(Text(Update(target, "{'metadata':{'name':'x'}}")), StartsWith("deleted"));
}

TEST_F(DeleteTest, SomeNamespacesStay) {
  for (const char* name : {"default", "kube-system", "kube-public"}) {
    const Target target = At("namespaces", "", name);
    const std::string message =
        std::string("namespaces \"") + name + "\" is forbidden: this namespace may not be deleted";
    EXPECT_EQ(Text(Delete(target)), message) << "whether it is there or not";
    Must(Create(target, std::string("{'metadata':{'name':'") + name + "'}}"));
    const auto removed = Delete(target);
    ASSERT_FALSE(removed);
    EXPECT_EQ(removed.error().reason, Reason::kForbidden);
    EXPECT_EQ(removed.error().message, message);
  }
}

TEST_F(DeleteTest, EventsExpireAnHourAfterTheirLastWrite) {
  const Target event = At("events", "shop", "e");
  const std::string body =
      "{'metadata':{'name':'e'},'involvedObject':{'namespace':'shop'},'count':";
  const auto pass = [this](std::chrono::minutes time) {
    store_.clock.Advance(time);
    store_.engine->Tick();
    PumpAll();
  };
  Must(Create(event, body + "1}"));
  MakeService("'name':'a'");
  pass(std::chrono::minutes(50));
  Must(Update(event, body + "2}"));
  pass(std::chrono::minutes(59));
  EXPECT_TRUE(Get(event));
  pass(std::chrono::minutes(2));
  EXPECT_FALSE(Get(event));
  pass(std::chrono::hours(48));
  EXPECT_TRUE(Get(Service("a"))) << "other kinds stay";
}

TEST_F(DeleteTest, NobodyIsLetPastTheLastWord) {
  MakeService("'name':'a'");
  SetAdmit([](const Target& target, const codec::Value* old,
              const codec::Value* next) -> std::optional<base::Error> {
    const char* verb = old == nullptr ? "create" : next == nullptr ? "delete" : "update";
    return base::Error{.reason = Reason::kForbidden, .message = verb + (" " + target.name)};
  });
  EXPECT_EQ(Text(Delete(Service("a"))), "delete a");
  EXPECT_EQ(Text(Update(Service("a"), Body("'name':'a'"))), "update a");
  EXPECT_EQ(Text(Create(Service(""), Body("'name':'b'"))), "create b");
}

}  // namespace
}  // namespace berth::registry
