#include "inspect/attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/separators.h"

namespace berth::inspect {
namespace {

using alloc::PoolId;
using alloc::State;
using base::U128;
using base::WithSeparators;

/// Returns whether the range is one of node ports that no object has: Kubernetes takes it from a
/// flag.
bool IsOfFlag(const RangeRef& range) { return range.pool == PoolId::kPorts && range.range->given; }

/// Returns how a range gets more values.
std::string ExtendAdvice(const RangeRef& range) {
  const std::string_view how = IsOfFlag(range)
                                   ? "start the API servers with a larger --service-node-port-range"
                               : range.row->kind == alloc::RangeKind::kServiceCidr
                                   ? "add a ServiceCIDR"
                                   : "add a range or give this one more values";
  return fmt::format("{}; berth forecast --resize shows what that changes", how);
}

/// Returns "1 value is", "2 values are".
std::string ValuesAre(U128 count) {
  return WithSeparators(count) + (count == 1 ? " value is" : " values are");
}

std::string Values(U128 count) {
  return WithSeparators(count) + (count == 1 ? " value" : " values");
}

std::string Joined(const std::vector<std::string>& parts) {
  std::string out;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) out += i + 1 < parts.size() ? ", " : " and ";
    out += parts[i];
  }
  return out;
}

std::string NameOfService(const Service& service) {
  return service.object.name_space + "/" + service.object.name;
}

/// Collects what there is to say about one range.
class RangeAttention {
 public:
  RangeAttention(const std::vector<TopRange>& all, const TopRange& range)
      : range_(range), text_(range.label), counts_(range.figures.Counts()) {
    for (const TopRange& other : all) {
      // Another range of the pool can give out what this one cannot.
      if (&other == &range || other.ref.pool != range.ref.pool) continue;
      others_serve_ = others_serve_ || (other.ref.row->open && other.figures.Free() > 0);
    }
  }

  std::vector<Attention> All(const Census& census) && {
    AddUsedTwice(census);
    AddKnowledge();
    if (!range_.ref.row->open) {
      AddClosed();
      return std::move(found_);
    }
    // The end of an assumed range of addresses is that of the addresses in use, so it always looks
    // nearly full.
    const bool assumed = !range_.ref.range->exact && range_.ref.pool != PoolId::kPorts;
    if (assumed) return std::move(found_);
    AddFullness();
    AddSpill();
    return std::move(found_);
  }

 private:
  void Add(AttentionKind kind, Severity severity, std::string message, std::string advice) {
    found_.push_back({.kind = kind,
                      .severity = severity,
                      .range = range_.text(),
                      .message = std::move(message),
                      .advice = std::move(advice)});
  }

  bool DynamicBandFull() const {
    const BandFigures& band = range_.figures.dynamic_band;
    return band.span.has_value() && band.counts[State::kFree] == 0;
  }

  /// Returns what keeps values from being free, other than Services.
  std::string OtherCauses(const alloc::StateCounts& counts, U128 orphans, U128 young) const {
    std::vector<std::string> causes;
    const auto add = [&causes](U128 count, std::string_view one, std::string_view many) {
      if (count > 0) causes.push_back(WithSeparators(count).append(count == 1 ? one : many));
    };
    add(counts[State::kReserved], " is reserved", " are reserved");
    add(counts[State::kCooling], " is cooling", " are cooling");
    add(orphans, " has a record but no Service", " have a record but no Service");
    add(young, " has a new record but no Service yet", " have new records but no Services yet");
    add(counts[State::kExcluded], " is excluded", " are excluded");
    return Joined(causes);
  }

  /// Returns what frees values, cause by cause.
  std::string AdviceForFull() const {
    std::vector<std::string> steps;
    if (range_.orphans > 0) steps.emplace_back("berth verify lists the records without a Service");
    if (range_.young > 0) {
      steps.emplace_back("a server removes its own records within minutes if no Service comes");
    }
    if (counts_[State::kReserved] > 0) {
      steps.push_back(fmt::format("kubectl get {} lists the reservations",
                                  range_.ref.pool == PoolId::kPorts ? "nodeports" : "ipaddresses"));
    }
    if (counts_[State::kCooling] > 0)
      steps.emplace_back("cooling values become free by themselves");
    if (counts_[State::kExcluded] > 0) steps.emplace_back("spec.excluded can name fewer values");
    return steps.empty() ? ExtendAdvice(range_.ref) : fmt::format("{}", fmt::join(steps, "; "));
  }

  Severity Unserved() const { return others_serve_ ? Severity::kWarning : Severity::kCritical; }

  void AddFull() {
    const U128 held = range_.HeldByServices();
    const U128 size = counts_.Total();
    const std::string causes = OtherCauses(counts_, range_.orphans, range_.young);
    const bool looks_empty =
        !causes.empty() && static_cast<double>(held) < 0.8 * static_cast<double>(size);
    Add(AttentionKind::kFull, Unserved(),
        fmt::format("{} is full{} Services hold {}{} of its {}{}{}", text_,
                    looks_empty ? " although" : ":", looks_empty ? "only " : "",
                    WithSeparators(held), Values(size), causes.empty() ? "" : "; ", causes),
        AdviceForFull());
  }

  void AddDynamicBandFull() {
    const BandFigures& band = range_.figures.dynamic_band;
    const std::string causes = OtherCauses(band.counts, 0, 0);
    const std::string why = causes.empty() ? "" : fmt::format(" (of its values, {})", causes);
    const U128 left = range_.figures.static_band.counts[State::kFree];
    if (range_.ref.row->layout.strict()) {
      Add(AttentionKind::kDynamicBandFull, Unserved(),
          fmt::format("{} looks as if {} free, but its dynamic band is full{} and the range is "
                      "strict: only a request that names a value gets one",
                      text_, ValuesAre(left), why),
          "make the static band smaller (spec.staticBand) or spec.strict false");
      return;
    }
    Add(AttentionKind::kDynamicBandFull, Unserved(),
        fmt::format("the dynamic band of {} is full{}: requests for any value now take the static "
                    "band, where {} free",
                    text_, why, ValuesAre(left)),
        AdviceForFull());
  }

  void AddNearlyFull() {
    const bool has_dynamic = range_.figures.dynamic_band.span.has_value();
    const BandFigures& band =
        has_dynamic ? range_.figures.dynamic_band : range_.figures.static_band;
    const double percent = band.PercentUsed();
    if (percent <= kNearlyFullPercent) return;
    Add(AttentionKind::kNearlyFull,
        percent > kAlmostFullPercent && !others_serve_ ? Severity::kCritical : Severity::kWarning,
        fmt::format("{}{} is {:.1f}% full: {} free", has_dynamic ? "the dynamic band of " : "",
                    text_, std::min(percent, 99.9), ValuesAre(band.counts[State::kFree])),
        ExtendAdvice(range_.ref));
  }

  void AddFullSoon() {
    const TimeToFull& full = range_.dynamic_full;
    if (!full.known || !full.likely || *full.likely > kSoonDays) return;
    const bool critical = *full.likely <= kVerySoonDays && !others_serve_;
    const auto days = [](double number) { return std::max(1L, std::lround(number)); };
    const long likely = days(*full.likely);
    std::string spread;
    if (full.earliest && days(*full.earliest) != likely) {
      spread = fmt::format(" (at the earliest {})", days(*full.earliest));
    }
    Add(AttentionKind::kFullSoon, critical ? Severity::kCritical : Severity::kWarning,
        fmt::format(
            "the dynamic band of {} is full in about {} {}{} at the rate of the last {:.0f} "
            "days",
            text_, likely, likely == 1 ? "day" : "days", spread,
            std::max(1.0, range_.dynamic_growth.days)),
        "berth forecast shows the dates, and what a larger range changes");
  }

  void AddFullness() {
    if (range_.figures.Free() == 0) {
      AddFull();
    } else if (DynamicBandFull()) {
      AddDynamicBandFull();
    } else {
      AddNearlyFull();
      AddFullSoon();
    }
    if (range_.orphans > 0 && range_.figures.Free() > 0) {
      Add(AttentionKind::kWithoutService, Severity::kWarning,
          fmt::format("{} of {} {} a record but no Service", Values(range_.orphans), text_,
                      range_.orphans == 1 ? "has" : "have"),
          "berth verify lists them; kube-apiserver removes its own within minutes");
    }
  }

  void AddSpill() {
    const uint64_t spill = range_.figures.Spill();
    if (spill == 0) return;
    if (!range_.ref.range->exact) {
      // The band is a guess as well, and such values speak against it.
      Add(AttentionKind::kSpill, Severity::kNote,
          fmt::format(
              "{} of the static band of {} {} drawn by requests for any value, so the range "
              "may be another one",
              Values(spill), text_, spill == 1 ? "was" : "were"),
          "give --node-port-range");
      return;
    }
    // With room in the dynamic band it goes no further, and may be older than the bands.
    const bool ended = range_.figures.dynamic_band.PercentUsed() <= kNearlyFullPercent;
    Add(AttentionKind::kSpill, ended ? Severity::kNote : Severity::kWarning,
        fmt::format("{} of the static band of {} {} drawn by requests for any value{}",
                    Values(spill), text_, spill == 1 ? "was" : "were",
                    ended ? ", while the dynamic band was full or before there were bands" : ""),
        "a hard-coded value of that band may be taken; ask berth whois before you use one");
  }

  void AddUsedTwice(const Census& census) {
    if (range_.used_twice == 0) return;
    const auto uses = census.UsesIn(range_.ref.pool, *range_.ref.row->layout.span());
    for (size_t i = 1; i < uses.size(); ++i) {
      if (uses[i].value != uses[i - 1].value) continue;
      const std::string value = alloc::TextOf({.pool = range_.ref.pool, .value = uses[i].value});
      Add(AttentionKind::kUsedTwice, Severity::kCritical,
          fmt::format("{} of {} {} held by two Services or more: {} by {} and {}{}",
                      Values(range_.used_twice), text_, range_.used_twice == 1 ? "is" : "are",
                      value, NameOfService(*uses[i - 1].service), NameOfService(*uses[i].service),
                      range_.used_twice == 1 ? "" : ", ..."),
          "berth verify lists them all; delete and create again the Service that came later");
      return;
    }
  }

  void AddKnowledge() {
    const Range& range = *range_.ref.range;
    if (range.exact) return;
    const bool ports = range_.ref.pool == PoolId::kPorts;
    Add(AttentionKind::kAssumedRange, Severity::kNote, fmt::format("{} is {}", text_, range.source),
        ports ? "give --node-port-range if it is another one"
              : "give --service-cidr, or a source that shows ServiceCIDRs");
  }

  void AddClosed() {
    const bool leaving = range_.ref.row->leaving || range_.ref.row->makes_way;
    Add(AttentionKind::kClosed, others_serve_ ? Severity::kNote : Severity::kCritical,
        fmt::format("{} {}: Services get no new values from it", text_,
                    leaving ? "is being deleted" : "is closed"),
        others_serve_ ? std::string() : "no other range serves; open one or add one");
  }

  const TopRange& range_;
  const std::string& text_;
  const alloc::StateCounts counts_;
  bool others_serve_ = false;
  std::vector<Attention> found_;
};

std::string_view NounOf(PoolId pool, U128 count) {
  switch (pool) {
    case PoolId::kIpv4:
      return count == 1 ? "IPv4 address" : "IPv4 addresses";
    case PoolId::kIpv6:
      return count == 1 ? "IPv6 address" : "IPv6 addresses";
    case PoolId::kPorts:
      break;
  }
  return count == 1 ? "node port" : "node ports";
}

std::string OutsideAdvice(const Census& census, PoolId pool) {
  if (pool != PoolId::kPorts) {
    return "add a range that contains them, or create these Services again";
  }
  const bool of_flag = std::ranges::any_of(census.ranges(), &IsOfFlag);
  return fmt::format("{}, or give these Services other node ports",
                     of_flag ? "start the API servers with a --service-node-port-range that "
                               "contains them"
                             : "add a range that contains them");
}

/// Adds the values in use that no range contains, one line for each pool.
void AddOutside(const Census& census, std::vector<Attention>& found) {
  for (const PoolId pool : alloc::kAllPools) {
    uint64_t count = 0;
    const Use* first = nullptr;
    for (const Use& use : census.Uses(pool)) {
      if (!census.RangesOf({.pool = pool, .value = use.value}).empty()) continue;
      ++count;
      if (first == nullptr) first = &use;
    }
    if (first == nullptr) continue;
    found.push_back(
        {.kind = AttentionKind::kOutsideRanges,
         .severity = Severity::kWarning,
         .message = fmt::format("{} {} of Services {} in no range: {} of {}{}",
                                WithSeparators(U128(count)), NounOf(pool, count),
                                count == 1 ? "is" : "are",
                                alloc::TextOf({.pool = pool, .value = first->value}),
                                NameOfService(*first->service), count == 1 ? "" : ", ..."),
         .advice = OutsideAdvice(census, pool)});
  }
}

}  // namespace

std::vector<Attention> FindAttention(const Census& census, std::vector<TopRange>& ranges) {
  std::vector<Attention> found;
  for (TopRange& range : ranges) {
    for (Attention& each : RangeAttention(ranges, range).All(census)) {
      range.worst = std::max(range.worst, std::optional(each.severity));
      found.push_back(std::move(each));
    }
  }
  AddOutside(census, found);
  std::ranges::stable_sort(found, std::ranges::greater{}, &Attention::severity);
  return found;
}

}  // namespace berth::inspect
