#include "allocation/reservations.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "allocation/address_errors.h"
#include "allocation/fences.h"
#include "allocation/ledger/ledger_view.h"
#include "allocation/records.h"
#include "allocation/withheld.h"
#include "codec/read.h"
#include "codec/timestamp.h"
#include "registry/object_errors.h"
#include "rules/allocated_address.h"
#include "rules/node_port.h"
#include "rules/range_spec.h"

namespace berth::allocation {
namespace {

using codec::Value;

std::optional<PoolValue> ValueOf(const Value& object, bool port) {
  const std::string_view name = codec::StringAt(object, "metadata", "name");
  if (port) {
    const auto number = rules::ReadNodePortName(name);
    if (!number) return std::nullopt;
    return PoolValue{.pool = PoolId::kPorts, .value = *number};
  }
  const auto address = ip::ParseAddr(name);
  if (!address) return std::nullopt;
  return PoolValue{.pool = PoolOf(address->family()), .value = address->bits()};
}

/// Returns the name of a range from a note, without the prefix of a ServiceCIDR.
std::string_view PlainName(std::string_view noted) {
  if (noted.starts_with(rules::kServiceCidrNote))
    noted.remove_prefix(rules::kServiceCidrNote.size());
  return noted;
}

/// Returns the range by the name of an IPRange or NodePortRange, or by the note of a ServiceCIDR.
/// The well-known IPRanges and the default ServiceCIDR stand for each other, whichever exists.
std::optional<RangeState> RangeCalled(const Ledger& ledger, PoolId pool, std::string_view name) {
  const std::string_view plain = PlainName(name);
  if (plain != name) {
    // An IPRange may have the same name.
    for (RangeState& range : LedgerView(ledger).Ranges(pool)) {
      const bool cidr = range.kind == alloc::RangeKind::kServiceCidr;
      if (cidr && range.name == plain) return std::move(range);
    }
    if (plain != kDefaultServiceCidr) return std::nullopt;
    name = rules::WellKnownRange(pool == PoolId::kIpv4 ? ip::Family::kV4 : ip::Family::kV6);
  }
  auto range = LedgerView(ledger).RangeNamed(pool, name);
  if (range && range->kind != alloc::RangeKind::kServiceCidr) return range;
  range = LedgerView(ledger).RangeNamed(pool, kDefaultServiceCidr);
  if (range && IsDefaultRange(*range) && RangeNote(*range) == name) return range;
  return std::nullopt;
}

std::string KindCalled(PoolId pool, std::string_view name) {
  if (pool == PoolId::kPorts) return "NodePortRange";
  return fmt::format("{} of {} addresses", PlainName(name) == name ? "IPRange" : "ServiceCIDR",
                     pool == PoolId::kIpv4 ? "IPv4" : "IPv6");
}

bool Has(const RangeState& range, const PoolValue& value) {
  const auto has = [&value](const std::optional<alloc::Interval>& band) {
    return band && band->Contains(value.value);
  };
  return has(range.static_band) || has(range.dynamic_band);
}

}  // namespace

std::optional<Reservation> Reservation::Begin(const registry::Served& served, Value& object) {
  const bool port = served.row->kind == &api::kNodePortKind;
  if (!port && !served.view->shows_hidden) return std::nullopt;
  Reservation reservation(served, port);
  if (port) {
    reservation.named_ = codec::StringAt(object, "spec", "nodePortRangeRef", "name");
    return reservation;
  }
  reservation.notes_ = rules::NotesOfHidden(rules::TakeInternalAnnotations(object));
  reservation.named_ = reservation.notes_.range;
  // Validation needs a name here before the range is known.
  if (reservation.named_.empty()) {
    codec::SetAt(object, {"spec", "parentRef", "name"}, rules::kIpv4RangeName);
  }
  return reservation;
}

tl::expected<commit::Compare, commit::Refusal> Reservation::Complete(const Surroundings& around,
                                                                     std::string_view name,
                                                                     Value& object) {
  const auto value = ValueOf(object, port_);
  if (!value) return tl::unexpected(registry::NotFound(served_.Kind(), name));
  // Grants nothing, but says which fence the ranges belong to.
  TicketPtr nothing_to_wait_for;
  const auto grant = around.ledger.GrantClaims({}, {}, {}, nothing_to_wait_for);
  commit::Compare fence{.key = FenceKey(value->pool),
                        .revision = grant ? grant->fences[value->pool] : 0};
  auto range = FindRange(around.ledger, *value, name);
  if (range) {
    Fill(*range, around.now, object);
    return fence;
  }
  commit::Refusal refusal(std::move(range.error()));
  const state::ObjectPtr found = around.snapshot.Find(fence.key);
  const bool older = (found == nullptr ? 0 : found->Revision()) != fence.revision;
  if (older || (found != nullptr && ReadFence(*around.rows.fences, *found))) {
    // A reservation is not refused before the outcome of closing ranges is known, nor for changes
    // that the ledger has not seen yet.
    refusal.wait = [&ledger = around.ledger, pool = value->pool,
                    seen = older && found ? found->Revision() - 1
                                          : fence.revision](std::function<void()> again) {
      return ledger.AwaitFence(pool, seen, std::move(again));
    };
  }
  return tl::unexpected(std::move(refusal));
}

void Reservation::Fill(const RangeState& range, base::WallTime now, Value& object) {
  if (!port_) {
    notes_.range = RangeNote(range);
    codec::SetAt(object, {"spec", "parentRef"}, rules::ParentRange(notes_.range));
    if (notes_.hold_seconds > 0) notes_.until = now + std::chrono::seconds(notes_.hold_seconds);
    return;
  }
  codec::SetAt(object, {"spec", "nodePortRangeRef"},
               codec::Object{{"apiGroup", api::kNodePortRangeKind.group},
                             {"kind", api::kNodePortRangeKind.kind},
                             {"name", range.name}});
  const int64_t hold = codec::IntAt(object, "spec", "holdSeconds");
  if (hold == 0) return;
  codec::SetAt(object, {"status", "until"}, codec::FormatTime(now + std::chrono::seconds(hold)));
}

tl::expected<RangeState, base::Error> Reservation::FindRange(const Ledger& ledger,
                                                             const PoolValue& value,
                                                             std::string_view name) const {
  const auto invalid = [&](const rules::Path& path, std::string_view text, std::string_view why) {
    rules::FieldErrors errors;
    errors.Invalid(path, text, why);
    return tl::unexpected(registry::InvalidObject(errors, served_.Kind(), name));
  };
  const std::string text = RecordName(value);
  const rules::Path reference =
      rules::Path("spec").Child(port_ ? "nodePortRangeRef" : "ipRangeRef").Child("name");
  std::optional<RangeState> range;
  if (named_.empty()) {
    range = LedgerView(ledger).RangeWith(value);
    if (!range) {
      return invalid(rules::Path(port_ ? "metadata.name" : "spec.address"), text,
                     fmt::format("no range has this {}", port_ ? "port" : "address"));
    }
  } else {
    range = RangeCalled(ledger, value.pool, named_);
    if (!range) {
      return invalid(reference, PlainName(named_),
                     fmt::format("there is no such {}", KindCalled(value.pool, named_)));
    }
    if (!Has(*range, value)) {
      return invalid(reference, PlainName(named_),
                     fmt::format("it is the range {}, which does not have {}", range->text, text));
    }
  }
  if (range->leaving) {
    return invalid(reference, range->name, fmt::format("the range {}", WhyNotOpen(*range)));
  }
  return *std::move(range);
}

std::optional<std::string> Reservation::Advice(const Ledger& ledger, const Value& object) const {
  const bool for_somebody =
      port_ ? codec::HasAt(object, "spec", "reservedFor") : !notes_.reserved_for.empty();
  const auto value = ValueOf(object, port_);
  if (!for_somebody || !value) return std::nullopt;
  return WithheldAdvice(ledger, *value);
}

std::string Reservation::Hidden() const { return port_ ? std::string() : rules::HiddenOf(notes_); }

}  // namespace berth::allocation
