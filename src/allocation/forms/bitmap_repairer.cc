#include "allocation/forms/bitmap_repairer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "allocation/bitmaps/bitmap_change.h"
#include "allocation/bitmaps/stored_bitmaps.h"
#include "allocation/ledger/ledger_view.h"
#include "api/kinds.h"
#include "codec/read.h"
#include "rules/service_claims.h"
#include "state/object.h"
#include "state/wire_bitmap.h"

namespace berth::allocation {
namespace {

using alloc::PoolId;

constexpr size_t kMaxEvents = 100;  // In one pass.

PoolId PoolOfBitmap(const PoolBitmap& bitmap) {
  const auto cidr = ip::ParseCidr(bitmap.layout.range());
  return cidr ? alloc::PoolOf(cidr->family()) : PoolId::kPorts;
}

}  // namespace

BitmapRepairer::BitmapRepairer(Parts parts, const base::SeededRandom& random)
    : parts_(std::move(parts)),
      rows_(RecordRowsOf(parts_.registry.GetKinds())),
      services_(*parts_.registry.GetKinds().FindRow(api::kServiceKind)),
      lease_(parts_.registry, "berth-bitmap-repair"),
      random_(random),
      events_(parts_.registry, parts_.clock, parts_.log) {}

BitmapRepairer::Scene BitmapRepairer::Look() const {
  Scene scene{.snapshot = parts_.follower.Current(), .form = parts_.ledger.Form()};
  scene.repairs = state::RevisionOf(scene.snapshot->Find(lease_.Key()));
  return scene;
}

bool BitmapRepairer::IsUrgent() const {
  const Scene scene = Look();
  if (!BitmapsCount(scene.form.form) || scene.form.bitmaps == nullptr) return false;
  return std::ranges::any_of(*scene.form.bitmaps, [&](const auto& bitmap) {
    if (!bitmap) return false;
    const auto stored = StoredIn(scene, bitmap->id);
    return !stored || stored->range != bitmap->layout.range();
  });
}

base::Result<void> BitmapRepairer::Pass() {
  Scene scene = Look();
  if (!BitmapsCount(scene.form.form) || scene.form.bitmaps == nullptr) {
    leaks_.clear();
    return {};
  }
  const Holdings holdings = HoldingsIn(*scene.snapshot);
  auto addresses = RepairAddresses(scene, holdings);
  if (!addresses && parts_.metrics != nullptr) parts_.metrics->addresses.failed.Add();
  auto ports = RepairPorts(scene, holdings);
  if (!ports && parts_.metrics != nullptr) parts_.metrics->ports.failed.Add();
  return addresses ? ports : addresses;
}

/// As in Kubernetes, an address counts as held if a Service says so, even if it is not valid.
BitmapRepairer::Holdings BitmapRepairer::HoldingsIn(const state::Snapshot& snapshot) const {
  Holdings holdings;
  for (auto at = snapshot.Seek(services_.prefix); at.Valid(); at.Next()) {
    const auto service = registry::DecodeWithoutManagedFields(services_, *at.Get());
    if (!service || codec::StringAt(*service, "spec", "type") == "ExternalName") continue;
    const std::string owner = at.Get()->Key();
    for (const std::string& address :
         codec::Texts(codec::ArrayAt(*service, "spec", "clusterIPs"))) {
      if (address.empty() || address == "None") continue;
      holdings.addresses.push_back({.address = address, .owner = owner});
    }
    for (const uint16_t port : rules::HoldingsOf(*service).ports) {
      holdings.ports.push_back({.port = port, .owner = owner});
    }
  }
  return holdings;
}

std::optional<RangeAllocation> BitmapRepairer::StoredIn(const Scene& scene, BitmapId id) const {
  const auto found = scene.snapshot->Find(KeyOf(id));
  if (found == nullptr) return std::nullopt;
  const BitmapView view = ViewOf(*found);
  return RangeAllocation{.range = std::string(view.range), .data = std::string(view.data)};
}

base::Result<void> BitmapRepairer::RepairAddresses(Scene& scene, const Holdings& holdings) {
  std::vector<AddressBitmap> ranges;
  std::vector<const PoolBitmap*> bitmaps;
  for (const PoolId pool : {PoolId::kIpv4, PoolId::kIpv6}) {
    const auto& bitmap = (*scene.form.bitmaps)[pool];
    if (!bitmap) continue;
    ranges.push_back({.range = ip::ParseCidr(bitmap->layout.range()).value(),
                      .stored = StoredIn(scene, bitmap->id),
                      .leaks = leaks_[bitmap->id]});
    bitmaps.push_back(&*bitmap);
  }
  auto repaired = allocation::RepairAddresses(ranges, holdings.addresses);
  if (!repaired) return tl::unexpected(repaired.error());
  for (size_t i = 0; i < ranges.size(); ++i) {
    auto written = Write(scene, *bitmaps[i], repaired->ranges[i].bitmap);
    if (!written) return written;
    leaks_[bitmaps[i]->id] = std::move(repaired->ranges[i].leaks);
  }
  Report(repaired->findings, kAddressRepairer,
         parts_.metrics == nullptr ? nullptr : &parts_.metrics->addresses);
  return {};
}

base::Result<void> BitmapRepairer::RepairPorts(Scene& scene, const Holdings& holdings) {
  const auto& bitmap = (*scene.form.bitmaps)[static_cast<size_t>(PoolId::kPorts)];
  if (!bitmap) return {};
  auto repaired =
      allocation::RepairPorts(ip::ParsePortRange(bitmap->layout.range()).value(),
                              StoredIn(scene, bitmap->id), holdings.ports, leaks_[bitmap->id]);
  if (!repaired) return tl::unexpected(repaired.error());
  if (auto written = Write(scene, *bitmap, repaired->ports.bitmap); !written) return written;
  leaks_[bitmap->id] = std::move(repaired->ports.leaks);
  Report(repaired->findings, kPortRepairer,
         parts_.metrics == nullptr ? nullptr : &parts_.metrics->ports);
  return {};
}

// Writing.

base::Result<void> BitmapRepairer::Write(Scene& scene, const PoolBitmap& bitmap,
                                         const RangeAllocation& repaired) {
  const auto stored = StoredIn(scene, bitmap.id);
  if (!stored || stored->range != repaired.range) return WriteWhole(scene, bitmap, repaired);
  const auto change = CompareBitmaps(bitmap.layout, stored->data, repaired.data);
  if (change.taken.empty() && change.released.empty()) return {};
  return WriteChange(scene, bitmap, change);
}

/// Puts the whole bitmap. Nothing is taken from a bitmap that was deleted or is of another range,
/// so no write is in the way.
base::Result<void> BitmapRepairer::WriteWhole(const Scene& scene, const PoolBitmap& bitmap,
                                              const RangeAllocation& repaired) {
  const std::string key = KeyOf(bitmap.id);
  const int64_t seen = state::RevisionOf(scene.snapshot->Find(key));
  commit::Write write{.key = key};
  write.transform = [&](const state::Snapshot&, const state::ObjectPtr& current) -> Decided {
    if (state::RevisionOf(current) != seen) return commit::Decision{};
    commit::Decision decision;
    decision.kind = commit::Decision::Kind::kPut;
    decision.stored = StoredBitmap(repaired);
    decision.compares.push_back({.key = kFormKey, .revision = scene.form.revision});
    auto wire = state::BitmapToWire(decision.stored);
    if (!wire) return tl::unexpected(commit::Refusal(wire.error()));
    decision.wire = *std::move(wire);
    return decision;
  };
  const auto written = parts_.run(std::move(write));
  if (!written) return tl::unexpected(written.error());
  return {};
}

base::Result<void> BitmapRepairer::WriteChange(Scene& scene, const PoolBitmap& bitmap,
                                               const BitmapDifference& change) {
  commit::Write write{.key = lease_.Key()};
  write.transform = [&](const state::Snapshot&, const state::ObjectPtr& current) -> Decided {
    // Another server has repaired. The next pass sees what is left to do.
    if (state::RevisionOf(current) != scene.repairs) return commit::Decision{};
    const auto stored = StoredIn({.snapshot = parts_.follower.Current(), .form = {}}, bitmap.id);
    if (!stored) return commit::Decision{};
    BitmapChange now;
    for (const alloc::U128 value : change.taken) {
      if (!IsBitSet(stored->data, *bitmap.layout.BitOf(value))) now.takes.push_back(value);
    }
    // A Service may have been written straight into the store since the snapshot of the pass.
    for (const alloc::U128 value : change.released) {
      const PoolValue released{.pool = PoolOfBitmap(bitmap), .value = value};
      if (LedgerView(parts_.ledger).HoldersOf(released) == 0) now.releases.push_back(value);
    }
    if (now.takes.empty() && now.releases.empty()) return commit::Decision{};
    commit::Decision decision =
        lease_.Put(current,
                   {.phase = "repairing",
                    .done = static_cast<int64_t>(now.takes.size() + now.releases.size()),
                    .since = parts_.clock.Now()},
                   base::NewUuid(random_));
    decision.compares.push_back({.key = kFormKey, .revision = scene.form.revision});
    decision.shared.push_back(BitmapPut(bitmap.id, bitmap.layout, std::move(now)));
    return decision;
  };
  const auto written = parts_.run(std::move(write));
  if (!written) return tl::unexpected(written.error());
  if (written->kind != commit::Written::Kind::kUnchanged) {
    scene.repairs = state::RevisionOf(written->object);
  }
  return {};
}

// Reporting.

void BitmapRepairer::Report(const std::vector<Finding>& findings, std::string_view repairer,
                            obs::RepairMetrics::Loop* loop) {
  size_t events = 0;
  for (const Finding& finding : findings) {
    if (loop != nullptr) loop->Count(TypeOf(finding.kind));
    if (!finding.reason.empty() && ++events <= kMaxEvents) Raise(finding, repairer);
  }
  if (!findings.empty()) {
    parts_.log.Warn(
        "bitmaps differed from what Services hold",
        {{"repairer", std::string(repairer)}, {"findings", static_cast<int64_t>(findings.size())}});
  }
}

void BitmapRepairer::Raise(const Finding& finding, std::string_view repairer) {
  const auto found = parts_.follower.Current()->Find(finding.owner);
  if (found == nullptr) return;
  const auto service = registry::DecodeWithoutManagedFields(services_, *found);
  if (!service) return;
  events_.Raise({.kind = "Service",
                 .api_version = "v1",
                 .name_space = std::string(found->Namespace()),
                 .name = std::string(found->Name()),
                 .uid = std::string(codec::StringAt(*service, "metadata", "uid")),
                 .reason = finding.reason,
                 .action = finding.action,
                 .note = finding.note,
                 .reporter = repairer});
}

}  // namespace berth::allocation
