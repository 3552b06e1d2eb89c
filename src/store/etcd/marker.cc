#include "store/etcd/marker.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <set>

#include "base/go_text.h"

namespace berth::store::etcd {
namespace {

constexpr std::string_view kFormat = "1";
constexpr std::string_view kMode = "exclusive";
constexpr size_t kMaxText = 4096;
constexpr size_t kShown = 100;

tl::unexpected<base::Error> Bad(std::string message) {
  return base::Fail(base::Reason::kInvalid, std::move(message));
}

std::string Shown(std::string_view text) { return base::GoQuoted(text.substr(0, kShown)); }

std::optional<int64_t> ParseBase(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (value < 0 || value > kMaxBase) return std::nullopt;
  return value;
}

/// Parses one line into the marker.
base::Result<void> Take(std::string_view key, std::string_view value, Marker& marker) {
  if (key == "format") {
    if (value == kFormat) return {};
    return Bad(
        fmt::format("it has format {}, this Berth reads format {}; a Berth of the version "
                    "that wrote it is needed",
                    Shown(value), kFormat));
  }
  if (key == "mode") {
    if (value == kMode) return {};
    return Bad(
        fmt::format("it says mode {}, this Berth knows mode {} alone; a Berth of the version "
                    "that wrote it is needed",
                    Shown(value), kMode));
  }
  if (key == "revisionBase") {
    const auto base = ParseBase(value);
    if (!base) return Bad(fmt::format("its revisionBase {} is not a revision", Shown(value)));
    marker.base = {*base};
    return {};
  }
  if (key == "ClusterIPAllocatorAPI") {
    if (value != "true" && value != "false") {
      return Bad(fmt::format("its {} is {}, neither true nor false", key, Shown(value)));
    }
    return {};
  }
  return Bad(fmt::format("this Berth does not know its line {}; a newer version is needed",
                         Shown(fmt::format("{}={}", key, value))));
}

}  // namespace

std::string MarkerText(const Marker& marker) {
  return fmt::format("format={}\nmode={}\nrevisionBase={}\n", kFormat, kMode, marker.base.value);
}

base::Result<Marker> ParseMarker(std::string_view text) {
  if (text.size() > kMaxText) return Bad(fmt::format("it has {} bytes", text.size()));
  Marker marker;
  std::set<std::string_view> seen;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.empty()) continue;
    const size_t equals = line.find('=');
    if (equals == std::string_view::npos) {
      return Bad(fmt::format("its line {} is not of the form key=value", Shown(line)));
    }
    const std::string_view key = line.substr(0, equals);
    if (!seen.insert(key).second) return Bad(fmt::format("it says {} twice", Shown(key)));
    if (auto taken = Take(key, line.substr(equals + 1), marker); !taken) {
      return tl::unexpected(taken.error());
    }
  }
  for (const std::string_view key : {"format", "mode", "revisionBase"}) {
    if (!seen.contains(key)) return Bad(fmt::format("it has no line {}=", key));
  }
  return marker;
}

}  // namespace berth::store::etcd
