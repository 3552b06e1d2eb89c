#include "merge/apply.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/base_kit.h"
#include "codec/encode.h"
#include "merge/testing/merge_kit.h"

namespace berth::merge {
namespace {

using codec::Value;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::string_view kAnnotation = "kubectl.kubernetes.io/last-applied-configuration";

FieldWrite AppliedBy(std::string_view manager, int at = 0) {
  return {.kind = api::kServiceKind, .manager = manager, .now = At(at)};
}

std::string Config(const std::string& rest) {
  return "{'apiVersion':'v1','kind':'Service'" + (rest.empty() ? "" : "," + rest) + "}";
}

// A store with one object.
class Store {
 public:
  const Value& Live() const { return live_; }

  // Returns "" on success, else the message.
  std::string ApplyBy(const FieldWrite& write, const std::string& config, bool force = false) {
    auto applied = Apply(write, {.force = force}, live_, Json(Config(config)));
    if (!applied) {
      causes_ = applied.error().causes;
      return applied.error().message;
    }
    live_ = *std::move(applied);
    codec::SetAt(live_, {"metadata", "uid"}, "u");
    return "";
  }

  void UpdateBy(const FieldWrite& write, const std::string& text) {
    Replace(write, ObjectOf(text));
  }
  void Replace(const FieldWrite& write, Value updated) {
    TrackUpdate(write, live_, updated);
    live_ = std::move(updated);
    codec::SetAt(live_, {"metadata", "uid"}, "u");
  }

  // Returns the object without its own metadata, with ' for ".
  std::string Shown() const {
    Value object = live_;
    codec::EraseAt(object, {"metadata", "managedFields"});
    codec::EraseAt(object, {"metadata", "uid"});
    std::string text = codec::EncodeMessage(object, *api::kServiceKind.message);
    for (char& c : text) {
      if (c == '"') c = '\'';
    }
    const std::string empty = ",'status':{'loadBalancer':{}}}";
    if (text.ends_with(empty)) text.replace(text.size() - empty.size(), empty.size(), "}");
    return text;
  }

  const std::vector<base::Cause>& Causes() const { return causes_; }

 private:
  Value live_ = codec::Object();
  std::vector<base::Cause> causes_;
};

TEST(Apply, CreatesAndOwnsWhatItMentions) {
  Store store;
  EXPECT_EQ(store.ApplyBy(AppliedBy("one"),
                          "'metadata':{'name':'a','labels':{'x':'1'}},'spec':{'ports':["
                          "{'port':80}],'type':'T'}"),
            "");
  EXPECT_EQ(
      store.Shown(),
      "{'metadata':{'name':'a','labels':{'x':'1'}},'spec':{'ports':[{'port':80,'targetPort':0}"
      "],'type':'T'}}");
  EXPECT_THAT(
      Owners(store.Live()),
      ElementsAre("Apply one v1 @0 {'f:metadata':{'f:labels':{'f:x':{}}},'f:spec':{'f:ports'"
                  ":{'k:{\\'port\\':80,\\'protocol\\':\\'TCP\\'}':{'.':{},'f:port':{}}},"
                  "'f:type':{}}}"));
}

TEST(Apply, TheSameAgainChangesNothing) {
  Store store;
  const std::string config =
      "'metadata':{'labels':{'x':'1'}},'spec':{'ports':[{'port':80.0,'protocol':'TCP'}]}";
  EXPECT_EQ(store.ApplyBy(AppliedBy("one"), config), "");
  const Value before = store.Live();
  EXPECT_EQ(store.ApplyBy(AppliedBy("one", 5), config), "");
  EXPECT_EQ(store.Live(), before);
}

TEST(Apply, WhatIsNoLongerAppliedGoes) {
  Store store;
  store.ApplyBy(AppliedBy("one"),
                "'metadata':{'labels':{'x':'1','y':'1'},'finalizers':['e.com/a']},"
                "'spec':{'type':'T','ports':[{'port':80},{'port':81}],"
                "'sessionAffinityConfig':{'clientIP':{'timeoutSeconds':1}}}");
  store.ApplyBy(AppliedBy("two"), "'metadata':{'labels':{'y':'1'}}");
  EXPECT_EQ(store.ApplyBy(AppliedBy("one", 7), "'spec':{'ports':[{'port':81}]}"), "");
  EXPECT_EQ(store.Shown(),
            "{'metadata':{'labels':{'y':'1'}},'spec':{'ports':[{'port':81,"
            "'targetPort':0}]}}");
  // The field is shared and its value did not change, so there is no time.
  EXPECT_THAT(Owners(store.Live()),
              ElementsAre("Apply two v1 {'f:metadata':{'f:labels':{'f:y':{}}}}",
                          "Apply one v1 @7 {'f:spec':{'f:ports':{'k:{\\'port\\':81,\\'protocol\\':"
                          "\\'TCP\\'}':{'.':{},'f:port':{}}}}}"));
}

TEST(Apply, AnEntryGoesWithAllThatIsInIt) {
  Store store;
  store.ApplyBy(AppliedBy("one"), "'spec':{'ports':[{'port':80},{'port':81}]}");
  store.ApplyBy(AppliedBy("two"), "'spec':{'ports':[{'port':81,'name':'x'}]}");
  store.UpdateBy(AppliedBy("three"),
                 "{'spec':{'ports':[{'port':80,'nodePort':3},{'port':81,'name':'x'}]}}");
  EXPECT_EQ(store.ApplyBy(AppliedBy("one", 1), ""), "");
  EXPECT_EQ(store.Shown(),
            "{'metadata':{},'spec':{'ports':[{'name':'x','port':81,'targetPort':0}]}}");
  EXPECT_THAT(Owners(store.Live()),
              ElementsAre("Apply two v1 @0 {'f:spec':{'f:ports':{'k:{\\'port\\':81,\\'protocol\\':"
                          "\\'TCP\\'}':{'.':{},'f:name':{},'f:port':{}}}}}"));
}

TEST(Apply, WhoAppliesNothingOwnsNothing) {
  Store store;
  store.ApplyBy(AppliedBy("one"), "'metadata':{'labels':{'x':'1'}}");
  EXPECT_EQ(store.ApplyBy(AppliedBy("one"), "'metadata':{'name':'a'}"), "");
  EXPECT_EQ(store.Shown(), "{'metadata':{'name':'a'},'spec':{}}");
  EXPECT_THAT(Owners(store.Live()), IsEmpty());
}

TEST(Apply, ConflictsAreToldByManager) {
  Store store;
  store.ApplyBy(AppliedBy("b"), "'metadata':{'labels':{'x':'1'}},'spec':{'selector':{'a':'b'}}");
  store.UpdateBy(AppliedBy("a"),
                 "{'metadata':{'labels':{'x':'1','y':'1'}},'spec':{'selector':{'a':'b'},"
                 "'ports':[{'port':80,'targetPort':1}]}}");
  const Value before = store.Live();
  EXPECT_EQ(store.ApplyBy(AppliedBy("c"), "'metadata':{'labels':{'y':'2'}}"),
            "Apply failed with 1 conflict: conflict with \"a\" using v1: .metadata.labels.y");
  EXPECT_THAT(store.Causes(), ElementsAre(base::Cause{.reason = "FieldManagerConflict",
                                                      .message = "conflict with \"a\" using v1",
                                                      .field = ".metadata.labels.y"}));
  EXPECT_EQ(store.ApplyBy(AppliedBy("c"),
                          "'metadata':{'labels':{'x':'2','y':'2'}},'spec':{'selector':{'a':"
                          "'c'},'ports':[{'port':80,'targetPort':'x'}]}"),
            "Apply failed with 4 conflicts: conflicts with \"a\" using v1:\n"
            "- .metadata.labels.y\n"
            "- .spec.ports[port=80,protocol=\"TCP\"].targetPort\n"
            "conflicts with \"b\":\n"
            "- .metadata.labels.x\n"
            "- .spec.selector");
  EXPECT_EQ(store.Live(), before);
}

TEST(Apply, ForceTakesTheFields) {
  Store store;
  store.ApplyBy(AppliedBy("one"), "'metadata':{'labels':{'x':'1','y':'1'}}");
  EXPECT_EQ(store.ApplyBy(AppliedBy("two", 3), "'metadata':{'labels':{'x':'2'}}", /*force=*/true),
            "");
  EXPECT_EQ(store.Shown(), "{'metadata':{'labels':{'x':'2','y':'1'}},'spec':{}}");
  EXPECT_THAT(Owners(store.Live()),
              ElementsAre("Apply one v1 @0 {'f:metadata':{'f:labels':{'f:y':{}}}}",
                          "Apply two v1 @3 {'f:metadata':{'f:labels':{'f:x':{}}}}"));
}

TEST(Apply, ListsKeepTheirOrderOrGetThatOfTheConfig) {
  struct Case {
    const char* live;
    const char* config;
    const char* merged;
  };
  for (const Case& c :
       {Case{"abc", "b", "abc"}, Case{"abc", "ca", "bca"}, Case{"abX", "ba", "bXa"},
        Case{"ab", "xay", "xaby"}, Case{"", "ba", "ba"}, Case{"aXbYc", "cba", "XYcba"},
        Case{"aXb", "apb", "aXpb"}, Case{"aXb", "paqb", "paXqb"}}) {
    const auto list = [](std::string_view letters) {
      std::string text;
      for (const char letter : letters) {
        text += fmt::format("{}'e.com/{}'", text.empty() ? "" : ",", letter);
      }
      return "[" + text + "]";
    };
    Store store;
    store.UpdateBy(AppliedBy("one"), "{'metadata':{'finalizers':" + list(c.live) + "}}");
    EXPECT_EQ(store.ApplyBy(AppliedBy("two"), "'metadata':{'finalizers':" + list(c.config) + "}"),
              "");
    EXPECT_EQ(store.Shown(), "{'metadata':{'finalizers':" + list(c.merged) + "},'spec':{}}")
        << c.live << " " << c.config;
  }
}

TEST(Apply, NullTakesAValueAndEmptyStays) {
  Store store;
  store.ApplyBy(AppliedBy("one"), "'metadata':{'labels':{'x':'1'}},'spec':{'type':'T'}");
  EXPECT_EQ(store.ApplyBy(AppliedBy("one", 1), "'metadata':{'labels':null},'spec':{'type':null}"),
            "");
  EXPECT_EQ(store.Shown(), "{'metadata':{},'spec':{}}");
  EXPECT_THAT(Owners(store.Live()),
              ElementsAre("Apply one v1 @1 {'f:metadata':{'f:labels':{}},'f:spec':{'f:type':{}}}"));
  EXPECT_EQ(store.ApplyBy(AppliedBy("one", 2), "'spec':{'ports':[],'sessionAffinityConfig':{}}"),
            "");
  EXPECT_EQ(store.Shown(), "{'metadata':{},'spec':{'sessionAffinityConfig':{}}}");
  EXPECT_THAT(Owners(store.Live()),
              ElementsAre("Apply one v1 @2 {'f:spec':{'f:sessionAffinityConfig':{}}}"));
}

TEST(Apply, WhatWasThereBeforeTheFirstApplyHasAnOwner) {
  Store store;
  store.UpdateBy(AppliedBy("x"), "{'metadata':{'labels':{'x':'1'}}}");
  store.UpdateBy(AppliedBy("x"), "{'metadata':{'labels':{'x':'1'},'managedFields':[]}}");
  ASSERT_THAT(Owners(store.Live()), IsEmpty());
  EXPECT_EQ(store.ApplyBy(AppliedBy("one", 1), "'metadata':{'labels':{'x':'2'}}"),
            "Apply failed with 1 conflict: conflict with \"before-first-apply\" using v1: "
            ".metadata.labels.x");
  EXPECT_EQ(store.ApplyBy(AppliedBy("one", 1), "'metadata':{'labels':{'y':'2'}}"), "");
  EXPECT_THAT(Owners(store.Live()),
              ElementsAre("Apply one v1 @1 {'f:metadata':{'f:labels':{'f:y':{}}}}",
                          "Update before-first-apply v1 @1 {'f:metadata':{'f:labels':{'.':{},'f:x':"
                          "{}}}}"));
}

TEST(Apply, StatusIsAppliedThroughItsOwnDoor) {
  Store store;
  store.ApplyBy(AppliedBy("one"), "'spec':{'type':'T'}");
  FieldWrite status{
      .kind = api::kServiceKind, .subresource = "status", .manager = "one", .now = At(4)};
  EXPECT_EQ(store.ApplyBy(status,
                          "'spec':{'type':'U'},'status':{'loadBalancer':{'ingress':[{'ip':"
                          "'1.1.1.1'}]}}"),
            "");
  // The ownership of spec stays. The subresource restores the spec itself.
  EXPECT_THAT(
      Owners(store.Live()),
      ElementsAre("Apply one v1 @0 {'f:spec':{'f:type':{}}}",
                  "Apply one v1/status @4 {'f:status':{'f:loadBalancer':{'f:ingress':{}}}}"));
  EXPECT_EQ(
      store.ApplyBy(
          {.kind = api::kServiceKind, .subresource = "status", .manager = "two", .now = At(5)},
          "'status':{'loadBalancer':{'ingress':[]}}"),
      "Apply failed with 1 conflict: conflict with \"one\" with subresource \"status\": "
      ".status.loadBalancer.ingress");
}

TEST(Apply, KubectlOverrulesItsFormerSelf) {
  Store store;
  const auto annotated = [](const std::string& text, std::string annotation) {
    Value object = ObjectOf(text);
    codec::SetAt(object, {"metadata", "annotations", kAnnotation}, std::move(annotation));
    return object;
  };
  store.Replace(
      AppliedBy("kubectl-client-side-apply"),
      annotated("{'metadata':{'labels':{'x':'1'}},'spec':{'type':'T'}}",
                R"({"apiVersion":"v1","kind":"Service","metadata":{"labels":{"x":"1"}}})"));
  // Other managers may not.
  EXPECT_THAT(store.ApplyBy(AppliedBy("me", 1), "'metadata':{'labels':{'x':'2'}}"),
              HasSubstr("1 conflict"));
  // Nor may kubectl take what it did not apply itself.
  EXPECT_EQ(
      store.ApplyBy(AppliedBy("kubectl", 1), "'metadata':{'labels':{'x':'2'}},'spec':{'type':'U'}"),
      "Apply failed with 1 conflict: conflict with \"kubectl-client-side-apply\" using v1: "
      ".spec.type");
  EXPECT_EQ(store.ApplyBy(AppliedBy("kubectl", 1), "'metadata':{'labels':{'x':'2'}}"), "");
  EXPECT_EQ(codec::StringAt(store.Live(), "metadata", "labels", "x"), "2");
  EXPECT_EQ(
      codec::StringAt(store.Live(), "metadata", "annotations", kAnnotation),
      "{\"apiVersion\":\"v1\",\"kind\":\"Service\",\"metadata\":{\"labels\":{\"x\":\"2\"}}}\n");
  // A value that another client changed in between no longer belongs to kubectl.
  const std::string before(codec::StringAt(store.Live(), "metadata", "annotations", kAnnotation));
  store.Replace(AppliedBy("edit", 2), annotated("{'metadata':{'labels':{'x':'3'}}}", before));
  EXPECT_THAT(store.ApplyBy(AppliedBy("kubectl", 3), "'metadata':{'labels':{'x':'2'}}"),
              HasSubstr("conflict with \"edit\" using v1: .metadata.labels.x"));
}

TEST(Apply, ALastAppliedAnnotationThatIsTooLargeGoes) {
  Store store;
  store.UpdateBy(AppliedBy("x"),
                 "{'metadata':{'annotations':{'" + std::string(kAnnotation) + "':'{}'}}}");
  EXPECT_EQ(store.ApplyBy(AppliedBy("kubectl", 1), "'metadata':{'annotations':{'big':'" +
                                                       std::string(200 * 1024, 'x') + "'}}"),
            "");
  EXPECT_FALSE(codec::HasAt(store.Live(), "metadata", "annotations", kAnnotation));
  EXPECT_TRUE(codec::HasAt(store.Live(), "metadata", "annotations", "big"));
}

TEST(Apply, WhatDoesNotFitItsTypesIsRefused) {
  const std::pair<const char*, const char*> cases[] = {
      {"'bogus':1", ".bogus: field not declared in schema"},
      {"'spec':1", ".spec: expected map, got &{1}"},
      {"'spec':{'ports':{'a':'b'}}", ".spec.ports: expected list, got &{map[a:b]}"},
      {"'spec':{'type':80}", ".spec.type: expected string, got &value.valueUnstructured{Value:80}"},
      {"'spec':{'type':{'a':[1,'x',null]}}",
       ".spec.type: expected string, got &value.valueUnstructured{Value:map[string]interface "
       "{}{\"a\":[]interface {}{1, \"x\", interface {}(nil)}}}"},
      {"'spec':{'healthCheckNodePort':'x'}",
       ".spec.healthCheckNodePort: expected numeric (int or float), got string"},
      {"'spec':{'publishNotReadyAddresses':'x'}",
       ".spec.publishNotReadyAddresses: expected boolean, got &{x}"},
      {"'spec':{'ports':[{'port':1,'targetPort':[2]}]}",
       ".spec.ports[port=1,protocol=\"TCP\"].targetPort: expected any scalar, got &{[2]}"},
      {"'spec':{'ports':[null]}",
       ".spec.ports: element 0: associative list with keys may not have a null element"},
      {"'spec':{'ports':['x']}",
       ".spec.ports: element 0: associative list with keys may not have non-map elements"},
      {"'status':{'conditions':[{'status':'x'}]}",
       ".status.conditions: element 0: associative list with keys has an element that omits all "
       "key fields [\"type\"] (and doesn't have default values for any key fields)"},
      {"'metadata':{'finalizers':['a','a']}",
       ".metadata.finalizers: duplicate entries for key [=\"a\"]"},
      {"'metadata':{'finalizers':[null]}",
       ".metadata.finalizers: element 0: associative list without keys has an element that's an "
       "explicit null"},
      {"'metadata':{'labels':{'a':1}}",
       ".metadata.labels.a: expected string, got &value.valueUnstructured{Value:1}"},
      {"'spec':{'externalIPs':['a',1]}",
       ".spec.externalIPs[1]: expected string, got &value.valueUnstructured{Value:1}"},
      {"'spec':{'type':1,'externalName':2}",
       "errors:\n  .spec.type: expected string, got &value.valueUnstructured{Value:1}\n"
       "  .spec.externalName: expected string, got &value.valueUnstructured{Value:2}"},
  };
  for (const auto& [config, message] : cases) {
    const auto applied = Apply(AppliedBy("one"), {}, codec::Object(), Json(Config(config)));
    ASSERT_FALSE(applied.has_value()) << config;
    EXPECT_EQ(applied.error().reason, base::Reason::kUnknown);
    EXPECT_EQ(
        applied.error().message,
        std::string("failed to create typed patch object (/; /v1, Kind=Service): ") + message);
  }
}

TEST(Apply, OtherErrors) {
  const auto error = [](const std::string& config, const std::string& live = "{}") {
    const auto applied = Apply(AppliedBy("one"), {}, ObjectOf(live), Json(config));
    EXPECT_FALSE(applied.has_value());
    return applied ? base::Error() : applied.error();
  };
  EXPECT_EQ(error("null").message, "invalid object type: /, Kind=");
  EXPECT_EQ(error("[]").message,
            "error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot "
            "unmarshal array into Go value of type map[string]interface {}");
  EXPECT_EQ(error("{'apiVersion':'g/v1','kind':'Service'}").message,
            "invalid object type: g/v1, Kind=Service");
  EXPECT_EQ(error(Config("'metadata':{'managedFields':[]}")).message,
            "metadata.managedFields must be nil");
  const base::Error bad_value = error(Config("'spec':{'healthCheckNodePort':1.5}"));
  EXPECT_EQ(bad_value.reason, base::Reason::kUnknown);
  EXPECT_EQ(bad_value.message,
            "failed to convert new object (/; /v1, Kind=Service) to proper version: unable to "
            "convert unstructured object to /v1, Kind=Service: cannot convert float64 to int32");
  const base::Error bad_live =
      error(Config(""), "{'metadata':{'managedFields':[{'operation':'Apply'}]}}");
  EXPECT_EQ(bad_live.reason, base::Reason::kUnknown);
  EXPECT_EQ(bad_live.message, "failed to decode managed fields: apiVersion must not be empty");
}

TEST(Apply, EntriesThatAreThereTwiceBecomeOneWhenApplied) {
  Store store;
  store.UpdateBy(AppliedBy("one"), "{'metadata':{'finalizers':['a','b','a','b']}}");
  EXPECT_EQ(store.ApplyBy(AppliedBy("two"), "'metadata':{'finalizers':['a']}", /*force=*/true), "");
  EXPECT_EQ(store.Shown(), "{'metadata':{'finalizers':['a','b','b']},'spec':{}}");
}

TEST(Apply, UnknownFieldsOfProtobufSurvive) {
  Value live = ObjectOf("{'metadata':{'uid':'u'},'spec':{'type':'T'}}");
  codec::SetAt(live, {"spec", "\xFFunknown"}, "raw");
  const auto applied =
      Apply(AppliedBy("one"), {}, live, Json(Config("'metadata':{'labels':{'a':'b'}}")));
  ASSERT_TRUE(applied.has_value());
  EXPECT_EQ(codec::StringAt(*applied, "spec", "\xFFunknown"), "raw");
}

TEST(Apply, TakesTimeLinearInTheList) {
  std::string ports;
  for (int i = 1; i <= 5000; ++i) ports += fmt::format("{}{{'port':{}}}", i == 1 ? "" : ",", i);
  Store store;
  const std::string config = "'spec':{'ports':[" + ports + "]}";
  EXPECT_EQ(store.ApplyBy(AppliedBy("one"), config), "");
  EXPECT_EQ(store.ApplyBy(AppliedBy("two"), config), "");
  EXPECT_EQ(store.ApplyBy(AppliedBy("one", 1), "'spec':{'ports':[{'port':7}]}"), "");
  EXPECT_EQ(store.ApplyBy(AppliedBy("two", 2), ""), "");
  EXPECT_EQ(codec::ArrayAt(store.Live(), "spec", "ports").size(), 1u);
}

}  // namespace
}  // namespace berth::merge
