#include "inspect/lint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>
#include <tuple>

#include "codec/json.h"
#include "inspect/cluster_reader.h"
#include "ip/addr.h"

namespace berth::inspect {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// What a case checks against.
struct World {
  std::vector<std::string> ranges = {"10.96.0.0/16"};  ///< Given by flags.
  std::vector<std::string> objects = {};               ///< Of the cluster, as JSON.
  HostPorts host_ports = UsualHostPorts();
  ServerKind server = ServerKind::kUnknown;
};

LintReport LintIn(const World& world, const std::vector<std::string>& texts) {
  ClusterReader reader({.source = "test"});
  reader.view().server = world.server;
  for (const std::string& range : world.ranges) {
    EXPECT_TRUE(reader.AddGivenRange(range, "a flag", true));
  }
  for (const std::string& object : world.objects) {
    EXPECT_EQ(reader.AddAny(codec::ParseJson(object).value()), 1U);
  }
  std::vector<Manifest> manifests;
  for (size_t i = 0; i < texts.size(); ++i) {
    manifests.push_back(ReadManifest("f" + std::to_string(i), texts[i]));
  }
  const LintBase base = WithManifests(std::move(reader).Finish(), manifests);
  const Census census(base.cluster);
  return Lint(manifests, census,
              {.host_ports = world.host_ports,
               .has_cluster = !world.objects.empty(),
               .addresses_known = base.addresses_known});
}

/// Returns "rule severity file:line field" of each finding.
std::vector<std::string> Briefs(const LintReport& report) {
  std::vector<std::string> out;
  for (const LintFinding& finding : report.findings) {
    out.push_back(std::string(InfoOf(finding.rule).id) + " " +
                  std::string(TextOf(finding.severity)) + " " + finding.file + ":" +
                  std::to_string(finding.mark.line) + " " + finding.field);
  }
  return out;
}

/// Returns the manifest of a Service. Its spec begins at line 4.
std::string Yaml(const std::string& name, const std::string& spec) {
  return "apiVersion: v1\nkind: Service\nmetadata: {name: " + name + "}\nspec: " + spec + "\n";
}

std::string NodePort(const std::string& name, const std::string& port) {
  return Yaml(name, "{type: NodePort, ports: [{port: 80, nodePort: " + port + "}]}");
}

/// Returns a Service of the cluster.
std::string InCluster(const std::string& name, const std::string& address, int port) {
  return R"({"apiVersion":"v1","kind":"Service","metadata":{"namespace":"default","name":")" +
         name + R"("},"spec":{"type":"NodePort","clusterIP":")" + address + R"(","clusterIPs":[")" +
         address + R"("],"ports":[{"port":80,"protocol":"TCP","nodePort":)" + std::to_string(port) +
         "}]}}";
}

TEST(Lint, EveryRule) {
  const std::string local = "type: LoadBalancer, externalTrafficPolicy: Local, ";
  const struct {
    std::string what;
    World world;
    std::vector<std::string> texts;
    std::vector<std::string> found;
  } rows[] = {
      {"nothing is asked for", {}, {Yaml("a", "{ports: [{port: 80}]}")}, {}},
      {"static band", {}, {NodePort("a", "30085")}, {}},
      {"dynamic band",
       {},
       {NodePort("a", "30086")},
       {"dynamic-band warning f0:4 spec.ports[0].nodePort"}},
      {"address",
       {},
       {Yaml("a", "{clusterIP: 10.96.0.10}"), Yaml("b", "{clusterIP: 10.96.1.1}")},
       {"dynamic-band warning f1:4 spec.clusterIP"}},
      {"a range of no use", {.ranges = {}}, {Yaml("a", "{clusterIP: 10.96.1.1}")}, {}},
      {"a range so wide that picks hardly matter",
       {.ranges = {"fd00::/64"}},
       {Yaml("a", "{clusterIP: 'fd00::1:0:0'}")},
       {"dynamic-band note f0:4 spec.clusterIP"}},
      {"taken",
       {.objects = {InCluster("other", "10.96.5.5", 30001)}},
       {NodePort("a", "30001")},
       {"taken error f0:4 spec.ports[0].nodePort"}},
      {"taken by itself",
       {.objects = {InCluster("a", "10.96.5.5", 30001)}},
       {NodePort("a", "30001")},
       {}},
      {"its own in the dynamic band",
       {.objects = {InCluster("a", "10.96.5.5", 31000)}},
       {NodePort("a", "31000")},
       {"dynamic-band note f0:4 spec.ports[0].nodePort"}},
      {"another address than it has",
       {.objects = {InCluster("a", "10.96.5.5", 30001)}},
       {Yaml("a", "{clusterIP: 10.96.0.7}")},
       {"changed-address error f0:4 spec.clusterIP"}},
      {"reserved",
       {.objects = {R"({"apiVersion":"networking.k8s.io/v1","kind":"IPAddress",
         "metadata":{"name":"10.96.0.9"},"spec":{"parentRef":{"group":"x","resource":"y",
         "name":"z"}}})"}},
       {Yaml("a", "{clusterIP: 10.96.0.9}")},
       {"reserved error f0:4 spec.clusterIP"}},
      {"reserved for it, by the files",
       {},
       {NodePort("a", "30001"), NodePort("b", "30002"),
        "apiVersion: allocation.berth.io/v1alpha1\nkind: NodePort\nmetadata: {name: '30001'}\n"
        "spec: {reservedFor: {namespace: default, name: a}}\n---\n"
        "apiVersion: allocation.berth.io/v1alpha1\nkind: NodePort\nmetadata: {name: '30002'}\n"
        "spec: {reservedFor: {namespace: default, name: a}}\n"},
       {"reserved error f1:4 spec.ports[0].nodePort"}},
      {"twice",
       {},
       {NodePort("a", "30001"), NodePort("b", "30001")},
       {"duplicate-value error f1:4 spec.ports[0].nodePort"}},
      {"another protocol in another Service is no way out",
       {},
       {NodePort("a", "30001"),
        Yaml("b", "{type: NodePort, ports: [{port: 80, protocol: UDP, nodePort: 30001}]}")},
       {"duplicate-value error f1:4 spec.ports[0].nodePort"}},
      {"protocols of one port share",
       {},
       {Yaml("a",
             "{type: NodePort, ports: [{name: t, port: 53, nodePort: 30001}, {name: u, port: "
             "53, protocol: UDP, nodePort: 30001}]}")},
       {}},
      {"ports of one Service do not",
       {},
       {Yaml("a",
             "{type: NodePort, ports: [{name: t, port: 53, nodePort: 30001}, {name: u, port: "
             "54, protocol: UDP, nodePort: 30001}]}")},
       {"duplicate-value error f0:4 spec.ports[1].nodePort"}},
      {"a Service twice",
       {},
       {NodePort("a", "30001"), NodePort("a", "30001")},
       {"duplicate-service note f1:3 metadata.name"}},
      {"outside",
       {.ranges = {"10.96.0.0/16", "30000-30099"}},
       {NodePort("a", "31000"), Yaml("b", "{clusterIP: 10.97.0.1}")},
       {"out-of-range error f0:4 spec.ports[0].nodePort",
        "out-of-range error f1:4 spec.clusterIP"}},
      {"outside of what is assumed",
       {},
       {NodePort("a", "80")},
       {"out-of-range warning f0:4 spec.ports[0].nodePort"}},
      {"network and broadcast",
       {},
       {Yaml("a", "{clusterIP: 10.96.0.0}"), Yaml("b", "{clusterIP: 10.96.255.255}")},
       {"unusable-value error f0:4 spec.clusterIP", "unusable-value error f1:4 spec.clusterIP"}},
      {"not an address",
       {},
       {Yaml("a", "{clusterIP: 10.96.0}"), Yaml("b", "{clusterIP: 7}")},
       {"invalid-value error f0:4 spec.clusterIP", "invalid-value error f1:4 spec.clusterIP"}},
      {"not a port",
       {},
       {NodePort("a", "70000"), NodePort("b", "-1"), NodePort("c", "'30001'")},
       {"invalid-value error f0:4 spec.ports[0].nodePort",
        "invalid-value error f1:4 spec.ports[0].nodePort",
        "invalid-value error f2:4 spec.ports[0].nodePort"}},
      {"a node port of type ClusterIP",
       {},
       {Yaml("a", "{type: ClusterIP, ports: [{port: 80, nodePort: 30001}]}")},
       {"invalid-value error f0:4 spec.ports[0].nodePort"}},
      {"a patch that sets a node port",
       {},
       {Yaml("a", "{ports: [{port: 80, nodePort: 30090}]}")},
       {"invalid-value warning f0:4 spec.ports[0].nodePort",
        "dynamic-band warning f0:4 spec.ports[0].nodePort"}},
      {"health check in the same Service",
       {},
       {Yaml("a",
             "{" + local + "healthCheckNodePort: 30001, ports: [{port: 80, nodePort: 30001}]}")},
       {"health-check-port error f0:4 spec.healthCheckNodePort"}},
      {"health check in another Service",
       {},
       {NodePort("a", "30001"),
        Yaml("b", "{" + local + "healthCheckNodePort: 30001, ports: [{port: 80}]}")},
       {"health-check-port error f1:4 spec.healthCheckNodePort"}},
      {"both families, one range",
       {},
       {Yaml("a", "{ipFamilyPolicy: RequireDualStack}")},
       {"ip-family error f0:4 spec.ipFamilyPolicy"}},
      {"a family without a range",
       {},
       {Yaml("a", "{ipFamilies: [IPv6]}"), Yaml("b", "{clusterIP: 'fd00::1'}")},
       {"ip-family error f0:4 spec.ipFamilies[0]", "ip-family error f1:4 spec.clusterIP"}},
      {"the wrong order",
       {.ranges = {"10.96.0.0/16", "fd00::/112"}},
       {Yaml("a",
             "{ipFamilyPolicy: PreferDualStack, ipFamilies: [IPv6, IPv4], clusterIP: "
             "10.96.0.7, clusterIPs: [10.96.0.7, 'fd00::7']}")},
       {"ip-family error f0:4 spec.clusterIPs[0]", "ip-family error f0:4 spec.clusterIPs[1]"}},
      {"a port of the nodes",
       {.ranges = {"80-32767"}},
       {NodePort("a", "10250")},
       {"host-port error f0:4 spec.ports[0].nodePort",
        "dynamic-band warning f0:4 spec.ports[0].nodePort"}},
      {"a port of the nodes that no range has",
       {},
       {NodePort("a", "10250")},
       {"out-of-range warning f0:4 spec.ports[0].nodePort"}},
      {"a port of outgoing connections",
       {.ranges = {"40000-40999"}},
       {NodePort("a", "40000")},
       {"ephemeral-range warning f0:4 spec.ports[0].nodePort"}},
      {"a placeholder",
       {},
       {NodePort("a", "'${PORT}'"), Yaml("b", "{clusterIP: '{{ .ip }}'}")},
       {"not-rendered note f0:4 spec.ports[0].nodePort", "not-rendered note f1:4 spec.clusterIP"}},
      {"a range that the files add",
       {},
       {Yaml("a", "{clusterIP: 10.61.0.1}"),
        "apiVersion: networking.k8s.io/v1\nkind: ServiceCIDR\nmetadata: {name: next}\n"
        "spec: {cidrs: [10.61.0.0/24]}\n"},
       {}},
      {"what the API server cannot read",
       {},
       {Yaml("a", "{ports: 7}")},
       {"invalid-value error f0:3 metadata.name"}},
      {"an ExternalName holds nothing",
       {},
       {Yaml("a", "{type: ExternalName, externalName: b.c, ports: [{port: 80, nodePort: 31000}]}")},
       {}},
      {"headless", {}, {Yaml("a", "{clusterIP: None}")}, {}},
      {"ignored by a comment",
       {},
       {Yaml("a",
             "{type: NodePort, ports: [{port: 80, nodePort: 31000}]} # berth-lint: ignore "
             "dynamic-band contract")},
       {}},
      {"another rule is ignored",
       {},
       {Yaml("a",
             "{type: NodePort, ports: [{port: 80, nodePort: 31000}]} # berth-lint: ignore "
             "taken")},
       {"dynamic-band warning f0:4 spec.ports[0].nodePort"}},
      {"ignored by an annotation",
       {},
       {"apiVersion: v1\nkind: Service\nmetadata:\n  name: a\n  annotations:\n    "
        "lint.berth.io/ignore: taken,dynamic-band it is in a contract\nspec: {type: NodePort, "
        "ports: [{port: 80, nodePort: 31000}]}\n"},
       {}},
      {"an ignore of no rule",
       {},
       {"kind: Service # berth-lint: ignore everything\n"},
       {"bad-ignore warning f0:1 "}},
      {"unreadable", {}, {"kind: Service\n\tx: 1\n"}, {"unreadable error f0:2 "}},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(Briefs(LintIn(row.world, row.texts)), row.found) << row.what;
  }
}

// Users filed this: ports just above the static band worked for months, until they did not.
TEST(Lint, TheStoryOfPortsJustAboveTheStaticBand) {
  World world;
  for (int i = 0; i < 182; ++i) {
    world.objects.push_back(
        InCluster("s" + std::to_string(i), "10.96.7." + std::to_string(i + 1), 30500 + i));
  }
  const LintReport report = LintIn(world, {NodePort("one", "30088"), NodePort("two", "30193")});
  ASSERT_EQ(report.findings.size(), 2U);
  for (const LintFinding& finding : report.findings) {
    EXPECT_EQ(finding.rule, LintRule::kDynamicBand);
    EXPECT_THAT(finding.message, HasSubstr("dynamic band 30086-32767"));
    // 2768 ports, of which 86 are static and 182 of the others are in use.
    EXPECT_EQ(finding.chance->free, 2500U);
    EXPECT_DOUBLE_EQ(finding.chance->OfPicks(100), 0.04);
    EXPECT_THAT(finding.why, HasSubstr("1 in 2500: 4.0 % after 100 of them, 50 % after 1250"));
    EXPECT_THAT(finding.advice, HasSubstr("static band 30000-30085"));
  }
  EXPECT_NE(report.findings[0].instead, report.findings[1].instead);
}

TEST(Lint, AFullDynamicBandMakesTheStaticOneUnsafe) {
  World world{.ranges = {"10.96.0.0/16", "30000-30017"}};  // 16 static ports, and 2 others.
  world.objects = {InCluster("x", "10.96.5.1", 30016), InCluster("y", "10.96.5.2", 30017)};
  const LintReport report = LintIn(world, {NodePort("a", "30003")});
  EXPECT_THAT(Briefs(report), ElementsAre("dynamic-band warning f0:4 spec.ports[0].nodePort"));
  EXPECT_THAT(report.findings[0].why, HasSubstr("1 in 16"));
  EXPECT_EQ(report.findings[0].instead, std::nullopt);
}

TEST(Lint, WhatIsNotKnownIsSaid) {
  const LintReport report = LintIn({.ranges = {}}, {Yaml("a", "{clusterIP: 10.96.1.1}")});
  EXPECT_THAT(Briefs(report), IsEmpty());
  EXPECT_THAT(report.limits, ElementsAre(HasSubstr("--service-cidr"), HasSubstr("--cluster")));
}

TEST(Lint, RangesAndRecordsInTheFilesAreKnown) {
  const std::string cidr =
      "apiVersion: networking.k8s.io/v1\nkind: ServiceCIDR\nmetadata: {name: k}\n"
      "spec: {cidrs: [10.96.0.0/28]}\n";
  std::string records;
  for (int i = 1; i <= 14; ++i) {
    const std::string name = i == 14 ? "web" : "s" + std::to_string(i);
    records += "---\napiVersion: networking.k8s.io/v1\nkind: IPAddress\nmetadata: {name: 10.96.0." +
               std::to_string(i) +
               "}\nspec: {parentRef: {resource: services, namespace: default, name: " + name +
               "}}\n";
  }
  const std::string web = Yaml("web", "{clusterIP: 10.96.0.14}");
  // The band is full, but the record of the value is that of the Service itself.
  LintReport report = LintIn({.ranges = {}}, {web, cidr + records});
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_EQ(report.findings[0].severity, LintSeverity::kNote);
  EXPECT_EQ(report.findings[0].chance, std::nullopt);
  EXPECT_THAT(report.findings[0].why, HasSubstr("A record keeps it for the Service"));
  EXPECT_THAT(report.limits[0], HasSubstr("only the ranges in these files are known"));
}

TEST(Lint, AReservationNamesItsParent) {
  const LintReport report =
      LintIn({.objects = {R"({"apiVersion": "networking.k8s.io/v1", "kind": "IPAddress",
          "metadata": {"name": "10.96.0.20"}, "spec": {"parentRef":
          {"group": "gateways.example", "resource": "gateways", "name": "edge"}}})"}},
             {Yaml("a", "{clusterIP: 10.96.0.20, ports: [{port: 80}]}")});
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_THAT(report.findings[0].message,
              HasSubstr("is reserved, and for no Service (its parent is "
                        "gateways.gateways.example/edge)"));
}

TEST(Lint, KubernetesHandsNoReservationOver) {
  World world{.objects = {R"({"apiVersion": "networking.k8s.io/v1", "kind": "IPAddress",
      "metadata": {"name": "10.96.0.20", "labels":
      {"ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io"}}, "spec": {"parentRef":
      {"resource": "services", "namespace": "default", "name": "a"}}})"}};
  const std::string manifest = Yaml("a", "{clusterIP: 10.96.0.20, ports: [{port: 80}]}");
  EXPECT_THAT(LintIn(world, {manifest}).findings, IsEmpty());
  world.server = ServerKind::kKubernetes;
  const LintReport report = LintIn(world, {manifest});
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_EQ(report.findings[0].severity, LintSeverity::kError);
  EXPECT_THAT(report.findings[0].why, HasSubstr("also for this Service"));
  EXPECT_THAT(report.findings[0].advice, HasSubstr("kubectl delete ipaddress 10.96.0.20."));
}

TEST(Lint, FindingsAreBounded) {
  std::string text = "apiVersion: v1\nkind: List\nitems:\n";
  for (size_t i = 0; i < kMaxLintFindings + 5; ++i) {
    text += "- {apiVersion: v1, kind: Service, metadata: {name: s" + std::to_string(i) +
            "}, spec: {type: NodePort, ports: [{port: 80, nodePort: 31000}]}}\n";
  }
  const LintReport report = LintIn({}, {text});
  EXPECT_EQ(report.findings.size(), kMaxLintFindings);
  EXPECT_EQ(report.left_out, 5U);
}

TEST(HostPorts, ListsAndFiles) {
  HostPorts ports;
  EXPECT_TRUE(AddHostPorts("9000 minio, 9100-9101\n# text\n\n80 a b # c\n", ports));
  EXPECT_EQ(ports, (HostPorts{{80, "a b"},
                              {9000, "minio"},
                              {9100, "a program of the nodes"},
                              {9101, "a program of the nodes"}}));
  for (const char* bad : {"x", "0", "70000", "9-1", "80,http"}) {
    EXPECT_FALSE(AddHostPorts(bad, ports)) << bad;
  }
  EXPECT_TRUE(UsualHostPorts().contains(10250));
  EXPECT_TRUE(UsualHostPorts().contains(51821));
}

RC_GTEST_PROP(LintProperty, ProposedValuesAreFreeEverywhere, ()) {
  World world{.ranges = {"10.96.0.0/24", "30000-30063"}};  // 16 static values each.
  const auto some = [] { return *rc::gen::inRange(0, 40); };
  for (int i = 0, n = some(); i < n; ++i) {
    world.objects.push_back(InCluster("s" + std::to_string(i),
                                      "10.96.0." + std::to_string(*rc::gen::inRange(1, 40)),
                                      *rc::gen::inRange(30000, 30040)));
  }
  if (world.objects.empty()) world.objects.push_back(InCluster("s", "10.96.0.1", 30000));
  std::vector<std::string> texts;
  for (int i = 0, n = some() / 4; i < n; ++i) {
    texts.push_back(Yaml(
        "m" + std::to_string(i),
        "{type: NodePort, clusterIP: 10.96.0." + std::to_string(*rc::gen::inRange(0, 256)) +
            ", ports: [{port: 80, nodePort: " + std::to_string(*rc::gen::inRange(29990, 30070)) +
            "}]}"));
  }
  ClusterReader reader({});
  for (const std::string& range : world.ranges) {
    RC_ASSERT(reader.AddGivenRange(range, "a flag", true).has_value());
  }
  for (const std::string& object : world.objects) reader.AddAny(codec::ParseJson(object).value());
  const Cluster cluster = std::move(reader).Finish();
  const Census census(cluster);
  std::set<std::string> proposed;
  for (const LintFinding& finding : LintIn(world, texts).findings) {
    if (!finding.instead || finding.rule == LintRule::kChangedAddress) continue;
    RC_ASSERT(proposed.insert(*finding.instead).second);
    const auto address = ip::ParseAddrLoose(*finding.instead);
    const alloc::PoolValue value{
        .pool = address ? alloc::PoolId::kIpv4 : alloc::PoolId::kPorts,
        .value = address ? address->addr.bits() : base::U128(std::stoul(*finding.instead))};
    const auto ranges = census.RangesOf(value);
    RC_ASSERT(ranges.size() == 1U);
    RC_ASSERT(census.StateIn(*ranges[0].row, value) == alloc::State::kFree);
    RC_ASSERT(ranges[0].row->layout.BandOf(value.value) == alloc::Band::kStatic);
    for (const std::string& text : texts) {
      RC_ASSERT(text.find(*finding.instead + ",") == std::string::npos);
      RC_ASSERT(text.find(*finding.instead + "}") == std::string::npos);
    }
  }
}

}  // namespace
}  // namespace berth::inspect
