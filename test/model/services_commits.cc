// Checks for each commit: it must be what the model says in the world before it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "model/services_run.h"
#include "model/services_world.h"

namespace berth::model {
namespace {

using Values = std::set<std::string>;
using Events = std::vector<store::EventPtr>;
using State = Record::State;

Values Without(const Values& all, const Values& other) {
  Values left;
  std::ranges::set_difference(all, other, std::inserter(left, left.end()));
  return left;
}

Values HeldBy(const World& world, const std::string& name) {
  const StoredService* stored = world.Find(name);
  return stored == nullptr ? Values() : stored->service.Held();
}

bool IsRecord(const std::string& key) {
  return key.starts_with("/registry/ipaddresses/") ||
         key.starts_with("/registry/allocation.berth.io/nodeports/");
}

bool IsPut(const store::Event& event) { return event.type == store::Event::Type::kPut; }

}  // namespace

/// Applies expiries: holds and cool-downs whose time is over.
void Run::OnExpired() {
  if (!shared_.memory) return;
  shared_.memory->Tick();
  auto batch = watch_->Poll(10'000);
  if (!batch || batch->events.empty()) return;
  const World& before = Now();
  const int64_t now =
      std::chrono::ceil<std::chrono::seconds>(shared_.clock.Now()).time_since_epoch().count();
  for (const store::EventPtr& event : batch->events) {
    const Record* record = before.RecordOf(NameIn(event->key));
    const bool due = record != nullptr && record->until && *record->until <= now;
    if (IsPut(*event) || !due) Fail(event->key + " has changed by itself");
    Log("    " + event->key + " has expired");
    ++seen_.expired;
  }
  worlds_.push_back(std::make_shared<const World>(Apply(before, batch->events, shared_.kinds)));
  const std::string wrong = CheckWorld(Now());
  if (!wrong.empty()) Fail("after something has expired: " + wrong);
}

/// Splits a shared transaction. Each request has its part of it, after those of the requests before
/// it.
void Run::OnCommit(const std::vector<OpenPtr>& members, const Events& events) {
  if (members.size() > 1) ++seen_.merged;
  Events rest = events;
  for (size_t i = 0; i < members.size(); ++i) {
    Open& open = *members[i];
    Events part;
    for (const store::EventPtr& event : events) {
      if (event->key == open.key) part.push_back(event);
    }
    Values mine = HeldBy(Now(), open.request.name);
    mine.merge(HeldBy(Apply(Now(), part, shared_.kinds), open.request.name));
    part.clear();
    for (const store::EventPtr& event : events) {
      const bool is = event->key == open.key || open.request.IsAboutRange() ||
                      (IsRecord(event->key) && mine.contains(NameIn(event->key)));
      if (is) part.push_back(event);
    }
    std::erase_if(
        rest, [&part](const auto& event) { return std::ranges::find(part, event) != part.end(); });
    Events all = part;
    if (i + 1 == members.size()) all.insert(all.end(), rest.begin(), rest.end());
    std::ranges::sort(all, {}, [](const auto& event) { return event->revision.value; });
    CheckCommit(open, std::make_shared<const World>(Apply(Now(), all, shared_.kinds)), part);
  }
  if (members.empty()) {
    worlds_.push_back(std::make_shared<const World>(Apply(Now(), events, shared_.kinds)));
    Log(fmt::format("    {} is written @{}", events.front()->key, Now().revision));
  } else {
    for (const store::EventPtr& event : rest) {
      const bool shared = event->key.starts_with("/registry/ranges/") ||
                          event->key.starts_with("/registry/leases/");
      if (!shared) Fail("unexpected change of " + event->key);
    }
  }
  const std::string wrong = CheckWorld(Now());
  if (!wrong.empty()) Fail(wrong);
}

void Run::CheckCommit(Open& open, const WorldPtr& after, const Events& events) {
  Log(fmt::format("    #{}: committed @{}", open.request.id, after->revision));
  ++seen_.commits;
  const std::string about = " (" + ToText(open.request) + ")";
  if (open.request.dry_run) return Fail("a dry run was committed" + about);
  if (open.commit != 0) return Fail("committed twice" + about);
  // The families are known when a request is completed, which is before it is written.
  std::string wrong;
  for (const Settings& settings : SettingsOf(open, Now())) {
    const Verdict verdict = Judge(Now(), open.request, settings);
    std::string here;
    if ((verdict.classes & kOk) == 0) {
      here = "committed, where it had to be " + ClassesText(verdict.classes);
    } else if (open.request.IsAboutService() && !verdict.unsure) {
      const StoredService* stored = after->Find(open.request.name);
      if ((stored != nullptr) != verdict.next.has_value()) {
        here = verdict.next ? "it is gone" : "it is still there";
      } else if (stored != nullptr) {
        here = CheckExpected(*verdict.next, stored->service, open.request.name, Now(), settings);
      }
    }
    if (!here.empty()) {
      if (wrong.empty()) wrong = here;
      continue;
    }
    wrong.clear();
    if (open.request.IsAboutService()) {
      CheckServiceCommit(open, verdict, settings, *after, events);
    } else if (open.request.IsAboutRange()) {
      CheckRangeCommit(open, verdict, *after, events);
    } else {
      CheckRecordCommit(open, *after, events);
    }
    break;
  }
  if (!wrong.empty()) Fail(wrong + about);
  open.commit = worlds_.size();
  worlds_.push_back(after);
}

std::vector<Settings> Run::SettingsOf(const Open& open, const World& world) const {
  // Another request that has picked a value which is now kept holds it until it learns that it
  // cannot have it.
  Settings settings{
      .gates = servers_[open.request.replica]->Gates(),
      .families = world.cluster->Families(),
      .knows_kept = open.rivals == 0,
      .now =
          std::chrono::ceil<std::chrono::seconds>(shared_.clock.Now()).time_since_epoch().count()};
  std::vector<Settings> all = {settings};
  for (size_t i = FirstSeen(open); i < worlds_.size(); ++i) {
    const World& other = *worlds_[i];
    for (const PoolOf pool : kAllPools) {
      const std::string& name = open.request.name;
      const bool same = other.KeptFor(name, pool) == world.KeptFor(name, pool);
      if (!same || !other.closed.empty()) all.front().knows_kept = false;
    }
    const auto families = other.cluster->Families();
    const bool is_new = std::ranges::find(all, families, &Settings::families) == all.end();
    if (!is_new) continue;
    settings.families = families;
    all.push_back(settings);
  }
  for (Settings& each : all) each.knows_kept = all.front().knows_kept;
  return all;
}

// Services.

void Run::CheckServiceCommit(const Open& open, const Verdict& verdict, const Settings& settings,
                             const World& after, const Events& events) {
  const std::string& name = open.request.name;
  const Values had = HeldBy(Now(), name);
  const Values has = HeldBy(after, name);
  const Values taken = Without(has, had);
  const Values given = Without(had, has);
  CheckRecords(open, after, events);
  for (const std::string& value : given) CheckGivenBack(open, value, after);
  CheckTaken(open, verdict, settings, after, taken);
  if (open.request.verb == Verb::kStatus && !taken.empty()) {
    Fail("taken by a status (" + ToText(open.request) + ")");
  }
  seen_.taken += static_cast<int64_t>(taken.size());
  seen_.given_back += static_cast<int64_t>(given.size());
}

/// Checks the order of events: records of taken values, the Service, records of released values,
/// and nothing else. But a released value that stays reserved is written before the Service too,
/// and so are ports whose purpose has changed.
void Run::CheckRecords(const Open& open, const World& after, const Events& events) {
  const Values had = HeldBy(Now(), open.request.name);
  const Values has = HeldBy(after, open.request.name);
  Values changed;
  bool passed = false;
  for (const store::EventPtr& event : events) {
    if (event->key == open.key) {
      passed = true;
      continue;
    }
    if (IsPut(*event) == passed) {
      Fail(event->key + " has its revision on the wrong side of the Service's");
    }
    changed.insert(NameIn(event->key));
  }
  if (!passed) Fail("nothing became of " + open.key);
  if (!allocation::WritesRecords(Now().form.form)) {
    // A record that is about to be removed may still get a new purpose for its port.
    if (!changed.empty() && !Now().form.removing) {
      Fail("there are records where there are only bitmaps");
    }
    return;
  }
  for (const std::string& value : has) {
    const bool kept = had.contains(value);
    if (kept != changed.contains(value)) continue;
    Record before = kept ? Now().records.at(value) : Record();
    before.uses = after.records.at(value).uses;
    before.purpose = after.records.at(value).purpose;
    if (!kept) Fail("no record was made of " + value);
    if (before != after.records.at(value)) Fail("the record of " + value + " has changed");
  }
}

/// Checks a released value. It is reserved again if it was reserved for the Service, and cools down
/// if its range says so.
void Run::CheckGivenBack(const Open& open, const std::string& value, const World& after) {
  const Record* before = Now().RecordOf(value);
  const Record* record = after.RecordOf(value);
  if (before == nullptr || !allocation::WritesRecords(Now().form.form)) return;
  const std::string about =
      fmt::format("{}, released, is {} ({})", value, record == nullptr ? "gone" : ToText(*record),
                  ToText(open.request));
  if (!before->reserved_for.empty()) {
    ++seen_.kept_again;
    const bool right = record != nullptr && record->state == State::kReserved &&
                       record->reserved_for == before->reserved_for;
    if (!right) Fail(about);
    return;
  }
  std::set<int64_t> allowed;
  for (size_t i = FirstSeen(open); i < worlds_.size(); ++i) {
    const World& world = *worlds_[i];
    if (world.closed.contains(PoolOfValue(value))) return;  // The change may be in force.
    if (allocation::WritesBitmaps(world.form.form)) {
      allowed.insert(0);
    } else {
      allowed.merge(world.cluster->CoolDowns(value));
    }
  }
  if (record == nullptr) {
    if (!allowed.contains(0)) Fail(about);
    return;
  }
  ++seen_.cooled;
  const auto now = std::chrono::floor<std::chrono::seconds>(shared_.clock.Now());
  const int64_t most = allowed.empty() ? 0 : *allowed.rbegin();
  const bool right = record->state == State::kCooling && most > 0 && record->until &&
                     *record->until <= now.time_since_epoch().count() + most;
  if (!right) Fail(about);
}

/// Checks that each record says how the value was chosen, and that the range and band are right.
void Run::CheckTaken(const Open& open, const Verdict& verdict, const Settings& settings,
                     const World& after, const Values& taken) {
  if (verdict.unsure || !verdict.next) return;
  const Values given = verdict.next->Held();
  for (const std::string& value : taken) {
    const bool is_given = given.contains(value);
    const PoolOf pool = PoolOfValue(value);
    if (allocation::WritesRecords(Now().form.form)) {
      const std::string& chosen = after.records.at(value).chosen;
      if (chosen != (is_given ? "static" : "dynamic")) {
        Fail(fmt::format("{} is recorded as {}", value, chosen));
      }
    }
    if (Now().KeptFor(open.request.name, pool).contains(value)) {
      ++seen_.kept_taken;
      continue;
    }
    if (is_given) continue;
    const auto takes = std::ranges::count_if(
        taken, [pool](const std::string& one) { return PoolOfValue(one) == pool; });
    const auto in_dynamic = [&](const RangePtr& range) {
      return range->Gives(value) && !range->IsStatic(value, settings.HasBand(pool));
    };
    seen_.spilled += std::ranges::none_of(Now().cluster->At(pool), in_dynamic);
    if (!MayBeDrawn(open, settings, value, static_cast<size_t>(takes))) {
      Fail(fmt::format("{} was chosen from the wrong range or band ({})", value,
                       ToText(open.request)));
    }
  }
}

/// Returns whether at some moment a range that can give out the value came first. If the value is
/// in the static band, the dynamic band must have been able to look full, because other requests in
/// flight may have held a part of it.
bool Run::MayBeDrawn(const Open& open, const Settings& settings, const std::string& value,
                     size_t takes) const {
  constexpr size_t kMostPorts = 8;
  const PoolOf pool = PoolOfValue(value);
  const bool band = settings.HasBand(pool);
  const size_t others = open.rivals * (pool == PoolOf::kPorts ? kMostPorts : 1) + takes;
  const auto comes_first = [&](const World& world, const Range& range) {
    if (!range.Gives(value)) return false;
    if (range.IsStatic(value, band) && world.FreeDynamic(range, band) >= others) return false;
    const size_t free = world.Pickable(range, band) + others;
    return std::ranges::none_of(world.cluster->At(pool), [&](const RangePtr& other) {
      if (other.get() == &range || !other->IsOpen()) return false;
      const size_t its_free = world.Pickable(*other, band);
      if (other->Priority() > range.Priority()) return its_free >= others;
      return other->Priority() == range.Priority() && its_free > free;
    });
  };
  for (size_t i = FirstSeen(open); i < worlds_.size(); ++i) {
    const World& world = *worlds_[i];
    if (world.closed.contains(pool)) return true;
    const std::vector<RangePtr>& ranges = world.cluster->At(pool);
    if (std::ranges::any_of(ranges,
                            [&](const RangePtr& range) { return comes_first(world, *range); })) {
      return true;
    }
  }
  return false;
}

// Records and ranges.

void Run::CheckRecordCommit(const Open& open, const World& after, const Events& events) {
  const std::string& value = open.request.name;
  const std::string about = " (" + ToText(open.request) + ")";
  if (events.size() != 1 || events[0]->key != open.key) Fail("more than it was asked" + about);
  const Record* record = after.RecordOf(value);
  if ((record != nullptr) == (open.request.verb == Verb::kUnreserve)) {
    return Fail("not done" + about);
  }
  if (open.request.verb == Verb::kReserve) {
    const Record expected{.name_space = "shop", .name = open.request.parent, .by_hand = true};
    if (*record != expected) Fail("another record than asked for: " + ToText(*record) + about);
  }
  if (open.request.verb == Verb::kKeep) {
    Record expected{.state = open.request.hold != 0 ? State::kPending : State::kReserved,
                    .name = record->name,  // Name of the range.
                    .reserved_for = open.request.parent,
                    .until = record->until};
    if (*record != expected) Fail("another record than asked for: " + ToText(*record) + about);
  }
  if (open.request.verb == Verb::kTouch && *record != *Now().RecordOf(value)) {
    Fail("the record has changed" + about);
  }
}

/// Checks that the ranges are as expected, and that the fence was written if allocations depend on
/// the change.
void Run::CheckRangeCommit(const Open& open, const Verdict& verdict, const World& after,
                           const Events& events) {
  const std::string about = " (" + ToText(open.request) + ")";
  if (after.cluster->ToSpecs() != *verdict.ranges) Fail("other ranges than asked for" + about);
  if (after.records != Now().records || after.services != Now().services) {
    Fail("a range has changed what is taken" + about);
  }
  const PoolOf pool = open.request.range.pool;
  const Values lost = Without(Now().cluster->Values(pool), after.cluster->Values(pool));
  ++seen_.ranges;
  if (!lost.empty()) ++seen_.smaller;
  const RangeSpec* old = Now().cluster->Find(Cluster::KeyOf(open.request.range));
  const RangeSpec* now = after.cluster->Find(Cluster::KeyOf(open.request.range));
  const bool must = old == nullptr || now == nullptr || old->text != now->text ||
                    old->disabled != now->disabled || old->primary != now->primary;
  const bool fenced = std::ranges::any_of(events, [](const store::EventPtr& event) {
    return event->key.starts_with("/registry/berth.io/fence/");
  });
  if (must && !fenced) Fail("a range has changed without a write of its fence" + about);
  if (fenced && after.closed.contains(pool))
    Fail("a range has changed, and its fence is closed" + about);
}

}  // namespace berth::model
