#include "berth/plan/usage_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "base/go_text.h"
#include "berth/text.h"

namespace berth::cli {
namespace {

using alloc::Interval;

constexpr size_t kGauge = 24;
constexpr size_t kMaxListed = 20;  // Rows of a list that an operator reads one by one.
constexpr size_t kFew = 5;         // Rows of a list that only gives an impression.
constexpr size_t kMaxOwners = 10;  // Owners of one value.

std::string Owner(const Use& use) {
  if (use.line == 0) return base::ToVisible(use.owner);
  if (use.owner.empty()) return fmt::format("line {}", use.line);
  return fmt::format("{} (line {})", base::ToVisible(use.owner), use.line);
}

std::string Owners(const UsedValue& value) {
  // A single owner can be found without a line number.
  if (!value.Twice()) return base::ToVisible(value.uses.front().owner);
  std::string out;
  for (const Use& use : std::span(value.uses).first(std::min(kMaxOwners, value.uses.size()))) {
    out += (out.empty() ? "" : ", ") + Owner(use);
  }
  if (value.uses.size() <= kMaxOwners) return out;
  return fmt::format("{} and {} more; -o json lists all", out,
                     WithSeparators(value.uses.size() - kMaxOwners));
}

/// How to treat text that is too long for its line.
enum class Overflow : uint8_t { kCut, kWrap };

/// A list of two columns under a heading. Its text is empty if there are no rows.
class Listing {
 public:
  explicit Listing(std::string heading, size_t indent = kIndent)
      : heading_(std::move(heading)), indent_(indent) {}

  void Add(std::string value, std::string text) {
    width_ = std::max(width_, DisplayWidth(value));
    rows_.emplace_back(std::move(value), std::move(text));
  }
  void SetRemark(std::string remark) { remark_ = std::move(remark); }

  std::string Text(const Paint& paint, Color color = Color::kBold,
                   Overflow overflow = Overflow::kCut) const {
    if (rows_.empty()) return {};
    std::string out = fmt::format("\n{:{}}{}\n", "", indent_, paint.In(color, heading_));
    const std::string margin(indent_ + 2, ' ');
    const size_t column = margin.size() + width_ + kColumnGap;
    for (const auto& [value, text] : rows_) {
      if (text.empty()) {
        out += margin + value + "\n";
        continue;
      }
      const size_t room = std::max(paint.width(), column + kColumnGap) - column;
      std::string lines =
          overflow == Overflow::kWrap
              ? Wrapped(text, column, paint.width())
              : std::string(column, ' ') + Shortened(text, room, paint.Ellipsis()) + "\n";
      out += lines.replace(0, column, PadRight(margin + value, column));
    }
    if (!remark_.empty()) out += margin + remark_ + "\n";
    return out;
  }

 private:
  std::string heading_;
  size_t indent_;
  std::vector<std::pair<std::string, std::string>> rows_;
  std::string remark_;
  size_t width_ = 0;
};

std::string More(size_t count) {
  return fmt::format("and {} more; -o json lists all", WithSeparators(count));
}

std::string UsedList(const RangePlan& range, const BandUsage& band, std::string_view name,
                     size_t limit, const Paint& paint) {
  Listing listing(fmt::format("Used in the {} band", name));
  const size_t shown = std::min(limit, band.values.size());
  for (const UsedValue& value : std::span(band.values).first(shown)) {
    listing.Add(ValueText(range.kind, value.value), Owners(value));
  }
  if (shown < band.values.size()) listing.SetRemark(More(band.values.size() - shown));
  return listing.Text(paint);
}

std::string FreeList(const RangePlan& range, std::vector<Interval> runs, const std::string& heading,
                     const Paint& paint) {
  Listing listing(heading);
  const size_t shown = std::min(kFew, runs.size());
  size_t width = 0;
  for (const Interval& run : std::span(runs).first(shown)) {
    width = std::max(width, ShortNumber(run.Size()).size());
  }
  for (const Interval& run : std::span(runs).first(shown)) {
    listing.Add(paint.Bounds(range.kind, run), PadLeft(ShortNumber(run.Size()), width));
  }
  if (shown < runs.size()) listing.SetRemark(More(runs.size() - shown));
  return listing.Text(paint);
}

std::string FreeLists(const RangePlan& range, const Paint& paint) {
  const std::vector<Interval>& first = range.usage->static_band.free_runs;
  std::vector<Interval> largest = range.usage->dynamic_band.free_runs;
  const bool some = largest.size() > kFew;
  if (some) {
    std::ranges::sort(largest, [](const Interval& a, const Interval& b) {
      return a.Size() != b.Size() ? a.Size() > b.Size() : a.first < b.first;
    });
  }
  return FreeList(range, first, "Free in the static band", paint) +
         FreeList(range, std::move(largest),
                  some ? "Free in the dynamic band, largest gaps" : "Free in the dynamic band",
                  paint);
}

std::string TwiceList(const RangePlan& range, const Paint& paint) {
  Listing listing("Used twice");
  size_t count = 0;
  for (const BandUsage* band : {&range.usage->static_band, &range.usage->dynamic_band}) {
    for (const UsedValue& value : band->values) {
      if (!value.Twice() || count++ >= kMaxListed) continue;
      listing.Add(ValueText(range.kind, value.value), Owners(value));
    }
  }
  if (count > kMaxListed) listing.SetRemark(More(count - kMaxListed));
  return listing.Text(paint, Color::kRed, Overflow::kWrap);
}

using Row = std::array<std::string, 5>;

/// Returns the rows with their columns aligned, the first to the left and numbers to the right.
/// Each row is followed by its tail.
std::string Grid(const std::vector<std::pair<Row, std::string>>& rows) {
  std::array<size_t, std::tuple_size_v<Row>> widths{};
  for (const auto& [row, tail] : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string out = "\n";
  for (const auto& [row, tail] : rows) {
    out += std::string(kIndent, ' ') + PadRight(row[0], widths[0]);
    for (size_t i = 1; i < row.size(); ++i) {
      out += std::string(kColumnGap, ' ') + PadLeft(row[i], widths[i]);
    }
    out += tail + "\n";
  }
  return out;
}

std::string BandTable(const RangePlan& range, const Paint& paint) {
  std::vector<std::pair<Row, std::string>> rows = {{{"BAND", "TOTAL", "USED", "FREE", "FULL"}, ""}};
  for (const auto& [name, band] : {std::pair("static", &range.usage->static_band),
                                   std::pair("dynamic", &range.usage->dynamic_band)}) {
    if (band->Total() == 0) continue;
    const double percent = band->Percent();
    rows.push_back({{name, ShortNumber(band->Total()), ShortNumber(band->used),
                     ShortNumber(band->free), PercentText(percent)},
                    std::string(kColumnGap, ' ') + paint.Gauge(percent, kGauge)});
  }
  return Grid(rows);
}

std::string OutsideList(const UsedPlan& used, const Paint& paint) {
  Listing listing("Used outside the ranges", 0);
  const size_t shown = std::min(kMaxListed, used.outside.size());
  size_t width = 0;
  for (const OutsideValue& each : std::span(used.outside).first(shown)) {
    width = std::max(width, each.why.size() + kColumnGap);
  }
  for (const auto& [value, why] : std::span(used.outside).first(shown)) {
    listing.Add(ValueText(value.kind, value.value), PadRight(why, width) + Owners(value));
  }
  if (shown < used.outside.size()) listing.SetRemark(More(used.outside.size() - shown));
  return listing.Text(paint, Color::kYellow, Overflow::kWrap);
}

std::string Summary(const UsedPlan& used, std::string_view source) {
  const std::string from =
      used.format == UsedFormat::kList ? "a list" : Plural(used.services, "Service", "Services");
  const auto count = [](size_t number) {
    return number == 0 ? std::string("none") : WithSeparators(number);
  };
  std::string out =
      fmt::format("{}: {} with {} in use", source, from, Plural(used.values, "value", "values"));
  if (used.values == 0) return out + ".";
  return out + fmt::format("; {} used twice, {} outside the ranges.", count(used.twice),
                           count(used.outside.size()));
}

}  // namespace

std::string RangeUsageText(const RangePlan& range, const Paint& paint) {
  const RangeUsage& usage = *range.usage;
  return BandTable(range, paint) + UsedList(range, usage.static_band, "static", kMaxListed, paint) +
         UsedList(range, usage.dynamic_band, "dynamic", kFew, paint) + FreeLists(range, paint) +
         TwiceList(range, paint);
}

std::string UsedText(const UsedPlan& used, std::string_view source, const Paint& paint) {
  std::string out = OutsideList(used, paint);
  // A list begins with a blank line, which is not wanted at the beginning.
  out =
      (out.empty() ? "" : out.substr(1) + "\n") + Wrapped(Summary(used, source), 0, paint.width());
  for (const UsedPlan::Unchecked& each : used.unchecked) {
    const bool ports = each.kind == ValueKind::kNodePort;
    out += fmt::format("{} {} in the file {} not checked: no {} range was given.\n",
                       WithSeparators(each.values), KindNoun(each.kind, each.values),
                       each.values == 1 ? "was" : "were", ports ? "port" : KindName(each.kind));
  }
  if (used.other_objects > 0) {
    const bool one = used.other_objects == 1;
    out += fmt::format("{} in the file {} and {} ignored.\n",
                       Plural(used.other_objects, "object", "objects"),
                       one ? "is not a Service" : "are not Services", one ? "was" : "were");
  }
  return out;
}

}  // namespace berth::cli
