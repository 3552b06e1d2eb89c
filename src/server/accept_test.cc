#include "server/accept.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::server {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kTableAccept =
    "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;"
    "g=meta.k8s.io,application/json";

Accepted Get(std::string_view accept, const Offer& offer = {}) {
  const auto accepted = Negotiate(accept, offer);
  EXPECT_TRUE(accepted) << accept;
  return accepted.value_or(Accepted{});
}

std::string Refusal(std::string_view accept, const Offer& offer = {}) {
  const auto accepted = Negotiate(accept, offer);
  EXPECT_FALSE(accepted) << accept;
  return accepted ? "" : accepted.error().message;
}

TEST(Accept, NothingAndAnythingMeanJson) {
  for (const std::string_view accept :
       {"", "*/*", "application/json", "application/json;charset=utf-8",
        "application/json;stream=watch", "image/png, */*"}) {
    EXPECT_EQ(Get(accept).media, Media::kJson) << accept;
    EXPECT_EQ(Get(accept).transform, Transform::kNone) << accept;
  }
}

TEST(Accept, TheBestOfferedClauseWins) {
  EXPECT_EQ(Get("application/json;q=0.1,application/yaml;q=0.5").media, Media::kYaml);
  EXPECT_EQ(Get("application/xml, application/yaml").media, Media::kYaml);
  EXPECT_EQ(Get("application/yaml;q=0,application/json").media, Media::kJson);
}

TEST(Accept, QualitiesAreReadAsUpstreamReadsThem) {
  EXPECT_EQ(Get("application/yaml;q=0").media, Media::kYaml) << "the last choice, not no choice";
  EXPECT_EQ(Get("application/yaml;q=high,application/json;q=0.1").media, Media::kJson);
  EXPECT_EQ(Get("*/*,application/yaml;q=0.5").media, Media::kYaml) << "a named type comes first";
  EXPECT_EQ(Get("application/yaml;q=0.5,*/*").media, Media::kJson) << "but only if it comes later";
}

TEST(Accept, Protobuf) {
  for (const std::string_view accept :
       {"application/vnd.kubernetes.protobuf", "application/vnd.kubernetes.protobuf;stream=watch",
        "application/vnd.kubernetes.protobuf,application/json",
        "application/vnd.kubernetes.protobuf, */*", "*/*,application/vnd.kubernetes.protobuf",
        "application/*,application/vnd.kubernetes.protobuf",
        "application/json;q=0.9,application/vnd.kubernetes.protobuf"}) {
    EXPECT_EQ(Get(accept).media, Media::kProtobuf) << accept;
  }
  EXPECT_EQ(Get("*/*").media, Media::kJson) << "protobuf only if it is named";
  EXPECT_EQ(Get("application/vnd.kubernetes.protobuf;q=0.9, */*").media, Media::kJson);
}

TEST(Accept, AKindWithoutProtobufIsPassedOver) {
  const Offer json_only{.protobuf = false};
  EXPECT_EQ(Get("application/vnd.kubernetes.protobuf,application/json", json_only).media,
            Media::kJson);
  EXPECT_EQ(Refusal("application/vnd.kubernetes.protobuf", json_only),
            "only the following media types are accepted: application/json, application/yaml, "
            "application/vnd.kubernetes.protobuf");
  const Accepted partial = Get(
      "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1", json_only);
  EXPECT_EQ(partial.media, Media::kProtobuf) << "metadata is the same for every kind";
}

TEST(Accept, TablesAreNotForProtobuf) {
  const std::string table =
      "application/vnd.kubernetes.protobuf;as=Table;g=meta.k8s.io;v=v1,"
      "application/json;as=Table;g=meta.k8s.io;v=v1";
  EXPECT_EQ(Get(table).media, Media::kJson);
  EXPECT_EQ(Get(table).transform, Transform::kTable);
  EXPECT_THAT(Refusal("application/vnd.kubernetes.protobuf;as=Table;g=meta.k8s.io;v=v1"),
              HasSubstr("only the following media types"));
}

TEST(Accept, ClausesThatNobodyCanMeetArePassedOver) {
  for (const std::string_view accept :
       {"application/json;stream=exec", "application/yaml;stream=watch", "application/json;g=apps",
        "application/json;v=v1"}) {
    EXPECT_THAT(Refusal(accept), HasSubstr("only the following media types")) << accept;
    EXPECT_EQ(Get(std::string(accept) + ",application/yaml").media, Media::kYaml) << accept;
  }
}

TEST(Accept, AFailureIsToldInAPlainForm) {
  EXPECT_EQ(NegotiatePlain("")->media, Media::kJson);
  EXPECT_EQ(NegotiatePlain("application/vnd.kubernetes.protobuf,application/json")->media,
            Media::kProtobuf);
  EXPECT_EQ(NegotiatePlain("application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;"
                           "g=meta.k8s.io;v=v1,application/yaml")
                ->media,
            Media::kYaml);
  EXPECT_FALSE(NegotiatePlain(kTableAccept.substr(0, kTableAccept.find(','))));
  EXPECT_FALSE(NegotiatePlain("text/html"));
}

TEST(Accept, Transforms) {
  EXPECT_EQ(Get(kTableAccept).transform, Transform::kTable);
  EXPECT_EQ(Get(kTableAccept).transform_version, "v1");
  EXPECT_EQ(Get("application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1").transform,
            Transform::kPartial);
  EXPECT_EQ(Get("application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1beta1").transform,
            Transform::kPartialList);
  EXPECT_EQ(Get(kTableAccept, {.tables = false}).transform, Transform::kNone)
      << "falls back to the clause without";
}

TEST(Accept, TwoStagesRefuseWithTwoMessages) {
  EXPECT_THAT(Refusal("text/html"), HasSubstr("406: Not Acceptable"));
  EXPECT_THAT(Refusal("application/*"), HasSubstr("406: Not Acceptable"));
  EXPECT_EQ(Refusal("application/json;as=Bogus;v=v1;g=meta.k8s.io"),
            "only the following media types are accepted: application/json, application/yaml, "
            "application/vnd.kubernetes.protobuf");
}

TEST(Accept, AFloodOfClausesIsCutShort) {
  std::string many;
  for (int i = 0; i < 100'000; ++i) many += "a/b;q=0.1,";
  EXPECT_FALSE(Negotiate(many, {}));
}

TEST(Accept, Bodies) {
  EXPECT_EQ(BodyMedia(""), Media::kJson);
  EXPECT_EQ(BodyMedia("application/json; charset=utf-8"), Media::kJson);
  EXPECT_EQ(BodyMedia("application/yaml"), Media::kYaml);
  EXPECT_EQ(BodyMedia("application/vnd.kubernetes.protobuf"), Media::kProtobuf);
  const auto refused = BodyMedia("text/plain");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason, base::Reason::kUnsupportedMediaType);
  const auto only_text = BodyMedia("application/vnd.kubernetes.protobuf", {.protobuf = false});
  ASSERT_FALSE(only_text);
  EXPECT_EQ(only_text.error().message,
            "the body of the request was in an unknown format - accepted media types include: "
            "application/json, application/yaml");
}

TEST(Accept, WhatIsWrittenInAnotherWay) {
  EXPECT_EQ(BodyMedia("Application/JSON ;charset=utf-8").value(), Media::kJson);
  EXPECT_TRUE(Negotiate("application/json;q=high", {})) << "an invalid quality";
}

TEST(Accept, AggregatedDiscovery) {
  EXPECT_TRUE(WantsAggregatedDiscovery(
      "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
      "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/"
      "json"));
  EXPECT_FALSE(WantsAggregatedDiscovery(
      "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json"))
      << "an old version that is not served";
  EXPECT_FALSE(WantsAggregatedDiscovery(
      "application/vnd.kubernetes.protobuf,"
      "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"))
      << "the old format in protobuf comes first";
  EXPECT_FALSE(WantsAggregatedDiscovery("application/json"));
  EXPECT_FALSE(WantsAggregatedDiscovery(""));
}

}  // namespace
}  // namespace berth::server
