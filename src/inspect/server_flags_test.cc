#include "inspect/server_flags.h"

#include <gtest/gtest.h>

#include "codec/json.h"

namespace berth::inspect {
namespace {

codec::Value FlagsJson(const char* text) { return codec::ParseJson(text).value(); }

const ServerFlags kBoth{.node_port_range = "30000-32000",
                        .service_cidrs = {"10.96.0.0/12", "fd00::/108"}};

TEST(ServerFlagsTest, OfFlagz) {
  EXPECT_EQ(ReadFlagz(FlagsJson(R"({"kind":"Flagz","apiVersion":"config.k8s.io/v1beta1","flags":{
      "service-node-port-range":"30000-32000","v":"2",
      "service-cluster-ip-range":"10.96.0.0/12,fd00::/108"}})")),
            kBoth);
  EXPECT_TRUE(ReadFlagz(FlagsJson(R"({"kind":"Status","code":403})")).IsEmpty());
}

TEST(ServerFlagsTest, OfKubeadm) {
  EXPECT_EQ(ReadKubeadmConfig(FlagsJson(R"({"kind":"ConfigMap","data":{"ClusterConfiguration":
      "apiServer:\n  extraArgs:\n    service-node-port-range: 30000-32000\nnetworking:\n  serviceSubnet: 10.96.0.0/12,fd00::/108\n"}})")),
            kBoth);
  EXPECT_EQ(ReadKubeadmConfig(FlagsJson(R"({"data":{"ClusterConfiguration":
      "apiServer:\n  extraArgs:\n  - name: service-node-port-range\n    value: 30000-32000\nnetworking:\n  serviceSubnet: 10.96.0.0/12,fd00::/108\n"}})")),
            kBoth);
  EXPECT_TRUE(
      ReadKubeadmConfig(FlagsJson(R"({"data":{"ClusterConfiguration":"a: ["}})")).IsEmpty());
}

TEST(ServerFlagsTest, OfPods) {
  EXPECT_EQ(ReadServerPods(FlagsJson(R"({"items":[{"spec":{"containers":[{"args":["--v=2"]}]}},
      {"spec":{"containers":[{"command":["kube-apiserver",
      "--service-node-port-range=30000-32000"],
      "args":["--service-cluster-ip-range=10.96.0.0/12,fd00::/108","x"]}]}}]})")),
            kBoth);
  EXPECT_TRUE(ReadServerPods(FlagsJson(R"({"items":[]})")).IsEmpty());
  EXPECT_EQ(ReadServerPods(FlagsJson(R"({"items":[{"spec":{"containers":[{"command":["/bin/sh","-c",
      "exec kube-apiserver --service-node-port-range 30000-32000 \\\n --service-cluster-ip-range='10.96.0.0/12,fd00::/108' > /log"]}]}}]})")),
            ServerFlags({.node_port_range = "30000-32000",
                         .service_cidrs = {"10.96.0.0/12", "fd00::/108"}}));
}

TEST(ServerFlagsTest, AServerThatDoesNotSetTheRangeHasTheDefault) {
  const auto of = [](const char* arguments) {
    return ReadServerPods(
        FlagsJson((R"({"items":[{"spec":{"containers":[{"command":["kube-apiserver",)" +
                   std::string(arguments) + "]}]}}]}")
                      .c_str()));
  };
  EXPECT_TRUE(of(R"("--etcd-servers=https://127.0.0.1:2379")").default_ports);
  EXPECT_FALSE(of(R"("--etcd-servers=a","--service-node-port-range=1-2")").default_ports);
  EXPECT_FALSE(of(R"("--config=/etc/x")").default_ports) << "the flags are somewhere else";
}

}  // namespace
}  // namespace berth::inspect
