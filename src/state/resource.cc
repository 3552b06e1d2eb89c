#include "state/resource.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <utility>

#include "store/types.h"

namespace berth::state {
namespace {

/// Returns whether the rest of a key is `<name>`, or `<namespace>/<name>` for a namespaced
/// resource.
bool HasForm(std::string_view rest, bool namespaced) {
  const size_t slash = rest.find('/');
  if (!namespaced) return !rest.empty() && slash == std::string_view::npos;
  return slash != std::string_view::npos && slash != 0 && slash + 1 < rest.size() &&
         rest.find('/', slash + 1) == std::string_view::npos;
}

}  // namespace

Resources::Resources(std::vector<Resource> rows)
    : rows_(std::move(rows)), by_prefix_(rows_.size()) {
  std::iota(by_prefix_.begin(), by_prefix_.end(), uint16_t{0});
  std::sort(by_prefix_.begin(), by_prefix_.end(),
            [this](uint16_t a, uint16_t b) { return rows_[a].prefix < rows_[b].prefix; });
  for (const Resource& row : rows_) prefixes_.emplace_back(row.prefix);
  for (size_t i = 1; i < by_prefix_.size(); ++i) {
    assert(!rows_[by_prefix_[i]].prefix.starts_with(rows_[by_prefix_[i - 1]].prefix));
  }
}

std::optional<Identity> Resources::Find(std::string_view key) const {
  const auto after = std::upper_bound(
      by_prefix_.begin(), by_prefix_.end(), key,
      [this](std::string_view wanted, uint16_t row) { return wanted < rows_[row].prefix; });
  if (after == by_prefix_.begin() || key.size() > store::kMaxKeyBytes) return std::nullopt;
  const uint16_t found = *std::prev(after);
  const Resource& row = rows_[found];
  if (!key.starts_with(row.prefix) || !HasForm(key.substr(row.prefix.size()), row.namespaced)) {
    return std::nullopt;
  }
  return Identity{
      .resource = found, .key = key, .prefix = prefixes_[found], .namespaced = row.namespaced};
}

std::string Resources::Prefix(uint16_t resource, std::string_view name_space) const {
  return Key(resource, name_space, {});
}

std::string Resources::Key(uint16_t resource, std::string_view name_space,
                           std::string_view name) const {
  const std::string& prefix = rows_[resource].prefix;
  std::string key;
  key.reserve(prefix.size() + name_space.size() + 1 + name.size());
  key.append(prefix);
  if (rows_[resource].namespaced && !name_space.empty()) key.append(name_space).push_back('/');
  return key.append(name);
}

}  // namespace berth::state
