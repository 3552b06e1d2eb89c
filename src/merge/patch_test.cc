#include "merge/patch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "api/kinds.h"
#include "codec/encode.h"
#include "codec/json.h"
#include "codec/protobuf.h"
#include "codec/read.h"

namespace berth::merge {
namespace {

using base::Reason;
using codec::FieldValidation;
using codec::Value;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;
using enum PatchKind;
using enum FieldValidation;

constexpr std::string_view kService =
    R"({"metadata":{"name":"a","namespace":"n","resourceVersion":"7","labels":{"k":"v"},)"
    R"("managedFields":[{"manager":"m","operation":"Update","fieldsV1":{"f:spec":{}}}]},)"
    R"("spec":{"ports":[{"name":"x","protocol":"TCP","port":80,"targetPort":80}],)"
    R"("selector":{"app":"web"},"clusterIP":"10.96.0.9","type":"ClusterIP"},)"
    R"("status":{"loadBalancer":{}}})";

Value Service() {
  auto decoded = codec::DecodeJson(kService, *api::kServiceKind.message);
  EXPECT_TRUE(decoded.has_value());
  return std::move(decoded->object);
}

base::Result<Patched> Apply(PatchKind kind, std::string_view text,
                            FieldValidation validation = kWarn) {
  const auto patch = Patch::Parse(kind, text, validation);
  if (!patch) return tl::unexpected(patch.error());
  return patch->Apply(Service(), api::kServiceKind);
}

base::Error ErrorOf(PatchKind kind, std::string_view text, FieldValidation validation = kWarn) {
  const auto patched = Apply(kind, text, validation);
  EXPECT_FALSE(patched.has_value()) << text;
  return patched.has_value() ? base::Error() : patched.error();
}

std::string MessageOf(PatchKind kind, std::string_view text, Reason reason) {
  const base::Error error = ErrorOf(kind, text);
  EXPECT_EQ(error.reason, reason) << text;
  return error.message;
}

TEST(Patch, LeavesACanonicalObject) {
  for (const auto& [kind, text] : std::vector<std::pair<PatchKind, std::string_view>>{
           {kJson, R"([{"op":"add","path":"/spec/ports/0/nodePort","value":30000}])"},
           {kMerge, R"({"spec":{"ports":[{"port":80,"targetPort":80,"nodePort":30000,
                                          "protocol":"TCP","name":"x"}]}})"},
           {kStrategic, R"({"spec":{"ports":[{"port":80,"nodePort":30000,"name":"x"}]}})"}}) {
    const auto patched = Apply(kind, text);
    ASSERT_TRUE(patched.has_value()) << patched.error().message;
    EXPECT_THAT(patched->warnings, IsEmpty());
    Value expected = Service();
    (*expected.Find("spec")->Find("ports")->AsArray())[0].Set("nodePort", 30000);
    EXPECT_EQ(patched->object, expected);
    // In the order of the tables, whatever the order of the patch.
    EXPECT_EQ(codec::WriteJson(patched->object.Find("spec")->Find("ports")[0]),
              R"([{"name":"x","protocol":"TCP","port":80,"targetPort":80,"nodePort":30000}])");
  }
}

TEST(Patch, ThatChangesNothing) {
  for (const PatchKind kind : {kJson, kStrategic}) {
    EXPECT_EQ(Apply(kind, "null")->object, Service());
  }
  EXPECT_EQ(Apply(kJson, "[]")->object, Service());
  EXPECT_EQ(Apply(kMerge, "{}")->object, Service());
  EXPECT_EQ(Apply(kStrategic, "{}")->object, Service());
  EXPECT_EQ(Apply(kStrategic, R"({"spec":{"ports":[{"port":80}]}})")->object, Service());
  // Fields that JSON always shows can be tested and patched even if they are not set.
  EXPECT_EQ(Apply(kJson, R"([{"op":"test","path":"/status/loadBalancer","value":{}},
                             {"op":"test","path":"/kind","value":"Service"},
                             {"op":"test","path":"/metadata/resourceVersion","value":"7"}])")
                ->object,
            Service());
}

TEST(Patch, NullsLeaveNothingBehind) {
  for (const PatchKind kind : {kMerge, kStrategic}) {
    const auto patched = Apply(kind, R"({"spec":{"selector":null,"type":null,"ports":[{"port":80,
        "name":null}]},"metadata":{"labels":{"k":null}},"status":null})");
    ASSERT_TRUE(patched.has_value());
    EXPECT_EQ(patched->object.Find("metadata")->Find("labels"), nullptr);
    EXPECT_EQ(patched->object.Find("spec")->Find("selector"), nullptr);
    EXPECT_EQ(patched->object.Find("spec")->Find("type"), nullptr);
    EXPECT_EQ(codec::ArrayAt(patched->object, "spec", "ports")[0].Find("name"), nullptr);
    EXPECT_EQ(patched->object.Find("status"), nullptr);
  }
}

TEST(Patch, ManagedFieldsStayUnlessThePatchIsAboutThem) {
  const auto managers = [](PatchKind kind, std::string_view text) {
    const auto patched = Apply(kind, text);
    EXPECT_TRUE(patched.has_value()) << text << patched.error().message;
    return codec::ArrayAt(patched->object, "metadata", "managedFields");
  };
  for (const std::string_view text :
       {R"({"metadata":{"labels":{"a":"b"}}})", R"({"spec":{"type":"NodePort"}})", "{}"}) {
    ASSERT_THAT(managers(kMerge, text), SizeIs(1)) << text;
    ASSERT_THAT(managers(kStrategic, text), SizeIs(1)) << text;
    EXPECT_EQ(codec::StringAt(managers(kMerge, text)[0], "fieldsV1"), R"({"f:spec":{}})");
  }
  EXPECT_THAT(managers(kMerge, R"({"metadata":{"managedFields":null}})"), IsEmpty());
  EXPECT_THAT(managers(kMerge, R"({"metadata":null})"), IsEmpty());
  EXPECT_THAT(managers(kStrategic, R"({"metadata":{"$patch":"replace","name":"a"}})"), IsEmpty());
  EXPECT_THAT(managers(kStrategic, R"({"metadata":{"$retainKeys":["name"]}})"), IsEmpty());
  EXPECT_THAT(managers(kStrategic, R"({"$patch":"delete"})"), IsEmpty());
  EXPECT_THAT(managers(kJson, R"([{"op":"remove","path":"/metadata/managedFields/0"}])"),
              IsEmpty());
  EXPECT_THAT(managers(kJson, R"([{"op":"replace","path":"/metadata","value":{"name":"a"}}])"),
              IsEmpty());
  EXPECT_THAT(managers(kJson, R"([{"op":"move","from":"/metadata/managedFields","path":"/x"}])"),
              IsEmpty());
  const auto replaced = managers(
      kJson, R"([{"op":"replace","path":"/metadata/managedFields/0/fieldsV1/f:spec","value":{
                  "f:type":{}}}])");
  EXPECT_EQ(codec::StringAt(replaced[0], "fieldsV1"), R"({"f:spec":{"f:type":{}}})");
}

TEST(Patch, ManagedFieldsStayWhereThereIsNothingElse) {
  const Value current = codec::Object{
      {"metadata", codec::Object{{"managedFields", codec::Array{codec::Object{{"manager", "m"}}}}}},
      {"spec", codec::Object{{"type", "a"}}}};
  const auto patch = Patch::Parse(kMerge, R"({"metadata":{"name":null}})", kWarn);
  const auto patched = patch->Apply(current, api::kServiceKind);
  ASSERT_TRUE(patched.has_value());
  EXPECT_EQ(codec::WriteJson(patched->object), codec::WriteJson(current));
}

TEST(Patch, UnknownProtobufFieldsStay) {
  Value current = Service();
  current.Find("spec")->Set(std::string(codec::kUnknownFields), "\x98\x06\x01");
  const auto patch = Patch::Parse(kMerge, R"({"spec":{"type":"NodePort"}})", kStrict);
  const auto patched = patch->Apply(current, api::kServiceKind);
  ASSERT_TRUE(patched.has_value());
  EXPECT_EQ(codec::StringAt(patched->object, "spec", codec::kUnknownFields), "\x98\x06\x01");
}

TEST(Patch, TextThatIsNoPatch) {
  const Reason bad = Reason::kBadRequest;
  EXPECT_EQ(MessageOf(kJson, "[{", bad), "error decoding patch: unexpected end of JSON input");
  EXPECT_EQ(MessageOf(kMerge, R"({"spec":)", bad),
            "error decoding patch: unexpected end of JSON input");
  EXPECT_EQ(MessageOf(kStrategic, "{", bad), "unexpected end of JSON input");
  EXPECT_EQ(MessageOf(kStrategic, "", bad), "unexpected end of JSON input");
  EXPECT_EQ(MessageOf(kMerge, "[]", bad),
            "error decoding patch: json: cannot unmarshal array into Go value of type "
            "map[string]interface {}");
  EXPECT_EQ(MessageOf(kMerge, "\"x\"", bad),
            "error decoding patch: json: cannot unmarshal string into Go value of type "
            "map[string]interface {}");
  EXPECT_EQ(MessageOf(kStrategic, "7", bad),
            "json: cannot unmarshal number into Go value of type map[string]interface {}");
  EXPECT_EQ(MessageOf(kMerge, "null", bad), "Invalid JSON Patch");
  EXPECT_EQ(MessageOf(kJson, R"({"not":"a list"})", bad),
            "error decoding patch: json: cannot unmarshal object into Go value of type "
            "[]handlers.jsonPatchOp");
  const std::string deep = std::string(300, '[') + std::string(300, ']');
  EXPECT_THAT(MessageOf(kJson, deep, bad), HasSubstr("more than 256 deep"));
}

TEST(Patch, ResultsThatAreNoSuchObject) {
  const base::Error json =
      ErrorOf(kJson, R"([{"op":"replace","path":"/spec/ports/0/port","value":"x"}])");
  EXPECT_EQ(json.reason, Reason::kInvalid);
  EXPECT_THAT(json.message,
              StartsWith(R"( "" is invalid: patch: Invalid value: "{\"kind\":\"Service\",)"));
  EXPECT_THAT(json.message, EndsWith("json: cannot unmarshal string into Go struct field "
                                     "ServicePort.spec.ports.port of type int32"));
  ASSERT_THAT(json.causes, SizeIs(1));
  EXPECT_EQ(json.causes[0].field, "patch");
  EXPECT_EQ(json.causes[0].reason, "FieldValueInvalid");
  EXPECT_EQ(" \"\" is invalid: patch: " + json.causes[0].message, json.message);
  EXPECT_EQ(json.details, base::Details{});

  const auto why = [](PatchKind kind, std::string_view text) {
    return MessageOf(kind, text, Reason::kInvalid);
  };
  EXPECT_THAT(why(kMerge, R"({"spec":{"ports":"x"}})"), HasSubstr("cannot unmarshal string"));
  EXPECT_THAT(why(kMerge, R"({"kind":"Pod"})"), HasSubstr("unknown conversion"));
  EXPECT_THAT(why(kMerge, R"({"apiVersion":"v9"})"),
              HasSubstr("no kind \"Service\" is registered for version \"v9\""));
  EXPECT_THAT(why(kMerge, R"({"kind":7})"), HasSubstr("couldn't get version/kind"));
  EXPECT_THAT(why(kJson, R"([{"op":"replace","path":"","value":[]}])"),
              HasSubstr("cannot unmarshal array"));
}

// As Kubernetes words it, which does not convert through JSON here.
TEST(Patch, StrategicResultsThatAreNoSuchObject) {
  const auto why = [](std::string_view spec) {
    const std::string message =
        MessageOf(kStrategic, R"({"spec":)" + std::string(spec) + "}", Reason::kInvalid);
    return message.substr(message.find(": ", message.find("map[")) + 2);
  };
  EXPECT_EQ(MessageOf(kStrategic, R"({"spec":{"ports":"x"}})", Reason::kInvalid),
            R"( "" is invalid: patch: Invalid value: "map[spec:map[ports:x]]": )"
            "cannot restore slice from string");
  EXPECT_EQ(why("7"), "cannot restore struct from: int64");
  EXPECT_EQ(why("[]"), "cannot restore struct from: slice");
  EXPECT_EQ(why(R"({"selector":"x"})"), "cannot restore map from string");
  EXPECT_EQ(why(R"({"selector":{"a":7}})"), "cannot convert int64 to string");
  EXPECT_EQ(why(R"({"selector":{"a":[]}})"), "unrecognized type: string");
  EXPECT_EQ(why(R"({"type":7})"), "cannot convert int64 to v1.ServiceType");
  EXPECT_EQ(why(R"({"type":true})"), "unrecognized type: string");
  EXPECT_EQ(why(R"({"publishNotReadyAddresses":"x"})"), "unrecognized type: bool");
  EXPECT_EQ(why(R"({"healthCheckNodePort":"x"})"), "unrecognized type: int32");
  EXPECT_EQ(why(R"({"healthCheckNodePort":1.5})"), "cannot convert float64 to int32");
  EXPECT_THAT(why(R"({"healthCheckNodePort":99999999999})"), HasSubstr("cannot unmarshal number"));
  EXPECT_THAT(why(R"({"ports":[{"port":80,"targetPort":true}]})"), HasSubstr("cannot unmarshal"));
  // The kind is ignored.
  EXPECT_EQ(Apply(kStrategic, R"({"kind":"Pod","apiVersion":"v9"})")->object, Service());
  EXPECT_THAT(MessageOf(kStrategic, R"({"kind":7})", Reason::kInvalid),
              EndsWith("cannot convert int64 to string"));
}

TEST(Patch, UnknownAndRepeatedFields) {
  const auto warnings = [](PatchKind kind, std::string_view text) {
    const auto patched = Apply(kind, text);
    EXPECT_TRUE(patched.has_value()) << text << patched.error().message;
    return patched->warnings;
  };
  EXPECT_THAT(warnings(kStrategic, R"({"spec":{"bogus":1}})"),
              ElementsAre("unknown field \"spec.bogus\""));
  EXPECT_THAT(
      warnings(kMerge, R"({"top":1,"spec":{"bogus":{"x":1}},"a":1})"),
      ElementsAre("unknown field \"a\"", "unknown field \"spec.bogus\"", "unknown field \"top\""));
  EXPECT_THAT(warnings(kMerge, R"({"metadata":{"labels":{"a":"1","a":"2"}},"spec":{"x":1}})"),
              ElementsAre("duplicate field \"metadata.labels.a\"", "unknown field \"spec.x\""));
  EXPECT_THAT(warnings(kStrategic, R"({"spec":{"ports":[{"port":80,"port":80}]}})"),
              ElementsAre("duplicate field \"spec.ports[0].port\""));
  EXPECT_THAT(
      warnings(kJson, R"([{"op":"add","op":"add","path":"/spec/bogus","value":{"a":1,
                                   "a":2},"extra":1}])"),
      ElementsAre("json patch duplicate field \"[0].op\"",
                  "json patch duplicate field \"[0].value.a\"",
                  "json patch unknown field \"[0].extra\"", "unknown field \"spec.bogus\""));
  for (const PatchKind kind : {kMerge, kStrategic}) {
    const auto ignored = Apply(kind, R"({"spec":{"bogus":1,"bogus":2}})", kIgnore);
    ASSERT_TRUE(ignored.has_value());
    EXPECT_THAT(ignored->warnings, IsEmpty());
    EXPECT_EQ(ignored->object, Service());
  }
}

TEST(Patch, WhatIsIgnoredIsNotReadFirst) {
  for (const char* text : {"{", "null", "7"}) {
    const base::Error error = ErrorOf(kMerge, text, kIgnore);
    EXPECT_EQ(error.reason, Reason::kBadRequest) << text;
    EXPECT_EQ(error.message, "Invalid JSON Patch") << text;
  }
  const base::Error list = ErrorOf(kMerge, "[]", kIgnore);
  EXPECT_EQ(list.reason, Reason::kInvalid) << "it takes the object's place";
  EXPECT_THAT(list.message, HasSubstr("Invalid value: \"[]\": couldn't get version/kind"));
  EXPECT_EQ(ErrorOf(kJson, "{", kIgnore).message, ErrorOf(kStrategic, "{").message);
}

TEST(Patch, StrictRefusesWhatIsWarnedOf) {
  const base::Error error = ErrorOf(kStrategic, R"({"spec":{"bogus":1}})", kStrict);
  EXPECT_EQ(error.reason, Reason::kInvalid);
  EXPECT_EQ(error.message,
            " \"\" is invalid: patch: Invalid value: \"map[spec:map[bogus:1]]\": strict decoding "
            "error: unknown field \"spec.bogus\"");
  EXPECT_THAT(error.causes, SizeIs(1));
  EXPECT_THAT(ErrorOf(kMerge, R"({"a":1,"a":2})", kStrict).message,
              EndsWith("strict decoding error: duplicate field \"a\", unknown field \"a\""));
  EXPECT_THAT(ErrorOf(kJson, R"([{"op":"add","path":"/spec/bogus","value":1}])", kStrict).message,
              EndsWith("strict decoding error: unknown field \"spec.bogus\""));
  EXPECT_TRUE(Apply(kMerge, R"({"metadata":{"labels":{"any/thing":"x"}}})", kStrict).has_value());
}

TEST(Patch, WhatDoesNotApply) {
  const std::string_view generic = "the server rejected our request due to an error in our request";
  EXPECT_EQ(MessageOf(kJson, R"([{"op":"remove","path":"/metadata/labels/x"}])", Reason::kInvalid),
            generic);
  EXPECT_EQ(MessageOf(kStrategic, R"({"$patch":"bogus"})", Reason::kUnknown),
            "unknown patch type: bogus in map: map[$patch:bogus]");
}

TEST(Patch, MayBeAppliedAgain) {
  const auto patch =
      Patch::Parse(kStrategic, R"({"spec":{"ports":[{"port":81}],"$retainKeys":["ports"],
                                   "$setElementOrder/ports":[{"port":81},{"port":80}]}})",
                   kStrict);
  const auto once = patch->Apply(Service(), api::kServiceKind);
  const auto again = patch->Apply(Service(), api::kServiceKind);
  ASSERT_TRUE(once.has_value() && again.has_value());
  EXPECT_EQ(once->object, again->object);
  EXPECT_THAT(codec::ArrayAt(once->object, "spec", "ports"), SizeIs(2));
}

TEST(Patch, ErrorsShowOnlySoMuch) {
  const std::string text = R"({"spec":")" + std::string(100'000, '<') + "\"}";
  for (const PatchKind kind : {kMerge, kStrategic}) {
    EXPECT_LT(ErrorOf(kind, text).message.size(), 20'000);
  }
}

}  // namespace
}  // namespace berth::merge
