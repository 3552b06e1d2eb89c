#include "controllers/bitmap_repairer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "alloc/bitmap_change.h"
#include "api/kinds.h"
#include "codec/read.h"
#include "codec/timestamp.h"
#include "commit/bitmaps.h"
#include "rules/service_claims.h"

namespace berth::controllers {
namespace {

using alloc::BitmapId;
using alloc::PoolId;
using base::Reason;

constexpr size_t kMaxEvents = 100;  // In a pass.

int64_t RevisionOf(const state::ObjectPtr& object) { return object ? object->Revision() : 0; }

std::string KeyOf(BitmapId id) {
  return std::string(commit::kBitmaps[static_cast<size_t>(id)].key);
}

}  // namespace

BitmapRepairer::BitmapRepairer(Parts parts, const base::SeededRandom& random)
    : parts_(std::move(parts)),
      rows_(registry::RecordRowsOf(parts_.registry.GetKinds())),
      services_(*parts_.registry.GetKinds().FindRow(api::kServiceKind)),
      lease_(parts_.registry, "berth-bitmap-repair"),
      random_(random) {}

BitmapRepairer::Scene BitmapRepairer::Look() const {
  Scene scene{.picture = parts_.follower.Current(), .form = parts_.allocations.Form()};
  scene.repairs = RevisionOf(scene.picture->Find(lease_.Key()));
  return scene;
}

bool BitmapRepairer::IsUrgent() const {
  const Scene scene = Look();
  if (!commit::BitmapsCount(scene.form.form) || scene.form.bitmaps == nullptr) return false;
  return std::ranges::any_of(*scene.form.bitmaps, [&](const auto& bitmap) {
    if (!bitmap) return false;
    const auto stored = StoredIn(scene, bitmap->id);
    return !stored || stored->range != bitmap->form.range();
  });
}

base::Result<void> BitmapRepairer::Pass() {
  Scene scene = Look();
  if (!commit::BitmapsCount(scene.form.form) || scene.form.bitmaps == nullptr) {
    leaks_.clear();
    return {};
  }
  const Holdings holdings = HoldingsIn(*scene.picture);
  auto addresses = RepairAddresses(scene, holdings);
  if (!addresses && parts_.metrics != nullptr) parts_.metrics->addresses.failed.Add();
  auto ports = RepairPorts(scene, holdings);
  if (!ports && parts_.metrics != nullptr) parts_.metrics->ports.failed.Add();
  return addresses ? ports : addresses;
}

/// As upstream, an address is what the Service says, whatever that is.
BitmapRepairer::Holdings BitmapRepairer::HoldingsIn(const state::Snapshot& picture) const {
  Holdings holdings;
  for (auto at = picture.Seek(services_.prefix); at.Valid(); at.Next()) {
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

std::optional<alloc::RangeAllocation> BitmapRepairer::StoredIn(const Scene& scene,
                                                               BitmapId id) const {
  const auto found = scene.picture->Find(KeyOf(id));
  if (found == nullptr) return std::nullopt;
  const commit::BitmapView view = commit::ViewOf(*found);
  return alloc::RangeAllocation{.range = std::string(view.range), .data = std::string(view.data)};
}

base::Result<void> BitmapRepairer::RepairAddresses(Scene& scene, const Holdings& holdings) {
  std::vector<alloc::AddressBitmap> ranges;
  std::vector<const alloc::PoolBitmap*> bitmaps;
  for (const PoolId pool : {PoolId::kIpv4, PoolId::kIpv6}) {
    const auto& bitmap = (*scene.form.bitmaps)[static_cast<size_t>(pool)];
    if (!bitmap) continue;
    ranges.push_back({.range = ip::ParseCidr(bitmap->form.range()).value(),
                      .stored = StoredIn(scene, bitmap->id),
                      .leaks = leaks_[bitmap->id]});
    bitmaps.push_back(&*bitmap);
  }
  auto repaired = alloc::RepairAddresses(ranges, holdings.addresses);
  if (!repaired) return tl::unexpected(repaired.error());
  for (size_t i = 0; i < ranges.size(); ++i) {
    auto written = Write(scene, *bitmaps[i], repaired->ranges[i].bitmap);
    if (!written) return written;
    leaks_[bitmaps[i]->id] = std::move(repaired->ranges[i].leaks);
  }
  Report(repaired->findings, alloc::kAddressRepairer,
         parts_.metrics == nullptr ? nullptr : &parts_.metrics->addresses);
  return {};
}

base::Result<void> BitmapRepairer::RepairPorts(Scene& scene, const Holdings& holdings) {
  const auto& bitmap = (*scene.form.bitmaps)[static_cast<size_t>(PoolId::kPorts)];
  if (!bitmap) return {};
  auto repaired =
      alloc::RepairPorts(ip::ParsePortRange(bitmap->form.range()).value(),
                         StoredIn(scene, bitmap->id), holdings.ports, leaks_[bitmap->id]);
  if (!repaired) return tl::unexpected(repaired.error());
  if (auto written = Write(scene, *bitmap, repaired->ports.bitmap); !written) return written;
  leaks_[bitmap->id] = std::move(repaired->ports.leaks);
  Report(repaired->findings, alloc::kPortRepairer,
         parts_.metrics == nullptr ? nullptr : &parts_.metrics->ports);
  return {};
}

// Writing.

base::Result<void> BitmapRepairer::Write(Scene& scene, const alloc::PoolBitmap& bitmap,
                                         const alloc::RangeAllocation& repaired) {
  const auto stored = StoredIn(scene, bitmap.id);
  if (!stored || stored->range != repaired.range) return WriteWhole(scene, bitmap, repaired);
  const auto change = alloc::CompareBitmaps(bitmap.form, stored->data, repaired.data);
  if (change.taken.empty() && change.given.empty()) return {};
  return WriteChange(scene, bitmap, change);
}

/// Nothing is taken from a bitmap that is gone or another range's, so nobody is in the way.
base::Result<void> BitmapRepairer::WriteWhole(const Scene& scene, const alloc::PoolBitmap& bitmap,
                                              const alloc::RangeAllocation& repaired) {
  const std::string key = KeyOf(bitmap.id);
  const int64_t seen = RevisionOf(scene.picture->Find(key));
  commit::Write write{.key = key};
  write.transform = [&](const state::ObjectPtr& current) -> Decided {
    if (RevisionOf(current) != seen) return commit::Decision{};
    commit::Decision decision;
    decision.kind = commit::Decision::Kind::kPut;
    decision.stored = commit::StoredBitmap(repaired);
    decision.compares.push_back({.key = registry::kFormKey, .revision = scene.form.revision});
    auto wire = commit::BitmapToWire(decision.stored);
    if (!wire) return tl::unexpected(commit::Refusal(wire.error()));
    decision.wire = *std::move(wire);
    return decision;
  };
  const auto written = parts_.run(std::move(write));
  if (!written) return tl::unexpected(written.error());
  return {};
}

base::Result<void> BitmapRepairer::WriteChange(Scene& scene, const alloc::PoolBitmap& bitmap,
                                               const alloc::BitmapDifference& change) {
  commit::Write write{.key = lease_.Key()};
  write.transform = [&](const state::ObjectPtr& current) -> Decided {
    // Somebody else has repaired: in the next pass it is seen what is left.
    if (RevisionOf(current) != scene.repairs) return commit::Decision{};
    const auto stored = StoredIn({.picture = parts_.follower.Current(), .form = {}}, bitmap.id);
    if (!stored) return commit::Decision{};
    alloc::BitmapChange now;
    for (const alloc::U128 value : change.taken) {
      if (!alloc::IsBitSet(stored->data, *bitmap.form.BitOf(value))) now.takes.push_back(value);
    }
    now.gives = change.given;
    commit::Decision decision =
        lease_.Put(current,
                   {.phase = "repairing",
                    .done = static_cast<int64_t>(now.takes.size() + now.gives.size()),
                    .since = parts_.clock.Now()},
                   base::NewUuid(random_));
    decision.compares.push_back({.key = registry::kFormKey, .revision = scene.form.revision});
    decision.shared.push_back(
        commit::BitmapPut(static_cast<int>(bitmap.id), bitmap.form, std::move(now)));
    return decision;
  };
  const auto written = parts_.run(std::move(write));
  if (!written) return tl::unexpected(written.error());
  if (written->kind != commit::Written::Kind::kUnchanged) {
    scene.repairs = RevisionOf(written->object);
  }
  return {};
}

// Telling.

void BitmapRepairer::Report(const std::vector<alloc::Finding>& findings, std::string_view repairer,
                            obs::RepairMetrics::Loop* loop) {
  size_t events = 0;
  for (const alloc::Finding& finding : findings) {
    if (loop != nullptr) loop->Count(alloc::TypeOf(finding.kind));
    if (!finding.reason.empty() && ++events <= kMaxEvents) Raise(finding, repairer);
  }
  if (!findings.empty()) {
    parts_.log.Warn(
        "bitmaps did not say what Services hold",
        {{"repairer", std::string(repairer)}, {"findings", static_cast<int64_t>(findings.size())}});
  }
}

/// No two are called the same, also of one Service at one moment.
void BitmapRepairer::Raise(const alloc::Finding& finding, std::string_view repairer) {
  const auto found = parts_.follower.Current()->Find(finding.owner);
  if (found == nullptr) return;
  const auto service = registry::DecodeWithoutManagedFields(services_, *found);
  if (!service) return;
  const base::WallTime now = parts_.clock.Now();
  const registry::Row* row = parts_.registry.GetKinds().FindRow(api::kEventKind);
  codec::Value event = codec::Object{
      {"metadata",
       codec::Object{
           {"name", fmt::format("{}.{:x}", found->Name(),
                                static_cast<size_t>(now.time_since_epoch().count()) + ++raised_)},
           {"namespace", found->Namespace()}}},
      {"involvedObject", codec::Object{{"kind", "Service"},
                                       {"namespace", found->Namespace()},
                                       {"name", found->Name()},
                                       {"uid", codec::StringAt(*service, "metadata", "uid")},
                                       {"apiVersion", "v1"}}},
      {"reason", finding.reason},
      {"message", finding.note},
      {"type", "Warning"},
      {"eventTime", codec::FormatMicroTime(now)},
      {"action", finding.action},
      {"reportingComponent", repairer},
      {"reportingInstance", repairer}};
  parts_.registry.Create({.served = {.row = row, .view = row->views.data()},
                          .name_space = std::string(found->Namespace()),
                          .name = ""},
                         std::move(event), {.manager = "berth"},
                         [&log = parts_.log](const base::Result<registry::Outcome>& raised) {
                           if (!raised)
                             log.Warn("an event cannot be raised",
                                      {{"why", raised.error().message}});
                         });
}

}  // namespace berth::controllers
