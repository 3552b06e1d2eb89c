#include "rules/range_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "rules/testing/rules_kit.h"

namespace berth::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(RangeSpec, CidrsThatServe) {
  for (const char* text : {"10.96.0.0/16", "10.0.0.0/30", "128.0.0.0/1", "2001:db8::/64",
                           "2001:db8::/127", "::/0", "fd00::/8", "::/95", "::fffe:0:0/95"}) {
    EXPECT_THAT(IpRangeProblems(text), IsEmpty()) << text;
  }
}

TEST(RangeSpec, CidrsInOtherFormsThanTheCanonicalOne) {
  EXPECT_THAT(IpRangeProblems("10.0.0.1/24"),
              ElementsAre("must not have bits set beyond the prefix length; the CIDR that has this "
                          "address is \"10.0.0.0/24\""));
  EXPECT_THAT(IpRangeProblems("2001:DB8::1/64"), ElementsAre(HasSubstr("\"2001:db8::/64\"")));
  EXPECT_THAT(IpRangeProblems("2001:DB8::/64"),
              ElementsAre("must be in canonical form (\"2001:db8::/64\")"));
  EXPECT_THAT(IpRangeProblems("::ffff:10.0.0.0/120"),
              ElementsAre("must not have an IPv4-mapped IPv6 address"));
  EXPECT_THAT(IpRangeProblems("::ffff:0:0/96"),
              ElementsAre("must not have an IPv4-mapped IPv6 address"));
  EXPECT_THAT(IpRangeProblems("010.0.0.0/24"),
              ElementsAre("must not have leading 0s in IP or prefix length"));
  for (const char* text :
       {"10.0.0.0", "10.0.0.0/33", "10.0.0.0-10.0.0.9", "x", " 10.0.0.0/24", "2001:db8::/129"}) {
    EXPECT_THAT(IpRangeProblems(text),
                ElementsAre("must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"))
        << text;
  }
}

TEST(RangeSpec, CidrsThatCanServeNothingSayWhy) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"10.0.0.0/31",
       "a /31 has no address to give out: its two are the network and the broadcast "
       "address"},
      {"10.0.0.0/32", "a /32 has no address to give out: its only one is the network address"},
      {"0.0.0.0/0",
       "0.0.0.0/0 is every IPv4 address there is; name the part of them that is for "
       "Services"},
      {"2001:db8::/128", "a /128 has no address to give out: its only one is the network address"},
      {"::/96",
       "no address of ::/96 is given out: their decimal names are those of IPv4 "
       "addresses"},
      {"::1:0/112",
       "no address of ::/96 is given out: their decimal names are those of IPv4 "
       "addresses"}};
  for (const auto& [text, why] : cases) {
    EXPECT_THAT(IpRangeProblems(text), ElementsAre(why)) << text;
  }
}

TEST(RangeSpec, Ports) {
  for (const char* text : {"30000-32767", "443", "80-80", "1-65535", "65535"}) {
    EXPECT_THAT(NodePortRangeProblems(text), IsEmpty()) << text;
  }
  EXPECT_EQ(ReadPorts("30000-32767"), ip::PortRange(30000, 32767));
  EXPECT_EQ(ReadPorts("443"), ip::PortRange(443, 443));
  EXPECT_EQ(ReadPorts("0-9"), ip::PortRange(0, 9)) << "an older store may have it";
  EXPECT_EQ(ReadPorts("9-0"), std::nullopt);

  EXPECT_THAT(
      NodePortRangeProblems("200-100"),
      ElementsAre("must not end before it begins; from the smaller to the larger port it is "
                  "\"100-200\""));
  for (const char* text : {"0-100", "0"}) {
    EXPECT_THAT(
        NodePortRangeProblems(text),
        ElementsAre("must not have port 0, which means \"no port\" in a Service; the first one is "
                    "1"))
        << text;
  }
  for (const char* text : {"30000-65536", "70000", "99999999999999999999", "65536-1"}) {
    EXPECT_THAT(NodePortRangeProblems(text),
                ElementsAre("must not have a port above 65535, which is the last one there is"))
        << text;
  }
  EXPECT_THAT(NodePortRangeProblems("0080-90"), ElementsAre("must not have leading 0s"));
  for (const char* text : {"x", "-", "1-", "-1", "1-2-3", "30000+100", " 443", "http", "1.5"}) {
    EXPECT_THAT(NodePortRangeProblems(text),
                ElementsAre("must be a port or a range of ports, (e.g. 443 or 30000-32767)"))
        << text;
  }
}

TEST(RangeSpec, Excluded) {
  EXPECT_THAT(ExcludedAddressProblems("10.0.0.1", ip::Family::kV4), IsEmpty());
  EXPECT_THAT(ExcludedAddressProblems("10.0.0.0/31", ip::Family::kV4), IsEmpty())
      << "what is left out need not be a range that serves";
  EXPECT_THAT(ExcludedAddressProblems("2001:db8::/64", std::nullopt), IsEmpty())
      << "if the range cannot be read, its family is not known";
  EXPECT_THAT(ExcludedAddressProblems("2001:db8::1", ip::Family::kV4),
              ElementsAre("must be of the IP family of spec.range, which is IPv4"));
  EXPECT_THAT(ExcludedAddressProblems("10.0.0.0/8", ip::Family::kV6),
              ElementsAre("must be of the IP family of spec.range, which is IPv6"));
  EXPECT_THAT(ExcludedAddressProblems("10.0.0.1/24", ip::Family::kV4),
              ElementsAre(HasSubstr("\"10.0.0.0/24\"")));
  EXPECT_THAT(ExcludedAddressProblems("10.0.0", ip::Family::kV4), testing::SizeIs(1));
  EXPECT_THAT(ExcludedAddressProblems("", ip::Family::kV4), testing::SizeIs(1));
  EXPECT_THAT(ExcludedPortProblems("30100"), IsEmpty());
  EXPECT_THAT(ExcludedPortProblems("30200-30299"), IsEmpty());
  EXPECT_THAT(ExcludedPortProblems("30299-30200"), testing::SizeIs(1));

  const auto one = ReadExcludedAddresses("10.0.0.7", ip::Family::kV4);
  ASSERT_TRUE(one);
  EXPECT_EQ(one->first, one->last);
  const auto block = ReadExcludedAddresses("2001:db8::/120", ip::Family::kV6);
  ASSERT_TRUE(block);
  EXPECT_EQ(block->last - block->first, base::U128{255});
  EXPECT_FALSE(ReadExcludedAddresses("2001:db8::/120", ip::Family::kV4));
  EXPECT_FALSE(ReadExcludedAddresses("10.0.0.7", ip::Family::kV6));
  EXPECT_FALSE(ReadExcludedAddresses("10.0.0.7/24", ip::Family::kV4));
}

TEST(RangeSpec, StatusIsNotTheClientsAndGenerationCountsTheSpec) {
  codec::Value made =
      Json("{'metadata':{'name':'a','generation':7},'spec':{'range':'80'},'status':{'free':3}}");
  PrepareRangeCreate(made);
  EXPECT_EQ(made, Json("{'metadata':{'name':'a','generation':1},'spec':{'range':'80'}}"));

  const codec::Value old =
      Json("{'metadata':{'name':'a','generation':4},'spec':{'range':'80'},'status':{'free':1}}");
  codec::Value labelled = Json(
      "{'metadata':{'name':'a','generation':4,'labels':{'b':'c'}},'spec':{'range':'80'},"
      "'status':{'free':9}}");
  PrepareRangeUpdate(labelled, old);
  EXPECT_EQ(labelled, Json("{'metadata':{'name':'a','generation':4,'labels':{'b':'c'}},"
                           "'spec':{'range':'80'},'status':{'free':1}}"));
  codec::Value changed = Json("{'metadata':{'name':'a','generation':4},'spec':{'range':'80-81'}}");
  PrepareRangeUpdate(changed, old);
  EXPECT_EQ(changed, Json("{'metadata':{'name':'a','generation':5},'spec':{'range':'80-81'},"
                          "'status':{'free':1}}"));
}

TEST(RangeSpec, ThroughStatusNothingElseChanges) {
  const codec::Value old =
      Json("{'metadata':{'name':'a','generation':4,'labels':{'b':'c'}},'spec':{'range':'80'}}");
  codec::Value next = Json(
      "{'metadata':{'name':'a','generation':9,'finalizers':['d.io/e'],"
      "'managedFields':[{'manager':'m'}]},'spec':{'range':'1-2'},'status':{'free':3}}");
  PrepareRangeStatusUpdate(next, old);
  EXPECT_EQ(next, Json("{'metadata':{'name':'a','generation':4,'labels':{'b':'c'},"
                       "'managedFields':[{'manager':'m'}]},'spec':{'range':'80'},"
                       "'status':{'free':3}}"));
}

}  // namespace
}  // namespace berth::rules
