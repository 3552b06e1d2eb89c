// Answers in protobuf: they have the content of the JSON answers, encoded as Go clients expect.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "server/protobuf_testing.h"

namespace berth::server::testing {
namespace {

using std::literals::operator""s;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::StartsWith;

TEST_F(ProtobufTest, EveryKindSaysWhatItsJsonSays) {
  const auto samples = Samples();
  for (const api::Kind* kind : parts_->kinds.Views()) {
    if (!kind->has_protobuf) continue;
    SCOPED_TRACE(kind->api_version);
    SCOPED_TRACE(kind->kind);
    ASSERT_EQ(samples.count(kind), 1U) << "a new kind needs a sample here";
    const Sample& sample = samples.at(kind);
    const Reply made = sample.there.empty()
                           ? Post(sample.url, sample.body, {.accept = kProtobufOrJson})
                           : Get(sample.url + "/" + sample.there, {.accept = kProtobufOrJson});
    ASSERT_EQ(made.code, sample.there.empty() ? 201 : 200) << made.body;
    EXPECT_EQ(made.Header("content-type"), kProtobuf);
    const codec::Value object = Object(made.body, *kind);
    const std::string url =
        sample.url + "/" + std::string(codec::StringAt(object, "metadata", "name"));
    EXPECT_EQ(object, Canonical(Get(url).Json(), *kind->message));
    if (sample.there.empty()) {
      EXPECT_EQ(codec::StringAt(object, "metadata", "resourceVersion"), Now());
    }
    EXPECT_EQ(GetProto(url).body, made.body);

    const std::string list =
        Unwrapped(GetProto(sample.url).body, kind->api_version, std::string(kind->kind) + "List");
    const codec::Value list_json = Get(sample.url).Json();
    std::vector<Field> expected = {
        {.number = 1, .content = codec::EncodeProto(*list_json.Find("metadata"), api::kListMeta)}};
    for (const codec::Value& item : codec::ArrayAt(list_json, "items")) {
      expected.push_back(
          {.number = 2,
           .content = codec::EncodeProto(Canonical(item, *kind->message), *kind->message)});
    }
    EXPECT_EQ(FieldsOf(list), expected);
    EXPECT_GE(expected.size(), 2U);
  }
}

TEST_F(ProtobufTest, Writes) {
  const With with{.accept = kProtobufOrJson};
  PutService("a");
  const Reply put = Put(Services() + "/a", ServiceBody("a", "'v':'2'"), with);
  EXPECT_EQ(put.code, 200);
  EXPECT_EQ(put.body, GetProto(Services() + "/a").body);
  const Reply patched =
      Call("PATCH " + Services() + "/a", Quoted("{'metadata':{'labels':{'v':'3'}}}"),
           {.accept = kProtobuf, .content_type = "application/merge-patch+json"});
  EXPECT_EQ(patched.code, 200);
  EXPECT_EQ(patched.body, GetProto(Services() + "/a").body);
  const Reply tried = Post(Services() + "?dryRun=All", ServiceBody("b"), with);
  EXPECT_EQ(tried.code, 201);
  EXPECT_FALSE(codec::HasAt(Object(tried.body, api::kServiceKind), "metadata", "resourceVersion"));

  const std::string before = Now();
  const Reply gone = Delete(Services() + "/a", {}, with);
  EXPECT_EQ(gone.code, 200);
  EXPECT_EQ(codec::StringAt(Object(gone.body, api::kServiceKind), "metadata", "resourceVersion"),
            std::to_string(std::stoll(before) + 1))
      << "the revision of the deletion";
  PutService("c");
  PutService("d");
  const Reply all = Call("DELETE " + Services(), {}, with);
  EXPECT_EQ(all.Header("content-type"), kProtobuf);
  EXPECT_THAT(FieldsOf(Unwrapped(all.body, "v1", "ServiceList")), SizeIs(3));
}

TEST_F(ProtobufTest, AProtobufBodyAndAProtobufAnswer) {
  const std::string made =
      Post("/api/v1/namespaces", "{'metadata':{'name':'a'}}", {.accept = kProtobuf}).body;
  const Reply put =
      Call("PUT /api/v1/namespaces/a", made, {.accept = kProtobuf, .content_type = kProtobuf});
  EXPECT_EQ(put.code, 200);
  EXPECT_EQ(put.body, made) << "writing back what was read changes nothing";
}

// metadata = 1 (selfLink, resourceVersion, continue), status = 2, message = 3, reason = 4,
// details = 5 (name = 1, group = 2, kind = 3, retryAfterSeconds = 5, uid = 6), code = 6.
TEST_F(ProtobufTest, AFailureByteForByte) {
  const Reply missing = Get(Services() + "/a", {.accept = kProtobufOrJson});
  EXPECT_EQ(missing.code, 404);
  EXPECT_EQ(missing.Header("content-type"), kProtobuf);
  EXPECT_EQ(missing.body,
            Bytes("'k8s' 00 0a0c 0a02'v1' 1206'Status' 124b"
                  "0a06 0a00 1200 1a00 1207'Failure' 1a16'services \"a\" not found'"
                  "2208'NotFound' 2a13 0a01'a' 1200 1a08'services' 2800 3200 309403 1a00 2200"));
}

TEST_F(ProtobufTest, FailuresOfEveryKind) {
  const auto status = [](const Reply& reply) {
    EXPECT_EQ(reply.Header("content-type"), kProtobuf);
    return Decoded(Unwrapped(reply.body, "v1", "Status"), api::kStatus);
  };
  const auto same = [&](const std::string& line, const std::string& body) {
    const Reply json = Call(line, Quoted(body));
    const Reply proto = Call(line, Quoted(body), {.accept = kProtobuf});
    EXPECT_GE(json.code, 400);
    EXPECT_EQ(proto.code, json.code);
    EXPECT_EQ(status(proto), Canonical(json.Json(), api::kStatus)) << json.body;
  };
  same("POST " + Services(), "{'metadata':{'name':'A'}}");  // Has causes.
  same("POST " + Services(), "{'metadata':1}");
  same("GET " + Services() + "?limit=x", "");
  same("GET " + Services() + "?watch=1&labelSelector=!!", "");
  same("PUT " + Services(), "");
  same("GET /api/v1/pods", "");
  PutService("a");
  same("POST " + Services(), ServiceBody("a"));
  EXPECT_EQ(codec::IntAt(status(Get(Services(), {.accept = kProtobuf, .token = "wrong"})), "code"),
            401);
  EXPECT_EQ(codec::IntAt(status(Get(Services(), {.accept = kProtobuf, .token = "guest"})), "code"),
            403);
}

TEST_F(ProtobufTest, AFailureIsNoTableAndNoMetadata) {
  const std::string partial = As("PartialObjectMetadata");
  const Reply json = Get(Services() + "/a", {.accept = partial + ",application/json"});
  EXPECT_EQ(json.code, 404);
  EXPECT_EQ(json.Header("content-type"), "application/json");
  EXPECT_THAT(json.body, StartsWith("{\"kind\":\"Status\""));
  const Reply nothing = Get(Services() + "/a", {.accept = partial});
  EXPECT_EQ(nothing.code, 404);
  EXPECT_EQ(nothing.Header("content-type"), "application/json");
  EXPECT_THAT(nothing.body, StartsWith("{\n  \"kind\": \"Status\"")) << "no acceptable type";
}

TEST_F(ProtobufTest, ADeletesStatus) {
  const std::string leases = "/apis/coordination.k8s.io/v1/namespaces/shop/leases";
  Post(leases, "{'metadata':{'name':'l'}}");
  const Reply gone = Delete(leases + "/l", {}, {.accept = kProtobuf});
  EXPECT_EQ(gone.code, 200);
  EXPECT_EQ(gone.Header("content-type"), kProtobuf);
  const codec::Value status = Decoded(Unwrapped(gone.body, "v1", "Status"), api::kStatus);
  EXPECT_EQ(codec::StringAt(status, "status"), "Success");
  EXPECT_EQ(codec::StringAt(status, "details", "name"), "l");
  EXPECT_EQ(codec::StringAt(status, "details", "group"), "coordination.k8s.io");
  EXPECT_THAT(codec::StringAt(status, "details", "uid"), SizeIs(36));
}

TEST_F(ProtobufTest, PagesOfAList) {
  for (const char* name : {"a", "b", "c"}) PutService(name);
  const std::string url = Services() + "?limit=2";
  const std::vector<Field> page = FieldsOf(Unwrapped(GetProto(url).body, "v1", "ServiceList"));
  ASSERT_THAT(page, SizeIs(3));
  const codec::Value meta = Decoded(page[0].content, api::kListMeta);
  EXPECT_EQ(meta, *Get(url).Json().Find("metadata"));
  EXPECT_EQ(codec::IntAt(meta, "remainingItemCount"), 1);
  const std::string next = url + "&continue=" + std::string(codec::StringAt(meta, "continue"));
  EXPECT_THAT(FieldsOf(Unwrapped(GetProto(next).body, "v1", "ServiceList")), SizeIs(2));
}

TEST_F(ProtobufTest, BareMetadata) {
  PutService("a", "'app':'web'");
  PutService("b");
  for (const std::string& version : {"v1"s, "v1beta1"s}) {
    const std::string group_version = "meta.k8s.io/" + version;
    const std::string one =
        Unwrapped(GetProto(Services() + "/a", As("PartialObjectMetadata", version)).body,
                  group_version, "PartialObjectMetadata");
    const codec::Value object =
        Canonical(Get(Services() + "/a").Json(), *api::kServiceKind.message);
    ASSERT_THAT(FieldsOf(one), SizeIs(1));
    EXPECT_EQ(FieldsOf(one)[0].number, 1U);
    EXPECT_EQ(Decoded(FieldsOf(one)[0].content, api::kObjectMeta), *object.Find("metadata"));

    const std::vector<Field> list =
        FieldsOf(Unwrapped(GetProto(Services(), As("PartialObjectMetadataList", version)).body,
                           group_version, "PartialObjectMetadataList"));
    ASSERT_THAT(list, SizeIs(3));
    const bool old = version == "v1beta1";  // There the items have the lower number.
    const Field& meta = old ? list[2] : list[0];
    EXPECT_EQ(meta.number, old ? 2U : 1U);
    EXPECT_EQ(codec::StringAt(Decoded(meta.content, api::kListMeta), "resourceVersion"), Now());
    EXPECT_EQ(list[old ? 0 : 1].number, old ? 1U : 2U);
    EXPECT_EQ(list[old ? 0 : 1].content, one);
  }
  const Reply wrong = Get(Services(), {.accept = As("PartialObjectMetadata")});
  EXPECT_EQ(wrong.code, 406) << "a list is not an object";
}

TEST_F(ProtobufTest, TablesAreForTheNextClause) {
  PutService("a");
  const Reply table = Get(Services(), {.accept = As("Table") + "," + kTable});
  EXPECT_EQ(table.Text("kind"), "Table");
  EXPECT_EQ(table.Header("content-type"), "application/json");
  const Reply refused = Get(Services(), {.accept = As("Table")});
  EXPECT_EQ(refused.code, 406);
  EXPECT_THAT(refused.Message(), HasSubstr("only the following media types are accepted: "));
  EXPECT_EQ(GetProto(Services(), As("Table") + "," + kProtobuf).code, 200);
}

// APIResource: name = 1, namespaced = 2, kind = 3, verbs = 4 (items = 1), shortNames = 5,
// singularName = 6, categories = 7, group = 8, version = 9, storageVersionHash = 10.
TEST_F(ProtobufTest, Discovery) {
  EXPECT_EQ(GetProto("/api").body,
            Bytes("'k8s' 00 0a0f 0a00 120b'APIVersions' 1213 0a02'v1' 120d 0a09'0.0.0.0/0' 1200"
                  "1a00 2200"));
  const std::string version = "0a16'coordination.k8s.io/v1' 1202'v1'";
  const std::string group = "0a13'coordination.k8s.io' 121c" + version + "1a1c" + version;
  EXPECT_EQ(
      Unwrapped(GetProto("/apis/coordination.k8s.io", kProtobufOrJson).body, "v1", "APIGroup"),
      Bytes(group));
  const auto groups = FieldsOf(Unwrapped(GetProto("/apis").body, "v1", "APIGroupList"));
  EXPECT_THAT(groups, ::testing::Contains(Field{.number = 1, .content = Bytes(group)}));
  const std::string leases = "/apis/coordination.k8s.io/v1";
  const auto list = FieldsOf(Unwrapped(GetProto(leases).body, "v1", "APIResourceList"));
  ASSERT_THAT(list, SizeIs(2));
  EXPECT_EQ(list[0], (Field{.number = 1, .content = "coordination.k8s.io/v1"}));
  EXPECT_THAT(list[1].content, StartsWith(Bytes("0a06'leases' 1001 1a05'Lease' 22")));
  EXPECT_THAT(list[1].content, HasSubstr(Bytes("0a03'get' 0a04'list'")));
  EXPECT_THAT(list[1].content, HasSubstr(Bytes("3205'lease' 4200 4a00 520c")));
  EXPECT_EQ(Get(leases, {.accept = "*/*"}).Text("kind"), "APIResourceList") << "JSON";
}

TEST_F(ProtobufTest, ALongListComesInPieces) {
  const std::string text(9'000, 'x');
  std::vector<std::string> items;
  for (int i = 0; i < 150; ++i) {
    const std::string name = "s" + std::to_string(1000 + i);
    Put(Services() + "/" + name,
        fmt::format("{{'metadata':{{'name':'{}','annotations':{{'t':'{}'}}}},"
                    "'spec':{{'ports':[{{'port':80}}]}}}}",
                    name, text));
    items.push_back(Unwrapped(GetProto(Services() + "/" + name).body, "v1", "Service"));
  }
  const uint32_t stream = Send("GET " + Services(), {}, {.accept = kProtobuf});
  Reply reply = Answer(stream);
  while (reply.code == 0) {  // A worker renders it.
    std::this_thread::yield();
    reply = Answer(stream);
  }
  ASSERT_NE(reply.source, nullptr) << "not in one body";
  EXPECT_EQ(reply.Header("content-type"), kProtobuf);
  std::string body;
  size_t largest = 0;
  for (http::Pulled pulled = http::Pulled::kMore; pulled == http::Pulled::kMore;) {
    http::Pieces pieces;
    pulled = reply.source->Pull(pieces, 20'000);
    largest = std::max(largest, pieces.bytes());
    body += pieces.Flatten();
  }
  EXPECT_LT(largest, 40'000U);
  const std::vector<Field> fields = FieldsOf(Unwrapped(body, "v1", "ServiceList"));
  ASSERT_THAT(fields, SizeIs(items.size() + 1));
  for (size_t i = 0; i < items.size(); ++i) EXPECT_EQ(fields[i + 1].content, items[i]);
}

}  // namespace
}  // namespace berth::server::testing
