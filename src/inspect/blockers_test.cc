#include "inspect/blockers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "inspect/names.h"
#include "inspect/testing/small_cluster.h"

namespace berth::inspect {
namespace {

using rules::RecordState;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Returns each blocker as "value effort obstacles", or the error.
std::vector<std::string> Lines(const Census& census, const std::string& range,
                               const std::vector<std::string>& to = {}) {
  const auto answers = FindBlockers(census, {.range = range, .to = to});
  if (!answers) return {answers.error().message};
  std::vector<std::string> lines;
  for (const Blockers& answer : *answers) {
    for (const Blocker& blocker : answer.blockers) {
      std::string line = alloc::TextOf(blocker.value) + " " + std::string(NameOf(blocker.effort()));
      for (const Obstacle obstacle : blocker.obstacles) line += " " + std::string(NameOf(obstacle));
      lines.push_back(line);
    }
  }
  return lines;
}

std::string OutcomeFor(const Census& census, const std::string& range,
                       const std::vector<std::string>& to = {}) {
  return std::string(NameOf(FindBlockers(census, {.range = range, .to = to})->front().outcome));
}

TEST(BlockersTest, EachHolderHasItsEffort) {
  SmallCluster small;
  small.Range("10.0.0.0/24")
      .Range("30000-32767")
      .Add({.name_space = "default",
            .name = "kubernetes",
            .values = {"10.0.0.1"},
            .origin = Origin::kDrawn})
      .Add({.name_space = "kube-system",
            .name = "kube-dns",
            .values = {"10.0.0.10"},
            .origin = Origin::kNamed})
      .Add({.name_space = "shop",
            .name = "cart",
            .values = {"10.0.0.20", "30001"},
            .origin = Origin::kDrawn})
      .Add({.name_space = "shop", .name = "old", .values = {"10.0.0.21"}})
      .Add({.name_space = "shop",
            .name = "web",
            .values = {"10.0.0.22", "30002"},
            .origin = Origin::kDrawn,
            .type = "LoadBalancer"});
  small.view().services.back().tool = "Helm release web";
  small.view().services.back().holds.back().health_check = true;
  const Cluster cluster = small.Finish();
  const Census census(cluster);
  EXPECT_THAT(Lines(census, "10.0.0.0/24"),
              ElementsAre("10.0.0.1 hard ApiServer", "10.0.0.10 hard ClusterDns Named",
                          "10.0.0.20 easy Plain", "10.0.0.21 medium UnknownOrigin",
                          "10.0.0.22 hard Tool LoadBalancer"));
  EXPECT_THAT(Lines(census, "30000-32767"),
              ElementsAre("30001 medium NodePort", "30002 hard Tool HealthCheck"));
  EXPECT_EQ(OutcomeFor(census, "10.0.0.0/24"), "Waits");
  EXPECT_EQ(OutcomeFor(census, "30000-32767"), "Unchecked");
  EXPECT_EQ(OutcomeFor(census, "30000-32767", {"30000-30010"}), "Accepted");
}

TEST(BlockersTest, WhatAnotherRangeCoversIsNotInTheWay) {
  SmallCluster small;
  small.Range("10.0.0.0/16")
      .Range("10.0.1.0/24")
      .Add({.name_space = "a", .name = "covered", .values = {"10.0.1.5"}})
      .Add({.name_space = "a", .name = "edge", .values = {"10.0.1.0"}})
      .Add({.name_space = "a", .name = "low", .values = {"10.0.0.5"}})
      .Add({.name_space = "a", .name = "high", .values = {"10.0.200.5"}});
  const Cluster cluster = small.Finish();
  const Census census(cluster);
  // The network address of the other range is not one of its values.
  EXPECT_THAT(Lines(census, "10.0.0.0/16"),
              ElementsAre("10.0.1.0 medium UnknownOrigin", "10.0.200.5 medium UnknownOrigin",
                          "10.0.0.5 medium UnknownOrigin"));
  EXPECT_THAT(Lines(census, "10.0.0.0/16", {"10.0.0.0/20"}),
              ElementsAre("10.0.200.5 medium UnknownOrigin"));
  EXPECT_THAT(Lines(census, "10.0.1.0/24"), IsEmpty());
  EXPECT_THAT(Lines(census, "10.0.128.0/17"), ElementsAre("10.0.200.5 medium UnknownOrigin"));
  EXPECT_FALSE(FindBlockers(census, {.range = "10.0.128.0/17"})->front().whole);
  EXPECT_EQ(Lines(census, "10.0.0.0/8").size(), 4U);
}

TEST(BlockersTest, ReservationsStopBerthAndNotKubernetes) {
  SmallCluster small;
  small.Range("10.0.0.0/24")
      .Record("10.0.0.5", RecordState::kReserved, "a/later")
      .Record("10.0.0.6", RecordState::kFree, "")
      .Record("10.0.0.7", RecordState::kAllocated, "a/gone");
  Cluster cluster = small.Finish();
  {
    cluster.server = ServerKind::kKubernetes;
    const Census census(cluster);
    EXPECT_THAT(Lines(census, "10.0.0.0/24"), ElementsAre("10.0.0.7 easy Orphan"));
    EXPECT_EQ(FindBlockers(census, {.range = "10.0.0.0/24"})->front().left_behind, 1U);
  }
  cluster.server = ServerKind::kBerth;
  const Census census(cluster);
  EXPECT_THAT(Lines(census, "10.0.0.0/24"),
              ElementsAre("10.0.0.5 medium Reservation", "10.0.0.7 easy Orphan"));
  EXPECT_EQ(OutcomeFor(census, "10.0.0.0/24"), "Refused");
}

TEST(BlockersTest, AServiceCidrLeavesWithBothFamilies) {
  ClusterReader reader(
      {.source = "test.json", .read_at = SmallCluster::At("2026-11-18T12:00:00Z")});
  reader.AddAny(codec::ParseJson(R"({"apiVersion": "networking.k8s.io/v1", "kind": "ServiceCIDR",
      "metadata": {"name": "kubernetes"}, "spec": {"cidrs": ["10.0.0.0/20", "fd00::/112"]}})")
                    .value());
  reader.AddAny(codec::ParseJson(R"({"apiVersion": "v1", "kind": "Service",
      "metadata": {"namespace": "shop", "name": "web"},
      "spec": {"clusterIPs": ["10.0.0.5", "fd00::5"]}})")
                    .value());
  const Cluster cluster = std::move(reader).Finish();
  const Census census(cluster);
  for (const char* range : {"kubernetes", "10.0.0.0/20"}) {
    EXPECT_THAT(Lines(census, range, {"10.0.0.0/21"}), ElementsAre("fd00::5 medium UnknownOrigin"))
        << range;
    EXPECT_THAT(Lines(census, range, {"10.0.0.0/21", "fd00::/120"}), IsEmpty()) << range;
    EXPECT_EQ(Lines(census, range).size(), 2U) << range;
  }
  EXPECT_EQ(FindBlockers(census, {.range = "10.0.0.0/20"})->back().leaves_with, "kubernetes");
  // A part is asked for by its values, and the rest of the object may stay.
  EXPECT_THAT(Lines(census, "10.0.0.0/28"), ElementsAre("10.0.0.5 medium UnknownOrigin"));
  EXPECT_THAT(Lines(census, "kubernetes", {"10.0.0.0/21", "10.0.0.0/22"}).front(),
              HasSubstr("at most one range of each family"));
}

TEST(BlockersTest, TheApiServersMakeTheirServiceCidrAgain) {
  ClusterReader reader({});
  for (const char* object :
       {R"({"metadata": {"name": "kubernetes"}, "spec": {"cidrs": ["10.10.0.0/20"]}})",
        R"({"metadata": {"name": "extra"}, "spec": {"cidrs": ["10.11.0.0/20"]}})"}) {
    reader.AddRange(alloc::RangeKind::kServiceCidr, codec::ParseJson(object).value());
  }
  Cluster cluster = std::move(reader).Finish();
  const auto made_again = [&cluster](const char* range) {
    const Census census(cluster);
    return FindBlockers(census, {.range = range})->front().made_again;
  };
  EXPECT_TRUE(made_again("kubernetes"));
  EXPECT_TRUE(made_again("10.0.0.0/8"));
  EXPECT_FALSE(made_again("10.10.0.0/21")) << "A part of it is asked for";
  EXPECT_FALSE(made_again("extra"));
  cluster.server = ServerKind::kBerth;
  EXPECT_FALSE(made_again("kubernetes"));
}

TEST(BlockersTest, BadQuestionsSayWhatIsThere) {
  SmallCluster small;
  const Cluster cluster = small.Range("10.0.0.0/24").Range("30000-32767").Finish();
  const Census census(cluster);
  EXPECT_THAT(Lines(census, "blue").front(),
              HasSubstr("\"blue\": no range has this name; the ranges are 10.0.0.0/24 and "
                        "30000-32767"));
  EXPECT_THAT(Lines(census, "11.0.0.0/24").front(),
              HasSubstr("no range of the cluster contains it"));
  EXPECT_THAT(Lines(census, "10.0.0.1/24").front(), HasSubstr("did you mean 10.0.0.0/24?"));
  EXPECT_THAT(Lines(census, "10.0.0.0/24", {"30000-30001"}).front(),
              HasSubstr("must have values of the same kind"));
  EXPECT_THAT(Lines(census, "10.0.0.0/24", {"blue"}).front(), HasSubstr("--to \"blue\": must be"));
}

}  // namespace
}  // namespace berth::inspect
