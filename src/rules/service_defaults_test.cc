#include "rules/service_defaults.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "rules/testing/rules_kit.h"

namespace berth::rules {
namespace {

constexpr std::array kDual = {ip::Family::kV4, ip::Family::kV6};
constexpr std::array kDual6 = {ip::Family::kV6, ip::Family::kV4};

codec::Value Spec(const std::string& members) { return Json("{'spec':{" + members + "}}"); }

codec::Value Defaulted(const std::string& members) {
  codec::Value service = Spec(members);
  DefaultService(service);
  return service;
}

TEST(ServiceDefaults, OfAnEmptySpec) {
  EXPECT_EQ(Defaulted(""), Spec("'sessionAffinity':'None','type':'ClusterIP',"
                                "'internalTrafficPolicy':'Cluster'"));
}

TEST(ServiceDefaults, Affinity) {
  EXPECT_EQ(Defaulted("'sessionAffinityConfig':{'clientIP':{'timeoutSeconds':5}}"), Defaulted(""));
  const codec::Value filled = Defaulted(
      "'sessionAffinity':'ClientIP','sessionAffinityConfig':{'clientIP':{'timeoutSeconds':10800}}");
  for (const char* config :
       {"", ",'sessionAffinityConfig':{}", ",'sessionAffinityConfig':{'clientIP':{}}"}) {
    EXPECT_EQ(Defaulted(std::string("'sessionAffinity':'ClientIP'") + config), filled) << config;
  }
  const codec::Value own = Defaulted(
      "'sessionAffinity':'ClientIP','sessionAffinityConfig':{'clientIP':{'timeoutSeconds':0}}");
  EXPECT_EQ(*own.Find("spec")->Find("sessionAffinityConfig"),
            Json("{'clientIP':{'timeoutSeconds':0}}"))
      << "for validation to refuse";
}

TEST(ServiceDefaults, Ports) {
  EXPECT_EQ(*Defaulted("'ports':[{'port':80},{'port':53,'protocol':'UDP','targetPort':'dns'},"
                       "{'port':1,'targetPort':2},{'port':7,'targetPort':''},{}]")
                 .Find("spec")
                 ->Find("ports"),
            Json("[{'port':80,'protocol':'TCP','targetPort':80},"
                 "{'port':53,'protocol':'UDP','targetPort':'dns'},"
                 "{'port':1,'protocol':'TCP','targetPort':2},"
                 "{'port':7,'protocol':'TCP','targetPort':7},{'protocol':'TCP'}]"));
}

TEST(ServiceDefaults, TrafficPolicies) {
  const auto field = [](const std::string& members, const char* name) {
    const codec::Value service = Defaulted(members);
    const codec::Value* value = service.Find("spec")->Find(name);
    return value == nullptr ? codec::Value() : *value;
  };
  EXPECT_EQ(field("'type':'NodePort'", "externalTrafficPolicy"), "Cluster");
  EXPECT_EQ(field("'type':'LoadBalancer','externalTrafficPolicy':'Local'", "externalTrafficPolicy"),
            "Local");
  EXPECT_EQ(field("'externalIPs':['192.0.2.1']", "externalTrafficPolicy"), "Cluster");
  EXPECT_EQ(field("", "externalTrafficPolicy"), nullptr);
  EXPECT_EQ(field("'type':'ExternalName'", "internalTrafficPolicy"), nullptr);
  EXPECT_EQ(field("'clusterIP':'None'", "internalTrafficPolicy"), "Cluster");
  EXPECT_EQ(field("'internalTrafficPolicy':''", "internalTrafficPolicy"), "");
  EXPECT_EQ(field("'type':'LoadBalancer'", "allocateLoadBalancerNodePorts"), true);
  EXPECT_EQ(field("'type':'LoadBalancer','allocateLoadBalancerNodePorts':false",
                  "allocateLoadBalancerNodePorts"),
            false);
  EXPECT_EQ(field("'type':'NodePort'", "allocateLoadBalancerNodePorts"), nullptr);
}

TEST(ServiceDefaults, IngressOfALoadBalancer) {
  const char* status =
      "'status':{'loadBalancer':{'ingress':[{'ip':'192.0.2.9'},{'hostname':'h'},"
      "{'ip':'192.0.2.8','ipMode':'Proxy'}]}}";
  codec::Value service = Json(std::string("{'spec':{'type':'LoadBalancer'},") + status + "}");
  DefaultService(service);
  EXPECT_EQ(*service.Find("status"),
            Json("{'loadBalancer':{'ingress':[{'ip':'192.0.2.9','ipMode':'VIP'},{'hostname':'h'},"
                 "{'ip':'192.0.2.8','ipMode':'Proxy'}]}}"));
  PrepareServiceCreate(service);
  EXPECT_EQ(service.Find("status"), nullptr);
}

codec::Value Decorated(const std::string& members, std::span<const ip::Family> configured) {
  codec::Value service = Spec(members);
  DecorateService(service, configured);
  return service;
}

TEST(ServiceDecoration, CompletesWhatOlderVersionsStored) {
  EXPECT_EQ(Decorated("'clusterIP':'10.0.0.1'", kDual),
            Spec("'clusterIP':'10.0.0.1','clusterIPs':['10.0.0.1'],'ipFamilies':['IPv4'],"
                 "'ipFamilyPolicy':'SingleStack'"));
  EXPECT_EQ(Decorated("'clusterIP':'fd00::1','clusterIPs':['fd00::1','10.0.0.1']", kDual),
            Spec("'clusterIP':'fd00::1','clusterIPs':['fd00::1','10.0.0.1'],"
                 "'ipFamilies':['IPv6','IPv4'],'ipFamilyPolicy':'RequireDualStack'"));
  EXPECT_EQ(Decorated("'clusterIP':'None'", kDual6),
            Spec("'clusterIP':'None','clusterIPs':['None'],'ipFamilies':['IPv6','IPv4'],"
                 "'ipFamilyPolicy':'RequireDualStack'"));
  EXPECT_EQ(Decorated("'clusterIP':'None','selector':{'a':'b'}", kDual6),
            Spec("'clusterIP':'None','selector':{'a':'b'},'clusterIPs':['None'],"
                 "'ipFamilies':['IPv6'],'ipFamilyPolicy':'SingleStack'"));
  EXPECT_EQ(Decorated("'type':'ExternalName','internalTrafficPolicy':'Local'", kDual),
            Spec("'type':'ExternalName'"));
  const std::string whole =
      "'clusterIP':'10.0.0.1','clusterIPs':['10.0.0.1'],'ipFamilies':['IPv4'],"
      "'ipFamilyPolicy':'PreferDualStack'";
  EXPECT_EQ(Decorated(whole, kDual), Spec(whole));
}

codec::Value Carried(const std::string& members, const std::string& old) {
  codec::Value service = Spec(members);
  CarryAllocated(service, Spec(old));
  return service;
}

TEST(ServiceCarry, Addresses) {
  const std::string ips = "'clusterIP':'10.0.0.1','clusterIPs':['10.0.0.1','fd00::1']";
  EXPECT_EQ(Carried("", ips), Spec(ips));
  EXPECT_EQ(Carried("'clusterIP':'10.0.0.2','clusterIPs':['10.0.0.2']", ips),
            Spec("'clusterIP':'10.0.0.2','clusterIPs':['10.0.0.2']"));
  EXPECT_EQ(Carried("'type':'ExternalName'", ips), Spec("'type':'ExternalName'"));
}

TEST(ServiceCarry, NodePortsByName) {
  const std::string lb = "'type':'LoadBalancer','allocateLoadBalancerNodePorts':true,";
  const std::string old =
      lb + "'ports':[{'name':'p','nodePort':30093},{'name':'q','nodePort':30076}]";
  const auto ports = [&](const std::string& type, const std::string& list) {
    return *Carried(type + "'ports':" + list, old).Find("spec")->Find("ports");
  };
  EXPECT_EQ(ports(lb, "[{'name':'q'},{'name':'p'},{'name':'r'}]"),
            Json("[{'name':'q','nodePort':30076},{'name':'p','nodePort':30093},{'name':'r'}]"));
  EXPECT_EQ(ports(lb, "[{'name':'p','nodePort':30076},{'name':'q'}]"),
            Json("[{'name':'p','nodePort':30076},{'name':'q'}]"))
      << "a number the client moved stays where it moved it";
  EXPECT_EQ(ports("'type':'NodePort',", "[{'name':'p'}]"), Json("[{'name':'p','nodePort':30093}]"));
  EXPECT_EQ(ports("'type':'LoadBalancer','allocateLoadBalancerNodePorts':false,", "[{'name':'p'}]"),
            Json("[{'name':'p'}]"));
  EXPECT_EQ(ports("'type':'ClusterIP',", "[{'name':'p'}]"), Json("[{'name':'p'}]"));
}

TEST(ServiceCarry, HealthCheckPort) {
  const std::string local = "'type':'LoadBalancer','externalTrafficPolicy':'Local'";
  const std::string old = local + ",'healthCheckNodePort':30118";
  EXPECT_EQ(Carried(local, old), Spec(old));
  EXPECT_EQ(Carried(local + ",'healthCheckNodePort':30111", old),
            Spec(local + ",'healthCheckNodePort':30111"));
  EXPECT_EQ(Carried("'type':'LoadBalancer'", old), Spec("'type':'LoadBalancer'"));
}

TEST(ServiceCarry, SharedNodePorts) {
  const auto ports = [](const std::string& now, const std::string& old) {
    return *Carried("'type':'NodePort','ports':" + now, "'type':'NodePort','ports':" + old)
                .Find("spec")
                ->Find("ports");
  };
  const auto port = [](const char* name, const char* number, const char* protocol) {
    return std::string("{'name':'") + name + "','port':" + number + ",'protocol':'" + protocol +
           "'";
  };
  const std::string held = ",'nodePort':30014}";
  const std::string t = port("t", "53", "TCP");
  const std::string u = port("u", "53", "UDP");
  const std::string other = port("u", "54", "UDP");
  EXPECT_EQ(ports("[" + t + "}," + u + "}]", "[" + t + held + "," + u + held + "]"),
            Json("[" + t + held + "," + u + held + "]"));
  EXPECT_EQ(ports("[" + t + "}," + other + "}]", "[" + t + held + "," + other + held + "]"),
            Json("[" + t + held + "," + other + held + "]"))
      << "as other servers allow it";
  EXPECT_EQ(ports("[" + other + "}," + t + "}]", "[" + t + held + "," + u + held + "]"),
            Json("[" + other + "}," + t + held + "]"))
      << "stays with the one that did not change";
}

TEST(ServiceGates, NodePortChoice) {
  const std::string lb = "'type':'LoadBalancer'";
  const auto choice = [&](const std::string& sent, const char* old, bool gate) {
    codec::Value service = Defaulted(lb + sent);
    const codec::Value before = Spec(old == nullptr ? "" : old);
    DropDisabledFields(service, old == nullptr ? nullptr : &before, gate);
    const codec::Value* value = service.Find("spec")->Find("allocateLoadBalancerNodePorts");
    return value == nullptr ? codec::Value() : *value;
  };
  const std::string no = ",'allocateLoadBalancerNodePorts':false";
  const char* without = "'type':'LoadBalancer'";
  const char* with = "'type':'LoadBalancer','allocateLoadBalancerNodePorts':false";
  for (const char* old : {static_cast<const char*>(nullptr), without}) {
    EXPECT_EQ(choice("", old, false), nullptr);
    EXPECT_EQ(choice(no, old, false), nullptr);
    EXPECT_EQ(choice(no, old, true), false);
    EXPECT_EQ(choice("", old, true), true);
  }
  for (const bool gate : {true, false}) {
    EXPECT_EQ(choice(no, with, gate), false);
    EXPECT_EQ(choice(",'allocateLoadBalancerNodePorts':true", with, gate), true);
    EXPECT_EQ(choice("", with, gate), true) << "left out means the default";
  }
}

TEST(ServiceSync, SingularAndPlural) {
  const auto synced = [](const std::string& members, const std::string& before) {
    codec::Value service = Spec(members);
    const codec::Value old = Spec(before);
    SyncClusterIps(service, before.empty() ? nullptr : &old);
    return service;
  };
  const std::string old = "'clusterIP':'a','clusterIPs':['a','b']";
  EXPECT_EQ(synced("'clusterIP':'a'", ""), Spec("'clusterIP':'a','clusterIPs':['a']"));
  EXPECT_EQ(synced("'clusterIPs':['a']", ""), Spec("'clusterIPs':['a']"));
  EXPECT_EQ(synced("'clusterIP':'a'", old), Spec(old));
  EXPECT_EQ(synced("'clusterIPs':['a','b']", old), Spec(""));
  EXPECT_EQ(synced("'clusterIP':'c','clusterIPs':['a','b']", old),
            Spec("'clusterIP':'c','clusterIPs':['c']"));
  EXPECT_EQ(synced("'clusterIP':'c','clusterIPs':['d']", old),
            Spec("'clusterIP':'c','clusterIPs':['d']"));
}

codec::Value Prepared(const std::string& members, const std::string& old) {
  codec::Value service = Spec(members);
  PrepareServiceUpdate(service, Spec(old));
  return service;
}

TEST(ServiceUpdate, WhatNoLongerGoesWithTheTypeIsRemoved) {
  EXPECT_EQ(
      Prepared("'type':'ExternalName','clusterIP':'a','clusterIPs':['a'],'ipFamilies':['IPv4'],"
               "'ipFamilyPolicy':'SingleStack'",
               "'type':'ClusterIP','clusterIP':'a','clusterIPs':['a'],'ipFamilies':['IPv4'],"
               "'ipFamilyPolicy':'SingleStack'"),
      Spec("'type':'ExternalName'"));
  EXPECT_EQ(
      Prepared("'type':'ClusterIP','ports':[{'nodePort':1},{'port':9}],'externalTrafficPolicy':"
               "'Local','healthCheckNodePort':5,'allocateLoadBalancerNodePorts':true,"
               "'loadBalancerClass':'c','loadBalancerSourceRanges':['x']",
               "'type':'LoadBalancer','ports':[{'nodePort':1},{'nodePort':2}],"
               "'externalTrafficPolicy':'Local','healthCheckNodePort':5,"
               "'allocateLoadBalancerNodePorts':true,'loadBalancerClass':'c'"),
      Spec("'type':'ClusterIP','ports':[{},{'port':9}],'loadBalancerSourceRanges':['x']"));
}

TEST(ServiceUpdate, WhatTheClientChangedStaysForValidation) {
  const std::string old =
      "'type':'LoadBalancer','ports':[{'nodePort':1}],'externalTrafficPolicy':"
      "'Local','healthCheckNodePort':5,'allocateLoadBalancerNodePorts':true,"
      "'clusterIP':'a','clusterIPs':['a']";
  const std::string now =
      "'type':'ExternalName','ports':[{'nodePort':2}],'externalTrafficPolicy':"
      "'Cluster','healthCheckNodePort':6,'allocateLoadBalancerNodePorts':false,"
      "'loadBalancerClass':'d','clusterIP':'b','ipFamilies':['IPv6']";
  EXPECT_EQ(Prepared(now, old), Spec(now));
}

TEST(ServiceUpdate, StatusIsKeptButForIngressWithoutALoadBalancer) {
  const codec::Value old = Json(
      "{'spec':{'type':'LoadBalancer'},'status':{'conditions':[{'type':"
      "'A'}],'loadBalancer':{'ingress':[{'ip':'x'}]}}}");
  codec::Value service = Json("{'spec':{'type':'LoadBalancer'},'status':{}}");
  PrepareServiceUpdate(service, old);
  EXPECT_EQ(service, old);
  codec::Value other = Json("{'spec':{'type':'NodePort'}}");
  PrepareServiceUpdate(other, old);
  EXPECT_EQ(*other.Find("status"), Json("{'conditions':[{'type':'A'}]}"));
  codec::Value status = Json("{'spec':{'type':'NodePort'},'status':{'x':1}}");
  PrepareServiceStatusUpdate(status, old);
  EXPECT_EQ(status, Json("{'spec':{'type':'LoadBalancer'},'status':{'x':1}}"));
}

}  // namespace
}  // namespace berth::rules
