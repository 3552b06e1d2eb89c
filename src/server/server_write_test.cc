#include "server/server_write.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "codec/protobuf.h"
#include "server/testing/server_kit.h"

namespace berth::server::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr const char* kYaml = "application/yaml";
constexpr const char* kProtobuf = "application/vnd.kubernetes.protobuf";

class WriteTest : public ServerTest {
 protected:
  static std::string After(const std::string& version, int64_t count) {
    return std::to_string(std::stoll(version) + count);
  }
};

TEST_F(WriteTest, CreateUpdateAndDeleteAnswerWithTheObject) {
  const Reply made = Post(Services(), ServiceBody("a"));
  EXPECT_EQ(made.code, 201);
  EXPECT_EQ(made.Text("kind"), "Service");
  EXPECT_EQ(made.Text("apiVersion"), "v1");
  EXPECT_EQ(made.Version(), Now());
  EXPECT_EQ(Get(Services() + "/a").body, made.body);

  const Reply put = Put(Services() + "/a", ServiceBody("a", "'v':'2'"));
  EXPECT_EQ(put.code, 200);
  EXPECT_EQ(put.Version(), Now());
  const Reply same = Put(Services() + "/a", ServiceBody("a", "'v':'2'"));
  EXPECT_EQ(same.code, 200);
  EXPECT_EQ(same.body, put.body) << "nothing was written";

  const Reply gone = Delete(Services() + "/a");
  EXPECT_EQ(gone.code, 200);
  EXPECT_EQ(gone.Text("kind"), "Service");
  EXPECT_EQ(gone.Version(), After(put.Version(), 1)) << "the revision of the deletion";
  EXPECT_EQ(Now(), After(put.Version(), 2)) << "and then its address is released";
  const Reply missing = Get(Services() + "/a");
  EXPECT_EQ(missing.code, 404);
  EXPECT_EQ(missing.body, R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",)"
                          R"("message":"services \"a\" not found","reason":"NotFound",)"
                          R"("details":{"name":"a","kind":"services"},"code":404})"
                          "\n");
}

TEST_F(WriteTest, PutOfWhatIsNotThereIsACreate) {
  EXPECT_EQ(Put(Services() + "/a", ServiceBody("a")).code, 201);
  EXPECT_EQ(Put(Services() + "/a/status", ServiceBody("a")).code, 200);
  EXPECT_EQ(Put(Services() + "/b/status", ServiceBody("b")).code, 201) << "as in Kubernetes";
  EXPECT_EQ(Put(Services("none") + "/b/status", ServiceBody("b")).Message(),
            "namespaces \"none\" not found");
  EXPECT_EQ(Put("/api/v1/namespaces/x", "{'metadata':{'name':'x'}}").code, 404);
}

TEST_F(WriteTest, DeleteOfOtherKindsAnswersWithAStatus) {
  const std::string leases = "/apis/coordination.k8s.io/v1/namespaces/shop/leases";
  const Reply made = Post(leases, "{'metadata':{'name':'l'}}");
  const Reply gone = Delete(leases + "/l");
  EXPECT_EQ(gone.code, 200);
  EXPECT_EQ(gone.body,
            R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","details":)"
            R"({"name":"l","group":"coordination.k8s.io","kind":"leases","uid":")" +
                std::string(codec::StringAt(made.Json(), "metadata", "uid")) + "\"}}\n");
  Post(leases, "{'metadata':{'name':'l'}}");
  EXPECT_EQ(Delete(leases + "/l", {}, {.accept = kPartial}).Text("kind"), "Status")
      << "a Status has no metadata to show";
  EXPECT_EQ(Delete("/api/v1/namespaces/shop").Text("kind"), "Namespace");
}

TEST_F(WriteTest, KindAndVersionComeFromThePathOrMustBeItsOwn) {
  const struct {
    const char* identity;
    int code;
    const char* message;
  } cases[] = {
      {"", 201, ""},
      {"'kind':'Service',", 201, ""},
      {"'apiVersion':'v1',", 201, ""},
      {"'kind':'Namespace','apiVersion':'v1',", 400,
       "Namespace in version \"v1\" cannot be handled as a Service: converting (v1.Namespace) to "
       "(core.Service): unknown conversion"},
      {"'kind':'Service','apiVersion':'v2',", 400,
       "the API version in the data (v2) does not match the expected API version (v1)"},
  };
  for (const auto& [identity, code, message] : cases) {
    const Reply made = Post(Services(), std::string("{") + identity +
                                            "'metadata':{'generateName':'a-'},"
                                            "'spec':{'ports':[{'port':80}]}}");
    EXPECT_EQ(made.code, code) << identity << made.body;
    if (code != 201) {
      EXPECT_EQ(made.Message(), message);
      EXPECT_EQ(made.Text("reason"), "BadRequest");
    }
  }
}

TEST_F(WriteTest, NameAndNamespaceMustBeThoseOfThePath) {
  PutService("a");
  const Reply other = Put(Services() + "/a", ServiceBody("b"));
  EXPECT_EQ(other.code, 400);
  EXPECT_EQ(other.Message(), "the name of the object (b) does not match the name on the URL (a)");
  EXPECT_EQ(Put(Services() + "/a", "{'metadata':{}}").code, 400);
  for (const auto& [method, url] :
       {std::pair("POST ", Services()), std::pair("PUT ", Services() + "/a")}) {
    const Reply reply = Call(method + url, Quoted("{'metadata':{'name':'a','namespace':'other'}}"));
    EXPECT_EQ(reply.code, 400);
    EXPECT_EQ(reply.Message(),
              "the namespace of the provided object does not match the namespace sent on the "
              "request");
  }
  const Reply cluster = Post("/api/v1/namespaces", "{'metadata':{'name':'x','namespace':'shop'}}");
  EXPECT_EQ(cluster.code, 201);
  EXPECT_EQ(codec::StringAt(cluster.Json(), "metadata", "namespace"), "");
}

TEST_F(WriteTest, UnknownAndRepeatedFields) {
  const std::string body =
      "{'metadata':{'generateName':'a-'},'spec':{'bogus':1,'ports':[{'port':80,'port':80}]}}";
  const std::string unknown = "unknown field \"spec.bogus\"";
  const std::string repeated = "duplicate field \"spec.ports[0].port\"";
  for (const char* query : {"", "?fieldValidation=Warn"}) {
    const Reply warned = Post(Services() + query, body);
    EXPECT_EQ(warned.code, 201) << warned.body;
    EXPECT_THAT(warned.Warnings(),
                ElementsAre("299 - \"unknown field \\\"spec.bogus\\\"\"",
                            "299 - \"duplicate field \\\"spec.ports[0].port\\\"\""));
  }
  const Reply ignored = Post(Services() + "?fieldValidation=Ignore", body);
  EXPECT_EQ(ignored.code, 201);
  EXPECT_THAT(ignored.Warnings(), IsEmpty());
  const std::string before = Now();
  const Reply strict = Post(Services() + "?fieldValidation=Strict", body);
  EXPECT_EQ(strict.code, 400);
  EXPECT_EQ(strict.Message(),
            "Service in version \"v1\" cannot be handled as a Service: strict decoding error: " +
                unknown + ", " + repeated);
  const Reply bogus = Post(Services() + "?fieldValidation=strict", body);
  EXPECT_EQ(bogus.code, 422);
  EXPECT_EQ(bogus.Message(),
            "CreateOptions.meta.k8s.io \"\" is invalid: fieldValidation: Unsupported value: "
            "\"strict\": supported values: \"\", \"Ignore\", \"Strict\", \"Warn\"");
  EXPECT_THAT(Put(Services() + "/a?fieldValidation=x", ServiceBody("a")).Message(),
              StartsWith("UpdateOptions.meta.k8s.io \"\" is invalid: "));
  EXPECT_EQ(Now(), before);
}

TEST_F(WriteTest, WarningsOfTheKindAreTold) {
  const Reply made =
      Post(Services(),
           "{'metadata':{'name':'a'},'spec':{'clusterIP':'None','ports':[{'port':80}],"
           "'sessionAffinity':'ClientIP'}}");
  EXPECT_EQ(made.code, 201) << made.body;
  EXPECT_THAT(made.Warnings(),
              ElementsAre("299 - \"spec.SessionAffinity is ignored for headless services\""));
  const Reply owners = Post(Services(),
                            "{'metadata':{'name':'b','ownerReferences':["
                            "{'apiVersion':'v1','kind':'K','name':'n','uid':'u'},"
                            "{'apiVersion':'v1','kind':'K','name':'n','uid':'u'}]},"
                            "'spec':{'ports':[{'port':80}]}}");
  EXPECT_EQ(owners.code, 201) << owners.body;
  EXPECT_THAT(owners.Warnings(), ElementsAre(HasSubstr("duplicate UID(s) observed: u")));
}

TEST_F(WriteTest, OfManyWarningsTheLastIsTheOneThatReachesTheLimit) {
  const auto length = [](const Reply& reply) {
    size_t total = 0;
    for (const std::string& each : reply.Warnings()) {
      total += each.size() - std::string_view("299 - \"\"").size() -
               static_cast<size_t>(std::ranges::count(each, '\\'));
    }
    return total;
  };
  // The characters have two bytes each: the limit counts characters.
  std::string letters;
  for (int i = 0; i < 40; ++i) letters += "\u00e9";
  std::string fields;
  for (int i = 0; i < 60; ++i) fields += "'" + letters + std::to_string(i) + "':1,";
  const std::string rest = "'metadata':{'generateName':'a-'},'spec':{'ports':[{'port':80}]}}";
  const Reply all = Post(Services(), "{" + fields + rest);
  EXPECT_EQ(all.code, 201) << all.body;
  EXPECT_THAT(all.Warnings(), SizeIs(60));
  std::string long_fields;
  for (int i = 0; i < 60; ++i) {
    long_fields += "'" + std::string(300, 'x') + std::to_string(i) + "':1,";
  }
  const Reply some = Post(Services(), "{" + long_fields + rest);
  EXPECT_EQ(some.code, 201) << some.body;
  EXPECT_THAT(some.Warnings(), SizeIs(16)) << "the same to the 256th character, but not the same";
  EXPECT_EQ(length(some), 4096U);
  const Reply quoted = Post(Services(), R"({'a\'b\u0001':1,)" + rest);
  EXPECT_THAT(quoted.Warnings(), ElementsAre(R"(299 - "unknown field \"a\\\"b\\x01\"")"));
}

TEST_F(WriteTest, BodiesInEveryForm) {
  const std::string proto = codec::WrapEnvelope(
      "v1", "Namespace",
      codec::EncodeProto(codec::Object{{"metadata", codec::Object{{"name", "c"}}}},
                         *parts_->kinds.NamespaceRow().kind->message));
  const struct {
    const char* type;
    std::string body;
    int code;
  } cases[] = {
      {"", Quoted("{'metadata':{'name':'a'}}"), 201},
      {"application/json; charset=utf-8", Quoted("{'metadata':{'name':'a2'}}"), 201},
      {kYaml, "metadata:\n  name: b\n", 201},
      {kProtobuf, proto, 201},
      {kProtobuf, "k8s", 400},
      {"text/plain", Quoted("{'metadata':{'name':'d'}}"), 415},
      {"application/json", "", 400},
      {"application/json", "{", 400},
      {"application/json", "[]", 400},
  };
  for (const auto& [type, body, code] : cases) {
    const Reply made = Call("POST /api/v1/namespaces", body, {.content_type = type});
    EXPECT_EQ(made.code, code) << type << ": " << made.body;
    if (code == 415) {
      EXPECT_THAT(made.Message(), HasSubstr("accepted media types include: application/json"));
      EXPECT_EQ(made.Text("reason"), "UnsupportedMediaType");
    }
  }
  EXPECT_EQ(Get("/api/v1/namespaces/c").code, 200);
}

TEST_F(WriteTest, AnswersInEveryForm) {
  const Reply yaml = Post(Services(), ServiceBody("a"), {.accept = kYaml});
  EXPECT_EQ(yaml.Header("content-type"), kYaml);
  EXPECT_THAT(yaml.body, StartsWith("apiVersion: v1\nkind: Service\n"));
  const Reply table = Put(Services() + "/a", ServiceBody("a"), {.accept = kTable});
  EXPECT_EQ(table.Text("kind"), "Table");
  EXPECT_THAT(table.Names(), ElementsAre("a"));
  const Reply partial = Get(Services() + "/a", {.accept = kPartial});
  EXPECT_EQ(partial.Text("kind"), "PartialObjectMetadata");
  EXPECT_FALSE(codec::HasAt(partial.Json(), "spec"));
  EXPECT_THAT(Get(Services() + "/a?pretty=true").body, StartsWith("{\n  \"kind\": \"Service\",\n"));
  EXPECT_THAT(Get(Services() + "/a", {.agent = "curl/8.1"}).body, StartsWith("{\n  \"kind\""));
  EXPECT_EQ(Get(Services() + "/a", {.accept = "text/html"}).code, 406);
  EXPECT_EQ(Get(Services(), {.accept = kPartial}).code, 406)
      << "a list needs PartialObjectMetadataList";
  EXPECT_EQ(Get(Services() + "/a", {.accept = kPartialList}).code, 406);
  EXPECT_THAT(Get("/apis/coordination.k8s.io/v1/leases", {.accept = kPartial}).body,
              HasSubstr("(*coordination.LeaseList)"));
  const Reply list = Get(Services(), {.accept = kPartialList});
  EXPECT_EQ(list.Text("kind"), "PartialObjectMetadataList");
  EXPECT_THAT(list.Names(), ElementsAre("a"));
  EXPECT_EQ(Get(Services() + "/no", {.accept = kTable}).Text("kind"), "Status");
}

TEST_F(WriteTest, TablesCarryWhatIsAskedFor) {
  PutService("a");
  const struct {
    const char* query;
    const char* kind;
  } cases[] = {{"", "PartialObjectMetadata"},
               {"?includeObject=Metadata", "PartialObjectMetadata"},
               {"?includeObject=Object", "Service"},
               {"?includeObject=None", ""}};
  for (const auto& [query, kind] : cases) {
    const codec::Value table = Get(Services() + query, {.accept = kTable}).Json();
    ASSERT_EQ(codec::ArrayAt(table, "rows").size(), 1U) << query;
    const codec::Value& row = codec::ArrayAt(table, "rows").front();
    EXPECT_EQ(codec::StringAt(row, "object", "kind"), kind) << query;
    EXPECT_EQ(codec::ArrayAt(row, "cells").size(),
              codec::ArrayAt(table, "columnDefinitions").size());
    EXPECT_EQ(codec::StringAt(table, "metadata", "resourceVersion"), Now());
  }
  const Reply bad = Get(Services() + "?includeObject=All", {.accept = kTable});
  EXPECT_EQ(bad.code, 400);
}

TEST_F(WriteTest, DryRunsStoreNothing) {
  PutService("a");
  const std::string before = Now();
  EXPECT_EQ(Post(Services() + "?dryRun=All", ServiceBody("b")).code, 201);
  const Reply put = Put(Services() + "/a?dryRun=All", ServiceBody("a", "'v':'2'"));
  EXPECT_EQ(put.code, 200);
  EXPECT_THAT(put.body, HasSubstr("\"labels\":{\"v\":\"2\"}"));
  for (const auto& [query, body] :
       {std::pair("?dryRun=All", ""), std::pair("", "{'dryRun':['All']}")}) {
    const Reply gone = Delete(Services() + "/a" + query, body);
    EXPECT_EQ(gone.code, 200);
    EXPECT_EQ(gone.Version(), before);
  }
  for (const char* line : {"POST ", "PUT ", "DELETE "}) {
    const bool one = line[0] != 'P' || line[1] == 'U';
    const Reply bad = Call(line + Services() + (one ? "/a" : "") + "?dryRun=Some",
                           line[0] == 'D' ? "" : Quoted(ServiceBody("a")));
    EXPECT_EQ(bad.code, 422) << line;
    EXPECT_THAT(bad.Message(), HasSubstr("dryRun: Unsupported value: [\"Some\"]"));
  }
  EXPECT_EQ(Now(), before);
  EXPECT_THAT(Get(Services()).Names(), ElementsAre("a"));
}

TEST_F(WriteTest, DeleteOptionsFromBodyOrQuery) {
  const struct {
    const char* query;
    const char* body;
    int code;
    const char* what;  // A part of the answer.
  } cases[] = {
      {"", "{}", 200, "\"Service\""},
      {"", "{'kind':'DeleteOptions','apiVersion':'v1','gracePeriodSeconds':0}", 200, "\"Service\""},
      {"", "{'kind':'DeleteOptions','apiVersion':'meta.k8s.io/v1'}", 200, "\"Service\""},
      {"", "{'propagationPolicy':'Background'}", 200, "\"Service\""},
      {"?propagationPolicy=Foreground", "", 200, "foregroundDeletion"},
      {"", "{'propagationPolicy':'Orphan'}", 200, "\"orphan\""},
      {"?propagationPolicy=Foreground", "{'propagationPolicy':'Orphan'}", 200, "\"orphan\""},
      {"?orphanDependents=true", "", 200, "\"orphan\""},
      {"", "{'propagationPolicy':'Bogus'}", 422, "propagationPolicy: Unsupported value"},
      {"", "{'propagationPolicy':'Orphan','orphanDependents':true}", 422, "both set"},
      {"", "{'preconditions':{'uid':'no'}}", 409, "UID in the precondition (no)"},
      {"", "{'preconditions':{'resourceVersion':'1'}}", 409, "ResourceVersion in the precondition"},
      {"?uid=no", "", 409, "UID in the precondition (no)"},
      {"?resourceVersion=1", "", 409, "ResourceVersion in the precondition (1)"},
      {"?dryRun=x&propagationPolicy=Bogus&orphanDependents=1", "", 422,
       "is invalid: [propagationPolicy: Invalid value: \\\"Bogus\\\": orphanDependents and "
       "deletionPropagation cannot be both set, propagationPolicy: Unsupported value: "
       "\\\"Bogus\\\": supported values: \\\"Foreground\\\", \\\"Background\\\", "
       "\\\"Orphan\\\", \\\"nil\\\", dryRun: Unsupported value: [\\\"x\\\"]"},
      {"?gracePeriodSeconds=x", "", 400, "strconv.ParseInt: parsing"},
      {"?gracePeriodSeconds=", "", 400, "strconv.ParseInt: parsing"},
      {"?gracePeriodSeconds=30", "", 200, "\"Service\""},
      {"", "{'kind':'Pod','apiVersion':'v1'}", 400, "no kind \\\"Pod\\\" is registered"},
      {"", "{", 400, "unexpected end of JSON input"},
  };
  int number = 0;
  for (const auto& [query, body, code, what] : cases) {
    const std::string name = "s" + std::to_string(number++);
    PutService(name);
    const Reply reply = Delete(Services() + "/" + name + query, body);
    EXPECT_EQ(reply.code, code) << query << body << ": " << reply.body;
    EXPECT_THAT(reply.body, HasSubstr(what)) << query << body;
  }
}

TEST_F(WriteTest, WhoAsksInTheOldWayToWaitIsToldThatItTakesLonger) {
  for (const char* finalizers : {"[]", "['ex.io/a']"}) {
    Post(Services(), std::string("{'metadata':{'name':'a','finalizers':") + finalizers +
                         "},'spec':{'ports':[{'port':80}]}}");
    EXPECT_EQ(Delete(Services() + "/a", "{'orphanDependents':false}").code,
              finalizers == std::string("[]") ? 200 : 202);
  }
  const std::string before = Now();
  const Reply last = Put(Services() + "/a", ServiceBody("a", "'last':'word'"));
  EXPECT_EQ(last.code, 200);
  EXPECT_THAT(last.body, HasSubstr("\"labels\":{\"last\":\"word\"}"));
  EXPECT_EQ(last.Version(), before) << "not the revision of the deletion";
  EXPECT_EQ(Get(Services() + "/a").code, 404);
}

}  // namespace
}  // namespace berth::server::testing
