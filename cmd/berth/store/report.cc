#include "berth/store/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/go_text.h"
#include "berth/text.h"

namespace berth::cli {
namespace {

std::string Count(uint64_t number) { return WithSeparators(base::U128(number)); }

std::string Held(const store::StateSummary& summary) {
  std::string text = Count(summary.keys());
  if (summary.expiring() > 0)
    text += fmt::format(", {} of them expiring", Count(summary.expiring()));
  return text;
}

codec::Value KindsDocument(const store::StateSummary& summary) {
  codec::Array kinds;
  for (const auto& [kind, count] : summary.kinds()) {
    kinds.push_back(codec::Object{{"kind", kind}, {"keys", count.keys}, {"bytes", count.bytes}});
  }
  return kinds;
}

}  // namespace

std::string ByteText(uint64_t bytes) {
  constexpr std::array kUnits = {"KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return fmt::format("{} {}", bytes, bytes == 1 ? "byte" : "bytes");
  double size = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  while (size >= 1024 && unit + 1 < kUnits.size()) {
    size /= 1024;
    ++unit;
  }
  return fmt::format("{:.1f} {}", size, kUnits[unit]);
}

std::string DurationText(std::chrono::nanoseconds duration) {
  const double seconds = std::chrono::duration<double>(duration).count();
  if (seconds < 60) return fmt::format("{:.1f} s", seconds);
  const auto whole = std::chrono::duration_cast<std::chrono::seconds>(duration).count();
  return fmt::format("{} min {:02} s", whole / 60, whole % 60);
}

std::string KeysText(uint64_t keys) { return Plural(keys, "key", "keys"); }

std::string FactsText(const Facts& facts) {
  size_t width = 0;
  for (const auto& [label, text] : facts) width = std::max(width, DisplayWidth(label));
  std::string out;
  for (const auto& [label, text] : facts) {
    out += fmt::format("  {}{}\n", PadRight(label, width + kColumnGap), text);
  }
  return out;
}

std::string KindTable(const std::map<std::string, store::KindCount>& kinds, const Paint& paint) {
  std::vector<std::array<std::string, 3>> rows = {{"KIND", "KEYS", "SIZE"}};
  for (const auto& [kind, count] : kinds) {
    rows.push_back({Shortened(base::ToVisible(kind), 50, paint.Ellipsis()), Count(count.keys),
                    ByteText(count.bytes)});
  }
  if (rows.size() == 1) return {};
  std::array<size_t, 3> widths{};
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], DisplayWidth(row[i]));
  }
  std::string out;
  for (const auto& row : rows) {
    out += fmt::format("  {}{}{}\n", PadRight(row[0], widths[0]),
                       PadLeft(row[1], widths[1] + kColumnGap),
                       PadLeft(row[2], widths[2] + kColumnGap));
  }
  return out;
}

std::string StatusText(const Status& status, const Paint& paint) {
  Facts facts;
  if (status.snapshot) {
    facts.emplace_back("Created", base::FormatRfc3339Millis(status.created));
    facts.emplace_back("Source", base::ToVisible(status.source));
  }
  facts.emplace_back("Revision", std::to_string(status.revision.value));
  if (!status.snapshot) {
    facts.emplace_back("History", fmt::format("from revision {}", status.compacted.value));
  }
  facts.emplace_back("Keys", Held(status.summary));
  facts.emplace_back("Size", fmt::format("{}, {} on disk", ByteText(status.summary.bytes()),
                                         ByteText(status.disk_bytes)));
  facts.emplace_back("Checksum", store::HexText(status.summary.Checksum()));
  std::string out = fmt::format("{}   {}\n\n", paint.In(Color::kBold, base::ToVisible(status.path)),
                                status.snapshot ? "snapshot" : "data directory");
  if (status.unfinished_copy) {
    out += Wrapped(fmt::format("Incomplete: an unfinished copy ({}). Fill it again, or delete the "
                               "directory.",
                               base::ToVisible(*status.unfinished_copy)),
                   2, paint.width()) +
           "\n";
  }
  out += FactsText(facts);
  if (const std::string table = KindTable(status.summary.kinds(), paint); !table.empty()) {
    out += "\n" + table;
  }
  return out;
}

codec::Value StatusDocument(const Status& status) {
  using codec::Value;
  const bool snapshot = status.snapshot;
  return codec::Object{
      {"kind", snapshot ? "Snapshot" : "DataDirectory"},
      {"path", status.path},
      {"created", snapshot ? Value(base::FormatRfc3339Millis(status.created)) : Value()},
      {"source", snapshot ? Value(status.source) : Value()},
      {"revision", status.revision.value},
      {"compactedRevision", snapshot ? Value() : Value(status.compacted.value)},
      {"keys", status.summary.keys()},
      {"expiringKeys", status.summary.expiring()},
      {"bytes", status.summary.bytes()},
      {"diskBytes", status.disk_bytes},
      {"checksum", store::HexText(status.summary.Checksum())},
      {"unfinishedCopy", status.unfinished_copy ? Value(*status.unfinished_copy) : Value()},
      {"kinds", KindsDocument(status.summary)},
  };
}

std::string CopiedText(std::string_view what, const store::Copied& copied,
                       std::chrono::nanoseconds duration, const Paint& paint) {
  Facts facts;
  facts.emplace_back("Keys", Held(copied.source));
  facts.emplace_back("Size", ByteText(copied.source.bytes()));
  if (copied.deleted > 0)
    facts.emplace_back("Deleted", KeysText(copied.deleted) + " of the target");
  facts.emplace_back("Checksum",
                     fmt::format("{} source", store::HexText(copied.source.Checksum())));
  facts.emplace_back("", fmt::format("{} target, {}", store::HexText(copied.target.Checksum()),
                                     paint.In(Color::kGreen, "equal")));
  facts.emplace_back("Revision", fmt::format("{} source", copied.source_revision.value));
  facts.emplace_back(
      "", fmt::format("{} target; existing watches start over", copied.target_revision.value));
  std::string out = fmt::format("{} in {}\n\n{}", what, DurationText(duration), FactsText(facts));
  if (const std::string table = KindTable(copied.source.kinds(), paint); !table.empty()) {
    out += "\n" + table;
  }
  return out;
}

}  // namespace berth::cli
