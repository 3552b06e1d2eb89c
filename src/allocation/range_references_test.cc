#include "allocation/range_references.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "alloc/layout.h"
#include "ip/addr.h"
#include "ip/cidr.h"

namespace berth::allocation {
namespace {

void Add(alloc::RangeTable& table, std::string name, std::string_view cidr,
         alloc::RangeKind kind = alloc::RangeKind::kIpRange) {
  table.rows[PoolId::kIpv4].push_back(
      {.name = std::move(name),
       .text = std::string(cidr),
       .layout = alloc::LayoutOf(ip::ParseCidr(cidr).value()).value(),
       .kind = kind});
}

std::string Reference(const alloc::RangeTable& table, std::string_view address,
                      std::string_view noted) {
  const PoolValue value{.pool = PoolId::kIpv4, .value = ip::ParseAddr(address).value().bits()};
  return std::string(RangeDirectory(table).ReferenceFor(value, noted));
}

TEST(RangeDirectory, ANotedRangeIsKeptWhileItContainsTheValue) {
  alloc::RangeTable table;
  Add(table, "large", "10.0.0.0/16");
  Add(table, "small", "10.0.0.0/24");
  EXPECT_EQ(Reference(table, "10.0.0.5", "large"), "large");
  EXPECT_EQ(Reference(table, "10.0.0.5", "small"), "small");
  EXPECT_EQ(Reference(table, "10.0.1.5", "small"), "large") << "it does not contain the value";
  EXPECT_EQ(Reference(table, "10.0.0.5", "gone"), "small") << "the smallest one";
  EXPECT_EQ(Reference(table, "10.0.0.5", ""), "small");
  EXPECT_EQ(Reference(table, "10.0.0.255", "small"), "large") << "a broadcast address";
  EXPECT_EQ(Reference(table, "10.1.0.5", "large"), "");
}

TEST(RangeDirectory, AServiceCidrIsNotAnIpRangeOfTheSameName) {
  alloc::RangeTable table;
  Add(table, "x", "10.0.0.0/16");
  Add(table, "x", "10.0.0.0/24", alloc::RangeKind::kServiceCidr);
  EXPECT_EQ(Reference(table, "10.0.0.5", "x"), "x");
  EXPECT_EQ(Reference(table, "10.0.0.5", "servicecidrs/x"), "servicecidrs/x");
  EXPECT_EQ(Reference(table, "10.0.0.5", "gone"), "servicecidrs/x");
  EXPECT_EQ(Reference(table, "10.0.9.5", "servicecidrs/x"), "x");
}

}  // namespace
}  // namespace berth::allocation
