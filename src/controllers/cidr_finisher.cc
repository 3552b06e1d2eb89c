#include "controllers/cidr_finisher.h"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

#include "allocation/ledger/ledger_view.h"
#include "allocation/range_world.h"
#include "codec/read.h"
#include "registry/deletion.h"
#include "rules/service_cidr.h"

namespace berth::controllers {
namespace {

using alloc::State;
using codec::Value;
using registry::Target;

constexpr std::chrono::seconds kCidrsEvery{1};
constexpr std::chrono::seconds kCorrectAfter{3};
constexpr std::chrono::seconds kTryAgainAfter{5};
constexpr std::chrono::seconds kTryAnywayAfter{60};

Target TargetOf(const registry::Row& row, const Value& cidr) {
  return {.served = {.row = &row, .view = row.views.data()},
          .name = std::string(codec::StringAt(cidr, "metadata", "name"))};
}

void Ignore(const base::Result<registry::Outcome>& /*outcome*/) {}

}  // namespace

CidrFinisher::CidrFinisher(const Context& context, allocation::Ledger& ledger)
    : context_(context),
      ledger_(ledger),
      rows_(allocation::RecordRowsOf(context.registry.GetKinds())),
      due_(context.clock.Steady()) {}

bool CidrFinisher::Work() {
  if (context_.clock.Steady() < due_) return false;
  due_ = context_.clock.Steady() + kCidrsEvery;
  std::map<std::string, int64_t, std::less<>> done;
  const state::SnapshotPtr snapshot = context_.follower.Current();
  bool any = RestoreDefault(*snapshot);
  for (auto at = snapshot->Seek(rows_.service_cidrs->prefix); at.Valid(); at.Next()) {
    const state::Object& stored = *at.Get();
    const auto before = done_.find(stored.Name());
    const bool known = before != done_.end() && before->second == stored.Revision();
    if (known || !Attend(stored)) {
      done.emplace(stored.Name(), stored.Revision());
    } else {
      any = true;
    }
  }
  const auto gone = [&snapshot, this](const auto& one) {
    return snapshot->Find(rows_.service_cidrs->prefix + one.first) == nullptr;
  };
  std::erase_if(refused_, gone);
  std::erase_if(wrong_, gone);
  done_ = std::move(done);
  return any;
}

bool CidrFinisher::Attend(const state::Object& stored) {
  const auto cidr = registry::Registry::Decode(*rows_.service_cidrs, stored);
  if (!cidr) return false;
  const bool leaves = registry::IsBeingDeleted(*cidr);
  const bool wanted = leaves ? rules::HasCidrFinalizer(*cidr) : !rules::IsCidrConditionRight(*cidr);
  if (!wanted || !context_.writer.HasRoom()) return wanted;
  if (!leaves) {
    SayWhetherReady(*cidr, stored);
  } else if (IsNeeded(stored.Name())) {
    SayWhy(*cidr);
  } else if (MayTry(stored.Name())) {
    Finish(*cidr);
  }
  return true;
}

/// Returns true for a ServiceCIDR without a condition, so that a new one is ready within a second.
/// Returns true for a wrong condition only after a while, because a client that writes a condition
/// first sees what it sent, as with Kubernetes' controller.
bool CidrFinisher::IsTimeToSay(const Value& cidr, const state::Object& stored) {
  if (!rules::HasCidrCondition(cidr)) return true;
  Wrong& wrong = wrong_[std::string(stored.Name())];
  if (std::exchange(wrong.revision, stored.Revision()) != stored.Revision()) {
    wrong.since = context_.clock.Steady();
  }
  return context_.clock.Steady() - wrong.since >= kCorrectAfter;
}

void CidrFinisher::SayWhetherReady(const Value& cidr, const state::Object& stored) {
  if (!IsTimeToSay(cidr, stored)) return;
  context_.writer.Update(
      TargetOf(*rows_.service_cidrs, cidr), registry::Door::kStatus,
      std::string(codec::StringAt(cidr, "metadata", "uid")),
      [now = context_.clock.Now()](Value& object) { rules::SetCidrCondition(object, now); },
      Ignore);
}

/// Returns whether values of the ServiceCIDR are in use, by its counts. For values that are also in
/// another range, the write itself decides.
bool CidrFinisher::IsNeeded(std::string_view name) const {
  if (name == allocation::kDefaultServiceCidr) return true;
  for (const auto& range : allocation::LedgerView(ledger_).Ranges()) {
    if (range.kind != alloc::RangeKind::kServiceCidr || range.name != name) continue;
    alloc::StateCounts counts = range.in_static;
    counts += range.in_dynamic;
    const bool held = counts[State::kTaken] + counts[State::kReserved] > 0;
    if (held && !range.overlaps) return true;
  }
  return false;
}

bool CidrFinisher::RestoreDefault(const state::Snapshot& snapshot) {
  const std::string name(allocation::kDefaultServiceCidr);
  if (snapshot.Find(rows_.service_cidrs->prefix + name) != nullptr) return false;
  const auto cidrs = allocation::RangeWorld(rows_, {}, snapshot).FirstCidrs();
  if (cidrs.empty() || !context_.writer.HasRoom()) return false;
  const codec::Value cidr = allocation::ServiceCidrOf(cidrs);
  context_.writer.Create(TargetOf(*rows_.service_cidrs, cidr), cidr, Ignore);
  return true;
}

/// Limits attempts: each refused one reads all records and closes the fences for that time.
bool CidrFinisher::MayTry(std::string_view name) const {
  const auto refused = refused_.find(name);
  if (refused == refused_.end()) return true;
  const auto passed = context_.clock.Steady() - refused->second.since;
  const bool changed = refused->second.changes != allocation::LedgerView(ledger_).Changes();
  return passed >= (changed ? kTryAgainAfter : kTryAnywayAfter);
}

void CidrFinisher::Finish(const Value& cidr) {
  context_.writer.Update(
      TargetOf(*rows_.service_cidrs, cidr), registry::Door::kMain,
      std::string(codec::StringAt(cidr, "metadata", "uid")), rules::RemoveCidrFinalizer,
      [this, cidr](const base::Result<registry::Outcome>& outcome) {
        if (outcome || outcome.error().reason != base::Reason::kConflict) return;
        refused_[std::string(codec::StringAt(cidr, "metadata", "name"))] = {
            .changes = allocation::LedgerView(ledger_).Changes(), .since = context_.clock.Steady()};
        SayWhy(cidr);
      });
}

void CidrFinisher::SayWhy(const Value& cidr) {
  if (rules::IsCidrTerminating(cidr)) return;
  context_.writer.Update(
      TargetOf(*rows_.service_cidrs, cidr), registry::Door::kStatus,
      std::string(codec::StringAt(cidr, "metadata", "uid")),
      [now = context_.clock.Now()](Value& object) { rules::SetCidrTerminating(object, now); },
      Ignore);
}

}  // namespace berth::controllers
