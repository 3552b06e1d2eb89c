#include "berth/observe/history_document.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "base/go_text.h"
#include "inspect/question.h"

namespace berth::cli {
namespace {

using alloc::PoolId;

codec::Value TimeText(base::WallTime time) { return base::FormatRfc3339Millis(time); }

/// Returns a number as JSON. One that is too large for a client's integers is a text.
codec::Value CountValue(base::U128 count) {
  constexpr base::U128 kMaxExact = base::U128{1} << 53;
  if (count <= kMaxExact) return static_cast<int64_t>(count);
  return base::ToDecimal(count);
}

codec::Value MomentDocument(const history::Moment& moment) {
  codec::Object document;
  if (moment.earliest) document.Set("earliest", TimeText(*moment.earliest));
  document.Set("latest", TimeText(moment.latest));
  document.Set("exact", moment.IsExact());
  return document;
}

std::string_view OriginText(inspect::Origin origin) {
  if (origin == inspect::Origin::kNamed) return "named";
  return origin == inspect::Origin::kDrawn ? "drawn" : "unknown";
}

std::string_view PurposeText(history::Purpose purpose) {
  constexpr std::array<std::string_view, 3> kTexts = {"address", "nodePort", "healthCheckNodePort"};
  return kTexts[static_cast<size_t>(purpose)];
}

codec::Object SpanDocument(const history::Span& span) {
  codec::Object document{{"value", alloc::TextOf(span.held.value)},
                         {"namespace", span.owner.name_space},
                         {"name", span.owner.name},
                         {"uid", span.owner.uid},
                         {"purpose", PurposeText(span.held.purpose)},
                         {"origin", OriginText(span.held.origin)},
                         {"from", MomentDocument(span.from)}};
  if (span.to) document.Set("to", MomentDocument(*span.to));
  return document;
}

codec::Value BandDocument(std::string_view name, PoolId pool, const inspect::BandFigures& band) {
  codec::Object document{{"band", name}};
  if (band.span) {
    document.Set("first", alloc::TextOf({.pool = pool, .value = band.span->first}));
    document.Set("last", alloc::TextOf({.pool = pool, .value = band.span->last}));
  }
  document.Set("usable", CountValue(band.Usable()));
  document.Set("taken", CountValue(band.counts[alloc::State::kTaken]));
  document.Set("free", CountValue(band.counts[alloc::State::kFree]));
  document.Set("reserved", CountValue(band.counts[alloc::State::kReserved]));
  document.Set("cooling", CountValue(band.counts[alloc::State::kCooling]));
  document.Set("named", CountValue(band.named));
  document.Set("drawn", CountValue(band.drawn));
  return document;
}

codec::Value RangeDocument(const observe::RangeReport& range) {
  return codec::Object{
      {"range", range.text},
      {"kind", range.kind},
      {"name", range.name},
      {"source", range.source},
      {"exact", range.exact},
      {"usedPercent", range.figures.PercentUsed()},
      {"bands", codec::Array{BandDocument("static", range.pool, range.figures.static_band),
                             BandDocument("dynamic", range.pool, range.figures.dynamic_band)}}};
}

codec::Value HeldAtDocument(const char* key, std::string_view asked, base::WallTime at,
                            const history::HeldAt& held) {
  constexpr std::array<std::string_view, 3> kCertainty = {"certain", "beforeAndAfter", "possible"};
  codec::Array holders;
  for (const history::Holding& holding : held.holdings) {
    codec::Object document = SpanDocument(holding.span);
    document.Set("certainty", kCertainty[static_cast<size_t>(holding.certainty)]);
    holders.emplace_back(std::move(document));
  }
  codec::Object document{{key, asked},
                         {"at", TimeText(at)},
                         {"holders", std::move(holders)},
                         {"complete", held.complete}};
  if (!held.note.empty()) document.Set("note", held.note);
  return document;
}

}  // namespace

std::string HistoryDirectory(const std::string& data_dir) { return data_dir + "/history"; }

base::Result<history::HistoryReader> OpenHistoryReader(const std::string& data_dir) {
  return history::HistoryReader::Open(HistoryDirectory(data_dir));
}

base::Result<alloc::PoolValue> ParseHeldValue(std::string_view text) {
  if (const auto value = inspect::ReadValue(text)) return *value;
  return base::Fail(base::Reason::kInvalid,
                    fmt::format("{}: must be an IP address or a port", base::GoQuoted(text)));
}

codec::Value ToDocument(const alloc::PoolValue& value, base::WallTime at,
                        const history::HeldAt& held) {
  return HeldAtDocument("value", alloc::TextOf(value), at, held);
}

codec::Value ServiceDocumentAt(std::string_view service, base::WallTime at,
                               const history::HeldAt& held) {
  return HeldAtDocument("service", service, at, held);
}
codec::Value ToDocument(const history::Past& past) {
  codec::Array spans;
  for (const history::Span& span : past.spans) spans.emplace_back(SpanDocument(span));
  codec::Array gaps;
  for (const history::Gap& gap : past.gaps) {
    gaps.push_back(
        codec::Object{{"from", TimeText(gap.from)}, {"to", TimeText(gap.to)}, {"why", gap.why}});
  }
  codec::Object document{{"spans", std::move(spans)}, {"gaps", std::move(gaps)}};
  if (past.begin) document.Set("begin", TimeText(*past.begin));
  if (past.end) document.Set("end", TimeText(*past.end));
  document.Set("shortened", past.shortened);
  return document;
}

codec::Value ToDocument(const std::vector<history::UsePoint>& points) {
  codec::Array list;
  for (const history::UsePoint& point : points) {
    codec::Object document{{"time", TimeText(point.time)}};
    if (point.held) document.Set("held", static_cast<int64_t>(*point.held));
    list.emplace_back(std::move(document));
  }
  return codec::Object{{"points", std::move(list)}};
}

codec::Value ToDocument(const observe::Figures& figures) {
  codec::Array ranges;
  for (const observe::RangeReport& range : figures.ranges) ranges.push_back(RangeDocument(range));
  codec::Array namespaces;
  for (const auto& [name, values] : figures.namespaces) {
    namespaces.push_back(
        codec::Object{{"namespace", name}, {"values", static_cast<int64_t>(values)}});
  }
  codec::Object counts;
  for (size_t kind = 0; kind < audit::kFindingKinds; ++kind) {
    if (figures.findings[kind] == 0) continue;
    counts.Set(std::string(audit::NameOf(static_cast<audit::FindingKind>(kind))),
               static_cast<int64_t>(figures.findings[kind]));
  }
  codec::Array messages;
  for (const std::string& message : figures.messages) messages.emplace_back(message);
  return codec::Object{
      {"at", TimeText(figures.at)},    {"services", static_cast<int64_t>(figures.services)},
      {"ranges", std::move(ranges)},   {"namespaces", std::move(namespaces)},
      {"findings", std::move(counts)}, {"messages", std::move(messages)}};
}

}  // namespace berth::cli
