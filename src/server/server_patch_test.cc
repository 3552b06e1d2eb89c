#include "server/server_patch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/testing/server_kit.h"

namespace berth::server::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kJsonPatch = "application/json-patch+json";
constexpr const char* kMergePatch = "application/merge-patch+json";
constexpr const char* kStrategic = "application/strategic-merge-patch+json";
constexpr const char* kApply = "application/apply-patch+yaml";

class PatchTest : public ServerTest {
 protected:
  Reply Patch(const std::string& url, const char* type, const std::string& body,
              const std::string& agent = {}) {
    return Call("PATCH " + url, Quoted(body), {.content_type = type, .agent = agent});
  }
  Reply Apply(const std::string& name, const std::string& manager, const std::string& rest,
              const std::string& query = {}) {
    return Patch(Services() + "/" + name + "?fieldManager=" + manager + query, kApply,
                 "{'apiVersion':'v1','kind':'Service','metadata':{'name':'" + name + "'}" +
                     (rest.empty() ? "" : "," + rest) + "}");
  }
  static std::string Label(const Reply& reply, const char* name) {
    return std::string(codec::StringAt(reply.Json(), "metadata", "labels", name));
  }
  /// Returns texts such as "Update kubectl @v1", followed by the subresource if there is one.
  static std::vector<std::string> Managers(const Reply& reply) {
    std::vector<std::string> managers;
    const codec::Value object = reply.Json();
    for (const codec::Value& entry : codec::ArrayAt(object, "metadata", "managedFields")) {
      std::string text(codec::StringAt(entry, "operation"));
      text.append(" ").append(codec::StringAt(entry, "manager"));
      text.append(" @").append(codec::StringAt(entry, "apiVersion"));
      const std::string_view subresource = codec::StringAt(entry, "subresource");
      if (!subresource.empty()) text.append(" ").append(subresource);
      managers.push_back(std::move(text));
    }
    return managers;
  }

  static constexpr const char* kPorts = "'spec':{'ports':[{'port':80}]}";
};

TEST_F(PatchTest, EachKindChangesWhatIsThere) {
  PutService("a", "'app':'web'");
  EXPECT_EQ(Label(Patch(Services() + "/a", kMergePatch, "{'metadata':{'labels':{'v':'1'}}}"), "v"),
            "1");
  EXPECT_EQ(Label(Patch(Services() + "/a", kStrategic, "{'metadata':{'labels':{'v':'2'}}}"), "v"),
            "2");
  const Reply last = Patch(Services() + "/a", kJsonPatch,
                           "[{'op':'test','path':'/metadata/labels/v','value':'2'},"
                           "{'op':'replace','path':'/metadata/labels/v','value':'3'}]");
  EXPECT_EQ(last.code, 200);
  EXPECT_EQ(Label(last, "v"), "3");
  EXPECT_EQ(Label(last, "app"), "web");
  EXPECT_EQ(last.Version(), Now());
  EXPECT_EQ(Get(Services() + "/a").body, last.body);
}

TEST_F(PatchTest, WhatChangesNothingIsNotWritten) {
  const std::string version = PutService("a", "'app':'web'");
  Advance(std::chrono::seconds(5));
  for (const char* type : {kMergePatch, kStrategic}) {
    EXPECT_EQ(Patch(Services() + "/a", type, "{'metadata':{'labels':{'app':'web'}}}").Version(),
              version);
  }
  const std::string applied = Apply("b", "me", kPorts).Version();
  Advance(std::chrono::seconds(5));
  const Reply again = Apply("b", "me", kPorts);
  EXPECT_EQ(again.code, 200);
  EXPECT_EQ(again.Version(), applied);
}

TEST_F(PatchTest, OtherContentTypesAreRefused) {
  PutService("a");
  for (const char* type : {"application/json", "text/plain", "application/yaml", ""}) {
    const Reply reply = Patch(Services() + "/a", type, "{}");
    EXPECT_EQ(reply.code, 415) << type;
    EXPECT_EQ(reply.Message(), "415: Unsupported Media Type");
  }
  EXPECT_EQ(Patch(Services() + "/a", "application/merge-patch+json ; charset=utf-8", "{}").code,
            200);
  EXPECT_EQ(Patch(Services(), kMergePatch, "{}").code, 405);
}

TEST_F(PatchTest, ThatThereIsNothingToPatchComesFirst) {
  EXPECT_EQ(Patch(Services() + "/x", kMergePatch, "this is no JSON").code, 404);
  EXPECT_EQ(Patch("/api/v1/namespaces/none/services/x", kJsonPatch, "[]").code, 404);
  PutService("a");
  EXPECT_EQ(Patch(Services() + "/a", kMergePatch, "this is no JSON").code, 400);
  EXPECT_EQ(Get(Services() + "/x").code, 404) << "a patch does not create";
}

TEST_F(PatchTest, NamesAndVersionsMustFit) {
  PutService("a");
  const auto patched = [&](const std::string& metadata) {
    const Reply reply = Patch(Services() + "/a", kMergePatch, "{'metadata':{" + metadata + "}}");
    return std::to_string(reply.code) + " " + reply.Message();
  };
  EXPECT_EQ(patched("'name':'b'"),
            "400 the name of the object (b) does not match the name on the URL (a)");
  EXPECT_EQ(patched("'namespace':'b'"),
            "400 the namespace of the provided object does not match the namespace sent on the "
            "request");
  EXPECT_THAT(patched("'name':'b','namespace':'b'"), HasSubstr("400 the namespace of"));
  EXPECT_THAT(Call("PUT " + Services() + "/a", Quoted("{'metadata':{'namespace':'b'}}")).Message(),
              HasSubstr("the namespace of"));
  EXPECT_THAT(patched("'resourceVersion':'1'"), HasSubstr("409 Operation cannot be fulfilled on"));
  EXPECT_EQ(patched("'uid':'x'"),
            "422 Service \"a\" is invalid: metadata.uid: Invalid value: \"x\": field is immutable");
  EXPECT_THAT(patched("'resourceVersion':null"), HasSubstr("200 "));
}

TEST_F(PatchTest, OptionsOfAnApplyAndOfOthers) {
  PutService("a");
  EXPECT_EQ(Patch(Services() + "/a?force=false", kMergePatch, "{}").Message(),
            "PatchOptions.meta.k8s.io \"\" is invalid: force: Forbidden: may not be specified for "
            "non-apply patch");
  EXPECT_EQ(Patch(Services() + "/a", kApply, "{}").Message(),
            "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required "
            "for apply patch");
  EXPECT_EQ(Apply("a", std::string(129, 'm'), kPorts).Message(),
            "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Too long: may not be more "
            "than 128 bytes");
}

TEST_F(PatchTest, UnknownFieldsAreWarnedOfOrRefused) {
  PutService("a");
  const std::string body = "{'spec':{'bogus':1}}";
  EXPECT_THAT(Patch(Services() + "/a", kMergePatch, body).Warnings(),
              ElementsAre("299 - \"unknown field \\\"spec.bogus\\\"\""));
  EXPECT_EQ(Patch(Services() + "/a?fieldValidation=Strict", kMergePatch, body).code, 422);
  EXPECT_THAT(Patch(Services() + "/a?fieldValidation=Ignore", kMergePatch, body).Warnings(),
              IsEmpty());
}

TEST_F(PatchTest, WarningsAreSaidAlsoOfWhatIsRefused) {
  PutService("a");
  const std::string bogus = "'spec':{'bogus':1,'type':'None'}";
  const std::string warning = "299 - \"unknown field \\\"spec.bogus\\\"\"";
  for (const char* type : {kMergePatch, kStrategic}) {
    const Reply invalid = Patch(Services() + "/a", type, "{" + bogus + "}");
    EXPECT_EQ(invalid.code, 422);
    EXPECT_THAT(invalid.Warnings(), ElementsAre(warning)) << type;
  }
  const Reply renamed =
      Patch(Services() + "/a", kMergePatch, "{'metadata':{'name':'b'}," + bogus + "}");
  EXPECT_EQ(renamed.code, 400);
  EXPECT_THAT(renamed.Warnings(), ElementsAre(warning));
  const std::string headless =
      "{'metadata':{'name':'a'},'spec':{'clusterIP':'None','externalIPs':['192.0.2.1']}}";
  const Reply again = Post(Services(), headless);
  EXPECT_EQ(again.code, 409);
  EXPECT_THAT(again.Warnings(),
              ElementsAre("299 - \"spec.externalIPs is ignored for headless services\""));
}

TEST_F(PatchTest, TheStatusHasADoorOfItsOwn) {
  Post(Services(),
       "{'metadata':{'name':'a'},'spec':{'type':'LoadBalancer','ports':[{'port':80}]}}");
  const std::string status = "'status':{'loadBalancer':{'ingress':[{'ip':'192.0.2.1'}]}}";
  EXPECT_THAT(Patch(Services() + "/a", kMergePatch, "{" + status + "}").body,
              Not(HasSubstr("192.0.2.1")));
  const Reply reply = Patch(Services() + "/a/status", kMergePatch,
                            "{" + status + ",'spec':{'externalName':'no.example'}}", "lb/v1");
  EXPECT_THAT(reply.body, AllOf(HasSubstr("192.0.2.1"), Not(HasSubstr("externalName"))));
  EXPECT_THAT(Managers(reply), ElementsAre("Update lb @v1 status", "Update unknown @v1"));
  EXPECT_EQ(Patch("/api/v1/namespaces/b/status?fieldManager=m", kApply,
                  "{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'b'}}")
                .code,
            404)
      << "it does not create a namespace";
}

TEST_F(PatchTest, ApplyMakesAndOwns) {
  const Reply made = Apply("a", "me", kPorts);
  EXPECT_EQ(made.code, 201);
  EXPECT_THAT(Managers(made), ElementsAre("Apply me @v1"));
  const Reply more = Apply("a", "you", "'spec':{'selector':{'app':'web'}}");
  EXPECT_EQ(more.code, 200);
  EXPECT_THAT(Managers(more), ElementsAre("Apply me @v1", "Apply you @v1"));
  const Reply less = Apply("a", "you", "");
  EXPECT_THAT(less.body, Not(HasSubstr("\"selector\"")))
      << "fields that are no longer applied are removed";
  EXPECT_EQ(Patch("/api/v1/namespaces/new?fieldManager=me", kApply,
                  "{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'new'}}")
                .code,
            201)
      << "also where PUT does not create";
}

TEST_F(PatchTest, ApplyConflictsUnlessForced) {
  Post(Services() + "?fieldManager=one", ServiceBody("a", "'v':'1'"));
  const std::string mine = "'metadata':{'name':'a','labels':{'v':'2'}}";
  const Reply refused = Apply("a", "two", mine);
  EXPECT_EQ(refused.code, 409);
  EXPECT_EQ(refused.Message(),
            "Apply failed with 1 conflict: conflict with \"one\" using v1: .metadata.labels.v");
  const Reply forced = Apply("a", "two", mine, "&force=true");
  EXPECT_EQ(forced.code, 200);
  EXPECT_EQ(Label(forced, "v"), "2");
  EXPECT_EQ(
      Label(Apply("a", "two", "'metadata':{'name':'a','labels':{'v':'3'}}", "&dryRun=All"), "v"),
      "3");
  EXPECT_EQ(Label(Get(Services() + "/a"), "v"), "2") << "a dry run stores nothing";
}

TEST_F(PatchTest, ApplyReadsYaml) {
  const Reply made = Call("PATCH " + Services() + "/a?fieldManager=me",
                          "apiVersion: v1\nkind: Service\nmetadata:\n  name: a\nspec:\n  ports:\n"
                          "  - port: 80\n    port: 81\n",
                          {.content_type = kApply});
  EXPECT_EQ(made.code, 201) << made.body;
  EXPECT_THAT(made.Warnings(),
              ElementsAre("299 - \"line 8: key \\\"port\\\" already set in map\""));
  EXPECT_EQ(Call("PATCH " + Services() + "/a?fieldManager=me", "a: b: c", {.content_type = kApply})
                .Message(),
            "error decoding YAML: error converting YAML to JSON: yaml: mapping values are not "
            "allowed in this context");
}

TEST_F(PatchTest, WhatIsWrongWithAnApplyComesFirst) {
  const std::string none = "/api/v1/namespaces/none/services/a?fieldManager=me";
  EXPECT_EQ(Patch(none, kApply, "{'apiVersion':'v1','kind':'Pod'}").Message(),
            "invalid object type: /v1, Kind=Pod");
  EXPECT_EQ(
      Patch(none, kApply, "{'apiVersion':'v1','kind':'Service','metadata':{'name':'a'}}").Message(),
      "namespaces \"none\" not found");
  const auto strict = [&](const char* kind) {
    return Call(
               "PATCH " + Services() + "/a?fieldManager=me&fieldValidation=Strict",
               "apiVersion: v1\nkind: " + std::string(kind) + "\nmetadata:\n  name: a\n  name: a\n",
               {.content_type = kApply})
        .Message();
  };
  EXPECT_EQ(strict("Pod"), "invalid object type: /v1, Kind=Pod");
  EXPECT_THAT(strict("Service"), HasSubstr("error strict decoding YAML: "));
}

TEST_F(PatchTest, EveryWriteHasAManager) {
  const With kubectl{.agent = "kubectl/v1.36.4 (linux/amd64) kubernetes/abc"};
  Post(Services(), ServiceBody("a"), kubectl);
  EXPECT_THAT(Managers(Get(Services() + "/a")), ElementsAre("Update kubectl @v1"));
  Advance(std::chrono::seconds(1));
  Patch(Services() + "/a", kMergePatch, "{'metadata':{'labels':{'v':'1'}}}", "controller/v1");
  EXPECT_THAT(Managers(Get(Services() + "/a")),
              ElementsAre("Update kubectl @v1", "Update controller @v1"));
  EXPECT_THAT(Patch(Services() + "/a", kMergePatch, "{'metadata':{'managedFields':[]}}").body,
              Not(HasSubstr("managedFields")));
}

TEST_F(PatchTest, AnEventsFieldsAreNamedAsInTheGroupItIsWrittenThrough) {
  const std::string name = "/apis/events.k8s.io/v1/namespaces/shop/events/e?fieldManager=recorder";
  const Reply made =
      Patch(name, kApply,
            "{'apiVersion':'events.k8s.io/v1','kind':'Event','metadata':{'name':'e'},"
            "'eventTime':'2026-11-15T04:35:00.000000Z','reportingController':'example.com/c',"
            "'reportingInstance':'c-1','action':'Did','reason':'Because','type':'Normal',"
            "'note':'first','regarding':{'kind':'Service','namespace':'shop','name':'a'}}");
  ASSERT_EQ(made.code, 201) << made.body;
  EXPECT_THAT(Managers(made), ElementsAre("Apply recorder @events.k8s.io/v1"));
  EXPECT_THAT(made.body, HasSubstr("\"f:note\""));
  const Reply core = Patch("/api/v1/namespaces/shop/events/e", kMergePatch, "{'count':2}", "old/1");
  ASSERT_EQ(core.code, 200) << core.body;
  EXPECT_THAT(Managers(core), ElementsAre("Apply recorder @events.k8s.io/v1", "Update old @v1"));
  EXPECT_THAT(core.body, HasSubstr("\"message\":\"first\""));
}

TEST_F(PatchTest, ManyThatChangeOneObjectLoseNothing) {
  PutService("a");
  std::vector<uint32_t> sent;
  for (int i = 0; i < 150; ++i) {
    sent.push_back(Send("PATCH " + Services() + "/a",
                        Quoted("{'metadata':{'labels':{'l" + std::to_string(i) + "':'x'}}}"),
                        {.content_type = kMergePatch}));
  }
  for (const uint32_t stream : sent) EXPECT_EQ(Answer(stream).code, 200);
  const codec::Value object = Get(Services() + "/a").Json();
  EXPECT_THAT(codec::ObjectAt(object, "metadata", "labels"), SizeIs(150));
}

}  // namespace
}  // namespace berth::server::testing
