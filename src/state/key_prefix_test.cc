#include "state/key_prefix.h"

#include <gtest/gtest.h>

#include <string>

namespace berth::state {
namespace {

TEST(KeyPrefixTest, EqualTextsAreTheSame) {
  const KeyPrefix services("/registry/services/specs/");
  const KeyPrefix leases("/registry/leases/");
  EXPECT_EQ(services, KeyPrefix(std::string("/registry/services/") + "specs/"));
  EXPECT_NE(services, leases);
  EXPECT_EQ(services.Text(), "/registry/services/specs/");
  EXPECT_EQ(leases.Text(), "/registry/leases/");
  EXPECT_EQ(services.Text().data(), KeyPrefix("/registry/services/specs/").Text().data());
}

TEST(KeyPrefixTest, NoneIsNotTheEmptyOne) {
  EXPECT_EQ(KeyPrefix().Text(), "");
  EXPECT_EQ(KeyPrefix("").Text(), "");
  EXPECT_NE(KeyPrefix(), KeyPrefix(""));
}

}  // namespace
}  // namespace berth::state
