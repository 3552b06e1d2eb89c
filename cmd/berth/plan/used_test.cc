#include "berth/plan/used.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <string_view>

namespace berth::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// Reads a text that must be valid.
Used Read(std::string_view text) {
  base::Result<Used> used = ReadUsed(text);
  EXPECT_TRUE(used.has_value()) << text << ": " << (used ? "" : used.error().message);
  return used.value_or(Used{});
}

std::string ProblemOfUsed(std::string_view text) {
  const base::Result<Used> used = ReadUsed(text);
  return used ? "" : used.error().message;
}

/// Returns the uses as "value owner", as in a list.
std::vector<std::string> Texts(const Used& used) {
  std::vector<std::string> texts;
  for (const Use& use : used.uses)
    texts.push_back(ValueText(use.kind, use.value) + " " + use.owner);
  return texts;
}

/// Returns the JSON of a Service a/b with these members of its spec.
std::string Service(std::string_view spec) {
  return R"({"kind":"Service","metadata":{"namespace":"a","name":"b"},"spec":{)" +
         std::string(spec) + "}}";
}

TEST(UsedListTest, ReadsValuesOwnersAndComments) {
  const Used used = Read(
      "# what we gave out\r\n"
      "\r\n"
      "10.96.0.10 kube-system/kube-dns\r\n"
      "  30080\tweb # the shop\n"
      "30081 two words\n"
      "FD00::0a c#\n"
      "30081");
  EXPECT_EQ(used.format, UsedFormat::kList);
  EXPECT_THAT(Texts(used), ElementsAre("10.96.0.10 kube-system/kube-dns", "30080 web",
                                       "30081 two words", "fd00::a c#", "30081 "));
  EXPECT_EQ(used.uses[0].line, 3u);
  EXPECT_EQ(used.uses[4].line, 7u);
}

TEST(UsedListTest, NothingIsFine) {
  for (const std::string_view text :
       {"", "\n \r\n", "# nothing", "\xEF\xBB\xBF", "\xEF\xBB\xBF\n"}) {
    EXPECT_TRUE(Read(text).uses.empty());
  }
  EXPECT_THAT(Texts(Read("\xEF\xBB\xBF"
                         "10.0.0.1")),
              ElementsAre("10.0.0.1 "));
}

TEST(UsedListTest, ProblemsNameTheLine) {
  EXPECT_EQ(ProblemOfUsed("10.0.0.1\n\n10.0.0.256"),
            "line 3: \"10.0.0.256\": must be a valid IP address, (e.g. 10.9.8.7 or "
            "2001:db8::ffff)");
  EXPECT_EQ(ProblemOfUsed("65536"),
            "line 1: \"65536\": a port must be a number from 1 to 65535 without leading 0s");
  EXPECT_THAT(ProblemOfUsed("0"), HasSubstr("from 1 to 65535"));
  EXPECT_THAT(ProblemOfUsed("080"), HasSubstr("from 1 to 65535"));
  EXPECT_THAT(ProblemOfUsed("010.0.0.1"), HasSubstr("must not have leading 0s"));
  EXPECT_EQ(ProblemOfUsed("web 30080"), "line 1: \"web\": must be an IP address or a port number");
  EXPECT_THAT(ProblemOfUsed("10.0.0.0/24"), HasSubstr("must be a valid IP address"));
  EXPECT_LT(ProblemOfUsed(std::string(100'000, 'x')).size(), 200u);
}

TEST(UsedListTest, PassesOverWhatKubectlPrintsForNothing) {
  EXPECT_THAT(Texts(Read("None a/headless\n<none>\n10.0.0.1 a/b\n")), ElementsAre("10.0.0.1 a/b"));
}

TEST(UsedListTest, TooManyValuesAreRefused) {
  std::string list;
  for (size_t i = 0; i <= kMaxUses; ++i) list += "1\n";
  const auto used = ReadUsed(list);
  ASSERT_FALSE(used.has_value());
  EXPECT_EQ(used.error().message, "contains more than 2,000,000 values, the maximum");
}

TEST(UsedListTest, RecognizesWhatItCannotRead) {
  EXPECT_THAT(ProblemOfUsed("apiVersion: v1\nkind: List\n"), HasSubstr("-o json"));
  EXPECT_THAT(ProblemOfUsed("---\n"), HasSubstr("looks like YAML"));
  EXPECT_THAT(ProblemOfUsed("NAMESPACE   NAME   TYPE\n"), HasSubstr("-o json"));
  EXPECT_THAT(ProblemOfUsed(std::string_view("\xFF\xFE{\0", 4)), HasSubstr("UTF-16"));
}

TEST(UsedServicesTest, ReadsAddressesAndPorts) {
  const Used used = Read(Service(
      R"("type":"LoadBalancer","clusterIP":"10.0.0.1","clusterIPs":["10.0.0.1","fd00::1"],
         "healthCheckNodePort":31000,
         "ports":[{"port":53,"protocol":"UDP","nodePort":30053},
                  {"port":53,"protocol":"TCP","nodePort":30053},{"port":80,"nodePort":0},{}])"));
  EXPECT_EQ(used.format, UsedFormat::kServices);
  EXPECT_EQ(used.services, 1u);
  EXPECT_THAT(Texts(used), ElementsAre("10.0.0.1 a/b", "fd00::1 a/b", "30053 a/b", "31000 a/b"));
}

TEST(UsedServicesTest, ReadsEveryShapeOfList) {
  const std::string service = Service(R"("clusterIP":"10.0.0.1")");
  const std::vector<std::string> shapes = {
      service,
      "[" + service + "]",
      R"({"kind":"List","items":[)" + service + "]}",
      R"({"kind":"ServiceList","items":[)" + service + "]}",
      R"( {"kind":"List","items":[
            {"metadata":{"namespace":"a","name":"b"},"spec":{"clusterIP":"10.0.0.1"}}]})",
  };
  for (const std::string& text : shapes) {
    EXPECT_THAT(Texts(Read(text)), ElementsAre("10.0.0.1 a/b")) << text;
  }
  EXPECT_EQ(Read("[]").services, 0u);
  EXPECT_EQ(Read(R"({"kind":"List","items":null})").services, 0u);
}

TEST(UsedServicesTest, PassesOverWhatHoldsNothing) {
  for (const std::string_view spec :
       {R"("clusterIP":"None","clusterIPs":["None"])", R"("clusterIP":"")", R"("clusterIPs":[""])",
        R"("clusterIPs":null,"ports":null)", "",
        R"("type":"ExternalName","clusterIP":"10.0.0.1","ports":[{"nodePort":30000}])"}) {
    const Used used = Read(Service(spec));
    EXPECT_TRUE(used.uses.empty()) << spec;
    EXPECT_EQ(used.services, 1u);
  }
  EXPECT_TRUE(Read(R"({"kind":"Service","metadata":{"name":"b"}})").uses.empty());
}

TEST(UsedServicesTest, CountsOtherObjects) {
  const Used used = Read(
      R"([{"kind":"Pod","metadata":7},
          {"kind":"Service","apiVersion":"serving.knative.dev/v1","metadata":{"name":"b"}}])");
  EXPECT_EQ(used.other_objects, 2u);
  EXPECT_EQ(used.services, 0u);
}

TEST(UsedServicesTest, ReadsAddressesFromBeforeStrictRules) {
  EXPECT_THAT(Texts(Read(Service(R"("clusterIPs":["010.0.0.001","::ffff:10.0.0.2"])"))),
              ElementsAre("10.0.0.1 a/b", "10.0.0.2 a/b"));
}

TEST(UsedServicesTest, ProblemsNameTheServiceAndTheField) {
  EXPECT_EQ(ProblemOfUsed(Service(R"("clusterIPs":["10.0.0.1",7])")),
            "Service a/b: spec.clusterIPs[1]: must be a string, not a number");
  EXPECT_EQ(ProblemOfUsed(Service(R"("clusterIPs":"10.0.0.1")")),
            "Service a/b: spec.clusterIPs: must be a list, not a string");
  EXPECT_EQ(ProblemOfUsed(Service(R"("clusterIP":"10.0.0")")),
            "Service a/b: spec.clusterIP: \"10.0.0\" is not an IP address");
  EXPECT_EQ(ProblemOfUsed(Service(R"("ports":{})")),
            "Service a/b: spec.ports: must be a list, not an object");
  EXPECT_EQ(ProblemOfUsed(Service(R"("ports":[{},[]])")),
            "Service a/b: spec.ports[1]: must be an object, not a list");
  EXPECT_EQ(ProblemOfUsed(Service(R"("ports":[{"nodePort":"30000"}])")),
            "Service a/b: spec.ports[0].nodePort: must be a number, not a string");
  EXPECT_EQ(ProblemOfUsed(Service(R"("healthCheckNodePort":65536)")),
            "Service a/b: spec.healthCheckNodePort: must be a whole number from 0 to 65535");
  for (const std::string_view number : {"-1", "1.5", "18446744073709551615", "1e9"}) {
    EXPECT_THAT(ProblemOfUsed(Service(R"("healthCheckNodePort":)" + std::string(number))),
                HasSubstr("must be a whole number from 0 to 65535"));
  }
  EXPECT_EQ(ProblemOfUsed(Service(R"("type":true)")),
            "Service a/b: spec.type: must be a string, not a boolean");
}

TEST(UsedServicesTest, ProblemsNameThePlaceOfANamelessService) {
  EXPECT_EQ(ProblemOfUsed(R"({"kind":"List","items":[{}]})"),
            "items[0]: metadata.name: is missing");
  EXPECT_EQ(ProblemOfUsed(R"([{"metadata":[]}])"),
            "array[0]: metadata: must be an object, not a list");
  EXPECT_EQ(ProblemOfUsed(R"([{"metadata":{"name":7}}])"),
            "array[0]: metadata.name: must be a string, not a number");
  EXPECT_EQ(ProblemOfUsed(R"([{"kind":7}])"), "array[0]: kind: must be a string, not a number");
  EXPECT_EQ(ProblemOfUsed("[7]"), "array[0]: must be a Service, not a number");
  EXPECT_EQ(ProblemOfUsed("[null]"), "array[0]: must be a Service, not null");
  EXPECT_EQ(ProblemOfUsed(R"({"kind":"Service","metadata":null})"),
            "the Service: metadata.name: is missing");
}

TEST(UsedServicesTest, RefusesOtherDocuments) {
  EXPECT_THAT(ProblemOfUsed("{}"), StartsWith("kind: must be"));
  EXPECT_THAT(ProblemOfUsed(R"({"kind":7})"), StartsWith("kind: must be"));
  EXPECT_THAT(ProblemOfUsed(R"({"kind":"PodList","items":[]})"),
              StartsWith("contains a \"PodList\""));
  EXPECT_THAT(ProblemOfUsed(R"({"kind":"List","items":{}})"), StartsWith("items: must be a list"));
  EXPECT_THAT(ProblemOfUsed("{"), StartsWith("invalid JSON"));
  EXPECT_THAT(ProblemOfUsed(std::string(1000, '[')), StartsWith("invalid JSON"));
}

RC_GTEST_PROP(UsedTest, AnyTextIsReadOrRefused, (const std::string& text)) {
  for (const std::string_view start : {"", "{", "[", "10.0.0.1 "}) {
    const base::Result<Used> used = ReadUsed(std::string(start) + text);
    RC_ASSERT(used.has_value() || !used.error().message.empty());
  }
}

}  // namespace
}  // namespace berth::cli
