#include "store/digest.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace berth::store {
namespace {

using namespace std::chrono_literals;

TEST(Sha256Test, IsSha256) {
  // The examples of FIPS 180-4.
  Sha256 hash;
  EXPECT_EQ(HexText(hash.Sum()),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  hash.Add("abc");
  EXPECT_EQ(HexText(hash.Sum()),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  hash.Add("dbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq");
  Sha256 other;
  other.Add("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq");
  EXPECT_EQ(hash.Sum(), other.Sum());
  EXPECT_EQ(HexText(hash.Sum()),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST(KindOfKeyTest, NamesTheResource) {
  EXPECT_EQ(KindOfKey("/registry/services/specs/shop/web"), "services");
  EXPECT_EQ(KindOfKey("/registry/services/endpoints/shop/web"), "endpoints");
  EXPECT_EQ(KindOfKey("/registry/ipaddresses/10.96.0.1"), "ipaddresses");
  EXPECT_EQ(KindOfKey("/registry/namespaces/shop"), "namespaces");
  EXPECT_EQ(KindOfKey("/registry/ranges/serviceips"), "ranges");
  EXPECT_EQ(KindOfKey("/registry/allocation.berth.io/ipranges/a"), "ipranges.allocation.berth.io");
  EXPECT_EQ(KindOfKey("/registry/berth.io/fence/ipv4"), "berth.io");
  EXPECT_EQ(KindOfKey("/registry/odd"), "/registry/odd");
  EXPECT_EQ(KindOfKey("odd"), "odd");
}

Sha256Sum ChecksumOf(const std::vector<Entry>& entries) {
  StateSummary summary;
  for (const Entry& entry : entries) summary.Add(entry);
  return summary.Checksum();
}

TEST(StateSummaryTest, ChecksumTellsStatesApart) {
  const Sha256Sum sum = ChecksumOf({{.key = "a", .value = "bc"}, {.key = "d", .value = "e"}});
  EXPECT_NE(sum, ChecksumOf({{.key = "ab", .value = "c"}, {.key = "d", .value = "e"}}));
  EXPECT_NE(sum, ChecksumOf({{.key = "a", .value = "bcde"}}));
  EXPECT_NE(sum, ChecksumOf({{.key = "a", .value = "bc"}}));
  EXPECT_NE(sum, ChecksumOf({{.key = "a", .value = "bc"}, {.key = "d", .value = ""}}));
}

TEST(StateSummaryTest, RevisionsAndKeysThatExpireDoNotCount) {
  const Sha256Sum sum = ChecksumOf({{.key = "a", .value = "b", .revision = {1}}});
  EXPECT_EQ(sum, ChecksumOf({{.key = "a", .value = "b", .revision = {2}}}));
  EXPECT_EQ(sum, ChecksumOf({{.key = "a", .value = "b"}, {.key = "c", .value = "d", .ttl = 5s}}));
}

TEST(StateSummaryTest, Counts) {
  StateSummary summary;
  summary.Add({.key = "/registry/services/specs/a/b", .value = "123"});
  summary.Add({.key = "/registry/services/specs/a/c", .value = "4", .ttl = 5s});
  summary.Add({.key = "/registry/namespaces/a", .value = ""});
  EXPECT_EQ(summary.keys(), 3);
  EXPECT_EQ(summary.expiring(), 1);
  EXPECT_EQ(summary.bytes(), 28 + 3 + 28 + 1 + 22);
  EXPECT_EQ(summary.kinds().at("services").keys, 2);
  EXPECT_EQ(summary.kinds().at("services").bytes, 60);
  EXPECT_EQ(summary.kinds().at("namespaces").keys, 1);
}

}  // namespace
}  // namespace berth::store
