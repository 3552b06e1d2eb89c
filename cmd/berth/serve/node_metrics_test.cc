#include "berth/serve/node_metrics.h"

#include <gtest/gtest.h>

namespace berth::cli {
namespace {

using alloc::State;
using commit::Allocations;
using commit::PoolId;

Allocations::RangeState Range(PoolId pool, std::string text) {
  Allocations::RangeState range{.pool = pool, .name = "kubernetes", .text = std::move(text)};
  range.in_static[State::kFree] = 10;
  range.in_static[State::kTaken] = 3;
  range.in_static[State::kReserved] = 1;
  range.in_dynamic[State::kFree] = 200;
  range.in_dynamic[State::kTaken] = 40;
  range.in_dynamic[State::kCooling] = 5;
  range.in_dynamic[State::kExcluded] = 7;
  return range;
}

TEST(FillOf, CountsWhatCanBeHadAndWhatCannot) {
  const obs::AllocatorFill fill =
      FillOf({Range(PoolId::kIpv4, "10.0.0.0/24"), Range(PoolId::kPorts, "30000-32767")});
  ASSERT_EQ(fill.cidrs.size(), 1U);
  EXPECT_EQ(fill.cidrs[0].cidr, "10.0.0.0/24");
  EXPECT_EQ(fill.cidrs[0].allocated, 44);
  EXPECT_EQ(fill.cidrs[0].available, 215);
  EXPECT_EQ(fill.allocated_ports, 44);
  EXPECT_EQ(fill.available_ports, 215);
}

TEST(FillOf, ACidrIsThereOnce) {
  Allocations::RangeState wide = Range(PoolId::kIpv6, "fd00::/64");
  wide.in_dynamic[State::kFree] = alloc::U128{1} << 64;
  const obs::AllocatorFill fill =
      FillOf({Range(PoolId::kIpv4, "10.0.0.0/24"), wide, Range(PoolId::kIpv4, "10.0.0.0/24")});
  ASSERT_EQ(fill.cidrs.size(), 2U);
  EXPECT_EQ(fill.cidrs[1].available, 0x1p64) << "more than an integer can count";
}

}  // namespace
}  // namespace berth::cli
