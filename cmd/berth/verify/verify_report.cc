#include "berth/verify/verify_report.h"

#include <fmt/format.h>

#include <numeric>
#include <string_view>
#include <utility>

#include "alloc/pool_id.h"
#include "base/go_text.h"
#include "berth/store/report.h"
#include "berth/text.h"

namespace berth::cli {
namespace {

using audit::Checked;
using audit::Finding;
using audit::FindingKind;
using audit::Report;

std::string ShownNumber(uint64_t number) { return WithSeparators(base::U128(number)); }

uint64_t FindingCount(const Report& report) {
  return std::accumulate(report.counts.begin(), report.counts.end(), uint64_t{0});
}

std::string CheckedTable(const Checked& checked) {
  Facts facts = {{"Services", ShownNumber(checked.services)},
                 {"Addresses and ports", ShownNumber(checked.values)}};
  if (checked.records > 0) facts.emplace_back("Records", ShownNumber(checked.records));
  if (checked.bits > 0) facts.emplace_back("Bits of bitmaps", ShownNumber(checked.bits));
  facts.emplace_back("Ranges", ShownNumber(checked.ranges));
  size_t width = 0;
  for (const auto& [label, number] : facts) width = std::max(width, number.size());
  for (auto& [label, number] : facts) number = PadLeft(number, width);
  return FactsText(facts);
}

/// Returns a paragraph, wrapped if `wrap` is not 0.
std::string Paragraph(std::string_view text, size_t indent, size_t wrap) {
  if (wrap == 0) return fmt::format("{:{}}{}\n", "", indent, text);
  return Wrapped(text, indent, wrap);
}

/// The same with an arrow before it, and further lines beside the arrow.
std::string AdviceParagraph(std::string_view text, const Paint& paint, size_t wrap) {
  const std::string_view arrow = paint.Char("→", "->");
  const size_t column = 2 * kIndent + DisplayWidth(arrow) + 1;
  std::string lines = Paragraph(text, column, wrap);
  return lines.replace(2 * kIndent, DisplayWidth(arrow), arrow);
}

/// Returns an object as a line: "Service shop/web, uid 5f2b".
std::string ObjectLine(const audit::ObjectRef& object) {
  return base::ToVisible(
      fmt::format("{}{}{}", audit::TextOf(object), object.uid.empty() ? "" : ", uid ", object.uid));
}

/// Returns the objects that a finding is about, a line for each.
std::string ObjectLines(const Finding& finding, size_t wrap) {
  std::string out;
  for (const audit::ObjectRef& owner : finding.owners) {
    out += Paragraph(ObjectLine(owner), 2 * kIndent, wrap);
  }
  if (finding.owner_count > finding.owners.size()) {
    out += Paragraph(fmt::format("and {} more", finding.owner_count - finding.owners.size()),
                     2 * kIndent, wrap);
  }
  if (finding.object) out += Paragraph(ObjectLine(*finding.object), 2 * kIndent, wrap);
  if (!finding.key.empty()) {
    out += Paragraph("key " + base::ToVisible(finding.key), 2 * kIndent, wrap);
  }
  return out;
}

std::string FindingText(const Finding& finding, const Paint& paint, const VerifyLayout& layout) {
  return Paragraph(base::ToVisible(finding.message), kIndent, layout.wrap) +
         (layout.wide ? ObjectLines(finding, layout.wrap) : "") +
         AdviceParagraph(base::ToVisible(finding.advice), paint, layout.wrap);
}

/// Returns all findings of a kind with a heading, or an empty text if the report has no such
/// finding.
std::string FindingsOfKind(FindingKind kind, const Report& report, const Paint& paint,
                           const VerifyLayout& layout) {
  const uint64_t count = report.counts[static_cast<size_t>(kind)];
  if (count == 0) return {};
  std::string out = fmt::format("\n{} ({}): {}\n", paint.In(Color::kBold, audit::NameOf(kind)),
                                ShownNumber(count), audit::MeaningOf(kind));
  uint64_t shown = 0;
  for (const Finding& finding : report.findings) {
    if (finding.kind != kind || (shown == kFindingsInText && !layout.wide)) continue;
    ++shown;
    out += FindingText(finding, paint, layout);
  }
  if (shown < count) {
    out += Paragraph(fmt::format("{} and {} more{}", paint.Ellipsis(), ShownNumber(count - shown),
                                 layout.wide ? ""
                                             : fmt::format("; -o wide lists up to {} of each kind",
                                                           ShownNumber(audit::kMaxFindings))),
                     kIndent, layout.wrap);
  }
  return out;
}

std::string SettlingText(const Look& look, const VerifyLayout& layout) {
  if (look.settling.empty()) return {};
  std::string out = fmt::format("\nNot counted, because {}:\n", look.why_settling);
  for (size_t i = 0; i < look.settling.size() && (i < kFindingsInText || layout.wide); ++i) {
    out += Paragraph(base::ToVisible(look.settling[i].message), kIndent, layout.wrap);
  }
  return out;
}

std::string NotCheckedText(const Look& look, const Paint& paint, size_t wrap) {
  if (look.not_checked.empty()) return {};
  std::string out = fmt::format("\nNot checked, because {}:\n", look.why_not_checked);
  for (const std::string& what : look.not_checked) {
    out += Paragraph(base::ToVisible(what), kIndent, wrap);
  }
  return look.how_to_check.empty() ? out : out + AdviceParagraph(look.how_to_check, paint, wrap);
}

/// Returns how the source keeps allocations: "allocations as records".
std::string FormClause(const Look& look) {
  return look.form == "Services" ? "allocations as the Services show them"
                                 : "allocations as " + look.form;
}

codec::Value TextOrNull(std::string_view text) {
  return text.empty() ? codec::Value() : codec::Value(text);
}

codec::Value RefDocument(const audit::ObjectRef& object) {
  return codec::Object{{"resource", object.resource},
                       {"namespace", TextOrNull(object.name_space)},
                       {"name", object.name},
                       {"uid", TextOrNull(object.uid)}};
}

codec::Value FindingsDocument(const std::vector<Finding>& findings) {
  codec::Array out;
  for (const Finding& finding : findings) {
    codec::Array owners;
    for (const audit::ObjectRef& owner : finding.owners) owners.push_back(RefDocument(owner));
    out.push_back(codec::Object{
        {"kind", audit::NameOf(finding.kind)},
        {"value", finding.value ? codec::Value(alloc::TextOf(*finding.value)) : codec::Value()},
        {"owners", std::move(owners)},
        {"ownerCount", uint64_t{finding.owner_count}},
        {"object", finding.object ? RefDocument(*finding.object) : codec::Value()},
        {"key", TextOrNull(finding.key)},
        {"message", finding.message},
        {"advice", finding.advice}});
  }
  return out;
}

}  // namespace

std::string VerifyText(const std::string& source, const Look& look, const Paint& paint,
                       const VerifyLayout& layout) {
  const Report& report = look.report;
  const std::string revision =
      report.revision == 0 ? "" : fmt::format("revision {}, ", report.revision);
  std::string out = fmt::format("{}   {}{}\n\n{}", paint.In(Color::kBold, base::ToVisible(source)),
                                revision, FormClause(look), CheckedTable(report.checked));
  if (!look.range_sources.empty()) out += "\n" + Paragraph(look.range_sources, 0, layout.wrap);
  for (size_t kind = 0; kind < audit::kFindingKinds; ++kind) {
    out += FindingsOfKind(static_cast<FindingKind>(kind), report, paint, layout);
  }
  out += SettlingText(look, layout);
  out += NotCheckedText(look, paint, layout.wrap);
  const uint64_t total = FindingCount(report);
  out += total == 0 ? "\n" + paint.In(Color::kGreen, "Nothing is wrong") + "\n"
                    : "\n" + paint.In(Color::kRed, Plural(total, "finding", "findings")) + "\n";
  return out;
}

codec::Value VerifyDocument(const std::string& source, const Look& look) {
  const Report& report = look.report;
  codec::Object counts;
  for (size_t kind = 0; kind < audit::kFindingKinds; ++kind) {
    counts.Set(std::string(audit::NameOf(static_cast<FindingKind>(kind))), report.counts[kind]);
  }
  codec::Array not_checked;
  for (const std::string& what : look.not_checked) not_checked.push_back(what);
  return codec::Object{
      {"kind", "Verification"},
      {"source", source},
      {"revision", report.revision == 0 ? codec::Value() : codec::Value(report.revision)},
      {"allocations", look.form},
      {"rangeSources", TextOrNull(look.range_sources)},
      {"clean", report.IsClean()},
      {"checked", codec::Object{{"services", report.checked.services},
                                {"values", report.checked.values},
                                {"records", report.checked.records},
                                {"bits", report.checked.bits},
                                {"ranges", report.checked.ranges}}},
      {"counts", std::move(counts)},
      {"findings", FindingsDocument(report.findings)},
      {"settling", FindingsDocument(look.settling)},
      {"notChecked", std::move(not_checked)}};
}

}  // namespace berth::cli
