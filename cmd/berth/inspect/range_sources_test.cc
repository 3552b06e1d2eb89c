#include "berth/inspect/range_sources.h"

#include <gtest/gtest.h>

#include "codec/testing_text.h"
#include "inspect/cluster_reader.h"

namespace berth::cli {
namespace {

using inspect::ClusterReader;

void AddCidr(ClusterReader& reader, const std::string& name, const std::string& cidr) {
  reader.AddRange(
      alloc::RangeKind::kServiceCidr,
      codec::Json("{'metadata':{'name':'" + name + "'},'spec':{'cidrs':['" + cidr + "']}}"));
}

TEST(RangeSources, NamesEachPlaceOnce) {
  ClusterReader reader({});
  AddCidr(reader, "kubernetes", "10.96.0.0/16");
  ASSERT_TRUE(reader.AddGivenRange("30000-31000", "/flagz of the API server that answered", true));
  EXPECT_EQ(RangeSources(std::move(reader).Finish()),
            "Ranges: addresses from ServiceCIDR kubernetes (exact), node ports from /flagz of the "
            "API server that answered (exact)");
}

TEST(RangeSources, CountsManyObjects) {
  ClusterReader reader({});
  AddCidr(reader, "a", "10.1.0.0/16");
  AddCidr(reader, "b", "10.2.0.0/16");
  AddCidr(reader, "c", "10.3.0.0/16");
  EXPECT_EQ(RangeSources(std::move(reader).Finish()),
            "Ranges: addresses from 3 ServiceCIDRs (exact), node ports assumed, as Kubernetes' "
            "default");
}

TEST(RangeSources, SaysWhatIsAssumedOrUnknown) {
  ClusterReader reader({});
  EXPECT_EQ(RangeSources(std::move(reader).Finish()),
            "Ranges: addresses not known, node ports assumed, as Kubernetes' default");
}

}  // namespace
}  // namespace berth::cli
