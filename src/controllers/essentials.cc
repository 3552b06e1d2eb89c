#include "controllers/essentials.h"

#include <fmt/format.h>

#include <chrono>
#include <string_view>
#include <utility>
#include <vector>

#include "allocation/allocation_forms.h"
#include "allocation/fences.h"
#include "allocation/records.h"
#include "api/kinds.h"
#include "codec/read.h"
#include "registry/deletion.h"
#include "rules/range_spec.h"

namespace berth::controllers {
namespace {

constexpr std::chrono::milliseconds kLookEvery{500};
/// The first namespaces that clients cannot delete.
constexpr auto kLastingNamespaces =
    std::to_array<std::string_view>({"default", "kube-system", "kube-public"});

codec::Value DecodedOrNull(const registry::Row& row, const state::ObjectPtr& object) {
  if (!object) return {};
  return registry::Registry::Decode(row, *object).value_or(codec::Value());
}

/// Adds the keys of the default ServiceCIDR and of its IPRanges, unless clients may have deleted
/// them: they delete both, and only while another range serves.
void AddRangeKeys(const allocation::RecordRows& rows, const state::Snapshot& snapshot,
                  std::vector<std::string>& keys) {
  const std::string cidr_key =
      rows.service_cidrs->prefix + std::string(allocation::kDefaultServiceCidr);
  const codec::Value cidr = DecodedOrNull(*rows.service_cidrs, snapshot.Find(cidr_key));
  const auto range_key = [&rows](ip::Family family) {
    return rows.ip_ranges->prefix + std::string(rules::WellKnownRange(family));
  };
  if (cidr.IsNull()) {
    bool lost = !snapshot.Seek(rows.ip_ranges->prefix).Valid() &&
                !snapshot.Seek(rows.service_cidrs->prefix).Valid();
    for (const ip::Family family : {ip::Family::kV4, ip::Family::kV6}) {
      const auto range = snapshot.Find(range_key(family));
      lost = lost || (range && !registry::IsBeingDeleted(DecodedOrNull(*rows.ip_ranges, range)));
    }
    if (lost) keys.push_back(cidr_key);
    return;
  }
  if (registry::IsBeingDeleted(cidr)) return;
  for (const std::string& text : codec::Texts(codec::ArrayAt(cidr, "spec", "cidrs"))) {
    if (const auto parsed = ip::ParseCidr(text)) keys.push_back(range_key(parsed->family()));
  }
}

}  // namespace

std::string LostEssential::Text() const {
  return undecodable ? fmt::format(
                           "what is stored under {} cannot be decoded; repair it in the store, or "
                           "delete it there to have it made again",
                           key)
                     : fmt::format("{} is gone from the store; it is made again", key);
}

std::optional<LostEssential> FindLost(const registry::Registry& registry,
                                      const state::Follower& follower) {
  const allocation::RecordRows rows = allocation::RecordRowsOf(registry.GetKinds());
  const state::SnapshotPtr snapshot = follower.Current();
  std::vector<std::string> keys = {allocation::kFormKey, allocation::FenceKey(alloc::PoolId::kIpv4),
                                   allocation::FenceKey(alloc::PoolId::kIpv6),
                                   allocation::FenceKey(alloc::PoolId::kPorts)};
  keys.push_back(rows.node_port_ranges->prefix + std::string(rules::kNodePortRangeName));
  AddRangeKeys(rows, *snapshot, keys);
  const registry::Row& namespaces = *registry.GetKinds().FindRow(api::kNamespaceKind);
  for (const std::string_view name : kLastingNamespaces) {
    keys.push_back(namespaces.prefix + std::string(name));
  }
  for (std::string& key : keys) {
    if (snapshot->Find(key)) continue;
    const bool undecodable = follower.IsUndecodable(key);
    return LostEssential{.key = std::move(key), .undecodable = undecodable};
  }
  return std::nullopt;
}

EssentialsKeeper::EssentialsKeeper(BootstrapParts parts, BootstrapOptions options)
    : parts_(std::move(parts)), options_(std::move(options)) {}

EssentialsKeeper::~EssentialsKeeper() { Stop(); }

void EssentialsKeeper::Start() {
  thread_ = std::thread([this] { Run(); });
}

void EssentialsKeeper::AskToStop() {
  base::MutexLock lock(mutex_);
  stop_ = true;
  wake_.NotifyAll();
}

void EssentialsKeeper::Stop() {
  AskToStop();
  if (thread_.joinable()) thread_.join();
}

void EssentialsKeeper::Run() {
  for (;;) {
    {
      base::MutexLock lock(mutex_);
      if (!stop_) wake_.WaitFor(mutex_, kLookEvery);
      if (stop_) return;
    }
    Look();
  }
}

void EssentialsKeeper::Look() {
  if (!parts_.follower.Ready()) return;
  const auto lost = FindLost(parts_.registry, parts_.follower);
  if (!lost || lost->undecodable) return;
  const auto made = EnsureEssentials(parts_, options_);
  if (made) {
    parts_.log.Warn("something that the server needs was gone from the store, and is made again",
                    {{"key", lost->key}});
    last_failure_.clear();
  } else if (std::exchange(last_failure_, made.error().message) != made.error().message) {
    parts_.log.Error("something that the server needs is gone from the store, and cannot be made",
                     {{"key", lost->key}, {"why", made.error().message}});
  }
}

}  // namespace berth::controllers
