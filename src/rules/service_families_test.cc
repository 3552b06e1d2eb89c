#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <sstream>
#include <string>
#include <vector>

#include "codec/read.h"
#include "rules/service_defaults.h"
#include "rules/service_validation.h"
#include "rules/service_vectors.h"
#include "rules/testing.h"

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

/// A Service of the short forms of service_vectors.h.
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

/// Gives every family that still lacks one an address, as allocation would.
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

/// Only what concerns addresses: the rest of these Services is not complete.
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
  EXPECT_TRUE(KeepsPreferDualStack(service, old));
  EXPECT_THAT(Lines(InitServiceFamilies(service, &old, Families("6"))), IsEmpty());
  EXPECT_EQ(service, old) << "though the cluster has changed";
  SetAt(service, {"spec", "type"}, "NodePort");
  EXPECT_FALSE(KeepsPreferDualStack(service, old));
  EXPECT_THAT(Lines(InitServiceFamilies(service, &old, Families("6"))), testing::SizeIs(1));
}

TEST(ServiceFamilies, ExternalNameHasNone) {
  codec::Value service = Json("{'spec':{'type':'ExternalName'}}");
  EXPECT_THAT(Lines(InitServiceFamilies(service, nullptr, Families("46"))), IsEmpty());
  EXPECT_EQ(service, Json("{'spec':{'type':'ExternalName'}}"));
}

}  // namespace
}  // namespace berth::rules
