#include "merge/json_patch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

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
using ::testing::ElementsAre;

base::Result<Value> PatchedBy(Value document, std::string_view patch) {
  const auto read = ReadJsonPatch(Json(patch));
  if (!read) return tl::unexpected(read.error());
  const auto done = ApplyJsonPatch(document, *read);
  if (!done) return tl::unexpected(done.error());
  return document;
}

struct JsonPatchCase {
  std::string_view document;
  std::string_view patch;
  std::string_view result;  // Empty if the patch does not apply.
};

void CheckJsonPatch(const std::vector<JsonPatchCase>& cases) {
  for (const JsonPatchCase& each : cases) {
    SCOPED_TRACE(each.patch);
    const auto patched = PatchedBy(Json(each.document), each.patch);
    if (!each.result.empty()) {
      ASSERT_TRUE(patched.has_value()) << patched.error().message;
      EXPECT_EQ(codec::WriteJson(*patched), codec::WriteJson(Json(each.result)));
      continue;
    }
    ASSERT_FALSE(patched.has_value()) << codec::WriteJson(*patched);
    EXPECT_EQ(patched.error().reason, Reason::kInvalid);
    EXPECT_EQ(patched.error().message,
              "the server rejected our request due to an error in our request");
    EXPECT_EQ(patched.error().details, base::Details{});
  }
}

TEST(JsonPatch, Objects) {
  CheckJsonPatch({
      {R"({"a":1})", R"([])", R"({"a":1})"},
      {R"({"a":1})", R"(null)", R"({"a":1})"},
      {R"({"a":1})", R"([{"op":"add","path":"/b","value":2}])", R"({"a":1,"b":2})"},
      {R"({"a":1})", R"([{"op":"add","path":"/a","value":2}])", R"({"a":2})"},
      {R"({"a":1})", R"([{"op":"add","path":"/b/c","value":2}])", ""},
      {R"({"a":1})", R"([{"op":"add","path":"/a/c","value":2}])", ""},
      {R"({"a":null})", R"([{"op":"add","path":"/a/c","value":2}])", ""},
      {R"({"a":1})", R"([{"op":"add","path":"","value":{}}])", ""},
      {R"({"a":1})", R"([{"op":"remove","path":"/a"}])", R"({})"},
      {R"({"a":null})", R"([{"op":"remove","path":"/a"}])", R"({})"},
      {R"({"a":1})", R"([{"op":"remove","path":"/b"}])", ""},
      {R"({"a":1})", R"([{"op":"remove","path":""}])", ""},
      {R"({"a":1})", R"([{"op":"replace","path":"/a","value":[2]}])", R"({"a":[2]})"},
      {R"({"a":1})", R"([{"op":"replace","path":"/b","value":2}])", R"({"a":1,"b":2})"},
      {R"({"a":1})", R"([{"op":"replace","path":"/b/c","value":2}])", ""},
      {R"({"a":1})", R"([{"op":"replace","path":"","value":{"b":2}}])", R"({"b":2})"},
      {R"({"a":1})", R"([{"op":"replace","path":"","value":[1]}])", R"([1])"},
      {R"({"a":1})", R"([{"op":"replace","path":"","value":7}])", ""},
      {R"({"a":1})", R"([{"op":"replace","path":""}])", ""},
      {R"({"":{"":1}})", R"([{"op":"replace","path":"//","value":2}])", R"({"":{"":2}})"},
  });
}

TEST(JsonPatch, Arrays) {
  CheckJsonPatch({
      {R"({"a":[1,2]})", R"([{"op":"add","path":"/a/-","value":3}])", R"({"a":[1,2,3]})"},
      {R"({"a":[1,2]})", R"([{"op":"add","path":"/a/0","value":3}])", R"({"a":[3,1,2]})"},
      {R"({"a":[1,2]})", R"([{"op":"add","path":"/a/2","value":3}])", R"({"a":[1,2,3]})"},
      {R"({"a":[1,2]})", R"([{"op":"add","path":"/a/3","value":3}])", ""},
      {R"({"a":[1,2]})", R"([{"op":"add","path":"/a/x","value":3}])", ""},
      {R"({"a":[1,2]})", R"([{"op":"add","path":"/a/","value":3}])", ""},
      {R"({"a":[1,2]})", R"([{"op":"add","path":"/a/1e0","value":3}])", ""},
      {R"({"a":[1,2]})", R"([{"op":"add","path":"/a/9999999999999999999","value":3}])", ""},
      {R"({"a":[1,2]})", R"([{"op":"remove","path":"/a/0"}])", R"({"a":[2]})"},
      {R"({"a":[1,2]})", R"([{"op":"remove","path":"/a/2"}])", ""},
      {R"({"a":[1,2]})", R"([{"op":"remove","path":"/a/-"}])", ""},
      {R"({"a":[1,2]})", R"([{"op":"replace","path":"/a/1","value":3}])", R"({"a":[1,3]})"},
      {R"({"a":[1,2]})", R"([{"op":"replace","path":"/a/2","value":3}])", ""},
      {R"({"a":[1,2]})", R"([{"op":"replace","path":"/a/-","value":3}])", ""},
      {R"({"a":[{"b":1}]})", R"([{"op":"add","path":"/a/0/c","value":2}])",
       R"({"a":[{"b":1,"c":2}]})"},
      {R"({"a":[1]})", R"([{"op":"add","path":"/a/7/c","value":2}])", ""},
  });
}

TEST(JsonPatch, NegativeIndicesCountFromTheEnd) {
  CheckJsonPatch({
      {R"([1,2])", R"([{"op":"add","path":"/-1","value":3}])", R"([1,2,3])"},
      {R"([1,2])", R"([{"op":"add","path":"/-3","value":3}])", R"([3,1,2])"},
      {R"([1,2])", R"([{"op":"add","path":"/-4","value":3}])", ""},
      {R"([1,2])", R"([{"op":"remove","path":"/-1"}])", R"([1])"},
      {R"([1,2])", R"([{"op":"remove","path":"/-3"}])", ""},
      {R"([1,2])", R"([{"op":"replace","path":"/-2","value":3}])", R"([3,2])"},
      {R"([1,2])", R"([{"op":"test","path":"/-1","value":2}])", R"([1,2])"},
      {R"([1,2])", R"([{"op":"remove","path":"/+1"}])", R"([1])"},
      {R"([1,2])", R"([{"op":"remove","path":"/01"}])", R"([1])"},
      {R"([1,2])", R"([{"op":"remove","path":"/+-1"}])", ""},
  });
}

TEST(JsonPatch, MoveAndCopy) {
  CheckJsonPatch({
      {R"({"a":1})", R"([{"op":"move","from":"/a","path":"/b"}])", R"({"b":1})"},
      {R"({"a":1})", R"([{"op":"move","from":"/a","path":"/a"}])", R"({"a":1})"},
      {R"({"a":[1,2,3]})", R"([{"op":"move","from":"/a/0","path":"/a/1"}])", R"({"a":[2,1,3]})"},
      {R"({"a":[1,2,3]})", R"([{"op":"move","from":"/a/0","path":"/a/-"}])", R"({"a":[2,3,1]})"},
      {R"({"a":{}})", R"([{"op":"move","from":"/a","path":"/a/b"}])", ""},
      {R"({"a":1})", R"([{"op":"move","from":"/b","path":"/c"}])", ""},
      {R"({"a":1})", R"([{"op":"move","from":"","path":"/c"}])", ""},
      {R"({"a":1})", R"([{"op":"move","path":"/c"}])", ""},
      {R"({"a":1})", R"([{"op":"move","from":"/a"}])", ""},
      {R"({"a":1})", R"([{"op":"copy","from":"/a","path":"/b"}])", R"({"a":1,"b":1})"},
      {R"({"a":{}})", R"([{"op":"copy","from":"/a","path":"/a/a"}])", R"({"a":{"a":{}}})"},
      {R"({"a":1})", R"([{"op":"copy","from":"/x","path":"/b"}])", R"({"a":1,"b":null})"},
      {R"([1])", R"([{"op":"copy","from":"/1","path":"/0"}])", ""},
      {R"({"a":1})", R"([{"op":"copy","from":"/a","path":"/b/c"}])", ""},
      {R"({"a":1})", R"([{"op":"copy","from":"","path":"/b"}])", ""},
  });
}

TEST(JsonPatch, Tests) {
  const std::string_view document = R"({"a":{"b":[1,{"c":"d"}],"n":null}})";
  for (const std::string_view holds : {
           R"({"op":"test","path":"/a/b/1/c","value":"d"})",
           R"({"op":"test","path":"/a/b","value":[1,{"c":"d"}]})",
           R"({"op":"test","path":"/a/n","value":null})",
           R"({"op":"test","path":"/a/n"})",
           R"({"op":"test","path":"/a/missing","value":null})",
           R"({"op":"test","path":"/a/missing"})",
           R"({"op":"test","path":"","value":{"a":{"n":null,"b":[1,{"c":"d"}]}}})",
       }) {
    CheckJsonPatch({{document, "[" + std::string(holds) + "]", document}});
  }
  for (const std::string_view fails : {
           R"({"op":"test","path":"/a/b/1/c","value":"e"})",
           R"({"op":"test","path":"/a/b/0","value":1.0})",
           R"({"op":"test","path":"/a/b/0","value":"1"})",
           R"({"op":"test","path":"/a/b/2","value":null})",
           R"({"op":"test","path":"/x/b","value":null})",
           R"({"op":"test","path":"/a/missing","value":1})",
           R"({"op":"test","path":"/a/b"})",
           R"({"op":"test","path":"","value":{}})",
       }) {
    CheckJsonPatch({{document, "[" + std::string(fails) + "]", ""}});
  }
}

TEST(JsonPatch, PathsAreUnescapedOnce) {
  CheckJsonPatch({
      {R"({"a/b":1,"m~n":2,"~1":3})",
       R"([{"op":"remove","path":"/a~1b"},{"op":"remove","path":"/m~0n"},
           {"op":"remove","path":"/~01"}])",
       R"({})"},
      {R"({"~2":1,"~":2})", R"([{"op":"remove","path":"/~2"},{"op":"remove","path":"/~"}])",
       R"({})"},
      {R"({"a":1})", R"([{"op":"remove","path":"a"}])", ""},
      {R"({"a":1})", R"([{"op":"remove","path":"./a"}])", R"({})"},
  });
}

TEST(JsonPatch, ValuesAndOperationsThatAreNotThere) {
  CheckJsonPatch({
      {R"({})", R"([{"op":"add","path":"/a"}])", R"({"a":null})"},
      {R"({"a":1})", R"([{"op":"replace","path":"/a"}])", R"({"a":null})"},
      {R"({})", R"([{"op":"bogus","path":"/a"}])", ""},
      {R"({})", R"([{"path":"/a"}])", ""},
      {R"({})", R"([{"op":"add"}])", ""},
      {R"({})", R"([{"op":null,"path":null}])", ""},
      {R"({})", R"([null])", ""},
  });
}

TEST(JsonPatch, OneFailureFailsAll) {
  CheckJsonPatch(
      {{R"({"a":1})", R"([{"op":"add","path":"/b","value":1},{"op":"test","path":"/a","value":2}])",
        ""}});
}

TEST(JsonPatch, WhatIsNoListOfOperations) {
  const auto message = [](std::string_view patch) {
    const auto read = ReadJsonPatch(Json(patch));
    EXPECT_FALSE(read.has_value());
    EXPECT_EQ(read.error().reason, Reason::kBadRequest);
    return read.error().message;
  };
  EXPECT_EQ(message(R"({"not":"a list"})"),
            "error decoding patch: json: cannot unmarshal object into Go value of type "
            "[]handlers.jsonPatchOp");
  EXPECT_EQ(message("[1]"),
            "error decoding patch: json: cannot unmarshal number into Go value of type "
            "handlers.jsonPatchOp");
  EXPECT_EQ(message(R"([{"op":7}])"),
            "error decoding patch: json: cannot unmarshal number into Go struct field "
            "jsonPatchOp.op of type string");
  EXPECT_EQ(message(R"([{"op":"add","path":["a"]}])"),
            "error decoding patch: json: cannot unmarshal array into Go struct field "
            "jsonPatchOp.path of type string");
}

TEST(JsonPatch, MembersOfTheWrongTypeMayBeLeftToTheirUse) {
  const auto read = [](std::string_view patch) {
    return ReadJsonPatch(Json(patch), codec::FieldValidation::kIgnore);
  };
  EXPECT_EQ(read("{}").error().message,
            "json: cannot unmarshal object into Go value of type jsonpatch.Patch");
  EXPECT_EQ(read("[1]").error().message,
            "json: cannot unmarshal number into Go value of type jsonpatch.Operation");
  for (const char* patch : {R"([{"op":7,"path":"/a"}])", R"([{"op":"remove","path":["a"]}])"}) {
    const auto operations = read(patch);
    ASSERT_TRUE(operations.has_value()) << patch;
    Value document = Json(R"({"a":1})");
    EXPECT_EQ(ApplyJsonPatch(document, *operations).error().reason, Reason::kInvalid) << patch;
  }
}

TEST(JsonPatch, UnknownMembersAreReported) {
  const auto read = ReadJsonPatch(Json(R"([{"op":"test","path":"","x":1},{"Op":"add"}])"));
  ASSERT_TRUE(read.has_value());
  EXPECT_THAT(read->problems, ElementsAre("json patch unknown field \"[0].x\"",
                                          "json patch unknown field \"[1].Op\""));
}

Value Repeated(const Value& operation, size_t times) { return Array(times, operation); }

TEST(JsonPatch, TooManyOperations) {
  const Value test = Object{{"op", "test"}, {"path", "/a"}, {"value", nullptr}};
  EXPECT_TRUE(ReadJsonPatch(Repeated(test, kMostOperations)).has_value());
  const auto read = ReadJsonPatch(Repeated(test, kMostOperations + 1));
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().reason, Reason::kRequestEntityTooLarge);
  EXPECT_EQ(read.error().message,
            "Request entity too large: The allowed maximum operations in a JSON patch is 10000, "
            "got 10001");
}

Reason ReasonOf(Value document, Value patch) {
  const auto read = ReadJsonPatch(std::move(patch));
  EXPECT_TRUE(read.has_value());
  const auto done = ApplyJsonPatch(document, *read);
  return done.has_value() ? Reason::kUnknown : done.error().reason;
}

TEST(JsonPatch, CopiesThatDoubleTheDocumentEnd) {
  // Thirty of them would produce a gigabyte.
  const Value copy = Object{{"op", "copy"}, {"from", "/a"}, {"path", "/a/-"}};
  EXPECT_EQ(ReasonOf(Object{{"a", Array{"x"}}}, Repeated(copy, 30)), Reason::kInvalid);
  // Only what is copied counts, not the size of the document.
  const Value small = Object{{"op", "copy"}, {"from", "/b"}, {"path", "/c"}};
  EXPECT_EQ(ReasonOf(Object{{"a", std::string(kMostCopied, 'x')}, {"b", 1}}, Repeated(small, 1000)),
            Reason::kUnknown);
}

TEST(JsonPatch, NothingGetsTooDeep) {
  // Each round wraps the document's only member once more.
  Array moves;
  for (int i = 0; i < 2000; ++i) {
    moves.push_back(Object{{"op", "add"}, {"path", "/b"}, {"value", Object()}});
    moves.push_back(Object{{"op", "move"}, {"from", "/a"}, {"path", "/b/a"}});
    moves.push_back(Object{{"op", "move"}, {"from", "/b"}, {"path", "/a"}});
  }
  EXPECT_EQ(ReasonOf(Object{{"a", Object()}}, moves), Reason::kInvalid);
  moves.resize(300);
  EXPECT_EQ(ReasonOf(Object{{"a", Object()}}, moves), Reason::kUnknown);

  Array add{Object{{"op", "add"}, {"path", "/a"}, {"value", codec::Nested(kDeepestResult - 1)}}};
  EXPECT_EQ(ReasonOf(Object(), add), Reason::kUnknown);
  *add[0].Find("path") = "/a/b";
  EXPECT_EQ(ReasonOf(Object{{"a", Object()}}, add), Reason::kInvalid);
}

TEST(JsonPatch, WorkIsBounded) {
  const Value remove = Object{{"op", "remove"}, {"path", "/0"}};
  EXPECT_EQ(ReasonOf(Array(1'000'000, Value(1)), Repeated(remove, kMostOperations)),
            Reason::kRequestEntityTooLarge);
  EXPECT_EQ(ReasonOf(Array(5000, Value(1)), Repeated(remove, 1000)), Reason::kUnknown);
}

}  // namespace
}  // namespace berth::merge
