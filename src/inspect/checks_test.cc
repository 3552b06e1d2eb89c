#include "inspect/checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "codec/json.h"
#include "codec/timestamp.h"
#include "inspect/cluster_reader.h"

namespace berth::inspect {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const base::WallTime kCheckedAt = codec::ParseTime("2026-11-18T06:00:00Z").value();

std::string ServiceText(const std::string& name, const std::string& address) {
  return R"({"apiVersion":"v1","kind":"Service","metadata":{"namespace":"shop","name":")" + name +
         R"("},"spec":{"type":"ClusterIP","clusterIP":")" + address + R"(","clusterIPs":[")" +
         address + R"("]}})";
}

std::string AddressText(const std::string& address, const std::string& service,
                        const std::string& created = "2026-11-18T05:00:00Z") {
  return R"({"apiVersion":"networking.k8s.io/v1","kind":"IPAddress","metadata":{"name":")" +
         address + R"(","creationTimestamp":")" + created +
         R"(","labels":{"ipaddress.kubernetes.io/managed-by":"ipallocator.k8s.io",
             "ipaddress.kubernetes.io/ip-family":"IPv4"}},
             "spec":{"parentRef":{"group":"","resource":"services","namespace":"shop","name":")" +
         service + R"("}}})";
}

constexpr const char* kCidr = R"({"apiVersion":"networking.k8s.io/v1","kind":"ServiceCIDR",
    "metadata":{"name":"kubernetes"},"spec":{"cidrs":["10.96.0.0/24"]}})";

/// Returns the kinds and values of what is found.
std::vector<std::string> Found(const std::vector<std::string>& objects,
                               audit::Keeps keeps = audit::Keeps::kAddressesOnly) {
  ClusterReader reader({.read_at = kCheckedAt});
  reader.view().server = ServerKind::kKubernetes;
  reader.view().keeps = keeps;
  for (const std::string& object : objects) reader.AddAny(codec::ParseJson(object).value());
  const audit::Report report = CheckCluster(std::move(reader).Finish());
  std::vector<std::string> lines;
  for (const audit::Finding& finding : report.findings) {
    lines.push_back(std::string(NameOf(finding.kind)) + " " + alloc::TextOf(*finding.value) +
                    (finding.may_settle ? " may settle" : ""));
  }
  return lines;
}

TEST(ChecksTest, AHealthyClusterHasNoFindings) {
  EXPECT_THAT(Found({kCidr, ServiceText("a", "10.96.0.9"), AddressText("10.96.0.9", "a")}),
              ElementsAre());
}

TEST(ChecksTest, WhatIsWrongIsFoundWithGraceForWritesInProgress) {
  EXPECT_THAT(Found({kCidr, ServiceText("a", "10.96.0.9"), ServiceText("b", "10.96.0.9"),
                     AddressText("10.96.0.9", "a"), AddressText("10.96.0.20", "gone"),
                     ServiceText("c", "10.96.0.30"), ServiceText("d", "10.97.0.1"),
                     AddressText("10.97.0.1", "d")}),
              ElementsAre("TwoOwners 10.96.0.9 may settle", "NoRecord 10.96.0.30 may settle",
                          "Orphan 10.96.0.20 may settle", "OutOfRange 10.97.0.1"));
}

TEST(ChecksTest, AdviceIsWhatKubernetesCanDo) {
  ClusterReader reader({.read_at = kCheckedAt});
  reader.view().server = ServerKind::kKubernetes;
  reader.view().keeps = audit::Keeps::kAddressesOnly;
  for (const std::string& object :
       {std::string(kCidr), ServiceText("a", "10.96.0.9"), ServiceText("b", "10.96.0.9"),
        AddressText("10.96.0.9", "a"), ServiceText("d", "10.97.0.1"),
        std::string(R"({"apiVersion":"v1","kind":"Service","metadata":{"namespace":"shop","name":
            "web"},"spec":{"type":"LoadBalancer","externalTrafficPolicy":"Local",
            "healthCheckNodePort":31000,"ports":[{"port":80,"nodePort":31001}]}})")}) {
    reader.AddAny(codec::ParseJson(object).value());
  }
  EXPECT_TRUE(reader.AddGivenRange("30000-30999", "a flag", true));
  std::string all;
  for (const audit::Finding& finding : CheckCluster(std::move(reader).Finish()).findings) {
    all += finding.advice + "\n";
  }
  EXPECT_THAT(all, HasSubstr("so write the one that keeps the address"));
  EXPECT_THAT(all, HasSubstr("Add a ServiceCIDR that contains it, or delete the Service"));
  EXPECT_THAT(all, HasSubstr("Start the API servers with a --service-node-port-range that contains "
                             "it, or give the Service another node port"));
  EXPECT_THAT(all, HasSubstr("create it again without healthCheckNodePort: kubectl delete service "
                             "web -n shop"));
}

TEST(ChecksTest, AYoungAddressWithoutAServiceIsLeftToTheRepair) {
  EXPECT_THAT(Found({kCidr, AddressText("10.96.0.20", "gone", "2026-11-18T05:59:30Z")}),
              ElementsAre());
}

TEST(ChecksTest, AnAssumedRangeAccusesNoService) {
  EXPECT_THAT(Found({ServiceText("a", "10.96.0.0")}, audit::Keeps::kNothing), ElementsAre());
}

}  // namespace
}  // namespace berth::inspect
