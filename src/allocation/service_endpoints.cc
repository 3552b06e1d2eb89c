#include "allocation/service_endpoints.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "registry/deletion.h"
#include "registry/registry.h"

namespace berth::allocation {

void EndEndpoints(const registry::Row& row, std::string_view name_space, std::string_view name,
                  const state::Snapshot& snapshot, base::WallTime now, commit::Decision& decision) {
  std::string key = fmt::format("{}{}/{}", row.prefix, name_space, name);
  const state::ObjectPtr found = snapshot.Find(key);
  if (found == nullptr) return;
  auto endpoints = registry::Registry::Decode(row, *found);
  if (!endpoints) return;
  if (!registry::HasFinalizers(row, *endpoints)) {
    decision.deletes.push_back({.key = std::move(key), .expected = found->Revision()});
  } else if (!registry::IsBeingDeleted(*endpoints)) {
    registry::MarkDeleted(*endpoints, now);
    decision.puts.push_back({.key = std::move(key),
                             .stored = registry::ToStored(row, *endpoints),
                             .wire = registry::ToWireText(row, *endpoints),
                             .expected = found->Revision()});
  }
}

}  // namespace berth::allocation
