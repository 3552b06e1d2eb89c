#include "merge/strategic_merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "api/core.h"
#include "api/kinds.h"
#include "codec/json.h"
#include "codec/testing/codec_kit.h"
#include "codec/testing_text.h"

namespace berth::merge {
namespace {

using base::Reason;
using codec::Array;
using codec::Json;
using codec::Object;
using codec::Value;

base::Result<Value> Merged(std::string_view document, std::string_view patch) {
  Value value = Json(document);
  const auto done = ApplyStrategicMerge(value, Json(patch), api::kService);
  if (!done) return tl::unexpected(done.error());
  return value;
}

struct StrategicCase {
  std::string_view document;
  std::string_view patch;
  std::string_view result;
};

void CheckStrategic(const std::vector<StrategicCase>& cases) {
  for (const StrategicCase& each : cases) {
    SCOPED_TRACE(std::string(each.document) + " " + std::string(each.patch));
    const auto merged = Merged(each.document, each.patch);
    ASSERT_TRUE(merged.has_value()) << merged.error().message;
    EXPECT_EQ(*merged, Json(each.result)) << codec::WriteJson(*merged);
  }
}

void CheckError(std::string_view document, std::string_view patch, Reason reason,
                std::string_view message) {
  SCOPED_TRACE(patch);
  const auto merged = Merged(document, patch);
  ASSERT_FALSE(merged.has_value()) << codec::WriteJson(*merged);
  EXPECT_EQ(merged.error().reason, reason);
  EXPECT_EQ(merged.error().message, message);
}

constexpr std::string_view kPorts =
    R"({"spec":{"ports":[{"port":80,"name":"x"},{"port":443,"name":"y"}]}})";

TEST(StrategicMerge, Maps) {
  CheckStrategic({
      {R"({"kind":"Service"})", R"({})", R"({"kind":"Service"})"},
      {R"({"metadata":{"labels":{"k":"v"}}})", R"({"metadata":{"labels":{"a":"b","c":null}}})",
       R"({"metadata":{"labels":{"k":"v","a":"b"}}})"},
      {R"({"metadata":{"labels":{"k":"v"}}})", R"({"metadata":{"labels":{"k":null}}})",
       R"({"metadata":{"labels":{}}})"},
      {R"({"metadata":{"labels":{"k":"v"}}})", R"({"metadata":{"labels":null}})",
       R"({"metadata":{}})"},
      {R"({"spec":{"type":"ClusterIP"}})", R"({"spec":{"type":"NodePort","clusterIP":"x"}})",
       R"({"spec":{"type":"NodePort","clusterIP":"x"}})"},
      // A value of another type replaces the old one.
      {R"({"spec":{"type":"ClusterIP"}})", R"({"spec":{"type":7}})", R"({"spec":{"type":7}})"},
      {R"({"spec":{"type":"ClusterIP"}})", R"({"spec":[1]})", R"({"spec":[1]})"},
      // A field that the object does not have is copied, without nulls and directives.
      {R"({})", R"({"spec":{"selector":{"a":null,"b":"c"},"x":[{"y":null}],
                            "z":{"$patch":"delete"}}})",
       R"({"spec":{"selector":{"b":"c"},"x":[{}]}})"},
      {R"({"spec":{}})", R"({"spec":{"ports":[{"port":1},{"$patch":"delete","port":2}]}})",
       R"({"spec":{"ports":[{"port":1}]}})"},
      {R"({"spec":{"type":"a"}})", R"({"spec":{"type":{"$patch":"replace","b":1}}})",
       R"({"spec":{}})"},
  });
}

TEST(StrategicMerge, DirectivesInMaps) {
  CheckStrategic({
      {R"({"spec":{"selector":{"app":"web"}}})",
       R"({"spec":{"selector":{"$patch":"replace","new":"sel"}}})",
       R"({"spec":{"selector":{"new":"sel"}}})"},
      {R"({"metadata":{"labels":{"a":"b"}}})", R"({"metadata":{"labels":{"$patch":"delete"}}})",
       R"({"metadata":{"labels":{}}})"},
      {R"({"kind":"a","spec":{}})", R"({"$patch":"replace","spec":{"$patch":"delete"}})",
       R"({"spec":{"$patch":"delete"}})"},
      {R"({"kind":"a","spec":{}})", R"({"$patch":"delete","spec":{"type":"x"}})", R"({})"},
  });
  CheckError(R"({})", R"({"$patch":"bogus"})", Reason::kUnknown,
             "unknown patch type: bogus in map: map[$patch:bogus]");
  CheckError(R"({"spec":{"type":"a"}})", R"({"spec":{"$patch":"merge","type":"b"}})",
             Reason::kUnknown, "unknown patch type: merge in map: map[$patch:merge type:b]");
  CheckError(R"({"spec":{}})", R"({"spec":{"$patch":7}})", Reason::kUnknown,
             "unknown patch type: %!s(int64=7) in map: map[$patch:7]");
}

TEST(StrategicMerge, RetainKeys) {
  CheckStrategic({
      {R"({"spec":{"type":"a","clusterIP":"b","selector":{"k":"v"}}})",
       R"({"spec":{"$retainKeys":["type","selector"],"type":"c"}})",
       R"({"spec":{"type":"c","selector":{"k":"v"}}})"},
      {R"({"spec":{"type":"a","clusterIP":"b"}})",
       R"({"spec":{"$retainKeys":["type"],"clusterIP":null}})", R"({"spec":{"type":"a"}})"},
      {R"({"spec":{"type":"a"}})", R"({"spec":{"$retainKeys":[]}})", R"({"spec":{}})"},
      {R"({"metadata":{"finalizers":["a","b"]}})",
       R"({"metadata":{"$retainKeys":["finalizers"],"$setElementOrder/finalizers":["b","a"],
                       "$deleteFromPrimitiveList/finalizers":["a"]}})",
       R"({"metadata":{"finalizers":["b"]}})"},
      {R"({"spec":{"ports":[{"port":80,"name":"x","nodePort":1}]}})",
       R"({"spec":{"ports":[{"port":80,"$retainKeys":["port","name"]}]}})",
       R"({"spec":{"ports":[{"port":80,"name":"x"}]}})"},
  });
  const std::string_view message = "invalid patch format of retainKeys";
  CheckError(R"({"spec":{}})", R"({"spec":{"$retainKeys":["a"],"type":"c"}})", Reason::kBadRequest,
             message);
  CheckError(R"({"spec":{}})", R"({"spec":{"$retainKeys":"a"}})", Reason::kBadRequest, message);
}

TEST(StrategicMerge, ListsOfMaps) {
  CheckStrategic({
      {kPorts, R"({"spec":{"ports":[{"port":80,"targetPort":9000}]}})",
       R"({"spec":{"ports":[{"port":80,"name":"x","targetPort":9000},{"port":443,"name":"y"}]}})"},
      // A new element goes to the front.
      {kPorts, R"({"spec":{"ports":[{"port":8080,"name":"z"}]}})",
       R"({"spec":{"ports":[{"port":8080,"name":"z"},{"port":80,"name":"x"},
                            {"port":443,"name":"y"}]}})"},
      {kPorts, R"({"spec":{"ports":[{"port":443},{"port":80}]}})",
       R"({"spec":{"ports":[{"port":443,"name":"y"},{"port":80,"name":"x"}]}})"},
      {kPorts, R"({"spec":{"ports":[{"$patch":"delete","port":443}]}})",
       R"({"spec":{"ports":[{"port":80,"name":"x"}]}})"},
      {kPorts, R"({"spec":{"ports":[{"$patch":"delete","port":9}]}})", kPorts},
      {kPorts, R"({"spec":{"ports":[{"$patch":"replace"},{"port":80,"name":"only"}]}})",
       R"({"spec":{"ports":[{"port":80,"name":"only"}]}})"},
      {kPorts, R"({"spec":{"ports":[{"port":9},{"$patch":"replace"},
                                    {"$patch":"delete","port":80}]}})",
       R"({"spec":{"ports":[{"port":9}]}})"},
      {kPorts, R"({"spec":{"ports":[]}})", kPorts},
      {kPorts, R"({"spec":{"ports":null}})", R"({"spec":{}})"},
      // Only the port counts, not the protocol. Of several, the first is
      // changed, and all are deleted.
      {R"({"spec":{"ports":[{"port":53,"protocol":"TCP"}]}})",
       R"({"spec":{"ports":[{"port":53,"protocol":"UDP"}]}})",
       R"({"spec":{"ports":[{"port":53,"protocol":"UDP"}]}})"},
      {R"({"spec":{"ports":[{"port":53,"protocol":"TCP"},{"port":9},
                            {"port":53,"protocol":"UDP"}]}})",
       R"({"spec":{"ports":[{"port":53,"name":"n"}]}})",
       R"({"spec":{"ports":[{"port":53,"protocol":"TCP","name":"n"},
                            {"port":53,"protocol":"UDP"},{"port":9}]}})"},
      {R"({"spec":{"ports":[{"port":53,"protocol":"TCP"},{"port":53,"protocol":"UDP"}]}})",
       R"({"spec":{"ports":[{"port":53,"$patch":"delete"}]}})", R"({"spec":{"ports":[]}})"},
      {kPorts, R"({"spec":{"ports":[{"port":5,"name":"a"},{"port":5,"nodePort":6}]}})",
       R"({"spec":{"ports":[{"port":5,"name":"a","nodePort":6},{"port":80,"name":"x"},
                            {"port":443,"name":"y"}]}})"},
      {R"({"metadata":{"ownerReferences":[{"uid":"u-1","name":"p"}]}})",
       R"({"metadata":{"ownerReferences":[{"uid":"u-1","name":"q"},{"uid":"u-2"}]}})",
       R"({"metadata":{"ownerReferences":[{"uid":"u-1","name":"q"},{"uid":"u-2"}]}})"},
  });
}

TEST(StrategicMerge, ListsOfMapsThatCannotBeMerged) {
  CheckError(kPorts, R"({"spec":{"ports":[{"name":"noport"}]}})", Reason::kUnknown,
             "map: map[name:noport] does not contain declared merge key: port");
  CheckError(kPorts, R"({"spec":{"ports":[{"$patch":"delete","name":"x"}]}})", Reason::kUnknown,
             "map: map[$patch:delete name:x] does not contain declared merge key: port");
  CheckError(kPorts, R"({"spec":{"ports":[{"$patch":"replace"},{"name":"x"}]}})", Reason::kUnknown,
             "map: map[name:x] does not contain declared merge key: port");
  CheckError(kPorts, R"({"spec":{"ports":[{"port":[1]}]}})", Reason::kUnknown,
             "map: map[port:[1]] does not contain declared merge key: port");
  CheckError(kPorts, R"({"spec":{"ports":[{"port":null}]}})", Reason::kUnknown,
             "map: map[port:<nil>] does not contain declared merge key: port");
  CheckError(kPorts, R"({"spec":{"ports":[{"port":80,"$patch":"bogus"}]}})", Reason::kUnknown,
             "unknown patch type: bogus in map: map[$patch:bogus port:80]");
  CheckError(kPorts, R"({"spec":{"ports":[{"port":80,"$patch":"merge"}]}})", Reason::kUnknown,
             "merging lists cannot yet be specified in the patch");
  const std::string_view two = R"({"spec":{"ports":[{"port":80},{"port":1}]}})";
  CheckError(two, R"({"spec":{"ports":["x"]}})", Reason::kUnknown,
             "list element types are not identical: [[map[port:80] map[port:1]] [x]]");
  CheckError(two, R"({"spec":{"ports":[null]}})", Reason::kUnknown,
             "list element types are not identical: [[map[port:80] map[port:1]] [<nil>]]");
  CheckError(R"({"spec":{"ports":[]}})", R"({"spec":{"ports":[[1]]}})", Reason::kInvalid,
             "the server rejected our request due to an error in our request");
}

TEST(StrategicMerge, ListsOfValues) {
  CheckStrategic({
      {R"({"metadata":{"finalizers":["one"]}})", R"({"metadata":{"finalizers":["two"]}})",
       R"({"metadata":{"finalizers":["two","one"]}})"},
      {R"({"metadata":{"finalizers":["a","b","c"]}})",
       R"({"metadata":{"finalizers":["c","c","d","a"]}})",
       R"({"metadata":{"finalizers":["b","c","d","a"]}})"},
      {R"({"metadata":{"finalizers":["a","a","b"]}})", R"({"metadata":{"finalizers":["b"]}})",
       R"({"metadata":{"finalizers":["a","b"]}})"},
      // Lists that are not merged are replaced.
      {R"({"spec":{"externalIPs":["1.1.1.1"]}})", R"({"spec":{"externalIPs":["2.2.2.2"]}})",
       R"({"spec":{"externalIPs":["2.2.2.2"]}})"},
      {R"({"spec":{"externalIPs":["1.1.1.1"]}})", R"({"spec":{"externalIPs":[]}})",
       R"({"spec":{"externalIPs":[]}})"},
      {R"({"status":{"loadBalancer":{"ingress":[{"ip":"1.1.1.1"}]}}})",
       R"({"status":{"loadBalancer":{"ingress":[{"hostname":"h"}]}}})",
       R"({"status":{"loadBalancer":{"ingress":[{"hostname":"h"}]}}})"},
  });
  CheckError(R"({"metadata":{"finalizers":["a"]}})", R"({"metadata":{"finalizers":[1]}})",
             Reason::kUnknown, "list element types are not identical: [[a] [1]]");
}

TEST(StrategicMerge, DeleteFromPrimitiveList) {
  CheckStrategic({
      {R"({"metadata":{"finalizers":["one","two","one"]}})",
       R"({"metadata":{"$deleteFromPrimitiveList/finalizers":["one","none"]}})",
       R"({"metadata":{"finalizers":["two"]}})"},
      {R"({"metadata":{}})", R"({"metadata":{"$deleteFromPrimitiveList/finalizers":["one"]}})",
       R"({"metadata":{}})"},
      {R"({"metadata":{"finalizers":["one","two"]}})",
       R"({"metadata":{"$deleteFromPrimitiveList/finalizers":["one"],"finalizers":["three"]}})",
       R"({"metadata":{"finalizers":["three","two"]}})"},
      {R"({"spec":{"externalIPs":["1","2"]}})",
       R"({"spec":{"$deleteFromPrimitiveList/externalIPs":["1"]}})",
       R"({"spec":{"externalIPs":["2"]}})"},
  });
  const std::string_view message = "invalid patch format of primitive list";
  CheckError(kPorts, R"({"spec":{"$deleteFromPrimitiveListports":[1]}})", Reason::kBadRequest,
             message);
  CheckError(kPorts, R"({"spec":{"$deleteFromPrimitiveList/ports":[{"port":80}]}})",
             Reason::kBadRequest, message);
  CheckError(kPorts, R"({"spec":{"$deleteFromPrimitiveList/ports":null}})", Reason::kBadRequest,
             message);
  CheckError(kPorts, R"({"spec":{"$deleteFromPrimitiveList/ports":"x"}})", Reason::kBadRequest,
             message);
}

TEST(StrategicMerge, SetElementOrder) {
  CheckStrategic({
      {kPorts, R"({"spec":{"$setElementOrder/ports":[{"port":443},{"port":80}]}})",
       R"({"spec":{"ports":[{"port":443,"name":"y"},{"port":80,"name":"x"}]}})"},
      {R"({"spec":{"ports":[{"port":8080},{"port":80,"name":"x"}]}})",
       R"({"spec":{"ports":[{"port":443}],
                   "$setElementOrder/ports":[{"port":8080},{"port":443},{"port":80}]}})",
       R"({"spec":{"ports":[{"port":8080},{"port":443},{"port":80,"name":"x"}]}})"},
      // What kubectl sends when one port replaces another.
      {R"({"spec":{"ports":[{"port":80,"name":"http"}]}})",
       R"({"spec":{"$setElementOrder/ports":[{"port":443}],
                   "ports":[{"name":"https","port":443},{"$patch":"delete","port":80}]}})",
       R"({"spec":{"ports":[{"name":"https","port":443}]}})"},
      // Elements that only the server has keep their position relative to the next one.
      {R"({"spec":{"ports":[{"port":1},{"port":2},{"port":3},{"port":4}]}})",
       R"({"spec":{"$setElementOrder/ports":[{"port":4},{"port":2}]}})",
       R"({"spec":{"ports":[{"port":1},{"port":3},{"port":4},{"port":2}]}})"},
      {R"({"metadata":{"finalizers":["a","b","c"]}})",
       R"({"metadata":{"$setElementOrder/finalizers":["d","c","b"],"finalizers":["d"]}})",
       R"({"metadata":{"finalizers":["d","a","c","b"]}})"},
      {R"({"spec":{}})",
       R"({"spec":{"$setElementOrder/ports":[{"port":1},{"port":2}],
                   "ports":[{"port":1},{"port":2},{"$patch":"delete","port":3}]}})",
       R"({"spec":{"ports":[{"port":1},{"port":2}]}})"},
      {R"({"spec":{"externalIPs":["1","2","3"]}})",
       R"({"spec":{"$setElementOrder/externalIPs":["3","1"],"externalIPs":["3","1"]}})",
       R"({"spec":{"externalIPs":["3","1"]}})"},
      {R"({"spec":{}})", R"({"spec":{"$setElementOrder/ports":[{"port":1}]}})", R"({"spec":{}})"},
  });
}

TEST(StrategicMerge, OrdersThatCannotBe) {
  CheckError(kPorts, R"({"spec":{"$setElementOrder/ports":[{"port":80}],"ports":[{"port":5}]}})",
             Reason::kUnknown,
             "The order in patch list:\n[map[port:5]]\n doesn't match $setElementOrder list:\n"
             "[map[port:80]]\n");
  CheckError(kPorts,
             R"({"spec":{"$setElementOrder/ports":[{"port":80},{"port":443}],
                         "ports":[{"port":443},{"port":80}]}})",
             Reason::kUnknown,
             "The order in patch list:\n[map[port:443] map[port:80]]\n doesn't match "
             "$setElementOrder list:\n[map[port:80] map[port:443]]\n");
  CheckError(kPorts, R"({"spec":{"$setElementOrder/ports":"x"}})", Reason::kUnknown,
             "expected a []interface {}, but received a string");
  CheckError(kPorts, R"({"spec":{"$setElementOrder/ports":[],"ports":null}})", Reason::kUnknown,
             "expected a []interface {}, but received a %!s(<nil>)");
  CheckError(kPorts, R"({"spec":{"$setElementOrder/ports":[1]}})", Reason::kUnknown,
             "expected a map[string]interface {}, but received a int64");
  CheckError(kPorts, R"({"spec":{"$setElementOrder/ports":[{"name":"x"}]}})", Reason::kUnknown,
             "map: map[name:x] does not contain declared merge key: port");
  CheckError(kPorts, R"({"spec":{"$setElementOrder":[]}})", Reason::kBadRequest,
             "invalid patch format of setElementOrder list");
  CheckError(kPorts, R"({"spec":{"$setElementOrder/nope":[]}})", Reason::kUnknown,
             "unable to find api field in struct ServiceSpec for the json field \"nope\"");
  CheckError(kPorts, R"({"spec":{"$setElementOrder/selector":[]}})", Reason::kUnknown,
             "expected slice or array type, but got: struct");
  CheckError(R"({"spec":{}})", R"({"spec":{"$setElementOrder/ports":[],"ports":[]}})",
             Reason::kUnknown, "no elements in any of the given slices");
  CheckError(R"({"metadata":{"labels":{"a":"b"}}})",
             R"({"metadata":{"labels":{"$setElementOrder/x":[]}}})", Reason::kUnknown,
             "merging an object in json but data type is not struct, instead is: map");
  CheckError(R"({"status":{"loadBalancer":{"ingress":[{"ip":"1"}]}}})",
             R"({"status":{"loadBalancer":{"$setElementOrder/ingress":[{"ip":"1"}]}}})",
             Reason::kBadRequest, "invalid patch format of setElementOrder list");
}

TEST(StrategicMerge, AnyKindByItsTables) {
  const auto merged = [](const api::Kind& kind, std::string_view document, std::string_view patch) {
    Value value = Json(document);
    EXPECT_TRUE(ApplyStrategicMerge(value, Json(patch), *kind.message).has_value());
    return codec::WriteJson(value);
  };
  EXPECT_EQ(
      merged(api::kNamespaceKind, R"({"status":{"conditions":[{"type":"A","status":"True"}]}})",
             R"({"status":{"conditions":[{"type":"A","status":"False"}]}})"),
      R"({"status":{"conditions":[{"type":"A","status":"False"}]}})");
  EXPECT_EQ(
      merged(api::kServiceCidrKind, R"({"spec":{"cidrs":["a"]}})", R"({"spec":{"cidrs":["b"]}})"),
      R"({"spec":{"cidrs":["b"]}})");
}

TEST(StrategicMerge, LongListsAreQuick) {
  Array ports;
  Array order;
  Array finalizers;
  for (int i = 0; i < 50'000; ++i) {
    ports.push_back(Object{{"port", i}, {"name", "n"}});
    order.push_back(Object{{"port", 49'999 - i}});
    finalizers.push_back("f" + std::to_string(i));
  }
  Value document =
      Object{{"metadata", Object{{"finalizers", finalizers}}}, {"spec", Object{{"ports", ports}}}};
  const Value patch =
      Object{{"metadata", Object{{"$deleteFromPrimitiveList/finalizers", finalizers}}},
             {"spec", Object{{"ports", Array(order)}, {"$setElementOrder/ports", Array(order)}}}};
  ASSERT_TRUE(ApplyStrategicMerge(document, patch, api::kService).has_value());
  EXPECT_TRUE(document.Find("metadata")->Find("finalizers")->AsArray()->empty());
  const Array& merged = *document.Find("spec")->Find("ports")->AsArray();
  ASSERT_EQ(merged.size(), 50'000);
  EXPECT_EQ(*merged[0].Find("port"), Value(49'999));
  EXPECT_EQ(*merged[0].Find("name"), Value("n"));
}

}  // namespace
}  // namespace berth::merge
