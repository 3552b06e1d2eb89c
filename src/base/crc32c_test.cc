#include "base/crc32c.h"

#include <gtest/gtest.h>

#include <numeric>
#include <string>

namespace berth::base {
namespace {

TEST(Crc32c, KnownValues) {
  // The values are from RFC 3720, appendix B.4, and the common check value.
  EXPECT_EQ(Crc32c(""), 0U);
  EXPECT_EQ(Crc32c("123456789"), 0xe3069283U);
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8a9136aaU);
  EXPECT_EQ(Crc32c(std::string(32, '\xff')), 0x62a8ab43U);
  std::string rising(32, '\0');
  std::iota(rising.begin(), rising.end(), '\0');
  EXPECT_EQ(Crc32c(rising), 0x46dd794eU);
  for (size_t cut = 0; cut <= rising.size(); ++cut) {
    const std::string_view all = rising;
    EXPECT_EQ(Crc32c(all.substr(cut), Crc32c(all.substr(0, cut))), 0x46dd794eU);
  }
}

}  // namespace
}  // namespace berth::base
