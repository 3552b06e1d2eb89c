#include "controllers/range_takeover.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>

#include "alloc/layout.h"
#include "allocation/ledger/ledger_view.h"
#include "api/kinds.h"
#include "codec/read.h"
#include "registry/deletion.h"
#include "registry/object_errors.h"
#include "rules/range_spec.h"

namespace berth::controllers {
namespace {

using allocation::RecordRows;
using base::Result;
using codec::Value;

constexpr std::chrono::seconds kTakeoverEvery{1};
constexpr std::chrono::seconds kAgainIfChanged{3};
constexpr std::chrono::seconds kAgainAnyway{60};

std::optional<Value> Stored(const registry::Row& row, const state::Snapshot& snapshot,
                            std::string_view name) {
  const auto stored = snapshot.Find(row.prefix + std::string(name));
  if (stored == nullptr) return std::nullopt;
  auto object = registry::Registry::Decode(row, *stored);
  if (!object) return std::nullopt;
  return *std::move(object);
}

std::vector<std::string> TextsOf(std::span<const ip::Cidr> cidrs) {
  std::vector<std::string> texts;
  for (const ip::Cidr& cidr : cidrs) texts.push_back(cidr.ToString());
  return texts;
}

/// Returns the address that default/kubernetes gets when `cidrs` are the first ranges.
std::string AddressOfKubernetes(std::span<const ip::Cidr> cidrs) {
  const auto layout = alloc::LayoutOf(cidrs.front());
  if (!layout || !layout->span()) return {};
  return ip::Addr(cidrs.front().family(), layout->span()->first).ToString();
}

std::optional<Value> StoredKubernetes(const RecordRows& rows, const state::Snapshot& snapshot) {
  return Stored(*rows.services, snapshot, "default/kubernetes");
}

/// Returns an error if default/kubernetes could not get its address, because something else has it.
std::optional<base::Error> CheckAddress(const RecordRows& rows, const state::Snapshot& snapshot,
                                        std::span<const ip::Cidr> cidrs) {
  const std::string address = AddressOfKubernetes(cidrs);
  const auto service = StoredKubernetes(rows, snapshot);
  if (service && codec::StringAt(*service, "spec", "clusterIP") == address) return std::nullopt;
  const auto record = snapshot.Find(rows.ip_addresses->prefix + address);
  if (record == nullptr || allocation::IsCooling(rows, *record)) return std::nullopt;
  return registry::Conflict(
      api::kServiceCidrKind, allocation::kDefaultServiceCidr,
      fmt::format("default/kubernetes is to have the address {}, which is in use or reserved; "
                  "kubectl get ipaddresses.networking.k8s.io {} shows by whom",
                  address, address));
}

void Reset(const TakeoverParts& parts, const std::vector<ip::Cidr>& cidrs, bool dry_run,
           TakenOver done) {
  parts.ranges.Reset(
      {.cidrs = cidrs, .dry_run = dry_run},
      [done = std::move(done)](const Result<commit::Written>& written) {
        done(written ? Result<void>() : Result<void>(tl::unexpected(written.error())));
      });
}

/// Deletes default/kubernetes if it has another address than it is to have.
void LetKubernetesGo(const TakeoverParts& parts, const std::vector<ip::Cidr>& cidrs,
                     TakenOver done) {
  const RecordRows rows = allocation::RecordRowsOf(parts.registry.GetKinds());
  const auto service = StoredKubernetes(rows, *parts.follower.Current());
  if (!service || codec::StringAt(*service, "spec", "clusterIP") == AddressOfKubernetes(cidrs)) {
    return done({});
  }
  parts.registry.Delete({.served = {.row = rows.services, .view = rows.services->views.data()},
                         .name_space = "default",
                         .name = "kubernetes"},
                        {.uid = std::string(codec::StringAt(*service, "metadata", "uid"))}, {},
                        [done = std::move(done)](const Result<registry::Outcome>& gone) {
                          const bool fine = gone || gone.error().reason == base::Reason::kNotFound;
                          done(fine ? Result<void>() : tl::unexpected(gone.error()));
                        });
}

}  // namespace

bool AwaitsTakeover(const RecordRows& rows, const state::Snapshot& snapshot,
                    std::span<const ip::Cidr> cidrs) {
  const auto cidr = Stored(*rows.service_cidrs, snapshot, allocation::kDefaultServiceCidr);
  const std::vector<std::string> wanted = TextsOf(cidrs);
  if (!cidr || wanted.empty()) return false;
  if (codec::Texts(codec::ArrayAt(*cidr, "spec", "cidrs")) == wanted) return false;
  const bool leaves = registry::IsBeingDeleted(*cidr);
  bool any = leaves;
  for (const std::string_view name : {rules::kIpv4RangeName, rules::kIpv6RangeName}) {
    const auto range = Stored(*rows.ip_ranges, snapshot, name);
    if (!range) continue;
    if (std::ranges::count(wanted, codec::StringAt(*range, "spec", "range")) > 0) continue;
    if (!leaves && !codec::BoolAt(*range, "spec", "disabled")) return false;
    any = true;
  }
  return any;
}

void CheckTakeover(const TakeoverParts& parts, const std::vector<ip::Cidr>& cidrs, TakenOver done) {
  const RecordRows rows = allocation::RecordRowsOf(parts.registry.GetKinds());
  if (auto error = CheckAddress(rows, *parts.follower.Current(), cidrs)) {
    return done(tl::unexpected(*std::move(error)));
  }
  Reset(parts, cidrs, /*dry_run=*/true, std::move(done));
}

void TakeOver(const TakeoverParts& parts, const std::vector<ip::Cidr>& cidrs, TakenOver done) {
  CheckTakeover(parts, cidrs, [parts, cidrs, done = std::move(done)](const Result<void>& free) {
    if (!free) return done(free);
    LetKubernetesGo(parts, cidrs, [parts, cidrs, done](const Result<void>& gone) {
      if (!gone) return done(gone);
      Reset(parts, cidrs, /*dry_run=*/false, done);
    });
  });
}

RangeTakeover::RangeTakeover(const Context& context, allocation::Ledger& ledger,
                             allocation::RangeChanges& ranges, std::vector<ip::Cidr> cidrs,
                             std::function<void()> moved)
    : context_(context),
      ledger_(ledger),
      parts_{context.registry, context.follower, ranges},
      rows_(allocation::RecordRowsOf(context.registry.GetKinds())),
      cidrs_(std::move(cidrs)),
      moved_(std::move(moved)),
      due_(context.clock.Steady()) {}

base::SteadyTime RangeTakeover::NextDue() const {
  return cidrs_.empty() || under_way_ ? base::SteadyTime::max() : due_;
}

bool RangeTakeover::Work() {
  if (context_.clock.Steady() < NextDue()) return false;
  due_ = context_.clock.Steady() + kTakeoverEvery;
  if (!AwaitsTakeover(rows_, *context_.follower.Current(), cidrs_)) return false;
  if (IsHeld() || !MayTry()) return false;
  under_way_ = true;
  TakeOver(parts_, cidrs_, [this, wake = context_.wake](const Result<void>& outcome) {
    wake->Post([this, outcome] { End(outcome); });
  });
  return true;
}

/// Returns whether Services other than default/kubernetes have values of a first range that is to
/// go, by its counts. For values that are also in another range, the write itself decides.
bool RangeTakeover::IsHeld() const {
  const std::vector<std::string> wanted = TextsOf(cidrs_);
  return std::ranges::any_of(
      allocation::LedgerView(ledger_).Ranges(), [&](const allocation::RangeState& range) {
        if (range.kind != alloc::RangeKind::kIpRange) return false;
        if (!rules::IsWellKnownRange(range.name) || range.overlaps) return false;
        if (std::ranges::count(wanted, range.text) > 0) return false;
        alloc::StateCounts counts = range.in_static;
        counts += range.in_dynamic;
        return counts[alloc::State::kTaken] + counts[alloc::State::kReserved] > 1;
      });
}

/// Limits attempts: each one reads all records.
bool RangeTakeover::MayTry() const {
  if (!refused_) return true;
  const auto passed = context_.clock.Steady() - refused_->since;
  const bool changed = refused_->changes != allocation::LedgerView(ledger_).Changes();
  return passed >= (changed ? kAgainIfChanged : kAgainAnyway);
}

void RangeTakeover::End(const Result<void>& outcome) {
  under_way_ = false;
  if (!outcome) {
    refused_ = {.changes = allocation::LedgerView(ledger_).Changes(),
                .since = context_.clock.Steady()};
    return;
  }
  refused_.reset();
  context_.log.Info("the ranges of the flags have taken over",
                    {{"in_force", fmt::format("{}", fmt::join(TextsOf(cidrs_), ","))}});
  moved_();
}

}  // namespace berth::controllers
