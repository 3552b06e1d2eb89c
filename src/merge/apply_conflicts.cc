#include "merge/apply_conflicts.h"

#include <fmt/format.h>

#include "base/go_text.h"

namespace berth::merge {
namespace {

std::string OwnerText(const Manager& manager) {
  std::string text = base::GoQuoted(manager.name);
  if (!manager.subresource.empty()) {
    text += " with subresource " + base::GoQuoted(manager.subresource);
  }
  if (!manager.applies) text += " using " + manager.api_version;
  return text;
}

std::string Message(const std::vector<Conflict>& conflicts) {
  if (conflicts.size() == 1) {
    return fmt::format("Apply failed with 1 conflict: conflict with {}: {}", conflicts[0].owner,
                       PathText(conflicts[0].path));
  }
  std::string lines;
  const std::string* owner = nullptr;
  for (const Conflict& conflict : conflicts) {
    if (owner == nullptr || *owner != conflict.owner) {
      lines += fmt::format("{}conflicts with {}:", lines.empty() ? "" : "\n", conflict.owner);
    }
    owner = &conflict.owner;
    lines += "\n- " + PathText(conflict.path);
  }
  return fmt::format("Apply failed with {} conflicts: {}", conflicts.size(), lines);
}

}  // namespace

void AddConflicts(const Manager& manager, const FieldSet& fields,
                  std::vector<Conflict>& conflicts) {
  fields.ForEach([&](std::span<const PathElement> path) {
    conflicts.push_back(
        {.owner = OwnerText(manager), .path = std::vector(path.begin(), path.end())});
  });
}

base::Error ConflictError(const std::vector<Conflict>& conflicts) {
  base::Error error{.reason = base::Reason::kConflict, .message = Message(conflicts)};
  for (const Conflict& conflict : conflicts) {
    error.causes.push_back({.reason = "FieldManagerConflict",
                            .message = "conflict with " + conflict.owner,
                            .field = PathText(conflict.path)});
  }
  return error;
}

}  // namespace berth::merge
