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
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// Returns a Service "a" with the given metadata beside its name.
std::string ServiceWith(const std::string& metadata, int port = 80) {
  return "{'metadata':{'name':'a'" + (metadata.empty() ? "" : "," + metadata) +
         "},'spec':{'ports':[{'port':" + std::to_string(port) + "}]}}";
}

class UpdateTest : public RegistryTest {
 protected:
  UpdateTest() { Must(Create(Service(""), ServiceWith("'labels':{'v':'1'}"))); }

  base::Result<Outcome> Put(const std::string& metadata, int port = 80) {
    return Update(Service("a"), ServiceWith(metadata, port));
  }
  codec::Value Now() const { return Get(Service("a")).value_or(codec::Object()); }
  std::string Version() const {
    return std::string(StringAt(Now(), "metadata", "resourceVersion"));
  }
};

TEST_F(UpdateTest, WithoutAVersionItOverwrites) {
  const codec::Value before = Now();
  store_.clock.Advance(std::chrono::hours(1));
  for (const char* version : {"", "'resourceVersion':'0',"}) {
    ASSERT_THAT(Text(Put(std::string(version) + "'labels':{'v':'" + Version() + "'}")),
                StartsWith("updated"));
  }
  EXPECT_EQ(StringAt(Now(), "metadata", "labels", "v"), std::to_string(Revision() - 1));
  EXPECT_EQ(StringAt(Now(), "metadata", "uid"), StringAt(before, "metadata", "uid"));
  EXPECT_EQ(StringAt(Now(), "metadata", "creationTimestamp"), kStart);
}

TEST_F(UpdateTest, AnOldVersionConflicts) {
  const std::string old = Version();
  ASSERT_THAT(Text(Put("'resourceVersion':'" + old + "','labels':{'v':'2'}")),
              StartsWith("updated"));
  const auto late = Put("'resourceVersion':'" + old + "','labels':{'v':'3'}");
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().reason, Reason::kConflict);
  EXPECT_EQ(late.error().message,
            "Operation cannot be fulfilled on services \"a\": the object has been modified; please "
            "apply your changes to the latest version and try again");
  EXPECT_EQ(late.error().details->kind, "services");
  EXPECT_EQ(StringAt(Now(), "metadata", "labels", "v"), "2");
}

TEST_F(UpdateTest, AVersionFromTheFutureConflictsAndOneThatIsNoneIsAnError) {
  EXPECT_EQ(Put("'resourceVersion':'999999'").error().reason, Reason::kConflict);
  for (const char* version : {"x", "-1", "1.5"}) {
    const auto put = Put(std::string("'resourceVersion':'") + version + "'");
    ASSERT_FALSE(put) << version;
    EXPECT_EQ(put.error().reason, Reason::kUnknown) << version;
  }
}

TEST_F(UpdateTest, AVersionIsANumberAlsoOfWhatIsNew) {
  const auto message = [&](const std::string& version) {
    return Update(Service("b"), "{'metadata':{'name':'b','resourceVersion':'" + version +
                                    "'},'spec':{'ports':[{'port':80}]}}")
        .error()
        .message;
  };
  EXPECT_EQ(message("b"), "strconv.ParseUint: parsing \"b\": invalid syntax");
  EXPECT_EQ(message("99999999999999999999"),
            "strconv.ParseUint: parsing \"99999999999999999999\": value out of range");
  EXPECT_THAT(Text(Put("'resourceVersion':'0" + Version() + "'")), StartsWith("updated"));
}

TEST_F(UpdateTest, AnotherUidConflicts) {
  const auto put = Put("'uid':'11111111-2222-4333-8444-555555555555'");
  ASSERT_FALSE(put);
  EXPECT_EQ(put.error().reason, Reason::kConflict);
  EXPECT_EQ(
      put.error().message,
      "Operation cannot be fulfilled on services \"a\": StorageError: invalid object, Code: 4, "
      "Key: /registry/services/specs/shop/a, ResourceVersion: 0, AdditionalErrorMsg: "
      "Precondition failed: UID in precondition: 11111111-2222-4333-8444-555555555555, UID in "
      "object meta: " +
          std::string(StringAt(Now(), "metadata", "uid")));
  EXPECT_THAT(Text(Put("'uid':'" + std::string(StringAt(Now(), "metadata", "uid")) + "'")),
              StartsWith("updated"));
}

TEST_F(UpdateTest, WhatChangesNothingIsNotWritten) {
  const int64_t before = Revision();
  const std::string uid(StringAt(Now(), "metadata", "uid"));
  for (const std::string& same :
       {std::string("'labels':{'v':'1'}"),
        "'labels':{'v':'1'},'uid':'" + uid + "','resourceVersion':'" + Version() + "'",
        std::string("'labels':{'v':'1'},'creationTimestamp':'2001-01-01T00:00:00Z','selfLink':'x',"
                    "'annotations':{},'finalizers':[]")}) {
    EXPECT_EQ(Text(Put(same)), "unchanged @" + std::to_string(before)) << same;
  }
  Must(Create(At("namespaces", "", ""), "{'metadata':{'name':'x'}}"));
  EXPECT_THAT(Text(Update(At("namespaces", "", "x"), "{'metadata':{'name':'x'}}")),
              StartsWith("unchanged"));
  EXPECT_EQ(Revision(), before + 1);
}

TEST_F(UpdateTest, TheMainDoorKeepsTheStatusAndTheStatusDoorTheRest) {
  const Target lb = Service("lb");
  const std::string spec = "'spec':{'type':'LoadBalancer','ports':[{'port':80}]}";
  const std::string ingress =
      "'status':{'loadBalancer':{'ingress':[{'ip':'192.0.2.1','ipMode':'VIP'}]}}";
  Must(Create(lb, "{'metadata':{'name':'lb'}," + spec + "," + ingress + "}"));
  EXPECT_FALSE(codec::HasAt(*Get(lb), "status", "loadBalancer", "ingress")) << "not on create";

  Must(Update(
      lb,
      "{'metadata':{'name':'lb','labels':{'from':'status'}},'spec':{'ports':[{'port':81}]}," +
          ingress + "}",
      Door::kStatus));
  EXPECT_EQ(codec::ArrayAt(*Get(lb), "status", "loadBalancer", "ingress").size(), 1U);
  EXPECT_EQ(codec::IntAt(codec::ArrayAt(*Get(lb), "spec", "ports").front(), "port"), 80);

  Must(Update(lb, "{'metadata':{'name':'lb','labels':{'from':'main'}}," + spec +
                      ",'status':{'loadBalancer':{}}}"));
  EXPECT_EQ(codec::ArrayAt(*Get(lb), "status", "loadBalancer", "ingress").size(), 1U);
  EXPECT_EQ(StringAt(*Get(lb), "metadata", "labels", "from"), "main");
}

TEST_F(UpdateTest, ANamespacesDoorsEachChangeTheirOwn) {
  const Target target = At("namespaces", "", "x");
  Must(Create(target, "{'metadata':{'name':'x'}}"));
  const std::string condition =
      "'status':{'phase':'Active','conditions':[{'type':'T','status':'True'}]}";
  Must(Update(target, "{'metadata':{'name':'x'},'spec':{'finalizers':[]}," + condition + "}"));
  EXPECT_FALSE(codec::HasAt(*Get(target), "status", "conditions"));
  EXPECT_EQ(codec::ArrayAt(*Get(target), "spec", "finalizers").size(), 1U);

  Must(Update(target, "{'metadata':{'name':'x'},'spec':{'finalizers':[]}," + condition + "}",
              Door::kStatus));
  EXPECT_TRUE(codec::HasAt(*Get(target), "status", "conditions"));
  EXPECT_EQ(codec::ArrayAt(*Get(target), "spec", "finalizers").size(), 1U);
  EXPECT_THAT(Text(Update(target, "{'metadata':{'name':'x'},'status':{'phase':'Terminating'}}",
                          Door::kStatus)),
              HasSubstr("may only be 'Active' if `deletionTimestamp` is empty"));

  Must(Update(target, "{'metadata':{'name':'x'},'spec':{'finalizers':['ex.io/a']}}",
              Door::kFinalize));
  EXPECT_EQ(codec::ArrayAt(*Get(target), "spec", "finalizers"),
            codec::Array{codec::Value("ex.io/a")});
  EXPECT_TRUE(codec::HasAt(*Get(target), "status", "conditions"));
}

TEST_F(UpdateTest, PutCreatesWhereTheKindAllowsIt) {
  const struct {
    const char* resource;
    const char* body;
    bool creates;
  } cases[] = {
      {"services", "{'metadata':{'name':'new'},'spec':{'ports':[{'port':80}]}}", true},
      {"events", "{'metadata':{'name':'new'},'involvedObject':{'namespace':'shop'}}", true},
      {"coordination.k8s.io/leases", "{'metadata':{'name':'new'}}", true},
      {"namespaces", "{'metadata':{'name':'new'}}", false},
  };
  for (const auto& [resource, body, creates] : cases) {
    SCOPED_TRACE(resource);
    Target target = At(resource, "", "new");
    if (target.served.Kind().namespaced) target.name_space = "shop";
    const auto put = Update(target, body);
    if (!creates) {
      EXPECT_THAT(Text(put), HasSubstr("\"new\" not found"));
      continue;
    }
    EXPECT_THAT(Text(put), StartsWith("created"));
    EXPECT_FALSE(StringAt(*Get(target), "metadata", "uid").empty());
    target.name_space = "nowhere";
    EXPECT_EQ(Text(Update(target, body)), "namespaces \"nowhere\" not found");
  }
  EXPECT_THAT(Text(Update(At("namespaces", "", "new"), cases[3].body, Door::kStatus)),
              HasSubstr("\"new\" not found"));
  Target by_status = Service("new");
  Delete(by_status);
  EXPECT_THAT(Text(Update(by_status, cases[0].body, Door::kStatus)), StartsWith("created"));
  EXPECT_FALSE(codec::HasAt(*Get(by_status), "spec", "ipFamilies")) << "as upstream";
}

TEST_F(UpdateTest, AnApplyCreatesEveryKindAndAPatchNone) {
  const Target target = At("namespaces", "", "new");
  const auto update = [&](Way way) {
    return Text(Wait([&](Done done) {
      registry_->Update(target, {.way = way},
                        Always(ParseFor(target, "{'metadata':{'name':'new'}}")), {},
                        std::move(done));
    }));
  };
  EXPECT_EQ(update(Way::kPatch), "namespaces \"new\" not found");
  EXPECT_THAT(update(Way::kApply), StartsWith("created"));
  EXPECT_FALSE(codec::HasAt(*Get(target), "metadata", "managedFields")) << "they are the apply's";
}

TEST_F(UpdateTest, WhoWritesOwnsWhatIsWritten) {
  const auto managers = [&] {
    std::vector<std::string> names;
    const codec::Value object = Now();
    for (const codec::Value& entry : codec::ArrayAt(object, "metadata", "managedFields")) {
      names.emplace_back(StringAt(entry, "manager"));
    }
    return names;
  };
  const auto by = [](const char* name) { return CommonOptions{.manager = name}; };
  Must(Delete(Service("a")));
  Must(Create(Service("a"), ServiceWith("'labels':{'v':'1'}", 80), by("one")));
  EXPECT_THAT(managers(), ElementsAre("one"));
  store_.clock.Advance(std::chrono::seconds(1));
  Must(Update(Service("a"), ServiceWith("'labels':{'v':'2'}", 80), Door::kMain, by("two")));
  EXPECT_THAT(managers(), ElementsAre("one", "two"));
  const int64_t before = Revision();
  store_.clock.Advance(std::chrono::seconds(1));
  Must(Update(Service("a"), ServiceWith("'labels':{'v':'2'}", 80), Door::kMain, by("three")));
  EXPECT_EQ(Revision(), before) << "nothing was changed, so nobody did";
}

TEST_F(UpdateTest, PutWithAUidDoesNotCreate) {
  const auto put = Update(Service("new"), "{'metadata':{'name':'new','uid':'u'}}");
  ASSERT_FALSE(put);
  EXPECT_EQ(put.error().reason, Reason::kConflict);
  EXPECT_THAT(put.error().message, HasSubstr("UID in precondition: u, UID in object meta: "));
}

TEST_F(UpdateTest, ALeaseIsOnlyReplacedByVersion) {
  const Target lease = At("coordination.k8s.io/leases", "shop", "l");
  Must(Create(lease, "{'metadata':{'name':'l'},'spec':{'holderIdentity':'a'}}"));
  const std::string next = "'spec':{'holderIdentity':'b'}}";
  const auto blind = Update(lease, "{'metadata':{'name':'l'}," + next);
  ASSERT_FALSE(blind);
  EXPECT_EQ(blind.error().reason, Reason::kInvalid);
  EXPECT_EQ(blind.error().message,
            "leases.coordination.k8s.io \"l\" is invalid: metadata.resourceVersion: Invalid value: "
            "0: must be specified for an update");
  EXPECT_EQ(blind.error().details->kind, "leases");

  const std::string version(StringAt(*Get(lease), "metadata", "resourceVersion"));
  const std::string with = "{'metadata':{'name':'l','resourceVersion':'" + version + "'}," + next;
  EXPECT_THAT(Text(Update(lease, with)), StartsWith("updated"));
  EXPECT_EQ(Update(lease, with).error().reason, Reason::kConflict) << "another has taken it";
}

TEST_F(UpdateTest, WhatCannotChange) {
  const int64_t before = Revision();
  const struct {
    const char* metadata;
    const char* message;
  } cases[] = {
      {"'deletionTimestamp':'2001-01-01T00:00:00Z'", "metadata.deletionTimestamp: Invalid value"},
      {"'deletionGracePeriodSeconds':5", "metadata.deletionGracePeriodSeconds: Invalid value"},
      {"'labels':{'no/t/ok':'x'}", "metadata.labels: Invalid value"},
  };
  for (const auto& [metadata, message] : cases) {
    const auto put = Put(metadata);
    ASSERT_FALSE(put) << metadata;
    EXPECT_EQ(put.error().reason, Reason::kInvalid) << metadata;
    EXPECT_THAT(put.error().message, HasSubstr(message)) << metadata;
  }
  EXPECT_EQ(Revision(), before);
}

TEST_F(UpdateTest, ADryRunStoresNothing) {
  const int64_t before = Revision();
  const auto put =
      Update(Service("a"), ServiceWith("'labels':{'v':'2'}"), Door::kMain, {.dry_run = true});
  ASSERT_THAT(Text(put), StartsWith("updated"));
  EXPECT_EQ(StringAt(Show(Service("a"), *put->written.object), "metadata", "labels", "v"), "2");
  EXPECT_EQ(StringAt(Show(Service("a"), *put->written.object), "metadata", "resourceVersion"),
            Version())
      << "of what there is";
  EXPECT_EQ(StringAt(Now(), "metadata", "labels", "v"), "1");
  EXPECT_THAT(Text(Update(Service("b"), "{'metadata':{'name':'b'},'spec':{'ports':[{'port':1}]}}",
                          Door::kMain, {.dry_run = true})),
              StartsWith("created"));
  EXPECT_FALSE(Get(Service("b")));
  EXPECT_EQ(Revision(), before);
}

TEST_F(UpdateTest, OfManyThatHoldTheSameVersionOneWins) {
  const std::string version = Version();
  std::vector<std::string> answers;
  for (int i = 0; i < 5; ++i) {
    registry_->Update(
        Service("a"), {},
        Always(ParseFor(Service("a"), ServiceWith("'resourceVersion':'" + version + "'", 100 + i))),
        {}, [&](const base::Result<Outcome>& outcome) {
          answers.push_back(outcome ? "written" : "conflict");
        });
  }
  PumpAll();
  EXPECT_THAT(answers, ElementsAre("written", "conflict", "conflict", "conflict", "conflict"));
  EXPECT_EQ(codec::IntAt(codec::ArrayAt(Now(), "spec", "ports").front(), "port"), 100);
}

TEST_F(UpdateTest, ChangesOfWhatIsThereAreNeverLost) {
  // Each update adds one to the present value, as a patch would.
  const auto add = [](const codec::Value* current) -> base::Result<Next> {
    codec::Value next = *current;
    const int count = std::stoi(std::string(StringAt(*current, "metadata", "labels", "v")));
    codec::SetAt(next, {"metadata", "labels", "v"}, std::to_string(count + 1));
    return Next{.object = std::move(next)};
  };
  std::vector<std::string> answers;
  for (int i = 0; i < 20; ++i) {
    registry_->Update(Service("a"), {.way = Way::kPatch}, add, {},
                      [&](const base::Result<Outcome>& outcome) {
                        answers.push_back(Text(outcome).substr(0, 7));
                      });
  }
  PumpAll();
  EXPECT_THAT(answers, Each("updated"));
  EXPECT_EQ(answers.size(), 20U);
  EXPECT_EQ(StringAt(Now(), "metadata", "labels", "v"), "21");
}

}  // namespace
}  // namespace berth::registry
