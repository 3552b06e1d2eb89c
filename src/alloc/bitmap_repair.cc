#include "alloc/bitmap_repair.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "alloc/bitmap_change.h"
#include "ip/addr.h"

namespace berth::alloc {
namespace {

/// A leak is dropped in this pass.
constexpr int kPassesOfALeak = 3;

using Kind = Finding::Kind;

/// What becomes of one bitmap in a pass.
class Rebuilding {
 public:
  /// The values that are stored, and those that are held.
  Rebuilding(BitmapForm form, std::span<const U128> stored) : form_(std::move(form)) {
    const size_t bytes = static_cast<size_t>(form_.bits() / 8 + 1);
    rebuilt_.resize(bytes, '\0');
    unexplained_.resize(bytes, '\0');
    for (const U128 value : stored) {
      if (form_.BitOf(value)) WriteChange(form_, {.takes = {value}}, unexplained_);
    }
  }

  /// What is to be told about a value that somebody holds; nothing: all is well.
  std::optional<Kind> Hold(U128 value) {
    const auto bit = form_.BitOf(value);
    if (!bit) return Kind::kOutOfRange;
    if (IsBitSet(rebuilt_, *bit)) return Kind::kDuplicate;
    WriteChange(form_, {.takes = {value}}, rebuilt_);
    const bool was_stored = IsBitSet(unexplained_, *bit);
    WriteChange(form_, {.gives = {value}}, unexplained_);
    if (was_stored) return std::nullopt;
    return Kind::kRepair;
  }

  /// When all that is held is known.
  RepairedBitmap Finish(const Leaks& before, std::vector<Finding>& findings) {
    RepairedBitmap repaired;
    for (const U128 value : CompareBitmaps(form_, {}, unexplained_).taken) {
      const auto known = before.find(value);
      const int passes = known == before.end() ? 1 : known->second + 1;
      if (passes >= kPassesOfALeak) {
        findings.push_back({.kind = Kind::kLeak});
        continue;
      }
      repaired.leaks.emplace(value, passes);
      WriteChange(form_, {.takes = {value}}, rebuilt_);
    }
    rebuilt_.erase(0, LeadingZeros(rebuilt_));
    repaired.bitmap = {.range = form_.range(), .data = std::move(rebuilt_)};
    return repaired;
  }

 private:
  BitmapForm form_;
  std::string rebuilt_;      // Without gaps at its beginning until it is finished.
  std::string unexplained_;  // Stored, and not held by anybody so far.
};

/// The form of a range that is stored, whichever it is.
base::Result<BitmapForm> PortForm(const std::string& range) {
  return ip::ParsePortRange(range).map(
      [](const ip::PortRange& ports) { return BitmapForm::Of(ports); });
}
base::Result<BitmapForm> AddressForm(const std::string& range) {
  const auto read = ip::ParseCidrLoose(range);
  if (!read) return base::Fail(base::Reason::kInvalid, "invalid CIDR address: " + range);
  return BitmapForm::Of(read->cidr);
}

std::vector<U128> Values(const BitmapForm& form, const RangeAllocation& stored) {
  return CompareBitmaps(form, {}, stored.data).taken;
}

/// A bitmap that nobody has written yet has no range.
base::Result<Rebuilding> Begin(const BitmapForm& form, const std::optional<RangeAllocation>& stored,
                               base::Result<BitmapForm> (*form_of)(const std::string&)) {
  if (!stored || stored->range.empty()) return Rebuilding(form, {});
  const auto stored_form = form_of(stored->range);
  if (!stored_form) {
    return base::Fail(base::Reason::kInternalError,
                      "unable to rebuild allocator from snapshot: " + stored_form.error().message);
  }
  return Rebuilding(form, Values(*stored_form, *stored));
}

Finding PortFinding(Kind kind, const PortHolding& holding, const ip::PortRange& range) {
  Finding finding{.kind = kind, .owner = holding.owner, .action = "PortAllocation"};
  switch (kind) {
    case Kind::kDuplicate:
      finding.reason = "PortAlreadyAllocated";
      finding.note = fmt::format(
          "Port {} was assigned to multiple services; please recreate service", holding.port);
      break;
    case Kind::kOutOfRange:
      finding.reason = "PortOutOfRange";
      finding.note = fmt::format("Port {} is not within the port range {}; please recreate service",
                                 holding.port, range.ToString());
      break;
    default:
      finding.reason = "PortNotAllocated";
      finding.note = fmt::format("Port {} is not allocated; repairing", holding.port);
  }
  return finding;
}

Finding InvalidAddress(const AddressHolding& holding, std::string_view what) {
  return {.kind = Kind::kInvalid,
          .owner = holding.owner,
          .reason = "ClusterIPNotValid",
          .action = "ClusterIPValidation",
          .note = fmt::format("Cluster IP {}; please recreate service", what)};
}

Finding AddressFinding(Kind kind, const AddressHolding& holding, const ip::Addr& address,
                       const ip::Cidr& range) {
  Finding finding{.kind = kind, .owner = holding.owner, .action = "ClusterIPAllocation"};
  const std::string named =
      fmt::format("[{}]:{}", ip::FamilyText(address.family()), address.ToString());
  switch (kind) {
    case Kind::kDuplicate:
      finding.reason = "ClusterIPAlreadyAllocated";
      finding.note = fmt::format(
          "Cluster IP {} was assigned to multiple services; please recreate service", named);
      break;
    case Kind::kOutOfRange:
      finding.reason = "ClusterIPOutOfRange";
      finding.note =
          fmt::format("Cluster IP {} is not within the service CIDR {}; please recreate service",
                      named, range.ToString());
      break;
    default:
      finding.reason = "ClusterIPNotAllocated";
      finding.note = fmt::format("Cluster IP {} is not allocated; repairing", named);
  }
  return finding;
}

}  // namespace

std::string_view TypeOf(Finding::Kind kind) {
  constexpr std::array<std::string_view, 5> kTypes = {"repair", "duplicate", "outOfRange", "leak",
                                                      "invalid"};
  return kTypes[static_cast<size_t>(kind)];
}

base::Result<RepairedPorts> RepairPorts(const ip::PortRange& range,
                                        const std::optional<RangeAllocation>& stored,
                                        std::span<const PortHolding> holdings, const Leaks& leaks) {
  auto rebuilding = Begin(BitmapForm::Of(range), stored, PortForm);
  if (!rebuilding) return tl::unexpected(std::move(rebuilding.error()));
  RepairedPorts repaired;
  for (const PortHolding& holding : holdings) {
    const auto kind = rebuilding->Hold(holding.port);
    if (kind) repaired.findings.push_back(PortFinding(*kind, holding, range));
  }
  repaired.ports = rebuilding->Finish(leaks, repaired.findings);
  return repaired;
}

base::Result<RepairedAddresses> RepairAddresses(std::span<const AddressBitmap> ranges,
                                                std::span<const AddressHolding> holdings) {
  std::vector<Rebuilding> rebuildings;
  for (const AddressBitmap& range : ranges) {
    auto rebuilding = Begin(BitmapForm::Of(range.range), range.stored, AddressForm);
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
    const auto kind = rebuildings[i].Hold(address.bits());
    if (kind) {
      repaired.findings.push_back(AddressFinding(*kind, holding, address, ranges[i].range));
    }
  }
  for (size_t i = 0; i < ranges.size(); ++i) {
    repaired.ranges.push_back(rebuildings[i].Finish(ranges[i].leaks, repaired.findings));
  }
  return repaired;
}

}  // namespace berth::alloc
