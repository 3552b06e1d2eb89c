#include "inspect/what_if.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "inspect/testing/small_cluster.h"

namespace berth::inspect {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Asks about the range with this text.
base::Result<WhatIf> AskAbout(const Census& census, std::string_view text,
                              const std::vector<std::string>& to) {
  const auto ranges = MeasureRanges(census, {});
  return AskWhatIf(
      census, *std::ranges::find(ranges, text, [](const TopRange& range) { return range.text(); }),
      to);
}

std::string Refusal(const Census& census, std::string_view text,
                    const std::vector<std::string>& to) {
  const auto answer = AskAbout(census, text, to);
  return answer ? "" : answer.error().message;
}

std::string AllCommands(const WhatIf& answer) {
  std::string out;
  for (const ReadyCommand& each : answer.commands) out += each.command + "\n";
  return out;
}

/// Returns a cluster of Kubernetes with two families in its first ServiceCIDR.
Cluster DualStack(const char* version = "v1.34.1") {
  ClusterReader reader(
      {.source = "test.json", .read_at = SmallCluster::At("2026-11-18T12:00:00Z")});
  reader.AddAny(codec::ParseJson(R"({"apiVersion": "networking.k8s.io/v1", "kind": "ServiceCIDR",
      "metadata": {"name": "kubernetes"}, "spec": {"cidrs": ["fd00::/112", "10.0.0.0/20"]}})")
                    .value());
  reader.AddAny(codec::ParseJson(R"({"apiVersion": "v1", "kind": "Service",
      "metadata": {"namespace": "shop", "name": "web"},
      "spec": {"clusterIPs": ["10.0.9.5", "fd00::5"]}})")
                    .value());
  Cluster cluster = std::move(reader).Finish();
  cluster.server = ServerKind::kKubernetes;
  cluster.version = version;
  return cluster;
}

TEST(WhatIfTest, ALargerRangeHasNewBands) {
  SmallCluster small;
  const Cluster cluster = small.IpRange(R"({"range": "10.96.0.0/24"})").Row(10, 29).Finish();
  const Census census(cluster);
  const auto answer = AskAbout(census, "10.96.0.0/24", {"10.96.0.0/16"});
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->now.figures.static_band.span->Size(), 16U);
  EXPECT_EQ(answer->then.figures.static_band.span->Size(), 256U);
  EXPECT_EQ(answer->then.figures.Free(), 65534U - 20);
  EXPECT_THAT(answer->blockers.front().blockers, IsEmpty());
  EXPECT_EQ(AllCommands(*answer),
            "kubectl patch ipranges.allocation.berth.io own --type=merge -p "
            "'{\"spec\":{\"range\":\"10.96.0.0/16\"}}' --dry-run=server\n"
            "kubectl patch ipranges.allocation.berth.io own --type=merge -p "
            "'{\"spec\":{\"range\":\"10.96.0.0/16\"}}'\n");
}

TEST(WhatIfTest, ASmallerRangeOfBerthFirstGivesOutNothing) {
  SmallCluster small;
  const Cluster cluster = small.IpRange(R"({"range": "10.96.0.0/24"})").Row(10, 29).Finish();
  const Census census(cluster);
  const auto answer = AskAbout(census, "10.96.0.0/24", {"10.96.0.0/28"});
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->blockers.front().blockers.size(), 15U) << "Of 15 to 29";
  EXPECT_EQ(answer->blockers.front().outcome, Outcome::kRefused);
  EXPECT_THAT(AllCommands(*answer), HasSubstr(R"({"spec":{"disabled":true}})"));
}

TEST(WhatIfTest, WhatTheServerRefusesIsNotProposed) {
  SmallCluster small;
  small.IpRange(R"({"range": "10.96.0.0/24", "staticBand": 100})").Range("30000-32767");
  const Cluster cluster = small.Finish();
  const Census census(cluster);
  const auto refusal = [&](const char* to) { return Refusal(census, "10.96.0.0/24", {to}); };
  EXPECT_THAT(refusal("10.96.0.0/31"), HasSubstr("a /31 has no address to give out"));
  EXPECT_THAT(refusal("0.0.0.0/0"), HasSubstr("0.0.0.0/0 is every IPv4 address"));
  EXPECT_THAT(refusal("10.96.0.0/28"), HasSubstr("a static band of 100 does not fit"));
  EXPECT_THAT(refusal("10.96.0.1/24"), HasSubstr("did you mean 10.96.0.0/24?"));
  EXPECT_THAT(refusal("fd00::/64"), HasSubstr("must have values of the same kind"));
  EXPECT_THAT(refusal("30000-30010"), HasSubstr("must have values of the same kind"));
  EXPECT_THAT(refusal("10.96.0.0/24"), HasSubstr("this is what the range is now"));
  EXPECT_THAT(refusal("<script>"), HasSubstr("must be a CIDR or a range of ports"));
  EXPECT_THAT(refusal(""), HasSubstr("must be a CIDR or a range of ports"));
  EXPECT_THAT(Refusal(census, "10.96.0.0/24", {}), HasSubstr("this is what the range is now"));
  EXPECT_THAT(Refusal(census, "10.96.0.0/24", {"10.0.0.0/16", "10.1.0.0/16"}),
              HasSubstr("at most one range of each family"));
  EXPECT_THAT(Refusal(census, "30000-32767", {"0-100"}), HasSubstr("must not have port 0"));
  EXPECT_THAT(Refusal(census, "30000-32767", {"99999"}), HasSubstr("must be"));
}

TEST(WhatIfTest, AServiceCidrIsReplacedWithBothFamilies) {
  const Cluster cluster = DualStack();
  const Census census(cluster);
  const auto answer = AskAbout(census, "10.0.0.0/20", {"10.0.0.0/21"});
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(AllCommands(*answer),
            "kubectl create -f - <<'EOF'\n"
            "apiVersion: networking.k8s.io/v1\n"
            "kind: ServiceCIDR\n"
            "metadata:\n"
            "  name: \"kubernetes-2\"\n"
            "spec:\n"
            "  cidrs:\n"
            "  - \"fd00::/112\"\n"
            "  - \"10.0.0.0/21\"\n"
            "EOF\n"
            "kubectl delete servicecidr kubernetes --wait=false\n");
  ASSERT_EQ(answer->blockers.size(), 2U);
  EXPECT_EQ(answer->blockers[0].blockers.size(), 1U);
  EXPECT_THAT(answer->blockers[1].blockers, IsEmpty()) << "The other family stays";
  EXPECT_THAT(answer->notes, ElementsAre(HasSubstr("the new one has fd00::/112 too"),
                                         HasSubstr("--service-cluster-ip-range=fd00::/112,"
                                                   "10.0.0.0/21")));
  const auto both = AskAbout(census, "10.0.0.0/20", {"fd00::/108", "10.0.0.0/16"});
  ASSERT_TRUE(both.has_value());
  EXPECT_EQ(both->then.text, "10.0.0.0/16");
  EXPECT_THAT(AllCommands(*both), AllOf(HasSubstr("\"fd00::/108\""), HasSubstr("\"10.0.0.0/16\"")));
  EXPECT_THAT(both->notes.front(), HasSubstr("may also stay"));
  EXPECT_THAT(Refusal(census, "fd00::/112", {"fd00::/48"}), HasSubstr("larger than a /64"));
}

TEST(WhatIfTest, OldServersHaveTheOldApi) {
  for (const auto& [version, api] :
       {std::pair("v1.31.4", "networking.k8s.io/v1beta1\n"),
        std::pair("v1.33.0", "networking.k8s.io/v1\n"),
        std::pair("v1.100.0", "networking.k8s.io/v1\n"), std::pair("", "networking.k8s.io/v1\n")}) {
    const Cluster cluster = DualStack(version);
    const Census census(cluster);
    EXPECT_THAT(AllCommands(*AskAbout(census, "10.0.0.0/20", {"10.0.0.0/16"})), HasSubstr(api))
        << version;
  }
}

TEST(WhatIfTest, NodePortsOfKubernetesAreAFlag) {
  SmallCluster small;
  Cluster cluster = small.Add({.name = "web", .values = {"30080"}}).Finish();
  cluster.server = ServerKind::kKubernetes;
  const Census census(cluster);
  const auto answer = AskAbout(census, "30000-32767", {"31000-32767"});
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(AllCommands(*answer), "--service-node-port-range=31000-32767\n");
  EXPECT_EQ(answer->blockers.front().outcome, Outcome::kUnchecked);
  EXPECT_EQ(answer->then.figures.static_band.span->Size(), 55U);
}

TEST(WhatIfTest, WhatNoObjectHasHasNoCommand) {
  SmallCluster small;
  const Cluster cluster = small.Range("10.96.0.0/24").Finish();
  const Census census(cluster);
  const auto answer = AskAbout(census, "10.96.0.0/24", {"10.96.0.0/16"});
  ASSERT_TRUE(answer.has_value());
  EXPECT_THAT(answer->commands, IsEmpty());
  EXPECT_THAT(answer->notes, ElementsAre(HasSubstr("No object of the cluster has this range")));
}

TEST(WhatIfTest, HostileNamesAreInNoCommand) {
  ClusterReader reader({});
  codec::Value range = codec::ParseJson(R"({"spec": {"range": "10.0.0.0/24"}})").value();
  codec::SetAt(range, {"metadata", "name"}, "x; rm -rf ~");
  reader.AddRange(alloc::RangeKind::kIpRange, range);
  const Cluster cluster = std::move(reader).Finish();
  const Census census(cluster);
  EXPECT_THAT(AskAbout(census, "10.0.0.0/24", {"10.0.0.0/16"})->commands, IsEmpty());
  Service service;
  service.object = {.name_space = "shop", .name = "$(reboot)"};
  EXPECT_THAT(CommandsFor(service), IsEmpty());
  EXPECT_EQ(ShellWord("it's <b>"), R"('it'\''s <b>')");
  EXPECT_EQ(ShellWord(""), "''");
  EXPECT_EQ(ShellWord("a-b.c/d"), "a-b.c/d");
}

TEST(ReadyCommandTest, AReservationIsAManifest) {
  EXPECT_EQ(ReserveCommand(ValueOf("10.5.0.10")).command,
            "kubectl create -f - <<'EOF'\n"
            "apiVersion: allocation.berth.io/v1alpha1\n"
            "kind: IPAddress\n"
            "metadata:\n"
            "  name: \"168099850\"\n"
            "spec:\n"
            "  address: \"10.5.0.10\"\n"
            "EOF");
  EXPECT_THAT(ReserveCommand(ValueOf("30080")).command,
              AllOf(HasSubstr("kind: NodePort"), HasSubstr("name: \"30080\"")));
}

}  // namespace
}  // namespace berth::inspect
