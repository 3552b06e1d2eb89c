#include "rules/service_claims.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "codec/read.h"
#include "rules/service_defaults.h"
#include "rules/service_validation.h"
#include "rules/testing/rules_kit.h"

namespace berth::rules {
namespace {

constexpr std::array kBothFamilies = {ip::Family::kV4, ip::Family::kV6};

codec::Value StoredSpec(const std::string& members) {
  return Json("{'metadata':{'name':'a','namespace':'n','resourceVersion':'1'},'spec':{" + members +
              "}}");
}

/// Formats claims as words: "+10.0.0.1 +ip6 +30080@0 +port@1,2 +30090@hc" for what is taken, by
/// value or any, and where; "!30080@1" for a conflict within the Service; "=30080@2" for what is
/// shared; "-30080" for what is released.
std::string Short(const ServiceClaims& claims) {
  std::vector<std::string> words;
  for (const AddressClaim& claim : claims.addresses) {
    const char* any = claim.family == ip::Family::kV6 ? "ip6" : "ip4";
    words.push_back(
        fmt::format("+{}@{}", claim.wanted ? claim.wanted->ToString() : any, claim.position));
  }
  for (const PortClaim& claim : claims.ports) {
    words.push_back(fmt::format(
        "{}{}@{}", claim.taken ? '!' : '+', claim.wanted ? std::to_string(*claim.wanted) : "port",
        claim.IsHealthCheck() ? "hc" : fmt::format("{}", fmt::join(claim.ports, ","))));
  }
  for (const SharedPort& shared : claims.shared) {
    words.push_back(fmt::format("={}@{}", shared.number, shared.port));
  }
  for (const ip::Addr& addr : claims.gives.addresses) words.push_back("-" + addr.ToString());
  for (const uint16_t port : claims.gives.ports) words.push_back(fmt::format("-{}", port));
  return fmt::format("{}", fmt::join(words, " "));
}

/// Formats what a Service holds, in the words for what is released.
std::string Held(const codec::Value& service) {
  ServiceClaims claims;
  claims.gives = HoldingsOf(service);
  return Short(claims);
}

std::string Refusal(const FieldErrors& errors) { return "E: " + errors.begin()->ToString(); }

/// Returns what a create of this spec would take, or the first error.
std::string Created(const std::string& members) {
  codec::Value service = StoredSpec(members);
  DefaultService(service);
  SyncClusterIps(service, nullptr);
  if (auto errors = InitServiceFamilies(service, nullptr, kBothFamilies); !errors.empty()) {
    return Refusal(errors);
  }
  if (auto errors = ValidateServiceCreate(service); !errors.empty()) return Refusal(errors);
  return Short(ClaimsOf(service, nullptr));
}

/// Does the same for an update of a Service that was stored as `before`.
std::string Updated(const std::string& before, const std::string& members) {
  codec::Value old = StoredSpec(before);
  DefaultService(old);
  DecorateService(old, kBothFamilies);
  codec::Value service = StoredSpec(members);
  DefaultService(service);
  CarryAllocated(service, old);
  SyncClusterIps(service, &old);
  PrepareServiceUpdate(service, old);
  if (auto errors = InitServiceFamilies(service, &old, kBothFamilies); !errors.empty()) {
    return Refusal(errors);
  }
  if (auto errors = ValidateServiceUpdate(service, old); !errors.empty()) return Refusal(errors);
  return Short(ClaimsOf(service, &old));
}

std::string ClusterIp(const std::string& ips) {
  return "'clusterIP':'" + ips.substr(0, ips.find('\'')) + "','clusterIPs':['" + ips + "'],";
}

std::string Ports(const std::string& list) { return "'ports':[" + list + "]"; }

const std::string kPort = Ports("{'port':80}");
const std::string kNodePortType = "'type':'NodePort',";
const std::string kLb = "'type':'LoadBalancer',";
const std::string kLbNone = kLb + "'allocateLoadBalancerNodePorts':false,";
const std::string kLocal = kLb + "'externalTrafficPolicy':'Local',";
const std::string kExternalName = "'type':'ExternalName','externalName':'a.b',";

TEST(Holdings, AreWhatTheTypeCanHold) {
  const std::string ports = Ports(
      "{'port':1,'nodePort':30001},{'port':2,'nodePort':30000},{'port':3,'nodePort':30001},"
      "{'port':4}");
  const std::string rest =
      "'clusterIP':'10.0.0.1','clusterIPs':['10.0.0.1','FD00:0::1'],"
      "'externalTrafficPolicy':'Local','healthCheckNodePort':29999," +
      ports;
  const auto held = [&](const std::string& type) {
    return Held(StoredSpec("'type':'" + type + "'," + rest));
  };
  EXPECT_EQ(held("ClusterIP"), "-10.0.0.1 -fd00::1");
  EXPECT_EQ(held("NodePort"), "-10.0.0.1 -fd00::1 -30000 -30001");
  EXPECT_EQ(held("LoadBalancer"), "-10.0.0.1 -fd00::1 -29999 -30000 -30001");
  EXPECT_EQ(held("ExternalName"), "");
  EXPECT_EQ(Held(StoredSpec("'clusterIP':'10.0.0.1'")), "-10.0.0.1");
  EXPECT_EQ(Held(StoredSpec("'clusterIP':'None','clusterIPs':['None']")), "");
}

TEST(Holdings, AreNotWhatCannotBeRead) {
  const Holdings nothing;
  for (const char* spec :
       {"'clusterIPs':['x',7,null,'','10.0.0.256']", "'clusterIPs':{}", "'clusterIP':9",
        "'type':'NodePort','ports':[{'nodePort':0},{'nodePort':-1},{'nodePort':65536}]",
        "'type':'NodePort','ports':[{'nodePort':'30000'},{'nodePort':1e300},7,null]",
        "'type':'NodePort','ports':[{'nodePort':18446744073709551615}]",
        "'type':'NodePort','ports':{}", "'type':['NodePort']"}) {
    EXPECT_EQ(HoldingsOf(StoredSpec(spec)), nothing) << spec;
  }
  EXPECT_EQ(HoldingsOf(Json("{}")), nothing);
  EXPECT_EQ(HoldingsOf(Json("7")), nothing);
  EXPECT_EQ(Held(StoredSpec("'clusterIPs':['010.0.0.1','10.0.0.1','::ffff:a00:1']")), "-10.0.0.1");
}

std::string Joined(const std::vector<std::string>& members) {
  return fmt::format("{}", fmt::join(members, ""));
}

TEST(Claims, OfACreate) {
  using Row = std::pair<std::string, std::string>;
  const std::string dual = "'ipFamilyPolicy':'PreferDualStack',";
  for (const auto& [members, expected] : {
           Row(kPort, "+ip4@0"),
           Row("'ipFamilies':['IPv6']," + kPort, "+ip6@0"),
           Row(dual + kPort, "+ip4@0 +ip6@1"),
           Row("'clusterIP':'10.0.0.9'," + kPort, "+10.0.0.9@0"),
           Row(Joined({dual, "'clusterIP':'FD00::9',", kPort}), "+fd00::9@0 +ip4@1"),
           Row(Joined({dual, ClusterIp("10.0.0.9','fd00::9"), kPort}), "+10.0.0.9@0 +fd00::9@1"),
           Row("'clusterIP':'None'," + kPort, ""),
           Row(kExternalName + kPort, ""),
           Row(kExternalName + Ports("{'port':80,'nodePort':30000}"), ""),
           Row(kNodePortType + kPort, "+ip4@0 +port@0"),
           Row(kLocal + kPort, "+ip4@0 +port@0 +port@hc"),
           Row(Joined({kLocal, "'healthCheckNodePort':30001,", kPort}), "+ip4@0 +30001@hc +port@0"),
       }) {
    EXPECT_EQ(Created(members), expected) << members;
  }
}

/// Returns the ports a, b, c of a Service of type NodePort or LoadBalancer, written as "80/TCP",
/// "80/UDP=1".
std::string Listed(const std::vector<std::string>& ports) {
  std::string list;
  for (size_t i = 0; i < ports.size(); ++i) {
    const size_t slash = ports[i].find('/');
    const size_t equal = ports[i].find('=');
    list +=
        fmt::format("{}{{'name':'{}','port':{},'protocol':'{}'{}}}", i == 0 ? "" : ",",
                    static_cast<char>('a' + i), ports[i].substr(0, slash),
                    ports[i].substr(slash + 1, equal - slash - 1),
                    equal == std::string::npos ? "" : ",'nodePort':" + ports[i].substr(equal + 1));
  }
  return Ports(list);
}

/// Checks that a create, and an update of a ClusterIP Service to this type, follow the same rules.
std::string PortsClaimed(const std::string& type, const std::vector<std::string>& ports) {
  const std::string ip = ClusterIp("10.0.0.1");
  std::string created = Created(ip + type + Listed(ports));
  std::string updated = Updated(ip + kPort, ip + type + Listed(ports));
  if (created.starts_with("E")) {
    EXPECT_EQ(updated, created);
    return created;
  }
  EXPECT_EQ("+10.0.0.1@0" + (updated.empty() ? "" : " " + updated), created);
  return updated;
}

TEST(Claims, OfNodePorts) {
  const std::string duplicate = "E: spec.ports[1].nodePort: Duplicate value: 30001";
  for (const std::string& type : {kNodePortType, kLb}) {
    const auto claimed = [&](const std::vector<std::string>& ports) {
      return PortsClaimed(type, ports);
    };
    EXPECT_EQ(claimed({"80/TCP"}), "+port@0");
    EXPECT_EQ(claimed({"80/TCP=30001"}), "+30001@0");
    EXPECT_EQ(claimed({"80/TCP", "443/TCP"}), "+port@0 +port@1");
    EXPECT_EQ(claimed({"80/TCP=30001", "443/TCP=30002"}), "+30001@0 +30002@1");
    EXPECT_EQ(claimed({"80/TCP", "443/TCP=30002"}), "+30002@1 +port@0") << "given ones first";
    EXPECT_EQ(claimed({"80/TCP=30001", "443/TCP=30001"}), duplicate);
    EXPECT_EQ(claimed({"53/TCP", "53/UDP", "53/SCTP"}), "+port@0,1,2");
    EXPECT_EQ(claimed({"53/TCP", "80/TCP", "53/UDP"}), "+port@0,2 +port@1");
    EXPECT_EQ(claimed({"53/TCP=30001", "53/UDP=30001"}), "+30001@0,1");
    EXPECT_EQ(claimed({"53/TCP=30001", "53/UDP=30002"}), "+30001@0 +30002@1");
    EXPECT_EQ(claimed({"53/TCP", "53/UDP=30002"}), "+30002@0,1");
    EXPECT_EQ(claimed({"53/TCP=30001", "53/UDP", "53/SCTP=30003"}), "+30001@0,1 +30003@2");
    EXPECT_EQ(claimed({"93/TCP=30001", "76/UDP=30001"}), "+30001@0 !30001@1");
    EXPECT_EQ(claimed({"93/TCP=30001", "76/UDP=30001", "77/SCTP=30001"}),
              "+30001@0 !30001@1 !30001@2");
    EXPECT_EQ(claimed({"93/TCP=-7", "94/TCP=8080", "95/TCP=99999"}), "+-7@0 +8080@1 +99999@2")
        << "ranges are not looked at here";
  }
}

TEST(Claims, OfALoadBalancerThatDeclined) {
  EXPECT_EQ(PortsClaimed(kLbNone, {"80/TCP"}), "");
  EXPECT_EQ(PortsClaimed(kLbNone, {"80/TCP", "443/TCP"}), "");
  EXPECT_EQ(PortsClaimed(kLbNone, {"80/TCP", "443/TCP=30001"}), "+30001@1");
  EXPECT_EQ(PortsClaimed(kLbNone, {"53/TCP", "53/UDP=30001"}), "+30001@1");
  EXPECT_EQ(PortsClaimed(kLbNone + "'externalTrafficPolicy':'Local',", {"80/TCP"}), "+port@hc");
}

TEST(Claims, HealthCheckComesAfterNodePorts) {
  EXPECT_EQ(PortsClaimed(kLocal + "'healthCheckNodePort':30001,", {"80/TCP=30001"}),
            "+30001@0 !30001@hc");
  const std::string ip = ClusterIp("10.0.0.1");
  EXPECT_EQ(Updated(ip + kLb + Listed({"80/TCP=30001"}),
                    ip + kLocal + "'healthCheckNodePort':30001," + Listed({"80/TCP"})),
            "!30001@hc");
}

/// The matrix of allocateLoadBalancerNodePorts. The port is 80, with node port 30001 if it had one.
TEST(Claims, NodePortsOfLoadBalancersOnUpdate) {
  const std::string ip = ClusterIp("10.0.0.1");
  const std::string had = ip + kLb + Listed({"80/TCP=30001"});
  const std::string had_not = ip + kLbNone + Listed({"80/TCP"});
  const std::string had_anyway = ip + kLbNone + Listed({"80/TCP=30001"});
  const std::string node_port = ip + kNodePortType + Listed({"80/TCP=30001"});
  const std::string omitted = Listed({"80/TCP"});
  const std::string sent = Listed({"80/TCP=30001"});
  EXPECT_EQ(Updated(had, ip + kLbNone + omitted), "-30001");
  EXPECT_EQ(Updated(had, ip + kLbNone + sent), "");
  EXPECT_EQ(Updated(had_not, ip + kLb + omitted), "+port@0");
  EXPECT_EQ(Updated(had_not, ip + kLbNone + omitted), "");
  EXPECT_EQ(Updated(had_not, ip + kLbNone + sent), "+30001@0");
  EXPECT_EQ(Updated(had_anyway, ip + kLbNone + omitted), "-30001");
  EXPECT_EQ(Updated(had_anyway, ip + kLbNone + sent), "");
  EXPECT_EQ(Updated(had_anyway, ip + kLb + sent), "");
  EXPECT_EQ(Updated(had, ip + kLb + omitted), "");
  EXPECT_EQ(Updated(had, ip + kLb + Listed({"80/TCP=30002"})), "+30002@0 -30001");
  EXPECT_EQ(Updated(node_port, ip + kLbNone + omitted), "-30001");
  EXPECT_EQ(Updated(node_port, ip + kLbNone + sent), "");
  EXPECT_EQ(Updated(node_port, ip + kLb + omitted), "");
  EXPECT_EQ(Updated(had, ip + kNodePortType + omitted), "");
  for (const std::string& ports : {omitted, sent}) {
    EXPECT_EQ(Updated(had, ip + ports), "-30001");
    EXPECT_EQ(Updated(had, Joined({ip, kExternalName, ports})), "-10.0.0.1 -30001");
  }
  EXPECT_EQ(Held(StoredSpec(had_anyway)), "-10.0.0.1 -30001");
}

TEST(Claims, HealthCheckPortOnUpdate) {
  const std::string ip = ClusterIp("10.0.0.1");
  const std::string port = Listed({"80/TCP=30001"});
  const std::string hc = "'healthCheckNodePort':30009,";
  const std::string cluster = ip + kLb + port;
  const std::string local = ip + kLocal + hc + port;
  EXPECT_EQ(Updated(cluster, ip + kLocal + port), "+port@hc");
  EXPECT_EQ(Updated(cluster, ip + kLocal + hc + port), "+30009@hc");
  EXPECT_EQ(Updated(local, cluster), "-30009");
  EXPECT_EQ(Updated(local, ip + kLb + hc + port), "-30009") << "untouched, so wiped";
  EXPECT_EQ(Updated(local, ip + kLocal + port), "");
  EXPECT_EQ(Updated(local, ip + kLocal + "'healthCheckNodePort':30008," + port),
            "E: spec.healthCheckNodePort: Forbidden: field is immutable");
  EXPECT_EQ(Updated(local, ip + kNodePortType + port), "-30009");
  EXPECT_EQ(Updated(local, ip + kLb + Listed({"80/TCP=30009"})), "-30001")
      << "the number stays with the Service, for something else";
}

TEST(Claims, OfTypeTransitions) {
  const std::string ip = ClusterIp("10.0.0.1");
  const std::string port = Listed({"80/TCP=30001"});
  const std::vector<std::string> old = {
      ip + kPort,
      "'clusterIP':'None'," + kPort,
      ip + kNodePortType + port,
      ip + kLocal + "'healthCheckNodePort':30009," + port,
      kExternalName + kPort,
  };
  // A client sends them again, without the allocated values.
  const std::vector<std::string> now = {
      Listed({"80/TCP"}),
      "'clusterIP':'None'," + Listed({"80/TCP"}),
      kNodePortType + Listed({"80/TCP"}),
      kLocal + Listed({"80/TCP"}),
      kExternalName + Listed({"80/TCP"}),
  };
  const std::string to_none =
      "E: spec.clusterIPs[0]: Invalid value: [\"None\"]: may not change once set";
  const auto no_none = [](const std::string& type) {
    return "E: spec.clusterIPs[0]: Invalid value: \"None\": may not be set to 'None' for " + type +
           " services";
  };
  const std::vector<std::vector<std::string>> expected = {
      {"", to_none, "+port@0", "+port@0 +port@hc", "-10.0.0.1"},
      {"", "", no_none("NodePort"), no_none("LoadBalancer"), ""},
      {"-30001", to_none, "", "+port@hc", "-10.0.0.1 -30001"},
      {"-30001 -30009", to_none, "-30009", "", "-10.0.0.1 -30001 -30009"},
      {"+ip4@0", "", "+ip4@0 +port@0", "+ip4@0 +port@0 +port@hc", ""},
  };
  for (size_t i = 0; i < old.size(); ++i) {
    for (size_t j = 0; j < now.size(); ++j) {
      EXPECT_EQ(Updated(old[i], now[j]), expected[i][j]) << old[i] << " -> " << now[j];
    }
  }
}

/// Values are carried over for a load balancer with a health check: node ports p:30093 q:30076,
/// health check 30118.
TEST(Claims, OfAnUpdateThatLeavesOutWhatWasAllocated) {
  const auto ports = [](const std::string& p, const std::string& q) {
    const auto number = [](const std::string& text) {
      return text.empty() ? "" : ",'nodePort':" + text;
    };
    return Ports("{'name':'p','port':80" + number(p) + "},{'name':'q','port':443" + number(q) +
                 "}");
  };
  const std::string hc = "'healthCheckNodePort':30118,";
  const std::string prefer = "'ipFamilyPolicy':'PreferDualStack',";
  const std::string old = prefer + "'ipFamilies':['IPv4','IPv6']," +
                          ClusterIp("10.0.0.1','fd00::1") + kLocal + hc + ports("30093", "30076");
  EXPECT_EQ(Updated(old, old), "");
  EXPECT_EQ(Updated(old, kLocal + ports("", "")), "");
  EXPECT_EQ(Updated(old, kLocal + ports("30093", "")), "");
  EXPECT_EQ(Updated(old, kLocal + Ports("{'name':'q','port':443},{'name':'p','port':80}")), "");
  EXPECT_EQ(Updated(old, kLocal + ports("30076", "30093")), "");
  EXPECT_EQ(Updated(old, kLocal + ports("30076", "")), "+port@1 -30093");
  EXPECT_EQ(Updated(old, kLocal + ports("30076", "30118")), "!30118@1 -30093");
  EXPECT_EQ(Updated(old, kLocal + ports("30118", "")), "!30118@0 -30093");
  EXPECT_EQ(Updated(old, kLocal + "'healthCheckNodePort':30111," + ports("", "")),
            "E: spec.healthCheckNodePort: Forbidden: field is immutable");
  EXPECT_EQ(Updated(old, ClusterIp("10.0.0.1") + kLocal + ports("", "")),
            "E: spec.ipFamilyPolicy: Invalid value: \"PreferDualStack\": must be 'SingleStack' to "
            "release the secondary cluster IP");
  EXPECT_EQ(Updated(old, kLocal + ports("30076", "30076")),
            "E: spec.ports[1].nodePort: Duplicate value: 30076");
}

TEST(Claims, ServicePortsShareOnUpdateAsOnCreate) {
  const auto updated = [](const std::vector<std::string>& old,
                          const std::vector<std::string>& now) {
    const std::string ip = ClusterIp("10.0.0.1") + kNodePortType;
    return Updated(ip + Listed(old), ip + Listed(now));
  };
  EXPECT_EQ(updated({"53/TCP=30014"}, {"53/TCP", "53/UDP"}), "=30014@1");
  EXPECT_EQ(updated({"53/TCP=30014"}, {"53/TCP=30014", "53/UDP=30014"}), "");
  EXPECT_EQ(updated({"53/TCP=30014", "53/UDP=30014"}, {"53/TCP", "53/UDP"}), "");
  EXPECT_EQ(updated({"53/TCP=30014", "53/UDP=30014"}, {"53/UDP=30014"}), "");
  EXPECT_EQ(updated({"53/TCP=30014", "53/UDP=30014"}, {"80/TCP=30014", "443/UDP=30014"}),
            "!30014@1");
  EXPECT_EQ(updated({"53/TCP=30014", "53/UDP=30014"}, {"53/TCP", "54/UDP"}), "+port@1")
      << "the client did not ask to share the number";
  EXPECT_EQ(updated({"53/TCP=30014", "53/UDP=30014"}, {"54/TCP", "53/UDP"}), "+port@0");
  EXPECT_EQ(updated({"80/TCP=30014"}, {"80/TCP=30014", "443/UDP=30014"}), "!30014@1");
  EXPECT_EQ(updated({"80/TCP=30014"}, {"443/UDP=30014", "80/TCP=30014"}), "!30014@0");
  EXPECT_EQ(updated({"53/TCP=30014"}, {"53/TCP=30015", "53/UDP"}), "+30015@0,1 -30014");
  EXPECT_EQ(updated({"80/TCP=30014"}, {"8080/UDP"}), "") << "the number goes with the name";
}

TEST(Claims, WhatWasSharedStaysShared) {
  const auto updated = [](const std::vector<std::string>& now) {
    const std::string ip = ClusterIp("10.0.0.1") + kNodePortType;
    return Updated(ip + Listed({"53/UDP=30014", "54/TCP=30014"}), ip + Listed(now));
  };
  EXPECT_EQ(updated({"53/UDP=30014", "54/TCP=30014"}), "");
  EXPECT_EQ(updated({"53/UDP", "54/TCP"}), "");
  EXPECT_EQ(updated({"53/UDP=30014", "54/TCP=30015"}), "+30015@1");
  EXPECT_EQ(updated({"53/UDP=30014", "54/TCP=30014", "55/SCTP=30014"}), "!30014@2");
  EXPECT_EQ(updated({"53/UDP=30014", "54/TCP=30014", "53/TCP"}), "+port@2")
      << "TCP has that number already";
}

TEST(Claims, NumbersOfAnExternalNameAreNotTrusted) {
  const std::string port = Ports("{'port':80,'nodePort':30003}");
  EXPECT_EQ(Updated(kExternalName + port, kNodePortType + port), "+ip4@0 +30003@0");
  EXPECT_EQ(Updated(ClusterIp("10.0.0.1") + kNodePortType + port,
                    kExternalName + Ports("{'port':80,'nodePort':30004}")),
            "-10.0.0.1 -30003");
  EXPECT_EQ(Updated(kExternalName + ClusterIp("10.0.0.7") + kPort, ClusterIp("10.0.0.7") + kPort),
            "+10.0.0.7@0")
      << "stored by a server that did not refuse it";
}

TEST(Claims, OddValuesThatStayAreNotClaimed) {
  const codec::Value old = StoredSpec(
      "'type':'NodePort','clusterIPs':['x','10.0.0.1'],'ports':"
      "[{'port':1,'nodePort':70000},{'port':2,'nodePort':30001}]");
  EXPECT_EQ(Short(ClaimsOf(old, &old)), "");
  EXPECT_EQ(Short(ClaimsOf(StoredSpec(""), &old)), "-10.0.0.1 -30001");
}

TEST(Claims, OfALoadBalancerThatCannotChoose) {
  codec::Value service = StoredSpec(kLb + ClusterIp("10.0.0.1") + Listed({"80/TCP"}));
  DefaultService(service);
  DropDisabledFields(service, nullptr, false);
  EXPECT_TRUE(ValidateServiceCreate(service).empty());
  EXPECT_EQ(Short(ClaimsOf(service, nullptr)), "+10.0.0.1@0 +port@0");
}

TEST(Claims, OfFamiliesOnUpdate) {
  const std::string single = ClusterIp("10.0.0.1") + kPort;
  const std::string dual = "'ipFamilyPolicy':'RequireDualStack'," +
                           ClusterIp("10.0.0.1','FD00:0::1") + "'ipFamilies':['IPv4','IPv6']," +
                           kPort;
  EXPECT_EQ(Updated(single, "'ipFamilyPolicy':'PreferDualStack'," + kPort), "+ip6@1");
  EXPECT_EQ(Updated(single, dual), "+fd00::1@1");
  EXPECT_EQ(Updated(dual, kPort), "");
  EXPECT_EQ(Updated(dual, "'ipFamilyPolicy':'SingleStack'," + kPort), "-fd00::1");
  EXPECT_EQ(Updated(dual, kExternalName + kPort), "-10.0.0.1 -fd00::1");
  EXPECT_EQ(Updated(kExternalName + kPort, dual), "+10.0.0.1@0 +fd00::1@1");
  EXPECT_EQ(Updated(dual, kExternalName + "'clusterIP':'10.0.0.81'," + kPort),
            "E: spec.clusterIPs: Forbidden: may not be set for ExternalName services");
}

TEST(Claims, AreFilledIn) {
  codec::Value service = StoredSpec(
      "'type':'LoadBalancer','externalTrafficPolicy':'Local','ipFamilies':['IPv6','IPv4'],"
      "'clusterIP':'FD00::9','clusterIPs':['FD00::9'],'ports':[{'port':53},{'port':53},"
      "{'port':80,'nodePort':30001}]");
  EXPECT_EQ(codec::Value(WantedClusterIps(service)), Json("['FD00::9','']"));
  const ServiceClaims claims = ClaimsOf(service, nullptr);
  ASSERT_EQ(Short(claims), "+fd00::9@0 +ip4@1 +30001@2 +port@0,1 +port@hc");
  const std::array addresses = {ip::ParseAddr("fd00::9").value(),
                                ip::ParseAddr("10.0.0.9").value()};
  const std::array<uint16_t, 3> ports = {30001, 30002, 30003};
  FillClaims(service, claims, addresses, ports);
  EXPECT_EQ(service,
            StoredSpec("'type':'LoadBalancer','externalTrafficPolicy':'Local','ipFamilies':['IPv6',"
                       "'IPv4'],'clusterIP':'FD00::9','clusterIPs':['FD00::9','10.0.0.9'],'ports':"
                       "[{'port':53,'nodePort':30002},{'port':53,'nodePort':30002},"
                       "{'port':80,'nodePort':30001}],'healthCheckNodePort':30003"));
  EXPECT_EQ(Short(ClaimsOf(service, &service)), "");
  EXPECT_EQ(Held(service), "-fd00::9 -10.0.0.9 -30001 -30002 -30003");
}

TEST(Claims, WhatIsSharedIsFilledInToo) {
  const codec::Value old = StoredSpec("'type':'NodePort','ports':[{'port':53,'nodePort':30001}]");
  codec::Value service =
      StoredSpec("'type':'NodePort','ports':[{'port':53},{'port':53,'nodePort':30001}]");
  const ServiceClaims claims = ClaimsOf(service, &old);
  ASSERT_EQ(Short(claims), "=30001@0");
  FillClaims(service, claims, {}, {});
  EXPECT_EQ(service, StoredSpec("'type':'NodePort','ports':[{'port':53,'nodePort':30001},"
                                "{'port':53,'nodePort':30001}]"));
}

TEST(Claims, OfVeryManyPorts) {
  codec::Value service = StoredSpec("'type':'NodePort'");
  codec::Array ports;
  for (int i = 1; i <= 60000; ++i) {
    ports.emplace_back(codec::Object{{"port", i}, {"nodePort", i % 2 == 0 ? i : 0}});
  }
  SetAt(service, {"spec", "ports"}, std::move(ports));
  const ServiceClaims claims = ClaimsOf(service, nullptr);
  ASSERT_EQ(claims.ports.size(), 60000U);
  EXPECT_EQ(claims.ports.front().wanted, 2);
  EXPECT_EQ(claims.ports[29999].wanted, 60000);
  EXPECT_EQ(claims.ports[30000].wanted, std::nullopt);
  EXPECT_EQ(ClaimsOf(StoredSpec(""), &service).gives.ports.size(), 30000U);
}

}  // namespace
}  // namespace berth::rules
