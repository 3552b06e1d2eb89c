#include "allocation/bitmaps/bitmap_repair.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "allocation/bitmaps/bitmap_change.h"
#include "ip/addr.h"

namespace berth::allocation {
namespace {

/// The pass in a row in which a leak is dropped.
constexpr int kPassesOfALeak = 3;

using Kind = Finding::Kind;

/// One bitmap while it is rebuilt in a pass.
class Rebuilding {
 public:
  /// Starts with the values that are stored.
  Rebuilding(BitmapLayout layout, std::span<const U128> stored) : layout_(std::move(layout)) {
    const size_t bytes = static_cast<size_t>(layout_.bits() / 8 + 1);
    rebuilt_.resize(bytes, '\0');
    unexplained_.resize(bytes, '\0');
    for (const U128 value : stored) {
      if (layout_.BitOf(value)) WriteChange(layout_, {.takes = {value}}, unexplained_);
    }
  }

  /// Adds a held value. Returns whether its bit was missing.
  bool Hold(U128 value) {
    const auto bit = layout_.BitOf(value);
    if (!bit || IsBitSet(rebuilt_, *bit)) return false;
    WriteChange(layout_, {.takes = {value}}, rebuilt_);
    const bool was_stored = IsBitSet(unexplained_, *bit);
    WriteChange(layout_, {.releases = {value}}, unexplained_);
    return !was_stored;
  }

  /// Returns the repaired bitmap. All held values must have been added.
  RepairedBitmap Finish(const Leaks& before, std::vector<Finding>& findings) {
    RepairedBitmap repaired;
    for (const U128 value : CompareBitmaps(layout_, {}, unexplained_).taken) {
      const auto known = before.find(value);
      const int passes = known == before.end() ? 1 : known->second + 1;
      if (passes >= kPassesOfALeak) {
        findings.push_back({.kind = Kind::kLeak});
        continue;
      }
      repaired.leaks.emplace(value, passes);
      WriteChange(layout_, {.takes = {value}}, rebuilt_);
    }
    rebuilt_.erase(0, LeadingZeros(rebuilt_));
    repaired.bitmap = {.range = layout_.range(), .data = std::move(rebuilt_)};
    return repaired;
  }

 private:
  BitmapLayout layout_;
  std::string rebuilt_;      // With its leading zero bytes until it is finished.
  std::string unexplained_;  // Stored, and without a holder so far.
};

/// Returns the layout of a stored bitmap, of whatever range it is.
base::Result<BitmapLayout> PortLayout(const std::string& range) {
  return ip::ParsePortRange(range).map(
      [](const ip::PortRange& ports) { return BitmapLayout::Of(ports); });
}
base::Result<BitmapLayout> AddressLayout(const std::string& range) {
  const auto read = ip::ParseCidrLoose(range);
  if (!read) return base::Fail(base::Reason::kInvalid, "invalid CIDR address: " + range);
  return BitmapLayout::Of(read->cidr);
}

std::vector<U128> Values(const BitmapLayout& layout, const RangeAllocation& stored) {
  return CompareBitmaps(layout, {}, stored.data).taken;
}

/// A bitmap that was never written has no range.
base::Result<Rebuilding> Begin(const BitmapLayout& layout,
                               const std::optional<RangeAllocation>& stored,
                               base::Result<BitmapLayout> (*layout_of)(const std::string&)) {
  if (!stored || stored->range.empty()) return Rebuilding(layout, {});
  const auto stored_layout = layout_of(stored->range);
  if (!stored_layout) {
    return base::Fail(base::Reason::kInternalError, "unable to rebuild allocator from snapshot: " +
                                                        stored_layout.error().message);
  }
  return Rebuilding(layout, Values(*stored_layout, *stored));
}

Finding MissingPort(const PortHolding& holding) {
  return {.kind = Kind::kRepair,
          .owner = holding.owner,
          .reason = "PortNotAllocated",
          .action = "PortAllocation",
          .note = fmt::format("Port {} is not allocated; repairing", holding.port)};
}

Finding InvalidAddress(const AddressHolding& holding, std::string_view what) {
  return {.kind = Kind::kInvalid,
          .owner = holding.owner,
          .reason = "ClusterIPNotValid",
          .action = "ClusterIPValidation",
          .note = fmt::format("Cluster IP {}; please recreate service", what)};
}

Finding MissingAddress(const AddressHolding& holding, const ip::Addr& address) {
  return {.kind = Kind::kRepair,
          .owner = holding.owner,
          .reason = "ClusterIPNotAllocated",
          .action = "ClusterIPAllocation",
          .note = fmt::format("Cluster IP [{}]:{} is not allocated; repairing",
                              ip::FamilyText(address.family()), address.ToString())};
}

}  // namespace

std::string_view TypeOf(Finding::Kind kind) {
  constexpr std::array<std::string_view, 3> kTypes = {"repair", "leak", "invalid"};
  return kTypes[static_cast<size_t>(kind)];
}

base::Result<RepairedPorts> RepairPorts(const ip::PortRange& range,
                                        const std::optional<RangeAllocation>& stored,
                                        std::span<const PortHolding> holdings, const Leaks& leaks) {
  auto rebuilding = Begin(BitmapLayout::Of(range), stored, PortLayout);
  if (!rebuilding) return tl::unexpected(std::move(rebuilding.error()));
  RepairedPorts repaired;
  for (const PortHolding& holding : holdings) {
    if (rebuilding->Hold(holding.port)) repaired.findings.push_back(MissingPort(holding));
  }
  repaired.ports = rebuilding->Finish(leaks, repaired.findings);
  return repaired;
}

base::Result<RepairedAddresses> RepairAddresses(std::span<const AddressBitmap> ranges,
                                                std::span<const AddressHolding> holdings) {
  std::vector<Rebuilding> rebuildings;
  for (const AddressBitmap& range : ranges) {
    auto rebuilding = Begin(BitmapLayout::Of(range.range), range.stored, AddressLayout);
    if (!rebuilding) return tl::unexpected(std::move(rebuilding.error()));
    rebuildings.push_back(*std::move(rebuilding));
  }
  RepairedAddresses repaired;
  for (const AddressHolding& holding : holdings) {
    const auto read = ip::ParseAddrLoose(holding.address);
    if (!read) {
      repaired.findings.push_back(InvalidAddress(holding, "<nil> is not a valid IP"));
      continue;
    }
    const ip::Addr& address = read->addr;
    size_t i = 0;
    while (i < ranges.size() && ranges[i].range.family() != address.family()) ++i;
    if (i == ranges.size()) {
      repaired.findings.push_back(InvalidAddress(
          holding, fmt::format("{}({}) is of ip family that is no longer configured on cluster",
                               address.ToString(), ip::FamilyText(address.family()))));
      continue;
    }
    if (rebuildings[i].Hold(address.bits())) {
      repaired.findings.push_back(MissingAddress(holding, address));
    }
  }
  for (size_t i = 0; i < ranges.size(); ++i) {
    repaired.ranges.push_back(rebuildings[i].Finish(ranges[i].leaks, repaired.findings));
  }
  return repaired;
}

}  // namespace berth::allocation
