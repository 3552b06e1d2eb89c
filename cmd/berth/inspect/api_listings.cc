#include "berth/inspect/api_listings.h"

#include "inspect/cluster_reader.h"

namespace berth::cli {
namespace {

using codec::Value;
using inspect::ClusterReader;

template <alloc::RangeKind kind>
void AddRangeObject(ClusterReader& reader, const Value& object) {
  reader.AddRange(kind, object);
}

}  // namespace

inspect::ServerKind ServerKindOf(std::string_view version) {
  return version.find("+berth.") != std::string_view::npos ? inspect::ServerKind::kBerth
                                                           : inspect::ServerKind::kKubernetes;
}

Listing ServiceListing() {
  return {.kind = &api::kServiceKind,
          .add = [](ClusterReader& reader, const Value& object) { reader.AddService(object); }};
}

std::vector<Listing> OtherListings(inspect::ServerKind server) {
  const Listing cidrs = {.kind = &api::kServiceCidrKind,
                         .add = AddRangeObject<alloc::RangeKind::kServiceCidr>};
  if (server != inspect::ServerKind::kBerth) {
    return {cidrs,
            {.kind = &api::kIpAddressKind, .add = [](ClusterReader& reader, const Value& object) {
               reader.AddPlainAddress(object);
             }}};
  }
  return {
      cidrs,
      {.kind = &api::kIpRangeKind, .add = AddRangeObject<alloc::RangeKind::kIpRange>},
      {.kind = &api::kNodePortRangeKind, .add = AddRangeObject<alloc::RangeKind::kNodePortRange>},
      {.kind = &api::kAllocatedAddressKind,
       .add = [](ClusterReader& reader,
                 const Value& object) { reader.AddAllocatedAddress(object); }},
      {.kind = &api::kNodePortKind,
       .add = [](ClusterReader& reader, const Value& object) { reader.AddNodePort(object); }}};
}

}  // namespace berth::cli
