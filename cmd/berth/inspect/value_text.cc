#include "berth/inspect/value_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "audit/finding.h"
#include "base/go_text.h"
#include "berth/inspect/document_parts.h"
#include "berth/inspect/fact_list.h"
#include "berth/inspect/heading_text.h"
#include "berth/text.h"
#include "codec/timestamp.h"
#include "inspect/checks.h"
#include "inspect/names.h"
#include "rules/age.h"

namespace berth::cli {
namespace {

using alloc::PoolId;
using base::U128;
using inspect::Place;
using inspect::RecordCheck;
using inspect::Standing;
using inspect::Use;
using inspect::ValueAnswer;
using inspect::Verdict;

constexpr size_t kOwnersShown = 10;
constexpr size_t kSpansShown = 10;

std::string OwnerName(const inspect::Service& service) {
  return base::ToVisible(inspect::PathOf(service));
}

std::string Heading(const ValueAnswer& answer, const Paint& paint) {
  const bool twice = answer.owners.size() > 1;
  const Color color = twice                                 ? Color::kRed
                      : answer.standing == Standing::kFree  ? Color::kGreen
                      : answer.standing == Standing::kTaken ? Color::kBold
                                                            : Color::kYellow;
  std::string standing(inspect::NameOf(answer.standing));
  if (twice) standing = fmt::format("TAKEN BY {} SERVICES", answer.owners.size());
  if (answer.standing == Standing::kOutside) standing = "outside of every range";
  if (answer.standing == Standing::kUnknown) {
    standing =
        answer.unseen ? "of no Service that you may see" : "of no Service; the range is not known";
  }
  return HeadingText(paint, alloc::TextOf(answer.value),
                     fmt::format("{}, ", KindNoun(KindOf(answer.value.pool), 1)), standing, color) +
         "\n";
}

void AddOwners(const ValueAnswer& answer, FactList& facts) {
  size_t shown = 0;
  for (const Use& use : answer.owners) {
    if (shown++ == kOwnersShown) {
      facts.Add("",
                fmt::format("and {} more; -o json lists all", answer.owners.size() - kOwnersShown));
      break;
    }
    const inspect::Service& service = *use.service;
    std::string text = OwnerName(service);
    if (!service.type.empty()) text += ", " + base::ToVisible(service.type);
    if (service.deleting) text += ", being deleted";
    facts.Add(shown == 1 ? "Service" : "", std::move(text));
    facts.Add(shown == 1 ? "Serves" : "", ServesText(*use.held));
    if (answer.owners.size() == 1) {
      facts.Add("Origin", OriginText(*use.held));
      facts.Add("Managed by", ManagedText(service));
    }
  }
  if (answer.owners.size() > 1) {
    facts.Add("Conflict",
              "Only one of them can work. Decide which one keeps it, and delete and create the "
              "others; berth verify lists all such values.",
              "Only one of them can work.", Color::kRed);
  }
}

std::string Until(const inspect::Record& record) {
  return record.until ? fmt::format(" until {}", codec::FormatTime(*record.until)) : "";
}

std::string RecordStateText(const inspect::Record& record) {
  std::string name = base::ToVisible(audit::TextOf(record.facts.object));
  const std::string whom =
      record.facts.reserved_for.empty() ? "no Service" : base::ToVisible(record.facts.reserved_for);
  switch (record.facts.state) {
    case rules::RecordState::kAllocated:
      return name;
    case rules::RecordState::kReserved:
      return record.parent.empty() ? fmt::format("{}, reserved for {}", name, whom)
                                   : fmt::format("{}, reserved; its parent is {}", name,
                                                 base::ToVisible(record.parent));
    case rules::RecordState::kPending:
      return fmt::format("{}, held for {}{}", name, whom, Until(record));
    case rules::RecordState::kFree:
      break;
  }
  return fmt::format("{}, released and cooling{}", name, Until(record));
}

/// Says how long an orphan will stay.
std::string OrphanText(const inspect::Census& census, const inspect::Record& record) {
  constexpr std::chrono::minutes kRemoved{10};
  const bool old = record.since && census.cluster().read_at - *record.since > kRemoved;
  return old ? "Nobody gets it until the record is gone. A server removes its own ones within "
               "minutes, and this one is older; berth verify says what to do."
             : "Nobody gets it until the server removes the record, within minutes; berth verify "
               "lists all such records.";
}

void AddRecord(const inspect::Census& census, const ValueAnswer& answer, FactList& facts) {
  const auto service_of = [&] {
    return base::ToVisible(fmt::format("{}/{}", answer.record->facts.service_namespace,
                                       answer.record->facts.service_name));
  };
  switch (answer.check) {
    case RecordCheck::kAgrees:
      if (answer.record == nullptr) return;
      facts.Add("Record", RecordStateText(*answer.record) +
                              (answer.owners.size() > 1 ? ", names " + service_of() : ""));
      return;
    case RecordCheck::kNotShown:
      return;
    case RecordCheck::kNoRecord:
      facts.Add("Record",
                "None, although a Service has it. So a second Service may get it. Change a label "
                "of the Service, and the server records it again; berth verify lists all such "
                "values.",
                "None, although a Service has it.", Color::kRed);
      return;
    case RecordCheck::kOrphan:
      if (inspect::IsYoung(census.cluster(), *answer.record)) {
        facts.Add("Record",
                  fmt::format("{} names Service {}, which does not have the value yet. If the "
                              "Service does not come, the server removes the record within "
                              "minutes.",
                              RecordStateText(*answer.record), service_of()));
        return;
      }
      facts.Add("Record",
                fmt::format("An orphan. {} names Service {}, which does not have the value. {}",
                            RecordStateText(*answer.record), service_of(),
                            OrphanText(census, *answer.record)),
                "An orphan.", Color::kRed);
      return;
    case RecordCheck::kOtherOwner:
      facts.Add("Record",
                fmt::format("Of another Service. {} names {}. berth verify says what to do.",
                            RecordStateText(*answer.record), service_of()),
                "Of another Service.", Color::kRed);
      return;
  }
}

void AddSince(const inspect::Census& census, const ValueAnswer& answer, FactList& facts) {
  if (!answer.since) return;
  facts.Add("Since", SinceText(*answer.since, census.cluster().read_at) +
                         (answer.since_of_record ? "" : ", when the Service was created"));
}

/// Returns what is assumed instead of the range that is not known.
std::string AssumedText(const inspect::Census& census, PoolId pool) {
  for (const inspect::RangeRef& range : census.ranges()) {
    if (range.pool != pool) continue;
    return fmt::format("not known; {} is {}", range.row->text, range.range->source);
  }
  return "not known";
}

void AddPlaces(const inspect::Census& census, const ValueAnswer& answer, const Paint& paint,
               FactList& facts) {
  if (answer.places.empty()) {
    const bool unknown = answer.standing == Standing::kUnknown;
    facts.Add("Range", unknown ? AssumedText(census, answer.value.pool) : "none");
  }
  bool first = true;
  for (const Place& place : answer.places) {
    std::string text = base::ToVisible(inspect::TitleOf(place.range));
    if (place.band) {
      const auto span = place.range.row->layout.BandSpan(*place.band);
      text += fmt::format(", {} band {}", inspect::NameOf(*place.band),
                          paint.Bounds(KindOf(answer.value.pool), *span));
    }
    if (!place.why_unusable.empty()) text += fmt::format(", {}", place.why_unusable);
    if (place.excluded) text += ", excluded";
    if (!place.range.row->open) text += ", takes no new Services";
    if (place.range.range != nullptr && !place.range.range->exact) {
      text += fmt::format("; {}", place.range.range->source);
    }
    facts.Add(first ? "Range" : "", std::move(text));
    first = false;
  }
}

std::string NeighbourText(const Use* use, PoolId pool, std::string_view where) {
  if (use == nullptr) return fmt::format("none {}", where);
  return fmt::format("{} ({}) {}", alloc::TextOf({.pool = pool, .value = use->value}),
                     OwnerName(*use->service), where);
}

std::string Listed(PoolId pool, const std::vector<U128>& values) {
  std::string out;
  for (const U128 value : values) {
    out += (out.empty() ? "" : ", ") + alloc::TextOf({.pool = pool, .value = value});
  }
  return out;
}

std::string ChanceText(U128 one_in) {
  constexpr U128 kPicks = 100;
  const auto percent =
      100.0 * static_cast<double>(std::min(kPicks, one_in)) / static_cast<double>(one_in);
  return fmt::format("the next one with a chance of 1 in {}, one of the next 100 with {}",
                     ShortNumber(one_in), PercentText(percent));
}

std::string SafeText(const inspect::Census& census, const ValueAnswer& answer) {
  const auto gives = [](const Place& place) {
    return place.range.row->open && place.band == alloc::Band::kStatic && !place.excluded;
  };
  const inspect::RangeRef& range = std::ranges::find_if(answer.places, gives)->range;
  if (range.row->layout.strict()) {
    return "Yes. It is in the static band of a strict range, which dynamic picks never use.";
  }
  const U128 free = census.FiguresOf(range).dynamic_band.counts[alloc::State::kFree];
  return fmt::format(
      "Yes. It is in the static band. Dynamic picks use that only when the dynamic band is full, "
      "and {} of its values are free.",
      ShortNumber(free));
}

/// Returns the answer to "may I hard-code it?" for a value that is not free.
std::string NotNowText(const ValueAnswer& answer) {
  switch (answer.standing) {
    case Standing::kReserved:
      if (answer.record != nullptr && !answer.record->facts.reserved_for.empty()) {
        return fmt::format("No, except in Service {}, for which it is reserved.",
                           base::ToVisible(answer.record->facts.reserved_for));
      }
      return answer.places.empty()
                 ? "No. A record keeps it from all Services, and no range contains it."
                 : "No. A record keeps it from all Services. Delete the record first, if it is "
                   "yours.";
    case Standing::kExcluded:
      return "No. Its range excludes it and never gives it out.";
    case Standing::kUnusable:
      return fmt::format("No. It can never be given out: {}.", answer.places.front().why_unusable);
    case Standing::kOutside:
      return "No. A request that names it is refused, because no range contains it.";
    default:
      return "No. Its range takes no new Services, because it is being drained or deleted.";
  }
}

/// Returns the answer for a value of a range that is only assumed, or that may be taken.
std::string NotKnownText(const ValueAnswer& answer) {
  if (answer.unseen) return "Not known. A Service that you may not see may have it.";
  if (answer.value.pool == PoolId::kPorts) {
    return "Not known. The range of node ports is assumed, so a request that names this one may be "
           "accepted or refused. Give --node-port-range to be sure.";
  }
  return "Not known. The ranges are assumed from the addresses in use, and so are their bands. "
         "Give "
         "--service-cidr to be sure.";
}

std::string HardCodeText(const inspect::Census& census, const ValueAnswer& answer) {
  const auto& advice = answer.advice;
  switch (advice.verdict) {
    case Verdict::kSafe:
      return SafeText(census, answer);
    case Verdict::kMayBePicked:
      return fmt::format(
          "No. It is in the dynamic band, so any Service that does not name a value may get it: "
          "{}.",
          advice.one_in ? ChanceText(*advice.one_in) : "at any time");
    case Verdict::kSpill:
      return fmt::format(
          "No. It is in the static band, but the dynamic band is full. So any Service that does "
          "not name a value may get it: {}.",
          advice.one_in ? ChanceText(*advice.one_in) : "at any time");
    case Verdict::kUnknown:
      return NotKnownText(answer);
    case Verdict::kNotNow:
      break;
  }
  return NotNowText(answer);
}

void AddAdvice(const inspect::Census& census, const ValueAnswer& answer, FactList& facts) {
  const std::string near = Listed(answer.value.pool, answer.advice.safe_near);
  if (answer.standing == Standing::kTaken) {
    facts.Add("Safe near", near);
    return;
  }
  const bool safe = answer.advice.verdict == Verdict::kSafe;
  const bool unknown = answer.advice.verdict == Verdict::kUnknown;
  std::string text = HardCodeText(census, answer);
  if (answer.standing == Standing::kCooling) {
    text += " It was released recently. Picks avoid it for now, but a request may name it.";
  }
  const bool assumed = std::ranges::any_of(answer.places, [](const Place& place) {
    return place.range.range != nullptr && !place.range.range->exact;
  });
  if (assumed && !unknown) {
    text +=
        fmt::format(" The range is assumed; give {} to be sure.",
                    answer.value.pool == PoolId::kPorts ? "--node-port-range" : "--service-cidr");
  }
  if (unknown) {
    facts.Add("Hard-code", text, "Not known.", Color::kYellow);
    return;
  }
  facts.Add("Hard-code", text, safe ? "Yes." : "No", safe ? Color::kGreen : Color::kRed);
  if (!near.empty()) facts.Add(safe ? "Safe too" : "Safe", near);
  if (near.empty() && !safe) facts.Add("Safe", "none: no free value of a static band is near");
}

void AddDoubt(const ValueAnswer& answer, bool from_files, FactList& facts) {
  if (answer.check != RecordCheck::kNotShown || answer.standing != Standing::kFree) return;
  if (answer.value.pool == PoolId::kPorts) {
    facts.Add(
        "Note",
        "The source has no records of node ports, and Kubernetes shows none. So a port that a "
        "failed update leaked looks free here. If a request is refused although no Service "
        "has the port, try again after ten minutes.");
    return;
  }
  facts.Add("Note",
            fmt::format("The source has no IPAddresses. So an address that a record keeps looks "
                        "free here.{}",
                        from_files ? " Add what kubectl get ipaddresses -o json prints." : ""));
}

/// Returns what the history does not tell.
std::string PastLimits(const inspect::ValuePast& past) {
  if (!past.begin) return "the history has no look at the cluster yet";
  std::string out = fmt::format("the history begins at {}", codec::FormatTime(*past.begin));
  if (past.gaps > 0) {
    out += fmt::format(" and has {}, in which owners may have been missed",
                       Plural(past.gaps, "gap", "gaps"));
  }
  if (past.end) out += fmt::format("; its last look was at {}", codec::FormatTime(*past.end));
  return out;
}

void AddHistory(const ValueAnswer& answer, FactList& facts) {
  if (!answer.history) return;
  const inspect::ValuePast& past = *answer.history;
  if (past.spans.empty()) {
    facts.Add("History", fmt::format("nobody is known to have had it; {}", PastLimits(past)));
    return;
  }
  size_t shown = 0;
  for (const inspect::HeldSpan& span : past.spans) {
    if (shown == kSpansShown) {
      facts.Add("", fmt::format("and {} more; -o json lists all", past.spans.size() - kSpansShown));
      break;
    }
    facts.Add(shown++ == 0 ? "History" : "",
              fmt::format("{} {} {}{}", base::ToVisible(span.owner), span.to ? "from" : "since",
                          BoundsText(span.from),
                          span.to ? fmt::format(", until {}", BoundsText(*span.to)) : ""));
  }
  facts.Add("", PastLimits(past));
}

}  // namespace

std::string OriginText(const inspect::Held& held) {
  switch (held.origin) {
    case inspect::Origin::kNamed:
      return held.manager.empty() ? "named by a client"
                                  : "named by " + base::ToVisible(held.manager);
    case inspect::Origin::kDrawn:
      return "drawn by the allocator";
    case inspect::Origin::kUnknown:
      break;
  }
  return "not known: the source shows no managed fields";
}

std::string ServesText(const inspect::Held& held) {
  if (held.health_check) return "health checks of the load balancer";
  std::string out;
  for (const audit::PortUse& port : held.ports) {
    out += fmt::format("{}{}/{}", out.empty() ? "" : ", ", port.port,
                       port.protocol.empty() ? "TCP" : base::ToVisible(port.protocol));
    if (!port.name.empty()) out += fmt::format(" ({})", base::ToVisible(port.name));
  }
  return out;
}

std::string ManagedText(const inspect::Service& service) {
  std::string out = base::ToVisible(service.tool);
  if (service.controller.empty()) return out;
  return fmt::format("{}{}, which owns it", out.empty() ? "" : out + "; ",
                     base::ToVisible(service.controller));
}

std::string BoundsText(const inspect::Bounds& bounds) {
  const std::string latest = codec::FormatTime(bounds.latest);
  if (!bounds.earliest) return latest + " or earlier";
  const std::string earliest = codec::FormatTime(*bounds.earliest);
  return earliest == latest ? latest : fmt::format("between {} and {}", earliest, latest);
}

std::string SinceText(base::WallTime time, base::WallTime now) {
  return fmt::format("{}, {} ago", codec::FormatTime(time), rules::HumanDuration(now - time));
}

std::string VerdictText(const inspect::Census& census, const ValueAnswer& answer) {
  if (answer.standing != Standing::kTaken) return HardCodeText(census, answer);
  if (answer.owners.empty()) return "No. A record says that a Service has it.";
  return fmt::format("No. Service {} has it.", OwnerName(*answer.owners.front().service));
}

FactList ValueFacts(const inspect::Census& census, const ValueAnswer& answer, const Paint& paint) {
  FactList facts(paint);
  AddOwners(answer, facts);
  if (answer.standing != Standing::kTaken) AddAdvice(census, answer, facts);
  AddSince(census, answer, facts);
  AddPlaces(census, answer, paint, facts);
  AddRecord(census, answer, facts);
  const PoolId pool = answer.value.pool;
  if (answer.below != nullptr || answer.above != nullptr) {
    facts.Add("Neighbours", fmt::format("{}, {}", NeighbourText(answer.below, pool, "below"),
                                        NeighbourText(answer.above, pool, "above")));
  }
  if (answer.standing == Standing::kTaken) AddAdvice(census, answer, facts);
  AddHistory(answer, facts);
  AddDoubt(answer, census.cluster().server == inspect::ServerKind::kUnknown, facts);
  return facts;
}

std::string ValueAnswerText(const inspect::Census& census, const ValueAnswer& answer,
                            const Paint& paint) {
  return Heading(answer, paint) + ValueFacts(census, answer, paint).Text();
}

}  // namespace berth::cli
