#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "codec/read.h"
#include "rules/service_defaults.h"
#include "rules/service_validation.h"
#include "rules/service_vectors.h"
#include "rules/testing/rules_kit.h"

namespace berth::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<ip::Family> Families(const std::string& digits) {
  std::vector<ip::Family> families;
  for (const char digit : digits) {
    families.push_back(digit == '4' ? ip::Family::kV4 : ip::Family::kV6);
  }
  return families;
}

std::string Digits(const codec::Value& service) {
  std::string digits;
  for (const codec::Value& family : ArrayAt(service, "spec", "ipFamilies")) {
    digits += Text(&family) == "IPv4" ? '4' : '6';
  }
  return digits;
}

/// Parses a Service from the short forms of service_vectors.h.
codec::Value Given(const std::string& ips, const std::string& policy, const std::string& families) {
  codec::Value service = Json("{'spec':{'type':'ClusterIP'}}");
  codec::Array list;
  for (const char ip : ips) {
    if (ip == '4') list.emplace_back("10.0.0.1");
    if (ip == '6') list.emplace_back("2000::1");
    if (ip == 'N' || ip == 'H') list.emplace_back("None");
  }
  if (!list.empty()) {
    SetAt(service, {"spec", "clusterIP"}, list.front());
    SetAt(service, {"spec", "clusterIPs"}, list);
  }
  if (ips != "H") SetAt(service, {"spec", "selector", "a"}, "b");
  if (policy == "S") SetAt(service, {"spec", "ipFamilyPolicy"}, "SingleStack");
  if (policy == "P") SetAt(service, {"spec", "ipFamilyPolicy"}, "PreferDualStack");
  if (policy == "R") SetAt(service, {"spec", "ipFamilyPolicy"}, "RequireDualStack");
  codec::Array wanted;
  for (const char family : families) {
    if (family != '-') wanted.emplace_back(family == '4' ? "IPv4" : "IPv6");
  }
  if (!wanted.empty()) SetAt(service, {"spec", "ipFamilies"}, wanted);
  return service;
}

/// Assigns an address to every family that still lacks one, as allocation would.
void Allocate(codec::Value& service) {
  codec::Array ips = ArrayAt(service, "spec", "clusterIPs");
  const codec::Array& families = ArrayAt(service, "spec", "ipFamilies");
  if (StringAt(service, "spec", "clusterIP") == "None") return;
  for (size_t i = ips.size(); i < families.size(); ++i) {
    ips.emplace_back(Text(&families[i]) == "IPv4" ? "10.0.9.9" : "2000::99");
  }
  SetAt(service, {"spec", "clusterIP"}, ips.front());
  SetAt(service, {"spec", "clusterIPs"}, ips);
}

bool Create(codec::Value& service, const std::string& cluster) {
  SyncClusterIps(service, nullptr);
  if (!InitServiceFamilies(service, nullptr, Families(cluster)).empty()) return false;
  Allocate(service);
  return ValidateClusterIps(service, nullptr).empty();
}

/// Looks only at errors about addresses, because the rest of these Services is incomplete.
bool KeepsAddresses(const codec::Value& service, const codec::Value& old) {
  for (const FieldError& error : ValidateServiceUpdate(service, old)) {
    if (error.field.starts_with("spec.clusterIP") || error.field.starts_with("spec.ipFamil")) {
      return false;
    }
  }
  return true;
}

bool Update(codec::Value& service, const codec::Value& old, const std::string& cluster) {
  CarryAllocated(service, old);
  SyncClusterIps(service, &old);
  if (!InitServiceFamilies(service, &old, Families(cluster)).empty()) return false;
  Allocate(service);
  return KeepsAddresses(service, old);
}

TEST(ServiceFamilies, CreateVectors) {
  std::istringstream lines{std::string(kCreateVectors)};
  std::string cluster;
  std::string ips;
  std::string policy;
  int count = 0;
  while (lines >> cluster >> ips >> policy) {
    for (const char* families : {"-", "4", "6", "46", "64"}) {
      std::string expected;
      lines >> expected;
      codec::Value service = Given(ips, policy, families);
      std::string got = "E";
      if (Create(service, cluster)) {
        got = StringAt(service, "spec", "ipFamilyPolicy").substr(0, 1);
        got += Digits(service);
      }
      EXPECT_EQ(got, expected) << cluster << " " << ips << " " << policy << " " << families;
      ++count;
    }
  }
  EXPECT_EQ(count, 520);
}

TEST(ServiceFamilies, UpdateVectors) {
  std::istringstream lines{std::string(kUpdateVectors)};
  std::string cluster;
  std::string old_policy;
  std::string old_ips;
  int count = 0;
  while (lines >> cluster >> old_policy >> old_ips) {
    std::string policy;
    std::string families;
    std::string ips;
    std::string expected;
    lines >> policy >> families >> ips >> expected;
    codec::Value old = Given(old_ips, old_policy, "-");
    ASSERT_TRUE(Create(old, cluster)) << cluster << " " << old_policy << " " << old_ips;
    codec::Value service = Given(ips, policy, families);
    const std::string got =
        Update(service, old, cluster) ? std::to_string(Digits(service).size()) : "E";
    EXPECT_EQ(got, expected) << cluster << " " << old_policy << " " << old_ips << " -> " << policy
                             << " " << families << " " << ips;
    ++count;
  }
  EXPECT_EQ(count, 180);
}

std::vector<std::string> CreateErrors(const std::string& ips, const std::string& policy,
                                      const std::string& families, const std::string& cluster) {
  codec::Value service = Given(ips, policy, families);
  return Lines(InitServiceFamilies(service, nullptr, Families(cluster)));
}

TEST(ServiceFamilies, Messages) {
  const std::string policy = "spec.ipFamilyPolicy: Invalid value: ";
  const std::string two = "must be 'RequireDualStack' or 'PreferDualStack' when multiple ";
  EXPECT_THAT(CreateErrors("46", "S", "46", "46"),
              ElementsAre(policy + "\"SingleStack\": " + two + "cluster IPs are specified",
                          policy + "\"SingleStack\": " + two + "IP families are specified"));
  EXPECT_THAT(CreateErrors("46", "-", "-", "4"),
              ElementsAre(policy + "\"SingleStack\": " + two + "cluster IPs are specified",
                          "spec.clusterIPs[1]: Invalid value: [\"10.0.0.1\",\"2000::1\"]: IPv6 is "
                          "not configured on this cluster"));
  EXPECT_THAT(CreateErrors("-", "R", "46", "4"),
              ElementsAre(policy + "\"RequireDualStack\": this cluster is not configured for "
                                   "dual-stack services",
                          "spec.ipFamilies[1]: Invalid value: \"IPv6\": not configured on this "
                          "cluster"));
  EXPECT_THAT(CreateErrors("H", "-", "6", "4"), IsEmpty()) << "nothing is allocated for it";
}

TEST(ServiceFamilies, ReleasingTheSecondNeedsSingleStack) {
  codec::Value old = Given("46", "R", "-");
  ASSERT_TRUE(Create(old, "46"));
  codec::Value service = Given("4", "R", "4");
  EXPECT_THAT(Lines(InitServiceFamilies(service, &old, Families("46"))),
              ElementsAre("spec.ipFamilyPolicy: Invalid value: \"RequireDualStack\": must be "
                          "'SingleStack' to release the secondary cluster IP",
                          "spec.ipFamilyPolicy: Invalid value: \"RequireDualStack\": must be "
                          "'SingleStack' to release the secondary IP family"));
}

TEST(ServiceFamilies, PreferDualStackStaysWhatItIs) {
  codec::Value old = Given("-", "P", "-");
  ASSERT_TRUE(Create(old, "4"));
  codec::Value service = old;
  EXPECT_THAT(Lines(InitServiceFamilies(service, &old, Families("6"))), IsEmpty());
  EXPECT_EQ(service, old) << "though the cluster has changed";
  SetAt(service, {"spec", "type"}, "NodePort");
  EXPECT_THAT(Lines(InitServiceFamilies(service, &old, Families("46"))), IsEmpty());
  EXPECT_EQ(Digits(service), "46") << "but for a change of type";
}

/// Returns the outcome of an update on a cluster that has lost a family: the resulting families and
/// policy, or "E" if it is refused. `gate` is IPv6DualStack.
std::string Shrunk(const codec::Value& old, codec::Value service, const std::string& cluster,
                   bool gate = true) {
  CarryAllocated(service, old);
  SyncClusterIps(service, &old);
  if (!InitServiceFamilies(service, &old, Families(cluster), gate).empty()) return "E";
  if (ArrayAt(service, "spec", "clusterIPs").size() < Digits(service).size() &&
      StringAt(service, "spec", "clusterIP") != "None") {
    return "an address is missing";
  }
  if (!KeepsAddresses(service, old)) return "E";
  return std::string(StringAt(service, "spec", "ipFamilyPolicy").substr(0, 1)) + Digits(service);
}

TEST(ServiceFamilies, WhatAServiceHasItKeeps) {
  for (const auto& [cluster, gate] : {std::pair("4", true), std::pair("46", false)}) {
    for (const char* ips : {"-", "N"}) {
      for (const std::string policy : {"R", "P"}) {
        codec::Value old = Given(ips, policy, "46");
        ASSERT_TRUE(Create(old, "46"));
        codec::Value same = old;
        SetAt(same, {"metadata", "labels", "a"}, "b");
        EXPECT_EQ(Shrunk(old, same, cluster, gate), policy + "46");
        EXPECT_EQ(Shrunk(old, Given(ips, "-", "-"), cluster, gate), policy + "46");
        EXPECT_EQ(Shrunk(old, Given(ips, "R", "46"), cluster, gate), "R46");
        EXPECT_EQ(Shrunk(old, Given(ips, "S", "-"), cluster, gate), "S4");
        SetAt(same, {"spec", "ipFamilyPolicy"}, "SingleStack");
        EXPECT_EQ(Shrunk(old, same, cluster, gate), "S4");
      }
    }
    codec::Value old = Given("-", "S", "6");
    ASSERT_TRUE(Create(old, "46"));
    EXPECT_EQ(Shrunk(old, old, cluster, gate), "S6");
    EXPECT_EQ(Shrunk(old, Given("-", "-", "-"), cluster, gate), "S6");
    EXPECT_EQ(Shrunk(old, Given("-", "P", "-"), cluster, gate), "P6");
    EXPECT_EQ(Shrunk(old, Given("-", "P", "64"), cluster, gate), "E") << "one more is asked for";
    EXPECT_EQ(Shrunk(old, Given("-", "R", "-"), cluster, gate), "E");
  }
  codec::Value headless = Given("H", "-", "-");
  ASSERT_TRUE(Create(headless, "4"));
  codec::Value service = headless;
  SetAt(service, {"spec", "selector", "a"}, "b");
  EXPECT_EQ(Shrunk(headless, service, "4"), "E") << "these were never the cluster's";
}

TEST(ServiceFamilies, OneStackWithoutTheGate) {
  const auto created = [](const std::string& policy, const std::string& families,
                          const std::string& cluster) {
    codec::Value service = Given("-", policy, families);
    const FieldErrors errors = InitServiceFamilies(service, nullptr, Families(cluster), false);
    return errors.empty() ? Digits(service) : errors.begin()->ToString();
  };
  EXPECT_EQ(created("-", "-", "46"), "4");
  EXPECT_EQ(created("-", "-", "64"), "6");
  EXPECT_EQ(created("P", "-", "46"), "4");
  EXPECT_EQ(created("R", "-", "46"),
            "spec.ipFamilyPolicy: Invalid value: \"RequireDualStack\": this cluster is not "
            "configured for dual-stack services");
  EXPECT_EQ(created("S", "6", "46"),
            "spec.ipFamilies[0]: Invalid value: \"IPv6\": not configured on this cluster");
}

TEST(ServiceFamilies, OneThatIsBeingDeletedGetsNothingNew) {
  codec::Value old = Given("-", "P", "-");
  ASSERT_TRUE(Create(old, "4"));
  SetAt(old, {"metadata", "deletionTimestamp"}, "2026-01-01T00:00:00Z");
  EXPECT_EQ(Shrunk(old, Given("-", "P", "-"), "46"), "P4") << "though there is room for two";
  EXPECT_EQ(Shrunk(old, Given("-", "-", "-"), "6"), "P4");
  EXPECT_EQ(Shrunk(old, Given("-", "S", "-"), "46"), "S4");
  codec::Value dual = Given("-", "R", "-");
  ASSERT_TRUE(Create(dual, "46"));
  SetAt(dual, {"metadata", "deletionTimestamp"}, "2026-01-01T00:00:00Z");
  EXPECT_EQ(Shrunk(dual, Given("-", "S", "-"), "4"), "S4");
  codec::Value headless = Given("N", "S", "6");
  ASSERT_TRUE(Create(headless, "46"));
  EXPECT_EQ(Shrunk(headless, Given("N", "-", "-"), "46"), "S4");
  SetAt(headless, {"metadata", "deletionTimestamp"}, "2026-01-01T00:00:00Z");
  EXPECT_EQ(Shrunk(headless, Given("N", "-", "-"), "46"), "S6");
}

TEST(ServiceFamilies, ExternalNameHasNone) {
  codec::Value service = Json("{'spec':{'type':'ExternalName'}}");
  EXPECT_THAT(Lines(InitServiceFamilies(service, nullptr, Families("46"))), IsEmpty());
  EXPECT_EQ(service, Json("{'spec':{'type':'ExternalName'}}"));
}

}  // namespace
}  // namespace berth::rules
