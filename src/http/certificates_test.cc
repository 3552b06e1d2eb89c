#include "http/certificates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace berth::http {
namespace {

using std::chrono::hours;
using testing::ElementsAre;
using testing::HasSubstr;

const base::WallTime kNow{std::chrono::seconds(1'800'000'000)};

TEST(Certificates, SayWhatWasPutIn) {
  const auto ca = MakeAuthority("ca", {.from = kNow, .length = hours(100)});
  ASSERT_TRUE(ca.has_value()) << ca.error().message;
  const auto ca_info = ReadCertificate(ca->certificate_pem);
  ASSERT_TRUE(ca_info.has_value());
  EXPECT_EQ(ca_info->common_name, "ca");
  EXPECT_TRUE(ca_info->is_authority);
  EXPECT_EQ(ca_info->not_before, kNow - std::chrono::minutes(5));
  EXPECT_EQ(ca_info->not_after, kNow + hours(100));

  const auto serving = MakeServing(
      *ca, {"server", {"localhost", "kubernetes.default"}, {"10.96.0.1", "::1"}}, {.from = kNow});
  ASSERT_TRUE(serving.has_value());
  const auto info = ReadCertificate(serving->certificate_pem);
  EXPECT_THAT(info->dns, ElementsAre("localhost", "kubernetes.default"));
  EXPECT_THAT(info->ips, ElementsAre("10.96.0.1", "::1"));
  EXPECT_FALSE(info->is_authority);

  const auto client = MakeClient(*ca, "jürgen", {"a", "b"}, {.from = kNow});
  const auto who = ReadCertificate(client->certificate_pem);
  EXPECT_EQ(who->common_name, "jürgen");
  EXPECT_THAT(who->organizations, ElementsAre("a", "b"));
}

TEST(Certificates, ExpireWithAMargin) {
  const auto ca = MakeAuthority("ca", {.from = kNow, .length = hours(100)});
  const auto valid = [&](base::WallTime at, hours margin) {
    return StillValid(ca->certificate_pem, at, margin).value();
  };
  EXPECT_TRUE(valid(kNow, hours(0)));
  EXPECT_TRUE(valid(kNow, hours(99)));
  EXPECT_FALSE(valid(kNow, hours(100)));
  EXPECT_FALSE(valid(kNow + hours(100), hours(0)));
  EXPECT_FALSE(valid(kNow - hours(1), hours(0)));
}

TEST(Certificates, RefuseWhatCannotBe) {
  const auto ca = MakeAuthority("ca", {.from = kNow});
  const auto bad_ip = MakeServing(*ca, {"s", {}, {"10.0.0"}}, {.from = kNow});
  ASSERT_FALSE(bad_ip.has_value());
  EXPECT_EQ(bad_ip.error().message, "10.0.0 is not an IP address");
  const auto long_name = MakeClient(*ca, std::string(65, 'x'), {}, {.from = kNow});
  ASSERT_FALSE(long_name.has_value());
  EXPECT_THAT(long_name.error().message, HasSubstr("64 characters"));
  const auto other = MakeAuthority("other", {.from = kNow});
  const KeyPair mixed{.certificate_pem = ca->certificate_pem, .key_pem = other->key_pem};
  EXPECT_FALSE(MakeClient(mixed, "x", {}, {.from = kNow}).has_value());
  EXPECT_FALSE(ReadCertificate("").has_value());
  EXPECT_FALSE(ReadCertificate(ca->key_pem).has_value());
  EXPECT_FALSE(ReadCertificate(ca->certificate_pem.substr(0, 200)).has_value());
}

}  // namespace
}  // namespace berth::http
