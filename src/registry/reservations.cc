#include "registry/reservations.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "codec/read.h"
#include "codec/timestamp.h"
#include "registry/address_errors.h"
#include "registry/errors.h"
#include "registry/fences.h"
#include "registry/records.h"
#include "registry/withheld.h"
#include "rules/allocated_address.h"
#include "rules/node_port.h"
#include "rules/range_spec.h"

namespace berth::registry {
namespace {

using codec::Value;
using commit::Allocations;
using commit::PoolId;
using commit::PoolValue;

std::optional<PoolValue> ValueOf(const Value& object, bool port) {
  const std::string_view name = codec::StringAt(object, "metadata", "name");
  if (port) {
    const auto number = rules::ReadNodePortName(name);
    if (!number) return std::nullopt;
    return PoolValue{.pool = PoolId::kPorts, .value = *number};
  }
  const auto address = ip::ParseAddr(name);
  if (!address) return std::nullopt;
  return PoolValue{.pool = commit::PoolOf(address->family()), .value = address->bits()};
}

/// The name of a range as it is noted, without what says that it is a ServiceCIDR.
std::string_view PlainName(std::string_view noted) {
  if (noted.starts_with(rules::kServiceCidrNote))
    noted.remove_prefix(rules::kServiceCidrNote.size());
  return noted;
}

/// By the name of an IPRange or NodePortRange, or of a ServiceCIDR as it is noted. The well-known
/// IPRanges and the default ServiceCIDR stand for each other, whichever there is.
std::optional<Allocations::RangeState> RangeCalled(const Allocations& allocations, PoolId pool,
                                                   std::string_view name) {
  const std::string_view plain = PlainName(name);
  if (plain != name) {
    // There may be an IPRange of the same name.
    for (Allocations::RangeState& range : allocations.Ranges(pool)) {
      const bool cidr = range.kind == alloc::RangeKind::kServiceCidr;
      if (cidr && range.name == plain) return std::move(range);
    }
    if (plain != kDefaultServiceCidr) return std::nullopt;
    name = rules::WellKnownRange(pool == PoolId::kIpv4 ? ip::Family::kV4 : ip::Family::kV6);
  }
  auto range = allocations.RangeNamed(pool, name);
  if (range && range->kind != alloc::RangeKind::kServiceCidr) return range;
  range = allocations.RangeNamed(pool, kDefaultServiceCidr);
  if (range && IsDefaultRange(*range) && RangeNote(*range) == name) return range;
  return std::nullopt;
}

std::string KindCalled(PoolId pool, std::string_view name) {
  if (pool == PoolId::kPorts) return "NodePortRange";
  return fmt::format("{} of {} addresses", PlainName(name) == name ? "IPRange" : "ServiceCIDR",
                     pool == PoolId::kIpv4 ? "IPv4" : "IPv6");
}

bool Has(const Allocations::RangeState& range, const PoolValue& value) {
  const auto has = [&value](const std::optional<alloc::Interval>& band) {
    return band && band->Contains(value.value);
  };
  return has(range.static_band) || has(range.dynamic_band);
}

}  // namespace

std::optional<Reservation> Reservation::Begin(const Served& served, Value& object) {
  const bool port = served.row->kind == &api::kNodePortKind;
  if (!port && !served.view->shows_hidden) return std::nullopt;
  Reservation reservation(served, port);
  if (port) {
    reservation.named_ = codec::StringAt(object, "spec", "nodePortRangeRef", "name");
    return reservation;
  }
  reservation.notes_ = rules::NotesOfHidden(rules::TakeInternalAnnotations(object));
  reservation.named_ = reservation.notes_.range;
  // Something has to stand there until it is known what.
  if (reservation.named_.empty()) {
    codec::SetAt(object, {"spec", "parentRef", "name"}, rules::kIpv4RangeName);
  }
  return reservation;
}

tl::expected<commit::Compare, commit::Refusal> Reservation::Place(const Surroundings& around,
                                                                  std::string_view name,
                                                                  Value& object) {
  const auto value = ValueOf(object, port_);
  if (!value) return tl::unexpected(NotFound(served_.Kind(), name));
  // It takes nothing; it tells of which fence the ranges are.
  Allocations::TicketPtr nothing_to_wait_for;
  const auto grant = around.allocations.Plan({}, {}, {}, nothing_to_wait_for);
  commit::Compare fence{.key = FenceKey(value->pool),
                        .revision = grant ? grant->fences[static_cast<size_t>(value->pool)] : 0};
  auto range = FindRange(around.allocations, *value, name);
  if (range) {
    Fill(*range, around.now, object);
    return fence;
  }
  commit::Refusal refusal(std::move(range.error()));
  const state::ObjectPtr found = around.follower.Current()->Find(fence.key);
  const bool older = (found == nullptr ? 0 : found->Revision()) != fence.revision;
  if (older || (found != nullptr && ReadFence(*around.rows.fences, *found))) {
    // Nobody is refused before it is decided what becomes of ranges that are closing, nor for what
    // the allocator has not been told yet.
    refusal.wait = [&allocations = around.allocations, pool = value->pool,
                    seen = older && found ? found->Revision() - 1
                                          : fence.revision](std::function<void()> again) {
      return allocations.AwaitFence(pool, seen, std::move(again));
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

tl::expected<Allocations::RangeState, base::Error> Reservation::FindRange(
    const Allocations& allocations, const PoolValue& value, std::string_view name) const {
  const auto invalid = [&](const rules::Path& path, std::string_view text, std::string_view why) {
    rules::FieldErrors errors;
    errors.Invalid(path, text, why);
    return tl::unexpected(InvalidObject(errors, served_.Kind(), name));
  };
  const std::string text = RecordName(value);
  const rules::Path reference =
      rules::Path("spec").Child(port_ ? "nodePortRangeRef" : "ipRangeRef").Child("name");
  std::optional<RangeState> range;
  if (named_.empty()) {
    range = allocations.RangeWith(value);
    if (!range) {
      return invalid(rules::Path(port_ ? "metadata.name" : "spec.address"), text,
                     fmt::format("no range has this {}", port_ ? "port" : "address"));
    }
  } else {
    range = RangeCalled(allocations, value.pool, named_);
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

std::optional<std::string> Reservation::Advice(const Allocations& allocations,
                                               const Value& object) const {
  const bool for_somebody =
      port_ ? codec::HasAt(object, "spec", "reservedFor") : !notes_.reserved_for.empty();
  const auto value = ValueOf(object, port_);
  if (!for_somebody || !value) return std::nullopt;
  return WithheldAdvice(allocations, *value);
}

std::string Reservation::Hidden() const { return port_ ? std::string() : rules::HiddenOf(notes_); }

}  // namespace berth::registry
