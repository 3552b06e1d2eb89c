#include "berth/serve/node_metrics.h"

#include <gtest/gtest.h>

#include "allocation/ledger/ledger_view.h"

namespace berth::cli {
namespace {

using allocation::PoolId;

TEST(FillOf, HasASeriesForEachCidrAndOneForAllPorts) {
  const obs::AllocatorFill fill =
      FillOf({{.pool = PoolId::kIpv4, .text = "10.0.0.0/24", .allocated = 44, .available = 215},
              {.pool = PoolId::kPorts, .text = "30000-32767", .allocated = 3, .available = 1000},
              {.pool = PoolId::kPorts, .text = "80", .allocated = 1, .available = 0}});
  ASSERT_EQ(fill.cidrs.size(), 1U);
  EXPECT_EQ(fill.cidrs[0].cidr, "10.0.0.0/24");
  EXPECT_EQ(fill.cidrs[0].allocated, 44);
  EXPECT_EQ(fill.cidrs[0].available, 215);
  EXPECT_EQ(fill.allocated_ports, 4);
  EXPECT_EQ(fill.available_ports, 1000);
}

TEST(FillOf, ACidrIsThereOnce) {
  const obs::AllocatorFill fill =
      FillOf({{.pool = PoolId::kIpv4, .text = "10.0.0.0/24", .allocated = 4, .available = 0},
              {.pool = PoolId::kIpv6, .text = "fd00::/64", .available = alloc::U128{1} << 64},
              {.pool = PoolId::kIpv4, .text = "10.0.0.0/24", .allocated = 0, .available = 250}});
  ASSERT_EQ(fill.cidrs.size(), 2U);
  EXPECT_EQ(fill.cidrs[0].allocated, 4);
  EXPECT_EQ(fill.cidrs[0].available, 250);
  EXPECT_EQ(fill.cidrs[1].available, 0x1p64) << "more than an integer can count";
}

}  // namespace
}  // namespace berth::cli
