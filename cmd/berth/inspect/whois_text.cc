#include "berth/inspect/whois_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/go_text.h"
#include "berth/inspect/column_table.h"
#include "berth/inspect/document_parts.h"
#include "berth/inspect/fact_list.h"
#include "berth/inspect/gaps_text.h"
#include "berth/inspect/heading_text.h"
#include "berth/inspect/value_text.h"
#include "berth/text.h"
#include "inspect/names.h"

namespace berth::cli {
namespace {

using inspect::Held;
using inspect::Service;

constexpr size_t kServicesShown = 20;
constexpr size_t kGaugeCells = 20;

std::string BandsOf(const inspect::Census& census, const alloc::PoolValue& value) {
  const auto ranges = census.RangesOf(value);
  return ranges.empty()
             ? std::string()
             : std::string(inspect::NameOf(ranges.front().row->layout.BandOf(value.value)));
}

std::string HoldsTable(const inspect::Census& census, const Service& service, const Paint& paint) {
  ColumnTable table({{.title = "HOLDS"},
                     {.title = "BAND"},
                     {.title = "RANGE", .shrinks = true},
                     {.title = "ORIGIN", .shrinks = true},
                     {.title = "SERVES", .shrinks = true},
                     {.title = "TROUBLE", .shrinks = true}});
  for (const Held& held : service.holds) {
    const auto ranges = census.RangesOf(held.value);
    const bool unknown = held.origin == inspect::Origin::kUnknown;
    table.Add({alloc::TextOf(held.value),
               BandsOf(census, held.value),
               ranges.empty() ? "" : base::ToVisible(inspect::TitleOf(ranges.front())),
               unknown ? "not known" : OriginText(held),
               ServesText(held),
               {TroubleWith(census, service, held), Color::kRed}});
  }
  return table.Text(paint);
}

std::string ServiceText(const inspect::Census& census, const Service& service, const Paint& paint) {
  std::string out =
      HeadingText(paint, base::ToVisible(inspect::PathOf(service)),
                  fmt::format("Service, {}{}",
                              service.type.empty() ? "ClusterIP" : base::ToVisible(service.type),
                              service.deleting ? ", " : ""),
                  service.deleting ? "being deleted" : "", Color::kYellow) +
      "\n";
  out += ServiceFacts(census, service, paint).Text();
  if (service.holds.empty()) return out;
  return out + (out.ends_with("\n\n") ? "" : "\n") + HoldsTable(census, service, paint);
}

std::string NamespaceText(const inspect::NamespaceAnswer& answer, const Paint& paint, bool wide) {
  std::string out =
      HeadingText(
          paint, base::ToVisible(answer.name),
          fmt::format("namespace, {}", Plural(answer.services.size(), "Service", "Services"))) +
      "\n";
  ColumnTable counts({{.title = "HOLDS"},
                      {.title = "TOTAL", .right = true},
                      {.title = "NAMED", .right = true},
                      {.title = "DRAWN", .right = true}});
  for (const alloc::PoolId pool : alloc::kAllPools) {
    const auto& count = answer.counts[pool];
    if (count.values == 0) continue;
    counts.Add({std::string(KindNoun(KindOf(pool), 2)), WithSeparators(base::U128(count.values)),
                WithSeparators(base::U128(count.named)), WithSeparators(base::U128(count.drawn))});
  }
  out += counts.Text(paint);
  if (answer.reserved > 0) {
    out += Wrapped(fmt::format("{} for its Services.",
                               Plural(answer.reserved, "value is reserved", "values are reserved")),
                   kIndent, paint.prose_width());
  }
  ColumnTable table({{.title = "SERVICE", .shrinks = true},
                     {.title = "TYPE", .shrinks = true},
                     {.title = "HOLDS", .shrinks = true}});
  const size_t shown =
      wide ? answer.services.size() : std::min(kServicesShown, answer.services.size());
  for (size_t i = 0; i < shown; ++i) {
    const Service& service = *answer.services[i];
    std::string holds;
    for (const Held& held : service.holds) {
      holds += (holds.empty() ? "" : ", ") + alloc::TextOf(held.value);
    }
    table.Add({base::ToVisible(service.object.name), base::ToVisible(service.type),
               holds.empty() ? "nothing" : holds});
  }
  if (!table.empty()) out += "\n" + table.Text(paint);
  if (shown < answer.services.size()) {
    out += fmt::format("  and {} more; -o wide lists all\n",
                       WithSeparators(base::U128(answer.services.size() - shown)));
  }
  return out;
}

std::string RangeAnswerText(const inspect::Census& census, const inspect::RangeRef& range,
                            const Paint& paint) {
  std::string out = HeadingText(paint, base::ToVisible(inspect::TitleOf(range)),
                                fmt::format("range of {}", KindNoun(KindOf(range.pool), 2))) +
                    "\n";
  const inspect::RangeFigures figures = census.FiguresOf(range);
  ColumnTable table({{.title = "BAND"},
                     {.title = "VALUES", .shrinks = true},
                     {.title = "TOTAL", .right = true},
                     {.title = "FREE", .right = true},
                     {.title = "FULL", .right = true}});
  for (const alloc::Band band : {alloc::Band::kStatic, alloc::Band::kDynamic}) {
    const inspect::BandFigures& part = figures.Of(band);
    if (!part.span) continue;
    table.Add({std::string(inspect::NameOf(band)),
               paint.Bounds(KindOf(range.pool), *part.span),
               ShortNumber(part.Usable()),
               ShortNumber(part.counts[alloc::State::kFree]),
               {PercentText(part.PercentUsed()), FillColor(part.PercentUsed())}});
  }
  out += table.Text(paint);
  if (range.range != nullptr && !range.range->exact) {
    out +=
        Wrapped(fmt::format("The range is {}.", range.range->source), kIndent, paint.prose_width());
  }
  return out + Wrapped(fmt::format("berth map {} draws it.", base::ToVisible(range.row->name)),
                       kIndent, paint.prose_width());
}

std::string NotFoundText(const inspect::Census& census, const inspect::WhoisAnswer& answer,
                         const Paint& paint) {
  std::string out =
      HeadingText(paint, base::ToVisible(answer.asked), "", "not found", Color::kYellow) + "\n";
  out += Wrapped(fmt::format("{} has no Service, namespace with Services or range of this name.",
                             base::ToVisible(census.cluster().source)),
                 kIndent, paint.prose_width());
  std::string similar;
  for (const std::string& name : answer.similar) {
    similar += (similar.empty() ? "" : ", ") + base::ToVisible(name);
  }
  if (!similar.empty()) {
    out += Wrapped(fmt::format("Similar Services: {}.", similar), kIndent, paint.prose_width());
  }
  return out;
}

std::string WhoisAnswerText(const inspect::Census& census, const inspect::WhoisAnswer& answer,
                            const Paint& paint, bool wide) {
  std::vector<std::string> parts;
  if (answer.value) parts.push_back(ValueAnswerText(census, *answer.value, paint));
  const size_t shown =
      wide ? answer.services.size() : std::min(kServicesShown, answer.services.size());
  for (size_t i = 0; i < shown; ++i) {
    parts.push_back(ServiceText(census, *answer.services[i], paint));
  }
  if (shown < answer.services.size()) {
    parts.push_back(fmt::format("and {} more Services of this name; -o wide lists all\n",
                                WithSeparators(base::U128(answer.services.size() - shown))));
  }
  if (answer.name_space) parts.push_back(NamespaceText(*answer.name_space, paint, wide));
  for (const inspect::RangeRef& range : answer.ranges) {
    parts.push_back(RangeAnswerText(census, range, paint));
  }
  if (parts.empty()) return NotFoundText(census, answer, paint);
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : "\n") + part;
  return out;
}

}  // namespace

std::string TroubleWith(const inspect::Census& census, const Service& service, const Held& held) {
  std::string others;
  for (const inspect::Use& use : census.UsesOf(held.value)) {
    if (use.service == &service) continue;
    others += fmt::format("{}{}", others.empty() ? "" : ", ", inspect::PathOf(*use.service));
  }
  if (!others.empty()) return "also taken by " + base::ToVisible(others);
  const inspect::ValueAnswer answer = inspect::LookUp(census, held.value);
  if (answer.check == inspect::RecordCheck::kNoRecord) return "not recorded";
  if (answer.check == inspect::RecordCheck::kOtherOwner) return "recorded for another Service";
  if (answer.places.empty()) return "outside of every range";
  return {};
}

FactList ServiceFacts(const inspect::Census& census, const Service& service, const Paint& paint) {
  FactList facts(paint);
  if (service.created) facts.Add("Since", SinceText(*service.created, census.cluster().read_at));
  facts.Add("Managed by", ManagedText(service));
  if (service.holds.empty()) facts.Add("Holds", "no address and no port");
  return facts;
}

std::string WhoisText(const inspect::Census& census,
                      const std::vector<inspect::WhoisAnswer>& answers, const Style& style,
                      bool wide) {
  const Paint paint(style);
  std::string out;
  for (const inspect::WhoisAnswer& answer : answers) {
    if (!out.empty()) out += "\n";
    out += WhoisAnswerText(census, answer, paint, wide);
  }
  return out + GapsText(census.cluster(), paint);
}

}  // namespace berth::cli
