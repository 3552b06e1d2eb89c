#include "controllers/cidr_finisher.h"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

#include "codec/read.h"
#include "codec/timestamp.h"
#include "registry/deletion.h"
#include "rules/service_cidr.h"

namespace berth::controllers {
namespace {

using alloc::State;
using codec::Value;
using registry::Target;

constexpr std::chrono::seconds kLookEvery{1};
constexpr std::chrono::seconds kConditionAfter{3};
constexpr std::chrono::seconds kTryAgainAfter{5};
constexpr std::chrono::seconds kTryAnywayAfter{60};

Target TargetOf(const registry::Row& row, const Value& cidr) {
  return {.served = {.row = &row, .view = row.views.data()},
          .name = std::string(codec::StringAt(cidr, "metadata", "name"))};
}

void Ignore(const base::Result<registry::Outcome>& /*outcome*/) {}

}  // namespace

CidrFinisher::CidrFinisher(const Context& context, commit::Allocations& allocations)
    : context_(context),
      allocations_(allocations),
      rows_(registry::RecordRowsOf(context.registry.GetKinds())),
      due_(context.clock.Steady()) {}

bool CidrFinisher::Work() {
  if (context_.clock.Steady() < due_) return false;
  due_ = context_.clock.Steady() + kLookEvery;
  bool any = false;
  std::map<std::string, int64_t, std::less<>> done;
  const state::SnapshotPtr picture = context_.follower.Current();
  for (auto at = picture->Seek(rows_.service_cidrs->prefix); at.Valid(); at.Next()) {
    const state::Object& stored = *at.Get();
    const auto before = done_.find(stored.Name());
    const bool known = before != done_.end() && before->second == stored.Revision();
    if (known || !Attend(stored)) {
      done.emplace(stored.Name(), stored.Revision());
    } else {
      any = true;
    }
  }
  const auto gone = [&picture, this](const auto& one) {
    return picture->Find(rows_.service_cidrs->prefix + one.first) == nullptr;
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

/// Not at once: as with Kubernetes' controller, who writes one sees first what was sent.
bool CidrFinisher::IsTimeToSay(const Value& cidr, const state::Object& stored) {
  if (!rules::HasCidrCondition(cidr)) {
    const auto made = codec::ParseTime(codec::StringAt(cidr, "metadata", "creationTimestamp"));
    return !made || context_.clock.Now() - *made >= kConditionAfter;
  }
  Wrong& wrong = wrong_[std::string(stored.Name())];
  if (std::exchange(wrong.revision, stored.Revision()) != stored.Revision()) {
    wrong.since = context_.clock.Steady();
  }
  return context_.clock.Steady() - wrong.since >= kConditionAfter;
}

void CidrFinisher::SayWhetherReady(const Value& cidr, const state::Object& stored) {
  if (!IsTimeToSay(cidr, stored)) return;
  context_.writer.Update(
      TargetOf(*rows_.service_cidrs, cidr), registry::Door::kStatus,
      std::string(codec::StringAt(cidr, "metadata", "uid")),
      [now = context_.clock.Now()](Value& object) { rules::SetCidrCondition(object, now); },
      Ignore);
}

/// By its counters. What lies in another range as well is looked at by the write itself.
bool CidrFinisher::IsNeeded(std::string_view name) const {
  for (const auto& range : allocations_.Ranges()) {
    if (range.kind != alloc::RangeKind::kServiceCidr || range.name != name) continue;
    alloc::StateCounts counts = range.in_static;
    counts += range.in_dynamic;
    const bool held = counts[State::kTaken] + counts[State::kReserved] > 0;
    if (held && !range.overlaps) return true;
  }
  return false;
}

/// To be told what is in the way costs a look at all records, and closes the fences for it.
bool CidrFinisher::MayTry(std::string_view name) const {
  const auto refused = refused_.find(name);
  if (refused == refused_.end()) return true;
  const auto passed = context_.clock.Steady() - refused->second.since;
  const bool changed = refused->second.changes != allocations_.Changes();
  return passed >= (changed ? kTryAgainAfter : kTryAnywayAfter);
}

void CidrFinisher::Finish(const Value& cidr) {
  context_.writer.Update(TargetOf(*rows_.service_cidrs, cidr), registry::Door::kMain,
                         std::string(codec::StringAt(cidr, "metadata", "uid")),
                         rules::RemoveCidrFinalizer,
                         [this, cidr](const base::Result<registry::Outcome>& outcome) {
                           if (outcome || outcome.error().reason != base::Reason::kForbidden)
                             return;
                           refused_[std::string(codec::StringAt(cidr, "metadata", "name"))] = {
                               .changes = allocations_.Changes(), .since = context_.clock.Steady()};
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
