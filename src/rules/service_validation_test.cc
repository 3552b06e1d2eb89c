#include "rules/service_validation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "codec/read.h"
#include "rules/metadata.h"
#include "rules/service_defaults.h"
#include "rules/testing/rules_kit.h"

namespace berth::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kOnlyLb = "Forbidden: may only be used when `type` is 'LoadBalancer'";

/// Returns a Service with defaults that is valid apart from these members of its spec.
codec::Value ServiceWith(const std::string& members, const std::string& metadata = "") {
  codec::Value service = Json("{'metadata':{'name':'a','namespace':'n','resourceVersion':'1'" +
                              metadata + "},'spec':{" + members + "}}");
  if (!HasAt(service, "spec", "ports")) {
    SetAt(service, {"spec", "ports"}, codec::Array{codec::Object{{"port", 80}}});
  }
  DefaultService(service);
  SyncClusterIps(service, nullptr);
  return service;
}

std::vector<std::string> CreateService(const std::string& members,
                                       const std::string& metadata = "") {
  return Lines(ValidateServiceCreate(ServiceWith(members, metadata)));
}

std::vector<std::string> UpdateService(const codec::Value& service, const codec::Value& old) {
  return Lines(ValidateServiceUpdate(service, old));
}

TEST(ServiceValidation, GoodOnes) {
  for (const char* good :
       {"", "'type':'NodePort','ports':[{'port':80,'nodePort':30000}]",
        "'type':'LoadBalancer','externalTrafficPolicy':'Local'",
        "'type':'LoadBalancer','externalTrafficPolicy':'Local','healthCheckNodePort':30000",
        "'type':'ExternalName','externalName':'db.example.com.','ports':[]",
        "'type':'ExternalName','externalName':'db','ports':[{'port':1,'nodePort':30000}]",
        "'clusterIP':'None','ports':[]", "'clusterIP':'2001:DB8::1'",
        R"('sessionAffinity':'ClientIP',
           'sessionAffinityConfig':{'clientIP':{'timeoutSeconds':86400}})",
        "'externalIPs':['192.0.2.1'],'externalTrafficPolicy':'Local'",
        "'ports':[{'port':53,'name':'a'},{'port':53,'name':'b','protocol':'UDP'}]",
        R"('type':'LoadBalancer','loadBalancerSourceRanges':[' 10.0.0.0/8 '],
           'loadBalancerClass':'x/y')",
        "'trafficDistribution':'PreferSameNode','loadBalancerIP':'anything'"}) {
    EXPECT_THAT(CreateService(good), IsEmpty()) << good;
  }
}

/// Creating a Service with each of these specs gives one error.
TEST(ServiceValidation, OneFaultEach) {
  const std::string none = "may not be set to 'None' for ";
  const std::string ip = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
  const std::string cidr = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";
  const std::string timeout = "must be greater than 0 and less than 86400";
  const std::string affinity =
      "'sessionAffinity':'ClientIP','sessionAffinityConfig':{'clientIP':"
      "{'timeoutSeconds':";
  const std::string lb = "'type':'LoadBalancer',";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"'ports':[]", "spec.ports: Required value"},
      {lb + "'clusterIP':'None'",
       "spec.clusterIPs[0]: Invalid value: \"None\": " + none + "LoadBalancer services"},
      {"'type':'NodePort','clusterIP':'None'",
       "spec.clusterIPs[0]: Invalid value: \"None\": " + none + "NodePort services"},
      {"'type':'ExternalName'", "spec.externalName: Required value"},
      {"'type':'ExternalName','externalName':'.'", "spec.externalName: Required value"},
      {"'type':'ExternalName','externalName':'db','clusterIP':'10.0.0.1'",
       "spec.clusterIPs: Forbidden: may not be set for ExternalName services"},
      {"'type':'ExternalName','externalName':'db','ipFamilies':['IPv4']",
       "spec.ipFamilies: Forbidden: may not be set for ExternalName services"},
      {"'type':'ExternalName','externalName':'db','ipFamilyPolicy':'SingleStack'",
       "spec.ipFamilyPolicy: Forbidden: may not be set for ExternalName services"},
      {"'ports':[{'port':80,'name':'a.b'}]",
       "spec.ports[0].name: Invalid value: \"a.b\": must not contain dots"},
      {"'ports':[{'port':80,'targetPort':-1}]",
       "spec.ports[0].targetPort: Invalid value: -1: must be between 1 and 65535, inclusive"},
      {"'ports':[{'port':80,'targetPort':'a--b'}]",
       "spec.ports[0].targetPort: Invalid value: \"a--b\": must not contain consecutive hyphens"},
      {"'ports':[{'port':65536,'targetPort':1}]",
       "spec.ports[0].port: Invalid value: 65536: must be between 1 and 65535, inclusive"},
      {"'ports':[{'port':80,'protocol':'ICMP'}]",
       "spec.ports[0].protocol: Unsupported value: \"ICMP\": supported values: \"SCTP\", \"TCP\", "
       "\"UDP\""},
      {"'ports':[{'port':80,'name':'x'},{'port':81,'name':'x'}]",
       "spec.ports[1].name: Duplicate value: \"x\""},
      {"'ports':[{'port':80,'name':'x'},{'port':80,'name':'y'}]",
       "spec.ports[1]: Duplicate value: {\"Name\":\"\",\"Protocol\":\"TCP\",\"AppProtocol\":null,"
       "\"Port\":80,\"TargetPort\":0,\"NodePort\":0}"},
      {"'ports':[{'port':80,'nodePort':30000}]",
       "spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"},
      {"'type':'NodePort','ports':[{'port':80,'name':'x','nodePort':30080},{'port':81,'name':'y',"
       "'nodePort':30080}]",
       "spec.ports[1].nodePort: Duplicate value: 30080"},
      {"'sessionAffinity':'Sticky'",
       "spec.sessionAffinity: Unsupported value: \"Sticky\": supported values: \"ClientIP\", "
       "\"None\""},
      {affinity + "0}}",
       "spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 0: " + timeout},
      {affinity + "86401}}",
       "spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 86401: " + timeout},
      {"'externalIPs':['x']", "spec.externalIPs[0]: Invalid value: \"x\": " + ip},
      {"'externalIPs':['010.1.1.1']",
       "spec.externalIPs[0]: Invalid value: \"010.1.1.1\": must not have leading 0s"},
      {"'externalIPs':['::ffff:1.2.3.4']",
       "spec.externalIPs[0]: Invalid value: \"::ffff:1.2.3.4\": must not be an IPv4-mapped IPv6 "
       "address"},
      {"'externalIPs':['0.0.0.0']",
       "spec.externalIPs[0]: Invalid value: \"0.0.0.0\": may not be unspecified (0.0.0.0)"},
      {"'externalIPs':['::1']",
       "spec.externalIPs[0]: Invalid value: \"::1\": may not be in the loopback range "
       "(127.0.0.0/8, "
       "::1/128)"},
      {"'externalIPs':['169.254.1.1']",
       "spec.externalIPs[0]: Invalid value: \"169.254.1.1\": may not be in the link-local range "
       "(169.254.0.0/16, fe80::/10)"},
      {"'externalIPs':['ff12::1']",
       "spec.externalIPs[0]: Invalid value: \"ff12::1\": may not be in the link-local multicast "
       "range (224.0.0.0/24, ff02::/10)"},
      {"'externalIPs':['224.0.0.5']",
       "spec.externalIPs[0]: Invalid value: \"224.0.0.5\": may not be in the link-local multicast "
       "range (224.0.0.0/24, ff02::/10)"},
      {"'type':'Cluster'",
       "spec.type: Unsupported value: \"Cluster\": supported values: \"ClusterIP\", "
       "\"ExternalName\", \"LoadBalancer\", \"NodePort\""},
      {"'loadBalancerSourceRanges':['10.0.0.0/8']",
       std::string("spec.LoadBalancerSourceRanges: ") + kOnlyLb},
      {lb + "'loadBalancerSourceRanges':['10.0.0.0']",
       "spec.LoadBalancerSourceRanges[0]: Invalid value: \"10.0.0.0\": " + cidr},
      {lb + "'loadBalancerSourceRanges':['10.1.2.3/8']",
       "spec.LoadBalancerSourceRanges[0]: Invalid value: \"10.1.2.3/8\": must not have bits set "
       "beyond the prefix length"},
      {"'allocateLoadBalancerNodePorts':false",
       std::string("spec.allocateLoadBalancerNodePorts: ") + kOnlyLb},
      {"'loadBalancerClass':'x.io/y'", std::string("spec.loadBalancerClass: ") + kOnlyLb},
      {"'externalTrafficPolicy':'Local'",
       "spec.externalTrafficPolicy: Invalid value: \"Local\": may only be set for "
       "externally-accessible services"},
      {"'type':'NodePort','externalTrafficPolicy':'Global'",
       "spec.externalTrafficPolicy: Unsupported value: \"Global\": supported values: \"Cluster\", "
       "\"Local\""},
      {lb + "'healthCheckNodePort':30002",
       "spec.healthCheckNodePort: Invalid value: 30002: may only be set when `type` is "
       "'LoadBalancer' and `externalTrafficPolicy` is 'Local'"},
      {lb + "'externalTrafficPolicy':'Local','healthCheckNodePort':-1",
       "spec.healthCheckNodePort: Invalid value: -1: must be between 1 and 65535, inclusive"},
      {"'internalTrafficPolicy':''",
       "spec.internalTrafficPolicy: Unsupported value: \"\": supported values: \"Cluster\", "
       "\"Local\""},
      {"'trafficDistribution':'Close'",
       "spec.trafficDistribution: Unsupported value: \"Close\": supported values: \"PreferClose\", "
       "\"PreferSameZone\", \"PreferSameNode\""},
  };
  for (const auto& [members, message] : cases) {
    EXPECT_THAT(CreateService(members), ElementsAre(message)) << members;
  }
}

TEST(ServiceValidation, LongerMessages) {
  EXPECT_THAT(CreateService("'type':'ExternalName','externalName':'Bad_Host'"),
              ElementsAre(HasSubstr("spec.externalName: Invalid value: \"Bad_Host\": a lowercase "
                                    "RFC 1123 subdomain")));
  EXPECT_THAT(CreateService("'selector':{'bad key':'bad value'}"),
              ElementsAre(HasSubstr("spec.selector: Invalid value: \"bad key\": name part"),
                          HasSubstr("spec.selector: Invalid value: \"bad value\": a valid label")));
  EXPECT_THAT(CreateService("'ports':[{'port':80,'appProtocol':'bad proto'}]"),
              ElementsAre(HasSubstr("spec.ports[0].appProtocol: Invalid value: \"bad proto\"")));
  EXPECT_THAT(
      CreateService("'ports':[{'port':1},{'port':2}]"),
      ElementsAre("spec.ports[0].name: Required value", "spec.ports[1].name: Required value"));
  EXPECT_THAT(
      CreateService("'type':'LoadBalancer','loadBalancerClass':''"),
      ElementsAre("spec.loadBalancerClass: Invalid value: \"\": name part must be non-empty",
                  HasSubstr("spec.loadBalancerClass: Invalid value: \"\": name part")));
}

TEST(ServiceValidation, WithoutDefaults) {
  const codec::Value bare = Json(
      "{'metadata':{'name':'a','namespace':'n'},'spec':{'ports':[{'port':"
      "80,'targetPort':80}]}}");
  EXPECT_THAT(Lines(ValidateServiceCreate(bare)),
              ElementsAre("spec.ports[0].protocol: Required value",
                          "spec.sessionAffinity: Required value", "spec.type: Required value"));
  codec::Value lb = ServiceWith("'type':'LoadBalancer','sessionAffinity':'ClientIP'");
  EraseAt(lb, {"spec", "allocateLoadBalancerNodePorts"});
  EraseAt(lb, {"spec", "externalTrafficPolicy"});
  EraseAt(lb, {"spec", "internalTrafficPolicy"});
  EraseAt(lb, {"spec", "sessionAffinityConfig"});
  EXPECT_THAT(Lines(ValidateServiceCreate(lb)),
              ElementsAre("spec.sessionAffinityConfig: Required value: when session affinity type "
                          "is ClientIP",
                          "spec.externalTrafficPolicy: Required value",
                          "spec.internalTrafficPolicy: Required value"));
  codec::Value none = ServiceWith("");
  SetAt(none, {"spec", "sessionAffinityConfig", "clientIP", "timeoutSeconds"}, 1);
  EXPECT_THAT(Lines(ValidateServiceCreate(none)),
              ElementsAre("spec.sessionAffinityConfig: Forbidden: must not be set when session "
                          "affinity is None"));
}

TEST(ServiceValidation, NamesMayStartWithADigitUnlessAsked) {
  codec::Value service = ServiceWith("");
  SetAt(service, {"metadata", "name"}, "1web");
  EXPECT_THAT(Lines(ValidateServiceCreate(service)), IsEmpty());
  EXPECT_THAT(Lines(ValidateServiceCreate(service, {.relaxed_names = false})),
              ElementsAre(HasSubstr("metadata.name: Invalid value: \"1web\": a DNS-1035 label")));
}

TEST(ServiceValidation, Annotations) {
  EXPECT_THAT(CreateService("",
                            ",'annotations':{'service.kubernetes.io/topology-mode':'Auto',"
                            "'service.kubernetes.io/topology-aware-hints':'Disabled'}"),
              ElementsAre("metadata.annotations[service.kubernetes.io/topology-mode]: Invalid "
                          "value: \"Auto\": must match annotations[service.kubernetes.io/"
                          "topology-aware-hints] when both are specified"));
  const std::string key = "service.beta.kubernetes.io/load-balancer-source-ranges";
  const auto ranges = [&key](const std::string& text) {
    return ",'annotations':{'" + key + "':'" + text + "'}";
  };
  const std::string lb = "'type':'LoadBalancer'";
  EXPECT_THAT(CreateService(lb, ranges(" 10.0.0.0/8 , fd00::/8")), IsEmpty());
  EXPECT_THAT(CreateService(lb, ranges("")), IsEmpty());
  for (const char* open : {"10.0.0.0/8,", ", 10.0.0.0/8", "10.0.0.0/8, ,fd00::/8"}) {
    EXPECT_THAT(CreateService(lb, ranges(open)),
                ElementsAre("metadata.annotations[" + key +
                            "]: Invalid value: \"\": must be a valid CIDR value, (e.g. "
                            "10.9.8.0/24 or 2001:db8::/64)"))
        << open;
  }
  EXPECT_THAT(CreateService("", ranges("10.0.0.0/8")),
              ElementsAre("metadata.annotations[" + key + "]: " + kOnlyLb));
  EXPECT_THAT(
      CreateService(lb, ranges("bad")),
      ElementsAre("metadata.annotations[" + key +
                  "]: Invalid value: \"bad\": must be a valid CIDR value, (e.g. 10.9.8.0/24 "
                  "or 2001:db8::/64)"));
  const codec::Value old = ServiceWith(lb, ranges("bad"));
  EXPECT_THAT(UpdateService(old, old), IsEmpty()) << "what was stored is not refused later";
}

TEST(ServiceValidation, ClusterIpGroup) {
  const std::string ip = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
  const std::vector<std::pair<std::string, std::vector<std::string>>> cases = {
      {"'clusterIPs':['10.96.0.10']",
       {"spec.clusterIPs: Invalid value: [\"10.96.0.10\"]: must be empty when `clusterIP` is not "
        "specified"}},
      {"'clusterIP':'10.96.0.10','clusterIPs':['10.96.0.11']",
       {"spec.clusterIPs: Invalid value: [\"10.96.0.11\"]: first value must match `clusterIP`"}},
      {"'ipFamilies':['IPv5','']",
       {"spec.ipFamilies[0]: Unsupported value: \"IPv5\": supported values: \"IPv4\", \"IPv6\"",
        "spec.ipFamilies[1]: Unsupported value: \"\": supported values: \"IPv4\", \"IPv6\""}},
      {"'ipFamilies':['IPv4','IPv6','IPv4']", {"spec.ipFamilies[2]: Duplicate value: \"IPv4\""}},
      {"'ipFamilyPolicy':'Dual'",
       {"spec.ipFamilyPolicy: Unsupported value: \"Dual\": supported values: \"PreferDualStack\", "
        "\"RequireDualStack\", \"SingleStack\""}},
      {"'clusterIP':'None','clusterIPs':['None','10.96.0.10']",
       {"spec.clusterIPs: Invalid value: [\"None\",\"10.96.0.10\"]: 'None' must be the first and "
        "only value"}},
      {"'clusterIP':'none'", {"spec.clusterIPs[0]: Invalid value: \"none\": " + ip}},
      {"'clusterIP':'10.96.0.10','clusterIPs':['10.96.0.10','None']",
       {"spec.clusterIPs[1]: Invalid value: \"None\": " + ip}},
      {"'clusterIPs':['']",
       {"spec.clusterIPs: Invalid value: [\"\"]: must be empty when `clusterIP` is not specified",
        "spec.clusterIPs[0]: Invalid value: \"\": " + ip}},
      {"'clusterIP':'10.1.1.1','clusterIPs':['10.1.1.1','fd00::1','10.1.1.2']",
       {"spec.clusterIPs: Invalid value: [\"10.1.1.1\",\"fd00::1\",\"10.1.1.2\"]: may only hold up "
        "to 2 values"}},
      {"'clusterIP':'10.1.1.1','clusterIPs':['10.1.1.1','10.1.1.2','10.1.1.3'],"
       "'ipFamilies':['IPv4','IPv6']",
       {"spec.clusterIPs: Invalid value: [\"10.1.1.1\",\"10.1.1.2\",\"10.1.1.3\"]: may only hold "
        "up to 2 values",
        "spec.clusterIPs: Invalid value: [\"10.1.1.1\",\"10.1.1.2\",\"10.1.1.3\"]: may specify no "
        "more than one IP for each IP family",
        "spec.clusterIPs[1]: Invalid value: \"10.1.1.2\": expected an IPv6 value as indicated by "
        "`ipFamilies[1]`"}},
      {"'clusterIP':'10.1.1.1','clusterIPs':['10.1.1.1','10.1.1.1']",
       {"spec.clusterIPs: Invalid value: [\"10.1.1.1\",\"10.1.1.1\"]: may specify no more than one "
        "IP for each IP family"}},
      {"'clusterIP':'10.1.1.1','ipFamilies':['IPv6']",
       {"spec.clusterIPs[0]: Invalid value: \"10.1.1.1\": expected an IPv6 value as indicated by "
        "`ipFamilies[0]`"}},
  };
  for (const auto& [members, messages] : cases)
    EXPECT_EQ(CreateService(members), messages) << members;
  codec::Value only_singular = ServiceWith("");
  SetAt(only_singular, {"spec", "clusterIP"}, "10.1.1.1");
  EXPECT_THAT(Lines(ValidateClusterIps(only_singular, nullptr)),
              ElementsAre("spec.clusterIPs: Required value"));
}

TEST(ServiceUpdateValidation, AddressesStay) {
  const std::string dual =
      "'clusterIP':'10.0.0.1','clusterIPs':['10.0.0.1','fd00::1'],"
      "'ipFamilies':['IPv4','IPv6'],'ipFamilyPolicy':";
  const codec::Value old = ServiceWith(dual + "'RequireDualStack'");
  EXPECT_THAT(UpdateService(old, old), IsEmpty());
  const codec::Value swapped = ServiceWith(
      "'clusterIP':'fd00::1','clusterIPs':['fd00::1','10.0.0.1'],'ipFamilies':['IPv6','IPv4'],"
      "'ipFamilyPolicy':'RequireDualStack'");
  const std::string ips = "Invalid value: [\"fd00::1\",\"10.0.0.1\"]: may not change once set";
  const std::string families =
      "spec.ipFamilies[0]: Invalid value: [\"IPv6\",\"IPv4\"]: may not change once set";
  EXPECT_THAT(
      UpdateService(swapped, old),
      ElementsAre("spec.clusterIPs[0]: " + ips, "spec.clusterIPs[1]: " + ips, families, families));
  const std::string single =
      "'clusterIP':'10.0.0.1','clusterIPs':['10.0.0.1'],'ipFamilies':['IPv4'],'ipFamilyPolicy':";
  EXPECT_THAT(UpdateService(ServiceWith(single + "'SingleStack'"), old), IsEmpty());
  EXPECT_THAT(UpdateService(ServiceWith(single + "'PreferDualStack'"), old),
              ElementsAre("spec.ipFamilyPolicy: Invalid value: \"PreferDualStack\": must be set to "
                          "'SingleStack' when releasing the secondary clusterIP",
                          "spec.ipFamilyPolicy: Invalid value: \"PreferDualStack\": must be set to "
                          "'SingleStack' when releasing the secondary ipFamily"));
  EXPECT_THAT(UpdateService(old, ServiceWith(single + "'SingleStack'")), IsEmpty());
  EXPECT_THAT(UpdateService(
                  old, ServiceWith("'clusterIP':'10.0.0.9','clusterIPs':['10.0.0.9'],'ipFamilies':"
                                   "['IPv6'],'ipFamilyPolicy':'SingleStack'")),
              ElementsAre("spec.clusterIPs[0]: Invalid value: [\"10.0.0.1\",\"fd00::1\"]: may not "
                          "change once set",
                          "spec.ipFamilies[0]: Invalid value: [\"10.0.0.1\",\"fd00::1\"]: may not "
                          "change once set"));
  EXPECT_THAT(
      UpdateService(ServiceWith("'ipFamilies':['IPv4']"), old),
      ElementsAre("spec.clusterIPs[0]: Invalid value: []: primary clusterIP can not be unset",
                  "spec.ipFamilies[0]: Invalid value: [\"IPv4\"]: primary ipFamily can not "
                  "be unset",
                  "spec.ipFamilyPolicy: Invalid value: null: must be set to 'SingleStack' "
                  "when releasing the secondary ipFamily"));
}

TEST(ServiceUpdateValidation, ExternalNameMayChangeAddresses) {
  const codec::Value external = ServiceWith("'type':'ExternalName','externalName':'db'");
  const codec::Value plain = ServiceWith("'clusterIP':'10.0.0.1','ipFamilies':['IPv4']");
  EXPECT_THAT(UpdateService(external, plain), IsEmpty());
  EXPECT_THAT(UpdateService(plain, external), IsEmpty());
  codec::Value foreign = external;
  SetAt(foreign, {"spec", "clusterIP"}, "10.0.0.7");
  EXPECT_THAT(UpdateService(foreign, plain),
              ElementsAre("spec.clusterIPs: Forbidden: may not be set for ExternalName services"));
}

TEST(ServiceUpdateValidation, HeadlessStaysHeadless) {
  const codec::Value headless = ServiceWith("'clusterIP':'None','ipFamilies':['IPv4']");
  EXPECT_THAT(UpdateService(ServiceWith("'clusterIP':'None','ipFamilies':['IPv6']"), headless),
              IsEmpty());
  EXPECT_THAT(UpdateService(ServiceWith("'clusterIP':'10.0.0.1'"), headless),
              ElementsAre("spec.clusterIPs[0]: Invalid value: [\"10.0.0.1\"]: may not change once "
                          "set"));
}

TEST(ServiceUpdateValidation, LoadBalancers) {
  const std::string lb = "'type':'LoadBalancer'";
  const codec::Value old = ServiceWith(lb + ",'loadBalancerClass':'a.io/b'");
  EXPECT_THAT(UpdateService(ServiceWith(lb), old),
              ElementsAre("spec.loadBalancerClass: Invalid value: null: may not change once set"));
  EXPECT_THAT(UpdateService(ServiceWith(lb + ",'loadBalancerClass':'c'"), old),
              ElementsAre("spec.loadBalancerClass: Invalid value: \"c\": may not change once set"));
  const std::string forbidden = std::string("spec.loadBalancerClass: ") + kOnlyLb;
  EXPECT_THAT(UpdateService(ServiceWith("'loadBalancerClass':'c'"), old),
              ElementsAre(forbidden, forbidden));
  const std::string local = lb + ",'externalTrafficPolicy':'Local','healthCheckNodePort':";
  EXPECT_THAT(UpdateService(ServiceWith(local + "30001"), ServiceWith(local + "30002")),
              ElementsAre("spec.healthCheckNodePort: Forbidden: field is immutable"));
}

TEST(ServiceUpdateValidation, WhatWasStoredIsNotRefusedLater) {
  const codec::Value old = ServiceWith(
      "'type':'LoadBalancer','externalIPs':['010.1.1.1'],"
      "'loadBalancerSourceRanges':['10.1.2.3/8']");
  EXPECT_THAT(UpdateService(old, old), IsEmpty());
}

std::vector<std::string> Status(const std::string& ingress, const std::string& type) {
  codec::Value service = ServiceWith("'type':'" + type + "'");
  codec::Value old = service;
  SetAt(old, {"status", "loadBalancer", "ingress"}, Json("[{'ip':'010.9.9.9'}]"));
  SetAt(service, {"status", "loadBalancer", "ingress"}, Json(ingress));
  return Lines(ValidateServiceStatusUpdate(service, old));
}

TEST(ServiceStatusValidation, Ingress) {
  const std::string path = "status.loadBalancer.ingress[0].";
  EXPECT_THAT(Status("[{'ip':'192.0.2.9','ipMode':'Proxy'},{'hostname':'lb.example.com'},{'ip':"
                     "'010.9.9.9','ipMode':'VIP'}]",
                     "LoadBalancer"),
              IsEmpty());
  EXPECT_THAT(Status("[{'hostname':'h'}]", "NodePort"),
              ElementsAre("status.loadBalancer.ingress: Forbidden: may only be used when "
                          "`spec.type` is 'LoadBalancer'"));
  EXPECT_THAT(Status("[{'ip':'bad'}]", "LoadBalancer"),
              ElementsAre(path + "ip: Invalid value: \"bad\": must be a valid IP address, (e.g. "
                                 "10.9.8.7 or 2001:db8::ffff)",
                          path + "ipMode: Required value: must be specified when `ip` is set"));
  EXPECT_THAT(Status("[{'hostname':'h','ipMode':'VIP'}]", "LoadBalancer"),
              ElementsAre(path + "ipMode: Forbidden: may not be specified when `ip` is not set"));
  EXPECT_THAT(Status("[{'ip':'192.0.2.9','ipMode':'vip'}]", "LoadBalancer"),
              ElementsAre(path + "ipMode: Unsupported value: \"vip\": supported values: \"Proxy\", "
                                 "\"VIP\""));
  EXPECT_THAT(Status("[{'hostname':'1.2.3.4'}]", "LoadBalancer"),
              ElementsAre(path + "hostname: Invalid value: \"1.2.3.4\": must be a DNS name, not an "
                                 "IP address"));
}

TEST(ServiceValidation, OfManyBadPortsTheFirstAreTold) {
  codec::Value service = ServiceWith("");
  SetAt(service, {"spec", "ports"}, codec::Array(2 * kMostFieldErrors, codec::Object()));
  const FieldErrors errors = ValidateServiceCreate(service);
  EXPECT_EQ(errors.size(), kMostFieldErrors);
  EXPECT_EQ(Lines(errors).front(), "spec.ports[0].name: Required value");
}

TEST(ServiceWarnings, Texts) {
  const std::string deprecated =
      "spec.externalIPs is deprecated and may no longer be implemented in some clusters";
  EXPECT_THAT(ServiceWarnings(ServiceWith("")), IsEmpty());
  EXPECT_THAT(
      ServiceWarnings(ServiceWith("'clusterIP':'None','loadBalancerIP':'FE80::1','externalIPs':"
                                  "['2001:DB8::1'],'sessionAffinity':'ClientIP'")),
      ElementsAre("spec.loadBalancerIP is ignored for headless services",
                  "spec.externalIPs is ignored for headless services",
                  "spec.SessionAffinity is ignored for headless services",
                  "spec.externalIPs[0]: IPv6 address \"2001:DB8::1\" should be in RFC 5952 "
                  "canonical format (\"2001:db8::1\")",
                  "spec.loadBalancerIP: IPv6 address \"FE80::1\" should be in RFC 5952 "
                  "canonical format (\"fe80::1\")"));
  EXPECT_THAT(ServiceWarnings(ServiceWith("'externalIPs':['2001:DB8::1']")),
              ElementsAre("spec.externalIPs[0]: IPv6 address \"2001:DB8::1\" should be in RFC 5952 "
                          "canonical format (\"2001:db8::1\")",
                          deprecated));
  EXPECT_THAT(ServiceWarnings(ServiceWith("'clusterIP':'FD00::1','loadBalancerIP':'010.0.0.1'")),
              ElementsAre("spec.clusterIPs[0]: IPv6 address \"FD00::1\" should be in RFC 5952 "
                          "canonical format (\"fd00::1\")",
                          "spec.loadBalancerIP: non-standard IP address \"010.0.0.1\" is invalid: "
                          "use \"10.0.0.1\""));
  EXPECT_THAT(
      ServiceWarnings(
          ServiceWith("'loadBalancerSourceRanges':['10.1.2.3/8','010.0.0.0/8','FD00::/8']")),
      ElementsAre(
          "spec.loadBalancerSourceRanges[0]: CIDR value \"10.1.2.3/8\" is ambiguous in this "
          "context (should be \"10.0.0.0/8\" or \"10.1.2.3/32\"?)",
          "spec.loadBalancerSourceRanges[1]: non-standard CIDR value \"010.0.0.0/8\" is "
          "invalid: use \"10.0.0.0/8\"",
          "spec.loadBalancerSourceRanges[2]: IPv6 CIDR value \"FD00::/8\" should be in RFC "
          "5952 canonical format (\"fd00::/8\")"));
  EXPECT_THAT(ServiceWarnings(ServiceWith("'type':'ExternalName','externalIPs':['192.0.2.1']")),
              ElementsAre("spec.externalIPs is ignored when spec.type is \"ExternalName\""));
  EXPECT_THAT(
      ServiceWarnings(ServiceWith("'externalName':'x','trafficDistribution':'PreferClose'",
                                  ",'annotations':{'service.kubernetes.io/topology-aware-hints':"
                                  "'Auto'}")),
      ElementsAre("annotation service.kubernetes.io/topology-aware-hints is deprecated, "
                  "please use service.kubernetes.io/topology-mode instead",
                  "spec.externalName is ignored when spec.type is not \"ExternalName\"",
                  "spec.trafficDistribution: \"PreferClose\" is deprecated; use "
                  "\"PreferSameZone\""));
  EXPECT_THAT(ServiceStatusWarnings(
                  Json("{'status':{'loadBalancer':{'ingress':[{'ip':'2001:DB8::1'},{}]}}}")),
              ElementsAre("status.loadBalancer.ingress[0]: IPv6 address \"2001:DB8::1\" should be "
                          "in RFC 5952 canonical format (\"2001:db8::1\")"));
}

}  // namespace
}  // namespace berth::rules
