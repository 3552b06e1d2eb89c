// IPAddresses of allocation.berth.io: the records of networking.k8s.io under other names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "server/testing/server_kit.h"

namespace berth::server::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

constexpr const char* kTen = "174063626";     // 10.96.0.10
constexpr const char* kEleven = "174063627";  // 10.96.0.11
constexpr const char* kTwelve = "174063628";  // 10.96.0.12

class AddressViewTest : public ServerTest {
 protected:
  static std::string View(const std::string& name = {}) {
    return "/apis/allocation.berth.io/v1alpha1/ipaddresses" + (name.empty() ? "" : "/" + name);
  }
  static std::string Stored(const std::string& name = {}) {
    return "/apis/networking.k8s.io/v1/ipaddresses" + (name.empty() ? "" : "/" + name);
  }

  /// Creates a Service that has the address.
  void MakeService(const std::string& name, const std::string& ip) {
    const Reply made =
        Post(Services(), "{'metadata':{'name':'" + name + "'},'spec':{'clusterIP':'" + ip +
                             "','ports':[{'port':80}]}}");
    EXPECT_EQ(made.code, 201) << made.body;
  }
  /// Creates an address without a Service, through networking.k8s.io.
  Reply Keep(const std::string& address, const std::string& labels = {}) {
    return Post(Stored(), "{'metadata':{'name':'" + address + "','labels':{" + labels +
                              "}},'spec':{'parentRef':{'group':'corp.io','resource':'routers',"
                              "'name':'r1'}}}");
  }
  Reply Reserve(const std::string& name, const std::string& spec = {},
                const std::string& metadata = {}, const std::string& query = {}) {
    return Post(View() + query,
                "{'metadata':{'name':'" + name + "'" + metadata + "},'spec':{" + spec + "}}");
  }

  template <typename... Path>
  static std::string At(const Reply& reply, const Path&... path) {
    return std::string(codec::StringAt(reply.Json(), path...));
  }
};

TEST_F(AddressViewTest, ShowsTheRecordOfAService) {
  MakeService("web", "10.96.0.10");
  const Reply shown = Get(View(kTen));
  ASSERT_EQ(shown.code, 200) << shown.body;
  const codec::Value object = shown.Json();
  EXPECT_EQ(codec::StringAt(object, "kind"), "IPAddress");
  EXPECT_EQ(codec::StringAt(object, "apiVersion"), "allocation.berth.io/v1alpha1");
  EXPECT_EQ(codec::StringAt(object, "metadata", "name"), kTen);
  EXPECT_EQ(codec::StringAt(object, "spec", "address"), "10.96.0.10");
  EXPECT_EQ(codec::StringAt(object, "status", "state"), "Allocated");
  EXPECT_EQ(codec::StringAt(object, "status", "chosen"), "Static");
  EXPECT_EQ(codec::StringAt(object, "status", "service", "namespace"), "shop");
  EXPECT_EQ(codec::StringAt(object, "status", "service", "name"), "web");
  EXPECT_FALSE(codec::HasAt(object, "metadata", "annotations"));
  const codec::Value stored = Get(Stored("10.96.0.10")).Json();
  for (const char* same : {"uid", "resourceVersion", "creationTimestamp", "labels"}) {
    EXPECT_EQ(*codec::FindAt(object, "metadata", same), *codec::FindAt(stored, "metadata", same));
  }
  EXPECT_EQ(codec::StringAt(stored, "metadata", "name"), "10.96.0.10")
      << "the other view is unchanged";
}

TEST_F(AddressViewTest, NamesThatNoAddressHasAreNotThere) {
  MakeService("web", "10.96.0.10");
  const std::vector<std::pair<std::string, std::string>> names = {
      {"10.96.0.10", "; its name here is \"174063626\""},
      {"2001:db8::1", "; its name here is \"42540766411282592856903984951653826561\""},
      {"0174063626", ""},
      {"web", ""},
      {"1", ""},
      {"::ffff:10.96.0.10", ""},
      {"281470855806986", ""},
      {"340282366920938463463374607431768211456", ""}};
  for (const auto& [name, hint] : names) {
    const Reply got = Get(View(name));
    EXPECT_EQ(got.code, 404) << got.body;
    EXPECT_EQ(got.Message(), "ipaddresses.allocation.berth.io \"" + name + "\" not found" + hint);
    EXPECT_EQ(At(got, "details", "name"), name);
    const Reply deleted = Delete(View(name));
    EXPECT_EQ(deleted.code, 404) << deleted.body;
    EXPECT_EQ(deleted.Message(), got.Message());
  }
  EXPECT_EQ(Get(Stored(kTen)).code, 404) << "and the decimal names are unknown there";
}

TEST_F(AddressViewTest, Lists) {
  MakeService("web", "10.96.0.10");
  Keep("2001:db8::1", "'kept':'yes'");
  ASSERT_EQ(Keep("::1").code, 201);
  const Reply list = Get(View());
  EXPECT_EQ(list.Text("kind"), "IPAddressList");
  EXPECT_EQ(list.Text("apiVersion"), "allocation.berth.io/v1alpha1");
  EXPECT_THAT(list.Names(), ElementsAre(kTen, "42540766411282592856903984951653826561"))
      << "objects without a name in this view are not listed";
  EXPECT_EQ(list.Version(), Get(Stored()).Version());
  EXPECT_THAT(Get(View() + "?labelSelector=kept%3Dyes").Names(), SizeIs(1));
  EXPECT_THAT(Get(View(), {.accept = kTable}).Names(), ElementsAre(kTen, HasSubstr("4254")));
  EXPECT_THAT(Get(View(), {.accept = kPartialList}).Names(), ElementsAre(kTen, HasSubstr("4254")));
  const codec::Value table = Get(View(), {.accept = kTable}).Json();
  EXPECT_EQ(codec::ArrayAt(table, "rows")[0].Find("cells")->AsArray()->at(1), "10.96.0.10");
}

TEST_F(AddressViewTest, ListsPageByPage) {
  ASSERT_EQ(Keep("::1").code, 201);
  for (int i = 10; i < 15; ++i) Keep("10.96.0." + std::to_string(i));
  std::vector<std::string> names;
  std::string token;
  do {
    const Reply page = Get(View() + "?limit=2" + (token.empty() ? "" : "&continue=" + token));
    ASSERT_EQ(page.code, 200) << page.body;
    for (const std::string& name : page.Names()) names.push_back(name);
    token = At(page, "metadata", "continue");
  } while (!token.empty());
  EXPECT_THAT(names, ElementsAre(kTen, kEleven, kTwelve, "174063629", "174063630"));
}

TEST_F(AddressViewTest, FieldSelectorsSpeakOfItsNames) {
  MakeService("web", "10.96.0.10");
  Keep("10.96.0.11", "'kept':'yes'");
  const auto names = [this](const std::string& query) { return Get(View() + query).Names(); };
  EXPECT_THAT(names(std::string("?fieldSelector=metadata.name%3D") + kTen), ElementsAre(kTen));
  EXPECT_THAT(names(std::string("?fieldSelector=metadata.name!%3D") + kTen), ElementsAre(kEleven));
  EXPECT_THAT(names("?fieldSelector=metadata.name%3D10.96.0.10"), IsEmpty());
  EXPECT_THAT(names("?fieldSelector=metadata.name!%3D10.96.0.10"), SizeIs(2));
  const std::string kept = "?labelSelector=kept%3Dyes&fieldSelector=metadata.name%3D";
  EXPECT_THAT(names(kept + kEleven), ElementsAre(kEleven));
  EXPECT_THAT(names(kept + kTen), IsEmpty());
}

TEST_F(AddressViewTest, IsFoundByItsAddress) {
  MakeService("web", "10.96.0.10");
  Keep("10.96.0.100", "'kept':'yes'");
  Keep("2001:db8::1");
  const auto names = [this](const std::string& query) {
    const Reply list = Get(View() + "?" + query);
    EXPECT_EQ(list.code, 200) << list.body;
    return list.Names();
  };
  EXPECT_THAT(names("fieldSelector=spec.address%3D10.96.0.10"), ElementsAre(kTen));
  EXPECT_THAT(names("fieldSelector=spec.address%3D10.96.0.10&limit=1"), ElementsAre(kTen));
  EXPECT_THAT(names("fieldSelector=spec.address%3D2001:db8::1"), ElementsAre(HasSubstr("4254")));
  EXPECT_THAT(names("fieldSelector=spec.address!%3D10.96.0.10"), SizeIs(2));
  EXPECT_THAT(
      names("fieldSelector=spec.address%3D10.96.0.10,metadata.name%3D" + std::string(kEleven)),
      IsEmpty());
  EXPECT_THAT(names("fieldSelector=spec.address%3D10.96.0.1"), IsEmpty());
  EXPECT_THAT(names("fieldSelector=spec.address%3Dweb"), IsEmpty());
  EXPECT_THAT(names("labelSelector=kept%3Dyes&fieldSelector=spec.address%3D10.96.0.10"), IsEmpty());
  const Reply unknown = Get(View() + "?fieldSelector=spec.range%3Dx");
  EXPECT_EQ(unknown.code, 400);
  EXPECT_EQ(unknown.Message(), "field label not supported: spec.range");
  EXPECT_EQ(Get(Stored() + "?fieldSelector=spec.address%3D10.96.0.10").code, 400)
      << "Kubernetes' kind has no such field";
}

TEST_F(AddressViewTest, IsWatchedByItsAddress) {
  MakeService("web", "10.96.0.10");
  Stream ten(Get(View() + "?watch=1&fieldSelector=spec.address%3D10.96.0.10"));
  Stream eleven(Get(View() + "?watch=1&fieldSelector=spec.address%3D10.96.0.11"));
  EXPECT_THAT(ten.Lines(), SizeIs(1));
  EXPECT_THAT(eleven.Lines(), IsEmpty());
  MakeService("other", "10.96.0.11");
  EXPECT_THAT(ten.Lines(), IsEmpty());
  EXPECT_THAT(eleven.Lines(),
              ElementsAre("ADDED " + std::string(kEleven) + "@" + Get(View(kEleven)).Version()));
}

TEST_F(AddressViewTest, ShowsHowLongAServiceHasHadIt) {
  ASSERT_EQ(Reserve(kTen, "'reservedFor':{'namespace':'shop','name':'web'}").code, 201);
  Advance(std::chrono::hours(3));
  MakeService("web", "10.96.0.10");
  Advance(std::chrono::minutes(30));
  const codec::Value table = Get(View(kTen), {.accept = kTable}).Json();
  std::vector<std::string> columns;
  for (const codec::Value& column : codec::ArrayAt(table, "columnDefinitions")) {
    columns.emplace_back(codec::StringAt(column, "name"));
  }
  EXPECT_THAT(columns, ElementsAre("Name", "Address", "State", "Service", "Range", "Since",
                                   "Chosen", "Until", "Age"));
  const codec::Array& cells = *codec::ArrayAt(table, "rows")[0].Find("cells")->AsArray();
  EXPECT_EQ(cells[5], "30m");
  EXPECT_EQ(cells[8], "3h30m");
}

TEST_F(AddressViewTest, Watches) {
  MakeService("web", "10.96.0.10");
  Stream all(Get(View() + "?watch=1&sendInitialEvents=true&allowWatchBookmarks=true&"
                          "resourceVersionMatch=NotOlderThan"));
  Stream one(Get(View() + "?watch=1&fieldSelector=metadata.name%3D" + kEleven));
  Stream none(Get(View() + "?watch=1&fieldSelector=metadata.name%3D10.96.0.11"));
  const std::vector<codec::Value> initial = all.Events();
  ASSERT_THAT(initial, SizeIs(2));
  EXPECT_EQ(codec::StringAt(initial[0], "object", "metadata", "name"), kTen);
  EXPECT_EQ(codec::StringAt(initial[0], "object", "status", "state"), "Allocated");
  EXPECT_EQ(codec::StringAt(initial[1], "type"), "BOOKMARK");
  EXPECT_EQ(codec::StringAt(initial[1], "object", "apiVersion"), "allocation.berth.io/v1alpha1");
  EXPECT_THAT(one.Lines(), IsEmpty());

  const std::string kept = Keep("10.96.0.11").Version();
  ASSERT_EQ(Keep("::1").code, 201);
  const Reply changed =
      Call("PATCH " + Stored("10.96.0.11"), Quoted("{'metadata':{'labels':{'a':'b'}}}"),
           {.content_type = "application/merge-patch+json"});
  const std::string label = changed.Version();
  ASSERT_EQ(Delete(View(kEleven)).code, 200);
  const std::string gone = Now();
  const auto lines = ElementsAre("ADDED " + std::string(kEleven) + "@" + kept,
                                 "MODIFIED " + std::string(kEleven) + "@" + label,
                                 "DELETED " + std::string(kEleven) + "@" + gone);
  EXPECT_THAT(all.Lines(), lines);
  EXPECT_THAT(one.Lines(), lines);
  EXPECT_THAT(none.Lines(), IsEmpty());
  Stream again(Get(View() + "?watch=1&resourceVersion=" + kept));
  EXPECT_THAT(again.Lines(), SizeIs(2));
}

TEST_F(AddressViewTest, CreatingOneReservesTheAddress) {
  const Reply made = Reserve(kTen, "'ipRangeRef':{'name':'allocator.ipv4.k8s.io'}",
                             ",'labels':{'a':'b'},'annotations':{'c':'d',"
                             "'internal.allocation.berth.io/chosen':'static'}");
  ASSERT_EQ(made.code, 201) << made.body;
  const codec::Value object = made.Json();
  EXPECT_EQ(codec::StringAt(object, "metadata", "name"), kTen);
  EXPECT_EQ(codec::StringAt(object, "spec", "address"), "10.96.0.10");
  // The store of this test has the ServiceCIDR alone.
  EXPECT_EQ(codec::StringAt(object, "spec", "ipRangeRef", "kind"), "ServiceCIDR");
  EXPECT_EQ(codec::StringAt(object, "spec", "ipRangeRef", "name"), "kubernetes");
  EXPECT_EQ(codec::StringAt(object, "status", "state"), "Reserved");
  EXPECT_EQ(codec::StringAt(object, "status", "since"), kStart);
  EXPECT_EQ(made.body, Get(View(kTen)).body);
  const codec::Value stored = Get(Stored("10.96.0.10")).Json();
  EXPECT_EQ(codec::ObjectAt(stored, "metadata", "annotations"), (codec::Object{{"c", "d"}}));
  EXPECT_EQ(codec::ObjectAt(stored, "spec", "parentRef"),
            (codec::Object{{"group", "allocation.berth.io"},
                           {"resource", "ipranges"},
                           {"name", "allocator.ipv4.k8s.io"}}));
  Restart({});
  EXPECT_EQ(made.body, Get(View(kTen)).body) << "and that is stored";
  const Reply again = Reserve(kTen);
  EXPECT_EQ(again.code, 409);
  EXPECT_EQ(again.Message(),
            "ipaddresses.allocation.berth.io \"" + std::string(kTen) + "\" already exists");
  const Reply taken = Post(Services(),
                           "{'metadata':{'name':'web'},'spec':{'clusterIP':"
                           "'10.96.0.10','ports':[{'port':80}]}}");
  EXPECT_EQ(taken.code, 422) << taken.body;
}

TEST_F(AddressViewTest, AHoldSaysWhenItEnds) {
  const Reply made =
      Reserve(kTen, "'reservedFor':{'namespace':'shop','name':'web'},'holdSeconds':90",
              ",'uid':'mine','creationTimestamp':'2001-01-01T00:00:00Z'");
  ASSERT_EQ(made.code, 201) << made.body;
  const codec::Value object = made.Json();
  EXPECT_EQ(codec::StringAt(object, "status", "state"), "Pending");
  EXPECT_EQ(codec::StringAt(object, "status", "since"), kStart);
  EXPECT_EQ(codec::StringAt(object, "status", "until"), "2026-11-15T04:36:30Z");
  EXPECT_EQ(codec::StringAt(object, "spec", "reservedFor", "namespace"), "shop");
  EXPECT_EQ(codec::StringAt(object, "spec", "reservedFor", "name"), "web");
  EXPECT_EQ(codec::IntAt(object, "spec", "holdSeconds"), 90);
  EXPECT_NE(codec::StringAt(object, "metadata", "uid"), "mine");
}

TEST_F(AddressViewTest, ADryRunReservesNothing) {
  EXPECT_EQ(Reserve(kTen, "", "", "?dryRun=All").code, 201);
  EXPECT_EQ(Get(View(kTen)).code, 404);
}

TEST_F(AddressViewTest, BadOnesAreRefusedInItsOwnWords) {
  const Reply name = Reserve("10.96.0.10");
  EXPECT_EQ(name.code, 422) << name.body;
  EXPECT_EQ(name.Message(),
            "IPAddress.allocation.berth.io \"10.96.0.10\" is invalid: metadata.name: Invalid "
            "value: \"10.96.0.10\": must be the address as a decimal number, which is "
            "\"174063626\"");
  EXPECT_EQ(At(name, "details", "group"), "allocation.berth.io");
  EXPECT_EQ(At(name, "details", "kind"), "IPAddress");
  EXPECT_EQ(At(name, "details", "name"), "10.96.0.10");
  EXPECT_THAT(Reserve(kTen, "'address':'10.96.0.11'").Message(),
              HasSubstr("is invalid: spec.address: Invalid value: \"10.96.0.11\": must be "
                        "\"10.96.0.10\""));
  EXPECT_THAT(Reserve(kTen, "'holdSeconds':5").Message(), HasSubstr("spec.reservedFor"));
  EXPECT_THAT(Reserve("").Message(), HasSubstr("metadata.name: Required value"));
  const Reply label = Reserve(kTen, "", ",'labels':{'a':'-'}");
  EXPECT_EQ(label.code, 422) << label.body;
  EXPECT_THAT(label.Message(), HasSubstr("IPAddress.allocation.berth.io \"174063626\" is invalid: "
                                         "metadata.labels"));
  EXPECT_EQ(Get(View(kTen)).code, 404);
}

TEST_F(AddressViewTest, NobodyChangesOneHere) {
  Keep("10.96.0.10");
  const std::string body =
      "{'apiVersion':'allocation.berth.io/v1alpha1','kind':'IPAddress','metadata':{'name':"
      "'174063626','labels':{'a':'b'}}}";
  for (const auto& [line, type] :
       {std::pair("PUT ", "application/json"), std::pair("PATCH ", "application/merge-patch+json"),
        std::pair("PATCH ", "application/strategic-merge-patch+json"),
        std::pair("PATCH ", "application/apply-patch+yaml")}) {
    const Reply reply =
        Call(line + View(kTen) + "?fieldManager=me", Quoted(body), {.content_type = type});
    EXPECT_EQ(reply.code, 405) << type << reply.body;
    EXPECT_EQ(reply.Text("reason"), "MethodNotAllowed");
    EXPECT_EQ(
        reply.Message(),
        "ipaddresses.allocation.berth.io cannot be changed: delete it and create another one, "
        "or change the metadata of ipaddresses.networking.k8s.io \"10.96.0.10\"");
  }
  EXPECT_THAT(Call("PUT " + View("x"), Quoted(body)).Message(),
              EndsWith("change the metadata of ipaddresses.networking.k8s.io"));
  EXPECT_EQ(Call("PUT " + View(), Quoted(body)).code, 405);
}

TEST_F(AddressViewTest, AnApplyReserves) {
  const std::string body =
      "{'apiVersion':'allocation.berth.io/v1alpha1','kind':'IPAddress','metadata':{'name':"
      "'174063626'},'spec':{'reservedFor':{'namespace':'shop','name':'web'}}}";
  const auto apply = [&](const std::string& query, const std::string& name = "web") {
    std::string text = body;
    text.replace(text.rfind("web"), 3, name);
    return Call("PATCH " + View(kTen) + "?fieldManager=flux" + query, Quoted(text),
                {.content_type = "application/apply-patch+yaml"});
  };
  EXPECT_EQ(apply("&dryRun=All").code, 201);
  EXPECT_EQ(Get(View(kTen)).code, 404);
  const Reply made = apply("");
  EXPECT_EQ(made.code, 201) << made.body;
  EXPECT_EQ(At(made, "status", "state"), "Reserved");
  EXPECT_EQ(At(made, "spec", "ipRangeRef", "name"), "kubernetes");
  const Reply again = apply("");
  EXPECT_EQ(again.code, 200) << again.body;
  EXPECT_EQ(At(again, "metadata", "resourceVersion"), At(made, "metadata", "resourceVersion"));
  EXPECT_EQ(apply("", "api").code, 405) << "another Service";
  MakeService("web", "10.96.0.10");
  const Reply taken = apply("");
  EXPECT_EQ(taken.code, 200) << taken.body;
  EXPECT_EQ(At(taken, "status", "state"), "Allocated") << "the Service has it all the same";
  EXPECT_EQ(At(taken, "spec", "reservedFor", "name"), "web");
}

TEST_F(AddressViewTest, WhatAServiceHasIsNotDeleted) {
  MakeService("web", "10.96.0.10");
  const Reply refused = Delete(View(kTen));
  EXPECT_EQ(refused.code, 409) << refused.body;
  EXPECT_THAT(refused.Message(), HasSubstr("ipaddresses.allocation.berth.io \"174063626\": the "
                                           "Service \"shop/web\" has this address"));
  EXPECT_EQ(At(refused, "details", "name"), kTen);
  EXPECT_EQ(At(refused, "details", "group"), "allocation.berth.io");
  EXPECT_EQ(Get(View(kTen)).code, 200);
}

TEST_F(AddressViewTest, Deletes) {
  const std::string uid = At(Keep("10.96.0.10"), "metadata", "uid");
  const Reply wrong = Delete(View(kTen), "{'preconditions':{'uid':'other'}}");
  EXPECT_EQ(wrong.code, 409) << wrong.body;
  EXPECT_THAT(
      wrong.Message(),
      HasSubstr("IPAddress.allocation.berth.io \"174063626\": the UID in the precondition"));
  const Reply gone = Delete(View(kTen), "{'preconditions':{'uid':'" + uid + "'}}");
  EXPECT_EQ(gone.code, 200) << gone.body;
  EXPECT_EQ(gone.Text("status"), "Success");
  EXPECT_EQ(At(gone, "details", "name"), kTen);
  EXPECT_EQ(At(gone, "details", "group"), "allocation.berth.io");
  EXPECT_EQ(At(gone, "details", "uid"), uid);
  EXPECT_EQ(Get(Stored("10.96.0.10")).code, 404);
}

TEST_F(AddressViewTest, AFinalizerKeepsIt) {
  ASSERT_EQ(Reserve(kTen, "'reservedFor':{'namespace':'shop','name':'web'}",
                    ",'finalizers':['example.com/x']")
                .code,
            201);
  const Reply marked = Delete(View(kTen));
  EXPECT_EQ(marked.code, 200) << marked.body;
  EXPECT_EQ(At(marked, "metadata", "name"), kTen);
  EXPECT_NE(At(marked, "metadata", "deletionTimestamp"), "");
  EXPECT_EQ(codec::StringAt(marked.Json(), "spec", "reservedFor", "name"), "web");
  EXPECT_EQ(Get(View(kTen)).body, marked.body);
}

TEST_F(AddressViewTest, DeletesMany) {
  for (int i = 10; i < 13; ++i) {
    Keep("10.96.0." + std::to_string(i), i == 12 ? "'kept':'yes'" : "");
  }
  ASSERT_EQ(Keep("::1").code, 201);
  const Reply gone = Delete(View() + "?labelSelector=kept!%3Dyes");
  EXPECT_EQ(gone.code, 200) << gone.body;
  EXPECT_THAT(gone.Names(), ElementsAre(kTen, kEleven));
  EXPECT_THAT(Get(Stored()).Names(), UnorderedElementsAre("10.96.0.12", "::1"));
}

TEST_F(AddressViewTest, IsNotToBeHadInProtobuf) {
  MakeService("web", "10.96.0.10");
  const With protobuf{.accept = "application/vnd.kubernetes.protobuf"};
  EXPECT_EQ(Get(View(kTen), protobuf).code, 406);
  EXPECT_EQ(Get(Stored("10.96.0.10"), protobuf).code, 200);
  const Reply posted =
      Call("POST " + View(), "k8s", {.content_type = "application/vnd.kubernetes.protobuf"});
  EXPECT_EQ(posted.code, 415) << posted.body;
  EXPECT_THAT(posted.Message(), HasSubstr("application/json, application/yaml"));
}

TEST_F(AddressViewTest, WhoMadeItIsNotedAsItCanBeChanged) {
  ASSERT_EQ(Reserve(kTen, "", ",'labels':{'a':'b'}", "?fieldManager=me").code, 201);
  const codec::Value stored = Get(Stored("10.96.0.10")).Json();
  const codec::Value& entry = codec::ArrayAt(stored, "metadata", "managedFields").at(0);
  EXPECT_EQ(codec::StringAt(entry, "manager"), "me");
  EXPECT_EQ(codec::StringAt(entry, "apiVersion"), "networking.k8s.io/v1");
  EXPECT_TRUE(codec::HasAt(entry, "fieldsV1", "f:metadata", "f:labels", "f:a"));
  EXPECT_TRUE(codec::HasAt(entry, "fieldsV1", "f:spec", "f:parentRef"));
  EXPECT_FALSE(codec::HasAt(entry, "fieldsV1", "f:metadata", "f:annotations"));
}

TEST_F(AddressViewTest, ItsGroupComesLast) {
  const codec::Value groups = Get("/apis").Json();
  const codec::Array& all = codec::ArrayAt(groups, "groups");
  EXPECT_EQ(codec::StringAt(all.back(), "name"), "allocation.berth.io")
      << "without a group, ipaddresses means networking.k8s.io";
  EXPECT_THAT(Get("/").body, HasSubstr("\"/apis/allocation.berth.io/v1alpha1\""));
}

}  // namespace
}  // namespace berth::server::testing
