#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

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
using ::testing::MatchesRegex;
using ::testing::StartsWith;

constexpr const char* kPort = "'spec':{'ports':[{'port':80}]}";

class CreateTest : public RegistryTest {
 protected:
  base::Result<Outcome> CreateService(const std::string& metadata,
                                      const CommonOptions& options = {}) {
    return Create(Service(""), "{'metadata':" + metadata + "," + kPort + "}", options);
  }

  std::vector<std::string> taken_;
};

struct KindCase {
  const char* resource;
  const char* body;
};

/// An object of each kind, as small as possible.
const KindCase kEach[] = {
    {"namespaces", "{'metadata':{'name':'a'}}"},
    {"services", "{'metadata':{'name':'a'},'spec':{'ports':[{'port':80}]}}"},
    {"events", "{'metadata':{'name':'a'},'involvedObject':{'namespace':'shop'}}"},
    {"events.k8s.io/events",
     "{'metadata':{'name':'a'},'eventTime':'2026-11-15T04:35:00.000000Z','type':'Normal',"
     "'reason':'R','action':'A','reportingController':'c.io/x','reportingInstance':'x-1',"
     "'regarding':{'namespace':'shop'}}"},
    {"coordination.k8s.io/leases", "{'metadata':{'name':'a'},'spec':{'holderIdentity':'me'}}"},
};

TEST_F(CreateTest, EveryKindGetsItsMetadataFromTheServer) {
  std::set<std::string> uids;
  for (const KindCase& each : kEach) {
    SCOPED_TRACE(each.resource);
    Target target = At(each.resource, "", "");
    if (target.served.Kind().namespaced) target.name_space = "shop";
    const auto made = Create(target, each.body);
    const int64_t last = Revision();
    ASSERT_EQ(Text(made), "created @" + std::to_string(last)) << "records come before it";
    target.name = "a";
    const auto stored = Get(target);
    ASSERT_TRUE(stored);
    EXPECT_EQ(StringAt(*stored, "metadata", "creationTimestamp"), kStart);
    EXPECT_EQ(StringAt(*stored, "metadata", "resourceVersion"), std::to_string(last));
    EXPECT_EQ(StringAt(*stored, "metadata", "namespace"), target.name_space);
    EXPECT_FALSE(codec::HasAt(*stored, "metadata", "generation"));
    EXPECT_THAT(
        std::string(StringAt(*stored, "metadata", "uid")),
        MatchesRegex("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"));
    uids.emplace(StringAt(*stored, "metadata", "uid"));

    if (!target.served.Kind().namespaced) continue;  // Namespaces are deleted differently.
    EXPECT_EQ(Text(Delete(target)), "deleted @" + std::to_string(last + 1));
    EXPECT_THAT(Text(Delete(target)), HasSubstr("\"a\" not found"));
  }
  EXPECT_EQ(uids.size(), std::size(kEach));
}

TEST_F(CreateTest, SystemMetadataOfTheClientDoesNotCount) {
  Must(CreateService(
      "{'name':'a','uid':'mine','creationTimestamp':'2000-01-01T00:00:00Z',"
      "'deletionTimestamp':'2000-01-01T00:00:00Z','deletionGracePeriodSeconds':5,'selfLink':'/"
      "x'}"));
  const auto made = Get(Service("a"));
  ASSERT_TRUE(made);
  EXPECT_NE(StringAt(*made, "metadata", "uid"), "mine");
  EXPECT_EQ(StringAt(*made, "metadata", "creationTimestamp"), kStart);
  for (const char* field : {"deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"}) {
    EXPECT_FALSE(codec::HasAt(*made, "metadata", field)) << field;
  }
}

TEST_F(CreateTest, AResourceVersionIsRefused) {
  const auto made = CreateService("{'name':'a','resourceVersion':'5'}");
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().reason, Reason::kUnknown);
  EXPECT_EQ(made.error().message, "resourceVersion should not be set on objects to be created");
}

TEST_F(CreateTest, ANameIsTakenOnce) {
  Must(CreateService("{'name':'a','finalizers':['ex.io/hold']}"));
  auto again = CreateService("{'name':'a'}");
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().reason, Reason::kAlreadyExists);
  EXPECT_EQ(again.error().message, "services \"a\" already exists");
  ASSERT_TRUE(again.error().details);
  EXPECT_EQ(again.error().details->kind, "services");
  EXPECT_EQ(again.error().details->name, "a");

  Must(Delete(Service("a")));
  EXPECT_EQ(Text(CreateService("{'name':'a'}")),
            "object is being deleted: services \"a\" already exists");
}

TEST_F(CreateTest, NamesAreDrawnFromGenerateName) {
  const std::string_view letters = "[bcdfghjklmnpqrstvwxz2456789]{5}";
  const Outcome made = Must(CreateService("{'generateName':'web-'}"));
  EXPECT_THAT(std::string(made.written.object->Name()),
              MatchesRegex("web-" + std::string(letters)));
  EXPECT_EQ(StringAt(Show(Service(""), *made.written.object), "metadata", "generateName"), "web-");

  const Outcome named = Must(CreateService("{'name':'mine','generateName':'web-'}"));
  EXPECT_EQ(named.written.object->Name(), "mine") << "a name goes before";

  const std::string longest(60, 'x');
  const Outcome cut = Must(CreateService("{'generateName':'" + longest + "'}"));
  EXPECT_THAT(std::string(cut.written.object->Name()),
              MatchesRegex("x{58}" + std::string(letters)));
}

TEST_F(CreateTest, AnotherNameIsDrawnWhenOneIsTaken) {
  // The same random numbers draw the same names again.
  const auto restart = [this] { MakeRegistry(7); };
  restart();
  const std::string first(Must(CreateService("{'generateName':'n-'}")).written.object->Name());
  restart();
  const std::string second(Must(CreateService("{'generateName':'n-'}")).written.object->Name());
  EXPECT_NE(first, second);
  EXPECT_TRUE(Get(Service(first)));
  EXPECT_TRUE(Get(Service(second)));
}

TEST_F(CreateTest, AfterEightTakenNamesTheClientIsToTryAgain) {
  // Another client, whose writes are committed first, takes every name that is drawn.
  SetAdmit([this](const Target& target, const codec::Value* old,
                  const codec::Value*) -> std::optional<base::Error> {
    if (old == nullptr) taken_.push_back(target.name);
    return base::Error{.reason = Reason::kAlreadyExists,
                       .message = "taken",
                       .details = base::Details{.name = target.name}};
  });
  const auto made = CreateService("{'generateName':'n-'}");
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().reason, Reason::kAlreadyExists);
  EXPECT_EQ(made.error().details->retry_after_seconds, 1);
  EXPECT_EQ(std::set<std::string>(taken_.begin(), taken_.end()).size(), 8U);
}

TEST_F(CreateTest, WithoutANameItIsInvalid) {
  for (const char* metadata : {"{}", "{'labels':{'a':'b'}}"}) {
    const auto made = CreateService(metadata);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().reason, Reason::kInvalid);
    EXPECT_THAT(made.error().message,
                HasSubstr("metadata.name: Required value: name or generateName is required"));
  }
}

TEST_F(CreateTest, NamesThatCannotBeKeysAreInvalidToo) {
  const int64_t before = Revision();
  for (const char* name : {"a/b", "..", ".", "a%b", "/", "A"}) {
    const auto made = CreateService(std::string("{'name':'") + name + "'}");
    ASSERT_FALSE(made) << name;
    EXPECT_EQ(made.error().reason, Reason::kInvalid) << name;
    ASSERT_TRUE(made.error().details);
    EXPECT_EQ(made.error().details->kind, "Service") << "of invalid objects it is the Kind";
    EXPECT_EQ(made.error().details->name, name);
  }
  EXPECT_EQ(Revision(), before) << "nothing is stored";
}

TEST_F(CreateTest, TheNamespaceMustBeThere) {
  const auto made = Create(At("services", "nowhere", ""), "{'metadata':{'name':'a'}}");
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().reason, Reason::kNotFound);
  EXPECT_EQ(made.error().message, "namespaces \"nowhere\" not found");
  EXPECT_EQ(made.error().details->kind, "namespaces");
  EXPECT_EQ(made.error().details->name, "nowhere");
}

TEST_F(CreateTest, TheNamespaceMustNotBeGoingAway) {
  Must(CreateService("{'name':'old'}"));
  Must(Delete(At("namespaces", "", "shop")));
  const auto made = CreateService("{'name':'a'}");
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().reason, Reason::kForbidden);
  EXPECT_EQ(made.error().message,
            "services \"a\" is forbidden: unable to create new content in namespace shop because "
            "it is being terminated");
  ASSERT_EQ(made.error().causes.size(), 1U);
  EXPECT_EQ(made.error().causes[0].reason, "NamespaceTerminating");
  EXPECT_EQ(made.error().causes[0].message, "namespace shop is being terminated");
  EXPECT_EQ(made.error().causes[0].field, "metadata.namespace");

  EXPECT_THAT(Text(CreateService("{'generateName':'web-'}")),
              StartsWith("services \"web-\" is forbidden: "))
      << "no name has been drawn yet";
  EXPECT_THAT(Text(Update(Service("put"), "{'metadata':{'name':'put'}}")),
              HasSubstr("because it is being terminated"));
  EXPECT_THAT(
      Text(Update(Service("old"),
                  std::string("{'metadata':{'name':'old','labels':{'a':'b'}},") + kPort + "}")),
      StartsWith("updated"))
      << "what there is can be changed";
  EXPECT_THAT(Text(Delete(Service("old"))), StartsWith("deleted"));
}

TEST_F(CreateTest, ADryRunStoresNothing) {
  const int64_t before = Revision();
  const Outcome made = Must(CreateService("{'generateName':'web-'}", {.dry_run = true}));
  EXPECT_EQ(made.written.kind, commit::Written::Kind::kCreated);
  const codec::Value object = Show(Service(""), *made.written.object);
  EXPECT_THAT(std::string(StringAt(object, "metadata", "name")), StartsWith("web-"));
  EXPECT_FALSE(StringAt(object, "metadata", "uid").empty());
  EXPECT_FALSE(codec::HasAt(object, "metadata", "resourceVersion"));
  EXPECT_EQ(Revision(), before);
  EXPECT_FALSE(Get(Service(std::string(StringAt(object, "metadata", "name")))));

  Must(CreateService("{'name':'a'}"));
  EXPECT_EQ(Text(CreateService("{'name':'a'}", {.dry_run = true})),
            "services \"a\" already exists");
  EXPECT_THAT(Text(CreateService("{'name':'A'}", {.dry_run = true})), HasSubstr("is invalid"));
}

TEST_F(CreateTest, RepeatedOwnersAreDroppedWithAWarning) {
  const std::string owner = "{'apiVersion':'v1','kind':'Service','name':'o','uid':'u1'}";
  const Outcome made =
      Must(CreateService("{'name':'a','ownerReferences':[" + owner + "," + owner + "]}"));
  EXPECT_THAT(made.warnings,
              ElementsAre(HasSubstr(".metadata.ownerReferences contains duplicate entries")));
  EXPECT_EQ(codec::ArrayAt(*Get(Service("a")), "metadata", "ownerReferences").size(), 1U);
}

TEST_F(CreateTest, TwoAtOnceMakeOne) {
  std::vector<std::string> answers;
  for (int i = 0; i < 3; ++i) {
    registry_->Create(
        Service(""), ParseFor(Service(""), std::string("{'metadata':{'name':'a'},") + kPort + "}"),
        {}, [&](const base::Result<Outcome>& outcome) { answers.push_back(Text(outcome)); });
  }
  PumpAll();
  EXPECT_THAT(answers, ElementsAre(StartsWith("created"), "services \"a\" already exists",
                                   "services \"a\" already exists"));
}

TEST_F(CreateTest, ANamespaceGetsItsLabelItsFinalizerAndItsPhase) {
  Must(Create(At("namespaces", "", ""),
              "{'metadata':{'name':'x','labels':{'kubernetes.io/metadata.name':'y'}},"
              "'status':{'phase':'Terminating'}}"));
  const auto made = Get(At("namespaces", "", "x"));
  ASSERT_TRUE(made);
  EXPECT_EQ(StringAt(*made, "metadata", "labels", "kubernetes.io/metadata.name"), "x");
  EXPECT_EQ(codec::ArrayAt(*made, "spec", "finalizers"), codec::Array{codec::Value("kubernetes")});
  EXPECT_EQ(StringAt(*made, "status", "phase"), "Active");
}

}  // namespace
}  // namespace berth::registry
