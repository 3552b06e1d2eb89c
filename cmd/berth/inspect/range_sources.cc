#include "berth/inspect/range_sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/go_text.h"

namespace berth::cli {
namespace {

constexpr size_t kMostNamed = 2;  // Objects of one kind.

/// Returns where a range comes from. `source` names the object if there is one, and `kind_size` is
/// the number of objects of its kind.
std::string SourceText(const inspect::Range& range, size_t kind_size) {
  if (!range.exact) return range.source;
  if (range.given || kind_size <= kMostNamed) return fmt::format("from {} (exact)", range.source);
  const std::string_view kind = std::string_view(range.source).substr(0, range.source.find(' '));
  return fmt::format("from {} {}s (exact)", kind_size, kind);
}

/// Returns where the ranges of addresses or of ports come from, each place once.
std::string SourcesOf(const inspect::Cluster& cluster, bool ports) {
  const auto is_asked = [ports](const inspect::Range& range) {
    return (range.facts.range.kind == alloc::RangeKind::kNodePortRange) == ports;
  };
  std::vector<std::string> places;
  for (const inspect::Range& range : cluster.ranges) {
    if (!is_asked(range)) continue;
    const auto kind_size = static_cast<size_t>(
        std::ranges::count_if(cluster.ranges, [&range](const inspect::Range& other) {
          return !other.given && other.facts.range.kind == range.facts.range.kind;
        }));
    std::string text = base::ToVisible(SourceText(range, kind_size));
    if (std::ranges::find(places, text) == places.end()) places.push_back(std::move(text));
  }
  return places.empty() ? "not known" : fmt::format("{}", fmt::join(places, " and "));
}

}  // namespace

std::string RangeSources(const inspect::Cluster& cluster) {
  return fmt::format("Ranges: addresses {}, node ports {}", SourcesOf(cluster, false),
                     SourcesOf(cluster, true));
}

}  // namespace berth::cli
