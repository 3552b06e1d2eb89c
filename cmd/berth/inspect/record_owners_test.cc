#include "berth/inspect/record_owners.h"

#include <gtest/gtest.h>

#include "codec/testing_text.h"
#include "inspect/cluster_reader.h"

namespace berth::cli {
namespace {

std::string AddressOf(const std::string& address, const std::string& service) {
  return "{'metadata':{'name':'" + address +
         "','labels':{'ipaddress.kubernetes.io/managed-by':'ipallocator.k8s.io'}}," +
         "'spec':{'parentRef':{'resource':'services'," + "'namespace':'shop','name':'" + service +
         "'}}}";
}

TEST(RecordOwners, AddsEachServiceThatIsNotSeenOnce) {
  inspect::ClusterReader reader({});
  reader.AddService(codec::Json(
      "{'metadata':{'namespace':'shop','name':'seen'},'spec':{'clusterIP':'10.0.0.1'}}"));
  for (const auto& [address, service] :
       {std::pair("10.0.0.1", "seen"), {"10.0.0.2", "web"}, {"fd00::2", "web"}}) {
    reader.AddPlainAddress(codec::Json(AddressOf(address, service)));
  }
  EXPECT_EQ(AddOwnersOfRecords(reader.view()), 1U);
  const inspect::Cluster cluster = std::move(reader).Finish();
  ASSERT_EQ(cluster.services.size(), 2U);
  EXPECT_EQ(cluster.services[1].object.name, "web");
  EXPECT_EQ(cluster.services[1].type, "Unknown");
  EXPECT_EQ(cluster.services[1].holds.size(), 2U);
}

}  // namespace
}  // namespace berth::cli
